"""The solvers: they agree with each other and with scipy, and their certificates hold."""

import numpy as np
import pytest
from scipy.optimize import minimize

from seraph import SERAPH, Marks
from seraph._solvers import (
    compress,
    low_rank,
    optimality_gap,
    project_psd,
    projected_gradient,
    spg,
)
from tests.helpers.pose import pose as pose_fit
from tests.helpers.quick import few

SOLVERS = {"low-rank": low_rank, "spg": spg, "projected-gradient": projected_gradient}
# The M-steps of the objective that are concave.
STEPS = ["supervised", "first m-step", "later m-step"]


@pytest.fixture
def small(wine):
    """Half of the wines, and half of their features."""
    X, y_partial, y = wine
    return X[:40, :6], y_partial[:40], y[:40]


def pose(data, mu=0.0, lam=2.0, library=np.asarray):
    """The objective of some points, with `lam` in the solvers' units, and their frame."""
    X, y_partial, _ = data
    learner = SERAPH(mu=mu)
    points, labels = learner._read(library(X), y_partial, None)
    problem = learner.set_params(lam=lam * points.frame.unit**2)._pose(points, labels)
    return problem.objective, problem.frame


def first(frame, rank=None):
    return frame.start(1.0, rank or len(frame.covariance))


def run(name, F, P, max_iter=2000, tol=1e-7, callback=lambda step, P: None, **more):
    return SOLVERS[name](F, P, max_iter=max_iter, tol=tol, callback=callback, **more)


def step_of(data, step):
    F, frame = pose(data, mu=0.0 if step == "supervised" else 0.05)
    if step != "supervised":
        F = F.m_step(None if step == "first m-step" else first(frame, 3))
    return F, frame


def by_scipy(F, P):
    """Maximize over all entries of a square factor."""

    def negative(x):
        value, gradient = F.value_and_factor_gradient(x.reshape(P.shape))
        return -value, -gradient.ravel()

    options = {"maxiter": 5000, "maxfun": 10_000, "ftol": 1e-15, "gtol": 1e-9}
    return -minimize(negative, P.ravel(), jac=True, method="L-BFGS-B", options=options).fun


@pytest.mark.parametrize("step", few(STEPS, "first m-step".__eq__))
def test_the_solvers_agree_with_scipy_where_the_problem_is_concave(small, step):
    F, frame = step_of(small, step)
    expected = by_scipy(F, first(frame))
    for name, close in {"low-rank": 1e-8, "spg": 1e-8, "projected-gradient": 1e-4}.items():
        result = run(name, F, first(frame), max_iter=1000, tol=1e-9)
        assert result.value == pytest.approx(expected, rel=close)
        assert result.value == pytest.approx(F.value_and_gradient(result.P)[0], rel=1e-12)


@pytest.mark.parametrize("name", ["low-rank", "spg"])
@pytest.mark.parametrize("step", ["supervised", "later m-step", "direct"])
def test_the_certificate_holds_at_a_converged_point(wine, name, step):
    F, frame = pose(wine, mu=0.05) if step == "direct" else step_of(wine, step)
    result = run(name, F, first(frame), tol=1e-4)
    assert result.converged
    _, gradient = F.value_and_gradient(result.P)
    assert np.linalg.eigvalsh(gradient)[-1] <= 1e-4 * F.scale
    gap = optimality_gap(result.P, gradient, F.scale)
    assert result.gap == pytest.approx(gap, rel=1e-6)
    assert gap <= 1e-4


def test_the_certificate_bounds_what_is_missing_anywhere(wine, rng):
    F, frame = pose(wine)
    best = run("low-rank", F, first(frame), tol=1e-9)
    trace = np.vdot(best.P, best.P)
    others = [0.0 * best.P, 0.5 * best.P, 2.0 * best.P, best.P[:1], first(frame)]
    others += [rng.normal(size=(3, len(frame.covariance))) for _ in range(5)]
    for P in others:
        value, gradient = F.value_and_gradient(P)
        gap = optimality_gap(P, gradient, F.scale)
        assert gap > 1e-2
        bound = gap * F.scale * (trace + np.vdot(P, P))
        assert 0 < best.value - value <= bound * (1 + 1e-9)


