"""The low-rank solver: L-BFGS on a factor of few rows, more until the certificate holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from .._pairs import library, like
from .._utils._typing import AnyArray
from ._lbfgs import Curvature, backtrack
from ._psd import dots, gap_of, norm, relative_slope, rising, turn_to_axes
from ._result import Callback, MatrixFunction, Result, Step, ignore

# Rows with less than this share of the longest row's squared length are dropped. If they were
# needed, the certificate, which is computed without them, fails, and rows are appended again.
_NULL_ROW = 1e-8
# A row vanishes in the limit if the derivative along it is below this multiple of the tolerance.
# Every _TIDY iterations, such rows with less than a share _SHORT of the mean squared length are
# dropped: sums cost as much as there are rows.
_IDLE_ROW, _TIDY, _SHORT = -10.0, 10, 0.2
# The certificate is computed when the slope has fallen to this multiple of the tolerance, then
# each time that it has fallen by the factor _SOONER, and at the latest after _PATIENCE iterations.
# Where the gap is above _NARROW times the slope, the rank is too low: it is not worth
# converging before the factor is wider. A factor from which rows were dropped is wide enough, so
# there is no need to look before the slope is at its tolerance.
_FIRST_LOOK, _SOONER, _PATIENCE, _NARROW = 10.0, 0.1, 40, 2.0
# Norm of the first step, and of new rows, as a share of the factor's.
_FIRST_STEP, _NEW_ROWS = 0.1, 0.1
# Smallest share of a quasi-Newton step that is tried.
_SHORTEST = 1e-6
# A metric whose trace falls below this share of the first one is compared with the zero metric.
_ZERO_TRACE = 1e-4
# Slopes below this, a few hundred times the machine epsilon, are rounding errors.
_LOWEST_SLOPE = 1e-13
# The search stalls after this number of iterations since the value last rose beyond its rounding
# error, or the slope last fell below _LESS times its value then.
_IDLE_ITERATIONS, _LESS = 15, 0.7


class Point(NamedTuple):
    """A factor, with the value, its gradient and the `relative_slope` there."""

    P: AnyArray
    value: float
    gradient: AnyArray
    slope: float


@dataclass(frozen=True)
class Certificate:
    """The gradient with respect to the metric, its directions of ascent, and the gap.

    `turn` is the matrix that the factor was multiplied by to make its rows orthogonal.
    """

    P: AnyArray
    value: float
    gradient: AnyArray
    slopes: AnyArray
    directions: AnyArray
    gap: float
    turn: AnyArray


def low_rank(
    objective: MatrixFunction,
    P: AnyArray,
    *,
    max_iter: int,
    tol: float,
    callback: Callback = ignore,
    max_rank: int | None = None,
) -> Result:
    """Maximize over the factor ``P`` of ``A = P'P``, with as few rows as the maximum needs.

    A stationary P is a maximum over all metrics if no eigenvalue of the gradient with respect to A
    is positive (Journee, Bach, Absil, Sepulchre 2010). If some are, the objective rises along
    their eigenvectors, which become new rows of P. Negligible rows are dropped.

    P has at most `max_rank` rows. If these are fewer than the features, a metric at this limit
    counts as converged when it is stationary, whatever the full gradient is. The result has
    `stalled` if rounding errors prevent further progress.
    """
    search = _Search(objective, P, max_iter, tol, callback, max_rank)
    while True:
        certificate, stalled = search.ascend()
        at_cap = len(certificate.P) == search.max_rank < objective.n_features
        converged = certificate.gap <= tol or (at_cap and search.point.slope <= tol)
        is_over = converged or len(search.steps) >= max_iter
        if not (is_over or search.widen(certificate)):
            # Short rows make the gradient with respect to P small where that with respect to A is
            # large: continue, unless rounding errors are all that is left.
            is_over = stalled = stalled or search.slope_tol <= _LOWEST_SLOPE
            search.slope_tol *= 0.1
        if is_over:
            certificate = search.or_zero(certificate)
            P, value, gap = certificate.P, certificate.value, certificate.gap
            stalled = stalled and not converged and len(search.steps) < max_iter
            return Result(P, value, gap, converged, search.steps, stalled=stalled)


class _Search:
    """The state of the search: the current point, the curvature and the iterations so far."""

    def __init__(
        self,
        objective: MatrixFunction,
        P: AnyArray,
        max_iter: int,
        tol: float,
        callback: Callback,
        max_rank: int | None,
    ) -> None:
        self.objective, self.tol, self.callback = objective, tol, callback
        self.max_iter = max_iter
        self.max_rank = min(max_rank or objective.n_features, objective.n_features)
        self.slope_tol = 0.5 * tol
        self.least_trace = _ZERO_TRACE * dots((P, P))[0]
        self.curvature = Curvature()
        self.steps: list[Step] = []
        self.point = self._evaluate(P)
        self.is_wide = False  # whether the factor had rows to spare
        self.known_gap = _FIRST_LOOK * tol  # above it, the slope is shown
        self.highest, self.lowest, self.n_idle = self.point.value, self.point.slope, 0

    def _evaluate(self, P: AnyArray, base: Point | None = None) -> Point:
        """Evaluate the objective; take its difference to `base` from gradients if it is rounding.

        Near a maximum, values differ by less than their rounding errors long before gradients do.
        The trapezoidal rule then gives the difference more precisely.
        """
        value, gradient = self.objective.value_and_factor_gradient(P)
        slope = relative_slope(P, gradient, self.objective.scale)
        if base is not None:
            noise = self.objective.rounding * abs(base.value)
            if abs(value - base.value) <= noise:
                value = base.value + 0.5 * dots((gradient + base.gradient, P - base.P))[0]
        return Point(P, value, gradient, slope)

    def ascend(self) -> tuple[Certificate, bool]:
        """Run L-BFGS with this number of rows; return where it ends, and whether it stalled."""
        # The certificate takes an eigendecomposition, and is computed when the slope along P has
        # fallen tenfold: for tol = 1e-3, at 1e-2 and 1e-3. Slope s and gap g then tell what is
        # missing. g <= tol: nothing. g > 2 s: this rank is nearly solved, and what is left to gain
        # are other directions, so the factor becomes wider. Else: more steps at this rank.
        look_at = min(_FIRST_LOOK * self.tol, _SOONER * self.point.slope)
        looked = len(self.steps)
        while (
            len(self.point.P)
            and len(self.steps) < self.max_iter
            and self.point.slope > self.slope_tol
        ):
            if not self._step() or self.n_idle >= _IDLE_ITERATIONS:
                return self._certify(), True
            if len(self.steps) % _TIDY == 0:
                self._tidy()
            is_due = self.point.slope <= look_at and not self.is_wide
            if is_due or len(self.steps) - looked >= _PATIENCE:
                certificate = self._certify()
                self._adopt(certificate)
                room = len(certificate.P) < self.max_rank
                if certificate.gap <= self.tol:
                    return certificate, False
                if room and certificate.gap > _NARROW * self.point.slope:
                    return certificate, False
                look_at, looked = _SOONER * self.point.slope, len(self.steps)
        return self._certify(), False

    def _step(self) -> bool:
        """Take a quasi-Newton step; False if none raises the objective."""
        point = self.point
        for attempt in range(2):
            move = self.curvature.step(point.gradient, _FIRST_STEP * norm(point.P))
            promise, square = dots((move, point.gradient), (move, move))
            trial = None
            if promise > 0.0:
                trial = backtrack(
                    lambda P: ((there := self._evaluate(P, point)).value, there),
                    point.P,
                    move,
                    point.value,
                    promise,
                    shortest=_SHORTEST,
                )
            if trial is not None:
                share, _, there = trial
                self.curvature.learn(share * move, point.gradient - there.gradient)
                self.point = there
                self._report(share * square**0.5)
                return True
            if attempt or not self.curvature.places:
                break
            self.curvature.clear()  # and try along the gradient
        return False

    def _tidy(self) -> None:
        """Drop short rows that shrink, if the objective does not fall."""
        point = self.point
        turn = turn_to_axes(point.P, _NULL_ROW)
        P, gradient = turn @ point.P, turn @ point.gradient
        if len(P) == 0:
            return
        squares = (P * P).sum(-1)
        limit = 2.0 * _IDLE_ROW * self.tol * self.objective.scale
        idle = ((gradient * P).sum(-1) < limit * squares) & (squares < _SHORT * squares.mean())
        if not bool(idle.any()):
            return
        there = self._evaluate(P[~idle])
        if there.value >= point.value:
            self.point, self.is_wide = there, True
            self.curvature.turn(turn[~idle])

    def _report(self, length: float) -> None:
        value, slope = self.point.value, self.point.slope
        rises = value > self.highest + self.objective.rounding * abs(value)
        self.n_idle += 1
        if rises or slope < _LESS * self.lowest:
            self.highest, self.lowest, self.n_idle = max(value, self.highest), slope, 0
        gap = max(slope, self.known_gap)
        self.steps.append(Step(self.point.value, len(self.point.P), length, gap))
        self.callback(self.steps[-1], self.point.P)

    def _certify(self) -> Certificate:
        """Drop the rows that are negligible or vanish in the limit; compute the certificate.

        Returns the zero metric if it is as good: a factor converges to zero only in the limit,
        because its gradient shrinks with it.
        """
        turn = turn_to_axes(self.point.P, _NULL_ROW)
        P, value, gradient = self._turned(turn)
        # The slope along a row p is 2 p G p' / |p|: where p G p' is far below 0, the row shrinks
        # at every step, and would reach 0 only in the limit.
        keep = ((P @ gradient) * P).sum(-1) >= (
            _IDLE_ROW * self.tol * self.objective.scale * (P * P).sum(-1)
        )
        if dots((P, P))[0] <= self.least_trace:
            keep = keep & False
        if not bool(keep.all()):
            there = self._turned(turn[keep])
            if self._is_as_good(there[1], value):
                turn, (P, value, gradient) = turn[keep], there
        slopes, directions = rising(gradient)
        top = float(slopes[-1]) if len(slopes) else 0.0
        self.known_gap = gap_of(P, gradient, top, self.objective.scale)
        return Certificate(P, value, gradient, slopes, directions, self.known_gap, turn)

    def or_zero(self, certificate: Certificate) -> Certificate:
        """Return the certificate of the zero metric if it is as good."""
        zero = self._evaluate(certificate.P[:0])
        if len(certificate.P) == 0 or not self._is_as_good(zero.value, certificate.value):
            return certificate
        self.point = zero
        return self._certify()

    def _is_as_good(self, value: float, other: float) -> bool:
        return value >= other - self.objective.rounding * abs(other)

    def _turned(self, turn: AnyArray) -> tuple[AnyArray, float, AnyArray]:
        P = turn @ self.point.P
        return P, *self.objective.value_and_gradient(P)

    def _adopt(self, certificate: Certificate) -> None:
        """Continue from a certified point, with the curvature that is known."""
        self.curvature.turn(certificate.turn)
        P, gradient = certificate.P, 2.0 * certificate.P @ certificate.gradient
        slope = relative_slope(P, gradient, self.objective.scale)
        self.point = Point(P, certificate.value, gradient, slope)

    def widen(self, certificate: Certificate) -> bool:
        """Append all directions of ascent, so short that the objective rises; False if none."""
        if self.point.P.shape != certificate.P.shape or self.point.P is not certificate.P:
            self._adopt(certificate)
        P, xp = certificate.P, library(certificate.P)
        room = self.max_rank - len(P)
        rising = int((certificate.slopes > 0.5 * self.tol * self.objective.scale).sum())
        count = min(room, rising)
        if count <= 0:
            return False
        rows = certificate.directions[:, -count:].T
        length = _NEW_ROWS * norm(P) / len(P) ** 0.5 if len(P) else 1.0
        while length > _SHORTEST * max(norm(P), 1.0) * 1e-3:
            wider = xp.concatenate([P, length * rows])
            there = self._evaluate(wider)
            if self._is_as_good(there.value, certificate.value):
                pad = xp.concatenate([xp.eye(len(P)), xp.zeros((count, len(P)))])
                self.curvature.turn(like(pad, P))
                self.point, self.n_idle, self.is_wide = there, 0, False
                return True
            length /= 2.0
        return False
