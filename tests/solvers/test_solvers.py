import numpy as np
import pytest

from seraph import Marks
from seraph._engine import Settings, learn
from seraph._engine._objective import Objective
from seraph._engine._terms import PairSum, Trace
from seraph._marks import PairLabels
from seraph._solvers import (
    compress,
    em,
    low_rank,
    optimality_gap,
    project_psd,
    projected_gradient,
    spg,
)
from seraph._sweep import NumpySweep, PairTerms, PointsInMemory
from tests.helpers.quick import few

SOLVERS = {"low-rank": low_rank, "spg": spg, "projected-gradient": projected_gradient}


def ignore(step, P):
    pass


def make(data, mu=0.0, lam=2.0):
    X, y_partial, _ = data
    n_known = np.sum(y_partial >= 0)
    known = np.argsort(y_partial[:n_known], kind="stable")
    rows = np.concatenate([known, np.arange(n_known, len(X))])
    coordinates = PointsInMemory(X[rows]).coordinates()
    terms = PairTerms(y_partial[known], mu=mu)
    pairs = PairSum(NumpySweep(coordinates.array), terms)
    return Objective(pairs, (Trace(lam),), scale=lam), coordinates


def first(coordinates, rank=None):
    return coordinates.start(1.0, rank or coordinates.array.shape[1])


def run(name, objective, P, max_iter=2000, tol=1e-7):
    return SOLVERS[name](objective, P, max_iter=max_iter, tol=tol, callback=ignore)


@pytest.mark.parametrize(
    "step", few(["supervised", "first m-step", "later m-step"], "supervised".__eq__)
)
def test_the_solvers_agree_where_the_problem_is_concave(wine, step):
    objective, space = make(wine, mu=0.0 if step == "supervised" else 0.05)
    if step != "supervised":
        objective = objective.m_step(None if step == "first m-step" else first(space, 3))
    values = {}
    for name in SOLVERS:
        found = run(name, objective, first(space), max_iter=3000, tol=1e-9)
        values[name] = found.value
        assert np.all(np.linalg.eigvalsh(found.P.T @ found.P) >= -1e-12)
    assert values["spg"] == pytest.approx(values["low-rank"], rel=1e-8)
    assert values["projected-gradient"] == pytest.approx(values["low-rank"], rel=1e-6)


@pytest.mark.parametrize("name", ["low-rank", "spg"])
@pytest.mark.parametrize("algorithm", ["supervised", "m-step", "direct"])
def test_the_certificate_holds_at_a_converged_point(wine, name, algorithm):
    objective, space = make(wine, mu=0.0 if algorithm == "supervised" else 0.05)
    if algorithm == "m-step":
        objective = objective.m_step(first(space, 3))
    found = run(name, objective, first(space), tol=1e-4)
    assert found.converged
    assert found.gap <= 1e-4
    _, gradient = objective.by_metric(found.P)
    assert np.linalg.eigvalsh(gradient)[-1] <= 1e-4 * objective.scale
    assert found.gap == pytest.approx(optimality_gap(found.P, gradient, objective.scale), rel=1e-6)


def test_the_certificate_is_violated_away_from_the_optimum_and_bounds_what_is_missing(wine, rng):
    objective, space = make(wine)
    best = run("low-rank", objective, first(space), tol=1e-9)
    trace = np.vdot(best.P, best.P)
    others = [0.0 * best.P, 0.5 * best.P, 2.0 * best.P, best.P[:1], first(space)]
    others += [rng.normal(size=(3, space.array.shape[1])) for _ in range(5)]
    for P in others:
        value, gradient = objective.by_metric(P)
        gap = optimality_gap(P, gradient, objective.scale)
        assert gap > 1e-2
        missing = best.value - value
        assert 0 < missing <= gap * objective.scale * (trace + np.vdot(P, P)) * (1 + 1e-9)


@pytest.mark.parametrize("name", SOLVERS)
def test_an_m_step_never_lowers_the_objective(wine, name):
    objective, space = make(wine, mu=0.05)
    P = first(space)
    for _ in range(4):
        m_step = objective.m_step(P)
        start, _ = m_step.by_metric(P)
        found = run(name, m_step, P, max_iter=30, tol=1e-6)
        assert found.value >= start
        assert found.value == pytest.approx(m_step.by_metric(found.P)[0], rel=1e-12)
        P = found.P


@pytest.mark.parametrize("name", ["low-rank", "projected-gradient"])
def test_monotone_solvers_rise_at_every_iteration(wine, name):
    objective, space = make(wine, mu=0.05)
    found = run(name, objective.m_step(first(space)), first(space), max_iter=60)
    values = found.history["objective"]
    assert len(values) > 5
    assert np.all(np.diff(values) >= -1e-12 * np.abs(values[1:]))


