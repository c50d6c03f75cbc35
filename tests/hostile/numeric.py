"""Fits whose numbers are extreme, each beside another fit or a formula that must agree with it."""

import inspect

import numpy as np
from scipy.spatial.distance import pdist, squareform

from seraph import SERAPH, SERAPHCV, KernelSERAPH, Marks, MetricClassifier, PairClassifier
from seraph.classic import GDM
from tests.hostile import inputs
from tests.hostile.fits import ESTIMATORS
from tests.hostile.trial import guarded, refused

# They take a learner, which is tried itself.
OF_A_LEARNER = {MetricClassifier, PairClassifier}
LEARNERS = [Estimator for Estimator in ESTIMATORS if Estimator not in OF_A_LEARNER]
# Points whose typical distance is beyond these are refused.
SCALES = {np.float64: (-150, 152), np.float32: (-34, 34)}


def some_points(rng, *, n=(6, 25), m=(1, 6)):
    """Points in clusters, and their classes."""
    gen = np.random.default_rng(inputs.seed(rng))
    shape = rng.randint(*n), rng.randint(*m)
    y = gen.integers(3, size=shape[0])
    y[:4] = [0, 0, 1, 1]
    return gen, gen.normal(size=shape) + 2.0 * gen.normal(size=(3, shape[1]))[y], y


def seeded(Estimator, **parameters):
    """A learner whose fits repeat, and take little time."""
    if Estimator is KernelSERAPH:
        return KernelSERAPH(seeded(SERAPH, **parameters))
    known = inspect.signature(Estimator).parameters
    quick = {"random_state": 0, "max_iter": 30, "cv": 2}
    return Estimator(**{k: v for k, v in quick.items() if k in known} | parameters)


def a_target(rng):
    """Shrink toward a matrix of any size: the metric is that of the same matrix of size 1."""
    gen, X, y = some_points(rng)
    m = X.shape[1]
    B = gen.integers(-3, 4, size=(m, rng.randint(1, m)))
    target = (B @ B.T + np.eye(m) * rng.choice([0, 1])).astype(np.float64)
    target[0, 0] += 1.0  # not zero
    exponent = rng.choice([-1070, -1060, -1030, -1000, -600, -30, 30, 600, 1000, 1010])
    shrinkage = rng.choice([0.1, 0.5, 1.0])

    def fitted(matrix):
        learner = seeded(SERAPH, shrinkage=shrinkage, shrinkage_target=matrix)
        return guarded(lambda: learner.fit(X, y))[0]

    plain, other = fitted(target), fitted(np.ldexp(target, exponent))
    assert refused(plain) == refused(other), (plain, other)
    if refused(plain):
        return f"refused: {str(plain)[:40]}"
    A, B = plain.get_mahalanobis_matrix(), other.get_mahalanobis_matrix()
    np.testing.assert_allclose(B, A, rtol=1e-6, atol=1e-9 * np.abs(A).max())
    return "shrunk"


def equal_points(rng):
    """Fit points that are all equal: no learner invents a metric without a word."""
    Estimator = rng.choice([SERAPH, SERAPH, *LEARNERS])
    dtype = rng.choice([np.float64, np.float32])
    value = rng.choice([0.0, 1.0, 0.1, -1e-30, 1e30, 3e-39])
    X = np.full((rng.randint(4, 12), rng.randint(1, 8)), value, dtype=dtype)
    y = np.arange(len(X)) % 2
    is_ours = Estimator in (SERAPH, SERAPHCV, KernelSERAPH)
    options = {"shrinkage": rng.choice([0, 0.4, "auto"])} if is_ours else {}
    if Estimator is SERAPH:
        options["solver"] = rng.choice(["low-rank", "spg", "projected-gradient", "em"])
    learner = seeded(Estimator, **options)
    result, notes = guarded(lambda: learner.fit(X, y))
    if refused(result):
        return f"{Estimator.__name__} refused: {str(result)[:40]}"
    metric = learner.learner_ if Estimator is KernelSERAPH else learner
    assert np.all(np.isfinite(metric.components_))
    np.testing.assert_array_equal(learner.pair_distance(np.stack([X, X], axis=1)), 0.0)
    if is_ours:
        assert len(metric.learned_components_) == 0
        assert any("all points are equal" in note for note in notes), notes
        assert (len(metric.components_) == 0) == (options["shrinkage"] == 0)
    return f"{Estimator.__name__} fitted"


