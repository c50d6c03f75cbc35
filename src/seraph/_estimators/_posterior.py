"""What learners of the paper's model say about pairs: how likely alike, and which to ask."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted, validate_data

from .._base import MahalanobisLearner
from .._decisions import pair_points
from .._pairs import PairLabels, RowNames, as_labels, is_missing
from .._sweep import FLOATS, in_memory, posterior
from .._typing import Array
from .._validation import as_numbers, check_choice, check_number
from .._warnings import warn
from ..metrics._tiles import squared_distances
from . import _query as query


class PosteriorLearner(MahalanobisLearner):
    """Base class of the learners whose distance gives a probability, (5) in the paper.

    ``p = 1 / (1 + exp(-kappa (d^2 - eta)))``, with ``kappa = -1`` in the simplified model (8).
    """

    # With metadata routing, these go to the learner without being asked for, as pairs do.
    __metadata_request__fit: ClassVar = {"pair_weights": True, "triplets": True}

    eta_: float
    kappa_: float

    def pair_proba(
        self, pairs: ArrayLike, X: Any = None, *, ids: ArrayLike | None = None
    ) -> Array:
        """Compute the probability (5) that the two points of each pair are alike.

        Parameters
        ----------
        pairs, X, ids
            Pairs of points, or of rows of `X`, as in ``pair_distance``.

        Returns
        -------
        ndarray of shape (n_pairs,)
            Probabilities of ``y = +1``.
        """
        squared = self._squared_distances(pair_points(pairs, X, ids))
        kind = squared.dtype.type
        return posterior(kind(-self.kappa_) * (squared - kind(self.eta_)))

    def query_pairs(
        self,
        X: ArrayLike,
        n: int = 10,
        strategy: Literal["entropy", "gradient"] = "entropy",
        *,
        y: ArrayLike | None = None,
        pairs: ArrayLike | None = None,
        ids: ArrayLike | None = None,
    ) -> Array:
        """Choose pairs of rows of `X` to ask an expert about next; no row is in two of them.

        The search looks at all pairs, tile by tile, and never stores an n x n array.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points.
        n : int, default=10
            Number of pairs.
        strategy : {"entropy", "gradient"}, default="entropy"
            "entropy" picks the pairs that the model is least sure of, those whose squared
            distance is nearest to the threshold. "gradient" picks those whose answer is
            expected to change the metric most: the gradient of ``ln p(y)`` has a mean length
            proportional to ``p (1 - p) ||x - x'||^2``. With ``shrinkage=0``, both were a
            little better than random pairs on wine and digits, starting from some class labels.
            Starting from marked pairs alone, they were level with random ones, on wine, digits,
            faces and news.
        y : array-like of shape (n_samples,), optional
            Class labels as in ``fit``. Pairs of labeled rows are known and left out.
        pairs : array-like of shape (n_pairs, 2), optional
            Pairs that are marked already: row numbers, or names. Pairs of absent rows do no
            harm.
        ids : array-like of shape (n_samples,), optional
            Names of the rows, each once; the index of a DataFrame names them without this.

        Returns
        -------
        ndarray of shape (n, 2)
            Row numbers, the smaller first; or names, if X is a DataFrame or `ids` are given.
            The most useful pair comes first.

        References
        ----------
        B. Settles, M. Craven. An analysis of active learning strategies for sequence
        labeling tasks. EMNLP 2008. (Uncertainty, and expected gradient length.)

        Examples
        --------
        >>> import numpy as np
        >>> from seraph import SERAPH
        >>> X = np.random.default_rng(0).normal(size=(30, 3))
        >>> y = np.full(30, -1)
        >>> y[:8] = X[:8, 0] > 0
        >>> SERAPH().fit(X, y).query_pairs(X, 3, y=y).shape
        (3, 2)
        """
        check_number("n", n, low=1, integer=True)
        check_choice("strategy", strategy, ("entropy", "gradient"))
        points = self._points_of_metric(X)
        names = RowNames.of(X, ids, np.empty((0, 2)) if pairs is None else pairs, "drop")
        labeled, marked = _known(len(points), y, pairs, names)
        d2 = squared_distances(points @ self.components_.T.astype(points.dtype))
        span2 = squared_distances(points)

        def doubt(a: Array, b: Array) -> Array:
            return -np.abs(d2(a, b) - self.eta_)

        def change(a: Array, b: Array) -> Array:
            p = posterior(-self.kappa_ * (d2(a, b) - self.eta_))
            return p * (1.0 - p) * span2(a, b)

        score = {"entropy": doubt, "gradient": change}[strategy]
        chosen = query.best_pairs(score, n, labeled, marked)
        if len(chosen) < n:
            warn(
                f"Only {len(chosen)} of {n} pairs are left to ask about: no row is in two of "
                "them, and known pairs are left out."
            )
        return names.names(chosen)

    def _points_of_metric(self, X: ArrayLike) -> Array:
        """Return the points `X` in the space that ``components_`` maps from."""
        check_is_fitted(self)
        with as_numbers("X"):
            points: Array = validate_data(self, in_memory(X), dtype=FLOATS, reset=False)
        return points


def averages(learner: Any) -> bool:
    """Say whether the learned share is the mean of the metrics for several weights."""
    # (Neither has been checked yet: an array has no truth value.)
    return isinstance(learner.lam, str) and isinstance(learner.shrinkage, str)


def _known(
    n: int, y: ArrayLike | None, pairs: ArrayLike | None, names: RowNames
) -> tuple[Array, Array]:
    """Say which of `n` rows have a class, and which pairs are marked."""
    labeled = np.zeros(n, dtype=bool)
    if y is not None:
        labels = as_labels(y)
        if len(labels) != n:
            raise ValueError(
                f"y has {len(labels)} labels and X has {n} rows: give one label per row, and -1 "
                "where the class is unknown."
            )
        labeled = ~is_missing(labels)
    if pairs is None or np.size(pairs) == 0:
        return labeled, np.empty((0, 2), dtype=np.intp)
    marks = np.ones(len(np.asarray(pairs)), dtype=bool)
    return labeled, PairLabels.make(n, pairs=pairs, pair_labels=marks, names=names).pairs
