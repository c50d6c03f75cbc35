"""Active learning: choose pairs of rows, or rows, to ask about next."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from warnings import catch_warnings

import numpy as np
from numpy.typing import ArrayLike
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from .._marks import Marks, PairLabels, Rows, read_classes
from .._utils._public import publish
from .._utils._tiles import upper_tiles
from .._utils._typing import Array
from .._utils._validation import as_numbers, check_number, check_seed
from .._utils._warnings import warn
from ..metrics._classes import ClassDistances
from ..metrics._tiles import SquaredDistances, Tile
from ._classifier import MetricClassifier
from ._models import from_device, last_step
from ._pair_classifier import PairClassifier

# Candidates kept per wanted pair, since those that share a point with a better pair drop out;
# but no more than _MOST: if the candidates run out, the search starts again from the free points.
_CANDIDATES, _MOST = 50, 1 << 19
# Neighbors that say how typical a row is, as in TypiClust.
_NEIGHBORS = 20


def query_pairs(
    model: Any, X: Any, n: int = 10, *, y: ArrayLike | None = None, marks: Marks | None = None
) -> Array:
    """Choose pairs of rows of `X` to ask an expert about next; no row is in two of them.

    The model is least sure of these pairs: their distances are nearest to the threshold. They gain
    little over random ones, and nothing where only pairs are known; if you can ask for classes,
    use :func:`seraph.query_rows`. The search covers all pairs, in O(n) memory.

    Parameters
    ----------
    model : fitted estimator
        A learner with ``pair_proba``, such as SERAPH, or a pipeline that ends in one; or a
        :class:`seraph.PairClassifier` with any learner.
    X : array-like of shape (n_samples, n_features)
        Points.
    n : int, default=10
        Number of pairs.
    y : array-like of shape (n_samples,), optional
        Class labels as in ``fit``. Pairs of labeled rows are known and left out.
    marks : Marks, optional
        What is marked already; these pairs are left out, too.

    Returns
    -------
    ndarray of shape (n, 2)
        Row numbers, the smaller first; or labels of the index, if X is a DataFrame. The most
        doubtful pair comes first.

    Examples
    --------
    >>> import numpy as np
    >>> from seraph import SERAPH, query_pairs
    >>> X = np.random.default_rng(0).normal(size=(30, 3))
    >>> y = np.full(30, -1)
    >>> y[:8] = X[:8, 0] > 0
    >>> query_pairs(SERAPH().fit(X, y), X, 3, y=y).shape
    (3, 2)
    """
    check_number("n", n, low=1, integer=True)
    d2, threshold, n_rows = _decision(model, X)
    known = PairLabels.of(X, n_rows, y, marks, required=False)

    def certainty(a: Array, b: Array) -> Array:
        return -np.abs(d2(a, b) - threshold)

    chosen = best_pairs(certainty, n, known.codes >= 0, known.pairs)
    if len(chosen) < n:
        warn(
            f"Only {len(chosen)} of {n} pairs are left to ask about: no row is in two of them, "
            "and known pairs are left out."
        )
    return Rows.of(X).name_rows(chosen)


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
    teach more than those that the model is least sure of.

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
    model = model.estimator_ if isinstance(model, PairClassifier) else model
    Z = _map_points(model, X)
    labeled = np.zeros(len(Z), dtype=bool)
    if y is not None:
        _, labeled = read_classes(y, len(Z))
    n_free = int((~labeled).sum())
    if n_free < n:
        warn(f"Only {n_free} of {n} rows are left to ask about: the others have a label.")
    if n_free == 0:
        return Rows.of(X).name_rows(np.empty(0, dtype=np.intp))
    rng = check_random_state(random_state)
    return Rows.of(X).name_rows(_typical_rows(Z, labeled, min(n, n_free), rng))


def _decision(model: Any, X: Any) -> tuple[SquaredDistances | ClassDistances, float, int]:
    """Return the squared distances of rows, the one at which p = 1/2, and the number of rows.

    For a `MetricClassifier`, the probability of different classes takes the place of the squared
    distance.
    """
    check_is_fitted(model)
    if not isinstance(model, PairClassifier):
        learner = last_step(model)
        if not hasattr(learner, "pair_proba"):
            name = type(learner).__name__
            raise ValueError(
                f"{name} cannot say how sure it is about a pair: pass a SERAPH, or a "
                f"PairClassifier({name}())."
            )
        Z = _map_points(model, X)
        return SquaredDistances(Z), float(getattr(learner, "learner_", learner).eta_), len(Z)
    threshold = model.threshold_
    if isinstance(model.estimator_, MetricClassifier):
        with as_numbers("X"):
            chances = model.estimator_.predict_proba(X)
        return ClassDistances(chances), threshold, len(chances)
    Z = _map_points(model.estimator_, X)
    return SquaredDistances(Z), threshold * abs(threshold), len(Z)


def _map_points(model: Any, X: Any) -> Array:
    with as_numbers("X"):
        return np.asarray(model.transform(from_device(X)), dtype=np.float64)


def _typical_rows(Z: Array, labeled: Array, n: int, rng: np.random.RandomState) -> Array:
    """Choose `n` rows without a label, one from each of the largest clusters without one.

    There are as many clusters as labeled and wanted rows together, so enough of them have no
    label. `labeled` says which rows of the mapped points `Z` have one.
    """
    k = min(int(labeled.sum()) + n, len(Z))
    points = Z if Z.shape[1] else np.zeros((len(Z), 1))
    # There may be fewer distinct points than clusters.
    with catch_warnings(action="ignore", category=ConvergenceWarning):
        cluster = KMeans(k, n_init=1, random_state=rng).fit_predict(points)
    sizes = np.bincount(cluster, minlength=k)
    sizes[np.unique(cluster[labeled])] = 0
    d2 = SquaredDistances(points)
    chosen: list[int] = []
    for number in np.argsort(-sizes, kind="stable")[:n]:
        if sizes[number]:
            rows = np.flatnonzero(cluster == number)
            near = np.sort(d2(rows, rows), axis=1)[:, : _NEIGHBORS + 1]
            chosen.append(int(rows[np.argmin(np.sqrt(near).mean(axis=1))]))
    left = np.setdiff1d(np.flatnonzero(~labeled), chosen)  # where points coincide
    more = rng.permutation(left)[: n - len(chosen)]
    return np.array([*chosen, *more.tolist()], dtype=np.intp)


def best_pairs(score: Tile, n: int, labeled: Array, pairs: Array, tile: int = 512) -> Array:
    """Find the pairs of rows with the highest scores; no row is in two of them.

    The choice is greedy: the best pair, then the best that shares no row with it, and so on.
    Among equal scores it is arbitrary, but always the same. Memory is O(n_points + tile^2).

    `score` takes two arrays of row numbers, and returns the scores of all their pairs, a matrix.
    Pairs of two `labeled` rows, and the `pairs`, are left out. Returns the numbers of the two rows
    of each pair, the smaller first; fewer than `n` pairs if there are fewer.
    """
    free = np.ones(len(labeled), dtype=bool)
    n = min(n, len(labeled) // 2)
    chosen: list[tuple[int, int]] = []
    while len(chosen) < n:
        size = min(_CANDIDATES * (n - len(chosen)), _MOST)
        candidates = _best(_tiles(score, np.flatnonzero(free), labeled, pairs, tile), size)
        if len(candidates) == 0:
            break
        for i, j in candidates.tolist():
            if free[i] and free[j] and len(chosen) < n:
                chosen.append((i, j))
                free[i] = free[j] = False
    return np.array(chosen, dtype=np.intp).reshape(-1, 2)


def _best(tiles: Iterator[tuple[Array, Array, Array]], size: int) -> Array:
    """Find the `size` best pairs of all tiles, best first."""
    rng = np.random.default_rng(0)
    scores, pairs, order = np.empty(0), np.empty((0, 2), dtype=np.intp), np.empty(0)
    lowest = -np.inf
    for a, b, tile_scores in tiles:
        i, j = np.nonzero(tile_scores > lowest)
        scores = np.concatenate([scores, tile_scores[i, j]])
        pairs = np.concatenate([pairs, np.column_stack([a[i], b[j]])])
        # At random among equal scores, as duplicate points have: in the order of the rows, most
        # candidates would share a row, and a search would find one pair.
        order = np.concatenate([order, rng.random(len(i))])
        # Twice as many as wanted, so that they are not sorted for every tile.
        if len(scores) > 2 * size:
            best = np.lexsort([order, -scores])[:size]
            scores, pairs, order = scores[best], pairs[best], order[best]
            lowest = float(scores[-1])
    return pairs[np.lexsort([order, -scores])[:size]]


def _tiles(
    score: Tile, rows: Array, labeled: Array, pairs: Array, tile: int
) -> Iterator[tuple[Array, Array, Array]]:
    """Yield rows, columns and scores of each tile on or above the diagonal; -inf if left out."""
    place = np.full(len(labeled), -1)
    place[rows] = np.arange(len(rows))
    first, second = np.sort(place[pairs], axis=1).T
    for upper, lower in upper_tiles(len(rows), tile):
        a, b = rows[upper], rows[lower]
        scores = score(a, b)
        scores[np.logical_and.outer(labeled[a], labeled[b])] = -np.inf
        inside = (upper.start <= first) & (first < upper.stop)
        inside &= (lower.start <= second) & (second < lower.stop)
        scores[first[inside] - upper.start, second[inside] - lower.start] = -np.inf
        if upper is lower:
            scores[np.tril_indices(len(scores))] = -np.inf
        yield a, b, scores


publish(globals(), "seraph", ["query_pairs", "query_rows"])
