"""The terms of the objective: derivatives, concavity, M-steps, and a term of one's own."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
import torch
from scipy.spatial.distance import pdist

from seraph._objective import FullModel, Objective, Term, Trace, Triplets, to_solver
from seraph._objective._manifold import Roughness
from seraph._objective._objective import ClassPairs, MarkedPairs, UnlabeledPairs
from seraph._pairs import BlockPairs, ListedPairs
from seraph._solvers import low_rank, optimality_gap, project_psd, spg
from tests.helpers.oracle import labeled_pairs, numeric_gradient, objective
from tests.helpers.pose import pose

N, M, ETA, MU = 20, 3, 1.3, 0.4
OLD = np.random.default_rng(5).normal(size=(2, M))


@dataclass(frozen=True)
class SquaredNorm(Term):
    """A penalty of one's own, ``-nu |A|^2``; at the scale s, ``-nu / s^2 |B|^2``."""

    nu: float

    def value_and_gradient(self, P):
        A = P.T @ P
        return -self.nu * float(np.vdot(A, A)), -2.0 * self.nu * A

    def at_scale(self, s):
        return replace(self, nu=self.nu / s**2)

    def slope(self, P):
        return -2.0 * self.value_and_gradient(P)[0]


def points():
    rng = np.random.default_rng(0)
    codes = np.where(np.arange(N) < 8, np.arange(N) % 2, -1)
    return rng.normal(size=(N, M)) + 1.5 * rng.normal(size=(2, M))[codes % 2], codes


def unlabeled(X, codes, partners=None):
    pairs = BlockPairs.make(codes, partners, labeled=False, like=X)
    return UnlabeledPairs(X, ETA, 0.4, pairs, MU)


def classified(X, codes):
    return ClassPairs(X, ETA, 1.0, BlockPairs.make(codes, labeled=True, like=X))


def marked(X):
    rng = np.random.default_rng(1)
    rows = np.array([[0, 9], [10, 11], [12, 4], [13, 19]])
    listed = ListedPairs.make(rows, rng.uniform(size=4), rng.uniform(0, 3, 4), N, like=X)
    return MarkedPairs(X, ETA, 1.0, listed, MU)


def triplets(X):
    rng = np.random.default_rng(2)
    return Triplets.make(X, np.array([rng.permutation(N)[:3] for _ in range(9)]))


# Each makes a term of points and their classes. Those of the second table are concave.
TERMS = {
    "entropy": unlabeled,
    "sampled entropy": lambda X, codes: unlabeled(X, codes, 3),
    "marks": lambda X, _: marked(X),
}
CONCAVE = {
    "first m-step": lambda X, codes: unlabeled(X, codes).m_step(None),
    "m-step": lambda X, codes: unlabeled(X, codes).m_step(to_solver(OLD, X)),
    "sampled m-step": lambda X, codes: unlabeled(X, codes, 3).m_step(to_solver(OLD, X)),
    "classes": classified,
    "marks alone": lambda X, _: replace(marked(X), mu=0.0),
    "trace": lambda *_: Trace(0.7),
    "manifold": lambda X, _: Roughness(to_solver(Roughness.matrix(np.asarray(X), None, 0.3), X)),
    "triplets": lambda X, _: triplets(X),
    "squared norm": lambda *_: SquaredNorm(0.2),
}
ALL = {
    **TERMS,
    **CONCAVE,
    "marks in the first m-step": lambda X, _: marked(X).m_step(None),
    "marks in an m-step": lambda X, _: marked(X).m_step(to_solver(OLD, X)),
}


