"""The low-rank solver on samples: most iterations sum over a small share of the terms.

A sample ``S`` estimates the objective ``F``, but has another maximum. A linear term corrects it:
with the gradients of both at ``A0``, the surrogate ::

    S(A) + <C, A>       C = grad F(A0) - grad S(A0)

has the gradient of F at A0, and nearly its Hessian. Its maximum is the next ``A0``. The gap
converges linearly in the number of sums over all terms; the rate is the relative error of the
Hessian of S, a few percent. (This is DANE, by Shamir, Srebro and Zhang 2014, with one machine.)
The sum over all terms also gives the certificate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from .._utils._typing import Array
from ._low_rank import low_rank
from ._psd import relative_slope
from ._result import Callback, CertifiedPoint, MatrixFunction, Result, Step, StoppingRule

# These constants affect the number of sums, not the certified metric:
# "Exact fits by way of samples" in benchmarks/RESULTS.md has the times.

# Gap to which the first sample is maximized; it estimates the objective no better.
_FIRST_TOL = 1e-2
# Later surrogates are maximized to this share of the gap over all terms, because their Hessian has
# an error of a few percent; but not below _LAST_TOL of `tol`.
_NEXT_TOL, _LAST_TOL = 0.03, 0.5
# A factor at which the sample's relative slope is below this is taken for a warm start.
_NEAR = 0.3
# A surrogate is abandoned where the trace grows by this factor: it may be unbounded.
_FARTHEST = 1e4
# A larger sample is taken unless each sum over all terms at least halves the gap.
_LEAST_GAIN = 0.5


def sampled_low_rank(
    objective: MatrixFunction,
    P: Array,
    *,
    max_iter: int,
    tol: float,
    callback: Callback,
    max_rank: int | None = None,
    samples: Sequence[tuple[float, MatrixFunction]] = (),
) -> Result:
    """Maximize like `low_rank`, and take most iterations on samples of the objective's terms.

    `samples` are shares of the terms and estimates of the objective from them, the smallest first;
    without any this is `low_rank`. `max_iter` bounds the iterations over all terms, and the
    iterations in a row over a sample.
    """
    search = _SampleSearch(objective, tol, callback, max_rank, max_iter)
    for share, sample in samples:
        P = search.climb_on(sample, share, P)
        if search.here is not None and (search.is_certified or search.n_whole >= max_iter):
            return search.here.result(search.steps, converged=search.is_certified)
    rest = low_rank(
        objective,
        P,
        max_iter=max_iter - search.n_whole,
        tol=tol,
        callback=callback,
        max_rank=max_rank,
    )
    return replace(rest, steps=search.steps + rest.steps)


class _SampleSearch:
    """The search over samples: its iterations, and the best factor evaluated over all terms.

    Attributes
    ----------
    here : CertifiedPoint or None
        The best factor so far at which all terms were summed.
    is_certified : bool
        Whether the solver may stop there.
    n_whole : int
        Number of sums over all terms.
    steps : list of Step
        The iterations.
    """

    def __init__(
        self,
        objective: MatrixFunction,
        tol: float,
        callback: Callback,
        max_rank: int | None,
        max_iter: int,
    ) -> None:
        self.objective, self.callback = objective, callback
        self.max_rank, self.max_iter = max_rank, max_iter
        self.rule = StoppingRule.of(objective, tol, max_rank)
        self.here: CertifiedPoint | None = None
        self.is_certified = False
        self.n_whole = 0
        self.steps: list[Step] = []

    def climb_on(self, sample: MatrixFunction, share: float, P: Array) -> Array:
        """Iterate from `P` on a sample while that is efficient; return the last factor."""
        if self.here is None and self._is_near(sample, P):
            self.here = self._sum_all(P, P)
        while not self.is_certified and self.n_whole < self.max_iter:
            here = self.here
            start = P if here is None else here.P
            try:
                found = self._maximize(sample, share, start)
            except RunAwayError:
                break
            if len(found.P) == 0:
                break  # that does not imply that the objective has its maximum at zero
            there = self._sum_all(found.P, start)
            if here is None or self.is_certified:
                self.here = there
                continue
            is_better = there.value >= here.value - self.objective.rounding * abs(here.value)
            is_slow = there.gap > _LEAST_GAIN * here.gap
            self.here = there if is_better else here
            if is_slow or not is_better:
                break
        return P if self.here is None else self.here.P

    def _is_near(self, sample: MatrixFunction, P: Array) -> bool:
        """Whether a factor is as good as the sample's own maximum, as a warm start is."""
        if P.size == 0:
            return False
        return relative_slope(P, sample.by_factor(P)[1], sample.scale) <= _NEAR

    def _maximize(self, sample: MatrixFunction, share: float, P: Array) -> Result:
        """Maximize a sample, or its surrogate once all terms have been summed."""
        here, tol = self.here, self.rule.tol
        if here is None:
            # The gap of the sample estimates that over all terms only down to its tolerance.
            known_gap = sample_tol = max(tol, _FIRST_TOL)
        else:
            known_gap, sample_tol = here.gap, max(_NEXT_TOL * here.gap, _LAST_TOL * tol)
            sample = Surrogate.at(sample, here.P, here.value, here.gradient)

        def after_iteration(step: Step, P: Array) -> None:
            gap = max(step.gap or 0.0, known_gap)
            self._report(replace(step, gap=gap, share=share), P)

        return low_rank(
            sample,
            P,
            max_iter=self.max_iter,
            tol=sample_tol,
            callback=after_iteration,
            max_rank=self.max_rank,
        )

    def _sum_all(self, P: Array, before: Array) -> CertifiedPoint:
        """Sum all terms at a factor that was reached from `before`: one iteration."""
        there = CertifiedPoint.at(self.objective, P)
        slope = relative_slope(P, 2.0 * P @ there.gradient, self.objective.scale)
        self.is_certified = self.rule.is_met(there, slope)
        self.n_whole += 1
        self._report(Step(there.value, len(P), _find_distance(P, before), there.gap), P)
        return there

    def _report(self, step: Step, P: Array) -> None:
        self.steps.append(step)
        self.callback(step, P)


