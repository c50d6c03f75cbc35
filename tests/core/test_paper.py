"""SERAPH is the paper's model: its objective, its certificate, its probability, its algorithms."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform
from scipy.special import expit, xlogy

from benchmarks.paper._data import load_task
from benchmarks.paper._protocol import sample_task
from seraph import SERAPH
from seraph.classic import Euclidean
from tests.helpers.em import em
from tests.helpers.oracle import labeled_pairs, numeric_gradient, objective

SETTINGS = [
    {},
    {"solver": "spg"},
    {"mu": 0.0},
    {"lam": 3.0, "eta": 2.0},
    {"mu": 0.2, "n_components": 1},
    {"solver": "projected-gradient", "max_iter": 30, "lam": 1.0},
]


def value_and_gradient(X, y, A, mu, lam):
    """The objective (7) and its gradient with respect to the metric, with a table of all pairs."""
    i, j = np.triu_indices(len(X), 1)
    D = X[i] - X[j]
    p = expit(1.0 - np.einsum("ka,ab,kb->k", D, A, D))
    known, alike = (y[i] >= 0) & (y[j] >= 0), y[i] == y[j]
    likelihood = np.log(np.where(alike, p, 1 - p))[known].sum()
    minus_entropy = (xlogy(p, p) + xlogy(1 - p, 1 - p))[~known].sum()
    t = np.log(1 - p) - np.log(p)
    w = np.where(known, p - alike, mu * p * (1 - p) * t)
    value = likelihood + mu * minus_entropy - lam * np.trace(A)
    return value, (D.T * w) @ D - lam * np.eye(len(A))


def projected_gradient(X, y, mu, lam, max_iter=200, tol=1e-3):
    """The benchmark's own rule: gradient steps, halved until they help, and projections."""
    m = X.shape[1]
    A = m / (m + 1) * np.eye(m)
    value, G = value_and_gradient(X, y, A, mu, lam)
    for k in range(1, max_iter + 1):
        step = 0.1 * m / (np.linalg.norm(G) * np.sqrt(k))
        for _ in range(21):
            values, vectors = np.linalg.eigh(A + step * G)
            there = (vectors * np.maximum(values, 0.0)) @ vectors.T
            value_there, G_there = value_and_gradient(X, y, there, mu, lam)
            if value_there >= value:
                break
            step /= 2
        else:
            return A
        change = np.linalg.norm(there - A)
        A, value, G = there, value_there, G_there
        if change < tol:
            return A
    return A


@pytest.mark.parametrize("mu", ["auto", 0.0])
@pytest.mark.parametrize("lam", [1.0, 0.0])
@pytest.mark.filterwarnings("ignore:SERAPH has not converged")
def test_the_papers_four_settings_are_its_algorithm_to_the_letter(wine, mu, lam):
    X, y = wine[0][:30], wine[1][:30]
    learner = SERAPH(mu=mu, lam=lam, solver="projected-gradient").fit(X, y)
    n_labeled = 15 * 14 / 2
    weight = n_labeled / (30 * 29 / 2 - n_labeled) if mu == "auto" else 0.0
    assert (learner.mu_, learner.lam_) == (weight, lam)
    expected = projected_gradient(X, y, weight, lam)
    np.testing.assert_allclose(learner.get_mahalanobis_matrix(), expected, atol=1e-8)


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
@pytest.mark.filterwarnings("ignore:SERAPH has not converged")
def test_objective_and_certificate_are_those_of_the_components(wine, setting):
    X, y = wine[0][:30, :4], wine[1][:30]
    learner = SERAPH(**setting).fit(X, y)
    A = learner.get_mahalanobis_matrix()

    def value(A):
        weights = {"eta": learner.eta_, "mu": learner.mu_, "lam": learner.lam_}
        return objective(X, A, labeled_pairs(y[:15]), **weights)

    assert learner.objective_ == pytest.approx(value(A), rel=1e-9)
    G = numeric_gradient(value, A, h=1e-5)
    top = np.linalg.eigvalsh((G + G.T) / 2)[-1]
    gap = max(top, abs(np.vdot(G, A)) / np.trace(A)) / learner.lam_
    assert learner.optimality_gap_ == pytest.approx(gap, abs=1e-5)
    if "solver" not in setting and "n_components" not in setting:
        assert learner.optimality_gap_ <= learner.tol


