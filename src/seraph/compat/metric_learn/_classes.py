"""The learners of points: of classes, of chunks, of numbers, and of nothing."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.linalg import eigh
from sklearn.base import TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets

from ... import classic
from ..._utils._typing import Array
from ..._utils._validation import check_choice, check_number
from ..._utils._warnings import warn
from ...classic._lfda import local_scatters
from ._base_metric import MahalanobisMixin
from ._constraints import Constraints, known_codes
from ._documents import class_example, documented
from ._quiet import quiet
from ._starts import checked_components, first_map

# Share of the mean variance that makes a singular scatter invertible.
_RIDGE = 1e-6
# Gap at which LMNN stops: metric-learn's solver, with its short steps, ends early as well.
_EARLY = 0.3


class _Classes(TransformerMixin, MahalanobisMixin):
    """Base: learners of points that all have a label."""

    def _labeled(self, X: Any, y: Any) -> tuple[Array, Array]:
        """Return checked points, and their classes numbered from 0; -1 is a class like others."""
        points, y = self._points(X, y)
        check_classification_targets(y)
        return points, np.unique(y, return_inverse=True)[1].reshape(-1)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


@documented(
    "The inverse covariance as a metric, by `seraph.classic.Covariance`.",
    class_example("Covariance"),
)
class Covariance(TransformerMixin, MahalanobisMixin):
    def __init__(self, preprocessor: Any = None) -> None:
        super().__init__(preprocessor)

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002 (as scikit-learn has it)
        points = self._points(X)
        return self._adopt(classic.Covariance().fit(points).components_)


@documented(
    "Large margin nearest neighbors, by `seraph.classic.LMNN`.",
    class_example("LMNN"),
)
class LMNN(_Classes):
    def __init__(
        self,
        init: Any = "auto",
        n_neighbors: int = 3,
        min_iter: int = 50,
        max_iter: int = 1000,
        learn_rate: float = 1e-7,
        regularization: float = 0.5,
        convergence_tol: float = 0.001,
        verbose: bool = False,
        preprocessor: Any = None,
        n_components: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.init = init
        self.n_neighbors = n_neighbors
        self.min_iter = min_iter
        self.max_iter = max_iter
        self.learn_rate = learn_rate
        self.regularization = regularization
        self.convergence_tol = convergence_tol
        self.verbose = verbose
        self.n_components = n_components
        self.random_state = random_state
        super().__init__(preprocessor)

    def fit(self, X: Any, y: Any) -> Self:
        points, codes = self._labeled(X, y)
        d = checked_components(self.n_components, points.shape[1])
        first_map(self.init, points, codes, d, self.random_state)
        smallest = int(np.bincount(codes).min())
        if self.n_neighbors > smallest:
            raise ValueError(
                f"n_neighbors={self.n_neighbors} is too large: the smallest class has {smallest} "
                "points."
            )
        with quiet(ConvergenceWarning, unless=self.verbose):
            found = classic.LMNN(
                n_neighbors=self.n_neighbors,
                push_weight=1.0 - self.regularization,
                n_components=self.n_components,
                shrinkage=0.0,
                max_iter=self.max_iter,
                tol=_EARLY,
            ).fit(points, codes)
        return self._adopt(found.components_, d, n_iter_=found.n_iter_)


@documented(
    "Neighborhood components analysis, by `seraph.classic.NCA`.",
    class_example("NCA", "n_components=2", 2),
)
class NCA(_Classes):
    def __init__(
        self,
        init: Any = "auto",
        n_components: int | None = None,
        max_iter: int = 100,
        tol: float | None = None,
        verbose: bool = False,
        preprocessor: Any = None,
        random_state: Any = None,
    ) -> None:
        self.init = init
        self.n_components = n_components
        self.max_iter = max_iter
        self.tol = tol
        self.verbose = verbose
        self.random_state = random_state
        super().__init__(preprocessor)

    def fit(self, X: Any, y: Any) -> Self:
        points, codes = self._labeled(X, y)
        d = checked_components(self.n_components, points.shape[1])
        first = first_map(self.init, points, codes, d, self.random_state)
        with quiet(ConvergenceWarning, unless=self.verbose):
            found = classic.NCA(
                n_components=d,
                init=first,
                shrinkage=0.0,
                max_iter=self.max_iter,
                tol=1e-5 if self.tol is None else self.tol,
            ).fit(points, codes)
        return self._adopt(found.components_, d, n_iter_=found.n_iter_)


@documented(
    "Local Fisher discriminant analysis, by the scatters of `seraph.classic.LFDA`.",
    class_example("LFDA", "n_components=2", 2),
)
class LFDA(_Classes):
    def __init__(
        self,
        n_components: int | None = None,
        k: int | None = None,
        embedding_type: str = "weighted",
        preprocessor: Any = None,
    ) -> None:
        self.n_components = n_components
        self.k = k
        self.embedding_type = embedding_type
        super().__init__(preprocessor)

    def fit(self, X: Any, y: Any) -> Self:
        embeddings = ("weighted", "orthonormalized", "plain")
        check_choice("embedding_type", self.embedding_type, embeddings)
        points, codes = self._labeled(X, y)
        m = points.shape[1]
        d = checked_components(self.n_components, m)
        check_number("k", self.k, low=1, integer=True, instead=None)
        if self.k is not None and self.k >= m:
            warn(f"k={self.k} is too large for {m} features: {m - 1} is used.")
        k = max(1, min(7 if self.k is None else self.k, m - 1))
        order = np.argsort(codes, kind="stable")
        Z = points[order] - points.mean(axis=0)
        between, within = local_scatters(Z, codes[order], k)
        # Where no class has any spread, a share of that of all points keeps the map in bounds.
        spread = max(np.trace(within), _RIDGE * np.vdot(Z, Z)) / m
        within = within + (_RIDGE * spread or 1.0) * np.eye(m)
        values, vectors = eigh(between, within)
        found = vectors[:, ::-1][:, :d]
        if self.embedding_type == "weighted":
            found = found * np.sqrt(np.maximum(values[::-1][:d], 0.0))
        elif self.embedding_type == "orthonormalized":
            found = np.linalg.qr(found)[0]
        return self._adopt(found.T, d)


@documented(
    "Relevant component analysis of chunks, by `seraph.classic.RCA`.",
    """\
