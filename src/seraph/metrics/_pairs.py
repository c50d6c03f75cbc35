"""Figures of merit over labeled pairs: how well the distance separates the two kinds."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike

from .._marks import Marks, PairLabels
from .._utils._typing import Array
from ._classes import ClassDistances
from ._ordered import Counts, ordered_counts, pair_chunks
from ._tiles import SquaredDistances, checked_points, in_range


def pair_auc(
    Z: ArrayLike,
    y: ArrayLike | None = None,
    *,
    marks: Marks | None = None,
) -> float:
    """Compute the area under the ROC curve of the distance, over all labeled pairs.

    This is the probability that a random similar pair is closer than a random dissimilar one; a
    tie counts half. All pairs count, for any number of points: distances are sorted in parts, and
    recomputed for each part. Whole numbers tie where their distances are equal in exact
    arithmetic, other points where squared distances are within 2**-44 of each other
    (see ``help(seraph.metrics)``).

    Parameters
    ----------
    Z : array-like of shape (n_samples, n_dimensions)
        Points whose Euclidean distance is judged: what ``transform`` returns.
    y : array-like of shape (n_samples,), optional
        Class labels; -1, NaN or None where :ref:`unknown <unlabeled>`. All pairs of labeled points
        count.
    marks : Marks, optional
        Marks of the rows of `Z`. Which of two kinds a pair leans to counts, not its weight.

    Returns
    -------
    float
        From 0 to 1; 0.5 is chance.

    Examples
    --------
    >>> from seraph import Marks
    >>> from seraph.metrics import pair_auc
    >>> pair_auc([[0.0], [1.0], [4.0], [6.0]], ["a", "a", "b", "b"])
    1.0
    >>> pair_auc([[0.0], [1.0], [4.0]], marks=Marks([[0, 1], [1, 2]], [-1, 1], rows=3))
    0.0
    """
    points = checked_points(Z)
    return labels_auc(points, PairLabels.of(Z, len(points), y, marks))


def labels_auc(points: Array, labels: PairLabels) -> float:
    """Compute the same from checked points and labels."""
    return _auc(SquaredDistances(*in_range(points)), labels)


def class_auc(chances: Array, y: ArrayLike | None, *, marks: Marks | None = None) -> float:
    """Compute the same where the distance is the probability that two classes differ."""
    labels = PairLabels.of(chances, len(chances), y, marks)
    return _auc(ClassDistances(chances), labels)


def _auc(d2: SquaredDistances | ClassDistances, labels: PairLabels) -> float:
    below, area = 0.0, 0.0
    for counts in _counted(d2, labels):
        closer = below + np.cumsum(counts.similar) - 0.5 * counts.similar
        area += float(closer @ counts.dissimilar)
        below += float(counts.similar.sum())
    return area / (labels.n_similar * labels.n_dissimilar)


def equal_error_rate(
    Z: ArrayLike,
    y: ArrayLike | None = None,
    *,
    marks: Marks | None = None,
) -> float:
    """Compute the error rate at the threshold where both kinds of pairs have the same.

    A threshold calls the pairs at that distance or below alike. It accepts a share of the
    dissimilar pairs and rejects a share of the similar ones; this is their common value, on the
    straight line between the two points of the ROC curve where they cross. Ties are those of
    `pair_auc`.

    Parameters
    ----------
    Z, y, marks
        Points and labels, as in `pair_auc`.

    Returns
    -------
    float
        From 0 to 1; 0.5 is chance.

    Examples
    --------
    >>> from seraph.metrics import equal_error_rate
    >>> equal_error_rate([[0.0], [1.0], [4.0], [6.0]], ["a", "a", "b", "b"])
    0.0
    """
    points = checked_points(Z)
    labels = PairLabels.of(Z, len(points), y, marks)
    accepted, rejected = 0.0, 1.0
    for counts in _counted(SquaredDistances(*in_range(points)), labels):
        accepts = accepted + np.cumsum(counts.dissimilar) / labels.n_dissimilar
        rejects = rejected - np.cumsum(counts.similar) / labels.n_similar
        crossed = np.flatnonzero(accepts >= rejects)
        if len(crossed):
            at = int(crossed[0])
            if at:
                accepted, rejected = float(accepts[at - 1]), float(rejects[at - 1])
            before, after = rejected - accepted, float(accepts[at] - rejects[at])
            return accepted + before / (before + after) * (float(accepts[at]) - accepted)
        accepted, rejected = float(accepts[-1]), float(rejects[-1])
    return 0.5 * (accepted + rejected)  # only rounding keeps the ends, 1 and 0, from crossing


def _counted(d2: SquaredDistances | ClassDistances, labels: PairLabels) -> Iterator[Counts]:
    """Check that there are pairs of both kinds, and count them at each distance."""
    if not (labels.n_similar and labels.n_dissimilar):
        raise ValueError(
            "Pairs of both kinds are needed to judge a distance; got "
            f"{labels.n_similar} similar and {labels.n_dissimilar} dissimilar pairs."
        )
    return ordered_counts(pair_chunks(d2, labels), labels.n_labeled, d2.tie)
