"""Pairs, triplets and chunks, sampled from classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state
from sklearn.utils.random import sample_without_replacement

from ..._marks import PairLabels
from ..._utils._typing import Array
from ..._utils._validation import check_number
from ..._utils._warnings import warn
from ...classic._comparisons import nearest_by_class, pairs_by_number
from ._base import document


class Constraints:
    """Sample pairs, triplets and chunks from classes.

    Parameters
    ----------
    partial_labels : array-like of int of shape (n_samples,)
        Class of each point; negative where it is unknown.

    Attributes
    ----------
    partial_labels : ndarray of int of shape (n_samples,)
        The same.

    Examples
    --------
    >>> from seraph.compat.metric_learn import Constraints
    >>> a, b, c, d = Constraints([0, 0, 1, -1]).positive_negative_pairs(2, random_state=0)
    >>> sorted(zip(a.tolist(), b.tolist()))
    [(0, 1), (1, 0)]
    """

    def __init__(self, partial_labels: ArrayLike) -> None:
        self.partial_labels = np.asanyarray(partial_labels, dtype=int)

    @document
    def positive_negative_pairs(
        self, n_constraints: int, same_length: bool = False, random_state: Any = None
    ) -> tuple[Array, Array, Array, Array]:
        """Sample pairs of one class, and pairs of two."""
        check_number("n_constraints", n_constraints, low=0, integer=True)
        rng = check_random_state(random_state)
        a, b = self._pairs(n_constraints, True, rng)
        c, d = self._pairs(n_constraints, False, rng)
        n = min(len(a), len(c)) if same_length else None
        return a[:n], b[:n], c[:n], d[:n]

    def _pairs(self, n_constraints: int, similar: bool, rng: np.random.RandomState) -> Array:
        """Sample ordered pairs, each at most once."""
        none = np.empty((0, 2), dtype=np.intp)
        no = none[:, 0]
        labels = PairLabels(known_codes(self.partial_labels), none, no, no, no, none)
        total = 2 * (labels.n_similar if similar else labels.n_dissimilar)
        if total < n_constraints:
            kind = "positive" if similar else "negative"
            warn(
                f"The labels allow only {total} {kind} pairs, fewer than the {n_constraints} "
                f"asked for: all {total} are used."
            )
        n = min(n_constraints, total)
        sample = sample_without_replacement(total, n, random_state=rng) if n else np.arange(0)
        rng.shuffle(sample)
        pairs = pairs_by_number(labels, sample // 2, similar=similar)
        return np.where(sample[:, np.newaxis] % 2, pairs[:, ::-1], pairs).T

    @document
    def generate_knntriplets(self, X: ArrayLike, k_genuine: int, k_impostor: int) -> Array:
        """Combine each point's nearest ones of its class with its nearest ones of others."""
        triplets = [np.empty((0, 3), dtype=np.intp)]
        for label, rows, alike, other in nearest_by_class(
            np.asarray(X), self.partial_labels, k_genuine, k_impostor
        ):
            for name, wanted, near, kind in (
                ("k_genuine", k_genuine, alike, "its own class"),
                ("k_impostor", k_impostor, other, "other classes"),
            ):
                if near.shape[1] < wanted:
                    warn(
                        f"{name}={wanted} is too many: a point of class {label} has "
                        f"{near.shape[1]} neighbor(s) of {kind}, and all are used."
                    )
            a, b, c = np.broadcast_arrays(
                rows[:, None, None], alike[:, :, None], other[:, None, :]
            )
            triplets.append(np.stack([a.ravel(), b.ravel(), c.ravel()], axis=1))
        return np.vstack(triplets)

    @document
    def chunks(self, n_chunks: int = 100, chunk_size: int = 2, random_state: Any = None) -> Array:
        """Put points of one class together, at random; a point is in one chunk at most."""
        rng = check_random_state(random_state)
        groups = []
        for label in np.unique(self.partial_labels[self.partial_labels >= 0]):
            rows = rng.permutation(np.flatnonzero(self.partial_labels == label))
            groups += [rows[i : i + chunk_size] for i in range(0, len(rows), chunk_size)]
        groups = [rows for rows in groups if len(rows) == chunk_size]
        if len(groups) < n_chunks:
            raise ValueError(
                f"There are not enough points of one class for {n_chunks} chunks of {chunk_size}: "
                f"the maximum number of chunks is {len(groups)}. Lower n_chunks or chunk_size."
            )
        chunks = np.full(len(self.partial_labels), -1)
        for number, group in enumerate(rng.permutation(len(groups))[:n_chunks]):
            chunks[groups[group]] = number
        return chunks


def known_codes(y: ArrayLike) -> Array:
    """Number the classes from 0; -1 for negative numbers, which mean an unknown class."""
    classes, codes = np.unique(y, return_inverse=True)
    codes = codes.reshape(-1)
    if classes.dtype.kind in "iuf":
        codes[np.asarray(y) < 0] = -1
    return codes


def wrap_pairs(X: ArrayLike, constraints: tuple[ArrayLike, ...]) -> tuple[Array, Array]:
    """Return the points of pairs that `Constraints` sampled, and their labels."""
    a, b, c, d = (np.asarray(rows, dtype=np.intp) for rows in constraints)
    pairs = np.column_stack([np.concatenate([a, c]), np.concatenate([b, d])])
    return np.asarray(X)[pairs], np.repeat([1, -1], [len(a), len(c)])
