"""LDM against its definition, its bound, a second solver and a problem made for it."""

import warnings
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import approx_fprime, minimize
from scipy.special import logsumexp
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import KNeighborsClassifier

from seraph import Marks
from seraph._marks import PairLabels
from seraph.classic import LDM
from seraph.classic._ldm import bound, bound_step, maximize
from seraph.classic._local_likelihood import Likelihood
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


@pytest.mark.parametrize("kind", ["labels", "pairs", "both"])
@pytest.mark.parametrize("lam", [0.0, 0.7])
def test_bound_touches_the_objective_and_lies_below_it(kind, lam):
    X, y = blobs()
    likelihood = Likelihood(X, knowledge(kind, y))
    rng = np.random.default_rng(0)
    gamma = rng.uniform(0.0, 0.5, X.shape[1])
    value, near, far = likelihood(gamma)
    below = partial(bound, near, far, lam=lam, width=likelihood.safe_width)
    assert below(np.zeros(4)) == 0.0
    slope = [(below(h) - below(-h)) / 2e-6 for h in 1e-6 * np.eye(4)]
    assert_allclose(slope, far - near - lam, rtol=1e-5, atol=1e-5)
    for size in (1e-3, 1e-2, 0.1, 0.5):
        for _ in range(20):
            step = np.maximum(size * rng.normal(size=4), -gamma)
            gained = likelihood(gamma + step)[0] - value - lam * step.sum()
            assert below(step) <= gained + 1e-10


@pytest.mark.parametrize("lam", [0.0, 3.0])
def test_bound_step_is_where_the_bound_is_largest(lam):
    rng = np.random.default_rng(0)
    near, far, gamma = rng.uniform(0.1, 5.0, (3, 6))
    gamma[:2] = 0.0
    step = bound_step(near, far, gamma, lam, 0.3)
    second = minimize(
        lambda s: -bound(near, far, s, lam, 0.3),
        np.zeros(6),
        method="L-BFGS-B",
        bounds=[(-g, None) for g in gamma],
        options={"ftol": 1e-15, "gtol": 1e-9},
    )
    assert (gamma + step >= 0.0).all()
    assert_allclose(step, second.x, atol=1e-5)
    assert bound(near, far, step, lam, 0.3) >= -second.fun - 1e-12


def test_bound_step_is_finite_where_a_moment_is_zero():
    zero, one = np.zeros(1), np.ones(1)
    assert 0.0 < bound_step(zero, one, one, 0.0, 1.0)[0] < np.inf
    assert_array_equal(bound_step(one, zero, one, 0.0, 1.0), [-1.0])
    assert_allclose(bound_step(zero, zero, one, 0.0, 1.0), [0.0], atol=1e-12)