def test_spg_returns_the_best_point_it_saw(wine):
    objective, space = make(wine, lam=0.05)
    for max_iter in range(1, 25):
        found = run("spg", objective, first(space), max_iter=max_iter, tol=1e-12)
        assert found.value == max(
            found.history["objective"].max(), objective.by_metric(first(space))[0]
        )


@pytest.mark.parametrize("start", [1, 2, None])
def test_low_rank_widens_or_narrows_to_the_rank_of_the_optimum(digits, start):
    objective, space = make(digits)
    best = run("spg", objective, first(space), tol=1e-6)
    found = run("low-rank", objective, first(space, start), tol=1e-6)
    assert len(best.P) >= 3
    assert len(found.P) == len(best.P)
    assert found.value == pytest.approx(best.value, rel=1e-8)


def test_a_rank_above_that_of_the_start_takes_few_iterations():
    """Features of noise alone: the maximum has rank 24, the start 20."""
    rng = np.random.default_rng(0)
    y = np.arange(400) % 10
    X = rng.normal(size=(400, 100))
    X[:, :12] += rng.normal(size=(10, 12))[y]
    one, other = rng.permutation(400)[:200].reshape(2, 100)
    labels = PairLabels.make(
        400, None, Marks(np.column_stack([one, other]), y[one] == y[other], rows=400)
    )
    found = learn(PointsInMemory(X), labels, Settings(backend="numpy"))
    assert found.converged
    assert len(found.components) > 20
    assert found.n_iter <= 150  # 197 if the factor grows only where its own maximum is reached


@pytest.mark.parametrize("name", ["low-rank", "spg"])
def test_the_zero_metric_can_be_left(wine, name):
    objective, space = make(wine)
    best = run("spg", objective, first(space), tol=1e-6)
    found = run(name, objective, np.zeros((0, space.array.shape[1])), tol=1e-6)
    assert found.value == pytest.approx(best.value, rel=1e-6)


def test_a_capped_rank_is_kept_and_converges_to_a_stationary_point(digits):
    objective, space = make(digits)
    found = low_rank(
        objective, first(space, 2), max_iter=2000, tol=1e-6, callback=ignore, max_rank=2
    )
    assert len(found.P) == 2
    assert found.converged
    assert found.gap > 1e-3  # the certificate of the full problem tells of the cap
    slope = objective.by_factor(found.P)[1]
    assert np.linalg.norm(slope) <= 1e-5 * objective.scale * np.linalg.norm(found.P)


def test_em_comes_to_rest_at_a_fixed_point(wine):
    objective, space = make(wine, mu=0.05)

    def solve(m_step, P):
        return run("low-rank", m_step, P, tol=1e-6)

    found = em(objective.m_step, solve, first(space), max_iter=200, tol=1e-6)
    assert found.converged
    again = solve(objective.m_step(found.P), found.P)
    A, B = found.P.T @ found.P, again.P.T @ again.P
    assert np.linalg.norm(A - B) <= 1e-5 * np.linalg.norm(A)


def test_projection_is_the_nearest_positive_semi_definite_matrix(rng):
    M = rng.normal(size=(5, 5))
    M = M + M.T
    A, P = project_psd(M)
    np.testing.assert_allclose(P.T @ P, A, atol=1e-12)
    assert np.linalg.eigvalsh(A)[0] >= -1e-12
    for _ in range(50):
        B = rng.normal(size=(5, 5))
        B = B.T @ B
        assert np.vdot(M - A, B - A) <= 1e-10  # obtuse angle: A is the projection
    assert len(project_psd(-np.eye(3))[1]) == 0


def test_compress_keeps_the_metric_and_orders_its_rows(rng):
    P = rng.normal(size=(2, 5))
    wide = np.vstack([P, P, 1e-9 * rng.normal(size=(1, 5))])
    narrow = compress(wide)
    assert narrow.shape == (2, 5)
    np.testing.assert_allclose(narrow.T @ narrow, wide.T @ wide, atol=1e-12)
    assert np.linalg.norm(narrow[0]) >= np.linalg.norm(narrow[1])
    assert abs(narrow[0] @ narrow[1]) < 1e-12


def test_a_factor_whose_squares_underflow_is_that_of_the_zero_metric():
    assert compress(np.full((2, 3), 1e-160)).shape == (0, 3)
    assert compress(np.eye(2, 3) * 1e-150).shape == (2, 3)
