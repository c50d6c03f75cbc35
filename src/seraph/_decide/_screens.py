"""Screens: a few rows at a time, for a person to say which of them are the same."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_array, check_is_fitted

from .._marks import sample_rows
from .._utils._public import publish
from .._utils._typing import Array
from .._utils._validation import check_number, check_seed
from ._models import from_device, transformed
from ._pair_classifier import PairClassifier
from ._queries import name_sampled

# Near rows are drawn from so many of the nearest.
POOL = 40


def query_screens(
    model: Any,
    X: Any,
    n: int = 1,
    *,
    size: int = 8,
    near: int = 4,
    random_state: int | np.random.RandomState | None = None,
) -> tuple[Array, Array]:
    """Choose screens of rows, for a person to say which rows are the same.

    A screen has a random first row, some rows from the 40 nearest to it, and random others. One
    screen of eight rows takes a few taps and tells more than as many questions about pairs.
    Turn the answers into marks with :meth:`seraph.Marks.from_screens`.

    Parameters
    ----------
    model : fitted estimator or None
        Any learner with ``transform``, or a pipeline that ends in one; or a
        :class:`seraph.MetricClassifier` or :class:`seraph.PairClassifier`. Rows are near by its
        distance. None before the first answers: the Euclidean distance of X.
    X : array-like of shape (n_samples, n_features)
        Points.
    n : int, default=1
        Number of screens. Learn from the answers to a few before you ask for more.
    size : int, default=8
        Number of rows of a screen.
    near : int, default=4
        How many of them are near the first one; at most ``size - 2``, so that each row has a
        chance.
    random_state : int, RandomState instance or None, default=None
        Seed of the choice.

    Returns
    -------
    rows : ndarray of shape (n, size)
        Row numbers, or labels of the index if X is a DataFrame; the first row first, the others
        in random order.
    chances : ndarray of shape (n, size - 1)
        The chance that each of the other rows had to be shown with the first one. Weighted by one
        over it, the first row with each other one is a random sample of all pairs.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from seraph import Marks, query_screens
    >>> X, cultivar = load_wine(return_X_y=True)
    >>> rows, chances = query_screens(None, X, n=3, random_state=0)
    >>> rows.shape, chances.shape
    ((3, 8), (3, 7))
    >>> Marks.from_screens(rows, cultivar[rows], rows=X)
    Marks(178 rows: 27 similar, 56 dissimilar)
    """
    check_number("n", n, low=1, integer=True)
    check_number("size", size, low=2, integer=True)
    check_number("near", near, low=0, high=size - 2, integer=True)
    check_seed(random_state)
    X, _, _, read = sample_rows(X)
    Z = _mapped(model, X)
    if len(Z) < size:
        raise ValueError(f"A screen shows {size} rows, and X has {len(Z)}: pass a smaller size.")
    rng = check_random_state(random_state)
    screens = [sample_screen(Z, int(rng.randint(len(Z))), size, near, rng) for _ in range(n)]
    rows, chances = map(np.array, zip(*screens, strict=True))
    return name_sampled(X, rows, read), chances


def sample_screen(
    Z: Array, first: int, size: int, near: int, rng: np.random.RandomState
) -> tuple[Array, Array]:
    r"""Choose the other rows of a screen, and the chance of each to be on it.

    Of the m nearest rows, `near` are drawn, and then the rest from all rows that are left. With
    N rows and :math:`q = (size - 1 - near) / (N - 1 - near)`, a row has a chance of

    .. math:: \frac{near}{m} + \left(1 - \frac{near}{m}\right) q, \qquad q

    if it is among the m nearest, and if not.
    """
    others = np.delete(np.arange(len(Z)), first)
    m = min(max(POOL, near), len(others))
    d2 = ((Z[others] - Z[first]) ** 2).sum(axis=1)
    close = others[np.argpartition(d2, m - 1)[:m]]
    drawn = rng.choice(close, near, replace=False)
    left = np.setdiff1d(others, drawn, assume_unique=True)
    rest = rng.choice(left, size - 1 - near, replace=False)
    shown = rng.permutation(np.concatenate([drawn, rest]))
    q = (size - 1 - near) / (len(others) - near)
    chances = np.where(np.isin(shown, close), near / m + (1.0 - near / m) * q, q)
    return np.concatenate([[first], shown]), chances


def _mapped(model: Any, X: Any) -> Array:
    if model is None:
        return np.asarray(check_array(from_device(X)), dtype=np.float64)
    check_is_fitted(model)
    model = model.estimator_ if isinstance(model, PairClassifier) else model
    return np.asarray(transformed(model, X), dtype=np.float64)


publish(globals(), "seraph", ["query_screens"])
