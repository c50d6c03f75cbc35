"""What a user's callback sees after each iteration, and how it ends a fit."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .. import _solvers as solvers
from .._typing import Array


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
        ``optimality_gap_``. None for "projected-gradient", which has no estimate.
    elapsed : float
        Seconds since the solver started.
    components : ndarray of shape (rank, n_features)
        A factor P of the current metric ``P'P``. Unlike those of ``components_``, its rows
        need not be orthogonal.

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

    @property
    def rank(self) -> int:
        """Number of rows of the factor, as in ``history_``."""
        return len(self.components)


class Stopped(Exception):
    """The callback has ended the fit.

    Parameters
    ----------
    result : Result
        Where the solver was.
    s : float
        At which scale of the full model.
    """

    def __init__(self, result: solvers.Result, s: float) -> None:
        super().__init__(f"stopped after {len(result.steps)} iterations")
        self.result = result
        self.s = s


class Watch:
    """Calls the user's callback after each iteration.

    Parameters
    ----------
    callback : callable or None
        The user's callback.
    to_features : callable
        Turns a factor on the solvers' coordinates into one on the user's features.
    scale : float
        The objective's `scale` at the scale ``s = 1`` of the full model.
    """

    def __init__(
        self,
        callback: Callable[[FitState], object] | None,
        to_features: Callable[[Array], Array],
        scale: float,
    ) -> None:
        self.callback = callback
        self.to_features = to_features
        self.scale = scale
        self.steps: list[solvers.Step] = []
        self.started = time.perf_counter()

    def __call__(self, objective: solvers.MatrixFunction, step: solvers.Step, P: Array) -> None:
        """Report an iteration on an `objective` that has reached the factor `P`."""
        if self.callback is None:
            return
        self.steps.append(step)
        s = self.scale / objective.scale
        state = FitState(
            iteration=len(self.steps),
            objective=step.objective,
            gap=step.gap,
            elapsed=time.perf_counter() - self.started,
            components=self.to_features(P / np.sqrt(s)),
        )
        try:
            self.callback(state)
        except StopIteration:
            # Raised on as another exception, because scipy's solvers catch StopIteration.
            P = solvers.compress(P)
            value, gradient = objective.by_metric(P)
            gap = solvers.optimality_gap(P, gradient, objective.scale)
            result = solvers.Result(P, value, gap, False, self.steps, stopped=True)
            raise Stopped(result, s) from None
