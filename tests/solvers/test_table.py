"""The table of solvers: a solver is added by one entry, and a fit asks the entry only."""

from dataclasses import replace

import numpy as np
import pytest

from seraph import SERAPH
from seraph._solvers import SOLVERS, Result, Solver, Step, optimality_gap, project_psd


def gradient_ascent(objective, P, *, max_iter, tol, callback):
    """A toy solver: projected gradient steps, halved until the objective rises."""
    value, gradient = objective.value_and_gradient(P)
    steps, length = [], 1.0 / np.linalg.norm(gradient)
    while optimality_gap(P, gradient, objective.scale) > tol and len(steps) < max_iter:
        _, there = project_psd(P.T @ P + length * gradient)
        value_there, gradient_there = objective.value_and_gradient(there)
        if value_there < value:
            length /= 2.0
            continue
        P, value, gradient, length = there, value_there, gradient_there, 1.5 * length
        steps.append(Step(value, len(P), length, optimality_gap(P, gradient, objective.scale)))
        callback(steps[-1], P)
    gap = optimality_gap(P, gradient, objective.scale)
    return Result(P, value, gap, gap <= tol, steps)


@pytest.fixture
def toy(monkeypatch):
    monkeypatch.setitem(SOLVERS, "toy", Solver(gradient_ascent))
    return "toy"


@pytest.mark.parametrize("settings", [{}, {"gamma": 1.0}, {"manifold": 0.05}], ids=str)
def test_a_solver_that_is_added_to_the_table_is_run_by_seraph(wine, toy, settings):
    X, y = wine[0][:40], wine[1][:40]
    seen = []
    strict = {"tol": 1e-4, "max_iter": 3000, "mu": 0.05, **settings}
    learner = SERAPH(solver=toy, callback=seen.append, **strict).fit(X, y)
    assert learner.converged_
    assert len(seen) == learner.n_iter_
    expected = SERAPH(**strict).fit(X, y)
    assert learner.objective_ == pytest.approx(expected.objective_, rel=1e-6)
    np.testing.assert_allclose(learner.transform(X).var(), expected.transform(X).var(), rtol=1e-2)


def test_an_entry_can_run_inside_em_and_start_where_it_likes(wine, toy):
    X, y, _ = wine
    starts = []

    def first_factor(m):
        starts.append(m)
        return np.eye(m)

    SOLVERS[toy] = replace(SOLVERS[toy], m_steps=2, rescales=False, first_factor=first_factor)
    with pytest.warns(match="has not converged"):
        learner = SERAPH(solver=toy, max_iter=30).fit(X, y)
    assert starts == [X.shape[1]]
    assert np.isfinite(learner.objective_)