@pytest.mark.parametrize("setting", [{}, {"eta": 2.0}, {"gamma": 1.0}], ids=str)
def test_pair_proba_is_equation_5(wine, setting):
    X, y, _ = wine
    learner = SERAPH(**setting).fit(X, y)
    pairs = np.random.default_rng(0).integers(len(X), size=(50, 2))
    d2 = np.sum((learner.transform(X)[pairs[:, 0]] - learner.transform(X)[pairs[:, 1]]) ** 2, 1)
    expected = 1 / (1 + np.exp(-learner.kappa_ * (d2 - learner.eta_)))
    np.testing.assert_allclose(learner.pair_proba(X[pairs]), expected)
    np.testing.assert_array_equal(learner.pair_proba(pairs, X), learner.pair_proba(X[pairs]))
    assert (learner.kappa_ == -1.0) == ("gamma" not in setting)
    learner.set_params(eta=5.0)  # the threshold of the fit stays
    np.testing.assert_allclose(learner.pair_proba(X[pairs]), expected)


@pytest.mark.filterwarnings("ignore:The standard deviations")
def test_the_learned_metric_beats_the_euclidean_one_on_digits_with_9_labels():
    task = load_task("mnist-3-5-8")
    errors = []
    for number in range(4):
        sampling = sample_task(task, seed=0, number=number)
        learners = [
            learner.fit(sampling.X, sampling.y_partial) for learner in (Euclidean(), SERAPH())
        ]
        errors.append([sampling.nearest_neighbor_error(learner) for learner in learners])
    euclidean, learned = np.mean(errors, axis=0)
    assert learned < euclidean - 2.0


# The EM-like scheme

EM = [{}, {"mu": 0.7}, {"mu": 0.2, "eta": 2.5}]
STRICT = {"tol": 1e-6, "max_iter": 1000}


def few_points(seed, n=11, m=2):
    rng = np.random.default_rng(seed)
    codes = np.arange(n) % 2
    X = rng.normal(size=(n, m)) + 1.5 * rng.normal(size=(2, m))[codes]
    return X, np.where(np.arange(n) < 6, codes, -1)


def m_step(X, y, learner, A, before):
    """The objective (11) at the metric A, with the q (10) of the metric before."""

    def q(d):
        if before is None:
            return 0.0
        return expit(-(1.0 + learner.mu_) * (d @ before @ d - learner.eta_))

    weights = {"eta": learner.eta_, "mu": learner.mu_, "lam": learner.lam_}
    return objective(X, A, labeled_pairs(y[y >= 0]), q=q, **weights)


def gap(X, y, learner, A, before):
    """The optimality gap of that, by differences."""
    G = numeric_gradient(lambda B: m_step(X, y, learner, B, before), A, h=1e-5)
    along = abs(np.vdot(G, A)) / (np.trace(A) or 1.0)
    return max(np.linalg.eigvalsh((G + G.T) / 2)[-1], along) / learner.lam_


@pytest.mark.filterwarnings("ignore:SERAPH has not converged")
@pytest.mark.parametrize("parameters", EM, ids=str)
@pytest.mark.parametrize("around", ["em", "spg"])
def test_each_m_step_maximizes_equation_11_and_rises(parameters, around):
    X, y = few_points(0)
    before = None
    for n_steps in (1, 2, 3):
        learner = SERAPH(**STRICT | parameters | {"solver": em(n_steps, around)}).fit(X, y)
        A = learner.get_mahalanobis_matrix()
        value = m_step(X, y, learner, A, before)
        assert learner.objective_ == pytest.approx(value, rel=1e-9)
        assert gap(X, y, learner, A, before) <= learner.optimality_gap_ + 1e-4
        if before is not None:
            assert value >= m_step(X, y, learner, before, before) - 1e-9
        before = A


@pytest.mark.parametrize("parameters", EM, ids=str)
def test_where_em_has_converged_the_metric_is_the_best_for_its_q(parameters):
    X, y = few_points(1)
    learner = SERAPH(solver="em", **STRICT | parameters).fit(X, y)
    assert learner.converged_
    A = learner.get_mahalanobis_matrix()
    assert gap(X, y, learner, A, A) <= 1e-3
    assert learner.objective_ == pytest.approx(m_step(X, y, learner, A, A), rel=1e-4)


def test_em_and_the_direct_solvers_agree_without_unlabeled_pairs_and_differ_with_them():
    X, y = few_points(2)
    apart = []
    for mu in (0.0, 0.3):
        direct, by_em = (SERAPH(mu=mu, solver=s, **STRICT).fit(X, y) for s in ("auto", "em"))
        Z, Q = direct.transform(X), by_em.transform(X)
        apart.append(np.abs(squareform(pdist(Z)) - squareform(pdist(Q))).max())
    assert apart[0] < 1e-4
    assert apart[1] > 1e-2
