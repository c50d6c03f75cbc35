"""What a user's callback is shown after each iteration, and how it ends a fit."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _solvers as solvers


@dataclass(frozen=True)
class FitState:
    """Where a fit stands after an iteration; a ``callback`` is called with it.

    Parameters
    ----------
    iteration : int
        Number of the iteration, from 1 on, over all M-steps and all scales of the full model.
    objective : float
        Objective there, as in ``history_``.
    gap : float or None
        How far the solver thinks it is from the maximum, in the units of ``optimality_gap_``.
        None for "projected-gradient", which does not ask.
    elapsed : float
        Seconds since the solver set out.
    components : ndarray of shape (rank, n_features)
        A factor P of the metric ``P'P`` there. Its rows need not be orthogonal yet, as those
        of ``components_`` are.

    Examples
    --------
    >>> import numpy as np
    >>> from seraph import SERAPH
    >>> X = np.random.default_rng(0).normal(size=(30, 3))
    >>> y = np.where(np.arange(30) < 9, X[:, 0] > 0, -1)
    >>> states = []
    >>> learner = SERAPH(callback=states.append).fit(X, y)
    >>> states[0].iteration, states[0].components.shape[1]
    (1, 3)
    >>> states[-1].objective > states[0].objective
    True
    """

    iteration: int
    objective: float
    gap: float | None
    elapsed: float
    components: NDArray

    @property
    def rank(self) -> int:
        """Number of rows of the factor, as in ``history_``."""
        return len(self.components)


def check_callback(callback: Any) -> None:
    """Refuse a parameter `callback` that cannot be called."""
    if callback is not None and not callable(callback):
        raise ValueError(
            f"callback must be a function of one argument, or None; got {callback!r}."
        )


class Stopped(Exception):
    """The callback has ended the fit.

    Parameters
    ----------
    result : Result
        Where that was.
    s : float
        At which scale.
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
        Whom to call.
    to_features : callable
        From a factor on the solvers' coordinates to one on the user's features.
    scale : float
        Size that gradients are measured against, at the scale 1 of the full model.
    """

    def __init__(
        self,
        callback: Callable[[FitState], object] | None,
        to_features: Callable[[NDArray], NDArray],
        scale: float,
    ) -> None:
        self.callback = callback
        self.to_features = to_features
        self.scale = scale
        self.steps: list[solvers.Step] = []
        self.started = time.perf_counter()

    def __call__(self, objective: solvers.Objective, step: solvers.Step, P: NDArray) -> None:
        """Show an iteration with the objective it was for and the factor it has reached."""
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
            # As another exception, since scipy's solvers take that one for their own.
            P = solvers.compress(P)
            value, gradient = objective.by_metric(P)
            gap = solvers.optimality_gap(P, gradient, objective.scale)
            result = solvers.Result(P, value, gap, False, self.steps, stopped=True)
            raise Stopped(result, s) from None
