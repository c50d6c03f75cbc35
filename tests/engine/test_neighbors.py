"""What the neighbor graph adds to the default: the target of shrinkage and the discriminant."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.distance import pdist, squareform
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import LabelSpreading

from seraph import SERAPH, SERAPHCV, KernelSERAPH, Marks
from seraph.classic import LRML, Euclidean

X, CLASSES = load_wine(return_X_y=True)
X = StandardScaler().fit_transform(X)
Y = np.where(np.arange(len(X)) % 9 == 0, CLASSES, -1)
PAIRS = np.random.default_rng(0).integers(len(X), size=(40, 2))
PAIRS = np.unique(np.sort(PAIRS[PAIRS[:, 0] != PAIRS[:, 1]], axis=1), axis=0)
ALIKE = CLASSES[PAIRS[:, 0]] == CLASSES[PAIRS[:, 1]]


def unit(A, points=X):
    """A metric of total variance one."""
    return A / np.sum(A * np.cov(points.T, bias=True))


def trust(k, points=X):
    """k / (k + d) for d effective directions."""
    variances = np.linalg.eigvalsh(np.cov(points.T, bias=True).reshape([points.shape[1]] * 2))
    return k / (k + variances.sum() ** 2 / np.sum(variances**2))


def mixture(of_lrml, k, points=X):
    """The metric of LRML and the Euclidean one, of equal total variance."""
    share = trust(k, points) / 2
    return share * unit(of_lrml, points) + (1 - share) * unit(np.eye(points.shape[1]), points)


def target_of(points=X, **known):
    """The target, as a fit hands it out with a share of 1."""
    learner = SERAPH(lam=1.0, shrinkage=1.0).fit(points, **known)
    return unit(learner.get_mahalanobis_matrix(), points)


def literal_edges(points, n_neighbors=6):
    D = squareform(pdist(points))
    np.fill_diagonal(D, np.inf)
    near = np.argsort(D, axis=1)[:, :n_neighbors]
    W = np.zeros_like(D)
    W[np.arange(len(points))[:, np.newaxis], near] = 1.0
    return np.maximum(W, W.T)


def scatter(points, pairs, weights):
    gaps = points[pairs[:, 0]] - points[pairs[:, 1]]
    return np.einsum("k,ki,kj->ij", weights, gaps, gaps)


# The target


def test_the_target_is_a_mixture_of_the_metric_of_lrml_and_the_euclidean_one():
    for k, known in (
        (np.count_nonzero(Y >= 0), {"y": Y}),
        (len(np.unique(PAIRS)), {"marks": Marks(PAIRS, ALIKE, rows=X)}),
    ):
        of_lrml = LRML().fit(X, **known).get_mahalanobis_matrix()
        assert_allclose(target_of(**known), mixture(of_lrml, k), atol=1e-12)


def test_with_few_marks_of_points_of_many_directions_the_target_is_nearly_euclidean():
    rng = np.random.default_rng(0)
    for m, least, most in ((2, 0.2, 0.5), (200, 0.0, 0.02)):
        points = rng.normal(size=(300, m))
        T = target_of(points, marks=Marks([[0, 1], [2, 3]], [1, -1], rows=points))
        far = np.linalg.norm(T / np.trace(T) - np.eye(m) / m) / np.linalg.norm(np.eye(m) / m)
        of_lrml = LRML().fit(points, marks=Marks([[0, 1], [2, 3]], [1, -1], rows=points))
        L = of_lrml.get_mahalanobis_matrix()
        farthest = np.linalg.norm(L / np.trace(L) - np.eye(m) / m) / np.linalg.norm(np.eye(m) / m)
        assert least <= far / farthest <= most


def test_unsure_weighted_marks_and_triplets_count_by_their_weight():
    rng = np.random.default_rng(1)
    q, w = rng.uniform(size=len(PAIRS)), rng.uniform(0.5, 3.0, size=len(PAIRS))
    triplets = np.array([[0, 1, 100], [60, 70, 150]])
    marks = Marks(PAIRS, q, weights=w, triplets=triplets, rows=X)
    sure, edges = np.ones(2), np.argwhere(np.triu(literal_edges(X)))
    parts = [
        scatter(X, edges, np.ones(len(edges))),
        scatter(X, PAIRS, w * q) + scatter(X, triplets[:, [0, 1]], sure),
        scatter(X, PAIRS, w * (1 - q)) + scatter(X, triplets[:, [0, 2]], sure),
    ]
    K = sum(a * part / np.trace(part) for a, part in zip((1, 3, -1), parts, strict=True))
    values, V = np.linalg.eigh(K)
    inverse = V / np.maximum(values, 0.02 * values[-1]) @ V.T
    # A row counts by its strongest mark.
    strongest = np.zeros(len(X))
    np.maximum.at(strongest, PAIRS, w[:, np.newaxis])
    strongest[triplets] = np.maximum(strongest[triplets], 1.0)
    k = strongest.sum() ** 2 / np.sum(strongest**2)
    assert_allclose(target_of(marks=marks), mixture(inverse, k), atol=1e-12)


def test_none_is_the_euclidean_target_and_a_matrix_is_itself():
    euclidean = SERAPH(lam=1.0, shrinkage=1.0, shrinkage_target=None).fit(X, Y)
    assert_allclose(unit(euclidean.get_mahalanobis_matrix()), unit(np.eye(13)), atol=1e-12)
    given = SERAPH(lam=1.0, shrinkage=1.0, shrinkage_target=np.diag(np.arange(13.0) + 1)).fit(X, Y)
    expected = unit(np.diag(np.arange(13.0) + 1))
    assert_allclose(unit(given.get_mahalanobis_matrix()), expected, atol=1e-12)


def test_the_target_does_not_change_what_is_learned():
    for parameters in ({"lam": 1.0}, {}):
        plain = SERAPH(shrinkage=0.0, **parameters).fit(X, Y)
        shrunk = SERAPH(**parameters).fit(X, Y)
        np.testing.assert_array_equal(shrunk.learned_components_, plain.learned_components_)
        np.testing.assert_array_equal(plain.components_, plain.learned_components_)


def test_in_directions_without_variance_the_target_is_the_euclidean_part():
    rng = np.random.default_rng(0)
    for points in (np.c_[X, X[:, 0], np.zeros(len(X))], rng.normal(size=(20, 30))):
        y = Y[: len(points)] if len(points) > 20 else np.arange(20) % 2
        T = target_of(points, y=y)
        missing = np.linalg.svd(points - points.mean(axis=0))[2]
        missing = missing[np.linalg.matrix_rank(points - points.mean(axis=0)) :].T
        share = 1 - trust(np.count_nonzero(y >= 0), points) / 2
        euclidean = share / np.trace(np.cov(points.T, bias=True))
        assert missing.shape[1] >= 2
        assert_allclose(T @ missing, euclidean * missing, atol=1e-9)


def test_with_n_components_the_target_is_the_euclidean_one():
    plain = SERAPH(n_components=3, shrinkage_target=None).fit(X, Y)
    np.testing.assert_array_equal(SERAPH(n_components=3).fit(X, Y).components_, plain.components_)


def test_one_feature_with_dissimilar_pairs_alone_has_a_target():
    points = np.random.default_rng(0).normal(size=(12, 1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # all pairs are of one kind
        T = target_of(points, marks=Marks([[0, 1], [2, 3]], [-1, -1], rows=points))
    assert_allclose(T, unit(np.eye(1), points))


# Labels that are far apart already


def small_classes(points_per_class=10, n_classes=30, m=20, seed=0):
    """Many compact classes in all directions, and 50 pairs of each kind."""
    rng = np.random.default_rng(seed)
    codes = np.repeat(np.arange(n_classes), points_per_class)
    points = rng.normal(size=(n_classes, m))[codes] + 0.5 * rng.normal(size=(len(codes), m))
    i, j = np.triu_indices(len(codes), 1)
    alike = codes[i] == codes[j]
    chosen = [rng.choice(np.flatnonzero(alike == kind), 50, replace=False) for kind in (1, 0)]
    pairs = np.column_stack([i, j])[np.concatenate(chosen)]
    return points, codes, pairs, np.repeat([1.0, 0.0], 50)


def separation(points, pairs, q, w, k, n_similar, n_dissimilar):
    """(1 - s / t)^2 d, with the number of pairs in mind, by the formula."""
    squared = np.array([np.sum((points[a] - points[b]) ** 2) for a, b in pairs])
    s, t = np.average(squared, weights=w * q), np.average(squared, weights=w * (1 - q))
    N = min(n_similar, n_dissimilar, k / 2)
    variances = np.linalg.eigvalsh(np.cov(points.T, bias=True))
    return ((1 - s / t) * N / (N + 2)) ** 2 * variances.sum() ** 2 / np.sum(variances**2)


def odds_of_target(points, T):
    """0.18 times the root of the directions that the points have under T."""
    C = T @ np.cov(points.T, bias=True)
    return 0.18 * np.trace(C) / np.sqrt(np.trace(C @ C))


def test_pairs_that_are_far_apart_raise_the_share_of_the_euclidean_metric():
    points, _, pairs, q = small_classes()
    k = len(np.unique(pairs))
    far = separation(points, pairs, q, np.ones(100), k, 50, 50) / 3
    assert far > 2
    marks = Marks(pairs, q, rows=points)
    T = target_of(points, marks=marks)
    learner = SERAPH().fit(points, marks=marks)
    assert_allclose(
        learner.shrinkage_ / (1 - learner.shrinkage_), far * odds_of_target(points, T), rtol=1e-9
    )
    share = trust(k, points) / 2 / far**2
    L = unit(LRML().fit(points, marks=marks).get_mahalanobis_matrix(), points)
    assert_allclose(T, share * L + (1 - share) * unit(np.eye(20), points), atol=1e-12)


def test_unsure_and_weighted_marks_classes_and_triplets_say_how_far_apart_pairs_are():
    points, codes, pairs, q = small_classes()
    rng = np.random.default_rng(1)
    q, w = np.where(q == 1, 0.9, 0.2), rng.uniform(0.5, 3.0, size=100)
    y = np.where(np.arange(len(codes)) < 12, codes, -1)
    free = ~(y[pairs] >= 0).all(axis=1)  # classes settle the others
    pairs, q, w = pairs[free], q[free], w[free]
    triplets = np.array([[20, 21, 100], [200, 201, 150]])
    known = {"y": y, "marks": Marks(pairs, q, weights=w, triplets=triplets, rows=points)}
    of_classes = np.column_stack(np.triu_indices(12, 1))
    implied = codes[of_classes[:, 0]] == codes[of_classes[:, 1]]
    all_pairs = np.concatenate([of_classes, pairs, triplets[:, [0, 1]], triplets[:, [0, 2]]])
    all_q = np.concatenate([implied, q, [1, 1, 0, 0]])
    all_w = np.concatenate([np.ones(len(implied)), w, np.ones(4)])
    counts = np.count_nonzero(all_q >= 0.5), np.count_nonzero(all_q < 0.5)
    strongest = np.zeros(len(points))
    np.maximum.at(strongest, all_pairs, all_w[:, np.newaxis])
    k = strongest.sum() ** 2 / np.sum(strongest**2)
    far = separation(points, all_pairs, all_q, all_w, k, *counts) / 3
    assert far > 1.1
    learner = SERAPH().fit(points, **known)
    odds = far * odds_of_target(points, target_of(points, **known))
    assert_allclose(learner.shrinkage_ / (1 - learner.shrinkage_), odds, rtol=1e-9)


def test_overlapping_classes_and_pairs_of_one_kind_leave_the_share_to_the_directions():
    points, _, pairs, q = small_classes()
    cases = [(X, {"y": Y})]
    for kind in (0, 1):
        cases.append((points, {"marks": Marks(pairs[q == kind], q[q == kind], rows=points)}))
    copies = np.repeat(points[:1], 4, axis=0)  # no distance between any pair
    of_copies = Marks([[0, 1], [2, 3]], [1, -1], rows=np.r_[copies, points])
    cases.append((np.r_[copies, points], {"marks": of_copies}))
    for rows, known in cases:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # all pairs are of one kind
            learner, T = SERAPH().fit(rows, **known), target_of(rows, **known)
        odds = learner.shrinkage_ / (1 - learner.shrinkage_)
        assert_allclose(odds, odds_of_target(rows, T), rtol=1e-9)


def test_rotations_and_units_do_not_change_how_far_apart_pairs_are():
    points, _, pairs, q = small_classes()
    rotation = np.linalg.qr(np.random.default_rng(0).normal(size=(20, 20)))[0]
    shares = [
        SERAPH().fit(rows, marks=Marks(pairs, q, rows=rows)).shrinkage_
        for rows in (points, 1e3 * points @ rotation + 5.0)
    ]
    assert_allclose(shares[1], shares[0], rtol=1e-6)


def test_nearest_neighbors_of_many_small_classes_hardly_get_worse():
    m = 12

    def error(points, codes, A):
        D = squareform(pdist(points @ np.linalg.cholesky(A + 1e-9 * np.eye(m))))
        np.fill_diagonal(D, np.inf)
        return np.mean(codes[D.argmin(axis=1)] != codes)

    errors = []
    for seed in range(4):
        points, codes, pairs, q = small_classes(m=m, seed=seed)
        marks = Marks(pairs, q, rows=points)
        fits = (SERAPH(**shrunk).fit(points, marks=marks) for shrunk in ({}, {"shrinkage": 0}))
        metrics = [np.eye(m), *(fit.get_mahalanobis_matrix() for fit in fits)]
        errors.append([error(points, codes, A) for A in metrics])
    euclidean, final, learned = np.mean(errors, axis=0)
    assert learned > 3 * euclidean
    assert final - euclidean < 0.15 * (learned - euclidean)


# The discriminant


def spread_by_hand(W, y):
    """Solve F = a S F + (1 - a) Y for the shares of the classes."""
    roots = 1 / np.sqrt(W.sum(axis=1))
    S = roots[:, np.newaxis] * W * roots
    known = (y[:, np.newaxis] == np.unique(y[y >= 0])).astype(float)
    F = np.linalg.solve(np.eye(len(y)) - 0.2 * S, known)
    return F / F.sum(axis=1, keepdims=True)


def discriminant_by_hand(points, y):
    F = spread_by_hand(literal_edges(points), y)
    sizes, n = F.sum(axis=0), len(points)
    means, mean = F.T @ points / sizes[:, np.newaxis], points.mean(axis=0)
    within = np.zeros((points.shape[1],) * 2)
    between = np.zeros_like(within)
    for c, (size, center) in enumerate(zip(sizes, means, strict=True)):
        between += size / n * np.outer(center - mean, center - mean)
        within += (points - center).T @ (F[:, [c]] * (points - center)) / n
    W = np.linalg.inv(within + np.trace(within) / len(within) * np.eye(len(within)))
    return W @ between @ W


def mean_of_weights(lam, k, **known):
    """The mean of the metrics of three weights of the trace, each of total variance one."""
    metrics = []
    for factor in (0.1, 1.0, 10.0):
        one = SERAPH(lam=factor * lam, shrinkage=0, tol=1e-6, max_iter=2000).fit(X, **known)
        metrics.append(unit(one.get_mahalanobis_matrix()))
    return np.average(metrics, axis=0, weights=[trust(k), 1, 1])


def test_auto_averages_the_metrics_of_three_weights_and_the_discriminant():
    learner = SERAPH(tol=1e-6, max_iter=2000).fit(X, Y)
    rho, k = learner.shrinkage_, np.count_nonzero(Y >= 0)
    of_weights, of_classes = mean_of_weights(learner.lam_, k, y=Y), discriminant_by_hand(X, Y)
    mean = (k * of_weights + 20 * unit(of_classes)) / (k + 20)
    expected = (1 - rho) * mean + rho * target_of(y=Y)
    # The metrics of other weights are solved 50 times as roughly.
    assert_allclose(unit(learner.get_mahalanobis_matrix()), expected, atol=1e-4)


def test_from_marks_alone_the_mean_has_no_discriminant():
    known = {"marks": Marks(PAIRS, ALIKE, rows=X)}
    learner = SERAPH(tol=1e-6, max_iter=2000).fit(X, **known)
    rho, k = learner.shrinkage_, len(np.unique(PAIRS))
    expected = (1 - rho) * mean_of_weights(learner.lam_, k, **known) + rho * target_of(**known)
    assert_allclose(unit(learner.get_mahalanobis_matrix()), expected, atol=1e-4)


def test_classes_spread_as_those_of_scikit_learn_where_the_graph_is_the_same():
    from seraph._engine._neighbors import spread

    from seraph._utils._graph import neighbor_graph

    W = neighbor_graph(X, 6)
    F = spread(Y, W)
    assert_allclose(F, spread_by_hand(W.toarray(), Y), atol=1e-12)
    theirs = LabelSpreading(kernel=lambda _, __: W.toarray(), alpha=0.2, max_iter=1000, tol=1e-12)
    assert_allclose(F, theirs.fit(X, Y).label_distributions_, atol=1e-9)


@pytest.mark.parametrize("y", ["one label each", "one class", "all rows"])
def test_few_labels_and_many_leave_a_metric_of_full_rank(y):
    known = {
        "one label each": np.where(np.isin(np.arange(len(X)), [0, 70, 150]), CLASSES, -1),
        "one class": np.where(np.arange(len(X)) < 5, 0, -1),
        "all rows": CLASSES,
    }[y]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # all pairs are of one kind
        learner = SERAPH().fit(X, known)
    A = learner.get_mahalanobis_matrix()
    assert np.isfinite(A).all()
    assert np.linalg.eigvalsh(A)[0] > 0.0


def test_twenty_classes_of_two_labels_each_are_told_apart_better_than_before():
    rng = np.random.default_rng(0)
    codes = np.repeat(np.arange(20), 6)
    spread = np.array([1.0, 1.0, 1.0, 1.0, 4.0, 4.0, 4.0, 4.0])
    centers = 3.0 * rng.normal(size=(20, 8)) * (spread == 1.0)
    points = centers[codes] + spread * rng.normal(size=(120, 8))
    learner = SERAPH().fit(points, np.where(np.arange(120) % 6 < 2, codes, -1))
    euclidean = Euclidean().fit(points, codes)
    assert learner.score(points, codes) > euclidean.score(points, codes) + 0.05


# What does not matter


def distances(points, y, **parameters):
    learner = SERAPH(tol=1e-7, max_iter=5000, mu=0.0, **parameters).fit(points, y)
    return pdist(learner.transform(points))


def test_places_units_and_orders_do_not_matter():
    plain = distances(X, Y)
    rng = np.random.default_rng(0)
    columns, rows = rng.permutation(13), rng.permutation(len(X))
    assert_allclose(distances(X + 5.0, Y), plain, rtol=1e-5)
    assert_allclose(distances(1e3 * X, Y), plain, rtol=1e-5)
    assert_allclose(distances(X[:, columns], Y), plain, rtol=1e-5)
    other = squareform(distances(X[rows], Y[rows]))
    assert_allclose(other, squareform(plain)[rows][:, rows], rtol=1e-5, atol=1e-9)


@pytest.fixture(scope="module")
def many():
    """More points than the graph has room for."""
    rng = np.random.default_rng(0)
    codes = rng.integers(3, size=2600)
    points = rng.normal(size=(3, 4))[codes] * 2.0 + rng.normal(size=(2600, 4)) * [1, 2, 3, 4]
    return points, np.where(np.arange(2600) < 30, codes, -1)


def test_of_many_points_the_target_is_nearly_that_of_all(many):
    points, y = many
    of_all = LRML().fit(points, y).get_mahalanobis_matrix()
    expected = mixture(of_all, 30, points)
    found = SERAPH(lam=1.0, shrinkage=1.0, mu=0.0).fit(points, y).get_mahalanobis_matrix()
    assert_allclose(unit(found, points), expected, atol=0.05 * np.abs(expected).max())


def test_the_order_of_many_points_does_not_matter(many):
    points, y = many
    order = np.random.default_rng(1).permutation(len(points))
    A, B = (
        SERAPH(lam=1.0, mu=0.0, shrinkage=1.0).fit(points[rows], y[rows]).get_mahalanobis_matrix()
        for rows in (np.arange(len(points)), order)
    )
    assert_allclose(A, B, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("n", [400, 2600])
def test_a_cluster_finds_the_same(many, n):
    array = pytest.importorskip("dask.array")
    points, y = many[0][:n], many[1][:n]
    parameters = {"mu": 0.0, "tol": 1e-6, "max_iter": 2000}
    plain = SERAPH(**parameters).fit(points, y)
    chunked = SERAPH(**parameters).fit(array.from_array(points, chunks=(170, 4)), y)
    expected = plain.get_mahalanobis_matrix()
    assert_allclose(chunked.get_mahalanobis_matrix(), expected, atol=1e-5 * expected.max())


def test_learners_around_seraph_follow_its_target():
    plain, euclidean = SERAPH(), SERAPH(shrinkage_target=None)
    for around in (lambda one: SERAPHCV(one, lam_factors=(1.0,)), KernelSERAPH):
        found = [pdist(around(one).fit(X, Y).transform(X)) for one in (plain, euclidean)]
        assert not np.allclose(*found, rtol=1e-3)
    same = SERAPHCV(plain, lam_factors=(1.0,)).fit(X, Y).get_mahalanobis_matrix()
    assert_allclose(same, SERAPH().fit(X, Y).get_mahalanobis_matrix(), rtol=1e-9)


def test_the_parameter_is_kept_by_clones():
    assert clone(SERAPH()).shrinkage_target == "auto"
    assert clone(SERAPH(shrinkage_target=None)).shrinkage_target is None
