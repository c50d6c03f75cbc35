"""MFDA: a projection that keeps dissimilar pairs apart and the manifold of all points intact."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from scipy.sparse import csr_array
from sklearn.neighbors import NearestNeighbors

from .._marks import PairLabels
from .._pairs import CHUNK
from .._points import principal_directions
from .._utils._eigen import eigh
from .._utils._tiles import row_slices
from .._utils._typing import Array
from ._definite import ZERO
from ._learner import ClassicLearner
from ._pair_sums import PairSums
from ._points import remove_unit

# Ridge of a neighborhood's Gram matrix, as a share of its trace: without it the weights are not
# determined if there are more neighbors than features. The usual value of locally linear embedding
# (scikit-learn's, too).
_RIDGE = 1e-3
# A smaller rise of the ratio, relatively, is rounding.
_NEARLY, _MOST_ITERATIONS = 1e-10, 100


@dataclass(eq=False, repr=False, kw_only=True)
class MFDA(ClassicLearner):
    r"""Manifold Fisher discriminant analysis (Baghshah and Shouraki, 2009).

    The metric is :math:`WW'`, for the :math:`W` with orthonormal columns that maximizes

    .. math:: \rho(W) = \frac{\mathrm{tr}(W' S_b W)}
              {\mathrm{tr}(W' (S_w + \alpha X' E X) W)}.

    :math:`S_b` and :math:`S_w` are the sums of :math:`(x_i - x_j)(x_i - x_j)'` over the
    dissimilar and the similar pairs; :math:`E = (I - R)'(I - R)`, where :math:`R` has the
    weights by which locally linear embedding writes each point, labeled or not, as a mean of
    its neighbors. So dissimilar pairs move apart and similar ones together, along directions
    in which every point remains the same mean of its neighbors.

    Parameters
    ----------
    n_components : int or None, default=None
        Largest number of columns of `W`. None takes half of the dimensions that the pairs and
        the neighbors span, rounded up: see the notes.
    n_neighbors : int, default=10
        Number of neighbors that a point is written by; all other points if there are fewer.
    alpha : float or "auto", default="auto"
        Weight of the neighbors. "auto" is 0.2, or 0.02 for at most 5 features, as in the paper.

    Attributes
    ----------
    components_ : ndarray of shape (rank, n_features)
        The learned map ``W'``: orthonormal rows.
    alpha_ : float
        The weight of the neighbors that was used.
    objective_ : float
        The ratio; infinity where its denominator can be zero.

    Notes
    -----
    For a given :math:`\rho` the best `W` consists of the top eigenvectors of
    :math:`S_b - \rho\,(S_w + \alpha X'EX)`. Replacing :math:`\rho` by the ratio that they
    reach, again and again, is Newton's method for a convex function of :math:`\rho`: it rises
    to the global maximum, usually in about ten iterations.

    Where the denominator is zero in at least `n_components` directions, the ratio is infinite,
    and `W` is the part of them with the largest numerator, as Xiang, Nie and Zhang (2008) propose.
    That, half of the dimensions by default and the ridge of the weights are ours. The fewer the
    columns, the larger the ratio: choose their number by its use. With as many as features the
    metric is the Euclidean one.

    References
    ----------
    M. S. Baghshah, S. B. Shouraki. Semi-supervised metric learning using pairwise
    constraints. IJCAI 2009.

    S. Xiang, F. Nie, C. Zhang. Learning a Mahalanobis distance metric for data clustering
    and classification. Pattern Recognition 41, 2008.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_wine
    >>> from seraph.classic import MFDA
    >>> X, y = load_wine(return_X_y=True)
    >>> X = (X - X.mean(axis=0)) / X.std(axis=0)
    >>> partly = np.full(len(y), -1)
    >>> partly[::6] = y[::6]  # 30 labels, 148 unlabeled rows
    >>> MFDA(n_components=2).fit(X, partly).transform(X).shape
    (178, 2)
    """

    _ranges: ClassVar = {"alpha": {"low": 0, "instead": "auto"}}

    n_components: int | None = None
    n_neighbors: int = 10
    alpha: float | Literal["auto"] = "auto"

    def _learn(self, points: Array, labels: PairLabels) -> tuple[Array, dict[str, Any]]:
        auto = 0.02 if points.shape[1] <= 5 else 0.2
        alpha = auto if self.alpha == "auto" else float(self.alpha)
        Z, _ = remove_unit(points)
        basis = np.eye(Z.shape[1])
        if Z.shape[1] > len(Z):  # the span of the points is all there is to choose from
            left, lengths, basis = principal_directions(Z)
            Z = left * lengths
        apart, together = self._scatters(Z, labels, alpha)
        values, vectors = eigh(apart + together)
        kept = vectors[:, values > ZERO * values[-1]]
        apart, together = kept.T @ apart @ kept, kept.T @ together @ kept
        d = min(self.n_components or (len(apart) + 1) // 2, len(apart))
        W, history = trace_ratio(apart, together, d)
        return W.T @ kept.T @ basis, {"alpha_": alpha, "objective_": history[-1]}

    def _scatters(self, Z: Array, labels: PairLabels, alpha: float) -> tuple[Array, Array]:
        """Return the matrices in the numerator and the denominator of the ratio."""
        if labels.n_dissimilar == 0:
            raise ValueError(
                f"All {labels.n_similar} labeled pairs are similar: there is nothing to move "
                "apart. Add labels of another class, or dissimilar pairs."
            )
        if labels.n_similar == 0 and alpha == 0.0:
            raise ValueError(
                f"All {labels.n_dissimilar} labeled pairs are dissimilar and alpha is 0: there "
                "is nothing to hold together. Add a second label of some class, or similar "
                "pairs, or set alpha > 0."
            )
        sums = PairSums(labels)
        together, apart = sums.scatters(Z[sums.rows])
        if not np.trace(apart) > ZERO * np.einsum("ij,ij->", Z, Z):
            raise ValueError(
                f"The points of all {labels.n_dissimilar} dissimilar pairs coincide: no metric "
                "can separate them. Check X and the labels."
            )
        if alpha > 0.0:
            rest = Z - reconstruction(Z, self.n_neighbors) @ Z
            together = together + alpha * (rest.T @ rest)
        return apart, together


def reconstruction(X: Array, n_neighbors: int) -> csr_array:
    """Return weights that write each point as a mean of its neighbors.

    ``min_R ||x_i - sum_j R_ij x_j||^2 + ridge_i sum_j R_ij^2``, with ``sum_j R_ij = 1``
    """
    n, k = len(X), min(int(n_neighbors), len(X) - 1)
    neighbors = NearestNeighbors(n_neighbors=k).fit(X).kneighbors(return_distance=False)
    weights = np.empty((n, k))
    diagonal = np.arange(k)
    for part in row_slices(n, CHUNK // (k * max(k, X.shape[1]))):
        offsets = X[neighbors[part]] - X[part, np.newaxis]
        gram = offsets @ offsets.transpose(0, 2, 1)
        trace = np.einsum("ijj->i", gram)
        trace[trace == 0.0] = 1.0  # a point that coincides with them: their plain mean
        gram[:, diagonal, diagonal] += _RIDGE * trace[:, np.newaxis]
        weights[part] = np.linalg.solve(gram, np.ones((len(gram), k, 1)))[:, :, 0]
    weights /= weights.sum(axis=1, keepdims=True)
    starts = np.arange(0, n * k + 1, k)
    return csr_array((weights.reshape(-1), neighbors.reshape(-1), starts), shape=(n, n))


def trace_ratio(numerator: Array, denominator: Array, d: int) -> tuple[Array, list[float]]:
    """Maximize ``tr(W' numerator W) / tr(W' denominator W)`` over W of d orthonormal columns.

    The two matrices are positive semi-definite, and their sum is positive definite. Returns W, and
    the ratio at the start and after each iteration.
    """
    with np.errstate(divide="ignore", over="ignore"):  # infinity is the right answer
        ratio = float(np.trace(numerator) / np.trace(denominator))
    history = [ratio]
    values, vectors = eigh(denominator)
    null = vectors[:, values <= ZERO * np.trace(numerator + denominator)]
    if null.shape[1] >= d:
        _, inner = eigh(null.T @ numerator @ null)
        return null @ inner[:, ::-1][:, :d], [*history, np.inf]
    # phi(rho) = max_W tr W' (numerator - rho denominator) W is convex, falls, and is 0 at the best
    # ratio. Its slope is -tr W' denominator W, so Newton's step leads to the ratio of that W.
    while len(history) <= _MOST_ITERATIONS:  # about ten are enough
        _, vectors = eigh(numerator - ratio * denominator)
        W = vectors[:, ::-1][:, :d]
        above = float(np.einsum("ij,ij->", W, numerator @ W))
        ratio = max(ratio, above / float(np.einsum("ij,ij->", W, denominator @ W)))
        history.append(ratio)
        if ratio - history[-2] <= _NEARLY * ratio:
            break
    return W, history
