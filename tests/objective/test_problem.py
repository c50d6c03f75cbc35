"""The objective of points, labels and parameters: the oracle's, and samples right on average."""

import numpy as np
import pytest
import torch
from scipy.special import expit

from seraph import Marks, _seraph
from tests.helpers.oracle import labeled_pairs, numeric_gradient, objective
from tests.helpers.pose import pose
from tests.helpers.quick import few

N, M = 26, 3
# Rows 0 to 9 have classes; a mark of two of them is settled by these.
MARKS = {
    "pairs": [[3, 12], [13, 14], [15, 16], [0, 20], [1, 3]],
    "labels": [1, 0, 0.8, 0.3, 1],
    "weights": [1.0, 2.0, 0.5, 1.5, 4.0],
    "triplets": [[17, 18, 19], [0, 21, 22], [5, 4, 3]],
}


def table(seed=0, n=N, n_labels=10, n_classes=2):
    rng = np.random.default_rng(seed)
    codes = np.arange(n) % n_classes
    X = rng.normal(size=(n, M)) + 1.5 * rng.normal(size=(n_classes, M))[codes] + 4.0
    return X, np.where(np.arange(n) < n_labels, codes, -1)


def known_pairs(y):
    """What is known of pairs: the classes, and the marks that they do not settle."""
    known = labeled_pairs(y[:10])
    for pair, label, weight in zip(*(MARKS[key] for key in list(MARKS)[:3]), strict=True):
        known.setdefault(tuple(pair), (label, weight))
    return known


@pytest.mark.parametrize("step", ["direct", "first m-step", "m-step"])
@pytest.mark.parametrize("mu", few([0.0, "auto", 0.6], lambda mu: mu == 0.6))
@pytest.mark.parametrize("library", [np.asarray, torch.as_tensor], ids=["numpy", "torch"])
def test_the_objective_is_that_of_the_oracle_in_the_users_units(rng, step, mu, library):
    X, y = table()
    marks = Marks(**MARKS, rows=N)
    problem, _ = pose(library(X), y, marks, mu=mu, eta=1.3, lam=2.0)
    F, frame = problem.objective, problem.frame
    weight = sum(MARKS["weights"][:4]) + 45 + 3
    mu = weight / (N * (N - 1) / 2 - 49) if mu == "auto" else mu
    assert problem.mu == pytest.approx(mu)
    P, old = rng.normal(size=(2, 2, M))
    q = None
    if step != "direct":
        F = F.m_step(library(frame.from_features(old)) if step == "m-step" else None)
        q = (
            (lambda d: expit((1 + mu) * (1.3 - np.sum((old @ d) ** 2))))
            if step == "m-step"
            else (lambda d: 0.0)
        )

    def value(P):
        weights = {"eta": 1.3, "mu": mu, "lam": 2.0, "q": q}
        return objective(X, P.T @ P, known_pairs(y), triplets=MARKS["triplets"], **weights)

    there = library(frame.from_features(P))
    for method in (F.value_and_gradient, F.value_and_factor_gradient):
        assert method(there)[0] == pytest.approx(value(P), rel=1e-10)
    by_factor = np.asarray(F.value_and_factor_gradient(there)[1]) * frame.unit
    np.testing.assert_allclose(by_factor, numeric_gradient(value, P), rtol=1e-4, atol=1e-5)


def test_automatic_weights_are_the_rules_of_the_documentation():
    X, y = table()
    problem, labels = pose(X, y)
    top = np.linalg.eigvalsh(np.cov(X.T, bias=True))[-1]
    expected = 0.08 * 2 * np.sqrt(labels.n_similar * labels.n_dissimilar) / np.sqrt(10) * 2 * top
    assert problem.lam * problem.frame.unit**2 == pytest.approx(expected)
    assert problem.mu == labels.n_labeled / labels.n_unlabeled
    assert pose(X, np.arange(N) % 2)[0].mu == 0.0  # nothing is unlabeled


# Which pairs are summed


def unlabeled_term(problem):
    return problem.objective.terms[0]


