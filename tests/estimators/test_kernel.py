"""KernelSERAPH: SERAPH in the feature space of a kernel."""

import pickle
import warnings

import numpy as np
import pytest
from scipy.spatial.distance import pdist
from sklearn.base import clone
from sklearn.datasets import make_circles
from sklearn.decomposition import KernelPCA
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

import seraph
from seraph import SERAPHCV, classic
from tests.helpers.plain import SERAPH, KernelSERAPH


def distances(learner, X):
    return pdist(learner.transform(X))


# What is learned


@pytest.mark.parametrize("data", ["wine", pytest.param("digits", marks=pytest.mark.slow)])
@pytest.mark.parametrize("setting", [{}, {"mu": 0.0}, {"solver": "em"}, {"lam": 3.0}], ids=str)
def test_a_linear_kernel_gives_the_distances_of_seraph(request, data, setting):
    X, y_partial, _ = request.getfixturevalue(data)
    plain = SERAPH(**setting).fit(X, y_partial)
    kernel = KernelSERAPH(kernel="linear", **setting).fit(X, y_partial)
    new = X + 0.1 * np.random.default_rng(1).normal(size=X.shape)
    for points in (X, new):
        np.testing.assert_allclose(distances(kernel, points), distances(plain, points), atol=1e-6)
    assert kernel.learner_.objective_ == pytest.approx(plain.objective_, rel=1e-9)


def test_a_polynomial_kernel_gives_the_distances_of_seraph_on_its_monomials(rng):
    X = rng.normal(size=(40, 2))
    y = np.r_[np.arange(12) % 2, np.full(28, -1)]
    monomials = np.c_[X**2, np.sqrt(2) * X[:, :1] * X[:, 1:], np.sqrt(2) * X, np.ones(40)]
    plain = SERAPH(tol=1e-5).fit(monomials, y)
    kernel = KernelSERAPH(kernel="poly", degree=2, gamma=1.0, coef0=1.0, tol=1e-5).fit(X, y)
    np.testing.assert_allclose(distances(kernel, X), distances(plain, monomials), rtol=1e-4)


@pytest.mark.parametrize("setting", [{}, {"mu": 0.0}, {"gamma": 1.0}], ids=str)
def test_it_is_kernel_pca_and_seraph(wine, setting):
    X, y_partial, _ = wine
    pipeline = make_pipeline(KernelPCA(kernel="rbf", gamma=0.05), seraph.SERAPH(**setting))
    kernel = seraph.KernelSERAPH(seraph.SERAPH(**setting), gamma=0.05)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # principal components are not to be scaled
        expected = distances(pipeline.fit(X, y_partial), X)
        found = distances(kernel.fit(X, y_partial), X)
    np.testing.assert_allclose(found, expected, rtol=1e-8)


def test_weights_are_chosen_in_feature_space(digits):
    X, y_partial, _ = digits
    inner = SERAPHCV(lam_factors=(0.5, 1.0), cv=2)
    learner = seraph.KernelSERAPH(inner, gamma=0.05).fit(X, y_partial)
    again = clone(inner).fit(learner.kernel_map_(X), y_partial)
    assert learner.learner_.best_params_ == again.best_params_
    np.testing.assert_array_equal(learner.transform(X), again.transform(learner.kernel_map_(X)))
    assert not hasattr(inner, "components_")


def rings(seed, n=200):
    """Two rings; three labels on each, those of one between those of the other."""
    X, y = make_circles(n, factor=0.6, noise=0.05, random_state=seed)
    turn = np.random.default_rng(seed).uniform(0, 2 * np.pi)
    known = np.zeros(n, dtype=bool)
    for k in range(6):
        angle = turn + k * np.pi / 3
        rows = np.flatnonzero(y == k % 2)
        radius = np.linalg.norm(X[rows], axis=1).mean()
        spot = radius * np.array([np.cos(angle), np.sin(angle)])
        known[rows[np.argmin(np.linalg.norm(X[rows] - spot, axis=1))]] = True
    return X, y, known


