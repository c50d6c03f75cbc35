"""What must not matter to the other learners does not."""

import inspect

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import pdist

from seraph import classic
from seraph.classic import LMNN
from tests.helpers.quick import examples
from tests.helpers.strategies import seeds, sound_cases
from tests.helpers.trial import fitted

LEARNERS = pytest.mark.parametrize(
    "Learner",
    # (Its labels are numbers.)
    [getattr(classic, name) for name in classic.__all__ if name != "MLKR"],
    ids=lambda Learner: Learner.__name__,
)
GENERAL = ("cloud", "clusters")  # no two distances are alike: nothing hangs on rounding


@LEARNERS
@examples(20)
@given(data=st.data(), seed=seeds())
def test_a_classic_learner_does_not_depend_on_a_shift(Learner, data, seed):
    case = data.draw(sound_cases(n=(6, 16), geometries=GENERAL))
    X, y = case.X, case.y
    parameters = {"tol": 0.01} if Learner is LMNN else {}  # its default stops early
    if "random_state" in inspect.signature(Learner).parameters:
        parameters["random_state"] = 0
    learner = fitted(Learner(**parameters), X, y=y)
    rng = np.random.default_rng(seed)
    moved = X + rng.normal(size=X.shape[1])
    other = fitted(Learner(**parameters), moved, y=y)
    if Learner is LMNN:  # may have several best metrics
        assert other.objective_ == pytest.approx(learner.objective_, rel=0.05, abs=0.05)
        return
    first, second = pdist(learner.transform(X)), pdist(other.transform(moved))
    np.testing.assert_allclose(first, second, atol=0.05 * first.max() + 1e-9)


@LEARNERS
@pytest.mark.parametrize("n", [100, 1500])  # below and above the sizes of samples
def test_a_classic_learner_does_not_depend_on_the_order_of_rows(Learner, n, rng):
    X = rng.integers(0, 9, size=(n, 4)) * 1.0  # many ties
    y = np.where(np.arange(n) < 90, (X[:, 0] + rng.normal(size=n)) // 3, -1)
    seed = "random_state" in inspect.signature(Learner).parameters
    learner = Learner(random_state=0) if seed else Learner()
    order = rng.permutation(n)
    first = pdist(fitted(learner, X, y=y).transform(X[:100]))
    second = pdist(fitted(learner, X[order], y=y[order]).transform(X[:100]))
    np.testing.assert_allclose(first, second, atol=1e-9 * first.max())
