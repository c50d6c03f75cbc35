"""The examples in metric-learn 0.7.0's docstrings and user guide, and what it returns for them.

Numbers are those of metric-learn 0.7.0 with scikit-learn 1.7.2, unless a test says otherwise.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import eigh
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

from seraph.compat.metric_learn import (
    ITML,
    LFDA,
    LMNN,
    LSML,
    MLKR,
    MMC,
    NCA,
    RCA,
    SCML,
    SDML,
    Covariance,
    ITML_Supervised,
    LSML_Supervised,
    MMC_Supervised,
    RCA_Supervised,
    SCML_Supervised,
    SDML_Supervised,
)

X, Y = load_iris(return_X_y=True)
PAIRS = [
    [[1.2, 7.5], [1.3, 1.5]],
    [[6.4, 2.6], [6.2, 9.7]],
    [[1.3, 4.5], [3.2, 4.6]],
    [[6.2, 5.5], [5.4, 5.4]],
]
SIGNS = [1, 1, -1, -1]
THREE = np.array([[-0.7, -0.23], [-0.43, -0.49], [0.14, -0.37]])

# Learners of points


def test_covariance():
    mapped = Covariance().fit(X).transform(X)
    expected = [
        [6.23247023, 9.7949976, 2.00171043, 0.26238535],
        [6.63527087, 8.50182087, 2.00171043, 0.26238535],
    ]
    assert_allclose(mapped[:2], expected, rtol=1e-6)


def test_nca_of_two_dogs_and_a_cat():
    points = np.array([[2.3, 3.6], [0.2, 0.5], [6.7, 2.1]])
    nca = NCA(random_state=42).fit(points, np.array(["dog", "cat", "dog"]))
    mapped = nca.transform(np.array([[9.4, 4.1], [2.1, 4.4]]))
    assert_allclose(mapped, [[5.91884732, 10.25406973], [3.1545886, 6.80350083]], rtol=1e-5)
    pairs = [[[3.5, 3.6], [5.6, 2.4]], [[1.2, 4.2], [2.1, 6.4]]]
    with pytest.warns(FutureWarning, match="score_pairs is deprecated"):
        assert_allclose(nca.score_pairs(pairs), [0.49627072, 3.65287282], rtol=1e-5)
    assert nca.get_metric()([3.5, 3.6], [5.6, 2.4]) == pytest.approx(0.49627072, rel=1e-5)
    matrix = [[0.43680409, 0.89169412], [0.89169412, 1.9542479]]
    assert_allclose(nca.get_mahalanobis_matrix(), matrix, rtol=1e-5)


def test_nca_of_iris():
    found = NCA(max_iter=1000).fit(X, Y).get_mahalanobis_matrix()
    diagonal = [1251.10357713, 359.77250481, 2909.41845214, 2208.21243726]
    assert_allclose(np.diag(found), diagonal, rtol=1e-3)


def test_nca_with_a_table_and_with_a_function():
    y = np.array([1, 0, 1, 1])
    nca = NCA(preprocessor=THREE).fit(np.array([2, 0, 1, 0]), y)
    matrix = [[0.04009193, -0.19045611], [-0.19045611, 0.90475888]]
    assert_allclose(nca.get_mahalanobis_matrix(), matrix, rtol=1e-5)

    def find_images(paths):
        return np.array([THREE[int(path[3:5])] for path in paths])

    names = ["img01.png", "img00.png", "img02.png"]
    by_name = NCA(preprocessor=find_images).fit(names, np.array([1, 0, 1]))
    by_point = NCA().fit(THREE[[1, 0, 2]], np.array([1, 0, 1]))
    assert_allclose(by_name.components_, by_point.components_)


def test_lmnn():
    # Points at equal distances make either library choose other target neighbors.
    lmnn = LMNN(n_neighbors=5, learn_rate=1e-6, max_iter=60).fit(X, Y)
    expected = [
        [1.0651163, 0.0083077, -0.0174154, -0.0245766],
        [0.0083077, 1.03214385, -0.02744984, -0.01270918],
        [-0.0174154, -0.02744984, 1.1356225, 0.10845472],
        [-0.0245766, -0.01270918, 0.10845472, 1.09980275],
    ]
    assert_allclose(lmnn.get_mahalanobis_matrix(), expected, atol=2e-3)
    assert lmnn.n_iter_ == 59
    assert_array_equal(lmnn.labels_, [0, 1, 2])


def plain_lfda(points, y, k, d):
    """LFDA as metric-learn computes it, pair by pair.

    Its scale of a point is an entry beside the pivot of `np.partition`, whose order numpy leaves
    open: it depends on numpy and on the processor, and so do metric-learn's figures.
    """
    Z = points - points.mean(axis=0)
    between = within = 0.0
    for code in np.unique(y):
        own = Z[y == code]
        D = own[:, np.newaxis] - own
        squared = (D**2).sum(axis=2)
        scales = np.sqrt(np.partition(squared, k, axis=0)[:, k])
        products = np.outer(scales, scales)
        affinity = np.where(products > 0.0, np.exp(-squared / np.maximum(products, 1e-300)), 0.0)
        local = 0.5 * np.einsum("ij,ijk,ijl->kl", affinity, D, D)
        total = own.sum(axis=0)
        within = within + local / len(own)
        between = between + local / len(Z) + np.outer(total, total) / len(Z)
        between = between + (1.0 - len(own) / len(Z)) * own.T @ own
    values, vectors = eigh(between + within, within)
    return (vectors[:, -d:] * values[-d:]) @ vectors[:, -d:].T


def test_lfda():
    # Its docstring says `dim` for `n_components`, which metric-learn 0.7.0 does not take.
    found = LFDA(k=2, n_components=2).fit(X, Y).get_mahalanobis_matrix()
    assert_allclose(found, plain_lfda(X, Y, 2, 2), rtol=1e-6)


def test_mlkr():
    found = MLKR().fit(X, Y).get_mahalanobis_matrix()
    assert_allclose(np.diag(found), [1.02321344, 1.269265, 5.5454853, 9.46380429], rtol=1e-3)
    assert_allclose(found[0, 1:], [1.13961792, -2.38206111, -3.11183093], rtol=1e-3)


def test_rca():
    points = [
        [-0.05, 3.0],
        [0.05, -3.0],
        [0.1, -3.55],
        [-0.1, 3.55],
        [-0.95, -0.05],
        [0.95, 0.05],
        [0.4, 0.05],
        [-0.4, -0.05],
    ]
    rca = RCA().fit(points, [0, 0, 1, 1, 2, 2, 3, 3])
    expected = [[1.93670262, 0.03208629], [0.03208629, 0.43084743]]
    assert_allclose(rca.components_, expected, rtol=1e-6)


def test_rca_of_some_rows_chooses_its_components_from_them():
    chunks = np.full(150, -1)
    chunks[:40], chunks[60:100] = np.arange(40) // 2, 20 + np.arange(40) // 2
    found = RCA(n_components=2).fit(X, chunks).get_mahalanobis_matrix()
    assert_allclose(found[0], [7.82787761, 7.59808604, 2.2702163, -3.55862688], rtol=1e-6)


# Learners of pairs


def test_itml():
    itml = ITML().fit(PAIRS, SIGNS)
    assert_array_equal(itml.predict(PAIRS), SIGNS)
    assert_allclose(itml.bounds_, [1e-9, 7.14492827], rtol=1e-6)
    found = itml.get_mahalanobis_matrix()
    expected = np.array([[1.61460718e-06, 3.75296035e-08], [3.75296035e-08, 8.89773096e-10]])
    # metric-learn stops 2 % short of the scale.
    assert_allclose(found / found[0, 0], expected / expected[0, 0], atol=1e-4)
    assert found[0, 0] == pytest.approx(expected[0, 0], rel=0.03)


def test_mmc():
    mmc = MMC().fit(PAIRS, SIGNS)
    assert_array_equal(mmc.predict(PAIRS), SIGNS)
    assert mmc.score(PAIRS, SIGNS) == 1.0
    distances = mmc.pair_distance(PAIRS)
    assert distances[:2].max() < 0.2 * distances[2:].min()


def test_mmc_of_two_pairs():
    pairs = np.array([[[1.2, 3.2], [2.3, 5.5]], [[4.5, 2.3], [2.1, 2.3]]])
    mmc = MMC(random_state=42).fit(pairs, np.array([1, -1]))
    new = [[[0.6, 1.6], [1.15, 2.75]], [[3.2, 1.1], [5.4, 6.1]]]
    assert_array_equal(mmc.predict(new), [1, -1])
    # The bound on the alike pair leaves another direction free: how far the metric has grown
    # along it depends on the steps, the first of these numbers on the bound alone.
    scores = mmc.decision_function(new)
    assert scores[0] == pytest.approx(-0.12811124, rel=0.01)
    assert scores[1] < -0.74
    more = [*new, [[7.7, 5.6], [1.23, 8.4]]]
    assert mmc.score(more, [1, -1, -1]) == 1.0
    assert mmc.calibrate_threshold(pairs, [1, -1]) is mmc
    assert mmc.set_threshold(0.4).threshold_ == 0.4


def test_mmc_of_points_and_of_row_numbers():
    table = np.array(
        [
            [-0.12, -1.21, -0.20],
            [0.05, -0.19, -0.05],
            [-2.16, 0.11, -0.02],
            [1.58, 0.16, 0.93],
            [0.89, -0.34, 2.41],
        ]
    )
    rows, y = np.array([[0, 1], [2, 3], [3, 4], [0, 2]]), np.array([-1, 1, 1, -1])
    mmc = MMC(random_state=42).fit(table[rows], y)
    assert_allclose(
        MMC(preprocessor=table, random_state=42).fit(rows, y).components_, mmc.components_
    )
    # Two alike pairs leave one direction free, and the metric is all there.
    found = mmc.get_mahalanobis_matrix()
    expected = np.array([0.58603894, -5.69883982, -1.66614919])
    assert_allclose(found[0] / found[0, 1], expected / expected[1], rtol=0.1)
    pairs = [[[3.5, 3.6, 5.2], [5.6, 2.4, 6.7]], [[1.2, 4.2, 7.7], [2.1, 6.4, 0.9]]]
    distances = mmc.pair_distance(pairs)
    assert distances[0] / distances[1] == pytest.approx(7.27607365 / 0.88853014, rel=0.1)
    assert mmc.get_metric()(*pairs[0]) == pytest.approx(distances[0])
    assert_allclose(mmc.pair_score(pairs), -distances)
    assert mmc.transform([[9.4, 4.1, 4.2], [2.1, 4.4, 2.3]]).shape == (2, 3)


@pytest.mark.parametrize(
    ("load", "features", "weights", "total", "threshold"),
    [
        (load_iris, [0, 2], [0.0, 3.9398853931], 3.9398853931, 0.9025394421),
        (load_wine, [0, 3, 4], [1.87815924, 0.92554756, 1.41039033], 12.478951371, 3.773571205),
        (load_breast_cancer, [0, 1], [1.0442550159, 0.9699752431], 29.8226995251, 4.7149125401),
    ],
)  # fmt: skip
def test_diagonal_mmc(load, features, weights, total, threshold):
    points, y = load(return_X_y=True)
    points = StandardScaler().fit_transform(points)
    rows = np.random.default_rng(0).permutation(len(points))[:120].reshape(60, 2)
    mmc = MMC(diagonal=True).fit(points[rows], np.where(np.equal(*y[rows].T), 1, -1))
    found = np.diag(mmc.get_mahalanobis_matrix())
    assert_allclose(found[features], weights, rtol=1e-7)
    assert found.sum() == pytest.approx(total)
    assert mmc.threshold_ == pytest.approx(threshold)


def test_sdml():
    # metric-learn ends with a RuntimeError here: its problem has no minimum, or scikit-learn's
    # graphical lasso does not find it.
    sdml = SDML(balance_param=0.005).fit(PAIRS, SIGNS)
    assert np.linalg.eigvalsh(sdml.get_mahalanobis_matrix())[0] > 0.0
    assert sdml.score(PAIRS, SIGNS) >= 0.0


# Learners of triplets and quadruplets


def test_lsml():
    quadruplets = [
        [[1.2, 7.5], [1.3, 1.5], [6.4, 2.6], [6.2, 9.7]],
        [[1.3, 4.5], [3.2, 4.6], [6.2, 5.5], [5.4, 5.4]],
        [[3.2, 7.5], [3.3, 1.5], [8.4, 2.6], [8.2, 9.7]],
        [[3.3, 4.5], [5.2, 4.6], [8.2, 5.5], [7.4, 5.4]],
    ]
    lsml = LSML().fit(quadruplets)
    expected = [[6.12876804e-01, -2.71544018e-04], [-2.71544018e-04, 1.00255728]]
    assert_allclose(lsml.get_mahalanobis_matrix(), expected, atol=0.01)
    assert_array_equal(lsml.predict(quadruplets), [1, -1, 1, -1])
    assert lsml.score(quadruplets) == 0.5


def test_scml():
    triplets = [
        [[1.2, 7.5], [1.3, 1.5], [6.2, 9.7]],
        [[1.3, 4.5], [3.2, 4.6], [5.4, 5.4]],
        [[3.2, 7.5], [3.3, 1.5], [8.2, 9.7]],
        [[3.3, 4.5], [5.2, 4.6], [7.4, 5.4]],
    ]
    scml = SCML(random_state=0).fit(triplets)
    assert_array_equal(scml.predict(triplets), [1, 1, 1, 1])
    assert scml.score(triplets) == 1.0


# Learners of sampled tuples: the samples differ, what is learned does not


@pytest.mark.parametrize(
    "learner",
    [
        ITML_Supervised(n_constraints=200, random_state=0),
        MMC_Supervised(n_constraints=200, random_state=0),
        LSML_Supervised(n_constraints=200, random_state=0),
        SDML_Supervised(n_constraints=200, balance_param=1e-4, random_state=0),
        RCA_Supervised(n_chunks=30, chunk_size=2, random_state=0),
        SCML_Supervised(random_state=33),
    ],
    ids=lambda learner: type(learner).__name__,
)
def test_learners_of_classes_tell_the_classes_of_iris_apart(learner):
    learner.fit(X, Y)
    knn = KNeighborsClassifier(3).fit(learner.transform(X[::2]), Y[::2])
    assert knn.score(learner.transform(X[1::2]), Y[1::2]) > 0.9
    rows = np.random.default_rng(0).integers(150, size=(500, 2))
    alike = Y[rows[:, 0]] == Y[rows[:, 1]]
    assert roc_auc_score(alike, learner.pair_score(X[rows])) > 0.85