@pytest.mark.slow
def test_a_kernel_separates_two_rings_and_no_linear_map_does():
    errors = []
    for seed in range(10):
        X, y, known = rings(seed)
        assert known.sum() == 6
        row = []
        for learner in (SERAPH(), KernelSERAPH()):
            Z = learner.fit(X, np.where(known, y, -1)).transform(X)
            neighbors = KNeighborsClassifier(1).fit(Z[known], y[known])
            row.append(1 - neighbors.score(Z[~known], y[~known]))
        errors.append(row)
    linear, kernel = np.mean(errors, axis=0)
    assert linear > 0.30
    assert kernel < 0.03


@pytest.mark.parametrize(
    ("kernel", "metric"), [("rbf", "sqeuclidean"), ("laplacian", "cityblock")]
)
def test_the_width_goes_by_the_median_distance(kernel, metric):
    X, y, known = rings(0)
    learner = KernelSERAPH(kernel=kernel).fit(X, np.where(known, y, -1))
    width = 1.0 / np.median(pdist(X, metric))
    assert learner.kernel_map_.parameters["gamma"] == pytest.approx(width)
    # So the units of X do not matter.
    far = KernelSERAPH(kernel=kernel).fit(1000 * X, np.where(known, y, -1))
    np.testing.assert_allclose(
        far.pair_distance(1000 * X[np.newaxis, :2]), learner.pair_distance(X[np.newaxis, :2])
    )


@pytest.mark.slow
def test_random_labels_on_two_rings_are_enough_with_the_default_width():
    errors = []
    for seed in range(10):
        X, y = make_circles(200, factor=0.3, noise=0.04, random_state=seed)
        rng = np.random.default_rng(seed)
        some = np.full(len(y), -1)
        for ring in (0, 1):
            some[rng.permutation(np.flatnonzero(y == ring))[:3]] = ring
        Z = seraph.KernelSERAPH().fit(X, some).transform(X)
        neighbors = KNeighborsClassifier(1).fit(Z[some >= 0], y[some >= 0])
        errors.append(1 - neighbors.score(Z[some < 0], y[some < 0]))
    assert np.mean(errors) < 0.05


KERNELS = {
    "rbf": {"gamma": 0.5},
    "laplacian": {"gamma": 0.5},
    "cosine": {},
    "poly": {"degree": 2},
    "polynomial": {"degree": 2, "coef0": 0.5},
    "linear": {},
    "chi2": {},
    "additive_chi2": {},
}


@pytest.mark.parametrize("kernel", KERNELS)
def test_all_kernels_of_scikit_learn(rng, kernel):
    X = rng.uniform(size=(30, 4))
    y = np.r_[np.arange(12) % 3, np.full(18, -1)]
    learner = KernelSERAPH(kernel=kernel, lam=0.05, **KERNELS[kernel]).fit(X, y)
    rank = len(learner.learner_.components_)
    assert learner.transform(rng.uniform(size=(5, 4))).shape == (5, rank)
    assert rank > 0


def test_a_precomputed_kernel_and_a_callable_are_the_same_as_a_named_one(wine, rng):
    X, y_partial, _ = wine
    new = rng.normal(size=(7, 13))
    named = KernelSERAPH(kernel="rbf", gamma=0.5).fit(X, y_partial)
    given = KernelSERAPH(kernel="precomputed").fit(rbf_kernel(X, gamma=0.5), y_partial)
    called = KernelSERAPH(kernel=gaussian, kernel_params={"width": 1.0}).fit(X, y_partial)
    expected = distances(named, new)
    np.testing.assert_allclose(
        distances(given, rbf_kernel(new, X, gamma=0.5)), expected, atol=1e-6
    )
    np.testing.assert_allclose(distances(called, new), expected, atol=1e-6)


def gaussian(u, v, width):
    return np.exp(-np.sum((u - v) ** 2) / (2 * width**2))


# Many points


def test_landmarks_approach_the_exact_metric_as_they_grow_in_number(digits):
    X, y_partial, _ = digits
    exact = distances(KernelSERAPH(gamma=0.05).fit(X, y_partial), X)
    apart = [
        np.abs(
            distances(KernelSERAPH(gamma=0.05, n_landmarks=k).fit(X, y_partial), X) - exact
        ).max()
        for k in (30, 100, 199)
    ]
    assert apart[0] > apart[1] > apart[2]
    assert apart[2] < 0.05 * exact.max()


