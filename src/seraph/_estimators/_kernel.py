"""KernelSERAPH: the metric in the feature space of a kernel."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.decomposition import KernelPCA
from sklearn.kernel_approximation import Nystroem
from sklearn.metrics.pairwise import PAIRWISE_KERNEL_FUNCTIONS, pairwise_kernels
from sklearn.utils import Tags, check_array, check_random_state
from sklearn.utils.validation import check_is_fitted

from .._engine import _checkpoint as checkpoint
from .._engine import _warnings as advice
from .._engine._callback import FitState
from .._pairs import PairLabels
from .._sweep import Backend, one_blas_thread
from .._validation import check_choice, check_number
from ._posterior import FLOATS, PosteriorLearner
from ._seraph import SERAPH

Kernel = str | Callable[..., float]
# These do not see where the origin is, but far from it the values of rbf lose their digits.
_STILL = ("rbf", "laplacian")


@dataclass(frozen=True)
class KernelMap:
    """Coordinates in the feature space of a kernel, on the span of some landmarks.

    Parameters
    ----------
    kernel : str or callable
        As in :func:`sklearn.metrics.pairwise.pairwise_kernels`.
    parameters : dict
        Parameters of the kernel.
    landmarks : ndarray of shape (k, n_features) or (k,)
        The landmarks; their row numbers, if the kernel is precomputed.
    projection : KernelPCA or Nystroem
        From the kernel's values with the landmarks to coordinates.

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
    landmarks: NDArray
    projection: KernelPCA | Nystroem

    def __call__(self, X: NDArray) -> NDArray:
        """Coordinates of the points `X`."""
        values = _values(self.kernel, self.parameters, X, self.landmarks)
        coordinates = self.projection.transform(values).astype(X.dtype, copy=False)
        # Points that are all alike have no principal component: one that is zero stands for it.
        return coordinates if coordinates.shape[1] else np.zeros((len(X), 1), dtype=X.dtype)


