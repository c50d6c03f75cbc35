"""Triplets as a part of the objective: value, gradients, concavity, and the full model."""

import dask.array as da
import numpy as np
import pytest
from seraph._engine._objective import FullModel, Objective
from seraph._engine._terms import PairSum, Trace
from seraph._engine._triplets import Triplets
from seraph._sweep import NumpySweep, PairTerms

from seraph._solvers import low_rank, project_psd, spg
from tests.helpers.oracle import labeled_pairs, numeric_gradient, objective

CODES = np.array([0, 0, 1, 1, 2])


def rows_of(rng, n, size):
    return np.array([rng.permutation(n)[:3] for _ in range(size)])


def make(rng, mu=0.3, lam=0.7, size=15):
    X, rows = rng.normal(size=(14, 3)) * 0.8, rows_of(rng, 14, size)
    terms = PairTerms(CODES, mu=mu)
    others = Trace(lam), Triplets.gather(X, rows)
    return X, rows, Objective(PairSum(NumpySweep(X), terms), others)


def factor(A):
    return project_psd(A)[1]


@pytest.mark.parametrize("rank", [0, 1, 3])
def test_values_and_gradients_are_those_of_the_oracle(rng, rank):
    X, rows, F = make(rng)
    P = rng.normal(size=(rank, 3))

    def value_of(P):
        weights = {"mu": 0.3, "lam": 0.7}
        return objective(X, P.T @ P, labeled_pairs(CODES), triplets=rows, **weights)

    for compute in (F.by_metric, F.by_factor):
        assert compute(P)[0] == pytest.approx(value_of(P), rel=1e-12)
    np.testing.assert_allclose(F.by_factor(P)[1], numeric_gradient(value_of, P), atol=1e-6)
    np.testing.assert_allclose(F.by_factor(P)[1], 2 * P @ F.by_metric(P)[1], atol=1e-11)


def test_the_slope_at_the_zero_metric_is_that_along_every_direction(rng):
    """The factor has no gradient at zero, the metric has."""
    X, rows, _ = make(rng)
    triplets = Triplets.gather(X, rows)
    value, gradient = triplets.by_metric(np.zeros((0, 3)))
    for direction in rng.normal(size=(5, 1, 3)):
        rise = triplets.by_factor(1e-4 * direction)[0] - value
        along = float(np.vdot(direction @ gradient, direction))
        assert rise == pytest.approx(1e-8 * along, rel=1e-4)


def test_triplets_are_concave_along_segments(rng):
    X, rows, _ = make(rng)
    triplets = Triplets.gather(X, rows)
    for _ in range(20):
        A, B = (project_psd(M + M.T)[0] for M in rng.normal(size=(2, 3, 3)))
        middle = triplets.by_factor(factor((A + B) / 2))[0]
        assert middle >= np.mean([triplets.by_factor(factor(M))[0] for M in (A, B)]) - 1e-12


def test_the_curvature_along_a_segment_is_that_of_the_formula(rng):
    """-p (1 - p) (du)^2 summed over triplets."""
    X, rows, _ = make(rng)
    A, D = (M @ M.T for M in rng.normal(size=(2, 3, 3)))
    triplets, h = Triplets.gather(X, rows), 1e-4
    values = [triplets.by_factor(factor(A + s * D))[0] for s in (-h, 0.0, h)]
    a, b, c = np.moveaxis(X[rows], 1, 0)

    def u(M):
        return np.sum(((a - c) @ M) * (a - c) - ((a - b) @ M) * (a - b), axis=1)

    p = 1 / (1 + np.exp(-u(A)))
    expected = -np.sum(p * (1 - p) * u(D) ** 2)
    assert (values[0] - 2 * values[1] + values[2]) / h**2 == pytest.approx(expected, rel=1e-4)


def test_two_solvers_find_one_optimum_and_certify_it(rng):
    F = make(rng, mu=0.0, lam=0.3)[2]
    options = {"max_iter": 5000, "tol": 1e-8, "callback": lambda step, P: None}
    one, other = low_rank(F, np.eye(3), **options), spg(F, np.eye(3), **options)
    assert max(one.gap, other.gap) <= 1e-8
    assert one.value == pytest.approx(other.value, abs=1e-8)
    np.testing.assert_allclose(one.P.T @ one.P, other.P.T @ other.P, atol=1e-5)


def test_extreme_differences_neither_overflow_nor_lose_their_slope():
    triplets = Triplets(np.array([[0.0], [1e3], [1.0]]), np.array([[0, 1, 2]]))
    with np.errstate(all="raise"):
        value, gradient = triplets.by_metric(np.eye(1))
    assert value == pytest.approx(1.0 - 1e6)
    assert gradient == pytest.approx(np.array([[1.0 - 1e6]]))


def test_points_in_chunks_are_gathered(rng):
    X, rows, _ = make(rng)
    here, there = (Triplets.gather(Y, rows) for Y in (X, da.from_array(X, chunks=(5, 2))))
    np.testing.assert_array_equal(here.points[here.rows], X[rows])
    np.testing.assert_array_equal(there.points[there.rows], X[rows])


def test_the_slope_of_the_full_model_matches_finite_differences(rng):
    X, rows, F = make(rng)
    model = FullModel(F, gamma=0.5)
    A, eta = rng.normal(size=(3, 3)), F.pairs.terms.eta
    P, s = A / 2, 1.7

    def whole(s):
        return model.at(s).by_factor(P)[0] - model.prior(s)

    h = 1e-5
    slope = (whole(s * np.exp(h)) - whole(s * np.exp(-h))) / (2 * h)
    assert model.slope(s, P) == pytest.approx(slope, rel=1e-6)
    nothing = np.zeros((3, 3))
    known = labeled_pairs(CODES)
    at_zero = objective(X, nothing, known, eta=0.0 * eta, mu=0.3, triplets=rows)
    assert model.value_at_zero == pytest.approx(at_zero, rel=1e-12)
