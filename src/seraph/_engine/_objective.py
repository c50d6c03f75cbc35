"""What the solvers maximize: the pair terms minus penalties, with gradients."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .._sweep import PairTerms, Posterior, Sweep
from .._utils._typing import Array
from ._triplets import Triplets


@dataclass(frozen=True)
class Objective:
    """``F(A) = sum of the pair terms + T(A) - lam tr(A) - <R, A>``, at ``A = P'P``.

    With the entropy of the unlabeled pairs, ``T = 0`` and ``R = 0`` this is (7); with an
    M-step's ``q``, (11).

    Parameters
    ----------
    sweep : Sweep
        Sums over the pairs of the points.
    terms : PairTerms
        The term of each pair.
    lam : float
        Weight of the trace.
    scale : float
        Unit of the gradient's eigenvalues in the optimality gap.
    roughness : ndarray of shape (m, m) or None
        The matrix ``R`` of the manifold extension, ``nu X' L X``.
    triplets : Triplets or None
        The log-likelihood ``T`` of triplets.
    """

    sweep: Sweep
    terms: PairTerms
    lam: float
    scale: float = 1.0
    roughness: Array | None = None
    triplets: Triplets | None = None

    @property
    def n_features(self) -> int:
        """Number of columns of the points."""
        return self.sweep.shape[1]

    @property
    def rounding(self) -> float:
        """Relative error of a value."""
        return self.sweep.rounding

    def samples(self, *, near: bool = False) -> list[tuple[float, Objective]]:
        """Return estimates from shares of the pairs, the smallest first: see `Plan.samples`."""
        samples = self.terms.samples(self.sweep.shape, near=near)
        return [(share, replace(self, terms=terms)) for share, terms in samples]

    def by_metric(self, P: Array) -> tuple[float, Array]:
        """Compute the value at ``P'P`` and the m x m gradient by the metric."""
        value, gradient = self.sweep(P, self.terms, "metric")
        gradient[np.diag_indices_from(gradient)] -= self.lam
        if self.roughness is not None:
            gradient -= self.roughness
        if self.triplets is not None:
            more, slope = self.triplets.by_metric(P)
            value, gradient = value + more, gradient + slope
        return value - self.penalty(P), gradient

    def by_factor(self, P: Array) -> tuple[float, Array]:
        """Compute the value at ``P'P`` and the r x m gradient by ``P``."""
        value, gradient = self.sweep(P, self.terms, "factor")
        gradient = gradient - 2.0 * self.lam * P
        if self.roughness is not None:
            gradient -= 2.0 * P @ self.roughness
        if self.triplets is not None:
            more, slope = self.triplets.by_factor(P)
            value, gradient = value + more, gradient + slope
        return value - self.penalty(P), gradient

    def penalty(self, P: Array) -> float:
        """Compute the penalty ``lam tr(A) + <R, A>`` at ``A = P'P``."""
        penalty = self.lam * float(np.vdot(P, P))
        return penalty if self.roughness is None else penalty + np.vdot(P @ self.roughness, P)

    def m_step(self, P: Array | None) -> Objective:
        """Return the concave objective (11) whose ``q`` comes from the metric ``P'P``.

        None stands for the start, where every unlabeled pair counts as dissimilar.
        """
        return replace(self, terms=replace(self.terms, q=Posterior(P)))


@dataclass(frozen=True)
class FullModel:
    """The full model (6) in terms of the scale ``s = -kappa`` and ``B = s A``.

    ``L(A, kappa) = F(B) - gamma s^2 / 2``, where F has the threshold ``s eta`` and the weight
    ``lam / s``. At a given s this is (7), as Theorem 2 says. Triplets have the probability
    ``1 / (1 + exp(kappa u))``, so their terms are functions of ``B`` alone.

    Parameters
    ----------
    simplified : Objective
        F at ``s = 1``.
    gamma : float
        Weight of the prior on kappa.
    """

    simplified: Objective
    gamma: float

    def at(self, s: float) -> Objective:
        """Return F at the scale `s`, a function of ``B``."""
        F = self.simplified
        return replace(
            F,
            terms=replace(F.terms, eta=s * F.terms.eta),
            lam=F.lam / s,
            scale=F.scale / s,
            roughness=None if F.roughness is None else F.roughness / s,
        )

    def prior(self, s: float) -> float:
        """Compute the penalty of the prior on kappa, ``gamma s^2 / 2``."""
        return 0.5 * self.gamma * s * s

    def slope(self, s: float, P: Array) -> float:
        """Compute the derivative of L by ``ln s`` at a fixed ``B = P'P``.

        At the best B for this s it is also the derivative of the best value.
        """
        F = self.at(s)
        by_threshold = float(F.sweep(P, F.terms, "threshold")[1])
        return F.terms.eta * by_threshold + F.penalty(P) - 2.0 * self.prior(s)

    @property
    def value_at_zero(self) -> float:
        """Value of L at ``kappa = 0``, where every pair is as likely similar as not."""
        F = self.simplified
        nothing = np.zeros((0, F.n_features))
        value = F.sweep(nothing, replace(F.terms, eta=0.0), "threshold")[0]
        return value if F.triplets is None else value + F.triplets.value(nothing)