@pytest.mark.parametrize("lam", ["auto", 0.0])
@pytest.mark.parametrize("kind", ["labels", "pairs", "both"])
def test_objective_never_falls(lam, kind):
    X, y = blobs(n=60, m=6, seed=3)
    labels = knowledge(kind, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        learner = LDM(lam=lam, tol=1e-9).fit(X, labels.codes, marks=labels.marks)
    objective = learner.history_["objective"]
    assert learner.n_iter_ == len(objective) - 1 > 5
    assert (np.diff(objective) >= 0.0).all()
    assert objective[-1] > objective[0]


def test_objective_is_the_literal_one_at_the_learned_metric():
    X, y = blobs()
    learner = LDM().fit(X, y)
    likelihood = literal_likelihood(learner.transform(X), PairLabels.make(len(y), y), np.ones(4))
    trace = np.trace(learner.get_mahalanobis_matrix())
    assert_allclose(learner.objective_, likelihood - learner.lam_ * trace, rtol=1e-10)


@pytest.mark.parametrize("seed", range(4))
def test_optimum_is_stationary_and_what_another_solver_finds(seed):
    X, y = blobs(n=50, m=5, seed=seed)
    likelihood = Likelihood(X - X.mean(axis=0), PairLabels.make(len(y), y))
    lam, start = 2.0, np.full(5, 0.1)
    found, history, gap = maximize(likelihood, start, lam, 2000, 1e-7)
    assert gap <= 1e-7

    _, near, far = likelihood(found)
    slope = far - near - lam
    assert (slope <= 1e-5).all()
    assert_allclose(slope * found, 0.0, atol=1e-5)
    assert (found >= 0.0).all()

    def negative(gamma):
        value, near, far = likelihood(gamma)
        return lam * gamma.sum() - value, lam - (far - near)

    second = minimize(
        negative,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=[(0.0, None)] * 5,
        options={"ftol": 1e-15, "gtol": 1e-9},
    )
    assert_allclose(history[-1], -second.fun, rtol=1e-6)
    assert_allclose(found, second.x, atol=1e-5)


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
    explained = np.cumsum(PCA().fit(X).explained_variance_ratio_)
    assert len(LDM().fit(X, y).gamma_) == 6
    assert len(LDM(n_components=2).fit(X, y).gamma_) == 2
    assert len(LDM(n_components=99).fit(X, y).gamma_) == 6
    assert len(LDM(n_components=1.0).fit(X, y).gamma_) == 6
    assert len(LDM(n_components=1).fit(X, y).gamma_) == 1
    for fraction in (0.3, 0.5, 0.8):
        count = int(np.argmax(explained >= fraction)) + 1
        assert len(LDM(n_components=fraction).fit(X, y).gamma_) == count
    assert LDM(n_components=2).fit(X, y).components_.shape[0] <= 2


@pytest.mark.parametrize("seed", range(3))
def test_beats_the_euclidean_distance_where_classes_have_several_modes(seed):
    """Four clusters in a row, classes taking turns, among directions of larger variance."""
    rng = np.random.default_rng(seed)
    cluster = rng.integers(0, 4, 300)
    y = cluster % 2
    noise = rng.normal(size=(300, 3)) * [2.0, 2.5, 3.0]
    rotation = np.linalg.qr(rng.normal(size=(4, 4)))[0]
    X = np.column_stack([cluster + 0.1 * rng.normal(size=300), noise]) @ rotation
    learner = LDM().fit(X, np.where(np.arange(300) < 60, y, -1))
    Z = learner.transform(X)
    error = [
        1.0 - KNeighborsClassifier(1).fit(points[:60], y[:60]).score(points[60:], y[60:])
        for points in (X, Z)
    ]
    assert error[0] > 0.3
    assert error[1] < 0.05


def test_points_with_one_kind_of_pair_are_left_out():
    X, y = blobs(n=30)
    y[20:] = -1
    alone = LDM(tol=1e-7).fit(X, y)
    rows, signs = [[20, 21], [21, 22], [23, 24], [25, 26]], [1, 1, -1, -1]
    more = LDM(tol=1e-7).fit(X, y, marks=Marks(rows, signs, rows=X))
    assert_allclose(more.objective_, alone.objective_, rtol=1e-10)
    assert_allclose(more.gamma_, alone.gamma_, atol=1e-5)


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


def test_warns_when_stopped_early():
    X, y = blobs()
    with pytest.warns(ConvergenceWarning, match="With lam=0 the likelihood may have no maximum"):
        LDM(max_iter=1, lam=0.0).fit(X, y)


def test_warns_when_the_metric_is_zero():
    X, y = blobs()
    with pytest.warns(UserWarning, match="The learned metric is zero"):
        learner = LDM(lam=1e6).fit(X, y)
    assert learner.components_.shape == (0, 4)
    assert_array_equal(learner.gamma_, np.zeros(4))


@pytest.mark.parametrize(
    ("y", "pairs", "signs"),
    [
        ([0, 0, 0, 0, 0], None, None),
        ([0, 1, 2, 3, 4], None, None),
        (None, [[0, 1], [2, 3]], [1, -1]),
        ([0, 0, -1, -1, -1], [[2, 3]], [-1]),
    ],
)
def test_needs_a_point_in_both_kinds_of_pairs(y, pairs, signs):
    X = np.random.default_rng(0).normal(size=(5, 2))
    with pytest.raises(ValueError, match="No point is in both a similar and a dissimilar"):
        LDM().fit(X, y, marks=Marks(pairs, signs, rows=X))


def test_steps_that_have_come_to_rest_end_the_search():
    X = np.random.default_rng(0).normal(size=(6, 2))
    with pytest.warns(ConvergenceWarning, match="LDM has not converged"):
        learner = LDM(tol=0, max_iter=2000).fit(X, [0, 0, 1, 1, 2, 2])
    assert learner.n_iter_ < 100
    assert np.all(np.isfinite(learner.gamma_))
