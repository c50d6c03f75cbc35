"""Which term each pair has: all that a backend needs to know about the model."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, Protocol

import numpy as np

from .._utils._typing import Array
from ._list import PairList

# What a sum can be differentiated by.
Variable = Literal["metric", "factor", "threshold"]


@dataclass(frozen=True)
class Posterior:
    """Where the ``q`` of an M-step comes from: the metric before it, or none yet.

    Parameters
    ----------
    P : ndarray of shape (r, m) or None
        Factor of the metric of the last M-step; ``q`` is recomputed from it, tile by tile.
        None is the start of the EM-like scheme: ``q(-1) = 1`` for every pair.
    """

    P: Array | None = None


@dataclass(frozen=True)
class Sample:
    """A list of sampled unlabeled pairs, to sweep instead of all.

    Parameters
    ----------
    pairs : PairList
        Pairs of rows. Each is unlabeled and appears once.
    weight : float
        Number of unlabeled pairs that each represents.
    """

    pairs: PairList
    weight: float


@dataclass(frozen=True)
class PairTerms:
    """The terms of the pairs of an ordered table of points.

    Parameters
    ----------
    codes : ndarray of shape (k,)
        Class codes of the first k rows. A pair of two such rows is labeled: similar if the
        codes are equal, else dissimilar.
    pairs : ndarray of shape (l, 2)
        Further labeled pairs. Each is listed once, and at most one of its rows is among the
        first k. Sorted by the first row, they are summed faster if they are many.
    similar : ndarray of bool or float of shape (l,)
        Which of the listed pairs are similar, or how likely each of them is.
    eta : float
        Threshold of the model.
    mu : float
        Weight of the unlabeled pairs: all but those of the first k rows and the listed ones.
    q : Posterior or None
        None for the entropy in (7), else the source of the M-step's ``q`` in (11).
    sample : Sample or None
        The unlabeled pairs to sweep; None for all.
    share : float
        Share of the unlabeled pairs to sweep, for an estimate of the sum: of the sample, or else
        of all, in tiles. Then the rows after the first k must be in random order, except on a
        cluster.
    seed : int
        Which tiles these are, on a cluster.
    weights : ndarray of shape (l,) or None
        Weights of the listed pairs; None is 1 for all.
    """

    codes: Array
    pairs: Array = field(default_factory=lambda: np.empty((0, 2), dtype=np.intp))
    similar: Array = field(default_factory=lambda: np.empty(0, dtype=bool))
    eta: float = 1.0
    mu: float = 0.0
    q: Posterior | None = None
    sample: Sample | None = None
    share: float = 1.0
    weights: Array | None = None
    seed: int = 0

    @property
    def step(self) -> int:
        """Which pairs of the sample the share is: each one after so many."""
        return round(1.0 / self.share)

    @property
    def sampled(self) -> Sample | None:
        """The share of the sample."""
        if self.sample is None or self.step == 1:
            return self.sample
        pairs = self.sample.pairs.every(self.step)
        return Sample(pairs, self.sample.weight * len(self.sample.pairs) / len(pairs))


# Relative error of a sum over many pairs, by the precision its tiles are computed in.
ROUNDING = {"float32": 1e-7, "float64": 1e-12}


class Sweep(Protocol):
    """Sums over the pairs of some points: what every backend provides."""

    @property
    def name(self) -> str:
        """Name of the backend."""

    @property
    def device(self) -> str | None:
        """Device that it computes on, if there is a choice."""

    @property
    def n_sweeps(self) -> int:
        """Number of sweeps so far."""

    @property
    def n_features(self) -> int:
        """Number of columns of the points."""

    @property
    def rounding(self) -> float:
        """Relative error of a sum."""

    def scatter(self) -> Array | None:
        """Compute ``X'X`` in double precision; None if this backend is no faster than numpy."""

    def shares(self, terms: PairTerms, *, near: bool = False) -> tuple[float, ...]:
        """Shares of the unlabeled pairs for estimates of the sum, the smallest first.

        `near`: for a search that starts near the maximum.
        """

    def __call__(self, P: Array, terms: PairTerms, wrt: Variable) -> tuple[float, Array]:
        """Sum the pair terms under the metric ``P'P``, and differentiate the sum."""
