"""Learners by name, with the settings of the command line."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

from sklearn.utils import get_tags

from ... import SERAPH, MahalanobisLearner, MeanMetric, classic


def learners() -> dict[str, type]:
    """Return the learners of a matrix from classes, by their names in small letters.

    (MLKR, which learns from numbers, is none.)
    """
    by_name: dict[str, type] = {"meanmetric": MeanMetric, "seraph": SERAPH}
    for name in classic.__all__:
        value = getattr(classic, name)
        has_matrix = isinstance(value, type) and issubclass(value, MahalanobisLearner)
        if has_matrix and get_tags(value()).regressor_tags is None:
            by_name[name.casefold()] = value
    return by_name


def make_learner(name: str, parameters: Sequence[str] = (), *, seed: int = 0) -> Any:
    """Make a learner by its name, in any case, with `parameters` such as ``max_iter=50``.

    The `seed` is for a learner that has one, so that the same command gives the same model.
    """
    known = learners()
    if name.casefold() not in known:
        near = get_close_matches(name.casefold(), list(known), n=1)
        advice = f" Did you mean {near[0]}?" if near else ""
        raise ValueError(f"--learner must be one of {', '.join(known)}; got {name!r}.{advice}")
    learner = known[name.casefold()]()
    settings, known_parameters = dict(map(_assignment, parameters)), learner.get_params()
    for parameter in settings:
        if parameter not in known_parameters:
            ends = [known for known in known_parameters if known.endswith(f"__{parameter}")]
            near = ends or get_close_matches(parameter, known_parameters)
            raise ValueError(
                f"{type(learner).__name__} has no parameter {parameter}."
                + (f" Did you mean {' or '.join(near)}?" if near else "")
                + f" It has {', '.join(known_parameters) or 'none'}."
            )
    seeds = {name: seed for name in known_parameters if name.endswith("random_state")}
    learner.set_params(**seeds | settings)
    return learner


def _assignment(text: str) -> tuple[str, Any]:
    """Read name=value; the value is a number, a word or another Python literal.

    Examples
    --------
    >>> _assignment("gamma=0.5"), _assignment("init=pca"), _assignment("n_components=None")
    (('gamma', 0.5), ('init', 'pca'), ('n_components', None))
    """
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise ValueError(f"--set must be NAME=VALUE, such as max_iter=500; got {text!r}.")
    try:
        return name.strip(), ast.literal_eval(value.strip())
    except (ValueError, SyntaxError):
        return name.strip(), value.strip()
