"""Active learning: choose pairs of rows, or rows, to ask about next."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.pipeline import Pipeline
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from .._learner import map_points
from .._marks import Marks, PairLabels, Rows, read_classes
from .._pairs import probability as posterior
from .._utils._typing import Array
from .._utils._validation import as_numbers, blame_step, check_choice, check_number, check_seed
from .._utils._warnings import warn
from ..metrics._classes import ClassDistances
from ..metrics._tiles import SquaredDistances
from ._best_pairs import best_pairs
from ._classifier import MetricClassifier
from .._kernel import KernelSERAPH
from ._pair_classifier import PairClassifier
from .._seraph import SERAPH as PosteriorLearner
from ._typical import typical_rows


def query_pairs(
    model: Any,
    X: Any,
    n: int = 10,
    *,
    y: ArrayLike | None = None,
    marks: Marks | None = None,
    strategy: Literal["entropy", "gradient"] = "entropy",
) -> Array:
    """Choose pairs of rows of `X` to ask an expert about next; no row is in two of them.

    The search covers all pairs, tile by tile, in O(n) memory.

    Parameters
    ----------
    model : fitted estimator
        A SERAPH, SERAPHCV or KernelSERAPH, or a pipeline that ends in one; or a
        :class:`seraph.PairClassifier` with any learner.
    X : array-like of shape (n_samples, n_features)
        Points.
    n : int, default=10
        Number of pairs.
    y : array-like of shape (n_samples,), optional
        Class labels as in ``fit``. Pairs of labeled rows are known and left out.
    marks : Marks, optional
        What is marked already; these pairs are left out, too.
    strategy : {"entropy", "gradient"}, default="entropy"
        "entropy" picks the pairs that the model is least sure of, those whose distance is
        nearest to the threshold. "gradient" picks those whose answer is expected to change the
        metric most: the gradient of ``ln p(y)`` has a mean length proportional to
        ``p (1 - p) ||x - x'||^2``. With ``shrinkage=0``, both were a little better than random
        pairs on wine and digits, starting from some class labels. Starting from marked pairs
        alone, they were level with random ones, on wine, digits, faces and news.

    Returns
    -------
    ndarray of shape (n, 2)
        Row numbers, the smaller first; or labels of the index, if X is a DataFrame. The most
        useful pair comes first.

    References
    ----------
    B. Settles, M. Craven. An analysis of active learning strategies for sequence labeling tasks.
    EMNLP 2008. (Uncertainty, and expected gradient length.)

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
    check_choice("strategy", strategy, ("entropy", "gradient"))
    points, d2, threshold, slope = _decision(model, X)
    span2 = SquaredDistances(points)
    known = PairLabels.of(X, len(points), y, marks, required=False)

    def doubt(a: Array, b: Array) -> Array:
        return -np.abs(d2(a, b) - threshold)

    def change(a: Array, b: Array) -> Array:
        p = posterior(slope * (d2(a, b) - threshold))
        return p * (1.0 - p) * span2(a, b)

    score = {"entropy": doubt, "gradient": change}[strategy]
    chosen = best_pairs(score, n, known.codes >= 0, known.pairs)
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
    strategy: Literal["typical", "unsure"] = "typical",
    random_state: int | np.random.RandomState | None = None,
) -> Array:
    """Choose rows of `X` whose class to ask an expert for next.

    A class label says more than a pair: it labels a pair with every labeled row. The rows are
    typical ones from regions of the learned space without a label, as in TypiClust: k-means makes
    as many clusters as there are labeled and wanted rows, and each of the largest clusters without
    a label gives the row whose neighbors are nearest. With few labels, such rows teach more than
    those that the model is least sure of, which ``strategy="unsure"`` returns.

    Parameters
    ----------
    model : fitted estimator
        Any learner with ``transform``, or a pipeline that ends in one; or a
        :class:`seraph.MetricClassifier`.
    X : array-like of shape (n_samples, n_features)
        Points.
    n : int, default=10
        Number of rows.
    y : array-like of shape (n_samples,), optional
        Class labels as in ``fit``; rows with a label are not asked about.
    strategy : {"typical", "unsure"}, default="typical"
        "typical" as above. "unsure": the rows whose most probable class is least probable by a
        MetricClassifier, the least sure first: to check predictions, rather than to learn.
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
    check_choice("strategy", strategy, ("typical", "unsure"))
    check_seed(random_state)
    check_is_fitted(model)
    classifier, points = None, X
    if isinstance(model, Pipeline) and isinstance(model.steps[-1][1], MetricClassifier):
        with as_numbers("X"):
            points, model = model[:-1].transform(X), model[-1]
    while isinstance(model, PairClassifier | MetricClassifier):
        classifier = model if isinstance(model, MetricClassifier) else classifier
        model = model.estimator_
    if strategy == "unsure" and classifier is None:
        raise ValueError(
            f'strategy="unsure" needs class probabilities; got a {type(model).__name__}: fit a '
            f"MetricClassifier({type(model).__name__}()) and pass it."
        )
    with as_numbers("X"):
        Z = np.asarray(model.transform(points), dtype=np.float64)
    labeled = np.zeros(len(Z), dtype=bool)
    if y is not None:
        _, labeled = read_classes(y, len(Z))
    free = int((~labeled).sum())
    if free < n:
        warn(f"Only {free} of {n} rows are left to ask about: the others have a label.")
    if free == 0:
        return Rows.of(X).name_rows(np.empty(0, dtype=np.intp))
    if classifier is not None and strategy == "unsure":
        best = classifier.predict_proba(points).max(axis=1)
        best[labeled] = np.inf
        return Rows.of(X).name_rows(np.argsort(best, kind="stable")[: min(n, free)])
    rng = check_random_state(random_state)
    return Rows.of(X).name_rows(typical_rows(Z, labeled, min(n, free), rng))


def _decision(model: Any, X: Any) -> tuple[Array, SquaredDistances | ClassDistances, float, float]:
    """Return the points, their squared distances, the threshold and the slope of the log-odds.

    The threshold is the squared distance at which p = 1/2, and the slope is that of the log-odds
    of "different" there. For a `MetricClassifier`, the probability of different classes takes the
    place of the squared distance.
    """
    if not isinstance(model, PairClassifier):
        learner, points, Z = _map_model_points(model, X)
        if not isinstance(learner, PosteriorLearner):
            name = type(learner).__name__
            raise ValueError(
                f"{name} cannot say how sure it is about a pair: pass a SERAPH, or a "
                f"PairClassifier({name}())."
            )
        return points, SquaredDistances(Z), float(learner.eta_), float(-learner.kappa_)
    check_is_fitted(model)
    threshold, slope = model.threshold_, abs(model.slope_)
    if isinstance(model.estimator_, MetricClassifier):
        with as_numbers("X"):
            chances = model.estimator_.predict_proba(X)
        return chances, ClassDistances(chances), threshold, slope
    _, points, Z = _map_model_points(model.estimator_, X)
    slope /= 2.0 * max(abs(threshold), 1e-300)
    return points, SquaredDistances(Z), threshold * abs(threshold), slope


def _map_model_points(model: Any, X: Any) -> tuple[Any, Array, Array]:
    """Return the learner, which may end a pipeline, and its points before and after its map.

    The points of a learner of the model are in the space that its components map from.
    """
    check_is_fitted(model)
    while isinstance(model, Pipeline):
        before = model[:-1]
        if len(before):
            with blame_step(before.steps[0][1] if len(before) == 1 else before):
                X = before.transform(X)
        model = model.steps[-1][1]
    if isinstance(model, KernelSERAPH):
        X, model = model._coordinates(X), model.learner_  # noqa: SLF001
    if isinstance(model, PosteriorLearner):
        points = model._check_new_points(X)  # noqa: SLF001
        return model, points, map_points(points, model.components_)
    return model, np.asarray(X), np.asarray(model.transform(X))
