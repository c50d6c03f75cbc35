"""The probability that a pair is one thing: a logistic model, and a forest beside it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, logit

from .._utils._typing import Array

# Chosen on real and made-up sets with 100 answers, of which none or 5 % were wrong, see
# benchmarks/RESULTS.md. For features of variance 1: the strength of the prior, on similarities and
# on missing cells; the length of its mean; and the rate of wrong answers.
RHO, MISSING, LENGTH, LAPSE = 1.0, 10.0, 2.0, 0.05
_OFFSET = 1e-3  # strength on the offset, which keeps it finite
# The forest: its trees, the answers in a leaf, and the least probability that it gives, as a
# hundred answers know no rarer event. The prior of the sum: half of each part, with a strength.
_TREES, _LEAF, _RAREST, _HALF, _STRENGTH = 100, 2, 0.02, 0.5, 3.0
_AT_ONCE = 200_000  # pairs, to save memory


@dataclass(frozen=True)
class PairModel:
    r"""A logistic model of similarities, :math:`p = \sigma(b + \sum_f w_f x_f)`.

    The features are standardized over the candidates; a missing one is at their mean, so that it
    is no evidence. An answer is wrong with probability :math:`\epsilon`, whatever the pair, so no
    single answer counts without limit. The weights minimize

    .. math:: -\sum_{k} \ln \big(\epsilon + (1 - 2 \epsilon) \, p(y_k)\big)
              + \tfrac{1}{2} \sum_f \rho_f (w_f - w_{0f})^2

    over the answered pairs k. The mean :math:`w_0` of the Gaussian prior weighs similarities as
    they usually count. The weights of `signed` features are non-negative. The `offset` is b.
    """

    mean: Array
    scale: Array
    weights: Array
    signed: Array
    rho: Array
    offset: float = 0.0

    @classmethod
    def prior(cls, candidates: Array, usual: Array) -> Self:
        """Return the mean of the prior as a model: weights in proportion to the usual ones."""
        mean, scale = np.zeros(len(usual)), np.full(len(usual), np.inf)
        for number, column in enumerate(candidates.T):
            known = column[np.isfinite(column)].astype(np.float64)
            if len(known) and known.std() > 1e-6:
                mean[number], scale[number] = known.mean(), known.std()
        weights = np.where(np.isfinite(scale), usual, 0.0)
        weights *= LENGTH / (np.linalg.norm(weights) or 1.0)
        return cls(mean, scale, weights, usual > 0.0, np.where(usual > 0.0, RHO, MISSING))

    def standardized(self, features: Array) -> Array:
        """Return features of mean 0 and variance 1 over the candidates, 0 where missing."""
        return np.nan_to_num((features - self.mean) / self.scale, nan=0.0)

    def margins(self, features: Array) -> Array:
        """Return the logits: positive for pairs that are likelier the same."""
        margins: Array = self.standardized(features) @ self.weights + self.offset
        return margins

    def learned(self, features: Array, same: Array) -> Self:
        """Return the model that has learned from answers, with this one as the prior."""
        signs = np.where(same, 1.0, -1.0)
        result = minimize(
            objective,
            np.append(self.weights, 0.0),
            args=(self.standardized(features), signs, self.weights, self.rho),
            jac=True,
            method="L-BFGS-B",
            bounds=[(0.0 if s else None, None) for s in self.signed] + [(None, None)],
        )
        return replace(self, weights=result.x[:-1], offset=float(result.x[-1]))


@dataclass(frozen=True)
class Stack:
    """A sum of two logits: of a logistic model, and of a forest of extremely random trees.

    The forest sees what a weighted sum of similarities cannot: that a street counts less where
    the names differ. How much each of them counts is learned, again by a `PairModel`, from answers
    about records that neither of them had met.
    """

    line: PairModel
    forest: Any
    sum: PairModel

    @classmethod
    def learned(
        cls, prior: PairModel, features: Array, same: Array, fold: Array
    ) -> tuple[Self, Array]:
        """Return the model, and two ways to know the margins of the answered pairs.

        Both have the forest of the other folds. The logistic model is, in the first way, the one
        that has learned from all answers; in the second, that of the other folds.
        """
        held_out = _held_out(prior, features, same, fold)
        start = PairModel(
            np.zeros(2), np.ones(2), np.full(2, _HALF), np.ones(2, bool), np.full(2, _STRENGTH)
        )
        line, both = prior.learned(features, same), start.learned(held_out, same)
        met = np.column_stack([line.margins(features), held_out[:, 1]])
        known = np.stack([both.margins(met), both.margins(held_out)])
        return cls(line, _forest(prior.standardized(features), same), both), known

    def margins(self, features: Array) -> Array:
        """Return the logits: positive for pairs that are likelier the same."""
        parts = np.array_split(features, len(features) // _AT_ONCE + 1)
        both = [_parts(self.line, self.forest, part) for part in parts]
        return self.sum.margins(np.concatenate(both))

    def shares(self, features: Array) -> Array:
        """Return how much each feature counts: the shares sum to 1."""
        by_line, by_forest = np.abs(self.line.weights), self.forest.feature_importances_
        each = [part / (part.sum() or 1.0) for part in (by_line, by_forest)]
        spread = self.sum.weights * _parts(self.line, self.forest, features).std(axis=0)
        shares: Array = spread @ each / (spread.sum() or 1.0)
        return shares


def _held_out(prior: PairModel, features: Array, same: Array, fold: Array) -> Array:
    """Return the logits of both models for each answered pair, by the answers of other folds."""
    X, parts = prior.standardized(features), np.empty((len(same), 2))
    for number in np.unique(fold):
        out = fold == number
        line = prior.learned(features[~out], same[~out])
        parts[out] = _parts(line, _forest(X[~out], same[~out]), features[out])
    return parts


def _forest(X: Array, same: Array) -> Any:
    from sklearn.ensemble import ExtraTreesRegressor

    forest = ExtraTreesRegressor(
        _TREES, min_samples_leaf=_LEAF, max_features="sqrt", random_state=0
    )
    return forest.fit(X, same.astype(np.float64))


def _parts(line: PairModel, forest: Any, features: Array) -> Array:
    """Return the logits of both models, of shape (pairs, 2)."""
    if len(features) == 0:
        return np.empty((0, 2))
    X = line.standardized(features)
    p = np.clip(forest.predict(X), _RAREST, 1.0 - _RAREST)
    return np.column_stack([X @ line.weights + line.offset, logit(p)])


def objective(
    x: Array, X: Array, signs: Array, prior: Array, rho: Array | float, lapse: float = LAPSE
) -> tuple[float, Array]:
    """Return the value and the gradient at ``x = (w, b)``."""
    w, b = x[:-1], x[-1]
    right = expit(signs * (X @ w + b))
    said = lapse + (1.0 - 2.0 * lapse) * right
    slopes = -signs * (1.0 - 2.0 * lapse) * right * (1.0 - right) / said
    off = w - prior
    value = -np.log(said).sum() + 0.5 * (rho * off) @ off + 0.5 * _OFFSET * b**2
    gradient = X.T @ slopes + rho * off
    return float(value), np.append(gradient, slopes.sum() + _OFFSET * b)
