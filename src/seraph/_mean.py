"""MeanMetric: the mean of the metrics of several learners."""

from __future__ import annotations

from functools import cache
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn import get_config
from sklearn.base import clone
from sklearn.utils import Bunch, _safe_indexing
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.metaestimators import _BaseComposition

from ._learner import MahalanobisLearner
from ._marks import Marks, PairLabels, aligned_marks
from ._objective import ROWS
from ._points import PointSet, is_chunked, read_points, to_memory
from ._seraph import SERAPH
from ._utils._eigen import eigh, right_svd
from ._utils._public import publish
from ._utils._threads import one_blas_thread
from ._utils._typing import Array
from ._utils._validation import check_number, shown
from ._utils._warnings import warn
from .classic import ITML, LRML
from .classic._learner import ClassicLearner, check_components

Named = list[tuple[str, Any]]


def _default_learners() -> Named:
    return [("seraph", SERAPH()), ("lrml", LRML()), ("itml", ITML())]


class MeanMetric(MahalanobisLearner, _BaseComposition):
    r"""Mean of the metrics of several learners, each scaled to the same total variance.

    .. math:: A = \mathrm{tr}(C) \sum_k w_k \frac{A_k}{\mathrm{tr}(A_k C)}, \qquad
              \sum_k w_k = 1,

    with :math:`C` the covariance of the points. A convex loss of a mean is at most the mean of the
    losses, and lower where learners err in different directions; the scaling gives learners the
    same influence, whatever their units. Distances are in the units of X.

    Parameters
    ----------
    learners : list of (str, learner), optional
        Named learners of a Mahalanobis distance, with ``get_mahalanobis_matrix()`` or
        ``components_`` once they are fitted. They are cloned. None means
        :class:`seraph.SERAPH`, :class:`seraph.classic.LRML` and :class:`seraph.classic.ITML`,
        named "seraph", "lrml" and "itml". As in scikit-learn's ``VotingClassifier``,
        ``set_params(seraph__lam=0.1)`` sets a parameter of a learner, and
        ``set_params(itml=None)`` leaves a learner out ("drop" does, too).
    weights : array-like of shape (n_learners,), optional
        Weights of the learners; only their ratios matter. None weights them equally.
    n_components : int, optional
        Largest rank of the mean: it keeps the leading directions.

    Attributes
    ----------
    components_ : ndarray of shape (rank, n_features)
        The map ``P`` of the metric ``P'P``. Its rows are orthogonal, longest first.
    learners_ : list of (str, learner)
        The fitted learners in the mean; those that learned nothing are left out, with a warning.
    named_learners_ : Bunch
        The same by name.
    weights_ : ndarray
        Their weights, which sum to 1.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X has them.

    Notes
    -----
    A learner of full rank, such as LRML, has a square factor. With m features and k such learners,
    the mean takes ``O(k m**2)`` memory and ``O(k m**3)`` time. Reduce more features first, for
    example with PCA.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import StandardScaler
    >>> from seraph import SERAPH, MeanMetric
    >>> from seraph.classic import Euclidean
    >>> X, y = load_wine(return_X_y=True)
    >>> X = StandardScaler().fit_transform(X)
    >>> y[np.arange(len(y)) % 15 > 0] = -1  # 12 labels, 166 unlabeled rows
    >>> MeanMetric().fit(X, y).transform(X).shape
    (178, 13)
    >>> learners = [("learned", SERAPH()), ("plain", Euclidean())]
    >>> MeanMetric(learners, weights=[4, 1]).fit(X, y).weights_
    array([0.8, 0.2])
    """

    learners_: Named
    weights_: Array

    def __init__(
        self,
        learners: Named | None = None,
        *,
        weights: ArrayLike | None = None,
        n_components: int | None = None,
    ) -> None:
        self.learners = learners
        self.weights = weights
        self.n_components = n_components

    def fit(self, X: ArrayLike, y: ArrayLike | None = None, *, marks: Marks | None = None) -> Self:
        """Fit all learners, and average their metrics.

        Above 20,000 rows they learn from a sample of as many, and from all labeled and marked
        rows. (From all rows, if one of them has ``unlabeled_pairs="all"``.)

        Parameters
        ----------
        X : array-like, or dask array or DataFrame, of shape (n_samples, n_features)
            All points, labeled or not. A torch tensor on any device works, too. A dask collection
            is read once, chunk by chunk.
        y : array-like of shape (n_samples,), optional
            Class labels of any type; -1, NaN or None where :ref:`unknown <unlabeled>`.
        marks : Marks, optional
            Pairs of rows that you know to be alike or not, and triplets. Learners of
            :mod:`seraph.classic` get the sure pairs, without weights, and most no triplets.

        Returns
        -------
        MeanMetric
            The fitted learner.
        """
        learners, weights = self._check_parameters()
        names = {name for name, _ in learners}
        if get_config()["enable_metadata_routing"]:  # those of the learners that ask for marks
            routed = process_routing(self, "fit", marks=marks)
            names = {name for name in names if "marks" in routed[name].fit}
        needs = any(getattr(learner, "_needs_labels", False) for _, learner in learners)
        every = any(getattr(one, "unlabeled_pairs", None) == "all" for _, one in learners)
        read_labels = cache(lambda n: PairLabels.of(X, n, y, marks, required=needs))
        read_classes = cache(lambda n: PairLabels.of(X, n, y, required=False))
        points = read_points(
            X,
            type(self).__name__,
            labeled=lambda n: np.flatnonzero(read_labels(n).is_labeled),
            most=np.inf if every else ROWS,
            seed=0,
        )
        n, n_features = points.shape
        check_components(self.n_components, n_features)
        y, marks = aligned_marks(X, n, y, marks)
        fitted, factors = [], []
        for name, blank in learners:
            learner = clone(blank)
            labels = (read_labels if name in names else read_classes)(n)
            if isinstance(learner, ClassicLearner):
                learner = _fit_classic(learner, X, points, labels)
            elif type(learner) is SERAPH:
                learner._fit_checked(X, points, labels)  # noqa: SLF001
            else:
                _fit_other(learner, X, y, marks if name in names else None, points)
            fitted.append((name, learner))
            factors.append(_factor(name, learner, n_features))
        with one_blas_thread():
            return self._average(X, points, fitted, factors, weights)

    def _average(
        self, X: Any, points: PointSet, fitted: Named, factors: list[Array], weights: Array
    ) -> Self:
        """Set the mean of the metrics with these factors."""
        variances = np.array([points.frame.total_variance(P) for P in factors])
        is_used = variances > 0.0
        unused = [name for (name, _), used in zip(fitted, is_used, strict=True) if not used]
        if unused:
            warn(
                f"{' and '.join(map(repr, unused))} learned nothing: MeanMetric leaves it out. "
                "The metric is zero, or there is no label that it can use: add labels and "
                "dissimilar pairs, or give features that vary. (With no learner left, every "
                "distance is 0.)"
            )
        weights = np.where(is_used, weights, 0.0)
        weights /= weights.sum() or 1.0
        total = float(np.square(points.frame.std).sum())
        # The rows of all factors, each times its length, are a factor of the sum of the metrics
        # w_k tr(C) / tr(A_k C) A_k, because (c P)'(c P) = c^2 A.
        lengths = np.sqrt(weights * total / np.where(is_used, variances, 1.0))
        stack = np.vstack([length * P for length, P in zip(lengths, factors, strict=True)])
        return self._set_learned(
            X,
            _orthogonal_rows(stack)[: self.n_components].astype(points.dtype),
            learners_=[fitted[k] for k in np.flatnonzero(is_used)],
            weights_=weights[is_used],
        )

    @property
    def named_learners_(self) -> Bunch:
        """The fitted learners by name."""
        return Bunch(**dict(self.learners_))

    @property
    def _all_learners(self) -> Any:
        return _default_learners() if self.learners is None else self.learners

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name.

        Parameters
        ----------
        deep : bool, default=True
            Whether to return the learners by name, and their parameters, too.
        """
        return dict(self._get_params("_all_learners", deep=deep))

    def set_params(self, **params: Any) -> Self:
        """Set parameters, also learners by name, and parameters of learners.

        Parameters
        ----------
        **params
            Such as ``weights=[2, 1, 1]``, ``itml=None`` or ``seraph__lam=0.1``.
        """
        names, defaults = {name.partition("__")[0] for name in params}, _default_learners()
        if params.get("learners", self.learners) is None and names & dict(defaults).keys():
            params["learners"] = defaults
        self._set_params("learners", **params)
        return self

    def get_metadata_routing(self) -> MetadataRouter:
        """Return how metadata reach the learners."""
        router = MetadataRouter(owner=self).add_self_request(self)
        mapping = MethodMapping().add(caller="fit", callee="fit")
        learners = {name: one for name, one in self._all_learners if not _is_dropped(one)}
        return router.add(**learners, method_mapping=mapping)

    def _check_parameters(self) -> tuple[Named, Array]:
        """Return the learners that are not dropped, and their weights."""
        check_number("n_components", self.n_components, low=1, integer=True, instead=None)
        learners: Any = self._all_learners
        try:
            names = [name for name, _ in learners]
            self._validate_names(names)
            for name, learner in learners:
                is_learner = hasattr(learner, "fit") and not isinstance(learner, type)
                if not (is_learner or _is_dropped(learner)):
                    raise ValueError(f"{name!r} is not a learner.")
        except (TypeError, ValueError) as error:
            raise ValueError(
                "learners must be a list of pairs (name, learner), such as "
                f'[("seraph", SERAPH()), ("plain", Euclidean())]; got {shown(learners)}: {error}'
            ) from error
        shares: Any = np.ones(len(names)) if self.weights is None else self.weights
        if np.shape(shares) != (len(names),):
            raise ValueError(
                f"weights must be {len(names)} numbers, one for each of the learners; got "
                f"{shown(shares)}."
            )
        for share in shares:
            check_number("each of weights", share, low=0)
        kept = [k for k, (_, learner) in enumerate(learners) if not _is_dropped(learner)]
        weights = np.array(shares, dtype=np.float64)[kept]
        if not weights.any():
            raise ValueError(
                "learners and weights leave nothing to average: all learners are dropped or have "
                f"a weight of 0; got {shown(learners)} and {shown(self.weights)}."
            )
        return [learners[k] for k in kept], weights


def _is_dropped(learner: Any) -> bool:
    return learner is None or (isinstance(learner, str) and learner == "drop")


def _fit_classic(learner: Any, X: Any, points: PointSet, labels: PairLabels) -> Any:
    """Fit a learner to what was read; return None if there is no label that it can use.

    It uses sure pairs alone.
    """
    usable = labels.sure(triplets=learner._uses_triplets)  # noqa: SLF001
    if points.rows is not None:
        usable = usable.among(points.rows)
    if learner._needs_labels and not (usable.n_labeled or len(usable.triplets)):  # noqa: SLF001
        return None
    return learner._fit_checked(X, points.in_memory, usable)  # noqa: SLF001


def _fit_other(learner: Any, X: Any, y: Any, marks: Marks | None, points: PointSet) -> None:
    """Fit a learner that reads X itself: of a sample, to its rows in memory."""
    if is_chunked(X):
        X, y = points.in_memory, to_memory(y)
    if points.rows is not None:
        X, y = points.in_memory, None if y is None else _safe_indexing(y, points.rows)
        marks = None if marks is None else marks[points.rows]
    learner.fit(X, y, **({} if marks is None else {"marks": marks}))


def _factor(name: str, learner: Any, n_features: int) -> Array:
    """Return a matrix P with ``P'P`` the metric of a fitted learner; without rows for None."""
    P = np.empty((0, n_features)) if learner is None else getattr(learner, "components_", None)
    if P is not None:
        return np.asarray(P, dtype=np.float64)
    if not hasattr(learner, "get_mahalanobis_matrix"):
        raise ValueError(
            f"learners: {name!r}, a {type(learner).__name__}, has no matrix to average, neither "
            "get_mahalanobis_matrix() nor components_. Use a learner of a Mahalanobis distance, "
            "such as SERAPH or those of seraph.classic. The other steps of a pipeline come before "
            "the mean: make_pipeline(StandardScaler(), MeanMetric())."
        )
    values, vectors = eigh(np.asarray(learner.get_mahalanobis_matrix(), dtype=np.float64))
    return (vectors * np.sqrt(np.maximum(values, 0.0))).T


def _orthogonal_rows(P: Array) -> Array:
    """Return the factor of ``P'P`` whose rows are orthogonal, longest first."""
    lengths, rows = right_svd(P)
    kept = lengths > lengths.max(initial=0.0) * max(P.shape) * np.finfo(P.dtype).eps
    return lengths[kept, np.newaxis] * rows[kept]


publish(globals(), "seraph", ["MeanMetric"])