class KernelSERAPH(PosteriorLearner):
    r"""SERAPH in the feature space of a kernel: distances that are not linear in x.

    The points are mapped to :math:`\phi(x)` with
    :math:`\langle \phi(x), \phi(x') \rangle = k(x, x')`, and the metric is learned there:

    .. math:: d(x, x')^2 = (\phi(x) - \phi(x'))^T A\, (\phi(x) - \phi(x')).

    The optimal metric lives in the span of the mapped training points, so their kernel principal
    components (all of them) are coordinates that lose nothing. Beyond `n_landmarks`
    points, those of a random sample are taken: the Nyström approximation.

    Parameters
    ----------
    kernel : str or callable, default="rbf"
        Any kernel of :func:`sklearn.metrics.pairwise.pairwise_kernels`, a function of two
        points, or "precomputed": then X is the matrix of the kernel's values, ``(n, n)`` in
        ``fit`` and ``(n_new, n)`` later on.
    gamma : float, optional
        Parameter of the kernel, as everywhere in scikit-learn: of rbf, poly, sigmoid,
        laplacian and chi2. None is the kernel's own default. (The `gamma` of `SERAPH`, of the
        full model, has no counterpart here: by Theorem 2 the full model is the simplified one
        with another `eta` and `lam`.)
    degree : float, default=3
        Parameter of the poly kernel.
    coef0 : float, default=1
        Parameter of the poly and sigmoid kernels.
    kernel_params : dict, optional
        Further parameters of the kernel, for a callable.
    mu, lam, eta, manifold, n_neighbors, algorithm, solver, n_components
        As in `SERAPH`. The manifold extension is at its best here: a map that is not linear
        can follow the graph round its bends.
    max_iter, tol, em_max_iter, em_tol, unlabeled_pairs, backend, device
        As in `SERAPH`.
    n_landmarks : int, default=1000
        Number of points up to which the kernel's principal components are exact.
    checkpoint, callback, verbose, n_jobs
        As in `SERAPH`.
    random_state : int, RandomState instance or None, default=0
        Which points are the landmarks, where there are more points than that; and seed of the
        draw of `unlabeled_pairs`.

    Attributes
    ----------
    components_ : ndarray of shape (rank, n_coordinates)
        The learned map, from the coordinates in feature space.
    kernel_map_ : KernelMap
        From points to those coordinates.
    mu_, lam_, eta_, kappa_, objective_, optimality_gap_, converged_, stopped_, n_iter_, history_
        As in `SERAPH`, in feature space.
    n_similar_, n_dissimilar_, n_unlabeled_ : int
        Number of pairs of each kind.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where X has them.

    Examples
    --------
    Two rings, which no linear map tells apart:

    >>> import numpy as np
    >>> from sklearn.datasets import make_circles
    >>> from seraph import KernelSERAPH
    >>> X, y = make_circles(200, factor=0.4, noise=0.05, random_state=0)
    >>> some = np.full(len(y), -1)
    >>> for ring in (0, 1):
    ...     some[np.flatnonzero(y == ring)[:3]] = ring
    >>> learner = KernelSERAPH(gamma=1.0).fit(X, some)
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
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict[str, Any] | None = None,
        mu: float | Literal["auto"] = "auto",
        lam: float | Literal["auto"] = "auto",
        eta: float = 1.0,
        manifold: float = 0.0,
        n_neighbors: int = 10,
        algorithm: Literal["direct", "em"] = "direct",
        solver: Literal["auto", "low-rank", "spg", "projected-gradient"] = "auto",
        n_components: int | None = None,
        max_iter: int = 200,
        tol: float = 1e-3,
        em_max_iter: int = 50,
        em_tol: float = 1e-3,
        unlabeled_pairs: int | float | Literal["all"] = "all",
        backend: Backend = "auto",
        device: Any = None,
        n_landmarks: int = 1000,
        checkpoint: str | os.PathLike[str] | None = None,
        callback: Callable[[FitState], object] | None = None,
        verbose: int = 0,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.mu = mu
        self.lam = lam
        self.eta = eta
        self.manifold = manifold
        self.n_neighbors = n_neighbors
        self.algorithm = algorithm
        self.solver = solver
        self.n_components = n_components
        self.max_iter = max_iter
        self.tol = tol
        self.em_max_iter = em_max_iter
        self.em_tol = em_tol
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
        pairs: ArrayLike | None = None,
        pair_labels: ArrayLike | None = None,
        graph: Any = None,
    ) -> Self:
        """Learn the metric.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or (n_samples, n_samples)
            All points, labelled or not; or the kernel's values, if it is precomputed.
        y, pairs, pair_labels, graph
            What is known of the points and pairs, as in ``SERAPH.fit``.

        Returns
        -------
        KernelSERAPH
            The fitted learner.
        """
        learner = self._learner()
        points = self._check_points(X)
        if self.kernel == "precomputed" and points.shape[0] != points.shape[1]:
            raise ValueError(
                'With kernel="precomputed", fit takes the kernel\'s values of all pairs of '
                f"points, a square matrix; got shape {points.shape}."
            )
        labels = PairLabels.make(len(points), y, pairs, pair_labels)
        advice.warn_of_labels(labels)
        if self.checkpoint is not None and len(points) > self.n_landmarks:
            checkpoint.check_repeatable("landmarks", self.random_state)
        with one_blas_thread():
            kernel_map = self._kernel_map(points)
            coordinates = kernel_map(points)
        parameters = self.get_params()
        with checkpoint.opened(self.checkpoint, parameters, points, labels, graph) as journal:
            learned = learner._learn(coordinates, labels, graph, journal)
            learner._warn_of_result(learned)
            return self._learned(X, kernel_map_=kernel_map, **learned)

    def transform(self, X: ArrayLike) -> NDArray:
        """Map points to where the learned distance is the Euclidean one.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points; the kernel's values with the training points, if it is precomputed.

        Returns
        -------
        ndarray of shape (n_samples, rank)
            The mapped points.
        """
        coordinates = self._points_of_metric(X)
        return coordinates @ self.components_.T.astype(coordinates.dtype, copy=False)

    def get_metric(self) -> Any:
        """Learned distance as a function of two points, for scikit-learn's ``metric=``.

        Returns
        -------
        KernelMetric
            Function of two arrays of shape (n_features,).
        """
        check_is_fitted(self)
        return KernelMetric(self.kernel_map_, self.components_.copy())

    def get_mahalanobis_matrix(self) -> NDArray:
        """Not defined: the metric lives in feature space, and is no matrix on the features.

        ``components_.T @ components_`` is its matrix on the coordinates of ``kernel_map_``.
        """
        raise NotImplementedError(
            "The metric of KernelSERAPH lives in the feature space of its kernel: there is no "
            "matrix of it on the features of X. Use transform or pair_distance; or "
            "components_.T @ components_ on the coordinates that kernel_map_ gives."
        )

    def _learner(self) -> SERAPH:
        """The learner in feature space, its parameters checked."""
        if isinstance(self.kernel, str):
            check_choice("kernel", self.kernel, (*PAIRWISE_KERNEL_FUNCTIONS, "precomputed"))
        elif not callable(self.kernel):
            raise ValueError(
                f"kernel must be a name or a function of two points; got {self.kernel!r}."
            )
        check_number("gamma", self.gamma, low=0, instead=None)
        check_number("degree", self.degree, low=0)
        check_number("n_landmarks", self.n_landmarks, low=2, integer=True)
        learner = SERAPH(
            mu=self.mu,
            lam=self.lam,
            eta=self.eta,
            manifold=self.manifold,
            n_neighbors=self.n_neighbors,
            algorithm=self.algorithm,
            solver=self.solver,
            n_components=self.n_components,
            max_iter=self.max_iter,
            tol=self.tol,
            em_max_iter=self.em_max_iter,
            em_tol=self.em_tol,
            unlabeled_pairs=self.unlabeled_pairs,
            backend=self.backend,
            device=self.device,
            checkpoint=self.checkpoint,
            callback=self.callback,
            verbose=self.verbose,
            n_jobs=self.n_jobs,
            random_state=self.random_state,
        )
        learner._check_parameters()
        return learner

    def _kernel_map(self, points: NDArray) -> KernelMap:
        """Coordinates on the span of all points, or of a sample of them."""
        parameters = dict(self.kernel_params or {})
        if isinstance(self.kernel, str):
            own = {"gamma": self.gamma, "degree": self.degree, "coef0": self.coef0}
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
                f"kernel={self.kernel!r} on X are not."
            )
        if len(points) > self.n_landmarks:
            projection = Nystroem(kernel="precomputed", n_components=len(rows), random_state=0)
        else:
            projection = KernelPCA(kernel="precomputed")
        try:
            with np.errstate(divide="ignore"):  # by a largest eigenvalue of zero
                projection.fit(values)
        except ValueError as error:
            raise ValueError(
                f"kernel={self.kernel!r} is no kernel on X: the matrix of its values is not "
                "positive semi-definite (or rounding has made it so: are the features centred "
                f"and scaled?). Change its parameters, or take another. ({error})"
            ) from error
        return KernelMap(self.kernel, parameters, landmarks, projection)

    def _points_of_metric(self, X: ArrayLike) -> NDArray:
        return self.kernel_map_(super()._points_of_metric(X))

    def _squared_distances(self, pairs: ArrayLike) -> NDArray:
        check_is_fitted(self)
        points: NDArray = check_array(
            pairs,
            dtype=FLOATS,
            allow_nd=True,
            ensure_2d=False,
            ensure_min_samples=0,
            estimator=self,
            input_name="pairs",
        )
        m = self.n_features_in_
        if points.ndim != 3 or points.shape[1:] != (2, m):
            raise ValueError(
                f"pairs must have shape (n_pairs, 2, {m}), two points each; got {points.shape}. "
                "For an array of row numbers of a table X, pass X[row_numbers]."
            )
        if len(points) == 0:  # scikit-learn's kernels take no empty table
            return np.empty(0, dtype=points.dtype)
        coordinates = self.kernel_map_(points.reshape(-1, m))
        mapped = coordinates @ self.components_.T.astype(coordinates.dtype)
        difference = mapped[::2] - mapped[1::2]
        return np.einsum("kr,kr->k", difference, difference)


@dataclass(frozen=True)
class KernelMetric:
    """Distance between two points under a metric in feature space.

    Parameters
    ----------
    kernel_map : KernelMap
        From points to coordinates in feature space.
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
    components: NDArray

    def __call__(self, u: ArrayLike, v: ArrayLike) -> float:
        """Distance between `u` and `v`."""
        first, second = self.kernel_map(np.array([u, v], dtype=np.float64))
        return float(np.linalg.norm(self.components @ (first - second)))


def _values(kernel: Kernel, parameters: dict[str, Any], X: NDArray, landmarks: NDArray) -> NDArray:
    """Values of the kernel between the points `X` and the landmarks, in double precision."""
    X = X.astype(np.float64, copy=False)
    if kernel == "precomputed":
        return X[:, landmarks]
    if kernel in _STILL:
        centre = landmarks.mean(axis=0)
        X, landmarks = X - centre, landmarks - centre
    return pairwise_kernels(X, landmarks, metric=kernel, filter_params=True, **parameters)
