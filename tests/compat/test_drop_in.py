"""What users of metric-learn write, with one import changed: names, keywords, subclasses."""

import inspect

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import load_iris

from seraph.compat import metric_learn
from seraph.compat.metric_learn import (
    LMNN,
    NCA,
    Constraints,
    RCA_Supervised,
)
from seraph.compat.metric_learn.base_metric import (
    MahalanobisMixin,
    _PairsClassifierMixin,
)
from seraph.compat.metric_learn.constraints import wrap_pairs

X, Y = load_iris(return_X_y=True)


class Whitening(MahalanobisMixin):
    def fit(self, X, y=None, **checks):
        self.points_ = self._prepare_inputs(X, y, **checks)
        self.components_ = np.eye(X.shape[-1])
        return self


def test_a_learner_of_ones_own_says_how_its_input_is_checked():
    assert Whitening().fit(X.astype(int), dtype=float).points_.dtype == float
    assert Whitening().fit(X.astype(np.float32)).points_.dtype == np.float32
    with pytest.raises(ValueError, match="minimum of 3 is required"):
        Whitening().fit(X[:2], Y[:2], ensure_min_samples=3)
    gap = np.where(np.arange(4) == 1, np.nan, X)
    assert np.isnan(Whitening().fit(gap, ensure_all_finite=False).points_).any()
    with pytest.raises(ValueError, match="NaN"):
        Whitening().fit(gap)
    pairs = X[:8].reshape(4, 2, 4).astype(int)
    tuples = {"type_of_inputs": "tuples"}
    assert Whitening().fit(pairs, **tuples, dtype=np.float32).points_.dtype == np.float32
    with pytest.raises(ValueError, match="minimum of 5 is required"):
        Whitening().fit(pairs, **tuples, ensure_min_samples=5)
    with pytest.raises(ValueError, match="type_of_inputs must be"):
        Whitening().fit(pairs, type_of_inputs="triples")


class Nearest(_PairsClassifierMixin, MahalanobisMixin):
    def fit(self, pairs, y):
        pairs, y = self._prepare_inputs(pairs, y, type_of_inputs="tuples")
        self.components_ = np.eye(pairs.shape[2])
        return self.calibrate_threshold(pairs, y)


def test_the_bases_serve_a_learner_of_pairs_of_ones_own():
    sampled = Constraints(Y).positive_negative_pairs(40, random_state=0)
    rows, signs = wrap_pairs(np.arange(150), sampled)
    learner = Nearest(preprocessor=X).fit(rows, signs)
    assert_array_equal(learner.predict(rows), Nearest().fit(X[rows], signs).predict(X[rows]))
    assert learner.score(rows, signs) > 0.8


# Where it differs from metric-learn, as docs/results/stand_in.md says


@pytest.mark.parametrize(
    "name", ["LFDA", "LMNN", "MLKR", "NCA", *(n for n in metric_learn.__all__ if "_Sup" in n)]
)
def test_a_bad_number_is_a_value_error_whatever_metric_learn_raises(name):
    learner = getattr(metric_learn, name)
    few = {"n_chunks": 10} if name == "RCA_Supervised" else {}
    for parameter in ("max_iter", "n_components", "n_constraints", "n_chunks"):
        if parameter in inspect.signature(learner).parameters:
            with pytest.raises(ValueError, match=parameter):
                learner(**few | {parameter: "many"}).fit(X, Y)


def test_classes_that_are_fractions_are_refused():
    for learner in (NCA(), LMNN(), metric_learn.LFDA(), RCA_Supervised(n_chunks=10)):
        with pytest.raises(ValueError, match="Unknown label type"):
            learner.fit(X, Y + 0.5)
