"""Functions of the distance of a pair: the terms of every sum over pairs.

A function stands once, in a form that numpy, torch and the compiled loop share. A new one is a
subclass of `PairFunction`, in one file, as `Hinge` in ``tests/pairs/test_functions.py``.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cache
from typing import Any, ClassVar

import numpy as np

# An ndarray or a Tensor.
AnyArray = Any
# Takes t, q and `numbers`; returns the part, the factor and the derivative of each pair.
Formula = Callable[[Any, Any, tuple[float, ...]], tuple[Any, Any, Any]]

# A pair that is left out of a sum has this t. It is farther than any pair of points can be, also
# where the threshold is large.
FAR = 1e30
# The code of a row of unknown class, and of a row that only fills the last block.
UNKNOWN, PADDING = -1, -2
# This number of factors in (1, 2] can be multiplied without overflow, in double precision.
_FACTORS = 1000


def library(a: AnyArray) -> Any:
    """Return the library of an array: numpy, or torch for a tensor.

    Examples
    --------
    >>> library(np.ones(2)).__name__
    'numpy'
    """
    return sys.modules["torch"] if type(a).__module__.partition(".")[0] == "torch" else np


def wide(a: AnyArray) -> Any:
    """Return the type to add up the numbers of an array in: float64, where the device has it."""
    xp = library(a)
    return xp.float32 if xp is not np and a.device.type == "mps" else xp.float64


def like(a: Any, other: AnyArray) -> AnyArray:
    """Return an array of the library, type and device of another one."""
    if library(other) is np:
        return np.asarray(a, dtype=other.dtype)
    return library(other).as_tensor(a, dtype=other.dtype, device=other.device)


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

    def sum(self, t: AnyArray, q: Any, left_out: AnyArray | None = None) -> tuple[Any, AnyArray]:
        """Return the sum of phi over a stack of tiles, and the derivative for each pair.

        `left_out` says which pairs have no term; those are at `FAR`.
        """
        part, factor, slopes = _formula(type(self), library(t))(t, q, self.numbers)
        if left_out is not None and not self.vanishes:
            part[left_out], slopes[left_out] = 0.0, 0.0
            if not isinstance(factor, float):
                factor[left_out] = 1.0
        value = library(t).sum(part, dtype=wide(t))
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
