"""KernelSERAPH: a metric in the feature space of a kernel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import pdist
from sklearn.base import MetaEstimatorMixin
from sklearn.decomposition import KernelPCA
from sklearn.kernel_approximation import Nystroem
from sklearn.metrics.pairwise import PAIRWISE_KERNEL_FUNCTIONS, pairwise_kernels
from sklearn.utils import Tags, check_array, check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from .._base import MahalanobisMetric, MetricLearner, map_points
from .._engine import check_repeatable
from .._marks import Marks, aligned_marks
from .._sweep import FLOATS, header, in_memory
from .._utils._threads import one_blas_thread
from .._utils._typing import Array
from .._utils._validation import (
    as_numbers,
    check_choice,
    check_number,
    check_seed,
    shown,
    two_points,
)
from ._cv import SERAPHCV
from ._posterior import probability
from ._seraph import SERAPH

Kernel = str | Callable[..., float]
# Points are centered for these kernels, which changes no value but avoids cancellation in rbf.
_TRANSLATION_INVARIANT = ("rbf", "laplacian")
# The distance that gamma multiplies, and the number of rows whose median distance is taken.
_WIDTHS: dict[Any, str] = {"rbf": "sqeuclidean", "laplacian": "cityblock"}
_ROWS_FOR_WIDTH = 1000


@dataclass(frozen=True)
class KernelMap:
    """Map from points to coordinates in the feature space of a kernel.

    The coordinates are on the span of some landmarks.

    Parameters
    ----------
    kernel : str or callable
        As in :func:`sklearn.metrics.pairwise.pairwise_kernels`.
    parameters : dict
        Parameters of the kernel.
    landmarks : ndarray of shape (k, n_features) or (k,)
        The landmarks; or their row numbers, if the kernel is precomputed.
    projection : KernelPCA or Nystroem
        Maps the kernel values with the landmarks to coordinates.

    Examples
    --------
    >>> import numpy as np
    >>> from seraph import KernelSERAPH
    >>> X = np.random.default_rng(0).normal(size=(30, 2))
    >>> y = np.where(np.arange(30) < 10, np.linalg.norm(X, axis=1) > 1, -1)
    >>> learner = KernelSERAPH(n_landmarks=20, random_state=0).fit(X, y)
    >>> Z = learner.learner_.transform(learner.kernel_map_(X))
    >>> bool(np.allclose(Z, learner.transform(X)))
    True
    """

    kernel: Kernel
    parameters: dict[str, Any]
    landmarks: Array
    projection: KernelPCA | Nystroem

    def __call__(self, X: Array) -> Array:
        """Compute the coordinates of the points `X`."""
        values = _compute_kernel(self.kernel, self.parameters, X, self.landmarks)
        coordinates = self.projection.transform(values).astype(X.dtype, copy=False)
        # Identical points have no principal component; give them one that is zero.
        return coordinates if coordinates.shape[1] else np.zeros((len(X), 1), dtype=X.dtype)


class KernelSERAPH(MetaEstimatorMixin, MetricLearner):
    r"""SERAPH in the feature space of a kernel, for distances that are not linear in x.

    The points are mapped to :math:`\phi(x)` with
    :math:`\langle \phi(x), \phi(x') \rangle = k(x, x')`, and the metric is learned there:

    .. math:: d(x, x')^2 = (\phi(x) - \phi(x'))^T A\, (\phi(x) - \phi(x')).

    The optimal metric is in the span of the mapped training points (the representer theorem), so
    SERAPH on all their kernel principal components is exact. With more than `n_landmarks` points,
    the span of a random sample is used (the Nyström approximation).

    Parameters
    ----------
    learner : SERAPH or SERAPHCV, optional
        The learner in feature space. None means ``SERAPH()``. Its metric shrinks toward the
        distance in feature space. The manifold extension works best here, because the map is not
        linear.
    kernel : str or callable, default="rbf"
        Any kernel of :func:`sklearn.metrics.pairwise.pairwise_kernels`, a function of two
        points, or "precomputed": then X is the matrix of kernel values, ``(n, n)`` in ``fit``
        and ``(n_new, n)`` afterwards.
    gamma : float, "median" or None, default="median"
        Parameter of the rbf, poly, sigmoid, laplacian and chi2 kernels. "median" is the median
        heuristic: 1 over the median squared distance of two points for rbf, and over their median
        Manhattan distance for laplacian; other kernels keep their own default. None is the
        kernel's own default. (The `gamma` of `SERAPH` is another parameter.)
    degree : float, default=3
        Parameter of the poly kernel.
    coef0 : float, default=1
        Parameter of the poly and sigmoid kernels.
    kernel_params : dict, optional
        Further parameters of the kernel, for a callable.
    n_landmarks : int, default=1000
        Largest number of points for which the kernel's principal components are exact.
    random_state : int, RandomState instance or None, default=None
        Seed for sampling the landmarks, if there are more points.

    Attributes
    ----------
    kernel_map_ : KernelMap
        Maps points to coordinates in feature space.
    learner_ : SERAPH or SERAPHCV
        The learner, fitted to these coordinates.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X has them.

    Examples
    --------
    Two rings, which no linear map can separate:

    >>> import numpy as np
    >>> from sklearn.datasets import make_circles
    >>> from seraph import KernelSERAPH
    >>> X, y = make_circles(200, factor=0.4, noise=0.05, random_state=0)
    >>> some = np.full(len(y), -1)
    >>> for ring in (0, 1):
    ...     some[np.flatnonzero(y == ring)[:3]] = ring
    >>> learner = KernelSERAPH().fit(X, some)
    >>> inner, outer = X[y == 1], X[y == 0]
    >>> p = learner.pair_proba([[inner[0], inner[1]], [inner[0], outer[0]]])
    >>> bool(p[0] > 0.5 > p[1])
    True
    """

    kernel_map_: KernelMap
    learner_: SERAPH | SERAPHCV

    def __init__(
        self,
        learner: SERAPH | SERAPHCV | None = None,
        *,
        kernel: Kernel = "rbf",
        gamma: float | Literal["median"] | None = "median",
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict[str, Any] | None = None,
        n_landmarks: int = 1000,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.learner = learner
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.n_landmarks = n_landmarks
        self.random_state = random_state

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike | None = None,
        *,
        marks: Marks | None = None,
        graph: Any = None,
    ) -> Self:
        """Map the points to feature space, and learn the metric there.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or (n_samples, n_samples)
            All points, labeled or not; or the kernel values, if the kernel is precomputed. They
            have to fit in memory. (The learner's `backend` decides where sums are computed,
            wherever X is.)
        y, marks, graph
            Labels, marks and graph, as in ``SERAPH.fit``.

        Returns
        -------
        KernelSERAPH
            The fitted learner.
        """
        learner = self._check_parameters()
        with as_numbers("X", X):
            points: Array = check_array(
                in_memory(X), dtype=FLOATS, ensure_min_samples=2, estimator=self, input_name="X"
            )
        if self.kernel == "precomputed" and points.shape[0] != points.shape[1]:
            raise ValueError(
                'With kernel="precomputed", fit takes the kernel values of all pairs of '
                f"points, a square matrix; got shape {points.shape}."
            )
        y, marks = aligned_marks(X, len(points), y, marks)
        if len(points) > self.n_landmarks and _has_checkpoint(learner):
            check_repeatable("landmarks", self.random_state)
        with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):
            kernel_map = self._fit_map(points)
            coordinates = kernel_map(points)
        learner.fit(coordinates, y, marks=marks, graph=graph)
        validate_data(self, header(X), skip_check_array=True)  # n_features_in_, feature_names_in_
        self.kernel_map_, self.learner_ = kernel_map, learner
        return self

    def transform(self, X: ArrayLike) -> Array:
        """Map points to a space where the learned distance is the Euclidean one.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points; or their kernel values with the training points, if it is precomputed.

        Returns
        -------
        ndarray of shape (n_samples, rank)
            The mapped points.
        """
        coordinates = self._coordinates(X)
        return self.learner_.transform(coordinates)

    def pair_proba(self, pairs: ArrayLike, X: Any = None) -> Array:
        """Compute the probability that the two points of each pair are alike.

        Parameters
        ----------
        pairs, X
            Pairs of points, or of rows of `X`, as in ``SERAPH.pair_distance``.

        Returns
        -------
        ndarray of shape (n_pairs,)
            Probabilities of ``y = +1``.
        """
        squared = self._squared_distances(pairs, X)
        return probability(self.learner_, squared)

    def get_metric(self) -> KernelMetric:
        """Return the learned distance as a function of two points, for ``metric=``.

        Returns
        -------
        KernelMetric
            Function of two arrays of shape (n_features,).
        """
        check_is_fitted(self)
        return KernelMetric(self.kernel_map_, self.learner_.get_metric())

    @property
    def _n_features_out(self) -> int:
        return self.learner_._n_features_out  # noqa: SLF001

    def _coordinates(self, X: ArrayLike) -> Array:
        """Check points, and map them to coordinates in feature space."""
        check_is_fitted(self)
        with as_numbers("X", X):
            points: Array = validate_data(self, in_memory(X), dtype=FLOATS, reset=False)
        return self.kernel_map_(points)

    def _map_differences(self, pairs: Array) -> Array:
        learner = self.learner_
        if len(pairs) == 0:  # scikit-learn's kernels refuse an empty table
            return np.empty((0, learner._n_features_out), dtype=pairs.dtype)  # noqa: SLF001
        coordinates = self.kernel_map_(pairs.reshape(-1, pairs.shape[2]))
        apart = coordinates[::2] - coordinates[1::2]
        return map_points(apart, learner.components_, learner.isotropic_)

    def _check_parameters(self) -> SERAPH | SERAPHCV:
        """Check the parameters, and return a blank learner."""
        learner = SERAPH() if self.learner is None else self.learner
        if not isinstance(learner, SERAPH | SERAPHCV):
            raise ValueError(f"learner must be a SERAPH or a SERAPHCV; got {shown(learner)}.")
        if isinstance(self.kernel, str):
            check_choice("kernel", self.kernel, (*PAIRWISE_KERNEL_FUNCTIONS, "precomputed"))
        elif not callable(self.kernel):
            raise ValueError(
                f"kernel must be a name or a function of two points; got {shown(self.kernel)}."
            )
        check_number("gamma", self.gamma, low=0, instead=("median", None))
        check_number("degree", self.degree, low=0)
        check_number("coef0", self.coef0)
        if self.kernel_params is not None and not isinstance(self.kernel_params, dict):
            raise ValueError(
                f"kernel_params must be a dict, or None; got {shown(self.kernel_params)}."
            )
        check_number("n_landmarks", self.n_landmarks, low=2, integer=True)
        check_seed(self.random_state)
        # (`clone` would copy the callback, and with it the list that it may write to.)
        return type(learner)(**learner.get_params(deep=False))

    def _choose_gamma(self, points: Array) -> float | None:
        """Return the kernel's gamma; None for its own default."""
        if not isinstance(self.gamma, str):
            return self.gamma
        if self.kernel not in _WIDTHS:
            return None
        rows = points[:: -(-len(points) // _ROWS_FOR_WIDTH)].astype(np.float64)
        distances = pdist(rows, _WIDTHS[self.kernel])
        # If most points coincide, the median is 0: take the largest distance.
        width = float(np.median(distances) or distances.max(initial=0.0))
        return 1.0 / width if np.isfinite(width) and width > 0.0 else 1.0

    def _fit_map(self, points: Array) -> KernelMap:
        """Find coordinates on the span of all points, or of a sample of them."""
        parameters = dict(self.kernel_params or {})
        if isinstance(self.kernel, str):
            own = {"gamma": self._choose_gamma(points), "degree": self.degree, "coef0": self.coef0}
            parameters |= {name: value for name, value in own.items() if value is not None}
        rows = np.arange(len(points))
        if len(points) > self.n_landmarks:
            rng = check_random_state(self.random_state)
            rows = np.sort(rng.permutation(len(points))[: self.n_landmarks])
        precomputed = self.kernel == "precomputed"
        landmarks = rows if precomputed else points[rows].astype(np.float64)
        values = _compute_kernel(self.kernel, parameters, points[rows], landmarks)
        if not np.allclose(values, values.T, rtol=1e-4, atol=1e-6 * np.abs(values).max()):
            raise ValueError(
                "The kernel must be symmetric, k(x, x') = k(x', x); the values of "
                f"kernel={shown(self.kernel)} on X are not."
            )
        if len(points) > self.n_landmarks:
            projection = Nystroem(kernel="precomputed", n_components=len(rows), random_state=0)
        else:
            projection = KernelPCA(kernel="precomputed")
        try:
            with np.errstate(divide="ignore"):  # the largest eigenvalue may be zero
                projection.fit(values)
        except ValueError as error:
            raise ValueError(
                f"kernel={shown(self.kernel)} is not a kernel on X: the matrix of its values is "
                "not positive semi-definite, perhaps by rounding. Center and scale the features, "
                f"change the kernel's parameters, or choose another kernel. ({error})"
            ) from error
        return KernelMap(self.kernel, parameters, landmarks, projection)


@dataclass(frozen=True)
class KernelMetric:
    """Distance between two points under a metric in feature space.

    Parameters
    ----------
    kernel_map : KernelMap
        Maps points to coordinates in feature space.
    metric : MahalanobisMetric
        Distance of two points of these coordinates.

    Examples
    --------
    >>> import numpy as np
    >>> from seraph import KernelSERAPH
    >>> X = np.random.default_rng(0).normal(size=(30, 2))
    >>> y = np.where(np.arange(30) < 10, np.linalg.norm(X, axis=1) > 1, -1)
    >>> learner = KernelSERAPH().fit(X, y)
    >>> metric = learner.get_metric()
    >>> bool(np.isclose(metric(X[0], X[1]), learner.pair_distance(X[None, :2])[0]))
    True
    """

    kernel_map: KernelMap
    metric: MahalanobisMetric

    def __call__(self, u: ArrayLike, v: ArrayLike) -> float:
        """Compute the distance between `u` and `v`."""
        landmarks = self.kernel_map.landmarks
        # The landmarks of a precomputed kernel are row numbers.
        points = two_points(u, v, landmarks.shape[1] if landmarks.ndim == 2 else None)
        return self.metric(*self.kernel_map(points))


def _has_checkpoint(learner: SERAPH | SERAPHCV) -> bool:
    parameters = learner.get_params().items()
    return any(name.endswith("checkpoint") and value is not None for name, value in parameters)


def _compute_kernel(
    kernel: Kernel, parameters: dict[str, Any], X: Array, landmarks: Array
) -> Array:
    """Compute the kernel between the points `X` and the landmarks, in double precision."""
    X = X.astype(np.float64, copy=False)
    if kernel == "precomputed":
        return X[:, landmarks]
    if kernel in _TRANSLATION_INVARIANT:
        center = landmarks.mean(axis=0)
        X, landmarks = X - center, landmarks - center
    return pairwise_kernels(X, landmarks, metric=kernel, filter_params=True, **parameters)
