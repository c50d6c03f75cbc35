"""MetricPipeline: prepare the features, then learn the metric, as one learner."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    MetaEstimatorMixin,
    TransformerMixin,
    clone,
)
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import Normalizer
from sklearn.utils import Tags, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from .._decisions import PairDecisions, pair_points
from .._pairs import RowNames, is_frame
from .._sweep import in_memory, is_chunked
from .._typing import Array
from .._validation import as_numbers, prepared_by, shown, two_points

Method = TypeVar("Method", bound=Callable[..., Any])
# The transformer checks the entries of X.
_SHAPE_ONLY: dict[str, Any] = {"dtype": None, "accept_sparse": True, "ensure_all_finite": False}


def _learner_has(name: str) -> Callable[[Method], Method]:
    def check(self: MetricPipeline) -> bool:
        learner = getattr(self, "learner_", self.learner)
        getattr(learner, name)  # its AttributeError says what is missing
        return True

    decorator: Callable[[Method], Method] = available_if(check)
    return decorator


class MetricPipeline(
    PairDecisions,
    MetaEstimatorMixin,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    BaseEstimator,
):
    """Prepare the features, then learn a metric: one learner with the whole interface.

    This is the recommended way to scale features before learning. Points go in as they are, and
    every method prepares them first. (After ``make_pipeline(StandardScaler(), SERAPH())`` there
    are only ``transform`` and ``score``.) Marked pairs find their rows by name, since the names
    are read before the features are prepared.

    For embeddings, ``MetricPipeline(Normalizer(), SERAPH())`` learns from vectors of unit length,
    so that the length of a vector has no say. A vector of zeros has no direction, and is refused.

    Parameters
    ----------
    prepare : transformer
        What to do first, such as ``StandardScaler()`` for a table or ``Normalizer()`` for
        embeddings; for several steps, a pipeline of transformers. It is cloned.
    learner : estimator
        Learner of a metric, such as :class:`seraph.SERAPH`. It is cloned.

    Attributes
    ----------
    prepare_ : transformer
        The fitted transformer.
    learner_ : estimator
        The fitted learner.
    pipeline_ : Pipeline
        Both as a pipeline of scikit-learn.
    components_ : ndarray of shape (rank, n_prepared_features)
        The learned map, from the prepared features.
    threshold_, threshold_report_, calibration_
        What ``calibrate_threshold`` and ``calibrate_proba`` have chosen, if called.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X has them.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import StandardScaler
    >>> from seraph import SERAPH, MetricPipeline
    >>> X, y = load_wine(return_X_y=True)
    >>> some = np.where(np.arange(len(y)) % 6 == 0, y, -1)  # 30 labels
    >>> model = MetricPipeline(StandardScaler(), SERAPH()).fit(X, some)
    >>> near, far = model.pair_distance([[0, 1], [0, 100]], X)
    >>> bool(near < far)
    True
    """

    # With metadata routing, these go to the learner without being asked for, as pairs do.
    __metadata_request__fit: ClassVar = {"pair_weights": True, "triplets": True}

    def __init__(self, prepare: Any, learner: Any) -> None:
        self.prepare = prepare
        self.learner = learner

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike | None = None,
        *,
        pairs: ArrayLike | None = None,
        pair_labels: ArrayLike | None = None,
        pair_weights: ArrayLike | None = None,
        triplets: ArrayLike | None = None,
        ids: ArrayLike | None = None,
        **fit_params: Any,
    ) -> Self:
        """Fit the transformer on all rows, and the learner on what it returns.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            All points, labeled or not.
        y : array-like of shape (n_samples,), optional
            Class labels, -1 where unknown. The transformer does not see them.
        pairs, pair_labels, pair_weights, triplets, ids : array-like, optional
            Marked pairs and triplets, as in ``SERAPH.fit``.
        **fit_params : dict
            Further arguments of the learner's ``fit``.

        Returns
        -------
        MetricPipeline
            The fitted pipeline.
        """
        self._check_parts()
        marks = {
            "pairs": pairs,
            "pair_labels": pair_labels,
            "pair_weights": pair_weights,
            "triplets": triplets,
        }
        fit_params |= {name: value for name, value in marks.items() if value is not None}
        named = triplets if pairs is None else pairs
        if named is not None:
            fit_params["ids"] = RowNames.of(X, ids, named, "drop").listed()
        points = _in_full(X)
        check_directions(self.prepare, points)
        with prepared_by(self.prepare):
            prepare = clone(self.prepare).fit(points)
            prepared = prepare.transform(points)
        learner = clone(self.learner).fit(prepared, y, **fit_params)
        validate_data(self, X, skip_check_array=True)  # n_features_in_, feature_names_in_
        self._forget_decisions()
        self.prepare_, self.learner_ = prepare, learner
        return self

    def transform(self, X: ArrayLike) -> Any:
        """Map points to a space where the learned distance is the Euclidean one.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points.

        Returns
        -------
        ndarray of shape (n_samples, rank)
            The mapped points.
        """
        prepared = self._prepared(X)
        return self.learner_.transform(prepared)

    def pair_distance(
        self, pairs: ArrayLike, X: Any = None, *, ids: ArrayLike | None = None
    ) -> Array:
        """Compute the learned distance between the two points of each pair.

        Parameters
        ----------
        pairs : array-like of shape (n_pairs, 2, n_features), or (n_pairs, 2) with `X`
            Pairs of points; or, with `X`, pairs of its rows: row numbers, or names if X is a
            DataFrame (its index) or `ids` are given.
        X : array-like of shape (n_samples, n_features), optional
            Points.
        ids : array-like of shape (n_samples,), optional
            Names of the rows of X, each once.

        Returns
        -------
        ndarray of shape (n_pairs,)
            Learned distances.
        """
        return self._asked("pair_distance", pairs, X, ids)

    def pair_score(
        self, pairs: ArrayLike, X: Any = None, *, ids: ArrayLike | None = None
    ) -> Array:
        """Score how alike the points of each pair are: the negative distance.

        Parameters
        ----------
        pairs, X, ids
            Pairs of points, or of rows of `X`, as in ``pair_distance``.

        Returns
        -------
        ndarray of shape (n_pairs,)
            Negative learned distances; higher means more alike.
        """
        return self._asked("pair_score", pairs, X, ids)

    @_learner_has("pair_proba")
    def pair_proba(
        self, pairs: ArrayLike, X: Any = None, *, ids: ArrayLike | None = None
    ) -> Array:
        """Compute the model's probability that the two points of each pair are alike.

        Parameters
        ----------
        pairs, X, ids
            Pairs of points, or of rows of `X`, as in ``pair_distance``.

        Returns
        -------
        ndarray of shape (n_pairs,)
            Probabilities of ``y = +1``.
        """
        return self._asked("pair_proba", pairs, X, ids)

    @_learner_has("query_pairs")
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

        Parameters
        ----------
        X, n, strategy, y, pairs, ids
            As in ``SERAPH.query_pairs``.

        Returns
        -------
        ndarray of shape (n, 2)
            Row numbers, or names; the most useful pair comes first.
        """
        prepared, ids = self._prepared(X), _ids_of(X, ids)
        chosen: Array = self.learner_.query_pairs(prepared, n, strategy, y=y, pairs=pairs, ids=ids)
        return chosen

    def get_metric(self) -> PreparedMetric:
        """Return the learned distance as a function of two points, for ``metric=``.

        Mapping the points with ``transform`` and using the Euclidean distance gives the same and
        is much faster.

        Returns
        -------
        PreparedMetric
            Function of two arrays of shape (n_features,).
        """
        check_is_fitted(self)
        return PreparedMetric(self.prepare_, self.learner_.get_metric())

    def get_mahalanobis_matrix(self) -> Array:
        """Return the matrix of the metric on the prepared features.

        Returns
        -------
        ndarray of shape (n_prepared_features, n_prepared_features)
            Symmetric positive semi-definite matrix.
        """
        check_is_fitted(self)
        matrix: Array = self.learner_.get_mahalanobis_matrix()
        return matrix

    @property
    def components_(self) -> Array:
        """The learned map, from the prepared features."""
        check_is_fitted(self)
        components: Array = self.learner_.components_
        return components

    @property
    def pipeline_(self) -> Pipeline:
        """The fitted parts as a pipeline of scikit-learn."""
        check_is_fitted(self)
        return Pipeline([("prepare", self.prepare_), ("learner", self.learner_)])

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "learner_")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        if hasattr(self.learner, "fit"):
            tags.target_tags.required = get_tags(self.learner).target_tags.required
        return tags

    def _check_parts(self) -> None:
        for name, method in (("prepare", "transform"), ("learner", "pair_distance")):
            part = getattr(self, name)
            if isinstance(part, type) or not (hasattr(part, "fit") and hasattr(part, method)):
                example = "StandardScaler()" if name == "prepare" else "SERAPH()"
                raise ValueError(
                    f"{name} must be an estimator with fit and {method}, such as {example}; got "
                    f"{shown(part)}."
                )

    def _prepared(self, X: ArrayLike) -> Any:
        check_is_fitted(self)
        with as_numbers("X"):
            validate_data(self, X, reset=False, **_SHAPE_ONLY)
        points = _in_full(X)
        check_directions(self.prepare_, points)
        with prepared_by(self.prepare_):
            return self.prepare_.transform(points)

    def _asked(self, method: str, pairs: ArrayLike, X: Any, ids: ArrayLike | None) -> Array:
        """Ask the learner about pairs, after preparing their points."""
        check_is_fitted(self)
        answer = getattr(self.learner_, method)
        if X is not None:
            found: Array = answer(pairs, self._prepared(X), ids=_ids_of(X, ids))
            return found
        points = np.asarray(_in_full(pair_points(pairs, None, ids)))
        m = self.n_features_in_
        if points.ndim != 3 or points.shape[1:] != (2, m):
            raise ValueError(
                f"pairs must have shape (n_pairs, 2, {m}), two points each; got {points.shape}. "
                "If you have row numbers or names of rows of a table X, pass X as well."
            )
        if len(points) == 0:
            return np.empty(0)
        rows = points.reshape(-1, m)
        check_directions(self.prepare_, rows)
        with prepared_by(self.prepare_):
            flat = np.asarray(self.prepare_.transform(self._named(rows)))
        found = answer(flat.reshape(-1, 2, flat.shape[1]))
        return found

    def _named(self, points: Array) -> Any:
        """Give points the names of the features, if the transformer goes by them."""
        names = getattr(self, "feature_names_in_", None)
        if names is None:
            return points
        import pandas as pd

        return pd.DataFrame(points, columns=names)


