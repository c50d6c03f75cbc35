"""Constraints sampled from classes, thresholds, and learners of one's own, as in metric-learn."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import load_iris

from seraph.compat import metric_learn
from seraph.compat.metric_learn import Constraints
from seraph.compat.metric_learn._base import MahalanobisMixin, _PairsClassifierMixin
from seraph.compat.metric_learn._constraints import wrap_pairs

X, Y = (
    part[np.random.default_rng(0).permutation(150)[:60]] for part in load_iris(return_X_y=True)
)
SOME = np.where(np.arange(60) % 5 == 0, -1, Y)


def test_sampled_pairs_are_distinct_and_of_the_right_kind():
    a, b, c, d = Constraints(SOME).positive_negative_pairs(50, random_state=0)
    assert (SOME[a] == SOME[b]).all()
    assert (SOME[c] != SOME[d]).all()
    assert (a != b).all()
    assert min(SOME[np.concatenate([a, b, c, d])]) >= 0
    assert len(set(zip(a, b, strict=True))) == len(set(zip(c, d, strict=True))) == 50
    again = Constraints(SOME).positive_negative_pairs(50, random_state=0)
    assert_array_equal(a, again[0])


def test_too_few_pairs_give_all_of_them_and_a_warning():
    with pytest.warns(UserWarning, match="allow only") as caught:
        a, b, c, _ = Constraints([0, 0, 1]).positive_negative_pairs(10)
    assert len(caught) == 2
    assert sorted(zip(a.tolist(), b.tolist(), strict=True)) == [(0, 1), (1, 0)]
    assert len(c) == 4
    with pytest.warns(UserWarning, match="allow only"):
        a, _, c, _ = Constraints([0, 0, 1]).positive_negative_pairs(10, same_length=True)
    assert len(a) == len(c) == 2


def test_triplets_join_the_nearest_of_both_kinds():
    triplets = Constraints(SOME).generate_knntriplets(X, 2, 3)
    known = np.flatnonzero(SOME >= 0)
    assert len(triplets) == 6 * len(known)
    for a in known[:10]:
        order = known[np.argsort(np.linalg.norm(X[known] - X[a], axis=1), kind="stable")]
        alike = [j for j in order if j != a and SOME[j] == SOME[a]]
        others = [j for j in order if SOME[j] != SOME[a]]
        mine = triplets[triplets[:, 0] == a]
        reach = [np.linalg.norm(X[a] - X[kind]) for kind in (alike[1], others[2])]
        assert (np.linalg.norm(X[mine[:, 1]] - X[a], axis=1) <= reach[0] + 1e-9).all()
        assert (np.linalg.norm(X[mine[:, 2]] - X[a], axis=1) <= reach[1] + 1e-9).all()
    with pytest.warns(
        UserWarning,
        match=r"k_genuine=3 .* class . has 1 neighbor\(s\) of its own class",
    ):
        assert len(Constraints([0, 0, 1, 1]).generate_knntriplets(X[:4], 3, 1)) == 4


def test_chunks_are_of_one_class_and_of_one_size():
    chunks = Constraints(SOME).chunks(n_chunks=9, chunk_size=3, random_state=0)
    assert (chunks[SOME == -1] == -1).all()
    for chunk in range(9):
        members = SOME[chunks == chunk]
        assert len(members) == 3
        assert len(set(members)) == 1
    with pytest.raises(ValueError, match="maximum number of chunks is"):
        Constraints(SOME).chunks(n_chunks=100)


# Thresholds


def calibrated(distances, signs, **parameters):
    pairs = np.stack([np.zeros(len(distances)), distances], axis=1)[:, :, np.newaxis]
    learner = metric_learn.ITML().fit(pairs[:1], signs[:1])
    learner.components_ = np.eye(1)
    return learner.calibrate_threshold(pairs, signs, **parameters).threshold_


@pytest.mark.parametrize("seed", range(2))
def test_thresholds_are_the_best_of_all(seed):
    rng = np.random.default_rng(seed)
    signs = rng.choice([-1, 1], size=30)
    distances = np.round(rng.gamma(3.0, size=30) * (3 - signs), 1)  # with ties

    def rates(threshold):
        close, alike = distances <= threshold, signs == 1
        true, false = (close & alike).sum(), (close & ~alike).sum()
        f = (1 + 4) * true / max(1, 4 * alike.sum() + true + false)
        return np.mean(close == alike), f, true / alike.sum(), 1 - false / (~alike).sum()

    every = [rates(t) for t in [distances.min() - 1, *distances]]
    accuracy, f, *_ = rates(calibrated(distances, signs))
    assert accuracy == max(r[0] for r in every)
    _, f, *_ = rates(calibrated(distances, signs, strategy="f_beta", beta=2.0))
    assert f == pytest.approx(max(r[1] for r in every))
    *_, tpr, tnr = rates(calibrated(distances, signs, strategy="max_tpr", min_rate=0.7))
    assert tnr >= 0.7
    assert tpr == max(r[2] for r in every if r[3] >= 0.7)
    *_, tpr, tnr = rates(calibrated(distances, signs, strategy="max_tnr", min_rate=0.7))
    # Of thresholds with the same true negative rate, the one with the larger true positive rate.
    assert (tnr, tpr) == max((r[3], r[2]) for r in every if r[2] >= 0.7)


# Learners of one's own


class Whitening(MahalanobisMixin):
    def fit(self, X, y=None, **checks):
        self.points_ = self._prepare_inputs(X, y, **checks)
        self.components_ = np.eye(X.shape[-1])
        return self


def test_a_learner_of_ones_own_says_how_its_input_is_checked():
    pairs = X[:8].reshape(4, 2, 4).astype(int)
    for points, form in ((X.astype(int), "classic"), (pairs, "tuples")):
        kept = Whitening().fit(points, type_of_inputs=form, dtype=np.float32).points_
        assert kept.dtype == np.float32
        with pytest.raises(ValueError, match="minimum of 99 is required"):
            Whitening().fit(points, type_of_inputs=form, ensure_min_samples=99)
    with pytest.raises(ValueError, match="NaN"):
        Whitening().fit(np.where(np.arange(4) == 1, np.nan, X))
    with pytest.raises(ValueError, match="type_of_inputs must be"):
        Whitening().fit(pairs, type_of_inputs="triples")


class Nearest(_PairsClassifierMixin, MahalanobisMixin):
    def fit(self, pairs, y):
        pairs, y = self._prepare_inputs(pairs, y, type_of_inputs="tuples")
        self.components_ = np.eye(pairs.shape[2])
        return self.calibrate_threshold(pairs, y)


def test_the_bases_serve_a_learner_of_pairs_of_ones_own():
    rows, signs = wrap_pairs(np.arange(60), Constraints(Y).positive_negative_pairs(40))
    learner = Nearest(preprocessor=X).fit(rows, signs)
    assert_array_equal(learner.predict(rows), Nearest().fit(X[rows], signs).predict(X[rows]))
    assert learner.score(rows, signs) > 0.8
