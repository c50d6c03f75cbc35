"""Generate the two artificial sets of figures 1 and 2, where a few labels mislead.

The paper shows the points but does not give their coordinates or number. Here the four labeled
points are those nearest to fixed places, so that every seed shows the same effect. Both sets are
returned as points, their classes, and these with -1 for all but the labeled points.
"""

from __future__ import annotations

import numpy as np
from sklearn.utils import check_random_state

from seraph._utils._typing import Array

_LABELED = np.array([0, 0, 1, 1])

# Figure 1: the columns, their spread and half height; where the labeled points are.
_COLUMNS = np.array([-2.5, -0.2, 0.2, 2.5])
_SPREAD, _HEIGHT = 0.05, 0.55
_COLUMN_LABELS = np.column_stack([_COLUMNS, [0.44, 0.22, -0.44, -0.22]])

# Figure 2: the centers of the two bars, their half width and half height; the labeled points.
_CENTER, _WIDTH, _TALL = 14.0, 6.0, 55.0
_BAR_LABELS = np.array([(-18.0, -5.0), (-10.0, -30.0), (11.0, -22.0), (18.0, -32.0)])


def make_posterior_sparsity(
    n_samples: int = 200, *, random_state: int | np.random.RandomState | None = None
) -> tuple[Array, Array, Array]:
    r"""Make points whose labels differ in height although the classes do not.

    .. math:: x \in \{-2.5, -0.2, 0.2, 2.5\} + 0.05\, N(0, 1), \quad
              y \sim U(-0.55, 0.55), \quad class = [x > 0]

    Each of the two classes fills two columns; one point in each is labeled. The labeled points of
    class 0 happen to lie high and those of class 1 low, so a metric learned from the labels alone
    uses the height. The unlabeled pairs correct it: horizontally they are either near or far, in
    height they take all distances, and a low entropy favors the former. This is figure 1 of Niu
    et al. (2012), for ``mu = 10 #(S u D) / #U``, ``lam = 0`` and ``eta = 1``.
    """
    random = check_random_state(random_state)
    column = np.arange(n_samples) % len(_COLUMNS)
    X = np.column_stack(
        [
            _COLUMNS[column] + _SPREAD * random.standard_normal(n_samples),
            random.uniform(-_HEIGHT, _HEIGHT, n_samples),
        ]
    )
    y = (column >= 2).astype(np.int64)
    return X, y, _labels_near(_COLUMN_LABELS, X, y)


def make_projection_sparsity(
    n_samples: int = 200, *, random_state: int | np.random.RandomState | None = None
) -> tuple[Array, Array, Array]:
    r"""Make points whose horizontal feature separates the classes, and whose vertical one doesn't.

    .. math:: x \sim \mp 14 + U(-6, 6), \quad y \sim U(-55, 55)

    The two classes are tall bars, side by side. The labeled points of each lie on a slanted line,
    and without a penalty the metric tilts with them. This is figure 2 of Niu et al. (2012), for
    ``mu = 0``, ``lam = 300`` and ``eta = 1``; the features are large to match this ``lam``.
    """
    random = check_random_state(random_state)
    y = np.arange(n_samples) % 2
    X = np.column_stack(
        [
            np.where(y == 0, -_CENTER, _CENTER) + random.uniform(-_WIDTH, _WIDTH, n_samples),
            random.uniform(-_TALL, _TALL, n_samples),
        ]
    )
    return X, y, _labels_near(_BAR_LABELS, X, y)


def _labels_near(places: Array, X: Array, y: Array) -> Array:
    """Label the point of the right class nearest to each of the four places; -1 elsewhere."""
    y_partial = np.full(len(y), -1, dtype=y.dtype)
    for place, label in zip(places, _LABELED, strict=True):
        free = np.flatnonzero((y == label) & (y_partial < 0))
        nearest = free[np.argmin(np.sum((X[free] - place) ** 2, axis=1))]
        y_partial[nearest] = label
    return y_partial
