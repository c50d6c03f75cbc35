"""Which term each pair carries: all that a backend has to know of the model's settings."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

# What a sum can be differentiated by.
Variable = Literal["metric", "factor", "threshold"]


@dataclass(frozen=True)
class Posterior:
    """Where the M-step's ``q`` comes from: a frozen metric, or none yet.

    Parameters
    ----------
    P : ndarray of shape (r, m) or None
        Factor of the metric of the last M-step; ``q`` is recomputed from it, tile by tile.
        None stands for the start of the EM-like scheme: ``q(-1) = 1`` for every pair.
    """

    P: NDArray | None = None


@dataclass(frozen=True)
class Sample:
    """Some of the unlabelled pairs, in the place of all.

    Parameters
    ----------
    pairs : ndarray of shape (l, 2)
        Pairs of rows, each once and none of them labelled, ordered by the first row.
    weight : float
        How many unlabelled pairs each stands for.
    """

    pairs: NDArray
    weight: float


@dataclass(frozen=True)
class PairTerms:
    """The terms of the pairs of an ordered table of points.

    Parameters
    ----------
    codes : ndarray of shape (k,)
        Class codes of the first k rows. A pair of two such rows is labelled: similar where
        the codes are equal.
    pairs : ndarray of shape (l, 2)
        Listed pairs; no pair stands twice, and none has both its rows among the first k.
    similar : ndarray of bool of shape (l,)
        Which of the listed pairs are similar.
    eta : float
        Threshold of the model.
    mu : float
        Weight of the unlabelled pairs, those neither among the first k rows nor listed.
    q : Posterior or None
        None for the entropy of (7), else the source of the M-step's ``q`` in (11).
    sample : Sample or None
        The unlabelled pairs that are swept; None for all.
    """

    codes: NDArray
    pairs: NDArray = field(default_factory=lambda: np.empty((0, 2), dtype=np.intp))
    similar: NDArray = field(default_factory=lambda: np.empty(0, dtype=bool))
    eta: float = 1.0
    mu: float = 0.0
    q: Posterior | None = None
    sample: Sample | None = None


# Relative error of a sum over many pairs, by the precision its tiles are computed in.
ROUNDING = {"float32": 1e-7, "float64": 1e-12}


class Sweep(Protocol):
    """Sums over the pairs of some points; every backend is one."""

    @property
    def name(self) -> str:
        """Name of the backend."""

    @property
    def device(self) -> str | None:
        """Where it computes, if there is a choice."""

    @property
    def n_sweeps(self) -> int:
        """How often the pairs were swept."""

    @property
    def n_features(self) -> int:
        """Number of columns of the points."""

    @property
    def rounding(self) -> float:
        """Relative error of a sum."""

    def __call__(self, P: NDArray, terms: PairTerms, wrt: Variable) -> tuple[float, NDArray]:
        """Sum of the pair terms under ``P'P``, and its derivative."""
