"""Posterior probabilities of pairs, for the learners of the paper's model."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

from numpy.typing import ArrayLike

from .._base import MOST_FEATURES, Blend, MahalanobisLearner
from .._engine import Fit, Settings, warn_of_fit
from .._sweep import posterior
from .._utils._eigen import decompose_on
from .._utils._typing import Array


class PosteriorLearner(MahalanobisLearner):
    """Base class of the learners whose distance gives a probability, (5) in the paper.

    ``p = 1 / (1 + exp(-kappa (d^2 - eta)))``, with ``kappa = -1`` in the simplified model (8).
    """

    eta_: float
    kappa_: float

    def pair_proba(self, pairs: ArrayLike, X: Any = None) -> Array:
        """Compute the probability (5) that the two points of each pair are alike.

        Parameters
        ----------
        pairs, X
            Pairs of points, or of rows of `X`, as in ``pair_distance``.

        Returns
        -------
        ndarray of shape (n_pairs,)
            Probabilities of ``y = +1``.
        """
        return probability(self, self._squared_distances(pairs, X))

    def _take(
        self, X: ArrayLike, fit: Fit, settings: Settings, blend: Blend, **attributes: Any
    ) -> Self:
        """Warn of a doubtful fit to `X`, and set all attributes from it."""
        warn_of_fit(fit, settings, shrunk=not blend.is_off)
        with decompose_on(settings.gpu):
            return self._set_learned(
                X,
                fit.components,
                blend.toward(fit.target, fit.target_weight),
                fit.coordinates,
                fit.averaged,
                **fit.attributes,
                **attributes,
            )


def probability(learner: PosteriorLearner, squared: Array) -> Array:
    """Compute the probability (5) of pairs at squared distances under a fitted learner."""
    kind = squared.dtype.type
    return posterior(kind(-learner.kappa_) * (squared - kind(learner.eta_)))


def with_rules(learner: Any, settings: Settings, n_features: int) -> Settings:
    """Ask for what the parameters of a learner leave to rules, beside the weights.

    If both the weight of the trace and the shrinkage are "auto", metrics are averaged. A target
    that is "auto" knows the neighbors; but a matrix of many features would not fit in memory, and
    its leading directions need not be those along which points vary.
    """
    # (An array has no truth value.)
    is_auto = {
        name: isinstance(getattr(learner, name), str)
        for name in ("lam", "shrinkage", "shrinkage_target")
    }
    return replace(
        settings,
        average=is_auto["lam"] and is_auto["shrinkage"],
        toward_neighbors=is_auto["shrinkage_target"]
        and learner.shrinkage != 0.0
        and learner.n_components is None
        and n_features <= MOST_FEATURES,
    )
