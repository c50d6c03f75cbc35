"""KernelSERAPH: a metric in the feature space of a kernel."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NoReturn, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import pdist
from sklearn.decomposition import KernelPCA
from sklearn.kernel_approximation import Nystroem
from sklearn.metrics.pairwise import PAIRWISE_KERNEL_FUNCTIONS, pairwise_kernels
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from .._base import Blend, mapped
from .._engine import (
    FitState,
    Settings,
    check_checkpoint,
    check_repeatable,
    fingerprint,
    learn,
    open_journal,
    read_array,
    read_labels,
    set_up_sweeps,
)
from .._marks import Marks
from .._sweep import Backend, PointsInMemory
from .._utils._typing import Array
from .._utils._validation import check_choice, check_number, shown, two_points
from ._posterior import PosteriorLearner, averages

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
    >>> coordinates = learner.kernel_map_(X)
    >>> Z = coordinates @ learner.components_.T
    >>> bool(np.allclose(Z, learner.transform(X)))
    True
    """

    kernel: Kernel
    parameters: dict[str, Any]
    landmarks: Array
    projection: KernelPCA | Nystroem

    def __call__(self, X: Array) -> Array:
        """Compute the coordinates of the points `X`."""
        values = _values(self.kernel, self.parameters, X, self.landmarks)
        coordinates = self.projection.transform(values).astype(X.dtype, copy=False)
        # Identical points have no principal component; give them one that is zero.
        return coordinates if coordinates.shape[1] else np.zeros((len(X), 1), dtype=X.dtype)


