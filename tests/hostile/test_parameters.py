"""Parameters that no comparison and no set can take: arrays, lists, dicts."""

import inspect
import warnings

import numpy as np
import pytest

import seraph
from seraph import classic
from seraph.compat import metric_learn

RNG = np.random.default_rng(0)
Y = np.arange(24) % 3
X = RNG.normal(size=(24, 3)) + Y[:, None]
UNFIT = [np.array([1, 2]), np.array(["a", "b"]), [1], {}, set()]
# What Python and numpy say of a value that was compared or looked up before it was checked.
FOREIGN = ("unhashable", "truth value", "ambiguous", "broadcast", "ufunc")
# They take such values, or anything.
FREE = {"callback", "kernel_params", "preprocessor", "cv", "param_grid", "features", "weights"}


def learners():
    for room in (seraph, classic, metric_learn):
        for name in sorted(room.__all__):
            kind = getattr(room, name)
            if not (inspect.isclass(kind) and hasattr(kind, "fit")):
                continue
            parameters = inspect.signature(kind).parameters.values()
            if any(p.default is p.empty and p.kind == p.POSITIONAL_OR_KEYWORD for p in parameters):
                continue  # it has parts, which are learners themselves
            if room is metric_learn and getattr(kind, "_tuple_size", None) and "_Sup" not in name:
                continue  # it takes tuples of points
            yield pytest.param(kind, id=f"{room.__name__}.{name}")


@pytest.mark.parametrize("kind", list(learners()))
def test_a_parameter_of_another_kind_is_refused_by_its_name(kind):
    is_ours = not kind.__module__.startswith("seraph.compat")
    for name, parameter in inspect.signature(kind).parameters.items():
        if name in FREE or not (parameter.default is None or isinstance(parameter.default, str)):
            continue
        for value in UNFIT:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    kind(**{name: value}).fit(X, Y)
                except (ValueError, TypeError) as error:
                    said = str(error)
                    assert not any(word in said for word in FOREIGN), (name, value, said)
                    # (A matrix to start from is checked by scikit-learn, with its own words.)
                    assert not is_ours or name in said or "2D array" in said, (name, said)
