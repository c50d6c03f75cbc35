"""Marks with weights, marks that are unsure, triplets, and marks that arrive later."""

import numpy as np
import pytest
from seraph._sweep import BACKENDS
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from seraph import SERAPHCV, Marks, seraph_path
from seraph._decide._folds import assign_folds
from seraph._marks import PairLabels
from seraph.classic import ITML
from tests.helpers.em import em
from tests.helpers.oracle import objective
from tests.helpers.plain import SERAPH, KernelSERAPH

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
    "sampled": SERAPH(unlabeled_pairs=0.3, random_state=0),
    "kernel": KernelSERAPH(),
    "cross-validation": SERAPHCV(SERAPH(tol=0.01), lam_factors=(0.5, 1.0), cv=2),
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
def triplets(data):
    y = np.arange(N) % 3
    rng = np.random.default_rng(1)
    rows = np.array([rng.permutation(N)[:3] for _ in range(300)])
    return rows[(y[rows[:, 0]] == y[rows[:, 1]]) & (y[rows[:, 0]] != y[rows[:, 2]])][:30]


def inner(learner):
    """The learner itself, or that in the feature space of a kernel."""
    return getattr(learner, "learner_", learner)


def metric(learner):
    return inner(learner).components_.T @ inner(learner).components_


def same_metric(one, other, tolerance=1e-9):
    size = np.abs(metric(other)).max()
    np.testing.assert_allclose(metric(one), metric(other), rtol=0, atol=tolerance * size)
    for name in ("lam_", "mu_", "objective_"):
        assert getattr(inner(one), name) == pytest.approx(getattr(inner(other), name), rel=1e-8)


def refit(learner, X, y=None, **marks):
    """Fit a copy of a learner."""
    return fit(clone(learner), X, y, **marks)


def fit(learner, X, y=None, **marks):
    """Fit a learner with marks from the arguments of Marks."""
    return learner.fit(X, y, marks=Marks(**marks, rows=X))


@EVERY_WAY
def test_a_weight_of_two_is_a_mark_given_twice_and_one_of_zero_is_none(data, learner):
    X, y, pairs, similar = data
    weights = np.ones(len(pairs))
    weights[[2, 5]], weights[[7, 9]] = 2.0, 0.0
    weighted = refit(learner, X, y, pairs=pairs, labels=similar, weights=weights)
    order = np.repeat(np.arange(len(pairs)), weights.astype(int))
    listed = refit(learner, X, y, pairs=pairs[order], labels=similar[order])
    same_metric(weighted, listed)
    weighted = inner(weighted)
    assert weighted.n_similar_ + weighted.n_dissimilar_ == 153 + len(pairs) - 2


@pytest.mark.parametrize("learner", [SERAPH(**STRICT), SERAPH(mu=0, **STRICT), KernelSERAPH()])
def test_a_common_factor_on_all_weights_does_not_change_the_metric(data, learner):
    """Both automatic weights grow with those of the marks, so the objective grows as a whole."""
    X, _, pairs, similar = data
    plain = refit(learner, X, pairs=pairs, labels=similar)
    thrice = refit(learner, X, pairs=pairs, labels=similar, weights=[3.0] * len(pairs))
    size = np.abs(metric(plain)).max()
    np.testing.assert_allclose(metric(thrice), metric(plain), rtol=0, atol=1e-6 * size)
    for name in ("lam_", "mu_", "objective_"):
        expected = 3.0 * getattr(inner(plain), name)
        assert getattr(inner(thrice), name) == pytest.approx(expected, rel=1e-6)


def test_a_vanishing_weight_is_in_the_limit_no_mark(data):
    """Except that the pair no longer counts as unlabeled."""
    X, _, pairs, similar = data
    weights = np.where(np.arange(len(pairs)) < 20, 1.0, 1e-9)
    marks = {"pairs": pairs, "labels": similar, "weights": weights}
    some = {"pairs": pairs[:20], "labels": similar[:20]}
    almost, without = (fit(SERAPH(mu=0, **STRICT), X, **given) for given in (marks, some))
    same_metric(almost, without, tolerance=1e-5)


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
            fit(learner, X, pairs=[[0, 1]], labels=[q])
        assert learner.pair_proba([X]) == pytest.approx([q], abs=1e-5)


def test_soft_labels_of_one_lean_do_not_warn_of_a_collapse(data, recwarn):
    X, _, pairs, _ = data
    learner = fit(SERAPH(lam=0.01), X, pairs=pairs, labels=np.full(len(pairs), 0.7))
    assert not [w for w in recwarn if "labeled pairs are" in str(w.message)]
    assert (learner.n_similar_, learner.n_dissimilar_) == (len(pairs), 0)


def test_learners_that_need_sure_marks_say_so(data):
    X, _, pairs, similar = data
    with pytest.raises(ValueError, match=r"ITML learns from marks that are sure.*got 0\.7"):
        fit(ITML(), X, pairs=pairs, labels=np.where(similar, 0.7, 0.0))
    fit(ITML(max_iter=3), X, pairs=pairs, labels=np.where(similar, 1, 0))


# Triplets


