"""Describe a pair of records by how similar it is in each column, and as a whole."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection
from functools import partial
from typing import Any, Literal

import numpy as np
from scipy import sparse

from .._utils._typing import Array
from ._columns import distinct, numbers_of, texts_of
from ._terms import term_vectors

_log = logging.getLogger(__name__)

WHOLE, RIVALS = "(whole record)", "(best match)"
# Cells up to this median length are compared by edit distance, too: names, codes, streets.
_SHORT = 50
_WORDS = 1.5  # per cell: with fewer, words say nothing that letters do not
_PAIRS_AT_ONCE = 50_000
# How much more than others the match against rivals usually counts. Chosen, see `_model`.
_FIRST = 4.0

Compare = Callable[[Array, Array], Array]


class Similarities:
    """Similarities of pairs of records, one number for each way to compare them.

    Text is compared by the cosines of its letter triples and of its words (TF-IDF), short cells
    also by edit distance, and numbers and dates by their difference. Where a cell is missing,
    its similarities are NaN and a feature of its own is 1. Two more features compare the cosine
    of the whole records with the best that either record has with any third one: of two products
    that differ in one letter, the better match is likelier the same.

    `columns` names the column of each feature, and `usual` is how much each usually counts: its
    weight is non-negative, but that of a missing cell, of 0, may have either sign. The cells of
    `n_columns` columns differ. `vectors` are the whole records, whose products are the mean cosine
    of letters and words; None without text.
    """

    def __init__(self, records: Any, text: Collection[str] = ()) -> None:
        features: list[tuple[str, Compare, float]] = []
        whole = []
        for name, column in records.items():
            values = np.asarray(column)
            cells = texts_of(values)
            numbers = None if name in text else numbers_of(values)
            ways = [] if numbers is None else [_differences(numbers, values.dtype.kind)]
            if numbers is None or values.dtype.kind == "M":
                whole.append(cells)
                ways += _of_text(cells)
            present = cells != "" if numbers is None else np.isfinite(numbers)
            if len(distinct(cells[present])[0]) > 1:
                features += [(name, partial(_where_present, way, present), 1.0) for way in ways]
                if not present.all():
                    features.append((name, partial(_missing, present), 0.0))
        self.n_columns = len({name for name, _, _ in features})
        self.vectors: Any = _whole_vectors(whole) if whole else None
        features.append((WHOLE, partial(_cosine, self.vectors, np.arange(len(records))), 1.0))
        self._compare = [compare for _, compare, _ in features]
        self.columns = [*(name for name, _, _ in features), RIVALS, RIVALS]
        self.usual = np.array([*(usual for _, _, usual in features), _FIRST, _FIRST])

    def compete(self, pairs: Array) -> None:
        """Store the two best scores of each record over `pairs`, the rivals of its other pairs."""
        n = self.vectors.shape[0]
        score = np.tile(_in_parts(self._compare[-1], pairs), 2)
        rows, partners = pairs.ravel("F"), pairs[:, ::-1].ravel("F")
        self._best, self._second = np.zeros(n, np.float32), np.zeros(n, np.float32)
        self._partner = np.full(n, n)
        np.maximum.at(self._best, rows, score)
        is_best = score == self._best[rows]
        np.minimum.at(self._partner, rows[is_best], partners[is_best])
        others = partners != self._partner[rows]
        np.maximum.at(self._second, rows[others], score[others])

    def __call__(self, pairs: Array) -> Array:
        """Return the features of pairs, of shape (pairs, features)."""
        made = np.empty((len(pairs), len(self._compare) + 2), dtype=np.float32)
        for number, compare in enumerate(self._compare):
            _log.info("similarities of %s pairs, %s", f"{len(pairs):,}", self.columns[number])
            made[:, number] = _in_parts(compare, pairs)
        i, j = pairs.T
        rivals = np.column_stack([self._rival(i, j), self._rival(j, i)])
        score = made[:, -3]  # of the whole records
        made[:, -2] = score - rivals.max(axis=1)
        made[:, -1] = score - rivals.min(axis=1)
        return made

    def _rival(self, row: Array, partner: Array) -> Array:
        return np.where(self._partner[row] == partner, self._second[row], self._best[row])


def _whole_vectors(texts: Collection[Array]) -> sparse.csr_matrix:
    rows = zip(*texts, strict=True)
    whole = np.array([" ".join(filter(None, cells)) for cells in rows], dtype=object)
    parts = [term_vectors(whole, unit) for unit in ("letters", "words")]
    return sparse.hstack(parts, format="csr") * np.float32(np.sqrt(0.5))


def _of_text(cells: Array) -> list[Compare]:
    different, which = distinct(cells)
    times = np.bincount(which)
    known = np.flatnonzero(different != "")
    n_words = np.array([len(text.split()) for text in different.tolist()])
    lengths = np.repeat([len(text) for text in different[known].tolist()], times[known])

    def cosines(unit: Literal["letters", "words"]) -> Compare:
        return partial(_cosine, term_vectors(different, unit, times), which)

    features = [cosines("letters")]
    if n_words @ times > _WORDS * len(lengths):
        features.append(cosines("words"))
    if len(lengths) == 0 or np.median(lengths) <= _SHORT:
        features.append(partial(_edits, different, which))
    return features


# These functions get the rows of the pairs last: with the rest bound by `partial`, they can be
# pickled, and with them the finder.


def _cosine(vectors: sparse.csr_matrix, which: Array, i: Array, j: Array) -> Array:
    return np.asarray(vectors[which[i]].multiply(vectors[which[j]]).sum(axis=1)).ravel()


def _edits(cells: Array, which: Array, i: Array, j: Array) -> Array:
    import rapidfuzz

    # Letters inserted and deleted, as a share of both lengths: 1 for equal cells.
    ratio = rapidfuzz.fuzz.ratio
    return rapidfuzz.process.cpdist(cells[which[i]], cells[which[j]], scorer=ratio) / 100.0


def _differences(numbers: Array, kind: str) -> Compare:
    r"""Compare quantities by their ratio, and dates and signed numbers by their difference.

    The ratio of two amounts is that of the smaller to the larger. A difference counts in standard
    deviations :math:`s` of the column: :math:`1 / (1 + |a - b| / s)`.
    """
    if kind != "M" and np.nanmin(numbers) >= 0.0:
        return partial(_ratio, numbers)
    return partial(_nearness, numbers, float(np.nanstd(numbers)) or 1.0)


def _nearness(numbers: Array, spread: float, i: Array, j: Array) -> Array:
    return 1.0 / (1.0 + np.abs(numbers[i] - numbers[j]) / spread)


def _ratio(numbers: Array, i: Array, j: Array) -> Array:
    a, b = numbers[i], numbers[j]
    larger = np.maximum(a, b)
    return np.where(larger == 0.0, 1.0, np.minimum(a, b) / np.where(larger == 0.0, 1.0, larger))


def _where_present(compare: Compare, present: Array, i: Array, j: Array) -> Array:
    return np.where(present[i] & present[j], compare(i, j), np.nan)


def _missing(present: Array, i: Array, j: Array) -> Array:
    return ~(present[i] & present[j])


def _in_parts(compare: Compare, pairs: Array) -> Array:
    parts = np.array_split(pairs, len(pairs) // _PAIRS_AT_ONCE + 1)
    return np.concatenate([compare(*part.T) for part in parts]).astype(np.float32)
