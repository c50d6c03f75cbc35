"""What the model says of a pair: pure functions of its squared distance.

Everything depends on ``t = d2 - eta`` alone, where ``d2`` is the squared distance of the
pair under the metric. The posterior (8) is ``p = p(+1) = 1 / (1 + exp(t))``. Each formula
stands here once; equation numbers are those of Niu et al. (2012).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

# How many factors in (1, 2] can be multiplied before the product overflows.
FACTORS = {np.dtype(np.float32): 120, np.dtype(np.float64): 1000}


def posterior(t: NDArray) -> NDArray:
    """Probability (8) that a pair is similar: ``p = 1 / (1 + exp(t))``."""
    return expit(-t)


def e_step(t: NDArray, mu: float, out: NDArray | None = None) -> NDArray:
    """Probability ``q(+1)`` that solves the E-step (9).

    ``q`` is proportional to ``p^(1 + mu)`` (10), hence ``logit q = (1 + mu) logit p``.
    """
    with np.errstate(over="ignore"):  # 1 / inf is the right answer
        q = np.exp(np.multiply(t, 1.0 + mu, out=out), out=out)
    return np.reciprocal(np.add(q, 1.0, out=out), out=out)


def cross_entropy(
    t: NDArray, q: NDArray | float, scratch: Sequence[NDArray] | None = None
) -> tuple[float, NDArray]:
    """Expected log-likelihood of pairs whose probability of being similar is `q`.

    ``phi = q ln p + (1 - q) ln(1 - p) = (1 - q) t - softplus(t)``, and ``phi' = p - q``.

    A similar pair has ``q = 1``, a dissimilar one ``q = 0``; the M-step (11) takes ``q``
    from the E-step.

    Parameters
    ----------
    t : ndarray of shape (rows, columns)
        Squared distances less the threshold. Overwritten.
    q : ndarray of shape (rows, columns) or float
        Probability that a pair is similar.
    scratch : two ndarrays like `t`, optional
        Room to work in. Overwritten.

    Returns
    -------
    value : float
        Sum of ``phi`` over the pairs.
    weight : ndarray of shape (rows, columns)
        ``phi'`` of each pair; one of the arrays of `scratch`, where it is given.
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


def negative_entropy(
    t: NDArray, scratch: Sequence[NDArray] | None = None
) -> tuple[float, NDArray]:
    """Negative entropy of the posterior, the unlabelled term of (7).

    ``phi = p ln p + (1 - p) ln(1 - p)``, and ``phi' = p (1 - p) t``.

    With ``e = exp(-|t|)``: ``-phi = log1p(e) + |t| e / (1 + e)``, and
    ``p (1 - p) = e / (1 + e)^2``. Parameters and returns are those of `cross_entropy`.
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


def _log_of_product(factors: NDArray) -> float:
    """Sum of the logarithms of numbers in (1, 2]: one logarithm serves a whole column."""
    limit = FACTORS[factors.dtype]
    total = 0.0
    for start in range(0, len(factors), limit):
        total += _total(np.log(np.multiply.reduce(factors[start : start + limit], axis=0)))
    return total


def _total(a: NDArray) -> float:
    return float(np.sum(a, dtype=np.float64))


def _inner(a: NDArray | float, b: NDArray) -> float:
    return float(np.vdot(a, b)) if isinstance(a, np.ndarray) else a * _total(b)
