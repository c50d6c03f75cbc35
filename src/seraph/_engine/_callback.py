"""The user's callback: its argument after each iteration, and how it ends a fit."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .. import _solvers as solvers
from .._utils._typing import Array
from ._objective import FullModel, Objective


@dataclass(frozen=True)
class FitState:
    """The state of a fit after an iteration, passed to the ``callback``.

    Parameters
    ----------
    iteration : int
        Number of the iteration, from 1 on, counted over all M-steps and all scales of the
        full model.
    objective : float
        Value of the objective, as in ``history_``.
    gap : float or None
        The solver's estimate of the distance to the maximum, in the units of
        ``optimality_gap_``. It falls to ``tol`` only where the fit stops. None for
        "projected-gradient", which has no estimate.
    elapsed : float
        Seconds since the solver started.
    components : ndarray of shape (rank, n_features)
        A factor P of the current metric ``P'P``; its rows are orthogonal, longest first.
    share : float
        Share of the unlabeled pairs that the iteration summed over, as in ``history_``.

    Examples
    --------
    >>> import numpy as np
    >>> from seraph import SERAPH
    >>> X = np.random.default_rng(0).normal(size=(30, 3))
    >>> y = np.where(np.arange(30) < 9, X[:, 0] > 0, -1)
    >>> states = []
    >>> learner = SERAPH(callback=states.append).fit(X, y)
    >>> states[0].iteration, len(states) == learner.n_iter_
    (1, True)
    """

    iteration: int
    objective: float
    gap: float | None
    elapsed: float
    components: Array
    share: float = 1.0

    @property
    def rank(self) -> int:
        """Rank of the metric, as in ``history_``."""
        return len(self.components)


class Interruptible:
    """A ``callback`` with which Ctrl-C ends a fit and keeps the best metric so far.

    Without it, Ctrl-C raises `KeyboardInterrupt` and leaves the learner as it was. With it, the
    learner has the metric of the best iteration, ``stopped_`` is True, and ``optimality_gap_`` is
    the solver's estimate. A checkpoint stays in either case, so the fit can be resumed. In the
    first iteration, and within the cross-validation of ``SERAPHCV``, Ctrl-C still raises: there is
    no metric to keep yet.

    Parameters
    ----------
    callback : callable, optional
        Called after each iteration with the `FitState`, like any other callback.

    Examples
    --------
    >>> import numpy as np
    >>> from seraph import SERAPH, Interruptible
    >>> X = np.random.default_rng(0).normal(size=(30, 3))
    >>> y = np.where(np.arange(30) < 9, X[:, 0] > 0, -1)
    >>> def press_ctrl_c(state):
    ...     if state.iteration == 4:
    ...         raise KeyboardInterrupt
    >>> learner = SERAPH(callback=Interruptible(press_ctrl_c)).fit(X, y)
    >>> learner.stopped_, learner.n_iter_
    (True, 4)
    """

    def __init__(self, callback: Callable[[FitState], object] | None = None) -> None:
        self.callback = callback

    def __call__(self, state: FitState) -> None:
        """Pass the state on."""
        if self.callback is not None:
            self.callback(state)


class Stopped(Exception):
    """The callback has ended the fit: `found` is the result, and the scale of the full model."""

    def __init__(self, found: tuple[solvers.Result, float]) -> None:
        super().__init__(f"stopped after {len(found[0].steps)} iterations")
        self.found = found


class Watch:
    """Calls the user's callback after each iteration, and remembers the best metric.

    `to_features` turns a factor on the solvers' coordinates into one on the user's features.
    """

    def __init__(
        self,
        callback: Callable[[FitState], object] | None,
        to_features: Callable[[Array], Array],
        model: FullModel,
    ) -> None:
        self.callback = callback
        self.to_features = to_features
        self.model = model
        self.steps: list[solvers.Step] = []
        self.started = time.perf_counter()
        self._best: tuple[Objective, solvers.Step, Array] | None = None

    def __call__(self, objective: Objective, step: solvers.Step, P: Array) -> None:
        """Report an iteration on an `objective` that has reached the factor `P`."""
        if self.callback is None:
            return
        self.steps.append(step)
        self._remember(objective, step, P)
        state = FitState(
            iteration=len(self.steps),
            objective=step.objective,
            gap=step.gap,
            elapsed=time.perf_counter() - self.started,
            components=self.to_features(solvers.compress(P) / np.sqrt(self._scale(objective))),
            share=step.share,
        )
        try:
            self.callback(state)
        except StopIteration:
            # Re-raised under another type, because scipy's solvers catch StopIteration.
            P = solvers.compress(P)
            value, gradient = objective.by_metric(P)
            gap = solvers.optimality_gap(P, gradient, objective.scale)
            raise Stopped(self._end(objective, P, value, gap)) from None

    def _remember(self, objective: Objective, step: solvers.Step, P: Array) -> None:
        """Keep the best iterate on the current objective and sample."""
        if self._best is not None:
            before, best, _ = self._best
            comparable = before is objective and best.share == step.share
            if comparable and best.objective > step.objective:
                return
        self._best = objective, step, P

    def end_at_best(self) -> tuple[solvers.Result, float] | None:
        """End at the best iterate; None without `Interruptible`, or before the first iteration.

        The gap is the solver's estimate: a certificate would take another sweep.
        """
        if self._best is None or not isinstance(self.callback, Interruptible):
            return None
        objective, step, P = self._best
        gap = np.inf if step.gap is None else step.gap
        return self._end(objective, solvers.compress(P), step.objective, gap)

    def _end(
        self, objective: Objective, P: Array, value: float, gap: float
    ) -> tuple[solvers.Result, float]:
        """Return the result, its value minus the prior, and the scale of an ended fit."""
        s = self._scale(objective)
        value -= self.model.prior(s)
        return solvers.Result(P, value, gap, False, self.steps, stopped=True), s

    def _scale(self, objective: Objective) -> float:
        """Return the scale of the full model that an objective is for."""
        return self.model.simplified.scale / objective.scale
