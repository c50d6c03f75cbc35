"""The model of a pair, (7) to (11) of Niu et al. (2012), as functions of ``t = d2 - eta``.

``d2`` is the squared distance of the pair under the metric. The functions take arrays of numpy or
torch; `_compiled` has the same formulas for numba.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

# An ndarray or a Tensor.
AnyArray = Any

# A pair at this t has no term: exp(-t) is 0, and so are values and derivatives. It is farther than
# any pair of points can be, also where the threshold is large.
FAR = 1e30
# This number of factors in (1, 2] can be multiplied without overflow, in double precision.
_FACTORS = 1000
# The code of a row of unknown class, and of a row that only fills the last block.
UNKNOWN, PADDING = -1, -2


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


def probability(t: AnyArray) -> AnyArray:
    """Probability that a pair is similar, ``p = 1 / (1 + exp(t))``  (8).

    Examples
    --------
    >>> probability(np.array([-1e3, 0.0, 1e3]))
    array([1. , 0.5, 0. ])
    """
    xp = library(t)
    e = xp.exp(-xp.abs(t))
    return xp.where(t > 0.0, e, xp.ones_like(e)) / (1.0 + e)


def negative_entropy(t: AnyArray) -> tuple[Any, AnyArray]:
    """Sum ``phi = p ln p + (1 - p) ln(1 - p)``, the term of an unlabeled pair in (7).

    With ``e = exp(-|t|)``, ``-phi = log1p(e) + |t| e / (1 + e)``, and the derivative is
    ``phi' = p (1 - p) t = e t / (1 + e)^2``.

    Returns
    -------
    value : float, or a tensor with one number
        The sum.
    derivative : array like `t`
        ``phi'`` of each pair.
    """
    xp = library(t)
    e = xp.exp(-xp.abs(t))
    one_plus = 1.0 + e
    value = -_sum_of_logs(one_plus)
    e /= one_plus
    derivative = e / one_plus
    derivative *= t
    e *= xp.abs(t)
    return value - xp.sum(e, dtype=wide(t)), derivative


def _sum_of_logs(factors: AnyArray) -> Any:
    """Sum the logarithms of numbers in (1, 2]; on a CPU, of products: logarithms are slow."""
    if library(factors) is np and factors.ndim > 1 and factors.shape[-2] <= _FACTORS:
        factors = np.multiply.reduce(factors, axis=-2, dtype=np.float64)
    return library(factors).sum(library(factors).log(factors), dtype=wide(factors))


def cross_entropy(t: AnyArray, q: AnyArray) -> tuple[AnyArray, AnyArray]:
    """Compute ``phi = q ln p + (1 - q) ln(1 - p)`` of pairs that are similar with probability `q`.

    This is the term of the M-step (11), with `q` from `e_step`, and that of a labeled pair, with
    ``q = 1`` if it is similar and 0 if not. It is ``min(t, 0) - q t - log1p(e)``, and
    ``phi' = p - q``.

    Returns
    -------
    value, derivative : arrays like `t`
        ``phi`` and ``phi'`` of each pair.
    """
    xp = library(t)
    return xp.clip(t, None, 0.0) - q * t - xp.log1p(xp.exp(-xp.abs(t))), probability(t) - q


def e_step(t: AnyArray, mu: float) -> AnyArray:
    """Probability ``q`` that solves the E-step (9): ``q(y)`` is proportional to ``p(y)^(1 + mu)``.

    Hence ``q = 1 / (1 + exp((1 + mu) t))``  (10).
    """
    return probability((1.0 + mu) * t)
