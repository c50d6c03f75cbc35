"""The objectives that the solvers maximise: pair terms less penalties, with their gradients."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from .._sweep import PairTerms, Posterior, Sweep


@dataclass(frozen=True)
class Objective:
    """``F(A) = sum of the pair terms - lam tr(A) - <R, A>``, at ``A = P'P``.

    With the entropy of the unlabelled pairs and ``R = 0`` this is (7); with an M-step's ``q``,
    (11).

    Parameters
    ----------
    sweep : Sweep
        The points, and how their pairs are summed.
    terms : PairTerms
        The term of each pair.
    lam : float
        Weight of the trace.
    scale : float
        Size that the gradient's eigenvalues are measured against (`gradient_scale`).
    roughness : ndarray of shape (m, m) or None
        The matrix ``R`` of the manifold extension, ``nu X' L X``.
    """

    sweep: Sweep
    terms: PairTerms
    lam: float
    scale: float = 1.0
    roughness: NDArray | None = None

    @property
    def n_features(self) -> int:
        """Number of columns of the points."""
        return self.sweep.n_features

    @property
    def rounding(self) -> float:
        """Relative error of a value."""
        return self.sweep.rounding

    def by_metric(self, P: NDArray) -> tuple[float, NDArray]:
        """Value at ``P'P``, and the gradient by the metric, an m x m matrix."""
        value, gradient = self.sweep(P, self.terms, "metric")
        gradient[np.diag_indices_from(gradient)] -= self.lam
        if self.roughness is not None:
            gradient -= self.roughness
        return value - self.penalty(P), gradient

    def by_factor(self, P: NDArray) -> tuple[float, NDArray]:
        """Value at ``P'P``, and the gradient by ``P``, an r x m matrix."""
        value, gradient = self.sweep(P, self.terms, "factor")
        gradient = gradient - 2.0 * self.lam * P
        if self.roughness is not None:
            gradient -= 2.0 * P @ self.roughness
        return value - self.penalty(P), gradient

    def penalty(self, P: NDArray) -> float:
        """What is taken from the pair terms at ``A = P'P``: ``lam tr(A) + <R, A>``."""
        penalty = self.lam * float(np.vdot(P, P))
        return penalty if self.roughness is None else penalty + np.vdot(P @ self.roughness, P)

    def m_step(self, P: NDArray | None) -> Objective:
        """The concave objective (11) whose ``q`` comes from the metric ``P'P``.

        None stands for the start, where every unlabelled pair is taken as dissimilar.
        """
        return replace(self, terms=replace(self.terms, q=Posterior(P)))


@dataclass(frozen=True)
class FullModel:
    """The full model (6), by its metric times a scale: ``s = -kappa``, ``B = s A``.

    ``L(A, kappa) = F(B) - gamma s^2 / 2``, with ``s eta`` for the threshold of F and ``lam / s``
    for its weight: at a given s it is (7), which is Theorem 2.

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
        """F at the scale `s`, a function of ``B``."""
        F = self.simplified
        return replace(
            F,
            terms=replace(F.terms, eta=s * F.terms.eta),
            lam=F.lam / s,
            scale=F.scale / s,
            roughness=None if F.roughness is None else F.roughness / s,
        )

    def prior(self, s: float) -> float:
        """What the prior on kappa takes away: ``gamma s^2 / 2``."""
        return 0.5 * self.gamma * s * s

    def slope(self, s: float, P: NDArray) -> float:
        """Derivative of L by ``ln s``, with ``B = P'P`` held.

        At the best B for this s it is the derivative of the best value, too.
        """
        F = self.at(s)
        by_threshold = float(F.sweep(P, F.terms, "threshold")[1])
        return F.terms.eta * by_threshold + F.penalty(P) - 2.0 * self.prior(s)

    @property
    def value_at_zero(self) -> float:
        """L at ``kappa = 0``, where every pair is as likely similar as not."""
        F = self.simplified
        nothing = np.zeros((0, F.n_features))
        return F.sweep(nothing, replace(F.terms, eta=0.0), "threshold")[0]
