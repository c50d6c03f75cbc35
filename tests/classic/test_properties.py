"""What must not matter to the other learners does not."""

import inspect
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import pdist

from seraph import MetricClassifier, classic
from seraph.classic import LMNN, SCML, Euclidean
from tests.helpers.strategies import examples, seeds, sound_cases
from tests.helpers.trial import attempt

LEARNERS = pytest.mark.parametrize(
    "Learner",
    # (Its labels are numbers.)
    [getattr(classic, name) for name in classic.__all__ if name != "MLKR"],
    ids=lambda Learner: Learner.__name__,
)
GENERAL = ("cloud", "clusters")  # no two distances are alike: nothing hangs on rounding


def fitted(learner, X, **known):
    learner = attempt(lambda: learner.fit(X, **known))
    assert not isinstance(learner, Exception), learner
    return learner


@LEARNERS
@examples(20)
@given(data=st.data(), seed=seeds())
def test_a_classic_learner_does_not_depend_on_a_shift_or_on_the_order_of_rows(Learner, data, seed):
    case = data.draw(sound_cases(n=(6, 16), geometries=GENERAL))
    X, y = case.table.X, case.classes.y
    parameters = {"tol": 0.01} if Learner is LMNN else {}  # its default stops early
    if "random_state" in inspect.signature(Learner).parameters:
        parameters["random_state"] = 0
    learner = fitted(Learner(**parameters), X, y=y)
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(X))
    if Learner is SCML:  # its clusters and batches are drawn by the number of a row
        order = np.arange(len(X))
    moved = X + rng.normal(size=X.shape[1])
    other = fitted(Learner(**parameters), moved[order], y=y[order])
    if Learner is LMNN:  # may have several best metrics
        assert other.objective_ == pytest.approx(learner.objective_, rel=0.05, abs=0.05)
        return
    first, second = pdist(learner.transform(X)), pdist(other.transform(X))
    np.testing.assert_allclose(first, second, atol=0.05 * first.max() + 1e-9)


@examples(4)
@given(case=sound_cases(geometries=GENERAL))
def test_the_nearest_neighbor_of_a_labeled_point_is_itself(case):
    X, codes = case.table.X, case.classes.codes
    classifier = fitted(MetricClassifier(Euclidean(), rule="nearest"), X, y=codes)
    np.testing.assert_array_equal(classifier.predict(X[codes >= 0]), codes[codes >= 0])
    labeled = replace(case, marked=None).knowledge["y"]
    assert classifier.score(X, codes) == 1.0
    assert len(classifier.classes_) == len(set(labeled[labeled >= 0]))
