"""Squared distances, and functions of the distance of a pair: the terms of every sum over pairs.

A function stands once, in a form that numpy, torch and the compiled loop share. A new one is a
subclass of `PairFunction`, in one file, as `Hinge` in ``tests/pairs/test_functions.py``. Below are
those of SERAPH, the model of a pair in (7) to (11) of Niu et al. (2012); ITML and GDM have theirs.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

import numpy as np

from .._utils._tiles import row_slices
from .._utils._typing import AnyArray, Array

# Takes t, q and `numbers`; returns the part, the factor and the derivative of each pair.
Formula = Callable[[Any, Any, tuple[float, ...]], tuple[Any, Any, Any]]

# A pair that is left out of a sum has this t. It is farther than any pair of points can be, also
# where the threshold is large.
FAR = 1e30
# The code of a row of unknown class, and of a row that only fills the last block.
UNKNOWN, PADDING = -1, -2
# Numbers in memory at a time: 512 KB of doubles, which fit the cache.
CHUNK = 1 << 16
# ||a||^2 + ||b||^2 - 2 a'b has an absolute error of about 1e-16 times the largest squared norm.
# So it has 8 digits down to this share of that norm; smaller ones are computed from differences.
CLOSE = 1e-8
# This number of factors in (1, 2] can be multiplied without overflow, in double precision.
_FACTORS = 1000


def library(a: AnyArray) -> Any:
    """Return the library of an array: numpy, or torch for a tensor."""
    if isinstance(a, np.ndarray) or type(a).__module__.partition(".")[0] != "torch":
        return np
    return sys.modules["torch"]


def wide(a: AnyArray) -> Any:
    """Return the type to add up the numbers of an array in: float64, where the device has it."""
    xp = library(a)
    return xp.float32 if xp is not np and a.device.type == "mps" else xp.float64


def like(a: Any, other: AnyArray) -> AnyArray:
    """Return an array of the library, type and device of another one."""
    if library(other) is np:
        return np.asarray(a, dtype=other.dtype)
    return library(other).as_tensor(a, dtype=other.dtype, device=other.device)


def squared_distances(A: Array, B: Array) -> Array:
    """Return the squared distance between each row of `A` and each row of `B`.

    Both may be stacks of matrices. A point is at 0 from itself, and close points have a distance
    above 0 that can be divided by.
    """
    norms, others = (np.einsum("...ir,...ir->...i", a, a) for a in (A, B))
    d2: Array = sums_less_products(norms, others, A, B)
    return with_short_ones(d2, 0.0, A, B, max(norms.max(initial=0.0), others.max(initial=0.0)))


def sums_less_products(first: AnyArray, second: AnyArray, A: AnyArray, B: AnyArray) -> AnyArray:
    """Return ``first_i + second_j - 2 a_i'b_j``: a squared distance, by a matrix product."""
    t = A @ (-2.0 * B.swapaxes(-1, -2))
    t += first[..., None]
    t += second[..., None, :]
    return t


