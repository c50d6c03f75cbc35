"""The objective is a sum of terms: what each has to keep, and how one is added."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from seraph._engine._manifold import Roughness
from seraph._engine._objective import FullModel, Objective
from seraph._engine._problem import TERMS
from seraph._engine._terms import PairSum, Term, Trace
from seraph._engine._triplets import Triplets
from seraph._sweep import NumpySweep, PairTerms

from seraph._utils._graph import neighbor_graph
from tests.helpers.oracle import labeled_pairs, numeric_gradient, objective
from tests.helpers.plain import SERAPH


@dataclass(frozen=True)
class SquaredNorm(Term):
    """A toy penalty, ``-nu |A|^2``; at the scale s, ``-nu / s^2 |B|^2``."""

    nu: float

    def by_metric(self, P):
        A = P.T @ P
        return -self.nu * float(np.vdot(A, A)), -2.0 * self.nu * A

    def at(self, s):
        return replace(self, nu=self.nu / s**2)

    def slope(self, P):
        return -2.0 * self.by_metric(P)[0]


@pytest.fixture
def toy(monkeypatch):
    """Add the toy penalty to every fit; solvers measure lengths in another unit."""

    def make(data, settings):
        return SquaredNorm(0.8 / data.coordinates.unit**4)

    monkeypatch.setitem(TERMS, "squared norm", make)


def some_points(rng, n=20):
    codes = np.arange(n) % 2
    X = rng.normal(size=(n, 3)) + 1.5 * rng.normal(size=(2, 3))[codes]
    return X, np.where(np.arange(n) < 8, codes, -1)


def some_triplets(rng):
    return np.array([rng.permutation(20)[:3] for _ in range(9)])


# Each makes a term of points of shape (20, 3) and their classes; the first is the sum over pairs.
ALL_TERMS = {
    "pairs": lambda X, y, _: PairSum(NumpySweep(X), PairTerms(np.sort(y[:8]), eta=1.3, mu=0.4)),
    "trace": lambda *_: Trace(0.7),
    "manifold": lambda X, *_: Roughness.of(X, neighbor_graph(X, 4), 0.3),
    "triplets": lambda X, _, rng: Triplets.gather(X, some_triplets(rng)),
    "squared norm": lambda *_: SquaredNorm(0.2),
}


def test_every_term_of_a_fit_is_tested_here():
    assert set(TERMS) <= set(ALL_TERMS)


@pytest.mark.parametrize("make", ALL_TERMS.values(), ids=ALL_TERMS)
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_the_derivatives_of_every_term_match_finite_differences(rng, make, rank):
    term, P = make(*some_points(rng), rng), rng.normal(size=(rank, 3))
    for here in (term, term.at(2.5)):
        value, by_factor = here.by_factor(P)
        numeric = numeric_gradient(lambda M, here=here: here.by_factor(M)[0], P)
        np.testing.assert_allclose(by_factor, numeric, atol=1e-5)
        np.testing.assert_allclose(2.0 * P @ here.by_metric(P)[1], by_factor, atol=1e-9)
        assert here.by_metric(P)[0] == pytest.approx(value, rel=1e-12)

    def at_scale(log_s):
        return term.at(float(np.exp(log_s[0]))).by_factor(P)[0]

    for s in (0.4, 1.0, 3.0):
        numeric = numeric_gradient(at_scale, np.array([np.log(s)]))[0]
        assert term.at(s).slope(P) == pytest.approx(numeric, rel=1e-5, abs=1e-6)


def test_an_objective_is_the_sum_of_its_terms(rng):
    X, y = some_points(rng)
    pairs, *others = (make(X, y, rng) for make in ALL_TERMS.values())
    F, P = Objective(pairs, tuple(others)), rng.normal(size=(2, 3))
    for name in ("by_metric", "by_factor"):
        values, gradients = zip(*(getattr(t, name)(P) for t in F.terms), strict=True)
        value, gradient = getattr(F, name)(P)
        assert value == pytest.approx(sum(values), rel=1e-12)
        np.testing.assert_allclose(gradient, sum(gradients), rtol=1e-12)
    model = FullModel(F, gamma=0.4)
    numeric = numeric_gradient(
        lambda x: model.at(float(np.exp(x[0]))).by_factor(P)[0] - model.prior(float(np.exp(x[0]))),
        np.array([0.3]),
    )
    assert model.slope(float(np.exp(0.3)), P) == pytest.approx(numeric[0], rel=1e-6)


@pytest.mark.parametrize("solver", ["low-rank", "spg"])
def test_a_term_that_is_added_to_the_table_is_learned_with_and_certified(rng, toy, solver):
    X, y = some_points(rng)
    learner = SERAPH(mu=0.3, lam=0.5, tol=1e-6, max_iter=2000, solver=solver).fit(X, y)
    assert learner.converged_
    assert learner.optimality_gap_ <= 1e-6
    A = learner.get_mahalanobis_matrix()

    def value(M):
        pairs = objective(X, M, labeled_pairs(y[y >= 0]), mu=0.3, lam=0.5)
        return pairs - 0.8 * np.vdot(M, M)

    assert learner.objective_ == pytest.approx(value(A), rel=1e-9)
    gradient = numeric_gradient(value, A)
    gap = max(np.linalg.eigvalsh((gradient + gradient.T) / 2)[-1], 0.0) / 0.5
    assert gap <= 1e-4
    assert abs(np.vdot(gradient, A)) <= 1e-4 * np.trace(A)


def test_an_added_term_takes_part_in_the_full_model(rng, toy):
    X, y = some_points(rng)
    learner = SERAPH(mu=0.0, lam=0.5, gamma=1.0, tol=1e-5, max_iter=2000).fit(X, y)
    assert learner.converged_
    s, A = -learner.kappa_, learner.get_mahalanobis_matrix()

    def value(log_s):
        # Theorem 2: (7) of ``B = s A`` with the threshold ``s eta`` and the weight ``lam / s``.
        here = float(np.exp(log_s[0]))
        known = labeled_pairs(y[y >= 0])
        pairs = objective(X, s * A, known, mu=0.0, lam=0.5 / here, eta=here)
        return pairs - 0.8 / here**2 * np.vdot(s * A, s * A) - 0.5 * here**2

    assert learner.objective_ == pytest.approx(value([np.log(s)]), rel=1e-9)
    assert abs(numeric_gradient(value, np.array([np.log(s)]))[0]) < 1e-3
