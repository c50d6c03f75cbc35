"""Figures of merit over labeled pairs: how well the distance separates the two kinds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._marks import Marks, PairLabels
from .._utils._typing import Array
from .._utils._warnings import warn
from ._classes import ClassDistances
from ._ordered import Counts, ordered_counts, pair_chunks
from ._tiles import SquaredDistances, check_mapped, in_range


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
    points = check_mapped(Z)
    labels = PairLabels.of(Z, len(points), y, marks)
    return _auc(SquaredDistances(*in_range(points)), labels)


def score_of_distances(Z: Array, labels: PairLabels) -> float:
    """Compute the score of a distance: the same, or 0.5 if no pairs can be compared."""
    return _score(SquaredDistances(*in_range(Z)), labels)


def score_of_classes(chances: Array, labels: PairLabels) -> float:
    """Compute the same where the distance is the probability that two classes differ."""
    return _score(ClassDistances(chances), labels)


def labels_to_score(
    X: Any, n: int, y: ArrayLike | Marks | None, marks: Marks | None
) -> PairLabels:
    """Check the labels of the `n` rows of `X`; a fold may have none, but some must be passed."""
    return PairLabels.of(X, n, y, marks, required=y is None and marks is None)


def _score(d2: SquaredDistances | ClassDistances, labels: PairLabels) -> float:
    # An error would end as a score of NaN, and a search would take its first candidate. The same
    # value for all candidates lets the other folds decide.
    if labels.n_similar and labels.n_dissimilar:
        return _auc(d2, labels)
    warn(
        "The rows to score have no similar pairs, or no dissimilar ones, so they cannot tell how "
        "good the distance is: they score 0.5, as chance does. For cross-validation and searches, "
        "pass cv=seraph.MarksKFold(), which keeps marked pairs together."
    )
    return 0.5


def _auc(d2: SquaredDistances | ClassDistances, labels: PairLabels) -> float:
    below, area = 0.0, 0.0
    for counts in _count_pairs(d2, labels):
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
    """Compute the error rate at the threshold where it is the same for both kinds of pairs.

    Pairs at the threshold or below count as alike. So some dissimilar pairs are accepted, and some
    similar ones rejected. The equal error rate is the share at which both are the same, by linear
    interpolation between the two points of the ROC curve where they cross. Ties are those of
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
    points = check_mapped(Z)
    labels = PairLabels.of(Z, len(points), y, marks)
    accepted, rejected = 0.0, 1.0
    for counts in _count_pairs(SquaredDistances(*in_range(points)), labels):
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


def _count_pairs(d2: SquaredDistances | ClassDistances, labels: PairLabels) -> Iterator[Counts]:
    """Check that there are pairs of both kinds, and count them at each distance."""
    if not (labels.n_similar and labels.n_dissimilar):
        raise ValueError(
            "Pairs of both kinds are needed to judge a distance; got "
            f"{labels.n_similar} similar and {labels.n_dissimilar} dissimilar pairs."
        )
    return ordered_counts(pair_chunks(d2, labels), labels.n_labeled, d2.tie)