class RunAwayError(Exception):
    """A surrogate has no maximum near the factor that it agrees with the objective at."""


@dataclass(frozen=True)
class Surrogate:
    """A sample plus ``<C, A>`` plus a constant.

    Parameters
    ----------
    sample : MatrixFunction
        The sample.
    C : ndarray of shape (m, m)
        Symmetric matrix.
    constant : float
        The constant.
    limit : float
        Largest trace of A. The surrogate may be unbounded; beyond the limit, `by_factor` raises a
        `RunAwayError`.
    """

    sample: MatrixFunction
    C: Array
    constant: float
    limit: float

    @classmethod
    def at(cls, sample: MatrixFunction, P: Array, value: float, gradient: Array) -> Surrogate:
        """Make the surrogate that has this value and gradient by A at the factor `P`."""
        of_sample, slope = sample.by_metric(P)
        C = gradient - slope
        constant = value - of_sample - float(np.vdot(P @ C, P))
        return cls(sample, C, constant, _FARTHEST * float(np.vdot(P, P)))

    @property
    def n_features(self) -> int:
        """Order of the matrix."""
        return self.sample.n_features

    @property
    def scale(self) -> float:
        """Unit of the gradient's eigenvalues in the gap."""
        return self.sample.scale

    @property
    def rounding(self) -> float:
        """Relative error of a value."""
        return self.sample.rounding

    def by_metric(self, P: Array) -> tuple[float, Array]:
        """Compute the value and the gradient by A."""
        value, gradient = self.sample.by_metric(P)
        return value + self._shift(P), gradient + self.C

    def by_factor(self, P: Array) -> tuple[float, Array]:
        """Compute the value and the gradient by P."""
        if not float(np.vdot(P, P)) <= self.limit:
            raise RunAwayError
        value, gradient = self.sample.by_factor(P)
        return value + self._shift(P), gradient + 2.0 * P @ self.C

    def _shift(self, P: Array) -> float:
        return self.constant + float(np.vdot(P @ self.C, P))


def _find_distance(P: Array, before: Array) -> float:
    """Smallest distance of two factors over rotations of their rows.

    ``|P|^2 + |Q|^2 - 2 |P Q'|_*``, the orthogonal Procrustes problem.
    """
    shared = float(np.linalg.norm(P @ before.T, "nuc"))
    squared = float(np.vdot(P, P)) + float(np.vdot(before, before)) - 2.0 * shared
    return float(np.sqrt(max(squared, 0.0)))
