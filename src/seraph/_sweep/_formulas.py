"""The model of a pair, equations (7) to (11): functions of its squared distance alone.

All are written in ``t = d2 - eta``, where ``d2`` is the squared distance of the pair under the
metric. The equations are numbered as in Niu et al. (2012). numpy and torch share the formulas of
`Arithmetic`; `_compiled` and `_kernels` have the same ones for numba and Triton.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
from scipy.special import expit

from .._utils._typing import Array

# An ndarray or a Tensor.
AnyArray = Any
# Arrays to work in; None for one that is to be allocated.
Scratch = Sequence[AnyArray | None]
_ALLOCATE: Scratch = (None, None)

# This number of factors in (1, 2] can be multiplied without overflow.
FACTORS = {np.dtype(np.float32): 120, np.dtype(np.float64): 1000}
# Coordinates to gather at a time: they stay in the cache.
_GATHERED_NUMBERS = 1 << 15


def posterior(t: Array) -> Array:
    """Probability that a pair is similar.

    ``p = p(+1) = 1 / (1 + exp(t))``  (8)
    """
    p: Array = expit(-t)
    return p


class Arithmetic(ABC):
    """The pair terms, for the arrays of one library.

    A subclass implements the abstract methods: functions that differ between the libraries.

    Attributes
    ----------
    xp : module
        The library: its functions that have the same names in numpy and torch.
    wide : dtype
        Type of the sums.
    place : dict
        Arguments that place a new array on the device of the points.
    least_side : int
        Smallest side of an efficient tile.
    gathered_numbers : int
        Number of coordinates of pairs in a list to gather at a time.
    """

    xp: Any
    wide: Any
    place: Mapping[str, Any] = MappingProxyType({})
    least_side: int = 64
    gathered_numbers: int

    @abstractmethod
    def array(self, a: Array) -> AnyArray:
        """Convert an ndarray to the library, with the dtype of the points, on their device."""

    def indices(self, a: Array) -> AnyArray:
        """Convert row numbers to the library, to index arrays with."""
        return self.xp.asarray(np.ascontiguousarray(a), **self.place)

    def codes(self, codes: Array) -> AnyArray:
        """Convert class codes to the library."""
        return self.indices(codes.astype(np.int32))

    def zeros(self, *shape: int) -> AnyArray:
        """Make zeros of the dtype `wide`."""
        return self.xp.zeros(shape, dtype=self.wide, **self.place)

    def widen(self, a: AnyArray) -> AnyArray:
        """Cast an array to the dtype `wide`."""
        return self.xp.asarray(a, dtype=self.wide, **self.place)

    def total(self, a: AnyArray) -> Any:
        """Add up all numbers of an array, in the dtype `wide`."""
        return self.xp.sum(a, dtype=self.wide)

    @abstractmethod
    def equal(self, a: AnyArray, b: AnyArray, out: AnyArray | None) -> AnyArray:
        """Return 1 where two arrays of class codes are equal, and 0 elsewhere."""

    @abstractmethod
    def inner(self, a: AnyArray, b: AnyArray) -> Any:
        """Add up the products of the numbers of two arrays."""

    @abstractmethod
    def sum_of_logs(self, factors: AnyArray) -> Any:
        """Add up the logarithms of numbers in (1, 2]."""

    def scratch(self, side: int) -> Callable[[tuple[int, int]], Scratch]:  # noqa: ARG002
        """Allocate memory for tiles up to a side; return a function of a shape: four arrays."""
        return lambda _: (None,) * 4

    def e_step(self, t: AnyArray, mu: float, out: AnyArray | None = None) -> AnyArray:
        """Probability ``q = q(+1)`` that solves the E-step (9).

        ``q(y)`` is proportional to ``p(y)^(1 + mu)``  (10)

        Hence ``logit q = (1 + mu) logit p``, and ``q = 1 / (1 + exp((1 + mu) t))``.
        """
        xp = self.xp
        with np.errstate(over="ignore"):  # 1 / inf is the right answer
            q = xp.exp(xp.multiply(t, 1.0 + mu, out=out), out=out)
        return xp.reciprocal(xp.add(q, 1.0, out=out), out=out)

    def cross_entropy(
        self,
        t: AnyArray,
        q: AnyArray | float,
        scratch: Scratch = _ALLOCATE,
        weights: AnyArray | None = None,
    ) -> tuple[Any, AnyArray]:
        """Expected log-likelihood of pairs that are similar with probability `q`.

        ``phi = q ln p + (1 - q) ln(1 - p)``  (11)

        This is ``(1 - q) t - softplus(t)``, and ``phi' = p - q``. The M-step takes ``q`` from the
        E-step; a pair labeled similar has ``q = 1``, and one labeled dissimilar ``q = 0``.

        Parameters
        ----------
        t : array of shape (rows, columns)
            Squared distances minus the threshold. Overwritten.
        q : array of shape (rows, columns) or float
            Probability that a pair is similar.
        scratch : two arrays like `t`, optional
            Arrays to work in. Overwritten.
        weights : array of shape (rows, columns), optional
            Weights of the pairs.

        Returns
        -------
        value : float, or a tensor with one number
            Sum of ``phi`` over the pairs, times their weights.
        weight : array of shape (rows, columns)
            ``phi'`` of each pair, times its weight; in one of the arrays of `scratch`, if given.
        """
        xp, (e, weight) = self.xp, scratch
        e = self._exp_minus_abs(t, e)
        weight = xp.clip(t, None, 0.0, out=weight)  # (1 - q) t - max(t, 0) is this minus q t
        if weights is not None:
            value = self.inner(weights, weight - q * t)
        else:
            value = self.total(weight)
            if not isinstance(q, float):
                value -= self.inner(q, t)
            elif q:
                value -= q * self.total(t)
        # p is e / (1 + e) where t > 0 and 1 / (1 + e) elsewhere: both without cancellation.
        xp.maximum(e, xp.less_equal(t, 0.0, out=weight), out=weight)
        e += 1.0
        value -= self.sum_of_logs(e) if weights is None else self.inner(weights, xp.log(e))
        weight /= e
        weight -= q
        if weights is not None:
            weight *= weights
        return value, weight

    def negative_entropy(self, t: AnyArray, scratch: Scratch = _ALLOCATE) -> tuple[Any, AnyArray]:
        """Negative entropy of the posterior, the term of an unlabeled pair.

        ``phi = p ln p + (1 - p) ln(1 - p)``  in (7)

        The derivative is ``phi' = p (1 - p) t``. With ``e = exp(-|t|)``, ``p (1 - p)`` is
        ``e / (1 + e)^2`` and ``-phi`` is ``log1p(e) + |t| e / (1 + e)``. See `cross_entropy` for
        the parameters.
        """
        xp, (e, weight) = self.xp, scratch
        e = self._exp_minus_abs(t, e)
        one_plus = weight = xp.add(e, 1.0, out=weight)
        value = -self.sum_of_logs(one_plus)
        e /= one_plus
        xp.divide(e, one_plus, out=weight)
        weight *= t
        value -= self.inner(e, xp.abs(t, out=t))
        return value, weight

    def entropy_of_tile(
        self, margins: Any, rows: slice, columns: slice, t: AnyArray | None, scratch: Scratch
    ) -> tuple[Any, AnyArray]:
        """Compute `negative_entropy` of the pairs rows x columns, with `t` to work in, too."""
        return self.negative_entropy(margins.tile(rows, columns, t), scratch)

    def _exp_minus_abs(self, t: AnyArray, out: AnyArray | None) -> AnyArray:
        e = self.xp.abs(t, out=out)
        return self.xp.exp(self.xp.negative(e, out=e), out=e)


class NumpyArithmetic(Arithmetic):
    """The pair terms for ndarrays of a dtype. Tiles stay in the cache, with all their scratch."""

    xp = np
    wide = np.float64
    gathered_numbers = 1 << 17  # they stay in the cache, and sums in single precision stay short

    def __init__(self, dtype: Any = np.float64) -> None:
        self.dtype = dtype

    def array(self, a: Array) -> Array:
        """Cast an array to the dtype of the points."""
        return a.astype(self.dtype)

    def equal(self, a: Array, b: Array, out: Array | None) -> Array:
        """Return 1 where two arrays of class codes are equal, and 0 elsewhere."""
        found: Array = np.equal(a, b, out=out)
        return found

    def inner(self, a: Array, b: Array) -> float:
        """Add up the products of the numbers of two arrays, by BLAS."""
        return float(np.vdot(a, b))

    def sum_of_logs(self, factors: Array) -> float:
        """Add up the logarithms of numbers; of products of many, since logarithms are slow."""
        limit, value = FACTORS[factors.dtype], 0.0
        for start in range(0, len(factors), limit):
            product = np.multiply.reduce(factors[start : start + limit], axis=0)
            value += float(np.sum(np.log(product), dtype=np.float64))
        return value

    def scratch(self, side: int) -> Callable[[tuple[int, int]], Sequence[Array]]:
        """Allocate memory for tiles up to a side; return a function of a shape: four arrays."""
        memory = np.empty((4, side * side), dtype=self.dtype)
        return lambda shape: [part[: shape[0] * shape[1]].reshape(shape) for part in memory]

    def squared_distances(self, Z: Array, i: Array, j: Array) -> Array:
        """Compute the squared distances of the rows `i` of `Z` from the rows `j`."""
        distances = np.empty(len(i), dtype=Z.dtype)
        size = max(1, _GATHERED_NUMBERS // max(Z.shape[1], 1))
        for start in range(0, len(i), size):
            some = slice(start, start + size)
            difference = np.take(Z, i[some], axis=0)
            difference -= np.take(Z, j[some], axis=0)
            np.einsum("kr,kr->k", difference, difference, out=distances[some])
        return distances
