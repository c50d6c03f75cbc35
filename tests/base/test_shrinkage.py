"""Shrinkage: the metric handed out is the mixture that the formula says."""

import warnings

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform
from seraph._base import MOST_FEATURES, Blend
from seraph._sweep import PointsInMemory
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from seraph import SERAPH, KernelSERAPH, MetricClassifier, persist, query_pairs
from seraph.plot import FeatureImportanceDisplay

X, CLASSES = load_wine(return_X_y=True)
X = StandardScaler().fit_transform(X)
Y = np.where(np.arange(len(X)) % 9 == 0, CLASSES, -1)
COVARIANCE = np.cov(X.T, bias=True)


def mixture(A, target, rho):
    """The formula, as it is written."""
    ratio = np.trace(A @ COVARIANCE) / np.trace(target @ COVARIANCE)
    return (1 - rho) * A + rho * ratio * target


def assert_proportional(A, B, tol=1e-9):
    np.testing.assert_allclose(A / np.trace(A), B / np.trace(B), atol=tol)


def squared_distances(A):
    i, j = np.triu_indices(len(X), 1)
    return np.einsum("ki,ij,kj->k", X[i] - X[j], A, X[i] - X[j])


def rule(target):
    """The share of "auto"."""
    M = target @ COVARIANCE
    odds = 0.18 * np.sqrt(np.trace(M) ** 2 / np.trace(M @ M))
    return odds / (1 + odds)


LEARNERS = [
    SERAPH(lam=3.0, shrinkage=0.3),
    SERAPH(lam=3.0, shrinkage=0.9, gamma=0.1),
]


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
@pytest.mark.parametrize("with_target", [pytest.param(False, marks=pytest.mark.slow), True])
def test_the_metric_is_the_mixture_of_the_formula(learner, with_target):
    target = np.linalg.inv(COVARIANCE) if with_target else None
    learner.set_params(shrinkage_target=target).fit(X, Y)
    A = learner.learned_components_.T @ learner.learned_components_
    expected = mixture(A, np.eye(13) if target is None else target, learner.shrinkage)
    assert_proportional(learner.get_mahalanobis_matrix(), expected)


@pytest.mark.parametrize("target", [None, np.linalg.inv(COVARIANCE + np.eye(13))])
def test_auto_goes_by_the_effective_number_of_directions(target):
    learner = SERAPH(lam=3.0, shrinkage_target=target).fit(X, Y)
    aim = np.eye(13) if target is None else target
    assert learner.shrinkage_ == pytest.approx(rule(aim))
    A = learner.learned_components_.T @ learner.learned_components_
    assert_proportional(learner.get_mahalanobis_matrix(), mixture(A, aim, rule(aim)))


def test_0_is_the_learned_metric_and_1_is_the_euclidean_one():
    learner = SERAPH(shrinkage=0).fit(X, Y)
    np.testing.assert_array_equal(learner.components_, learner.learned_components_)
    A = SERAPH(shrinkage=1, shrinkage_target=None).fit(X, Y).get_mahalanobis_matrix()
    np.testing.assert_allclose(A, A[0, 0] * np.eye(13), atol=1e-12)


def test_the_learned_part_does_not_depend_on_the_shrinkage():
    plain = SERAPH(shrinkage=0).fit(X, Y)
    for shrinkage in ("auto", 0.3, 1.0):
        learner = SERAPH(shrinkage=shrinkage).fit(X, Y)
        np.testing.assert_array_equal(learner.learned_components_, plain.learned_components_)
        assert learner.objective_ == plain.objective_
        assert learner.optimality_gap_ == plain.optimality_gap_


def learned_distances(X, y, **parameters):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        learner = SERAPH(tol=1e-8, max_iter=2000, **parameters).fit(X, y)
    return pdist(learner.transform(X))


