"""The examples in metric-learn 0.7.0's docstrings and user guide, and what it returns for them.

Numbers are those of metric-learn 0.7.0 with scikit-learn 1.7.2, unless a test says otherwise.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris

from seraph.compat.metric_learn import (
    ITML,
    LSML,
    MMC,
    NCA,
    RCA,
)

X, Y = load_iris(return_X_y=True)
PAIRS = [
    [[1.2, 7.5], [1.3, 1.5]],
    [[6.4, 2.6], [6.2, 9.7]],
    [[1.3, 4.5], [3.2, 4.6]],
    [[6.2, 5.5], [5.4, 5.4]],
]
SIGNS = [1, 1, -1, -1]

# Learners of points


def test_nca_of_two_dogs_and_a_cat():
    points = np.array([[2.3, 3.6], [0.2, 0.5], [6.7, 2.1]])
    nca = NCA(random_state=42).fit(points, np.array(["dog", "cat", "dog"]))
    mapped = nca.transform(np.array([[9.4, 4.1], [2.1, 4.4]]))
    assert_allclose(mapped, [[5.91884732, 10.25406973], [3.1545886, 6.80350083]], rtol=1e-5)
    pairs = [[[3.5, 3.6], [5.6, 2.4]], [[1.2, 4.2], [2.1, 6.4]]]
    assert_allclose(nca.pair_distance(pairs), [0.49627072, 3.65287282], rtol=1e-5)
    assert nca.get_metric()([3.5, 3.6], [5.6, 2.4]) == pytest.approx(0.49627072, rel=1e-5)
    matrix = [[0.43680409, 0.89169412], [0.89169412, 1.9542479]]
    assert_allclose(nca.get_mahalanobis_matrix(), matrix, rtol=1e-5)


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
    matrix = RCA(n_components=2).fit(X, chunks).get_mahalanobis_matrix()
    assert_allclose(matrix[0], [7.82787761, 7.59808604, 2.2702163, -3.55862688], rtol=1e-6)


# Learners of pairs


def test_itml():
    itml = ITML(tol=1e-6).fit(PAIRS, SIGNS)
    assert_array_equal(itml.predict(PAIRS), SIGNS)
    assert_allclose(itml.bounds_, [1e-9, 7.14492827], rtol=1e-6)
    matrix = itml.get_mahalanobis_matrix()
    expected = np.array([[1.61460718e-06, 3.75296035e-08], [3.75296035e-08, 8.89773096e-10]])
    # metric-learn stops 2 % short of the scale.
    assert_allclose(matrix / matrix[0, 0], expected / expected[0, 0], atol=1e-4)
    assert matrix[0, 0] == pytest.approx(expected[0, 0], rel=0.03)


def test_mmc_of_two_pairs():
    pairs = np.array([[[1.2, 3.2], [2.3, 5.5]], [[4.5, 2.3], [2.1, 2.3]]])
    mmc = MMC(random_state=42).fit(pairs, np.array([1, -1]))
    assert_array_equal(mmc.predict(pairs), [1, -1])
    new = [[[0.6, 1.6], [1.15, 2.75]], [[3.2, 1.1], [5.4, 6.1]]]
    # Half the alike pair: metric-learn's number depends on the bound alone.
    assert mmc.decision_function(new)[0] == pytest.approx(-0.12811124, rel=0.01)
    assert mmc.score([*new, [[7.7, 5.6], [1.23, 8.4]]], [1, -1, -1]) == 1.0
    assert mmc.calibrate_threshold(pairs, [1, -1]) is mmc
    assert mmc.set_threshold(0.4).threshold_ == 0.4


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
