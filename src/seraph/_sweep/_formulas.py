"""The model of a pair, equations (7) to (11): functions of its squared distance alone.

All are written in ``t = d2 - eta``, where ``d2`` is the squared distance of the pair under the
metric. The equation numbers are those of Niu et al. (2012). `_compiled`, `_tensors` and the
kernels in `_kernels` compute the same formulas for numba, torch and CUDA.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import expit

from .._utils._typing import Array

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


def e_step(t: Array, mu: float, out: Array | None = None) -> Array:
    """Probability ``q = q(+1)`` that solves the E-step (9).

    ``q(y)`` is proportional to ``p(y)^(1 + mu)``  (10)

    Hence ``logit q = (1 + mu) logit p``, and ``q = 1 / (1 + exp((1 + mu) t))``.
    """
    with np.errstate(over="ignore"):  # 1 / inf is the right answer
        q = np.exp(np.multiply(t, 1.0 + mu, out=out), out=out)
    return np.reciprocal(np.add(q, 1.0, out=out), out=out)


def cross_entropy(
    t: Array, q: Array | float, scratch: Sequence[Array] | None = None
) -> tuple[float, Array]:
    """Expected log-likelihood of pairs that are similar with probability `q`.

    ``phi = q ln p + (1 - q) ln(1 - p)``  (11)

    This is ``(1 - q) t - softplus(t)``, and ``phi' = p - q``. The M-step takes ``q`` from the
    E-step; a pair labeled similar has ``q = 1``, and one labeled dissimilar ``q = 0``.

    Parameters
    ----------
    t : ndarray of shape (rows, columns)
        Squared distances minus the threshold. Overwritten.
    q : ndarray of shape (rows, columns) or float
        Probability that a pair is similar.
    scratch : two ndarrays like `t`, optional
        Arrays to work in. Overwritten.

    Returns
    -------
    value : float
        Sum of ``phi`` over the pairs.
    weight : ndarray of shape (rows, columns)
        ``phi'`` of each pair; one of the arrays of `scratch`, if given.
    """
    e, weight = scratch or (np.empty_like(t), np.empty_like(t))
    np.exp(np.negative(np.abs(t, out=e), out=e), out=e)
    value = _total(np.minimum(t, 0.0, out=weight)) - _inner(q, t)  # (1 - q) t - max(t, 0)
    # p is e / (1 + e) where t > 0 and 1 / (1 + e) elsewhere: both without cancellation.
    np.maximum(e, np.less_equal(t, 0.0, out=weight), out=weight)
    e += 1.0
    value -= _log_of_product(e)
    weight /= e
    weight -= q
    return value, weight


def negative_entropy(t: Array, scratch: Sequence[Array] | None = None) -> tuple[float, Array]:
    """Negative entropy of the posterior, the term of an unlabeled pair.

    ``phi = p ln p + (1 - p) ln(1 - p)``  in (7)

    The derivative is ``phi' = p (1 - p) t``. With ``e = exp(-|t|)``, ``p (1 - p)`` is
    ``e / (1 + e)^2`` and ``-phi`` is ``log1p(e) + |t| e / (1 + e)``. Parameters and returns are
    those of `cross_entropy`.
    """
    e, weight = scratch or (np.empty_like(t), np.empty_like(t))
    np.exp(np.negative(np.abs(t, out=e), out=e), out=e)
    one_plus = np.add(e, 1.0, out=weight)
    value = -_log_of_product(one_plus)
    e /= one_plus
    np.divide(e, one_plus, out=weight)
    weight *= t
    value -= _inner(e, np.abs(t, out=t))
    return value, weight


def squared_distances(Z: Array, i: Array, j: Array) -> Array:
    """Squared distances of the rows `i` of `Z` from the rows `j`."""
    distances = np.empty(len(i), dtype=Z.dtype)
    size = max(1, _GATHERED_NUMBERS // max(Z.shape[1], 1))
    for start in range(0, len(i), size):
        some = slice(start, start + size)
        difference = np.take(Z, i[some], axis=0)
        difference -= np.take(Z, j[some], axis=0)
        np.einsum("kr,kr->k", difference, difference, out=distances[some])
    return distances


def _log_of_product(factors: Array) -> float:
    """Sum of the logarithms of numbers in (1, 2]; products first, since logarithms are slow."""
    limit = FACTORS[factors.dtype]
    total = 0.0
    for start in range(0, len(factors), limit):
        total += _total(np.log(np.multiply.reduce(factors[start : start + limit], axis=0)))
    return total


def _total(a: Array) -> float:
    return float(np.sum(a, dtype=np.float64))


def _inner(a: Array | float, b: Array) -> float:
    if isinstance(a, np.ndarray):
        return float(np.vdot(a, b))
    return a * _total(b) if a else 0.0
