"""Active learning: choose rows, and screens of rows, to ask about next."""

from __future__ import annotations

from typing import Any
from warnings import catch_warnings

import numpy as np
from numpy.typing import ArrayLike
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import euclidean_distances
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_array, check_is_fitted

from .._marks import Rows, is_frame, read_classes, sample_rows
from .._utils._public import publish
from .._utils._typing import Array
from .._utils._validation import check_number, check_seed
from .._utils._warnings import warn
from ._models import from_device, transformed
from ._pair_classifier import PairClassifier

# Neighbors that say how typical a row is, as in TypiClust.
_NEIGHBORS = 20
# Near rows are drawn from so many of the nearest.
POOL = 40


def query_rows(
    model: Any,
    X: Any,
    n: int = 10,
    *,
    y: ArrayLike | None = None,
    random_state: int | np.random.RandomState | None = None,
) -> Array:
    """Choose rows of `X` whose class to ask an expert for next.

    They are typical rows from regions of the learned space without a label, as in TypiClust:
    k-means makes as many clusters as there are labeled and wanted rows, and each of the largest
    clusters without a label gives the row whose neighbors are nearest. With few labels, such rows
    teach more than random ones.

    Parameters
    ----------
    model : fitted estimator
        Any learner with ``transform``, or a pipeline that ends in one; or a
        :class:`seraph.MetricClassifier` or :class:`seraph.PairClassifier`.
    X : array-like of shape (n_samples, n_features)
        Points.
    n : int, default=10
        Number of rows.
    y : array-like of shape (n_samples,), optional
        Class labels as in ``fit``; rows with a label are not asked about.
    random_state : int, RandomState instance or None, default=None
        Seed of k-means.

    Returns
    -------
    ndarray of shape (n,)
        Row numbers; or labels of the index, if X is a DataFrame. Rows of large clusters come
        first.

    References
    ----------
    G. Hacohen, A. Dekel, D. Weinshall. Active learning on a budget: opposite strategies suit high
    and low budgets. ICML 2022.

    Examples
    --------
    >>> import numpy as np
    >>> from seraph import SERAPH, query_rows
    >>> X = np.random.default_rng(0).normal(size=(30, 3))
    >>> y = np.where(np.arange(30) < 8, X[:, 0] > 0, -1)
    >>> rows = query_rows(SERAPH().fit(X, y), X, 3, y=y, random_state=0)
    >>> bool((y[rows] == -1).all())
    True
    """
    check_number("n", n, low=1, integer=True)
    check_seed(random_state)
    check_is_fitted(model)
    X, y, _, read = sample_rows(X, y)
    Z = _mapped(model, X)
    labeled = np.zeros(len(Z), dtype=bool)
    if y is not None:
        _, labeled = read_classes(y, len(Z))
    n_free = int((~labeled).sum())
    if n_free < n:
        warn(f"Only {n_free} of {n} rows are left to ask about: X has no others without a label.")
    if n_free == 0:
        return Rows.of(X).name_rows(np.empty(0, dtype=np.intp))
    rng = check_random_state(random_state)
    return _name_sampled(X, _typical_rows(Z, labeled, min(n, n_free), rng), read)


def _name_sampled(X: Any, chosen: Array, read: Array | None) -> Array:
    """Return the names of rows of a sample, or their numbers in the collection it is from."""
    return Rows.of(X).name_rows(chosen if read is None or is_frame(X) else read[chosen])


def _typical_rows(Z: Array, labeled: Array, n: int, rng: np.random.RandomState) -> Array:
    """Choose `n` rows without a label, one from each of the largest clusters without one.

    There are as many clusters as labeled and wanted rows together, so enough of them have no
    label. `labeled` marks the rows of the mapped points `Z` that have one.
    """
    k = min(int(labeled.sum()) + n, len(Z))
    # There may be fewer distinct points than clusters.
    with catch_warnings(action="ignore", category=ConvergenceWarning):
        cluster = KMeans(k, n_init=1, random_state=rng).fit_predict(Z)
    sizes = np.bincount(cluster, minlength=k)
    sizes[np.unique(cluster[labeled])] = 0
    chosen: list[int] = []
    for number in np.argsort(-sizes, kind="stable")[:n]:
        if sizes[number]:
            rows = np.flatnonzero(cluster == number)
            near = np.sort(euclidean_distances(Z[rows]), axis=1)[:, : _NEIGHBORS + 1]
            chosen.append(int(rows[np.argmin(near.mean(axis=1))]))
    left = np.setdiff1d(np.flatnonzero(~labeled), chosen)  # where points coincide
    more = rng.permutation(left)[: n - len(chosen)]
    return np.array([*chosen, *more.tolist()], dtype=np.intp)


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
    return _name_sampled(X, rows, read), chances


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


publish(globals(), "seraph", ["query_rows", "query_screens"])
