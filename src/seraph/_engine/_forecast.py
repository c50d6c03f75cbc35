"""Reports of a running fit: its iterations, and a forecast if it will be long."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, field
from importlib.util import find_spec

from .. import _solvers as solvers
from ._problem import Problem
from ._sampling_error import can_shorten
from ._settings import Settings

_logger = logging.getLogger("seraph")
# A fit is announced if it will take longer than this many seconds.
_LONG = 30.0
# Typical numbers of sweeps of a fit: over all pairs and over samples; and over all pairs, without
# samples. They affect a message, not a result.
_SWEEPS, _SAMPLE_SWEEPS, _PLAIN_SWEEPS = 4, 70, 45
# Typical number of M-steps of the EM-like scheme, and of fits in the search for kappa.
_TIMES_EM, _TIMES_FULL = 4, 8


@dataclass
class Progress:
    """Print a line after each iteration, for ``verbose=1``.

    Parameters
    ----------
    name : str
        Name to print in front.
    total : int
        Largest number of iterations, which bounds the time left.
    """

    name: str
    total: int
    done: int = 0
    started: float = field(default_factory=time.perf_counter)

    def __call__(self, step: solvers.Step) -> None:
        """Print the line of one iteration."""
        self.done += 1
        elapsed = time.perf_counter() - self.started
        left = elapsed / self.done * max(0, self.total - self.done)
        gap = "" if step.gap is None else f"gap {step.gap:.1e}  "
        print(
            f"[{self.name}] {self.done}/{self.total}  objective {step.objective:.6g}  "
            f"rank {step.rank}  {gap}{elapsed:.1f} s, at most {left:.1f} s left",
            flush=True,
        )


class Forecast:
    """Announces a long fit, once.

    The first iteration is not counted: it may include the time to compile the sweep. `n_points` is
    the number of all points, and `is_near` says that the fit continues from an earlier one.
    """

    def __init__(
        self, problem: Problem, settings: Settings, n_points: int, *, is_near: bool
    ) -> None:
        self.problem, self.settings, self.is_near = problem, settings, is_near
        self.n_points = n_points
        self._first: tuple[float, int] | None = None
        self._is_done = False

    def __call__(self, step: solvers.Step) -> None:
        """Announce the fit after its second iteration, if it is a long one."""
        if self._is_done:
            return
        now = time.perf_counter(), self.problem.pairs.sweep.n_sweeps
        if self._first is None:
            self._first = now
            return
        self._is_done = True
        seconds, n_sweeps = (a - b for a, b in zip(now, self._first, strict=True))
        left = self._count_sweeps() * seconds / max(n_sweeps, 1) / step.share
        if left > _LONG:
            advice = self._suggest()
            shorter = f" Shorter: {', '.join(advice)}." if advice else ""
            _logger.warning(
                "%s: about %s left, for %s points.%s",
                self.settings.name,
                _in_words(left),
                f"{self.n_points:,}",
                shorter,
            )

    def _count_sweeps(self) -> float:
        """Estimate the number of sweeps over all pairs in the fit."""
        samples = self.problem.pairs.samples(near=self.is_near)
        is_sampled = bool(samples) and self.settings.method.uses_samples
        sweeps = _SWEEPS + _SAMPLE_SWEEPS * samples[0][0] if is_sampled else _PLAIN_SWEEPS
        if self.settings.method.m_steps:
            return _TIMES_EM * sweeps
        return sweeps if self.settings.gamma is None else _TIMES_FULL * sweeps

    def _suggest(self) -> list[str]:
        settings, coordinates = self.settings, self.problem.coordinates
        on_gpu = (settings.device or "").startswith("cuda")
        advice = []
        if can_shorten(self.problem, settings):
            advice.append('unlabeled_pairs="auto"')
        if coordinates.array.dtype == "float64":
            advice.append("X in float32")
        if settings.backend == "numpy" and find_spec("numba") is None:
            advice.append('numba (pip install "seraph-learn[numba]")')
        if settings.backend in ("numpy", "numba") and settings.n_jobs in (None, 1):
            advice.append("n_jobs=-1 if cores are free")
        if not on_gpu and settings.backend != "dask":
            advice.append('a GPU (backend="torch")')
        return advice


def _in_words(seconds: float) -> str:
    """Round a time to words.

    Examples
    --------
    >>> _in_words(42.0), _in_words(200.0), _in_words(9000.0)
    ('40 s', '3 min', '2.5 h')
    """
    if seconds < 90.0:
        return f"{round(seconds, -1):.0f} s"
    return f"{seconds / 60.0:.0f} min" if seconds < 5400.0 else f"{seconds / 3600.0:.1f} h"