def a_symmetry(rng):
    """Fit to a tight tolerance, and again what must not matter: distances agree."""
    gen, X, y = some_points(rng, n=(10, 25), m=(2, 7))
    y = np.where(np.arange(len(X)) < max(5, len(X) // 2), y, -1)
    settings = {"tol": 1e-8, "max_iter": 3000}
    settings |= rng.choice([{"mu": 0}, {"mu": 0, "shrinkage": 0.3}, {}, {"shrinkage": 0.3}])
    order = np.arange(len(X))
    change = rng.choice(["a column of zeros", "rows", "columns", "rotation", "shift", "units"])
    other = {
        "a column of zeros": lambda: np.c_[X, np.zeros(len(X))],
        "columns": lambda: X[:, gen.permutation(X.shape[1])],
        "rotation": lambda: X @ np.linalg.qr(gen.normal(size=(X.shape[1],) * 2))[0],
        "shift": lambda: X + 100.0,
        "units": lambda: X * 2.0 ** rng.choice([-60, 60]),
        "rows": lambda: X,
    }[change]()
    if change == "rows":
        order = gen.permutation(len(X))
    found = []
    for points, rows in ((X, np.arange(len(X))), (other, order)):
        learner = SERAPH(**settings)
        result, notes = guarded(lambda: learner.fit(points[rows], y[rows]))  # noqa: B023
        assert not refused(result), result
        if not learner.converged_ or any("is zero" in note for note in notes):
            return "not converged"
        back = np.argsort(rows)
        found.append(squareform(pdist(learner.transform(points[rows])))[back][:, back])
    np.testing.assert_allclose(*found, rtol=0, atol=2e-5 * found[0].max())
    return f"{change} changed nothing"


def a_growing_metric(rng):
    """Learn from one dissimilar pair in any units: the matrix is finite, and that of the map."""
    dtype = rng.choice(sorted(SCALES, key=str))
    _, X, _ = some_points(rng)
    low, high = SCALES[dtype]
    X = (X * 10.0 ** rng.uniform(low - 2, high + 1)).astype(dtype)
    parameters = {"eta": rng.choice([1, 1e-6, 1e6]), "shrinkage": rng.choice([0, "auto", 1])}
    learner = SERAPH(max_iter=50, lam=rng.choice(["auto", "auto", 0]), **parameters)
    result, _ = guarded(lambda: learner.fit(X, marks=Marks([[0, 1]], [-1], rows=X)))
    if refused(result):
        return f"refused: {str(result)[:40]}"
    P = learner.components_.astype(np.float64)
    assert np.all(np.isfinite(P))
    A, _ = guarded(learner.get_mahalanobis_matrix)
    if refused(A):
        assert np.abs(P).max() > 1e153
        return "no room for a matrix"
    expected = P.T @ P
    np.testing.assert_allclose(A, expected, rtol=1e-3, atol=1e-5 * np.abs(expected).max())
    assert np.all(np.isfinite(learner.pair_distance(X[np.newaxis, :2])))
    return "metric grown"


def a_wide_constraint(rng):
    """Fit GDM on features of very different scales: its constraint and its gap are true."""
    gen, X, y = some_points(rng, n=(8, 25), m=(2, 7))
    X = X * 10.0 ** gen.uniform(-rng.choice([0, 4, 8, 14]), 0.0, size=X.shape[1])
    if rng.random() < 0.3:
        X[:, -1] = X[:, 0]
    learner = GDM(n_constraints=None, tol=rng.choice([0.01, 1e-4]))
    result, _ = guarded(lambda: learner.fit(X, y))
    if refused(result):
        return f"refused: {str(result)[:40]}"
    i, j = np.triu_indices(len(X), 1)
    D, similar = X[i] - X[j], y[i] == y[j]
    n, m = X.shape
    equal, share, spread = m / (m + n), np.mean(similar), np.mean(np.sum(D**2, axis=0))

    def both_sides(P):
        squared = np.sum((D @ P.T) ** 2, axis=1)
        ridge = (1 - equal) * squared.sum() + equal * spread * np.sum(P**2)
        return np.sqrt(squared[~similar]).sum(), squared[similar].sum() + share * ridge

    value, used = both_sides(learner.components_)
    assert abs(used - 1.0) < 1e-9, used
    assert abs(value - learner.objective_) <= 1e-5 * value
    for _ in range(20):
        noise = gen.normal(size=learner.components_.shape) / X.std(axis=0)
        P = learner.components_ + 10.0 ** gen.uniform(-6, 0) * noise
        other, used = both_sides(P)
        assert other / np.sqrt(used) <= value * (1 + learner.optimality_gap_ + 1e-6)
    return "constraint met"
