"""Which term each pair has: all that a backend needs to know about the model."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal, Protocol

import numpy as np

from .._utils._typing import Array
from ._lists import Listed
from ._plan import Plan, Strip

# Variables to differentiate a sum by.
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
class PairTerms:
    """The terms of the pairs of an ordered table of points.

    Parameters
    ----------
    codes : ndarray of shape (k,)
        Class codes of the first k rows. A pair of two such rows is labeled: similar if the
        codes are equal, else dissimilar.
    pairs : ndarray of shape (l, 2)
        Marked pairs, each once; at most one of the two rows is among the first k. Many pairs are
        summed faster if they are sorted by the first row.
    similar : ndarray of bool or float of shape (l,)
        Which of the marked pairs are similar, or the probability that they are.
    eta : float
        Threshold of the model.
    mu : float
        Weight of the unlabeled pairs: neither marked, nor of two of the first k rows.
    q : Posterior or None
        None for the entropy in (7), else the source of the M-step's ``q`` in (11).
    plan : Plan
        Which of the pairs to sum. The marked ones are always summed.
    weights : ndarray of shape (l,) or None
        Weights of the marked pairs; None is 1 for all.
    """

    codes: Array
    pairs: Array = field(default_factory=lambda: np.empty((0, 2), dtype=np.intp))
    similar: Array = field(default_factory=lambda: np.empty(0, dtype=bool))
    eta: float = 1.0
    mu: float = 0.0
    q: Posterior | None = None
    plan: Plan = field(default_factory=Plan)
    weights: Array | None = None

    @property
    def tiles_unlabeled(self) -> bool:
        """Whether the unlabeled pairs are summed in tiles: ``mu > 0``, and no list in the plan."""
        return self.mu > 0.0 and self.plan.listed is None

    def tiles(self, n: int, side: int, least_side: int) -> list[Strip]:
        """Cut the pairs of `n` rows into tiles, with the weights of their terms: see `Plan`."""
        mu = self.mu if self.tiles_unlabeled else 0.0
        return self.plan.tiles(n, len(self.codes), side, least_side, mu=mu)

    def lists(self) -> list[Listed]:
        """Return the pairs outside tiles: the marked ones, and the list of the plan."""
        plan, found = self.plan, []
        if len(self.pairs):
            # A tile has added the unlabeled term of a marked pair: subtract it.
            added = self.mu if self.tiles_unlabeled else 0.0
            found.append(Listed(self.pairs, self.similar, self.weights, -added))
        if self.mu > 0.0 and plan.listed is not None:
            weight = self.mu * plan.weight
            found.append(Listed(plan.listed, unlabeled=weight, step=plan.step))
        return found

    def samples(
        self, shape: tuple[int, int], *, near: bool = False
    ) -> list[tuple[float, PairTerms]]:
        """Return shares of the pairs, and terms that sum over these: see `Plan.samples`."""
        plans = self.plan.samples(shape, len(self.codes), unlabeled=self.mu > 0.0, near=near)
        return [(share, replace(self, plan=plan)) for share, plan in plans]


# Relative error of a sum over many pairs, by the precision its tiles are computed in.
ROUNDING = {"float32": 1e-7, "float64": 1e-12}


class Sweep(Protocol):
    """Sums over the pairs of some points, the interface of every backend.

    Attributes
    ----------
    name : str
        Name of the backend.
    device : str or None
        Device that it computes on; None for a backend that has only one.
    rounding : float
        Relative error of a sum: see `ROUNDING`.
    n_sweeps : int
        Number of calls so far.
    """

    name: str
    device: str | None = None
    rounding: float
    n_sweeps: int = 0

    @property
    def shape(self) -> tuple[int, int]:
        """Number of points and of their features."""

    def scatter(self) -> Array | None:
        """Compute ``X'X`` in double precision, or return None: then the caller does."""

    def __call__(self, P: Array, terms: PairTerms, wrt: Variable) -> tuple[float, Array]:
        """Sum the pair terms under the metric ``P'P``, and differentiate the sum.

        Parameters
        ----------
        P : ndarray of shape (r, m)
            Factor of the metric; r may be 0.
        terms : PairTerms
            The term of each pair.
        wrt : {"metric", "factor", "threshold"}
            Whether to differentiate by the metric ``A = P'P``, by ``P``, or by ``eta``.

        Returns
        -------
        value : float
            The sum.
        gradient : ndarray of shape (m, m), (r, m) or ()
            Its derivative, in double precision.
        """
