"""LDM against its definition, a second solver and a problem made for it."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import approx_fprime, minimize
from scipy.special import logsumexp
from sklearn.decomposition import PCA

from seraph import Marks
from seraph._marks import PairLabels
from seraph.classic import LDM
from seraph.classic._ldm import Likelihood, maximize
from tests.helpers.blobs import blobs


def some_pairs(n, seed=0):
    """Marked pairs of rows, no two of them the same."""
    rng = np.random.default_rng(seed)
    rows = np.unique(np.sort(rng.integers(0, n, (40, 2)), axis=1), axis=0)
    rows = rows[rows[:, 0] != rows[:, 1]]
    return rows, rng.choice([-1, 1], len(rows))


def knowledge(kind, y):
    """Class labels, marked pairs or both."""
    n = len(y)
    if kind == "labels":
        return PairLabels.make(n, np.where(np.arange(n) % 3, y, -1))
    if kind == "pairs":
        return PairLabels.make(n, None, Marks(*some_pairs(n), rows=n))
    rows, signs = some_pairs(n)
    half = np.where(np.arange(n) < n // 2, y, -1)
    free = (half[rows] < 0).any(axis=1)  # the others follow from the labels, or contradict
    return PairLabels.make(n, half, Marks(rows[free], signs[free], rows=n))


def literal_likelihood(Z, labels, gamma):
    """Sum over points of the log of the kernel mass on similar points, by loops over pairs."""
    n, value = len(Z), 0.0
    marked = dict(zip(map(tuple, labels.pairs.tolist()), labels.similar.tolist(), strict=True))
    for i in range(n):
        similar, dissimilar = [], []
        for j in range(n):
            alike = marked.get((min(i, j), max(i, j)))
            if labels.codes[i] >= 0 and labels.codes[j] >= 0:
                alike = labels.codes[i] == labels.codes[j]
            if i == j or alike is None:
                continue
            exponent = -sum(gamma[k] * (Z[i, k] - Z[j, k]) ** 2 for k in range(len(gamma)))
            (similar if alike else dissimilar).append(exponent)
        if similar and dissimilar:
            value += logsumexp(similar) - logsumexp(similar + dissimilar)
    return value


@pytest.mark.parametrize("kind", ["labels", "pairs", "both"])
@pytest.mark.parametrize("scale", [0.01, 1.0, 1e6])
def test_likelihood_is_the_literal_one(kind, scale):
    X, y = blobs()
    labels = knowledge(kind, y)
    gamma = scale * np.array([0.0, 0.3, 1.0, 2.0])
    value, near, far = Likelihood(X, labels)(gamma)
    assert_allclose(value, literal_likelihood(X, labels, gamma), rtol=1e-10)
    assert np.isfinite(near).all()
    assert np.isfinite(far).all()


@pytest.mark.parametrize("kind", ["labels", "pairs", "both"])
def test_moments_differ_by_the_gradient_of_finite_differences(kind):
    X, y = blobs()
    likelihood = Likelihood(X, knowledge(kind, y))
    gamma = np.array([0.1, 0.3, 0.05, 0.2])
    _, near, far = likelihood(gamma)
    numeric = approx_fprime(gamma, lambda g: likelihood(g)[0], 1e-7)
    assert_allclose(far - near, numeric, rtol=1e-4, atol=1e-5)
    assert (near > 0.0).all()
    assert (far > 0.0).all()


@pytest.mark.parametrize("seed", range(2))
def test_optimum_is_stationary_and_what_another_solver_finds(seed):
    X, y = blobs(n=50, m=5, seed=seed)
    likelihood = Likelihood(X - X.mean(axis=0), PairLabels.make(len(y), y))
    lam, start = 2.0, np.full(5, 0.1)
    gamma, value, gap, _ = maximize(likelihood, start, lam, 2000, 1e-7)
    assert gap <= 1e-7

    _, near, far = likelihood(gamma)
    slope = far - near - lam
    assert (slope <= 1e-5).all()
    assert_allclose(slope * gamma, 0.0, atol=1e-5)
    assert (gamma >= 0.0).all()
    second = minimize(
        lambda gamma: lam * gamma.sum() - likelihood(gamma)[0],
        start,
        method="SLSQP",
        bounds=[(0.0, None)] * 5,
        options={"maxiter": 500, "ftol": 1e-12},
    )
    assert_allclose(value, -second.fun, rtol=1e-6)
    assert_allclose(gamma, second.x, atol=1e-3)


def test_eigenvectors_are_the_principal_components_of_all_rows():
    X, y = blobs(n=60)
    y[20:] = -1
    learner = LDM().fit(X, y)
    axes = PCA().fit(X).components_
    A = learner.get_mahalanobis_matrix()
    assert_allclose(axes @ A @ axes.T, np.diag(learner.gamma_), atol=1e-10 * np.abs(A).max())
    labeled = PCA().fit(X[:20]).components_
    off = labeled @ A @ labeled.T
    assert np.abs(off - np.diag(np.diag(off))).max() > 1e-3 * np.abs(A).max()


def test_number_of_components():
    X, y = blobs(m=6)
    for n_components, n in ((None, 6), (2, 2), (99, 6)):
        assert len(LDM(n_components=n_components).fit(X, y).gamma_) == n


def test_separable_labels_leave_the_metric_finite():
    """Two classes far apart: without the trace, the likelihood grows to 0 at infinity."""
    X, y = blobs(m=3, n_classes=2)
    X[:, 0] += 8.0 * y
    learner = LDM(lam=0.0).fit(X, y)
    assert learner.converged_
    assert np.isfinite(learner.components_).all()
    assert -1e-2 < learner.objective_ <= 0.0
    held = LDM().fit(X, y)
    assert held.converged_
    assert np.trace(held.get_mahalanobis_matrix()) < np.trace(learner.get_mahalanobis_matrix())


def test_warns_when_the_metric_is_zero():
    X, y = blobs()
    with pytest.warns(UserWarning, match="The learned metric is zero"):
        learner = LDM(lam=1e6).fit(X, y)
    assert learner.components_.shape == (0, 4)
    assert_array_equal(learner.gamma_, np.zeros(4))


def test_objective_is_the_literal_one_at_the_learned_metric():
    X, y = blobs()
    learner = LDM().fit(X, y)
    likelihood = literal_likelihood(learner.transform(X), PairLabels.make(len(y), y), np.ones(4))
    trace = np.trace(learner.get_mahalanobis_matrix())
    assert_allclose(learner.objective_, likelihood - learner.lam_ * trace, rtol=1e-10)
