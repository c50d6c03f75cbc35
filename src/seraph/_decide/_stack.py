r"""Weigh a learned distance and a forest of pairs, by pairs whose points neither has seen.

With the learned distance d of a pair and the odds o, by the forest, that it is similar,

.. math:: D = d\, o^{-\kappa}, \qquad \kappa = w_o / w_d,

where the weights are those of a logistic regression on :math:`-\ln d` and :math:`\ln o`, both with
a variance of one, that is drawn towards prior weights :math:`w^0`:

.. math:: \min_{w_d \ge \epsilon,\; w_o \ge 0,\; b}\;
          \sum_k c_k \ln\big(1 + e^{-s_k (w \cdot v_k + b)}\big) + \tfrac{\rho}{2} \|w - w^0\|^2,
          \qquad w^0 = (1 - q, q).

:math:`s_k` is 1 for similar pairs and -1 for others; both kinds count alike. A few pairs cannot
tell the weights. By the prior share q (`prior_share`), the forest then has nearly half of the say
on a table of few features, and hardly any on an embedding.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from .._forest import prior_share
from .._marks import effective_size
from .._utils._typing import Array
from ._held_out import HeldOut

# Strength of the prior, rho: chosen on the sets for choosing.
_RIDGE = 20.0
# Least weight of the distance: identical points must be alike.
_LEAST = 0.05
# Distances below this share of the root mean square count as this share.
_FLOOR = 0.01


@dataclass(frozen=True)
class Stack:
    """Combine distances and log-odds, the two columns of features, into one distance.

    `power` is kappa, `share` is ``w_o / (w_d + w_o)``, and smaller distances count as `floor`.
    """

    power: float
    floor: float
    share: float

    @classmethod
    def fit(cls, held: HeldOut, n_features: int) -> Stack:
        """Weigh both by held-out pairs; `n_features` decides on the prior."""
        d, odds = held.features.T
        floor = _FLOOR * float(np.sqrt(np.mean(d**2)))
        V = np.column_stack([-np.log(np.maximum(d, floor or 1.0)), odds])
        unit = V.std(axis=0)
        unit[unit == 0.0] = 1.0
        share = prior_share(n_features)
        w = fit_weights((V - V.mean(axis=0)) / unit, held, np.array([1.0 - share, share]))
        return cls(float(w[1] / unit[1] / (w[0] / unit[0])), floor, float(w[1] / w.sum()))

    def distances(self, features: Array) -> Array:
        """Return the combined distances; 0 where the distance is 0."""
        return np.where(features[:, 0] == 0.0, 0.0, np.exp(self.logarithms(features)))

    def logarithms(self, features: Array) -> Array:
        """Return the logarithms of the combined distances."""
        d, odds = features.T
        logarithms: Array = np.log(np.maximum(d, self.floor or 1.0)) - self.power * odds
        return logarithms


def fit_weights(V: Array, held: HeldOut, prior: Array) -> Array:
    """Return the weights w of the columns of V, as above."""
    similar = held.similar
    n = effective_size(held.counts)
    kinds = [held.counts[similar].sum(), held.counts[~similar].sum()]
    c = n / 2.0 * held.counts / np.where(similar, *kinds)
    s = np.where(similar, 1.0, -1.0)

    def objective(x: Array) -> tuple[float, Array]:
        margins, away = s * (V @ x[:2] + x[2]), x[:2] - prior
        slopes = -c * s * expit(-margins)
        value = c @ np.logaddexp(0.0, -margins) + 0.5 * _RIDGE * away @ away
        return value, np.append(slopes @ V + _RIDGE * away, slopes.sum())

    bounds = [(_LEAST, None), (0.0, None), (None, None)]
    found = minimize(objective, np.append(prior, 0.0), jac=True, bounds=bounds, tol=1e-9)
    return np.asarray(found.x[:2])
