"""Marks with weights, marks that are unsure, triplets, and marks that arrive later."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from seraph import SERAPH, Marks
from tests.helpers.em import em

pytestmark = pytest.mark.filterwarnings("ignore:.*not converged")

N, M, CLASSES = 40, 4, 18
STRICT = {"tol": 1e-7, "max_iter": 3000}
# What a fit can go through.
WAYS = {
    "low-rank": SERAPH(),
    "spg": SERAPH(solver="spg"),
    "projected-gradient": SERAPH(solver="projected-gradient", max_iter=20),
    "em": SERAPH(solver=em(2)),
    "full model": SERAPH(gamma=0.5),
    "sampled": SERAPH(unlabeled_pairs=4),
}
EVERY_WAY = pytest.mark.parametrize("learner", WAYS.values(), ids=WAYS)


@pytest.fixture(scope="module")
def data():
    """Points of three classes, classes of some, pairs of the others, and which are similar."""
    rng = np.random.default_rng(0)
    y = np.arange(N) % 3
    X = rng.normal(size=(N, M)) + 2.0 * np.eye(3, M)[y]
    pairs = CLASSES + rng.permutation(N - CLASSES).reshape(-1, 2)
    pairs = np.vstack([pairs, np.column_stack([pairs[:, 0], np.roll(pairs[:, 1], 1)])])
    similar = y[pairs[:, 0]] == y[pairs[:, 1]]
    return X, np.where(np.arange(N) < CLASSES, y, -1), pairs, similar


@pytest.fixture(scope="module")
def triplets():
    y = np.arange(N) % 3
    rng = np.random.default_rng(1)
    rows = np.array([rng.permutation(N)[:3] for _ in range(300)])
    return rows[(y[rows[:, 0]] == y[rows[:, 1]]) & (y[rows[:, 0]] != y[rows[:, 2]])][:30]


def metric(learner):
    return learner.components_.T @ learner.components_


def same_metric(one, other, tolerance=1e-9):
    size = np.abs(metric(other)).max()
    np.testing.assert_allclose(metric(one), metric(other), rtol=0, atol=tolerance * size)
    for name in ("lam_", "mu_", "objective_"):
        assert getattr(one, name) == pytest.approx(getattr(other, name), rel=1e-8)


def refit(learner, X, y=None, **marks):
    """Fit a copy of a learner with marks from the arguments of Marks."""
    return clone(learner).fit(X, y, marks=Marks(**marks, rows=X))


@EVERY_WAY
def test_a_weight_of_two_is_a_mark_made_twice_and_one_of_zero_is_none(data, learner):
    X, y, pairs, similar = data
    weights = np.ones(len(pairs))
    weights[[2, 5]], weights[[7, 9]] = 2.0, 0.0
    weighted = refit(learner, X, y, pairs=pairs, labels=similar, weights=weights)
    order = np.repeat(np.arange(len(pairs)), weights.astype(int))
    same_metric(weighted, refit(learner, X, y, pairs=pairs[order], labels=similar[order]))
    n_labeled = weighted.n_similar_ + weighted.n_dissimilar_
    assert n_labeled == CLASSES * (CLASSES - 1) // 2 + len(pairs) - 2


@pytest.mark.parametrize("mu", ["auto", 0.0])
def test_a_common_factor_on_all_weights_does_not_change_the_metric(data, mu):
    """Both automatic weights grow with those of the marks, so the objective grows as a whole."""
    X, _, pairs, similar = data
    learner = SERAPH(mu=mu, **STRICT)
    plain = refit(learner, X, pairs=pairs, labels=similar)
    thrice = refit(learner, X, pairs=pairs, labels=similar, weights=[3.0] * len(pairs))
    np.testing.assert_allclose(metric(thrice), metric(plain), atol=1e-6 * metric(plain).max())
    for name in ("lam_", "mu_", "objective_"):
        assert getattr(thrice, name) == pytest.approx(3.0 * getattr(plain, name), rel=1e-6)


@EVERY_WAY
def test_an_unsure_label_is_a_similar_and_a_dissimilar_mark_in_parts(data, learner):
    """q ln p + (1 - q) ln(1 - p) is what two marks of weights q and 1 - q add up to."""
    X, y, pairs, similar = data
    sure = np.where(similar, 0.9, 0.2)
    unsure = refit(learner, X, y, pairs=pairs, labels=sure)
    nearly = [1.0 - 1e-12, 1e-12]  # two sure marks that contradict each other are refused
    parts = refit(
        learner,
        X,
        y,
        pairs=np.vstack([pairs, pairs]),
        labels=np.repeat(nearly, len(pairs)),
        weights=np.concatenate([sure, 1.0 - sure]),
    )
    same_metric(unsure, parts, tolerance=1e-6)


def test_the_probability_of_a_single_unsure_pair_becomes_its_label():
    X = np.array([[0.0], [1.0]])
    for q in (0.2, 0.35, 0.6):
        learner = SERAPH(lam=0, eta=2.0, **STRICT)
        with pytest.warns(ConvergenceWarning, match="lam=0"):
            learner = refit(learner, X, pairs=[[0, 1]], labels=[q])
        assert learner.pair_proba([X]) == pytest.approx([q], abs=1e-5)


# Triplets


@EVERY_WAY
def test_triplets_are_learned_in_every_way(data, triplets, learner):
    """More answers come true, without other labels and beside them."""
    X, y, pairs, similar = data

    def share_true(Z):
        near, far = (np.linalg.norm(Z[triplets[:, 0]] - Z[triplets[:, k]], axis=1) for k in (1, 2))
        return np.mean(near < far)

    for marks in ({}, {"y": y, "pairs": pairs, "labels": similar}):
        learned = refit(learner, X, triplets=triplets, **marks)
        assert learned.n_triplets_ == len(triplets)
        assert share_true(learned.transform(X)) > share_true(X)


# Marks that arrive later


@pytest.mark.parametrize("change", ["more marks", "fewer marks", "more points", "fewer points"])
def test_a_warm_start_ends_where_a_fresh_fit_does(data, triplets, change):
    X, _, pairs, similar = data
    more, marks = X, {"pairs": pairs, "labels": similar, "triplets": triplets}
    before = dict(marks)
    if change == "more marks":
        before = {"pairs": pairs[:-10], "labels": similar[:-10]}
    elif change == "fewer marks":
        marks = {"pairs": pairs[:-10], "labels": similar[:-10]}
    elif change == "more points":
        more = np.vstack([X, X[:10] + 0.3])
    else:
        more = X[5:]
        before, marks = ({"pairs": pairs - start, "labels": similar} for start in (0, 5))
    learner = refit(SERAPH(warm_start=True, mu=0, **STRICT), X, **before)
    learner.fit(more, marks=Marks(**marks, rows=more))
    same_metric(learner, refit(SERAPH(mu=0, **STRICT), more, **marks), tolerance=1e-4)
