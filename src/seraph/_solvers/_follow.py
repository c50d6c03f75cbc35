"""Follow a maximum while the objective changes a little at a time.

Two things make the next maximum cheap: the last ones extrapolate to a good guess, and the
curvature learned on the way still holds.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np

from .._utils._typing import Array
from ._curvature import Curvature
from ._low_rank import low_rank, relative_slope
from ._psd import optimality_gap
from ._result import MatrixFunction, Result, Step

_SUFFICIENT_RISE = 1e-4  # share of the rise predicted by the gradient that a step must reach
_SHORTEST_SHARE = 1e-6
# Squared length of a new row, as a share of the mean over the others.
_NEW_ROW = 0.05
# Rows with less than this share of the longest row's squared length are dropped.
_NULL_ROW = 1e-8


@dataclass(frozen=True)
class _Point:
    """A factor, with the value of the objective and its gradient by the metric there."""

    P: Array
    value: float
    gradient: Array


class Follower:
    """Maximize one objective after the other, each a little further along a path.

    Parameters
    ----------
    max_iter : int
        Largest number of iterations for each objective.
    tol : float
        `optimality_gap` at which to stop.
    max_rank : int, optional
        Largest number of rows of the factor.
    """

    def __init__(self, *, max_iter: int, tol: float, max_rank: int | None = None) -> None:
        self.max_iter = max_iter
        self.tol = tol
        self.max_rank = max_rank
        self._curvature = Curvature()
        self._trail: deque[tuple[float, Array]] = deque(maxlen=3)

    def __call__(self, objective: MatrixFunction, at: float, P: Array | None = None) -> Result:
        """Maximize the objective at a place of the path.

        Parameters
        ----------
        objective : MatrixFunction
            What to maximize.
        at : float
            The place; places must be monotone.
        P : ndarray of shape (r, m), optional
            Factor to start from, instead of continuing the path.

        Returns
        -------
        Result
        """
        if P is not None:
            self._trail.clear()
            self._curvature.clear()
            found = self._from_scratch(objective, P)
        else:
            found = self._correct(objective, self._predicted(at))
            if not found.converged:  # the path bends here: treat it as a new problem
                self._curvature.clear()
                found = self._from_scratch(objective, found.P)
        if self._trail and len(self._trail[-1][1]) != len(found.P):
            self._trail.clear()
        self._trail.append((at, found.P))
        return found

    def _from_scratch(self, objective: MatrixFunction, P: Array) -> Result:
        return low_rank(
            objective,
            P,
            max_iter=self.max_iter,
            tol=self.tol,
            callback=_silent,
            max_rank=self.max_rank,
        )

    def _predicted(self, at: float) -> Array:
        """Extrapolate the last factors of the same rank to the new place."""
        last = self._trail[-1][1]
        if len(last) == 0:
            return last
        places = [place for place, _ in self._trail]
        guess = np.zeros_like(last)
        for place, P in self._trail:
            others = [other for other in places if other != place]
            share = np.prod([(at - other) / (place - other) for other in others])
            guess += share * _turned(P, last)
        return guess

    def _correct(self, objective: MatrixFunction, P: Array) -> Result:
        """Take quasi-Newton steps from a guess until the certificate holds."""
        max_rank = min(self.max_rank or objective.n_features, objective.n_features)
        capped = max_rank < objective.n_features
        steps: list[Step] = []
        here = _Point(P, *objective.by_metric(P))
        stalled = False
        while True:
            gap = optimality_gap(here.P, here.gradient, objective.scale)
            slope = 2.0 * here.P @ here.gradient
            flat = relative_slope(here.P, slope, objective.scale) <= 0.5 * self.tol
            done = gap <= self.tol or (capped and flat and len(here.P) == max_rank)
            if done or stalled or len(steps) >= self.max_iter:
                return Result(here.P, here.value, gap, done, steps)
            P, value = here.P, here.value
            if flat:
                wider = self._widened(objective, here, max_rank)
                if wider is None:
                    return Result(here.P, here.value, gap, False, steps)
                P, value, slope = wider
            n_before = len(steps)
            P = self._climb(objective, P, value, slope, steps)
            stalled = len(steps) == n_before  # only rounding errors are left to gain
            here = self._tidied(objective, P)

    def _climb(
        self, objective: MatrixFunction, P: Array, value: float, slope: Array, steps: list[Step]
    ) -> Array:
        """Climb until the gradient by the factor is flat, or no step helps."""
        while (
            relative_slope(P, slope, objective.scale) > 0.5 * self.tol
            and len(steps) < self.max_iter
        ):
            move = self._curvature.step(slope, 0.1 * float(np.linalg.norm(P)))
            promise = float(np.vdot(move, slope))
            share = 1.0
            while share >= _SHORTEST_SHARE:
                value_next, slope_next = objective.by_factor(P + share * move)
                if value_next >= value + _SUFFICIENT_RISE * share * promise:
                    break
                share /= 2.0
            else:
                self._curvature.clear()
                break
            self._curvature.learn(share * move, slope - slope_next)
            P, value, slope = P + share * move, value_next, slope_next
            steps.append(Step(value, len(P), share * float(np.linalg.norm(move))))
        return P

    def _tidied(self, objective: MatrixFunction, P: Array) -> _Point:
        """Make the rows orthogonal, and drop those that are shrinking to nothing."""
        turn = np.linalg.svd(P, full_matrices=False)[0].T
        self._curvature.turn(turn)
        P = turn @ P
        here = _Point(P, *objective.by_metric(P))
        squares = np.einsum("rm,rm->r", P, P)
        along = np.einsum("rm,rm->r", P @ here.gradient, P)
        keep = along >= -10.0 * self.tol * objective.scale * squares
        keep &= squares > _NULL_ROW * squares.max(initial=0.0)
        if keep.all():
            return here
        narrower = _Point(P[keep], *objective.by_metric(P[keep]))
        if narrower.value < here.value - 1e-12 * abs(here.value):
            return here
        self._curvature.turn(np.eye(len(P))[keep])
        return narrower

    def _widened(
        self, objective: MatrixFunction, here: _Point, max_rank: int
    ) -> tuple[Array, float, Array] | None:
        """Append the directions of ascent; return the factor, its value and gradient."""
        values, vectors = np.linalg.eigh(here.gradient)
        room = min(max_rank - len(here.P), int(np.sum(values > 0.5 * self.tol * objective.scale)))
        if room <= 0:
            return None
        values, rows = values[-room:], vectors[:, -room:].T
        mean_square = np.vdot(here.P, here.P) / len(here.P) if len(here.P) else 1.0
        squares = _NEW_ROW * mean_square * values / values[-1]
        while squares[-1] > 1e-12 * mean_square:
            P = np.vstack([here.P, np.sqrt(squares)[:, np.newaxis] * rows])
            value, slope = objective.by_factor(P)
            promise = float(np.vdot(squares, values))
            if value > here.value + 0.1 * promise:
                widen = np.eye(len(P))[:, : len(here.P)]
                self._curvature.turn(widen)
                return P, value, slope
            # The objective is nearly a parabola in the squared lengths: go to its peak.
            bend = value - here.value - promise
            squares *= np.clip(-promise / (2.0 * bend), 0.05, 0.5) if bend < 0.0 else 0.5
        return None


def _turned(P: Array, target: Array) -> Array:
    """Rotate the rows of `P` to be nearest to `target`; the metric stays the same."""
    left, _, right = np.linalg.svd(target @ P.T)
    return left @ right @ P


def _silent(step: Step, P: Array) -> None:
    pass