def factor(A):
    return project_psd(A)[1]


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("rank", [0, 1, M])
def test_derivatives_by_metric_by_factor_and_by_scale_match_finite_differences(rng, name, rank):
    term, P = ALL[name](*points()), rng.normal(size=(rank, M))
    for part in (term, term.at_scale(2.5)):
        value, by_factor = part.value_and_factor_gradient(P)
        numeric = numeric_gradient(lambda Q, part=part: part.value_and_factor_gradient(Q)[0], P)
        np.testing.assert_allclose(by_factor, numeric, atol=1e-5)
        by_metric = part.value_and_gradient(P)
        assert by_metric[0] == pytest.approx(value, rel=1e-12)
        np.testing.assert_allclose(2.0 * P @ by_metric[1], by_factor, atol=1e-9)
        np.testing.assert_allclose(by_metric[1], by_metric[1].T, atol=1e-12)

    if getattr(term, "frozen", None) is not None:
        return  # the full model has no M-steps

    def value_at(log_s):
        return term.at_scale(float(np.exp(log_s[0]))).value_and_factor_gradient(P)[0]

    for s in (0.4, 1.0, 3.0):
        numeric = numeric_gradient(value_at, np.array([np.log(s)]))[0]
        assert term.at_scale(s).slope(P) == pytest.approx(numeric, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("name", sorted(set(ALL) - {"squared norm"}))
def test_tensors_give_the_numbers_of_arrays(rng, name):
    X, codes = points()
    P = rng.normal(size=(2, M))
    term, other = ALL[name](X, codes), ALL[name](torch.as_tensor(X), codes)
    for method in ("value_and_gradient", "value_and_factor_gradient"):
        value, gradient = getattr(term, method)(P)
        value_there, gradient_there = getattr(other, method)(torch.as_tensor(P))
        assert value_there == pytest.approx(value, rel=1e-12)
        np.testing.assert_allclose(np.asarray(gradient_there), gradient, atol=1e-10)
    assert other.slope(torch.as_tensor(P)) == pytest.approx(term.slope(P), rel=1e-12)


@pytest.mark.parametrize("name", CONCAVE)
def test_the_terms_of_an_m_step_are_concave_along_segments(rng, name):
    term = CONCAVE[name](*points())
    for _ in range(20):
        A, B = (project_psd(S + S.T)[0] for S in rng.normal(size=(2, M, M)))
        ends = [term.value_and_gradient(factor(S))[0] for S in (A, B)]
        assert term.value_and_gradient(factor((A + B) / 2))[0] >= np.mean(ends) - 1e-10


def test_theorem_4_bounds_the_slope_of_an_m_step(rng):
    X, codes = points()
    terms = (unlabeled(X, codes).m_step(to_solver(OLD, X)), classified(X, codes), Trace(0.7))
    F = Objective(terms, M)
    n_labeled = 8 * 7 // 2
    n_unlabeled = N * (N - 1) // 2 - n_labeled
    bound = (n_labeled + MU * n_unlabeled) * pdist(X).max() ** 2 + 0.7 * M  # (12)
    for size in (1e-3, 1.0, 1e3):
        P, Q = size * rng.normal(size=(2, M, M))
        (f, gradient), (g, _) = F.value_and_gradient(P), F.value_and_gradient(Q)
        assert np.linalg.norm(gradient) <= bound
        assert abs(f - g) <= bound * np.linalg.norm(P.T @ P - Q.T @ Q)


def test_an_objective_is_the_sum_of_its_terms_and_the_full_model_has_a_prior(rng):
    terms = tuple(make(*points()) for name, make in ALL.items() if "m-step" not in name)
    F, P = Objective(terms, M), rng.normal(size=(2, M))
    for method in ("value_and_gradient", "value_and_factor_gradient"):
        values, gradients = zip(*(getattr(term, method)(P) for term in terms), strict=True)
        value, gradient = getattr(F, method)(P)
        assert value == pytest.approx(sum(values), rel=1e-12)
        np.testing.assert_allclose(gradient, sum(gradients), rtol=1e-12)
    model = FullModel(F, gamma=0.4)

    def value_at(log_s):
        s = float(np.exp(log_s[0]))
        return model.at_scale(s).value_and_factor_gradient(P)[0] - model.prior(s)

    numeric = numeric_gradient(value_at, np.array([0.3]))[0]
    assert model.slope(float(np.exp(0.3)), P) == pytest.approx(numeric, rel=1e-6)


# A term of one's own, in the objective of a fit


@pytest.mark.parametrize("solve", [low_rank, spg])
def test_a_term_that_is_added_is_learned_with_and_certified(solve):
    X, y = points()
    problem, _ = pose(X, y, mu=0.3, lam=0.5)
    penalty = SquaredNorm(0.8 / problem.frame.unit**4)  # solvers have another unit of length
    F = replace(problem.objective, terms=(*problem.objective.terms, penalty))
    result = solve(F, np.eye(M), max_iter=2000, tol=1e-6, callback=lambda step, P: None)
    assert result.converged
    A = np.square(1 / problem.frame.unit) * result.P.T @ result.P

    def value(A):
        return objective(X, A, labeled_pairs(y[:8]), mu=0.3, lam=0.5) - 0.8 * np.vdot(A, A)

    assert result.value == pytest.approx(value(A), rel=1e-9)
    gradient = numeric_gradient(value, A, h=1e-5)
    assert optimality_gap(factor(A), (gradient + gradient.T) / 2, 0.5) <= 1e-4
