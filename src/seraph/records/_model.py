"""The probability that a pair is one thing: a logistic model with entropy regularization."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit
from threadpoolctl import ThreadpoolController

from ._columns import Array

# Chosen on four public sets (Fodors-Zagats, DBLP-ACM, Abt-Buy, Chicago sites) with 25, 50 and 100
# answers, of which none, 5 % and 10 % were wrong, see benchmarks/RESULTS.md. For features of
# variance 1: the strength of the prior, on similarities and on missing cells; the length of its
# mean; the strength of the entropy; and the rate of wrong answers.
RHO, MISSING, LENGTH, GAMMA, LAPSE = 1.0, 10.0, 2.0, 0.3, 0.05
# Unlabeled pairs in the entropy, a sample: their share counts, not their number.
_UNLABELED = 2000
_OFFSET = 1e-3  # strength on the offset, which keeps it finite


@dataclass(frozen=True)
class PairModel:
    r"""A logistic model of similarities, :math:`p = \sigma(b + \sum_f w_f x_f)`.

    The features are standardized over the candidates; a missing one is at their mean, so that it
    is no evidence. An answer is wrong with probability :math:`\epsilon`, whatever the pair, so no
    single answer counts without limit. The weights minimize

    .. math:: -\sum_{k} \ln \big(\epsilon + (1 - 2 \epsilon) \, p(y_k)\big)
              + \gamma \frac{n}{m} \sum_{u} H(p_u)
              + \tfrac{1}{2} \sum_f \rho_f (w_f - w_{0f})^2,

    over the n answered pairs k and m unlabeled candidates u: SERAPH's principle, with the trace
    norm of a metric replaced by a Gaussian prior. Its mean :math:`w_0` weighs similarities as
    they usually count, and the weights of `signed` features are non-negative. The `offset` is b.
    """

    mean: Array
    scale: Array
    weights: Array
    signed: Array
    offset: float = 0.0

    @classmethod
    def prior(cls, candidates: Array, usual: Array) -> PairModel:
        """Return the mean of the prior as a model: weights in proportion to the usual ones."""
        known = np.ma.masked_invalid(candidates.astype(np.float64))
        mean, deviation = (np.ma.filled(v, 0.0) for v in (known.mean(axis=0), known.std(axis=0)))
        scale = np.where(deviation > 1e-6, deviation, np.inf)
        weights = np.where(np.isfinite(scale), usual, 0.0)
        weights *= LENGTH / (np.linalg.norm(weights) or 1.0)
        return cls(mean, scale, weights, usual > 0.0)

    def standardized(self, features: Array) -> Array:
        """Return features of mean 0 and variance 1 over the candidates, 0 where missing."""
        return np.nan_to_num((features - self.mean) / self.scale, nan=0.0)

    def margins(self, features: Array) -> Array:
        """Return the logits: positive for pairs that are likelier the same."""
        margins: Array = self.standardized(features) @ self.weights + self.offset
        return margins

    def learned(self, features: Array, same: Array, candidates: Array) -> PairModel:
        """Return the model that has learned from answers, with this one as the prior.

        `features` are those of the answered pairs, and `candidates` those of unlabeled ones.
        """
        X, U = self.standardized(features), self.standardized(sampled(candidates))
        signs = np.where(same, 1.0, -1.0)
        x = np.append(self.weights, 0.0)
        rho = np.where(self.signed, RHO, MISSING)
        bounds = [(0.0 if s else None, None) for s in self.signed] + [(None, None)]
        with _libraries().limit(limits=1, user_api="blas"):  # more only cost time
            # The entropy is not convex: it starts from the solution without it.
            for gamma, unanswered in ((0.0, U[:0]), (GAMMA, U)):
                result = minimize(
                    objective,
                    x,
                    args=(X, signs, unanswered, self.weights, rho, gamma, LAPSE),
                    jac=True,
                    method="L-BFGS-B",
                    bounds=bounds,
                )
                x = result.x
        return replace(self, weights=x[:-1], offset=float(x[-1]))


@cache
def _libraries() -> ThreadpoolController:
    """Return what sets the threads of BLAS. Each search for its libraries takes milliseconds."""
    return ThreadpoolController()


def objective(
    x: Array,
    X: Array,
    signs: Array,
    U: Array,
    prior: Array,
    rho: Array | float,
    gamma: float,
    lapse: float,
) -> tuple[float, Array]:
    """Return the value and the gradient at ``x = (w, b)``."""
    w, b = x[:-1], x[-1]
    right = expit(signs * (X @ w + b))
    said = lapse + (1.0 - 2.0 * lapse) * right
    slopes = -signs * (1.0 - 2.0 * lapse) * right * (1.0 - right) / said
    logits = U @ w + b
    p = expit(logits)
    share = gamma * len(X) / max(len(U), 1)
    falls = -share * logits * p * (1.0 - p)  # the entropy's derivative is -f p (1 - p)
    off = w - prior
    value = -np.log(said).sum() + share * entropy(logits).sum()
    value += 0.5 * (rho * off) @ off + 0.5 * _OFFSET * b**2
    gradient = X.T @ slopes + U.T @ falls + rho * off
    return float(value), np.append(gradient, slopes.sum() + falls.sum() + _OFFSET * b)


def entropy(logits: Array) -> Array:
    """Return the entropy at logits f, with e = exp(-|f|): ln(1 + e) + |f| e / (1 + e)."""
    size = np.abs(logits)
    e = np.exp(-size)
    h: Array = np.log1p(e) + size * e / (1.0 + e)
    return h


def sampled(candidates: Array) -> Array:
    """Return the features of some candidates, the same ones every time."""
    if len(candidates) <= _UNLABELED:
        return candidates
    return candidates[np.random.default_rng(0).choice(len(candidates), _UNLABELED, replace=False)]