def test_landmarks_depend_on_the_seed_alone(digits):
    X, y_partial, _ = digits
    fits = [
        KernelSERAPH(gamma=0.05, n_landmarks=50, random_state=seed).fit(X, y_partial)
        for seed in (0, 0, 1)
    ]
    a, b, c = (distances(learner, X) for learner in fits)
    np.testing.assert_array_equal(a, b)
    assert np.abs(a - c).max() > 1e-6
    assert fits[0].kernel_map_.landmarks.shape == (50, 64)


def test_landmarks_of_a_precomputed_kernel_are_its_rows(digits):
    X, y_partial, _ = digits
    named = KernelSERAPH(gamma=0.05, n_landmarks=50, random_state=0).fit(X, y_partial)
    K = rbf_kernel(X, gamma=0.05)
    given = KernelSERAPH(kernel="precomputed", n_landmarks=50, random_state=0).fit(K, y_partial)
    np.testing.assert_allclose(distances(given, K), distances(named, X), atol=1e-6)


# How it is used


def test_pair_methods_agree_on_the_distance_in_feature_space(wine):
    X, y_partial, _ = wine
    learner = KernelSERAPH(gamma=0.5).fit(X, y_partial)
    pairs = X[np.array([[0, 1], [5, 60], [3, 3]])]
    Z = learner.transform(X)
    d = np.linalg.norm(Z[[0, 5, 3]] - Z[[1, 60, 3]], axis=1)
    np.testing.assert_allclose(learner.pair_distance(pairs), d, atol=1e-9)
    np.testing.assert_allclose(learner.pair_proba(pairs), 1 / (1 + np.exp(d**2 - 1)), atol=1e-9)
    metric = pickle.loads(pickle.dumps(learner.get_metric()))
    np.testing.assert_allclose([metric(a, b) for a, b in pairs], d, atol=1e-9)
    assert learner.pair_distance(np.empty((0, 2, 13))).shape == (0,)
    with pytest.raises(ValueError, match=r"\(n_pairs, 2, 13\).*got \(1, 2\)"):
        learner.pair_distance([[0, 1]])


def test_a_search_cuts_a_precomputed_kernel_on_both_sides(wine):
    X, _, y = wine
    pipeline = make_pipeline(KernelSERAPH(kernel="precomputed"), KNeighborsClassifier(1))
    grid = {"kernelseraph__learner__lam": ["auto", 1.0]}
    search = GridSearchCV(pipeline, grid, cv=3).fit(laplacian_kernel(X), y)
    assert search.best_score_ > 0.8


# What it refuses


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"kernel": "precomputed"}, r"square matrix; got shape \(80, 13\)"),
        ({"kernel": lambda u, v: u[0]}, "kernel must be symmetric"),
        ({"kernel": "chi2"}, "negative"),
        ({"learner": classic.LFDA()}, r"must be a SERAPH or a SERAPHCV; got LFDA\(\)"),
        ({"learner": seraph.SERAPH}, "must be a SERAPH or a SERAPHCV"),
    ],
)
def test_a_kernel_that_does_not_suit_the_points_is_refused(wine, parameters, message):
    with pytest.raises(ValueError, match=message):
        KernelSERAPH(**parameters).fit(*wine[:2])


def test_a_function_that_is_not_a_kernel_is_refused(wine):
    X, y_partial, _ = wine
    with pytest.raises(ValueError, match="not positive semi-definite"):
        KernelSERAPH(kernel="precomputed").fit(-rbf_kernel(X), y_partial)


@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
def test_points_far_from_the_origin_give_the_distances_of_points_near_it(rng, kernel):
    X = np.round(rng.normal(size=(20, 3)), 3)
    y = np.arange(20) % 2
    near = KernelSERAPH(kernel=kernel, mu=0.0, tol=1e-6, max_iter=2000).fit(X, y)
    far = clone(near).fit(X + 1e7, y)
    np.testing.assert_allclose(distances(far, X + 1e7), distances(near, X), atol=1e-3)
