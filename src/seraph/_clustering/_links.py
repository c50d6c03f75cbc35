"""Marks as links between points: pairs that must be together, and pairs that must not."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from .._marks import PairLabels
from .._utils._typing import Array


@dataclass(frozen=True)
class Links:
    """Groups of points that must be together, and which groups must be apart.

    Parameters
    ----------
    group : ndarray of int of shape (n,)
        The group of each point; a point without a similar mark is a group of its own.
    apart : ndarray of int of shape (k, 2)
        Pairs of groups that must be apart, each once.
    """

    group: Array
    apart: Array

    @classmethod
    def of(cls, labels: PairLabels) -> Links:
        """Follow the labels: similar pairs join, by way of others too; dissimilar ones part.

        Examples
        --------
        >>> from seraph import Marks
        >>> marks = Marks([[0, 1], [1, 2], [2, 3]], [1, 1, -1], rows=4)
        >>> links = Links.of(PairLabels.make(4, marks=marks))
        >>> links.group.tolist(), links.apart.tolist()
        ([0, 0, 0, 1], [[0, 1]])
        """
        n = len(labels.codes)
        # A class is a chain of its members, and its first member speaks for it.
        by_class = labels.rows_by_class
        codes = labels.codes[by_class]
        chain = np.column_stack([by_class[:-1], by_class[1:]])[codes[1:] == codes[:-1]]
        joined = np.concatenate([labels.pairs[labels.similar], chain]).T.astype(np.int32)
        graph = sparse.csr_matrix((np.ones(joined.shape[1]), tuple(joined)), shape=(n, n))
        group = connected_components(graph, directed=False)[1].astype(np.intp)
        first = by_class[np.unique(codes, return_index=True)[1]]
        i, j = np.triu_indices(len(first), k=1)
        rows = np.concatenate(
            [labels.pairs[~labels.similar], np.column_stack([first[i], first[j]])]
        ).astype(np.intp)
        apart = np.sort(group[rows], axis=1)
        inside = apart[:, 0] == apart[:, 1]
        if inside.any():
            one, other = rows[np.flatnonzero(inside)[0]].tolist()
            raise ValueError(
                f"Rows {one} and {other} are marked dissimilar, but similar marks connect them "
                "by way of other rows: correct one of the marks."
            )
        return cls(group, np.unique(apart, axis=0).reshape(-1, 2))

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return int(self.group.max()) + 1
