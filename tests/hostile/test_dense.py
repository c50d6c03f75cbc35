"""The dense formula beside the fits: that of the loop over pairs, and right by differences."""

import numpy as np
import pytest

from tests.helpers.oracle import labeled_pairs, objective
from tests.hostile.dense import Dense, signs_of, told_of

CODES = np.array([0, 0, 1, 1, 2, -1, -1, -1])
WEIGHTS = {"eta": 1.5, "mu": 0.3, "lam": 0.7}


@pytest.fixture
def points(rng):
    return rng.normal(size=(8, 3))


def test_the_value_is_that_of_the_loop_over_pairs(points, rng):
    P, triplets = rng.normal(size=(2, 3)), [(0, 1, 2), (5, 6, 7), (7, 0, 3)]
    dense = Dense(points, P, signs_of(CODES), **WEIGHTS, triplets=triplets)
    expected = objective(points, P.T @ P, labeled_pairs(CODES[:5]), triplets=triplets, **WEIGHTS)
    assert dense.value == pytest.approx(expected, rel=1e-12)


def test_the_gradient_is_that_of_differences(points, rng):
    P, H = rng.normal(size=(3, 3)), rng.normal(size=(3, 3))
    told = told_of(CODES, [(5, 6), (5, 7), (0, 1)], [0.25, np.nan, 0.0], [2.0, 1.0, 1.0])
    triplets, h = [(0, 1, 2), (5, 6, 7)], 1e-5
    A, H = P.T @ P + 5.0 * np.eye(3), H + H.T

    def at(A):
        return Dense(points, np.linalg.cholesky(A).T, told, **WEIGHTS, triplets=triplets)

    slope = (at(A + h * H).value - at(A - h * H).value) / (2 * h)
    assert np.vdot(at(A).gradient, H) == pytest.approx(slope, rel=1e-6)
