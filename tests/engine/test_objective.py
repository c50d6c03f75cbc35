import numpy as np
import pytest
from scipy.spatial.distance import pdist
from seraph._engine._objective import Objective
from seraph._engine._terms import PairSum, Trace
from seraph._sweep import NumpySweep, PairTerms

from seraph._solvers import project_psd
from tests.helpers.oracle import numeric_gradient

CODES = np.array([0, 0, 1, 1, 2])


def make(X, mu=0.3, lam=0.7):
    pairs, similar = np.array([[0, 8], [9, 10]]), np.array([False, True])
    terms = PairTerms(CODES, pairs, similar, 1.0, mu)
    return Objective(PairSum(NumpySweep(X), terms), (Trace(lam),))


def factor(A):
    return project_psd(A)[1]


@pytest.mark.parametrize("algorithm", ["direct", "first m-step", "later m-step"])
@pytest.mark.parametrize("mu", [0.0, 0.3])
def test_gradients_by_metric_and_by_factor_match_finite_differences(rng, algorithm, mu):
    X = rng.normal(size=(14, 3)) * 0.8
    objective = make(X, mu=mu)
    if algorithm != "direct":
        objective = objective.m_step(
            None if algorithm == "first m-step" else rng.normal(size=(2, 3))
        )
    for rank in (1, 2, 3):
        P = rng.normal(size=(rank, 3))
        numeric = numeric_gradient(lambda M: objective.by_factor(M)[0], P)
        np.testing.assert_allclose(objective.by_factor(P)[1], numeric, atol=1e-6)

    A = np.eye(3) + 0.3 * rng.normal(size=(3, 3))
    A = A.T @ A
    value, gradient = objective.by_metric(factor(A))
    for _ in range(5):  # directional derivatives along symmetric directions
        D = rng.normal(size=(3, 3))
        D = D + D.T
        rise = [objective.by_metric(factor(A + h * D))[0] for h in (1e-5, -1e-5)]
        assert np.vdot(gradient, D) == pytest.approx((rise[0] - rise[1]) / 2e-5, rel=1e-5)
    assert value == pytest.approx(objective.by_factor(factor(A))[0], rel=1e-13)


def test_theorem_4_bounds_the_slope_of_an_m_step(rng):
    X = rng.normal(size=(14, 3))
    mu, lam = 0.3, 0.7
    objective = make(X, mu, lam).m_step(rng.normal(size=(2, 3)))
    n_labeled = 10 + 2
    n_unlabeled = 14 * 13 // 2 - n_labeled
    bound = (n_labeled + mu * n_unlabeled) * pdist(X).max() ** 2 + lam * 3  # (12)
    for size in (1e-3, 1.0, 1e3):
        P, Q = (size * rng.normal(size=(3, 3)) for _ in range(2))
        (f, gradient), (g, _) = objective.by_metric(P), objective.by_metric(Q)
        assert np.linalg.norm(gradient) <= bound
        assert abs(f - g) <= bound * np.linalg.norm(P.T @ P - Q.T @ Q)


def test_m_steps_are_concave_along_segments(rng):
    objective = make(rng.normal(size=(14, 3))).m_step(rng.normal(size=(2, 3)))
    for _ in range(20):
        A, B = (project_psd(M + M.T)[0] for M in rng.normal(size=(2, 3, 3)))
        ends = [objective.by_metric(factor(M))[0] for M in (A, B)]
        middle = objective.by_metric(factor((A + B) / 2))[0]
        assert middle >= np.mean(ends) - 1e-10


def test_the_entropy_is_not_concave_which_is_why_there_is_an_em_scheme(rng):
    sweep = NumpySweep(rng.normal(size=(10, 2)))
    objective = Objective(PairSum(sweep, PairTerms(CODES[:2], mu=1.0)))
    bends = []
    for scale in np.linspace(0.05, 4.0, 40):
        values = [
            objective.by_metric(np.sqrt(s) * np.eye(2))[0] for s in scale * np.array([0.9, 1, 1.1])
        ]
        bends.append(values[0] - 2 * values[1] + values[2])
    assert max(bends) > 1e-6
