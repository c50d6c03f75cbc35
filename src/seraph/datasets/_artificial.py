"""Two artificial sets in the plane on which few labels mislead: Figures 1 and 2 of the paper.

The paper gives neither the points nor their numbers, only what they show. Here the four
labelled points are those nearest to fixed places, so that every draw shows it.
"""

from __future__ import annotations

from numbers import Integral

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

_FEWEST = 20
_LABELED = np.array([0, 0, 1, 1])

# Figure 1: columns x of the points, their spread and height; where the labelled ones are.
_COLUMNS = np.array([-2.5, -0.2, 0.2, 2.5])
_SPREAD, _HEIGHT = 0.05, 0.55
_COLUMN_LABELS = np.column_stack([_COLUMNS, [0.44, 0.22, -0.44, -0.22]])

# Figure 2: centres x of the two bars, their half width and height; the labelled points.
_CENTER, _WIDTH, _TALL = 14.0, 6.0, 55.0
_BAR_LABELS = np.array([(-18.0, -5.0), (-10.0, -30.0), (11.0, -22.0), (18.0, -32.0)])


def make_posterior_sparsity(
    n_samples: int = 200, *, random_state: int | np.random.RandomState | None = None
) -> tuple[NDArray, NDArray, NDArray]:
    r"""Points whose few labels are told apart by height, and whose classes are not.

    .. math:: x \in \{-2.5, -0.2, 0.2, 2.5\} + 0.05\, N(0, 1), \quad
              y \sim U(-0.55, 0.55), \quad class = [x > 0]

    Two classes of two columns each. The horizontal feature is the one that matters. Of the
    four labelled points, one in each column, those of class 0 happen to lie high and those of
    class 1 low, while two of a class lie further apart than the classes do: a metric learned
    from them alone looks at the height. Unlabelled pairs are near or far in the horizontal
    feature, with little between, and anything in the height; a small entropy asks for the
    former. As Figure 1 of Niu et al. (2012), at ``mu = 10 #(S u D) / #U``, ``lam = 0`` and
    ``eta = 1``.

    Parameters
    ----------
    n_samples : int, default=200
        Number of points, at least 20.
    random_state : int, RandomState instance or None, default=None
        Seed of the points.

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
        Points.
    y : ndarray of shape (n_samples,)
        Classes, 0 and 1.
    y_partial : ndarray of shape (n_samples,)
        The class of the four labelled points, and -1 elsewhere.

    Examples
    --------
    >>> from seraph.datasets import make_posterior_sparsity
    >>> X, y, y_partial = make_posterior_sparsity(random_state=0)
    >>> X.shape, int((y_partial >= 0).sum())
    ((200, 2), 4)
    """
    _check_size(n_samples)
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
) -> tuple[NDArray, NDArray, NDArray]:
    r"""Points with a horizontal feature that tells the classes and a vertical one that doesn't.

    .. math:: x \sim \mp 14 + U(-6, 6), \quad y \sim U(-55, 55)

    Two classes, two tall bars side by side. The labelled points of a class lie aslant, and
    without a penalty the metric turns along with them. The trace pays for the one direction
    that holds the classes apart, and for no second one. As Figure 2 of Niu et al. (2012), at
    ``mu = 0``, ``lam = 300`` and ``eta = 1``; the features are large because ``lam`` is.

    Parameters
    ----------
    n_samples : int, default=200
        Number of points, at least 20.
    random_state : int, RandomState instance or None, default=None
        Seed of the points.

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
        Points.
    y : ndarray of shape (n_samples,)
        Classes, 0 and 1.
    y_partial : ndarray of shape (n_samples,)
        The class of the four labelled points, and -1 elsewhere.

    Examples
    --------
    >>> from seraph.datasets import make_projection_sparsity
    >>> X, y, y_partial = make_projection_sparsity(random_state=0)
    >>> X.shape, int((y_partial >= 0).sum())
    ((200, 2), 4)
    """
    _check_size(n_samples)
    random = check_random_state(random_state)
    y = np.arange(n_samples) % 2
    X = np.column_stack(
        [
            np.where(y == 0, -_CENTER, _CENTER) + random.uniform(-_WIDTH, _WIDTH, n_samples),
            random.uniform(-_TALL, _TALL, n_samples),
        ]
    )
    return X, y, _labels_near(_BAR_LABELS, X, y)


def _check_size(n_samples: int) -> None:
    if not isinstance(n_samples, Integral) or n_samples < _FEWEST:
        raise ValueError(f"n_samples must be an integer of at least {_FEWEST}; got {n_samples!r}.")


def _labels_near(places: ArrayLike, X: NDArray, y: NDArray) -> NDArray:
    """Classes of the points nearest to the four places, each of its class; -1 elsewhere."""
    y_partial = np.full(len(y), -1, dtype=y.dtype)
    for place, label in zip(np.asarray(places), _LABELED, strict=True):
        free = np.flatnonzero((y == label) & (y_partial < 0))
        nearest = free[np.argmin(np.sum((X[free] - place) ** 2, axis=1))]
        y_partial[nearest] = label
    return y_partial
