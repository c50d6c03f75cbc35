"""Sparse vectors of letter triples and words, made with arrays: no loop over the texts."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Literal

import numpy as np
from scipy import sparse

from .._utils._typing import Array

_BITS = 20  # terms are numbered by hashes of this many bits
_TEXTS_AT_ONCE = 50_000
_MIX = np.uint64(0x9E3779B97F4A7C15)  # odd, so that multiplying by it is one to one
_SPACE, _END = 32, 10


def term_vectors(
    texts: Array, unit: Literal["letters", "words"], times: Array | None = None
) -> sparse.csr_matrix:
    r"""Return TF-IDF vectors of length 1 of letter triples ("letters") or of words ("words").

    The triples of *ann* are " an", "ann" and "nn ". A term that is m times in a text, and in
    :math:`n_t` of the n texts that are not empty, counts
    :math:`(1 + \ln m) (1 + \ln \frac{1 + n}{1 + n_t})` before the vector is scaled. A text may
    be there several `times`.

    Examples
    --------
    >>> A = term_vectors(np.array(["a b", "a c", ""], dtype=object), "words")
    >>> [[round(float(cosine), 2) for cosine in row] for row in (A @ A.T).toarray()]
    [[1.0, 0.34, 0.0], [0.34, 1.0, 0.0], [0.0, 0.0, 0.0]]
    """
    counts = sparse.vstack([*_counts(texts, unit)], format="csr")
    times = (texts != "") * (1.0 if times is None else times)
    lengths = np.diff(counts.indptr)
    texts_with = np.bincount(counts.indices, np.repeat(times, lengths), 2**_BITS)
    weight = 1.0 + np.log((1.0 + times.sum()) / (1.0 + texts_with))
    counts.data = (1.0 + np.log(counts.data)) * weight.astype(np.float32)[counts.indices]
    # Terms are renumbered without gaps, which keeps the transposed matrix of a search small.
    number = np.cumsum(texts_with > 0, dtype=np.int32) - 1
    counts = sparse.csr_matrix(
        (counts.data, number[counts.indices], counts.indptr),
        shape=(len(texts), max(int(number[-1]) + 1, 1)),
    )
    squares = sparse.csr_matrix((counts.data**2, counts.indices, counts.indptr), counts.shape)
    norms = np.sqrt(np.asarray(squares.sum(axis=1)).ravel())
    counts.data /= np.repeat(norms, lengths).astype(np.float32)
    return counts


def _counts(texts: Array, unit: str) -> Iterator[sparse.csr_matrix]:
    """Yield how often each text has each term, some texts at a time."""
    terms_of = _letter_triples if unit == "letters" else _words
    for start in range(0, max(len(texts), 1), _TEXTS_AT_ONCE):
        part = texts[start : start + _TEXTS_AT_ONCE]
        codes = _codes(part)
        place, term = terms_of(codes)
        row = np.cumsum(codes == _END, dtype=np.int64)[place] - 1
        keys, m = np.unique(
            (row << _BITS) + (term >> np.uint64(64 - _BITS)).astype(np.int64), return_counts=True
        )
        indptr = np.searchsorted(keys, np.arange(len(part) + 1) << _BITS)
        columns = (keys & (2**_BITS - 1)).astype(np.int32)
        shape = (len(part), 2**_BITS)
        yield sparse.csr_matrix((m.astype(np.float32), columns, indptr), shape=shape)


def _codes(texts: Array) -> Array:
    """Return the letters of all texts without accents as numbers, an end before and after each."""
    joined = "\n".join(["", *texts.tolist(), ""])
    if not joined.isascii():
        joined = "".join(
            c for c in unicodedata.normalize("NFKD", joined) if not unicodedata.combining(c)
        )
    return np.frombuffer(joined.encode("utf-32-le"), dtype=np.uint32)


def _letter_triples(codes: Array) -> tuple[Array, Array]:
    """Return the place and the hash of each triple within a word and the spaces around it."""
    letters = np.where(codes == _END, _SPACE, codes).astype(np.uint64)
    first, middle, last = letters[:-2], letters[1:-1], letters[2:]
    inside = np.flatnonzero(middle != _SPACE)
    # 21 bits hold any letter.
    triples = (first[inside] << np.uint64(42)) | (middle[inside] << np.uint64(21)) | last[inside]
    return inside, _mixed(triples)


def _words(codes: Array) -> tuple[Array, Array]:
    """Return the place and the hash of each word: letters, digits and underscores in a row."""
    times = np.bincount(codes)
    is_letter = np.zeros(len(times), dtype=bool)
    present = np.flatnonzero(times)
    is_letter[present] = [re.match(r"\w", chr(code)) is not None for code in present.tolist()]
    is_word = is_letter[codes]
    starts = np.flatnonzero(is_word[1:] & ~is_word[:-1]) + 1
    # A word is hashed as sum_k mix(c_k) M^k, over its letters c_k.
    which = np.cumsum(is_word[1:] & ~is_word[:-1]) - 1
    inside = np.flatnonzero(is_word)
    place = inside - starts[which[inside - 1]]
    powers = np.cumprod(np.full(place.max(initial=0) + 1, _MIX))
    sizes = _mixed(codes[inside].astype(np.uint64)) * powers[place]
    if len(starts) == 0:
        return starts, sizes
    return starts, _mixed(np.add.reduceat(sizes, np.searchsorted(inside, starts)))


def _mixed(numbers: Array) -> Array:
    """Spread numbers over 64 bits, the highest of which are then a hash."""
    numbers = (numbers ^ (numbers >> np.uint64(31))) * _MIX
    return (numbers ^ (numbers >> np.uint64(29))) * _MIX
