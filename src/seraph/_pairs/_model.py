"""The model of a pair, (7) to (11) of Niu et al. (2012), as functions of ``t = d2 - eta``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from ._functions import AnyArray, Formula, PairFunction, library


def _logistic(xp: Any) -> Callable[[Any], tuple[Any, Any]]:
    """Return a function that computes ``p = 1 / (1 + exp(t))`` (8), and ``1 + exp(-|t|)``."""
    exp, where = xp.exp, xp.where

    def logistic(t: Any) -> tuple[Any, Any]:
        e = exp(-abs(t))  # which cannot overflow
        factor = 1.0 + e
        return where(t > 0.0, e, 1.0) / factor, factor

    return logistic


def probability(t: AnyArray) -> AnyArray:
    """Probability that a pair is similar, ``p = 1 / (1 + exp(t))``  (8).

    Examples
    --------
    >>> import numpy as np
    >>> probability(np.array([-1e3, 0.0, 1e3]))
    array([1. , 0.5, 0. ])
    """
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
