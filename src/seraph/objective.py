"""The objective that the solvers maximise: pair terms less the trace, with its gradient."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from .sweep import NumpySweep, PairTerms, Posterior


@dataclass(frozen=True)
class Objective:
    """``F(A) = sum of the pair terms - lam tr(A)``, at ``A = P'P``.

    With the entropy of the unlabelled pairs this is (7); with an M-step's ``q``, (11).

    Parameters
    ----------
    sweep : NumpySweep
        The points, and how their pairs are summed.
    terms : PairTerms
        The term of each pair.
    lam : float
        Weight of the trace.
    scale : float
        Size that the gradient's eigenvalues are measured against (`gradient_scale`).
    """

    sweep: NumpySweep
    terms: PairTerms
    lam: float
    scale: float = 1.0

    @property
    def n_features(self) -> int:
        """Number of columns of the points."""
        return self.sweep.X.shape[1]

    def by_metric(self, P: NDArray) -> tuple[float, NDArray]:
        """Value at ``P'P``, and the gradient by the metric, an m x m matrix."""
        value, gradient = self.sweep(P, self.terms, "metric")
        gradient[np.diag_indices_from(gradient)] -= self.lam
        return value - self.lam * float(np.vdot(P, P)), gradient

    def by_factor(self, P: NDArray) -> tuple[float, NDArray]:
        """Value at ``P'P``, and the gradient by ``P``, an r x m matrix."""
        value, gradient = self.sweep(P, self.terms, "factor")
        return value - self.lam * float(np.vdot(P, P)), gradient - 2.0 * self.lam * P

    def m_step(self, P: NDArray | None) -> Objective:
        """The concave objective (11) whose ``q`` comes from the metric ``P'P``.

        None stands for the start, where every unlabelled pair is taken as dissimilar.
        """
        return replace(self, terms=replace(self.terms, q=Posterior(P)))
