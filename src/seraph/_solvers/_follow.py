"""Predictor-corrector continuation: follow the maximum along a path of objectives.

The predictor extrapolates the last maxima. The corrector is a quasi-Newton method whose curvature
pairs are kept from one objective to the next.
"""

from __future__ import annotations

from collections import deque

import numpy as np
from scipy.linalg import orthogonal_procrustes

from .._utils._eigen import eigh, svd
from .._utils._typing import Array
from ._ascent import NULL_ROW, Evaluator, find_idle_rows
from ._low_rank import low_rank
from ._psd import relative_slope
from ._quasi_newton import Curvature, backtrack
from ._result import CertifiedPoint, MatrixFunction, Result, Step, StoppingRule

# The constants here affect the number of iterations, not the result: the certificate decides when
# to stop, and where the corrector does not reach it, `low_rank` starts afresh.

# Smallest share of a quasi-Newton step that is tried; 20 halvings.
_SHORTEST_SHARE = 1e-6
# Norm of the first step, as a share of the factor's.
_FIRST_STEP = 0.1
# Squared norm of a new row, as a share of the mean over the others.
_NEW_ROW = 0.05
# A new row must raise the objective by this share of the first-order prediction.
_LEAST_RISE = 0.1


class Follower:
    """Maximize one objective after the other, each a little further along a path.

    `max_iter`, `tol` and `max_rank` are for each objective, as in `low_rank`.
    """

    def __init__(self, *, max_iter: int, tol: float, max_rank: int | None = None) -> None:
        self.max_iter = max_iter
        self.tol = tol
        self.max_rank = max_rank
        self._curvature = Curvature()
        self._trail: deque[tuple[float, Array]] = deque(maxlen=3)

    def __call__(self, objective: MatrixFunction, at: float, P: Array | None = None) -> Result:
        """Maximize the objective at a point of the path; `at` is monotone from call to call.

        Continue the path, unless a factor `P` to start from is given.
        """
        if P is not None:
            self._trail.clear()
            self._curvature.clear()
            found = self._start_afresh(objective, P)
        else:
            found = self._correct(objective, self._extrapolate(at))
            if not found.converged:  # the path bends here: start afresh
                self._curvature.clear()
                found = self._start_afresh(objective, found.P)
        if self._trail and len(self._trail[-1][1]) != len(found.P):
            self._trail.clear()
        self._trail.append((at, found.P))
        return found

    def _start_afresh(self, objective: MatrixFunction, P: Array) -> Result:
        return low_rank(objective, P, max_iter=self.max_iter, tol=self.tol, max_rank=self.max_rank)

    def _extrapolate(self, at: float) -> Array:
        """Extrapolate the last factors of the same rank to the new point of the path."""
        last = self._trail[-1][1]
        if len(last) == 0:
            return last
        places = [place for place, _ in self._trail]
        guess = np.zeros_like(last)
        for place, P in self._trail:
            others = [other for other in places if other != place]
            share = np.prod([(at - other) / (place - other) for other in others])
            turn, _ = orthogonal_procrustes(P.T, last.T)
            guess += share * turn.T @ P
        return guess

    def _correct(self, objective: MatrixFunction, P: Array) -> Result:
        """Take quasi-Newton steps from a guess until the certificate holds."""
        rule = StoppingRule.of(objective, self.tol, self.max_rank)
        evaluator = Evaluator(objective, rule, least_trace=0.0)
        steps: list[Step] = []
        here = CertifiedPoint.at(objective, P)
        stalled = False
        while True:
            slope = 2.0 * here.P @ here.gradient
            flat = relative_slope(here.P, slope, objective.scale) <= 0.5 * self.tol
            done = here.gap <= self.tol or (flat and rule.is_at_cap(here.P))
            if done or stalled or len(steps) >= self.max_iter:
                return here.result(steps, converged=done)
            P, value = here.P, here.value
            if flat:
                wider = self._widen(objective, here, rule.max_rank)
                if wider is None:
                    return here.result(steps, converged=False)
                P, value, slope = wider
            n_before = len(steps)
            P = self._climb(objective, P, value, slope, steps)
            stalled = len(steps) == n_before  # no progress beyond rounding errors
            here = self._tidy(evaluator, P)

    def _climb(
        self, objective: MatrixFunction, P: Array, value: float, slope: Array, steps: list[Step]
    ) -> Array:
        """Take steps until the gradient by the factor is small, or the line search fails."""
        while (
            relative_slope(P, slope, objective.scale) > 0.5 * self.tol
            and len(steps) < self.max_iter
        ):
            move = self._curvature.step(slope, _FIRST_STEP * float(np.linalg.norm(P)))
            found = backtrack(
                objective.by_factor,
                P,
                move,
                value,
                float(np.vdot(move, slope)),
                shortest=_SHORTEST_SHARE,
                least_cut=0.5,
            )
            if found is None:
                self._curvature.clear()
                break
            share, value, slope_next = found
            self._curvature.learn(share * move, slope - slope_next)
            P, slope = P + share * move, slope_next
            steps.append(Step(value, len(P), share * float(np.linalg.norm(move))))
        return P

    def _tidy(self, evaluator: Evaluator, P: Array) -> CertifiedPoint:
        """Make the rows orthogonal, and drop those that vanish in the limit."""
        turn = svd(P)[0].T
        self._curvature.turn(turn)
        P, objective = turn @ P, evaluator.objective
        here = CertifiedPoint.at(objective, P)
        squares = np.einsum("rm,rm->r", P, P)
        keep = squares > NULL_ROW * squares.max(initial=0.0)
        keep &= ~find_idle_rows(here, objective.scale, self.tol)
        if keep.all():
            return here
        narrower = CertifiedPoint.at(objective, P[keep])
        if not evaluator.is_as_good(narrower.value, here.value):
            return here
        self._curvature.turn(np.eye(len(P))[keep])
        return narrower

    def _widen(
        self, objective: MatrixFunction, here: CertifiedPoint, max_rank: int
    ) -> tuple[Array, float, Array] | None:
        """Append the directions of ascent; return the factor, its value and gradient."""
        slopes, vectors = eigh(here.gradient)
        room = min(max_rank - len(here.P), int(np.sum(slopes > 0.5 * self.tol * objective.scale)))
        if room <= 0:
            return None
        slopes, rows = slopes[-room:], vectors[:, -room:].T
        mean_square = np.vdot(here.P, here.P) / len(here.P) if len(here.P) else 1.0
        squares = _NEW_ROW * mean_square * slopes / slopes[-1]
        while squares[-1] > 1e-12 * mean_square:
            P = np.vstack([here.P, np.sqrt(squares)[:, np.newaxis] * rows])
            value, slope = objective.by_factor(P)
            promise = float(np.vdot(squares, slopes))
            if value > here.value + _LEAST_RISE * promise:
                widen = np.eye(len(P))[:, : len(here.P)]
                self._curvature.turn(widen)
                return P, value, slope
            # The objective is nearly quadratic in the squared norms: take its maximum.
            bend = value - here.value - promise
            squares *= np.clip(-promise / (2.0 * bend), 0.05, 0.5) if bend < 0.0 else 0.5
        return None