>>> X = [[0.0, 1.0], [0.1, 5.0], [3.0, 4.0], [3.2, 0.0], [1.5, 2.0]]
>>> RCA().fit(X, [0, 0, 1, 1, -1]).transform(X).shape
(5, 2)""",
)
class RCA(_Classes):
    def __init__(self, n_components: int | None = None, preprocessor: Any = None) -> None:
        self.n_components = n_components
        super().__init__(preprocessor)

    def fit(self, X: Any, chunks: Any) -> Self:
        points, chunks = self._points(X, chunks)
        return self._learn(points, np.asarray(chunks).astype(int))

    def _learn(self, points: Array, chunks: Array) -> Self:
        m = points.shape[1]
        d = checked_components(self.n_components, m)
        learner = classic.RCA(n_components=d, ridge=0.0, shrinkage=0.0)
        try:
            found = learner.fit(points, chunks)
        except ValueError as error:
            if "larger ridge" not in str(error):
                raise
            warn(
                "The scatter within the chunks has no inverse. A millionth of the mean variance "
                "is added to it; drop features that depend on others, or pass more chunks."
            )
            found = learner.set_params(ridge=_RIDGE).fit(points, chunks)
        return self._adopt(found.components_, d)


@documented(
    "Relevant component analysis of sampled chunks, by `seraph.classic.RCA`.",
    class_example("RCA_Supervised", "n_chunks=30, random_state=0"),
)
class RCA_Supervised(RCA):  # noqa: N801
    def __init__(
        self,
        n_components: int | None = None,
        n_chunks: int = 100,
        chunk_size: int = 2,
        preprocessor: Any = None,
        random_state: Any = None,
    ) -> None:
        super().__init__(n_components, preprocessor)
        self.n_chunks = n_chunks
        self.chunk_size = chunk_size
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        check_number("n_chunks", self.n_chunks, low=1, integer=True)
        check_number("chunk_size", self.chunk_size, low=1, integer=True)
        points, y = self._points(X, y)
        check_classification_targets(y)
        chunks = Constraints(known_codes(y)).chunks(
            self.n_chunks, self.chunk_size, self.random_state
        )
        return self._learn(points, chunks)


@documented(
    "Metric learning for kernel regression, by `seraph.classic.MLKR`.",
    class_example("MLKR", "n_components=2", 2),
)
class MLKR(_Classes):
    def __init__(
        self,
        n_components: int | None = None,
        init: Any = "auto",
        tol: float | None = None,
        max_iter: int = 1000,
        verbose: bool = False,
        preprocessor: Any = None,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.init = init
        self.tol = tol
        self.max_iter = max_iter
        self.verbose = verbose
        self.random_state = random_state
        super().__init__(preprocessor)

    def fit(self, X: Any, y: Any) -> Self:
        points, y = self._points(X, y, y_numeric=True)
        d = checked_components(self.n_components, points.shape[1])
        first = first_map(self.init, points, None, d, self.random_state)
        with quiet(ConvergenceWarning, unless=self.verbose):
            found = classic.MLKR(
                n_components=d,
                init=first,
                shrinkage=0.0,
                max_iter=self.max_iter,
                tol=1e-9 if self.tol is None else self.tol,
            ).fit(points, y)
        return self._adopt(found.components_, d, n_iter_=found.n_iter_)