@pytest.mark.parametrize("rank", [1, 2, None])
def test_low_rank_widens_or_narrows_to_the_rank_of_the_optimum(digits, rank):
    F, frame = pose(digits)
    best = run("spg", F, first(frame), tol=1e-6)
    result = run("low-rank", F, first(frame, rank), tol=1e-6)
    assert len(best.P) >= 3
    assert len(result.P) == len(best.P)
    assert result.value == pytest.approx(best.value, rel=1e-8)


def test_a_rank_above_that_of_the_start_takes_few_iterations():
    """Features of noise alone: the maximum has a higher rank than the start."""
    rng = np.random.default_rng(0)
    y = np.arange(200) % 10
    X = rng.normal(size=(200, 100))
    X[:, :12] += rng.normal(size=(10, 12))[y]
    one, other = rng.permutation(200).reshape(2, 100)
    marks = Marks(np.column_stack([one, other]), y[one] == y[other], rows=200)
    problem, _ = pose_fit(X, None, marks)
    result = run("low-rank", problem.objective, first(problem.frame, 15), tol=1e-3)
    assert result.converged
    assert len(result.P) > 15
    assert len(result.steps) <= 200


@pytest.mark.parametrize("start", [1, 2, None])
def test_a_capped_rank_is_kept_and_converges_to_a_stationary_point(digits, start):
    F, frame = pose(digits)
    result = run("low-rank", F, first(frame, start)[:2], tol=1e-6, max_rank=2)
    assert len(result.P) == 2
    assert result.converged
    assert result.gap > 1e-3  # the certificate of the full problem shows the cap
    slope = F.value_and_factor_gradient(result.P)[1]
    assert np.linalg.norm(slope) <= 1e-5 * F.scale * np.linalg.norm(result.P)


def test_low_rank_stalls_where_rounding_hides_the_rest_and_says_so(wine):
    F, frame = pose((wine[0].astype(np.float32), *wine[1:]), mu=0.05)
    result = run("low-rank", F, first(frame), tol=1e-12, max_iter=5000)
    assert result.stalled
    assert not result.converged
    assert len(result.steps) < 5000
    assert result.gap < 1e-4


@pytest.mark.parametrize("name", SOLVERS)
def test_few_iterations_are_not_exceeded_and_count_as_unconverged(wine, name):
    F, frame = pose(wine, mu=0.05)
    seen = []
    result = run(name, F, first(frame), 3, 1e-12, lambda step, P: seen.append((step, P)))
    assert [step for step, _ in seen] == result.steps
    assert len(seen) == 3
    assert not result.converged
    for step, P in seen:
        assert step.objective == pytest.approx(F.value_and_gradient(P)[0], rel=1e-12)
        assert step.rank == len(P)


def test_projection_is_the_nearest_positive_semi_definite_matrix(rng):
    S = rng.normal(size=(5, 5))
    S = S + S.T
    A, P = project_psd(S)
    np.testing.assert_allclose(P.T @ P, A, atol=1e-12)
    for B in rng.normal(size=(50, 5, 5)):
        assert np.vdot(S - A, B.T @ B - A) <= 1e-10  # obtuse angle: A is the projection
    assert len(project_psd(-np.eye(3))[1]) == 0


def test_compress_keeps_the_metric_and_orders_its_rows(rng):
    P = rng.normal(size=(2, 5))
    wide = np.vstack([P, P, 1e-9 * rng.normal(size=(1, 5))])
    narrow = compress(wide)
    assert narrow.shape == (2, 5)
    np.testing.assert_allclose(narrow.T @ narrow, wide.T @ wide, atol=1e-12)
    assert np.linalg.norm(narrow[0]) >= np.linalg.norm(narrow[1])
    assert abs(narrow[0] @ narrow[1]) < 1e-12
    assert compress(np.full((2, 3), 1e-160)).shape == (0, 3)  # its squares underflow
    assert compress(np.eye(2, 3) * 1e-150).shape == (2, 3)


@pytest.mark.parametrize("name", ["low-rank", "projected-gradient"])
def test_monotone_solvers_rise_at_every_iteration(wine, name):
    F, frame = pose(wine, mu=0.05)
    result = run(name, F.m_step(first(frame)), first(frame), max_iter=60)
    values = [step.objective for step in result.steps]
    assert len(values) > 5
    assert np.all(np.diff(values) >= -1e-12 * np.abs(values[1:]))
