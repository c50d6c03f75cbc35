"""Records as vectors: a block of numbers for each column, so that a metric can weigh columns."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Self
from zlib import crc32

import numpy as np
from scipy import sparse
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import HashingVectorizer, TfidfTransformer
from sklearn.preprocessing import normalize

from .._sweep import one_blas_thread
from .._utils._typing import Array
from .._utils._validation import shown

# The block of all text together: it still matches where two columns are exchanged.
WHOLE = "(whole record)"
_WIDTH = 64  # of a block of text
_BUCKETS = 2**13
# Frequencies and directions of letter pairs are learned from at most so many rows.
_LEARN_FROM = 20_000
# Whole numbers of so many digits are codes: a slip in one digit leaves them alike as text only.
_CODE_DIGITS = 4
_FARTHEST = 3.0  # standard deviations
_MISSING = 0.5  # squared length
_DIRECTIONS = 4096  # to choose from
_SPARE = 8  # dimensions in which missing numbers have a direction
_EMPTY = ("", "nan", "NaN", "None", "NaT", "<NA>")


def as_columns(X: Any) -> dict[str, Array]:
    """Return a table as columns by name: a data frame of any kind, or a mapping to sequences.

    Examples
    --------
    >>> as_columns({"name": ["Ann", "Bo"]})
    {'name': array(['Ann', 'Bo'], dtype=object)}
    """
    names = list(getattr(X, "columns", X if isinstance(X, Mapping) else ()))
    if not names:
        raise ValueError(
            "Records must be a data frame, or a dict of columns by name, with at least one "
            f"column; got {type(X).__name__}."
        )
    columns = {}
    for name in names:
        values = np.asarray(X[name])
        if values.ndim != 1:
            raise ValueError(
                f"Column {shown(name)} must hold one value per record; got {shown(X[name])}."
            )
        columns[str(name)] = values.astype(object) if values.dtype.kind in "US" else values
    lengths = {name: len(values) for name, values in columns.items()}
    if len(set(lengths.values())) > 1:
        raise ValueError(f"Columns must be of one length; got {lengths}.")
    if next(iter(lengths.values())) == 0:
        raise ValueError("There are no records: the table is empty.")
    return columns


def is_code(values: Array) -> bool:
    """Return whether numbers are codes, such as postcodes: whole, and of four digits or more.

    Examples
    --------
    >>> is_code(np.array([2601.0, np.nan, 3020.0])), is_code(np.array([17.0, 34.0]))
    (True, False)
    """
    known = values[~np.isnan(values)]
    if len(known) == 0 or np.any(known != np.floor(known)):
        return False
    return bool(np.median(np.abs(known)) >= 10 ** (_CODE_DIGITS - 1))


class RecordVectors:
    r"""Turn records into vectors whose squared distances add up over the columns.

    A column of text becomes the directions of its letter pairs: counts weighted by rarity
    (TF-IDF), reduced to 64 dimensions (truncated SVD), at length 1. Two cells are then at squared
    distance 0 if they are equal, about 2 if they have nothing in common, and in between after a
    slip. All text together is one more block. Whole numbers of four digits or more count as text.
    Other numbers are scaled to variance 1, so that two of them are at squared distance 2 on
    average; dates are both.

    A missing cell counts neither for nor against: it is a direction at random, of squared length
    1/2. So it is at squared distance 1.5 from a cell that is there, and two missing cells are at
    1, halfway between equal and unrelated. (As zero vectors, two missing cells would be equal,
    and records would be alike by what they lack.) The direction follows from the text of the
    record: the same record always has the same vector.

    Parameters
    ----------
    text : collection of str
        Columns to take for text whatever they look like.
    """

    def __init__(self, text: Collection[str] = ()) -> None:
        self.text = text

    def fit(self, columns: Mapping[str, Array]) -> Self:
        """Learn the blocks from columns by name."""
        self.blocks_: list[tuple[str, str, _Text | _Number]] = []  # column, kind, block
        whole = []
        for name, values in columns.items():
            kind = values.dtype.kind
            as_text = name in self.text or kind not in "biufM"
            if kind == "M":
                self._add(name, "text", _Text.fitted(_texts(values)))
                self._add(name, "days", _Number.fitted(_days(values)))
            elif as_text or is_code(values.astype(np.float64)):
                self._add(name, "text", _Text.fitted(_texts(values)))
            else:
                self._add(name, "number", _Number.fitted(values.astype(np.float64)))
                continue
            whole.append(name)
        self.text_ = tuple(whole)
        if len(whole) > 1:
            self._add("", "whole", _Text.fitted(_joined(columns, whole)))
        widths = [block.width for *_, block in self.blocks_]
        self.block_of_ = np.repeat(np.arange(len(widths)), widths)
        return self

    def _add(self, name: str, kind: str, block: _Text | _Number | None) -> None:
        if block is not None:
            self.blocks_.append((name, kind, block))

    @property
    def names_(self) -> tuple[str, ...]:
        """What to call the blocks, each differently."""
        names: list[str] = []
        for column, kind, _ in self.blocks_:
            name = {"days": f"{column} (days)", "whole": WHOLE}.get(kind, column)
            while name in names:
                name += "_"
            names.append(name)
        return tuple(names)

    def transform(self, columns: Mapping[str, Array]) -> Array:
        """Return the vectors of records, of shape (n, total width)."""
        whole = _joined(columns, self.text_)
        choice = np.array([crc32(text.encode()) % _DIRECTIONS for text in whole])
        parts = []
        for number, (name, kind, block) in enumerate(self.blocks_):
            if isinstance(block, _Text):
                texts = whole if kind == "whole" else _texts(np.asarray(columns[name]))
                part, missing = block(texts), texts == ""
            else:
                values = np.asarray(columns[name])
                numbers = _days(values) if kind == "days" else values.astype(np.float64)
                part, missing = block(numbers), np.isnan(numbers)
            if missing.any() and block.width > 1:
                part[missing] = _directions(block.width, number)[choice[missing]]
            parts.append(part)
        return np.hstack(parts) if parts else np.empty((len(whole), 0))


@dataclass(frozen=True)
class _Number:
    mean: float
    scale: float
    width: int

    @classmethod
    def fitted(cls, values: Array) -> _Number | None:
        """Return the block of a column; None if all its values are the same."""
        known = values[np.isfinite(values)]
        scale = float(known.std()) if len(known) else 0.0
        width = 1 if len(known) == len(values) else 1 + _SPARE
        return cls(float(known.mean()), scale, width) if scale > 0.0 else None

    def __call__(self, values: Array) -> Array:
        scaled = np.clip((values - self.mean) / self.scale, -_FARTHEST, _FARTHEST)
        block = np.zeros((len(values), self.width), dtype=np.float32)
        block[:, 0] = np.nan_to_num(scaled, nan=0.0)
        return block


@dataclass(frozen=True)
class _Text:
    seen: Array  # letter pairs; most buckets are empty
    weigh: TfidfTransformer
    reduce: TruncatedSVD

    @classmethod
    def fitted(cls, texts: Array) -> _Text | None:
        """Return the block of a column; None if all its cells are the same."""
        if len(np.unique(texts)) < 2:
            return None
        if len(texts) > _LEARN_FROM:
            rows = np.random.default_rng(0).choice(len(texts), _LEARN_FROM, replace=False)
            texts = texts[np.sort(rows)]
        counts = _letter_pairs(texts)
        seen = np.unique(counts.indices)
        counts = counts[:, seen]
        weigh = TfidfTransformer(sublinear_tf=True).fit(counts)
        width = max(1, min(_WIDTH, len(texts) - 1, len(seen) - 1))
        with one_blas_thread():
            reduce = TruncatedSVD(width, random_state=0).fit(weigh.transform(counts))
        return cls(seen, weigh, reduce)

    @property
    def width(self) -> int:
        return len(self.reduce.components_)

    def __call__(self, texts: Array) -> Array:
        distinct, which = np.unique(texts, return_inverse=True)
        counts = _letter_pairs(distinct)[:, self.seen]
        reduced = self.reduce.transform(self.weigh.transform(counts))
        vectors: Array = normalize(reduced).astype(np.float32)
        return vectors[which]


def _directions(width: int, seed: int) -> Array:
    vectors = np.random.default_rng(seed).normal(size=(_DIRECTIONS, width)).astype(np.float32)
    return np.sqrt(_MISSING) * vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def _letter_pairs(texts: Array) -> sparse.csr_matrix:
    vectorizer = HashingVectorizer(
        analyzer="char_wb",
        ngram_range=(2, 2),
        n_features=_BUCKETS,
        norm=None,
        alternate_sign=False,
        strip_accents="unicode",
        dtype=np.float32,
    )
    return vectorizer.transform(texts)


def _texts(values: Array) -> Array:
    """Return cells as text; "" where there is none."""
    if values.dtype.kind == "f":
        whole = np.isfinite(values) & (values == np.floor(values))
        cells = [str(int(v)) if w else str(v) for v, w in zip(values, whole, strict=True)]
    elif values.dtype.kind == "M":
        cells = [str(v) for v in values.astype("datetime64[D]")]
    else:
        cells = [v if isinstance(v, str) else str(v) for v in values.tolist()]
    texts: Array = np.array([" ".join(cell.split()) for cell in cells], dtype=object)
    texts[np.isin(texts, _EMPTY)] = ""
    return texts


def _days(values: Array) -> Array:
    days = values.astype("datetime64[s]").astype(np.float64) / 86400.0
    return np.where(np.isnat(values), np.nan, days)


def _joined(columns: Mapping[str, Array], names: Collection[str]) -> Array:
    parts = [_texts(np.asarray(columns[name])) for name in names]
    return np.array([" ".join(cells) for cells in zip(*parts, strict=True)], dtype=object)
