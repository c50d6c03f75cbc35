"""For learners that can use class labels and nothing else."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .._base import MahalanobisLearner
from .._pairs import PairLabels


def labeled_classes(
    learner: MahalanobisLearner, points: NDArray, labels: PairLabels
) -> tuple[NDArray, NDArray]:
    """Labelled points and their class codes, for a `learner` that can use nothing else."""
    name = type(learner).__name__
    known = labels.codes >= 0
    if not known.any():
        raise ValueError(
            f"{name} learns from class labels, and only marked pairs were given: pass class "
            "labels as y (-1 where unknown), or use a learner of pairs, such as SERAPH or ITML."
        )
    if len(labels.pairs):
        raise ValueError(
            f"{name} learns from class labels alone, and {len(labels.pairs)} of the marked pairs "
            "do not follow from y: leave pairs out, or use a learner of pairs, such as SERAPH "
            "or ITML."
        )
    codes = labels.codes[known]
    sizes = np.bincount(codes)
    if len(sizes) < 2 or sizes.max() < 2:
        raise ValueError(
            f"{name} needs two classes at least, and one of them with two members at least; got "
            f"{len(sizes)} class(es) with at most {sizes.max()} labelled row(s)."
        )
    labeled = points[known].astype(np.float64)
    if (labeled == labeled[0]).all():
        raise ValueError(
            f"The {len(labeled)} labelled rows of X are one and the same point: there is no "
            "distance to learn. Pass points that differ."
        )
    return labeled, codes
