"""KernelSERAPH: SERAPH in the feature space of a kernel."""

import pickle
import warnings

import numpy as np
import pytest
from scipy.spatial.distance import pdist
from sklearn.decomposition import KernelPCA
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from seraph import SERAPH, KernelSERAPH
from tests.helpers.quick import few


def distances(learner, X):
    return pdist(learner.transform(X))


# What is learned


@pytest.mark.parametrize(
    "setting",
    few([{}, {"mu": 0.0}, {"solver": "em"}, {"lam": 3.0}], ({}, {"mu": 0.0}).__contains__),
    ids=str,
)
def test_a_linear_kernel_gives_the_distances_of_seraph(wine, setting):
    X, y_partial, _ = wine
    plain = SERAPH(**setting).fit(X, y_partial)
    kernel = KernelSERAPH(SERAPH(**setting), kernel="linear").fit(X, y_partial)
    moved = X + 0.1 * np.random.default_rng(1).normal(size=X.shape)
    for points in (X, moved):
        np.testing.assert_allclose(distances(kernel, points), distances(plain, points), atol=1e-6)
    assert kernel.learner_.objective_ == pytest.approx(plain.objective_, rel=1e-9)


@pytest.mark.parametrize("setting", [{}, {"mu": 0.0}, {"gamma": 1.0}], ids=str)
def test_it_is_kernel_pca_and_seraph(wine, setting):
    X, y_partial, _ = wine
    pipeline = make_pipeline(KernelPCA(kernel="rbf", gamma=0.05), SERAPH(**setting))
    kernel = KernelSERAPH(SERAPH(**setting), gamma=0.05)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # principal components are not to be scaled
        expected = distances(pipeline.fit(X, y_partial), X)
        np.testing.assert_allclose(distances(kernel.fit(X, y_partial), X), expected, rtol=1e-8)


def test_the_width_goes_by_the_median_distance(wine):
    X, y_partial, _ = wine
    learner = KernelSERAPH().fit(X, y_partial)
    assert learner.pca_.gamma == pytest.approx(1.0 / np.median(pdist(X, "sqeuclidean")))
    # So the units of X do not matter.
    scaled = KernelSERAPH().fit(1000 * X, y_partial)
    np.testing.assert_allclose(distances(scaled, 1000 * X), distances(learner, X), atol=1e-6)


def gaussian(u, v, width):
    return np.exp(-np.sum((u - v) ** 2) / (2 * width**2))


def test_a_precomputed_kernel_and_a_callable_are_the_same_as_a_named_one(wine, rng):
    X, y_partial, _ = wine
    unseen = rng.normal(size=(7, 13))
    named = KernelSERAPH(kernel="rbf", gamma=0.5).fit(X, y_partial)
    values = KernelSERAPH(kernel="precomputed").fit(rbf_kernel(X, gamma=0.5), y_partial)
    called = KernelSERAPH(kernel=gaussian, kernel_params={"width": 1.0}).fit(X, y_partial)
    expected = distances(named, unseen)
    np.testing.assert_allclose(
        distances(values, rbf_kernel(unseen, X, gamma=0.5)), expected, atol=1e-6
    )
    np.testing.assert_allclose(distances(called, unseen), expected, atol=1e-6)


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


def test_landmarks_depend_on_the_seed_and_are_rows_of_a_precomputed_kernel(digits):
    X, y_partial, _ = digits
    learners = [
        KernelSERAPH(gamma=0.05, n_landmarks=50, random_state=seed).fit(X, y_partial)
        for seed in (0, 0, 1)
    ]
    one, same, other = (distances(learner, X) for learner in learners)
    np.testing.assert_array_equal(one, same)
    assert np.abs(one - other).max() > 1e-6
    assert len(learners[0].landmarks_) == 50
    K = rbf_kernel(X, gamma=0.05)
    values = KernelSERAPH(kernel="precomputed", n_landmarks=50).fit(K, y_partial)
    np.testing.assert_allclose(distances(values, K), one, atol=1e-6)


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


def test_a_search_cuts_a_precomputed_kernel_on_both_sides(wine):
    X, _, y = wine
    pipeline = make_pipeline(KernelSERAPH(kernel="precomputed"), KNeighborsClassifier(1))
    grid = {"kernelseraph__learner__lam": ["auto", 1.0]}
    search = GridSearchCV(pipeline, {**grid, "kernelseraph__learner": [SERAPH()]}, cv=3)
    assert search.fit(laplacian_kernel(X), y).best_score_ > 0.8


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"kernel": "precomputed"}, r"square matrix; got shape \(80, 13\)"),
        ({"kernel": "chi2"}, "kernel='chi2' is not a kernel .* must be a str among"),
        ({"kernel_params": {"gamma": 5}}, "kernel_params=.* is for a kernel that is a function"),
    ],
    ids=str,
)
def test_what_does_not_suit_the_points_is_refused(wine, parameters, message):
    with pytest.raises(ValueError, match=message):
        KernelSERAPH(**parameters).fit(*wine[:2])


def test_a_function_that_is_not_a_kernel_is_refused(wine):
    X, y_partial, _ = wine
    with pytest.raises(ValueError, match="is not a kernel on X"):
        KernelSERAPH(kernel="precomputed").fit(-rbf_kernel(X), y_partial)
    with pytest.raises(ValueError, match="is not a kernel on X"):
        KernelSERAPH(kernel=lambda u, v: u[0]).fit(X, y_partial)
