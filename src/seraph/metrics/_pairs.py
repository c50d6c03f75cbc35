"""Figures of merit over labeled pairs: how well the distance separates the two kinds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import cdist, pdist
from sklearn.utils import check_array

from .._marks import Marks, PairLabels
from .._pairs import class_pairs
from .._points import to_memory
from .._utils._tiles import row_slices
from .._utils._typing import Array
from .._utils._validation import as_numbers
from .._utils._warnings import warn

# Distances of pairs, from the table of their first points and that of their second points.
Gap = Callable[[Array, Array], Array]
# Most pairs of one kind, and how many are sampled of more: their AUC is that of all to 0.0005.
_MOST_PAIRS, _SAMPLE = 2**21, 2**19
# Coordinates at a time: what a processor's cache holds. With more, each pair costs three times.
_CHUNK = 2**17


def check_mapped(Z: Any, name: str = "Z") -> Array:
    """Check mapped points; a metric of rank 0 maps to no column at all."""
    with as_numbers(name, Z):
        points: Array = check_array(
            to_memory(Z), dtype=np.float64, ensure_min_features=0, input_name=name
        )
    return points


def pair_auc(
    Z: ArrayLike,
    y: ArrayLike | None = None,
    *,
    marks: Marks | None = None,
) -> float:
    """Compute the area under the ROC curve of the distance, over the labeled pairs.

    This is the probability that a random similar pair is closer than a random dissimilar one; a
    tie counts half. All pairs count, up to 2 million of each kind (some 2,000 labeled rows); of
    more, a random sample of half a million, the same one each time.

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
    return _auc(points, squared_gap, PairLabels.of(Z, len(points), y, marks))


def pairs_to_score(X: Any, n: int, y: ArrayLike | Marks | None, marks: Marks | None) -> PairLabels:
    """Check the labels of the `n` rows of `X`; a fold may have none, but some must be passed."""
    if y is None and marks is None:
        raise ValueError(
            "There is nothing to score by: score requires y to be passed, but the target y is "
            "None, and so is marks. In cross-validation, pass marks in the place of y: "
            "cross_validate(model, X, marks, cv=MarksKFold()). As params they reach a score only "
            "after sklearn.set_config(enable_metadata_routing=True)."
        )
    return PairLabels.of(X, n, y, marks, required=False)


def squared_gap(first: Array, second: Array) -> Array:
    """Return the squared distances of pairs of points."""
    difference = first - second
    return np.asarray(np.einsum("kr,kr->k", difference, difference))


def score_of_pairs(Z: Array, gap: Gap, labels: PairLabels) -> float:
    """Compute the AUC of a function of the points of pairs, or 0.5 without pairs of both kinds."""
    # An error would end as a score of NaN, and a search would take its first candidate. The same
    # value for all candidates lets the other folds decide.
    if labels.n_similar and labels.n_dissimilar:
        return _auc(Z, gap, labels)
    warn(
        "The rows to score have no similar pairs, or no dissimilar ones, so they cannot tell how "
        "good the distance is: they score 0.5, as chance does. For cross-validation and searches, "
        "pass cv=seraph.MarksKFold(), which keeps marked pairs together."
    )
    return 0.5


def _auc(Z: Array, gap: Gap, labels: PairLabels) -> float:
    similar, dissimilar = _ordered(Z, gap, labels)
    closer = np.searchsorted(similar, dissimilar, "left")
    not_farther = np.searchsorted(similar, dissimilar, "right")
    return float(np.mean(closer + not_farther) / (2 * len(similar)))


def equal_error_rate(
    Z: ArrayLike,
    y: ArrayLike | None = None,
    *,
    marks: Marks | None = None,
) -> float:
    """Compute the error rate at the threshold where it is the same for both kinds of pairs.

    Pairs at the threshold or below count as alike. So some dissimilar pairs are accepted, and some
    similar ones rejected. The equal error rate is the share at which both are the same, by linear
    interpolation between the two points of the ROC curve where they cross. The pairs are those of
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
    kinds = _ordered(points, squared_gap, labels)
    thresholds = np.unique(np.concatenate([[-1.0], *kinds]))
    recall, accepted = (np.searchsorted(d, thresholds, "right") / len(d) for d in kinds)
    excess = accepted + recall - 1.0  # dissimilar pairs accepted, less similar ones rejected
    at = int(np.argmax(excess >= 0.0))
    step = -excess[at - 1] / (excess[at] - excess[at - 1])
    return float(accepted[at - 1] + step * (accepted[at] - accepted[at - 1]))


def _ordered(Z: Array, gap: Gap, labels: PairLabels) -> tuple[Array, Array]:
    """Return the distances of the similar and of the dissimilar pairs, in ascending order."""
    if not (labels.n_similar and labels.n_dissimilar):
        raise ValueError(
            "Pairs of both kinds are needed to judge a distance; got "
            f"{labels.n_similar} similar and {labels.n_dissimilar} dissimilar pairs."
        )

    return _sorted(Z, gap, labels, similar=True), _sorted(Z, gap, labels, similar=False)


def _sorted(Z: Array, gap: Gap, labels: PairLabels, *, similar: bool) -> Array:
    if (
        gap is squared_gap
        and (labels.n_similar if similar else labels.n_dissimilar) <= _MOST_PAIRS
    ):
        pairs, blocks = labels.pairs[labels.similar == similar], _class_blocks(Z, labels, similar)
    else:
        pairs, blocks = pairs_of_kind(labels, similar=similar), iter(())
    listed = (
        gap(Z.take(pairs[part, 0], axis=0), Z.take(pairs[part, 1], axis=0))
        for part in row_slices(len(pairs), _CHUNK // max(1, Z.shape[1]))
    )
    return np.sort(np.concatenate([*listed, *blocks]))


def _class_blocks(Z: Array, labels: PairLabels, similar: bool) -> Iterator[Array]:
    """Yield the squared distances of all pairs that the classes imply, class by class."""
    rows = labels.rows_by_class
    points, start = Z[rows], 0
    for end in np.cumsum(np.bincount(labels.codes[rows])).tolist():
        own, later = points[start:end], points[end:]
        yield pdist(own, "sqeuclidean") if similar else cdist(own, later, "sqeuclidean").ravel()
        start = end


def pairs_of_kind(
    labels: PairLabels, *, similar: bool, most: int = _MOST_PAIRS, sample: int = _SAMPLE
) -> Array:
    """Return the similar or the dissimilar pairs; a `sample` if there are more than `most`."""
    marked = labels.pairs[labels.similar == similar]
    # Pairs are numbered: those that are marked, then those that classes imply.
    total = len(marked) + labels.implied[0 if similar else 1]
    numbers = np.arange(min(total, most))
    if total > most:
        numbers = np.sort(np.random.default_rng(0).integers(total, size=sample))
    is_marked = numbers < len(marked)
    implied = class_pairs(labels.codes, numbers[~is_marked] - len(marked), similar=similar)
    return np.concatenate([marked[numbers[is_marked]], implied])