@pytest.mark.parametrize(
    "parameters", [pytest.param({"gamma": 0.5}, marks=pytest.mark.slow), {"mu": 0.0}, {}], ids=str
)
def test_what_does_not_matter_changes_distances_by_no_more_than_tol_allows(parameters):
    # (Of this set the rough metrics differed by 1e-4 with a column of zeros.)
    rng = np.random.default_rng(1)
    n, m, k = int(rng.integers(15, 60)), int(rng.integers(2, 14)), int(rng.integers(2, 5))
    codes = rng.integers(k, size=n)
    points = rng.normal(size=(n, m)) + 1.5 * rng.normal(size=(k, m))[codes]
    y = np.where(np.arange(n) < n // 2, codes, -1)
    plain = learned_distances(points, y, **parameters)
    wider = learned_distances(np.c_[points, np.zeros(n)], y, **parameters)
    np.testing.assert_allclose(wider, plain, rtol=1e-6)
    backwards = learned_distances(points[::-1], y[::-1], **parameters)
    np.testing.assert_allclose(
        squareform(backwards)[::-1, ::-1], squareform(plain), rtol=1e-6, atol=1e-12
    )


def test_the_order_of_many_rows_does_not_matter():
    rng = np.random.default_rng(0)
    points, y = rng.normal(size=(700, 3)), np.where(np.arange(700) < 20, np.arange(700) % 2, -1)
    points[:, 0] += 2.0 * y
    order = rng.permutation(700)
    A, B = (
        SERAPH(mu=0.0, tol=1e-8).fit(points[rows], y[rows]).get_mahalanobis_matrix()
        for rows in (np.arange(700), order)
    )
    np.testing.assert_allclose(A, B, rtol=1e-6, atol=1e-9)


def test_a_weight_of_ones_own_is_not_averaged():
    lam = SERAPH().fit(X, Y).lam_
    learner = SERAPH(lam=lam, shrinkage_target=None).fit(X, Y)
    A = learner.learned_components_.T @ learner.learned_components_
    assert_proportional(learner.get_mahalanobis_matrix(), mixture(A, np.eye(13), rule(np.eye(13))))


def test_rows_are_orthogonal_and_longest_first():
    P = SERAPH(shrinkage_target=None).fit(X, Y).components_
    gram = P @ P.T
    np.testing.assert_allclose(gram, np.diag(np.diag(gram)), atol=1e-12)
    lengths = np.diag(gram)
    assert np.all(np.diff(lengths) <= 1e-12)
    equal = np.isclose(lengths, lengths[-1])
    assert 2 < equal.sum() < 13
    variances = np.var(X @ P[equal].T, axis=0)
    assert np.all(np.diff(variances) <= 1e-12)


def test_n_components_keeps_the_leading_directions():
    whole = SERAPH(lam=3.0, shrinkage=0.3, shrinkage_target=None, tol=1e-8)
    P = whole.fit(X, Y).components_
    learner = SERAPH(lam=3.0, shrinkage=0.3, n_components=5, tol=1e-8).fit(X, Y)
    kept = learner.components_
    assert kept.shape == (5, 13)
    np.testing.assert_allclose(kept / kept[0, 0], P[:5] / P[0, 0], atol=1e-6)
    share = np.mean(squared_distances(P.T @ P) < 1.0)
    assert np.mean(squared_distances(kept.T @ kept) < 1.0) == pytest.approx(share, abs=0.01)


@pytest.mark.parametrize("eta", [1.0, 5.0])
def test_as_many_pairs_are_below_the_threshold_as_before(eta):
    learner = SERAPH(eta=eta).fit(X, Y)
    P = learner.learned_components_
    before = np.mean(squared_distances(P.T @ P) < eta)
    assert 0.1 < before < 0.9
    after = np.mean(squared_distances(learner.get_mahalanobis_matrix()) < eta)
    assert after == pytest.approx(before, abs=0.005)


def test_the_default_is_never_of_rank_zero():
    rng = np.random.default_rng(0)
    for seed in range(20):
        y = np.where(rng.random(30) < 0.3, rng.integers(0, 2, 30), -1)
        y[:4] = [0, 0, 1, 1]
        points = rng.normal(size=(30, 3))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # noise may well have a learned part of rank 0
            learner = SERAPH(random_state=seed).fit(points, y)
        assert learner.components_.shape == (3, 3)
        assert np.all(np.linalg.eigvalsh(learner.get_mahalanobis_matrix()) > 0)


def test_where_nothing_is_learned_the_target_gets_the_scale_of_the_threshold():
    with pytest.warns(UserWarning, match="only the metric that it shrinks toward is left"):
        learner = SERAPH(lam=1e9, eta=2.0).fit(X, Y)
    assert len(learner.learned_components_) == 0
    i, j = np.triu_indices(len(X), 1)
    squared = learner.pair_distance(np.stack([X[i], X[j]], axis=1)) ** 2
    assert squared.mean() == pytest.approx(2.0, rel=0.02)  # pairs of different points only


FEW_POINTS = np.random.default_rng(0).normal(size=(20, 60))
FEW_LABELS = np.where(np.arange(20) < 8, np.arange(20) % 2, -1)
M = MOST_FEATURES + 1


def widened(points):
    """Add features that are zero, until the Euclidean part is kept apart."""
    return np.pad(points, [(0, 0), (0, M - points.shape[1])])


@pytest.fixture(scope="module")
def wide():
    """Fit the same points twice: in one factor, and with many features in two parts."""
    learner = SERAPH(shrinkage_target=None)
    parts = clone(learner).fit(widened(FEW_POINTS), FEW_LABELS)
    new = np.random.default_rng(1).normal(size=(30, 60))
    return learner.fit(FEW_POINTS, FEW_LABELS), parts, new


def test_of_many_features_the_euclidean_part_is_kept_apart(wide):
    whole, parts, new = wide
    assert whole.isotropic_ == 0.0
    assert np.linalg.matrix_rank(whole.components_) == 60
    assert parts.isotropic_ > 0.0
    assert len(parts.components_) <= 19  # as many as the points span
    A = parts.components_.T @ parts.components_ + parts.isotropic_**2 * np.eye(M)
    np.testing.assert_allclose(parts.get_mahalanobis_matrix(), A, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(whole.get_mahalanobis_matrix(), A[:60, :60], rtol=1e-9, atol=1e-9)
    # Two new points whose difference is outside the span of the points that were learned from.
    across = parts.pair_distance(widened(new).reshape(15, 2, M))
    expected = whole.pair_distance(new.reshape(15, 2, 60))
    np.testing.assert_allclose(across, expected, rtol=1e-9)
    assert parts.get_metric()(*widened(new[:2])) == pytest.approx(across[0])


def test_all_who_use_the_metric_know_of_the_part_that_is_kept_apart(wide):
    whole, parts, new = wide
    points = widened(new)
    Z = parts.transform(points)
    assert Z.shape == (30, len(parts.get_feature_names_out()))
    expected = pdist(whole.transform(new))
    np.testing.assert_allclose(pdist(Z), expected, rtol=1e-9)
    np.testing.assert_array_equal(query_pairs(parts, points, 3), query_pairs(whole, new, 3))
    W = persist.to_matrix(parts, dtype=np.float64)
    np.testing.assert_allclose(pdist(points @ W), expected, rtol=1e-9)
    for kept in (5, 30):
        W = persist.to_matrix(parts, n_components=kept, X=points, dtype=np.float64)
        same = persist.to_matrix(whole, n_components=kept, X=new, dtype=np.float64)
        np.testing.assert_allclose(pdist(points @ W), pdist(new @ same), rtol=1e-7)
    few = FeatureImportanceDisplay.from_estimator(whole, new)
    many = FeatureImportanceDisplay.from_estimator(parts, points)
    np.testing.assert_allclose(many.importances[:60], few.importances, rtol=1e-9)
    # (A direction has no sign, and of many features PCA finds the first one closely enough.)
    np.testing.assert_allclose(abs(many.loadings[0, :60]), abs(few.loadings[0]), atol=1e-5)


def test_graphs_of_many_features_have_both_parts(wide):
    _, parts, new = wide
    pytest.importorskip("skl2onnx")
    points = widened(new)
    graph = persist.to_onnx(parts, points, dtype=np.float64)  # and compares it with the model
    assert sum(np.prod(array.dims) for array in graph.graph.initializer) < 20 * M
    classifier = MetricClassifier(SERAPH(shrinkage_target=None)).fit(points, np.arange(30) % 2)
    assert classifier.estimator_.isotropic_ > 0.0
    persist.to_onnx(classifier, points, dtype=np.float64)


def test_with_a_number_of_components_many_features_give_one_factor():
    whole = SERAPH(n_components=5).fit(FEW_POINTS, FEW_LABELS)
    parts = SERAPH(n_components=5).fit(widened(FEW_POINTS), FEW_LABELS)
    assert parts.isotropic_ == 0.0
    np.testing.assert_allclose(parts.components_, widened(whole.components_), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("value", [0.0, 1.0, 0.1, 1e200])
@pytest.mark.parametrize("shape", [(6, 2), (3, 5)])
def test_of_points_that_coincide_the_target_is_left_as_it_is(value, shape):
    n, m = shape
    y, target = np.arange(n) % 2, np.diag(np.arange(1.0, m + 1.0))
    for learner, expected in ((SERAPH(), np.eye(m)), (SERAPH(shrinkage_target=target), target)):
        with pytest.warns(UserWarning, match=r"rank 0\): only the metric that it shrinks toward"):
            learner.fit(np.full(shape, value), y)
        assert learner.learned_components_.shape == (0, m)
        np.testing.assert_allclose(learner.get_mahalanobis_matrix(), expected, atol=1e-14 * m)


@pytest.mark.parametrize("exponent", [308, 300, -300, -308, -310, -320, -323])
def test_the_size_of_the_target_does_not_matter(exponent):
    size = float(f"1e{exponent}")
    target = size * np.eye(4)  # (smaller numbers have too few digits for another one)
    X = np.random.default_rng(0).normal(size=(20, 4))
    learner = SERAPH(lam=0.1, shrinkage_target=None)
    plain = learner.fit(X, np.arange(20) % 2).get_mahalanobis_matrix()
    learner.set_params(shrinkage_target=target).fit(X, np.arange(20) % 2)
    np.testing.assert_allclose(learner.get_mahalanobis_matrix(), plain, rtol=1e-10, atol=1e-13)


def test_where_nothing_is_learned_and_there_is_no_threshold_the_target_keeps_its_size():
    coordinates = PointsInMemory(X[:, :2]).coordinates()
    for size in (1e308, 3.0, 1e-320):
        blend = Blend.of(SERAPH(shrinkage=0.5, shrinkage_target=size * np.eye(2)), 2)
        factor, _ = blend(np.zeros((0, 2)), coordinates)
        np.testing.assert_allclose(factor.T @ factor, size * np.eye(2), rtol=1e-3)
    single = PointsInMemory(X[:, :2].astype(np.float32)).coordinates()
    blend = Blend.of(SERAPH(shrinkage=0.5, shrinkage_target=1e300 * np.eye(2)), 2)
    with pytest.raises(ValueError, match=r"float32 ends at 3\.4e\+38\. Scale .*float64"):
        blend(np.zeros((0, 2)), single)


def test_kernels_shrink_toward_the_distance_in_feature_space():
    learner = KernelSERAPH(SERAPH(shrinkage=1.0, shrinkage_target=None)).fit(X, Y).learner_
    A = learner.components_.T @ learner.components_
    np.testing.assert_allclose(A, A[0, 0] * np.eye(len(A)), atol=1e-12)


def test_a_target_of_low_rank():
    target = np.zeros((13, 13))
    target[0, 0] = 5.0
    learner = SERAPH(lam=3.0, shrinkage=0.5, shrinkage_target=target).fit(X, Y)
    A = learner.learned_components_.T @ learner.learned_components_
    assert_proportional(learner.get_mahalanobis_matrix(), mixture(A, target, 0.5))
    assert len(learner.components_) == len(learner.learned_components_) + 1


def test_a_metric_that_is_not_finite_is_not_taken_for_none():
    with pytest.raises(np.linalg.LinAlgError, match="did not converge"):
        Blend(0.5)(np.full((2, X.shape[1]), np.nan), PointsInMemory(X).coordinates())
