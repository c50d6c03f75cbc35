"""What has been found, and how good that is."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from .._utils._typing import Array, Interval


@dataclass(frozen=True)
class Duplicates:
    """What :class:`DuplicateFinder` has found.

    Parameters
    ----------
    pairs : ndarray of int of shape (k, 2)
        Pairs of rows that are the same, the surest first: all pairs within groups, unless `note`
        says otherwise. When two tables are compared, the second number is a row of the other.
    probability : ndarray of shape (k,)
        Calibrated probability of each pair; of a pair that was answered, given the answer.
    group : ndarray of int of shape (n,)
        The group of each row, from 0; -1 for rows without a duplicate.
    other_group : ndarray of int of shape (n_other,)
        The groups of the rows of the other table; empty if there is none.
    threshold : float
        Probability from which a pair was accepted.
    precision, recall : tuple of (value, low, high)
        Expected share of the found pairs that are right, and of the right candidates that are
        found, with ranges of 95 %. Duplicates that are no candidates are not counted.
    f1 : tuple of (value, low, high)
        Expected harmonic mean of precision and recall. The wider its range, the less the answers
        tell.
    n_candidates : int
        Number of pairs that were looked at.
    n_new : int
        Number of found pairs that were not answered.
    new_precision, new_recall : tuple of (value, low, high)
        Precision and recall of the pairs that were not answered.
    n_same : tuple of (value, low, high)
        Number of candidates that are the same, found or not.
    n_wrong : tuple of (value, low, high)
        Number of wrong answers.
    suspicious : ndarray of int of shape (k, 2)
        Answered pairs whose answers are likelier wrong than right, or contradict others; the
        oddest first. They were decided without their answers. An answer that is given twice is
        among them only if it contradicts others.
    weights : dict of str to float
        Share of each column in the decision.
    note : str
        What to know about the result; empty if there is nothing.

    Examples
    --------
    >>> import numpy as np
    >>> from seraph.records import Duplicates
    >>> found = Duplicates(
    ...     pairs=np.array([[0, 2]]),
    ...     probability=np.array([0.98]),
    ...     group=np.array([0, -1, 0]),
    ...     other_group=np.array([], dtype=int),
    ...     threshold=0.7,
    ...     precision=(0.97, 0.93, 0.99),
    ...     recall=(0.95, 0.90, 0.98),
    ...     f1=(0.96, 0.92, 0.98),
    ...     n_candidates=3,
    ... )
    >>> found.n_groups
    1
    """

    pairs: Array
    probability: Array
    group: Array
    other_group: Array
    threshold: float
    precision: Interval
    recall: Interval
    f1: Interval
    n_candidates: int
    n_new: int = 0
    new_precision: Interval = (0.0, 0.0, 1.0)
    new_recall: Interval = (0.0, 0.0, 1.0)
    n_same: Interval = (0.0, 0.0, np.inf)
    n_wrong: Interval = (0.0, 0.0, 0.0)
    suspicious: Array = field(default_factory=lambda: np.empty((0, 2), dtype=np.intp))
    weights: dict[str, float] = field(default_factory=dict)
    note: str = ""

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return int(max(self.group.max(initial=-1), self.other_group.max(initial=-1))) + 1
