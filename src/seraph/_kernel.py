"""KernelSERAPH: SERAPH in the feature space of a kernel, by kernel principal components."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import pdist
from sklearn.base import MetaEstimatorMixin, clone
from sklearn.decomposition import KernelPCA
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from ._learner import MetricLearner, map_points
from ._marks import Marks, aligned_marks
from ._points import choose_rows, header
from ._seraph import SERAPH
from ._utils._public import publish
from ._utils._threads import one_blas_thread
from ._utils._typing import Array
from ._utils._validation import check_number, check_seed, shown, two_points

# The rows whose median squared distance gives the width of the rbf kernel.
_ROWS_FOR_WIDTH = 1000


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
    learner : SERAPH, optional
        The learner in feature space. None means ``SERAPH()``.
    kernel : str or callable, default="rbf"
        A kernel of :class:`sklearn.decomposition.KernelPCA`: its name, a function of two points,
        or "precomputed". Then X is the matrix of kernel values, ``(n, n)`` in ``fit`` and
        ``(n_new, n)`` afterwards.
    gamma : float, "median" or None, default="median"
        Parameter of the rbf, poly and sigmoid kernels. "median" is the median heuristic for rbf:
        1 over the median squared distance of two points; other kernels keep their own default,
        as with None.
    degree, coef0 : float, default=3 and 1
        Parameters of the poly and sigmoid kernels.
    kernel_params : dict, optional
        Parameters of a kernel that is a function.
    n_landmarks : int, default=1000
        Largest number of points for which the kernel's principal components are exact.
    random_state : int, RandomState instance or None, default=0
        Seed for sampling the landmarks, if there are more points.

    Attributes
    ----------
    pca_ : KernelPCA
        Maps points to coordinates in feature space.
    learner_ : SERAPH
        The learner, fitted to these coordinates.
    landmarks_ : ndarray of int or None
        The rows that `pca_` was fitted to; None for all.
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
    >>> labels = np.full(len(y), -1)
    >>> for ring in (0, 1):
    ...     labels[np.flatnonzero(y == ring)[:5]] = ring
    >>> learner = KernelSERAPH().fit(X, labels)
    >>> inner, outer = X[y == 1], X[y == 0]
    >>> p = learner.pair_proba([[inner[0], inner[1]], [inner[0], outer[0]]])
    >>> bool(p[0] > 0.5 > p[1])
    True
    """

    pca_: KernelPCA
    learner_: SERAPH
    landmarks_: Array | None

    def __init__(
        self,
        learner: SERAPH | None = None,
        *,
        kernel: str | Callable[..., float] = "rbf",
        gamma: float | Literal["median"] | None = "median",
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict[str, Any] | None = None,
        n_landmarks: int = 1000,
        random_state: int | np.random.RandomState | None = 0,
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
            have to fit in memory.
        y, marks, graph
            Labels, marks and graph, as in ``SERAPH.fit``.

        Returns
        -------
        KernelSERAPH
            The fitted learner.
        """
        learner = self._check_parameters()
        points = self._check_points(X)
        if self.kernel == "precomputed" and points.shape[0] != points.shape[1]:
            raise ValueError(
                'With kernel="precomputed", fit takes the kernel values of all pairs of '
                f"points, a square matrix; got shape {points.shape}."
            )
        y, marks = aligned_marks(X, len(points), y, marks)
        landmarks = choose_rows(len(points), self.n_landmarks, self.random_state)
        pca = KernelPCA(
            kernel=self.kernel,
            gamma=self._choose_gamma(points),
            degree=self.degree,
            coef0=self.coef0,
            kernel_params=self.kernel_params,
        )
        with one_blas_thread():
            try:
                pca.fit(_seen(points, landmarks, self.kernel, fit=True))
            except ValueError as error:
                raise ValueError(
                    f"kernel={shown(self.kernel)} is not a kernel on X: {error} Center and scale "
                    "the features, change the kernel's parameters, or choose another kernel."
                ) from error
            coordinates = pca.transform(_seen(points, landmarks, self.kernel))
        coordinates = coordinates.astype(points.dtype)
        fit = learner._prepare(coordinates, y, marks, graph)  # noqa: SLF001
        learner._learn(coordinates, fit)  # noqa: SLF001
        validate_data(self, header(X), skip_check_array=True)  # n_features_in_, feature_names_in_
        self.pca_, self.learner_, self.landmarks_ = pca, learner, landmarks
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
        return self._map(self._check_new_points(X))

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
        check_is_fitted(self)
        return self.learner_._probability(self._squared_distances(pairs, X))  # noqa: SLF001

    def _distance(self, u: ArrayLike, v: ArrayLike) -> float:
        points = two_points(u, v, self.n_features_in_)
        return float(np.linalg.norm(np.subtract(*self._map(points))))

    def get_metric(self) -> Callable[[ArrayLike, ArrayLike], float]:
        """Return the learned distance as a function of two points, for ``metric=``.

        Returns
        -------
        callable
            Function of two arrays of shape (n_features,), which can be pickled.
        """
        check_is_fitted(self)
        return self._distance

    @property
    def _n_features_out(self) -> int:
        return len(self.learner_.components_)

    def _map(self, points: Array) -> Array:
        if len(points) == 0:  # scikit-learn's kernels refuse an empty table
            return np.empty((0, self._n_features_out), dtype=points.dtype)
        coordinates = self.pca_.transform(_seen(points, self.landmarks_, self.kernel))
        return map_points(coordinates, self.learner_.components_).astype(points.dtype)

    def _map_differences(self, pairs: Array) -> Array:
        mapped = self._map(pairs.reshape(-1, pairs.shape[2]))
        return mapped[::2] - mapped[1::2]

    def _check_parameters(self) -> SERAPH:
        """Check the parameters, and return a blank learner."""
        learner = SERAPH() if self.learner is None else self.learner
        if not isinstance(learner, SERAPH):
            raise ValueError(f"learner must be a SERAPH; got {shown(learner)}.")
        if self.kernel_params is not None and not callable(self.kernel):
            raise ValueError(
                f"kernel_params={shown(self.kernel_params)} is for a kernel that is a function; "
                f"kernel={shown(self.kernel)} takes gamma, degree and coef0."
            )
        check_number("gamma", self.gamma, low=0, instead=("median", None))
        check_number("degree", self.degree, low=0)
        check_number("coef0", self.coef0)
        check_number("n_landmarks", self.n_landmarks, low=2, integer=True)
        check_seed(self.random_state)
        return clone(learner)

    def _choose_gamma(self, points: Array) -> float | None:
        """Return the kernel's gamma; None for its own default."""
        if not isinstance(self.gamma, str):
            return self.gamma
        if self.kernel != "rbf":
            return None
        rows = choose_rows(len(points), _ROWS_FOR_WIDTH, 0)
        rows = points.astype(np.float64) if rows is None else points[rows].astype(np.float64)
        distances = pdist(rows, "sqeuclidean")
        # If most points coincide, the median is 0: take the largest distance.
        width = float(np.median(distances) or distances.max(initial=0.0))
        return 1.0 / width if width > 0.0 else 1.0


def _seen(points: Array, landmarks: Array | None, kernel: Any, *, fit: bool = False) -> Array:
    """Return what kernel PCA takes: points, or precomputed values with the landmarks.

    Both are in double precision: small differences of kernel values matter.
    """
    points = points.astype(np.float64, copy=False)
    if landmarks is not None and kernel == "precomputed":
        points = points[:, landmarks]
    return points[landmarks] if fit and landmarks is not None else points


publish(globals(), "seraph", ["KernelSERAPH"])
