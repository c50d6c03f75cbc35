"""The learners of metric-learn that take points: their parameters, over the solvers of seraph."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.linalg import eigh
from sklearn.base import TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets

from ... import classic
from ..._utils._typing import Array
from ..._utils._validation import check_choice, check_number
from ..._utils._warnings import warn
from ...classic._definite import power
from ...classic._lfda import local_scatters
from ._base import MahalanobisMixin
from ._constraints import Constraints, known_codes
from ._starts import RIDGE, SCIPY_TOL, checked_components, components_from_metric, first_map

# The last arguments of most learners.
LAST = "verbose=False, preprocessor=None, random_state=None"


class PointLearner(TransformerMixin, MahalanobisMixin):
    """Base: learners of points and their labels."""

    def fit(self, X: Any, y: Any) -> Self:
        """Learn the metric."""
        return self._learn(*self._prepared(X, y))

    def _prepared(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Return what to learn from: checked points and their labels."""
        return self._points(X, y)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


class _LabeledLearner(PointLearner):
    """Base: learners of points that all have a class; -1 is one like any other."""

    def _prepared(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Return points, and their classes numbered from 0."""
        points, y = self._points(X, y)
        check_classification_targets(y)
        return points, np.unique(y, return_inverse=True)[1].reshape(-1)


class _Descent(PointLearner):
    """Base: learners by L-BFGS from a map, of numbered classes or of a numeric target."""

    _solver: Any  # of `seraph.classic`

    def _learn(self, points: Array, y: Array) -> Self:
        classes = y if isinstance(self, _LabeledLearner) else None
        first = first_map(self.init, points, classes, self.n_components, self.random_state)
        tol = SCIPY_TOL if self.tol is None else self.tol
        settings = self._settings("max_iter", n_components=len(first), init=first, tol=tol)
        return self._adopt_fit(self._solver(**settings), points, y)


class Covariance(TransformerMixin, MahalanobisMixin, arguments="preprocessor=None"):
    """The inverse covariance as a metric, by `seraph.classic.Covariance`."""

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002 (as scikit-learn has it)
        """Learn the metric."""
        metric = classic.Covariance().fit(self._points(X)).get_mahalanobis_matrix()
        return self._adopt(components_from_metric(metric))


class LFDA(
    _LabeledLearner,
    arguments="n_components=None, k=None, embedding_type='weighted', preprocessor=None",
):
    """Local Fisher discriminant analysis, with the scatters of `seraph.classic.LFDA`."""

    def _learn(self, points: Array, codes: Array) -> Self:
        kinds = ("weighted", "orthonormalized", "plain")
        check_choice("embedding_type", self.embedding_type, kinds)
        m = points.shape[1]
        d = checked_components(self.n_components, m)
        check_number("k", self.k, low=1, integer=True, instead=None)
        if self.k is not None and self.k >= m:
            warn(f"k={self.k} is too large for {m} features: {m - 1} is used.")
        k = max(1, min(7 if self.k is None else self.k, m - 1))
        order = np.argsort(codes, kind="stable")
        centered = points[order].astype(float) - points.mean(axis=0)
        between, within = local_scatters(centered, codes[order], k)
        try:
            values, vectors = eigh(between, within)
        except np.linalg.LinAlgError:
            # Where no class has any spread, a share of that of all points keeps the map in bounds.
            spread = max(np.trace(within), RIDGE * np.trace(between)) / m
            values, vectors = eigh(between, within + (RIDGE * spread or 1.0) * np.eye(m))
        values, vectors = values[::-1][:d], vectors[:, ::-1][:, :d]
        if self.embedding_type == "weighted":
            vectors = vectors * np.sqrt(np.maximum(values, 0.0))
        elif self.embedding_type == "orthonormalized":
            vectors = np.linalg.qr(vectors)[0]
        return self._adopt(vectors.T)


class LMNN(
    _LabeledLearner,
    arguments="init='auto', n_neighbors=3, min_iter=50, max_iter=1000, learn_rate=1e-7, "
    "regularization=0.5, convergence_tol=0.001, verbose=False, preprocessor=None, "
    "n_components=None, random_state=None",
):
    """Large margin nearest neighbors, by `seraph.classic.LMNN`; `init` is not used."""

    def _learn(self, points: Array, codes: Array) -> Self:
        check_number("regularization", self.regularization, low=0.0, high=1.0)
        first = first_map(self.init, points, codes, self.n_components, self.random_state)
        settings = self._settings("n_neighbors", "max_iter", n_components=len(first))
        learner = classic.LMNN(push_weight=1.0 - self.regularization, **settings)
        return self._adopt_fit(learner, points, codes, labels_=np.unique(codes))


class MLKR(_Descent, arguments=f"n_components=None, init='auto', tol=None, max_iter=1000, {LAST}"):
    """Metric learning for kernel regression, by `seraph.classic.MLKR`."""

    _solver = classic.MLKR

    def _prepared(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Return points and numbers."""
        return self._points(X, y, y_numeric=True)


class NCA(
    _Descent,
    _LabeledLearner,
    arguments=f"init='auto', n_components=None, max_iter=100, tol=None, {LAST}",
):
    """Neighborhood components analysis, by `seraph.classic.NCA`."""

    _solver = classic.NCA


class RCA(PointLearner, arguments="n_components=None, preprocessor=None"):
    """Relevant component analysis of chunks, by `seraph.classic.RCA`."""

    def fit(self, X: Any, chunks: Any) -> Self:
        """Learn the metric."""
        return super().fit(X, chunks)

    def _learn(self, points: Array, chunks: Array) -> Self:
        chunks = np.asarray(chunks).astype(int)
        in_chunks = chunks != -1  # the other rows are not used, as in metric-learn
        _, chunk, sizes = np.unique(chunks[in_chunks], return_inverse=True, return_counts=True)
        if not (sizes > 1).any():
            raise ValueError(
                "No number is in chunks twice (-1 is none): RCA learns from points that belong "
                "together. Give them one number."
            )
        points, d = points[in_chunks], checked_components(self.n_components, points.shape[1])
        try:
            learned = classic.RCA(n_components=d, ridge=0.0).fit(points, chunk)
        except ValueError:  # the scatter is singular
            learned = classic.RCA(n_components=d, ridge=RIDGE).fit(points, chunk)
            warn(
                "The scatter within the chunks has no inverse. A millionth of the mean variance "
                "is added to it; drop features that depend on others, or pass more chunks."
            )
        # metric-learn divides the scatter by all rows; a chunk of one row adds none to it.
        P = np.sqrt(len(chunk) / sizes[sizes > 1].sum()) * learned.components_
        return self._adopt(P if d < points.shape[1] else power(P.T @ P, 0.5))


class RCA_Supervised(  # noqa: N801
    RCA,
    arguments="n_components=None, n_chunks=100, chunk_size=2, preprocessor=None, "
    "random_state=None",
    example="n_chunks=30",
):
    """Relevant component analysis of sampled chunks, by `seraph.classic.RCA`."""

    def fit(self, X: Any, y: Any) -> Self:
        """Learn the metric."""
        return super().fit(X, y)

    def _prepared(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Return points, and the numbers of sampled chunks."""
        points, y = self._points(X, y)
        check_number("n_chunks", self.n_chunks, low=1, integer=True)
        check_number("chunk_size", self.chunk_size, low=1, integer=True)
        check_classification_targets(y)
        sampler = Constraints(known_codes(y))
        return points, sampler.chunks(self.n_chunks, self.chunk_size, self.random_state)
