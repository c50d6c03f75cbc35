r"""What the neighbor graph adds to the metric: a discriminant, and a target of shrinkage.

Both have a closed form in the graph that joins each point to its six nearest neighbors, so they
cost no sum over the pairs. With many points the graph is that of a few thousand.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy import sparse

from .._marks import PairLabels
from .._sweep import Coordinates, magnitude
from .._utils._eigen import eigh
from .._utils._graph import neighbor_graph, neighbors_and_pairs, roughness
from .._utils._typing import Array, computed_once

# Neighbors of each point, and the share of a point's class that comes from them in each round of
# spreading. All constants were chosen on the sets for choosing of benchmarks/evidence.
_NEIGHBORS, _SPREADING = 6, 0.2
# Smaller eigenvalues of the matrix of LRML are lifted to this share of the largest.
_FLOOR = 0.02
# Labeled pairs are far apart under the Euclidean metric if their separation (`weigh_target`) is
# above this; it is computed as if there were two more pairs of each kind, equally far.
_FAR, _EQUALLY_FAR = 3.0, 2.0
# After so many rounds, another would change a share by less than rounding does.
_ROUNDS = 30
# Number of labeled rows at which the discriminant has as much say as the metrics of the model.
_EQUAL_SAY = 20
# At most this number of points have a place in the graph, or twice as many as they have
# coordinates; and at most so many rows of known class, marked pairs, and triplets join them.
_ROWS, _LABELED = 2000, 1000
# Variances below this share of the largest are rounding errors.
_NULL = 1e-12


@dataclass(frozen=True)
class Neighborhood:
    """Points with their neighbor graph, and with what is known about their pairs.

    Parameters
    ----------
    points : ndarray of shape (n, r)
        Points in coordinates of their span, in a unit of their size.
    span : ndarray of shape (d, r)
        Orthonormal columns: the span in the solvers' coordinates.
    labels : PairLabels or None
        What is known about these points.
    dtype : dtype of floats
        Type in which the points came.
    """

    points: Array
    span: Array
    labels: PairLabels | None
    dtype: np.dtype[Any]

    @classmethod
    def of(cls, coordinates: Coordinates, labels: PairLabels) -> Self | None:
        """Choose some of the points; None if all points are equal."""
        variances, directions = coordinates.principal_axes
        if not variances[-1] > 0.0:
            return None
        span = directions[:, variances > _NULL * variances[-1]]
        rows = _choose_rows(coordinates, labels)
        points = coordinates.take(rows).astype(np.float64) / np.sqrt(variances.sum())
        return cls(points @ span, span, labels.among(rows), coordinates.array.dtype)

    def graph(self) -> sparse.csr_array:
        """Join each point to its nearest neighbors."""
        return neighbor_graph(self.points, _NEIGHBORS, self.dtype)

    @computed_once
    def scatters(self) -> tuple[Array, Array]:
        """Sums of ``(x_i - x_j)(x_i - x_j)'`` over the similar and the dissimilar pairs."""
        return _scatters(self.points, self.labels)

    def weigh_target(self, directions: float) -> float:
        r"""Return the factor of the target's odds, ``max(1, c^2 d / 3)`` for d directions.

        The separation of the labeled pairs is ``c = (1 - s / t) N / (N + 2)``, where s and t are
        the mean squared distances of similar and of dissimilar pairs, and N is the number of
        pairs of the rarer kind, or half of the labeled rows if they are fewer. Squared
        distances over d directions vary around their mean by a share of :math:`\sqrt{2 / d}`:
        the two kinds are :math:`c \sqrt{d / 2}` standard deviations apart. If that is far, all
        directions tell classes apart, as with many small ones; a learned metric has only a few.
        """
        labels = self.labels
        if labels is None:
            return 1.0
        n_triplets, counted = len(labels.triplets), labels.weights * labels.likeness
        weights = np.array([counted.sum(), (labels.weights - counted).sum()])
        weights += np.array(labels.implied) + n_triplets
        sums = np.array([np.trace(scatter) for scatter in self.scatters])
        if not (weights.min() > 0.0 and sums[1] > 0.0):
            return 1.0
        near, far = sums / weights
        rarer = min(labels.n_similar, labels.n_dissimilar) + n_triplets
        n = min(rarer, labels.effective_rows / 2.0)
        c = max(0.0, 1.0 - near / far) * n / (n + _EQUALLY_FAR)
        return max(1.0, float(c) ** 2 * directions / _FAR)

    def target(self, graph: sparse.csr_array, coordinates: Coordinates, trust: float) -> Array:
        """Mix the Euclidean metric with that of LRML, which has half of `trust` as its share.

        Both have the same total variance. It is a matrix on the user's features. In directions
        in which the points do not vary, it is the Euclidean part alone.
        """
        similar, dissimilar = self.scatters
        K = neighbors_and_pairs(roughness(self.points, graph), similar, dissimilar)
        values, vectors = eigh(K)
        euclidean = np.eye(coordinates.n_features)
        if values[-1] <= 0.0:  # one feature, and no similar pair
            return euclidean
        root = self.span @ (vectors / np.sqrt(np.maximum(values, _FLOOR * values[-1])))
        metric, covariance = root @ root.T, coordinates.covariance
        share = trust / 2.0
        metric *= share * float(np.trace(covariance)) / float(np.vdot(metric, covariance))
        if coordinates.basis is not None:
            metric = coordinates.basis @ metric @ coordinates.basis.T
        mixture: Array = (1.0 - share) * euclidean + metric
        return mixture

    def discriminant(self, graph: sparse.csr_array) -> Array | None:
        """Return a factor of ``W B W``, in the solvers' coordinates.

        B is the scatter between classes that were spread over the graph, and W the inverse of
        the scatter within them, plus its mean variance. None without two classes.
        """
        if self.labels is None or self.labels.codes.max(initial=-1) < 1:
            return None
        shares = spread(self.labels.codes, graph)
        each, sizes = shares.sum(axis=1), shares.sum(axis=0)
        about = self.points - each @ self.points / each.sum()
        means = shares.T @ about / sizes[:, np.newaxis]
        between = np.sqrt(sizes)[:, np.newaxis] * means
        scaled = np.sqrt(each)[:, np.newaxis] * about
        within = scaled.T @ scaled - between.T @ between
        within.flat[:: len(within) + 1] += max(np.trace(within) / len(within), _NULL * each.sum())
        factor: Array = np.linalg.solve(within, between.T).T @ self.span.T
        return factor