def with_short_ones(t: AnyArray, eta: float, A: AnyArray, B: AnyArray, largest: float) -> AnyArray:
    """Correct the ``t = d2 - eta`` of close points, from differences, in place.

    `largest` is the largest squared norm of the points.
    """
    xp = library(t)
    close = (t <= CLOSE * largest - eta).reshape(-1)
    close = np.flatnonzero(close) if xp is np else close.nonzero()[:, 0]
    for part in row_slices(len(close), CHUNK // max(1, A.shape[-1])):
        *stack, i, j = xp.unravel_index(close[part], t.shape)
        gaps = A[*stack, i] - B[*stack, j]
        t[*stack, i, j] = (gaps * gaps).sum(-1) - eta
    return t


class PairFunction(ABC):
    """A function phi of ``t = d2 - eta`` of a pair and of its label q, 1 for similar.

    Where a sum over blocks has another metric, the frozen one of an M-step, q is the t of the pair
    under that metric.
    """

    # Whether phi and its derivative are 0 at `FAR`; if not, they are set to 0, which takes time.
    vanishes: ClassVar[bool] = False
    # Whether close points matter, as for roots and logarithms of a distance: short distances are
    # then computed from differences, and keep their digits.
    is_sharp: ClassVar[bool] = False

    @property
    def numbers(self) -> tuple[float, ...]:
        """The parameters, which the formula takes."""
        return ()

    @staticmethod
    @abstractmethod
    def formula(xp: Any) -> Formula:
        """Return a function that computes ``phi = part - ln(factor)`` of each pair.

        The factor is between 1 and 2, or 1.0 where phi has no logarithm of this kind: the
        logarithm of the product of many factors takes the time of one.

        The function takes ``(t, q, numbers)`` and returns part, factor and derivative. It takes
        arrays of numpy or torch, or single numbers in the compiled loop; q may be 0.0 for all. So
        `xp` offers exp, log, sqrt and where alone, one of the values of where is an array, and
        arguments must not be changed in place.
        """

    def of_each(self, t: AnyArray, q: Any) -> tuple[AnyArray, AnyArray]:
        """Return phi and its derivative for each pair."""
        part, factor, slopes = _formula(type(self), library(t))(t, q, self.numbers)
        return part if isinstance(factor, float) else part - library(t).log(factor), slopes

    def sum(self, t: AnyArray, q: Any, left_out: Any = None) -> tuple[Any, AnyArray]:
        """Return the sum of phi over a stack of tiles, and the derivative for each pair.

        `left_out` is the index of the pairs without a term, which are at `FAR`.
        """
        part, factor, slopes = _formula(type(self), library(t))(t, q, self.numbers)
        if left_out is not None and not self.vanishes:
            part[left_out], slopes[left_out] = 0.0, 0.0
            if not isinstance(factor, float):
                factor[left_out] = 1.0
        value = part.sum(dtype=wide(part))
        return value if isinstance(factor, float) else value - _sum_of_logs(factor), slopes


# (The functions that a formula returns are the same for all parameters.)
@cache
def _formula(kind: type[PairFunction], xp: Any) -> Formula:
    return kind.formula(xp)


def _sum_of_logs(factors: AnyArray) -> Any:
    """Sum the logarithms of numbers in (1, 2]; on a CPU, of products: logarithms are slow."""
    if library(factors) is np and factors.ndim > 1 and factors.shape[-2] <= _FACTORS:
        factors = np.multiply.reduce(factors, axis=-2, dtype=np.float64)
    return library(factors).sum(library(factors).log(factors), dtype=wide(factors))


def _logistic(xp: Any) -> Callable[[Any], tuple[Any, Any]]:
    """Return a function that computes ``p = 1 / (1 + exp(t))`` (8), and ``1 + exp(-|t|)``."""
    exp, where = xp.exp, xp.where

    def logistic(t: Any) -> tuple[Any, Any]:
        e = exp(-abs(t))  # which cannot overflow
        factor = 1.0 + e
        return where(t > 0.0, e, 1.0) / factor, factor

    return logistic


def probability(t: AnyArray) -> AnyArray:
    """Probability that a pair is similar, ``p = 1 / (1 + exp(t))``  (8)."""
    return _logistic(library(t))(t)[0]


class NegativeEntropy(PairFunction):
    """``phi = p ln p + (1 - p) ln(1 - p)``, the term of an unlabeled pair in (7).

    With ``e = exp(-|t|)``, ``-phi = ln(1 + e) + |t| e / (1 + e)``, and the derivative is
    ``phi' = p (1 - p) t = e t / (1 + e)^2``.
    """

    vanishes: ClassVar[bool] = True

    @staticmethod
    def formula(xp: Any) -> Formula:
        exp = xp.exp

        def negative_entropy(t: Any, q: Any, numbers: Any) -> tuple[Any, Any, Any]:  # noqa: ARG001
            size = abs(t)
            e = exp(-size)
            factor = 1.0 + e
            slope = 1.0 / factor
            e *= slope  # p or 1 - p, whichever is smaller
            slope *= e
            slope *= t
            e *= size
            return -e, factor, slope

        return negative_entropy


class LogLikelihood(PairFunction):
    """``phi = q ln p + (1 - q) ln(1 - p)``, the term of a labeled pair.

    It is ``min(t, 0) - q t - ln(1 + exp(-|t|))``, and ``phi' = p - q``.
    """

    vanishes: ClassVar[bool] = True  # where q is 0, as it is for all pairs at FAR

    @staticmethod
    def formula(xp: Any) -> Formula:
        logistic = _logistic(xp)

        def log_likelihood(t: Any, q: Any, numbers: Any) -> tuple[Any, Any, Any]:  # noqa: ARG001
            p, factor = logistic(t)
            return 0.5 * (t - abs(t)) - q * t, factor, p - q

        return log_likelihood


@dataclass(frozen=True)
class MStep(PairFunction):
    """The term of an unlabeled pair in the M-step (11): that of a label q from the E-step (9).

    ``q(y)`` is proportional to ``p(y)^(1 + mu)`` under the frozen metric, where the pair is at s.
    Hence ``q = 1 / (1 + exp((1 + mu) s))``  (10).
    """

    mu: float

    vanishes: ClassVar[bool] = True

    @property
    def numbers(self) -> tuple[float, ...]:
        return (1.0 + self.mu,)

    @staticmethod
    def formula(xp: Any) -> Formula:
        logistic, log_likelihood = _logistic(xp), LogLikelihood.formula(xp)

        def m_step(t: Any, s: Any, numbers: Any) -> tuple[Any, Any, Any]:
            return log_likelihood(t, logistic(numbers[0] * s)[0], numbers)

        return m_step
