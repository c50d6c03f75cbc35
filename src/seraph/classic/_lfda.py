"""LFDA: a local Fisher discriminant, for multimodal classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from scipy.linalg import eigh

from .._marks import PairLabels
from .._pairs import squared_distances
from .._points import CONSTANT_FEATURE, exact_size, magnitude, subtract_mean
from .._utils._typing import Array
from ._definite import with_ridge
from ._learner import ClassLabelLearner, check_components
from ._points import class_ranges


@dataclass(eq=False, repr=False, kw_only=True)
class LFDA(ClassLabelLearner):
    r"""Local Fisher discriminant analysis (Sugiyama, 2007), with unlabeled points (2010).

    The rows of the map are the top eigenvectors of :math:`S_b w = v S_w w`, each times
    :math:`\sqrt v`, with

    .. math:: S_w = \tfrac12 \sum_{i,j} W_{ij} (x_i - x_j)(x_i - x_j)',
              \qquad S_b = \tfrac12 \sum_{i,j} B_{ij} (x_i - x_j)(x_i - x_j)'.

    Two of the n labeled points that are of one class, with :math:`n_c` members, have the weights
    :math:`W_{ij} = a_{ij} / n_c` and :math:`B_{ij} = a_{ij} (1 / n - 1 / n_c)`; others have 0
    and :math:`1 / n`. The affinity
    :math:`a_{ij} = \exp(-\|x_i - x_j\|^2 / (\sigma_i \sigma_j))` is large for neighbors, with
    :math:`\sigma_i` the distance of i from its k-th neighbor in its class. So points of a class
    that are far apart need not come together. With all affinities 1 it is Fisher's discriminant.

    Parameters
    ----------
    n_components : int, optional
        Number of rows of the learned map; the number of features if None.
    n_neighbors : int, default=7
        The neighbor k whose distance is the scale of a point; the farthest point of the class if
        it has fewer members.
    beta : float or "auto", default="auto"
        Weight of all points, from 0 (labeled points alone, the paper of 2007) to 1 (the principal
        components): ``S_b`` becomes ``(1 - beta) S_b + beta S_t``, with ``S_t`` the scatter of
        all points, labeled or not, about their mean, scaled to n points; and ``S_w`` becomes
        ``(1 - beta) S_w + beta v 1``, with v the mean variance in ``S_w``. "auto" is
        ``n_features / (n_features + n)``: the more labeled points, the more they count.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The learned map ``P``; the metric is ``P'P``. The rows that separate best come first.
    beta_ : float
        The weight of all points that was used.

    References
    ----------
    M. Sugiyama. Dimensionality reduction of multimodal labeled data by local Fisher
    discriminant analysis. JMLR 8, 2007.

    M. Sugiyama, T. Ide, S. Nakajima, J. Sese. Semi-supervised local Fisher discriminant
    analysis for dimensionality reduction. Machine Learning 78, 2010.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from seraph.classic import LFDA
    >>> X, y = load_wine(return_X_y=True)
    >>> X = (X - X.mean(axis=0)) / X.std(axis=0)
    >>> LFDA(n_components=2).fit_transform(X, y).shape
    (178, 2)
    """

    _ranges: ClassVar = {"beta": {"low": 0, "below": 1, "instead": "auto"}}

    n_components: int | None = None
    n_neighbors: int = 7
    beta: float | Literal["auto"] = "auto"

    def _learn(self, points: Array, labels: PairLabels) -> tuple[Array, dict[str, Any]]:
        m = points.shape[1]
        check_components(self.n_components, m)
        rows = labels.rows_by_class
        labeled = self._labeled_points(points, labels, rows)
        size, shift = exact_size(magnitude(points)), labeled.mean(axis=0)
        Z = subtract_mean((labeled - shift) / size, rounding=CONSTANT_FEATURE)
        between, within = local_scatters(Z, labels.codes[rows], self.n_neighbors)
        beta = m / (m + len(Z)) if isinstance(self.beta, str) else float(self.beta)
        everything = subtract_mean((points.astype(np.float64) - shift) / size)
        total = everything.T @ everything * (len(Z) / len(everything))
        between = (1.0 - beta) * between + beta * total
        within = with_ridge(within, beta / (1.0 - beta), "neighbors of each class", "beta")
        values, vectors = eigh(between, (1.0 - beta) * within)
        rows = (np.sqrt(np.maximum(values, 0.0)) * vectors).T[::-1]
        return rows[: self.n_components] / size, {"beta_": beta}


def local_scatters(Z: Array, codes: Array, n_neighbors: int) -> tuple[Array, Array]:
    """Return the scatters between and within the classes of centered points, in class order."""
    n, m = Z.shape
    mixture = len(Z) * (Z.T @ Z)  # 1/2 sum over all i and j; the mean is 0
    within, between = np.zeros((m, m)), mixture / n
    for first, last in class_ranges(codes):
        members = Z[first:last]
        members = members - members.mean(axis=0)
        k = len(members)
        if k > 1:
            squared = squared_distances(members, members)
            nth = min(n_neighbors, k - 1)
            scale = np.sqrt(np.partition(squared, nth, axis=1)[:, nth])
            widths = np.outer(scale, scale)
            # A point that coincides with its neighbors is near to nothing else.
            ratio = np.divide(squared, widths, out=np.full_like(squared, np.inf), where=widths > 0)
            affinity = np.exp(-ratio)
            degree = affinity.sum(axis=1)
            # 1/2 sum_ij a_ij (x_i - x_j)(x_i - x_j)' = X' (diag(a 1) - a) X
            local = members.T @ (degree[:, np.newaxis] * members) - members.T @ affinity @ members
            within += local / k
            between += local * (1.0 / n - 1.0 / k)
        between -= k * (members.T @ members) / n  # the pairs of a class, counted above with 1/n
    return 0.5 * (between + between.T), 0.5 * (within + within.T)