class KernelSERAPH(PosteriorLearner):
    r"""SERAPH in the feature space of a kernel, for distances that are not linear in x.

    The points are mapped to :math:`\phi(x)` with
    :math:`\langle \phi(x), \phi(x') \rangle = k(x, x')`, and the metric is learned there:

    .. math:: d(x, x')^2 = (\phi(x) - \phi(x'))^T A\, (\phi(x) - \phi(x')).

    The optimal metric is in the span of the mapped training points (the representer theorem), so
    all their kernel principal components together are exact. With more than `n_landmarks` points,
    those of a random sample are used (the Nyström approximation).

    Parameters
    ----------
    kernel : str or callable, default="rbf"
        Any kernel of :func:`sklearn.metrics.pairwise.pairwise_kernels`, a function of two
        points, or "precomputed": then X is the matrix of kernel values, ``(n, n)`` in ``fit``
        and ``(n_new, n)`` afterwards.
    kernel_gamma : float, "median" or None, default="median"
        The parameter gamma of the rbf, poly, sigmoid, laplacian and chi2 kernels, as everywhere in
        scikit-learn. "median" is the median heuristic: 1 over the median squared distance of two
        points for rbf, and over their median Manhattan distance for laplacian; other kernels keep
        their own default. None is the kernel's own default. (The `gamma` of `SERAPH`, for the full
        model, has no counterpart here: by Theorem 2 the full model is the simplified one with
        another `eta` and `lam`.)
    degree : float, default=3
        Parameter of the poly kernel.
    coef0 : float, default=1
        Parameter of the poly and sigmoid kernels.
    kernel_params : dict, optional
        Further parameters of the kernel, for a callable.
    mu, lam, eta, shrinkage, manifold, n_neighbors, solver, n_components
        As in `SERAPH`; the metric shrinks toward the distance in feature space. The manifold
        extension works best here, because the map is not linear.
    max_iter, tol, unlabeled_pairs, backend, device
        As in `SERAPH`.
    n_landmarks : int, default=1000
        Largest number of points for which the kernel's principal components are exact.
    checkpoint, callback, verbose, n_jobs
        As in `SERAPH`.
    random_state : int, RandomState instance or None, default=None
        Seed for sampling the landmarks, if there are more points than that, and for sampling
        `unlabeled_pairs`.

    Attributes
    ----------
    components_ : ndarray of shape (rank, n_coordinates)
        The map of the final metric, from the coordinates in feature space.
    learned_components_ : ndarray of shape (learned_rank, n_coordinates)
        The same before shrinkage.
    shrinkage_ : float
        The share of the distance in feature space that was used.
    kernel_map_ : KernelMap
        Maps points to those coordinates.
    mu_, lam_, eta_, kappa_, objective_, optimality_gap_, converged_, stopped_, n_iter_, history_
        As in `SERAPH`, in feature space.
    backend_, device_ : str
        As in `SERAPH`.
    n_similar_, n_dissimilar_, n_unlabeled_, n_absent_marks_, n_triplets_ : int
        Number of pairs of each kind and of triplets, as in `SERAPH`.
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

    def __init__(
        self,
        *,
        kernel: Kernel = "rbf",
        kernel_gamma: float | Literal["median"] | None = "median",
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict[str, Any] | None = None,
        mu: float | Literal["auto"] = "auto",
        lam: float | Literal["auto"] = "auto",
        eta: float = 1.0,
        shrinkage: float | Literal["auto"] = "auto",
        manifold: float = 0.0,
        n_neighbors: int = 10,
        solver: str = "auto",
        n_components: int | None = None,
        max_iter: int = 200,
        tol: float = 1e-3,
        unlabeled_pairs: int | float | Literal["all"] = "all",
        backend: Backend = "auto",
        device: Any = None,
        n_landmarks: int = 1000,
        checkpoint: str | os.PathLike[str] | None = None,
        callback: Callable[[FitState], object] | None = None,
        verbose: int = 0,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.kernel = kernel
        self.kernel_gamma = kernel_gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.mu = mu
        self.lam = lam
        self.eta = eta
        self.shrinkage = shrinkage
        self.manifold = manifold
        self.n_neighbors = n_neighbors
        self.solver = solver
        self.n_components = n_components
        self.max_iter = max_iter
        self.tol = tol
        self.unlabeled_pairs = unlabeled_pairs
        self.backend = backend
        self.device = device
        self.n_landmarks = n_landmarks
        self.checkpoint = checkpoint
        self.callback = callback
        self.verbose = verbose
        self.n_jobs = n_jobs
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
        """Learn the metric.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or (n_samples, n_samples)
            All points, labeled or not; or the kernel values, if the kernel is precomputed.
        y, marks, graph
            Labels, marks and graph, as in ``SERAPH.fit``.

        Returns
        -------
        KernelSERAPH
            The fitted learner.
        """
        self._check_kernel()
        check_checkpoint(self.checkpoint)
        settings = Settings.of(self, average=averages(self))
        points, settings = read_array(X, settings)
        if self.kernel == "precomputed" and points.shape[0] != points.shape[1]:
            raise ValueError(
                'With kernel="precomputed", fit takes the kernel values of all pairs of '
                f"points, a square matrix; got shape {points.shape}."
            )
        labels = read_labels(X, len(points), y, marks)
        if self.checkpoint is not None and len(points) > self.n_landmarks:
            check_repeatable("landmarks", self.random_state)
        parameters = self.get_params()
        with set_up_sweeps(settings):
            kernel_map = self._kernel_map(points.array)
            coordinates = PointsInMemory(kernel_map(points.array))
            blend = Blend.of(
                self, coordinates.shape[1], has_rule=True, threshold=self.eta, in_one=True
            )
            with open_journal(
                self.checkpoint, lambda: fingerprint(parameters, points, labels, graph)
            ) as journal:
                fit = learn(coordinates, labels, settings, graph=graph, journal=journal)
                return self._take(X, fit, settings, blend, kernel_map_=kernel_map)

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
        return mapped(self._points_of_metric(X), self.components_, self.isotropic_)

    def get_metric(self) -> Any:
        """Return the learned distance as a function of two points, for ``metric=``.

        Returns
        -------
        KernelMetric
            Function of two arrays of shape (n_features,).
        """
        check_is_fitted(self)
        return KernelMetric(self.kernel_map_, self.components_.copy())

    @property
    def get_mahalanobis_matrix(self) -> NoReturn:
        """Not available: the metric has no matrix on the features."""
        raise AttributeError(
            "The metric of KernelSERAPH lives in the feature space of its kernel and has no "
            "matrix on the features of X. Use transform or pair_distance; or "
            "components_.T @ components_ on the coordinates that kernel_map_ returns."
        )

    def _check_kernel(self) -> None:
        if isinstance(self.kernel, str):
            check_choice("kernel", self.kernel, (*PAIRWISE_KERNEL_FUNCTIONS, "precomputed"))
        elif not callable(self.kernel):
            raise ValueError(
                f"kernel must be a name or a function of two points; got {shown(self.kernel)}."
            )
        check_number("kernel_gamma", self.kernel_gamma, low=0, instead=("median", None))
        check_number("degree", self.degree, low=0)
        check_number("coef0", self.coef0)
        if self.kernel_params is not None and not isinstance(self.kernel_params, dict):
            raise ValueError(
                f"kernel_params must be a dict, or None; got {shown(self.kernel_params)}."
            )
        check_number("n_landmarks", self.n_landmarks, low=2, integer=True)

    def _gamma(self, points: Array) -> float | None:
        """Return the kernel's gamma; None for its own default."""
        if not isinstance(self.kernel_gamma, str):
            return self.kernel_gamma
        if self.kernel not in _WIDTHS:
            return None
        rows = points[:: -(-len(points) // _ROWS_FOR_WIDTH)].astype(np.float64)
        distances = pdist(rows, _WIDTHS[self.kernel])
        # If most points coincide, the median is 0: take the largest distance.
        width = float(np.median(distances) or distances.max(initial=0.0))
        return 1.0 / width if np.isfinite(width) and width > 0.0 else 1.0

    def _kernel_map(self, points: Array) -> KernelMap:
        """Find coordinates on the span of all points, or of a sample of them."""
        parameters = dict(self.kernel_params or {})
        if isinstance(self.kernel, str):
            own = {"gamma": self._gamma(points), "degree": self.degree, "coef0": self.coef0}
            parameters |= {name: value for name, value in own.items() if value is not None}
        rows = np.arange(len(points))
        if len(points) > self.n_landmarks:
            rng = check_random_state(self.random_state)
            rows = np.sort(rng.permutation(len(points))[: self.n_landmarks])
        precomputed = self.kernel == "precomputed"
        landmarks = rows if precomputed else points[rows].astype(np.float64)
        values = _values(self.kernel, parameters, points[rows], landmarks)
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

    def _points_of_metric(self, X: ArrayLike) -> Array:
        points = super()._points_of_metric(X)
        return self.kernel_map_(points)

    def _mapped_differences(self, pairs: Array) -> Array:
        if len(pairs) == 0:  # scikit-learn's kernels refuse an empty table
            return np.empty((0, len(self.components_)), dtype=pairs.dtype)
        coordinates = self.kernel_map_(pairs.reshape(-1, pairs.shape[2]))
        return mapped(coordinates[::2] - coordinates[1::2], self.components_, self.isotropic_)


@dataclass(frozen=True)
class KernelMetric:
    """Distance between two points under a metric in feature space.

    Parameters
    ----------
    kernel_map : KernelMap
        Maps points to coordinates in feature space.
    components : ndarray of shape (rank, n_coordinates)
        Factor of the metric on them.

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
    components: Array

    def __call__(self, u: ArrayLike, v: ArrayLike) -> float:
        """Compute the distance between `u` and `v`."""
        landmarks = self.kernel_map.landmarks
        # A precomputed kernel has the numbers of the landmarks.
        points = two_points(u, v, landmarks.shape[1] if landmarks.ndim == 2 else None)
        first, second = self.kernel_map(points)
        return float(np.linalg.norm(self.components @ (first - second)))


def _values(kernel: Kernel, parameters: dict[str, Any], X: Array, landmarks: Array) -> Array:
    """Compute the kernel between the points `X` and the landmarks, in double precision."""
    X = X.astype(np.float64, copy=False)
    if kernel == "precomputed":
        return X[:, landmarks]
    if kernel in _TRANSLATION_INVARIANT:
        center = landmarks.mean(axis=0)
        X, landmarks = X - center, landmarks - center
    return pairwise_kernels(X, landmarks, metric=kernel, filter_params=True, **parameters)