def test_above_20000_rows_as_many_are_sampled_and_the_mean_is_that_of_all():
    X, y = table(n=20_100)
    problem, labels = pose(X, y)
    term = unlabeled_term(problem)
    assert len(term.X) == 20_000
    assert len(np.unique(term.X, axis=0)) == 20_000
    np.testing.assert_allclose(problem.frame.mean, X.mean(axis=0))
    assert term.weight * term.pairs.n_pairs == pytest.approx(problem.mu * labels.n_unlabeled)
    assert len(unlabeled_term(pose(X, y, unlabeled_pairs=3)[0]).X) == 20_000


@pytest.mark.parametrize(("n", "is_listed"), [(3000, False), (3001, True)])
def test_above_3000_classified_rows_their_pairs_are_sampled(n, is_listed):
    X, y = table(n=n, n_labels=n, n_classes=4)
    problem, labels = pose(X, y)
    term, _ = problem.objective.terms
    assert hasattr(term.pairs, "weights") == is_listed
    if is_listed:
        weights, q = term.pairs.weights, term.pairs.q
        assert len(q) < 40 * n
        expected = [labels.n_similar, labels.n_dissimilar]
        assert [weights[q == 1].sum(), weights[q == 0].sum()] == pytest.approx(expected)


# Right on average


def scattered_labels(codes, n_labels):
    known = np.random.default_rng(3).permutation(len(codes))[:n_labels]
    y = np.full(len(codes), -1)
    y[known] = codes[known]
    return y


def misleading_orders():
    """Tables whose neighboring rows are alike, with few labels."""
    rng = np.random.default_rng(0)
    codes = np.sort(rng.integers(3, size=120))
    X = rng.normal(size=(120, 2)) + 2.0 * rng.normal(size=(3, 2))[codes]
    by_norm = np.argsort(np.linalg.norm(X, axis=1))
    return {
        "by class": (X, scattered_labels(codes, 8)),
        "by norm": (X[by_norm], scattered_labels(codes[by_norm], 8)),
        "repeated rows": (np.repeat(X[:40], 3, axis=0), scattered_labels(codes, 8)),
        "labels first": (X[::-1], np.where(np.arange(120) < 15, np.arange(120) % 2, -1)),
        "many labels": (X, scattered_labels(codes, 60)),
    }


@pytest.mark.parametrize(
    ("order", "rows", "step"),
    few(
        [
            *((order, 50, "entropy") for order in misleading_orders()),
            ("by class", 120, "entropy"),
            ("many labels", 120, "m-step"),
        ],
        (("by class", 50, "entropy"), ("many labels", 120, "m-step")).__contains__,
    ),
)
def test_a_sample_of_the_unlabeled_pairs_is_right_on_average(order, rows, step, monkeypatch):
    X, y = misleading_orders()[order]
    free = np.flatnonzero(y < 0)
    pairs = free[[[0, 90 if len(free) > 90 else 30], [3, 4], [5, 20]]]
    marks = Marks(pairs, [1, 0, 0.5], weights=[1.0, 2.0, 1.0], rows=len(X))
    P = np.array([[1.0, 0.5], [-0.4, 2.0]])

    def sums(unlabeled_pairs, seed=0):
        choice = {"unlabeled_pairs": unlabeled_pairs, "random_state": seed}
        F = pose(X, y, marks, mu=0.3, lam=1.0, **choice)[0].objective
        value, gradient = (F if step == "entropy" else F.m_step(0.7 * P)).value_and_gradient(P)
        return np.append(gradient[np.triu_indices(2)], value)

    exact = sums("all")
    monkeypatch.setattr(_seraph, "ROWS", rows)
    samples = np.array([sums(6, seed) for seed in range(100)])
    error = samples.std(axis=0, ddof=1) / np.sqrt(len(samples))
    # Precise enough to see a weight that is wrong by a few percent.
    assert 0.0 < error[-1] < 0.008 * abs(exact[-1])
    assert np.max(np.abs(samples.mean(axis=0) - exact) / error) < 4.0