def _in_full(X: Any) -> Any:
    """Return points that scikit-learn can prepare: in half precision its sums may overflow."""
    return X if is_chunked(X) else in_memory(X)


def check_directions(prepare: Any, X: Any, name: str = "X") -> None:
    """Refuse rows of zeros if the first step of `prepare` makes rows of unit length.

    scikit-learn leaves such rows at zero, as near to every vector as to any other.

    Parameters
    ----------
    prepare : transformer
        What will be done to the points; or a fitted pipeline that begins with it.
    X : array-like of shape (n_samples, n_features)
        The points.
    name : str, default="X"
        What to call them.
    """
    while isinstance(prepare, Pipeline | MetricPipeline):
        prepare = prepare.steps[0][1] if isinstance(prepare, Pipeline) else prepare.prepare_
    if not isinstance(prepare, Normalizer):
        return
    points = np.asarray(X)
    zero = np.flatnonzero(~points.any(axis=1)) if points.ndim == 2 else np.empty(0, dtype=np.intp)
    if len(zero):
        more = f" and {len(zero) - 1} more" if len(zero) > 1 else ""
        raise ValueError(
            f"Row {zero[0]}{more} of {name} has only zeros, and so no direction: it cannot be "
            "scaled to unit length. Drop such rows; often an empty text is the cause."
        )


def _ids_of(X: Any, ids: ArrayLike | None) -> Any:
    """Return the names of the rows, which preparing would lose."""
    return X.index if ids is None and is_frame(X) else ids


@dataclass(frozen=True)
class PreparedMetric:
    """Distance between two points that are prepared first.

    Parameters
    ----------
    prepare : fitted transformer
        What prepares the points.
    metric : callable
        Distance between two prepared points.

    Examples
    --------
    >>> from sklearn.preprocessing import StandardScaler
    >>> from seraph import MetricPipeline
    >>> from seraph.classic import Euclidean
    >>> model = MetricPipeline(StandardScaler(), Euclidean()).fit([[1.0], [3.0], [5.0]])
    >>> metric = model.get_metric()
    >>> round(metric([1.0], [5.0]), 3)
    2.449
    """

    prepare: Any
    metric: Any

    def __call__(self, u: ArrayLike, v: ArrayLike) -> float:
        """Compute the distance between `u` and `v`."""
        points = two_points(u, v, getattr(self.prepare, "n_features_in_", None))
        first, second = self.prepare.transform(points)
        return float(self.metric(first, second))