def weigh_discriminant(labels: PairLabels) -> float:
    """Return the share of the discriminant in the mean of metrics: a half with 20 labels."""
    return _EQUAL_SAY / (_EQUAL_SAY + labels.n_labeled_rows)


def count_directions(covariance: Array) -> float:
    """Return the number of directions that points effectively have.

    It is the participation ratio of their variances.
    """
    part = covariance / magnitude(covariance)
    return float(np.trace(part)) ** 2 / float(np.vdot(part, part))


def trust_in_labels(labels: PairLabels, directions: float) -> float:
    """Return ``k / (k + d)`` for k labeled rows of points of d effective directions.

    It says how much the labels can tell about each direction, and is the weight of what follows
    them closely. A row counts by its strongest mark.
    """
    return labels.effective_rows / (labels.effective_rows + directions)


def spread(codes: Array, graph: sparse.csr_array) -> Array:
    """Spread classes over a graph (Zhou et al., 2004); return the share of each at each point.

    The shares ``F = a S F + (1 - a) Y`` are known classes Y and those of the neighbors, with
    ``S = D^(-1/2) W D^(-1/2)`` for the weights W and the degrees D. Rows of F are divided by
    their sum; they are 0 where no way leads to a known class.
    """
    known = np.zeros((len(codes), int(codes.max()) + 1))
    known[codes >= 0, codes[codes >= 0]] = 1.0
    roots = 1.0 / np.sqrt(np.asarray(graph.sum(axis=1)))
    step = (graph * roots[:, np.newaxis]) * roots
    shares = known
    for _ in range(_ROUNDS):
        shares = _SPREADING * (step @ shares) + (1.0 - _SPREADING) * known
    sums = shares.sum(axis=1, keepdims=True)
    return np.divide(shares, sums, out=np.zeros_like(shares), where=sums > 0.0)


def _choose_rows(coordinates: Coordinates, labels: PairLabels) -> Array:
    """Choose rows for the graph, those about which something is known among them.

    Each kind is evenly spaced in the order of norms, so that the choice does not depend on the
    order of the rows.
    """
    order = coordinates.rows_by_norm()
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    chosen = np.zeros(len(order), dtype=bool)
    chosen[_space(order, max(_ROWS, 2 * coordinates.array.shape[1]))] = True
    chosen[_space(order[labels.codes[order] >= 0], _LABELED)] = True
    for marked in (labels.pairs, labels.triplets):
        by_norm = np.argsort(place[marked].sum(axis=1), kind="stable")
        chosen[marked[_space(by_norm, _LABELED)]] = True
    return np.flatnonzero(chosen)


def _space(rows: Array, count: int) -> Array:
    """Return at most `count` of the rows, evenly spaced."""
    if len(rows) <= count:
        return rows
    return rows[np.arange(count) * len(rows) // count]


def _scatters(X: Array, labels: PairLabels | None) -> tuple[Array, Array]:
    """Sum ``(x_i - x_j)(x_i - x_j)'`` over the similar and over the dissimilar pairs.

    An unsure mark counts as both, by its likeness. A triplet is a pair of each kind.
    """
    similar, dissimilar = np.zeros((2, X.shape[1], X.shape[1]))
    if labels is None:
        return similar, dissimilar
    known = X[labels.codes >= 0]
    codes = labels.codes[labels.codes >= 0]
    for code in range(int(codes.max(initial=-1)) + 1):
        similar += _all_pairs(known[codes == code])
    dissimilar += _all_pairs(known) - similar
    a, b, c = labels.triplets.T
    i, j = labels.pairs.T
    for first, second, likeness, weights in (
        (i, j, labels.likeness, labels.weights),
        (a, b, np.ones(len(a)), np.ones(len(a))),
        (a, c, np.zeros(len(a)), np.ones(len(a))),
    ):
        gaps = X[first] - X[second]
        similar += (gaps.T * (weights * likeness)) @ gaps
        dissimilar += (gaps.T * (weights * (1.0 - likeness))) @ gaps
    return similar, dissimilar


def _all_pairs(X: Array) -> Array:
    """Sum the same over all pairs of k points: k times their scatter about the mean."""
    about = X - X.mean(axis=0) if len(X) else X
    found: Array = len(X) * (about.T @ about)
    return found