@EVERY_WAY
def test_triplets_are_learned_in_every_way(data, triplets, learner):
    """More answers come true, without other labels and beside them."""
    X, y, pairs, similar = data

    def share_true(Z):
        near, far = (np.linalg.norm(Z[triplets[:, 0]] - Z[triplets[:, k]], axis=1) for k in (1, 2))
        return np.mean(near < far)

    for marks in ({}, {"y": y, "pairs": pairs, "labels": similar}):
        found = refit(learner, X, triplets=triplets, **marks)
        assert inner(found).n_triplets_ == len(triplets)
        assert share_true(found.transform(X)) > share_true(X)


@pytest.mark.parametrize("backend", [name for name in BACKENDS if name != "numpy"])
@pytest.mark.parametrize("solver", ["auto", em(2)])
def test_backends_agree_on_all_that_can_be_told(data, triplets, backend, solver):
    X, y, pairs, similar = data
    marks = {
        "pairs": pairs,
        "labels": np.where(similar, 0.9, 0.2),
        "weights": np.linspace(0.0, 2.0, len(pairs)),
        "triplets": triplets,
    }
    few = {"max_iter": 3, "solver": solver}  # the same few steps
    there = fit(SERAPH(backend=backend, n_jobs=1, **few), X, y, **marks)
    same_metric(there, fit(SERAPH(backend="numpy", **few), X, y, **marks), tolerance=1e-8)


@pytest.mark.parametrize("mu", [0.0, "auto"])
@pytest.mark.parametrize("solver", ["low-rank", "spg"])
def test_the_objective_with_triplets_is_that_of_the_oracle(data, triplets, mu, solver):
    X, _, pairs, similar = data
    learner = SERAPH(solver=solver, mu=mu, **STRICT)
    fit(learner, X, pairs=pairs, labels=similar, triplets=triplets)
    known = {tuple(sorted(pair)): bool(s) for pair, s in zip(pairs.tolist(), similar, strict=True)}
    weights = {"mu": learner.mu_, "lam": learner.lam_}
    A = learner.get_mahalanobis_matrix()
    expected = objective(X, A, known, triplets=triplets, **weights)
    assert learner.objective_ == pytest.approx(expected, rel=1e-9)
    assert learner.optimality_gap_ <= 1e-7
    if mu == "auto":
        n_unlabeled = N * (N - 1) // 2 - len(known)
        assert learner.mu_ == pytest.approx((len(known) + len(triplets)) / n_unlabeled)


def test_a_path_through_triplets_starts_at_zero_and_ends_at_the_fit(data, triplets):
    X = data[0]
    marks = Marks(triplets=triplets, rows=X)
    path = seraph_path(X, marks=marks, n_lams=8, learner=SERAPH(mu=0, tol=1e-6, max_iter=2000))
    assert path.ranks[0] == 0
    last = SERAPH(lam=path.lams[-1], mu=0, tol=1e-6, max_iter=2000).fit(X, marks=marks)
    assert path.objectives[-1] == pytest.approx(last.objective_, rel=1e-6)


def test_an_answer_turned_around_turns_the_metric(rng):
    """Only one feature can tell; the answers say which."""
    X = rng.normal(size=(60, 2))
    rows = np.array([rng.permutation(60)[:3] for _ in range(200)])
    near, far = (np.abs(X[rows[:, 0]] - X[rows[:, k]])[:, 0] for k in (1, 2))
    rows[near > far] = rows[near > far][:, [0, 2, 1]]
    first, second = np.diag(fit(SERAPH(mu=0), X, triplets=rows).get_mahalanobis_matrix())
    assert first > 20 * second


def test_folds_keep_triplets_together_and_judge_by_them(data, triplets):
    X = data[0]
    learner = fit(SERAPHCV(SERAPH(tol=0.01), lam_factors=(0.1, 1.0), cv=2), X, triplets=triplets)
    assert learner.n_splits_ == 2
    assert np.all(learner.cv_results_["mean_test_score"] < 0.0)


def test_a_fold_holds_whole_triplets():
    triplets = np.arange(24).reshape(8, 3)
    labels = PairLabels.make(30, None, Marks(triplets=triplets, rows=30))
    fold = assign_folds(labels, 4)
    assert set(fold[24:]) == {-1}
    assert all(len(set(fold[rows])) == 1 for rows in triplets)
    inside = labels.among(np.flatnonzero(fold == 1))
    assert len(inside.triplets) == 2


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
    learner = fit(fit(SERAPH(warm_start=True, mu=0, **STRICT), X, **before), more, **marks)
    same_metric(learner, fit(SERAPH(mu=0, **STRICT), more, **marks), tolerance=1e-4)


def test_a_warm_start_from_nothing_is_a_fresh_one(data):
    """The zero metric is a local maximum of the entropy, which a fit could not leave."""
    X, _, pairs, similar = data
    learner = SERAPH(lam=1e9, warm_start=True)
    with pytest.warns(UserWarning, match="rank 0"):
        fit(learner, X, pairs=pairs, labels=similar)
    fit(learner.set_params(lam="auto"), X, pairs=pairs, labels=similar)
    same_metric(learner, fit(SERAPH(), X, pairs=pairs, labels=similar), tolerance=1e-12)
