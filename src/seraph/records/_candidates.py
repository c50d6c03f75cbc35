"""Propose pairs: the nearest neighbors of each record by the cosine of sparse TF-IDF vectors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import HashingVectorizer, TfidfTransformer

from ._columns import Array

_TERMS: dict[str, dict[str, Any]] = {
    "letters": {"analyzer": "char_wb", "ngram_range": (3, 3)},
    "words": {"token_pattern": r"\w+"},
}
_BUCKETS = 2**20
# Products per row that a search may take, so that its time grows linearly with the rows: with
# more, the most frequent terms are left out, which say least. On Abt-Buy, DBLP-ACM and Chicago,
# 99.9, 100 and 96.0 % of the true pairs were neighbors; with 20,000: 100, 100 and 94.6 %.
_PRODUCTS = 6_000
_AT_ONCE = 4_000_000  # products, to save memory


def term_vectors(texts: Array, unit: str) -> sparse.csr_matrix:
    """Return TF-IDF vectors of length 1 of letter triples ("letters") or of words ("words").

    Examples
    --------
    >>> A = term_vectors(np.array(["a b", "a c", ""], dtype=object), "words")
    >>> [[round(float(cosine), 2) for cosine in row] for row in (A @ A.T).toarray()]
    [[1.0, 0.34, 0.0], [0.34, 1.0, 0.0], [0.0, 0.0, 0.0]]
    """
    distinct, which = np.unique(texts, return_inverse=True)
    vectorizer = HashingVectorizer(
        **_TERMS[unit],
        n_features=_BUCKETS,
        norm=None,
        alternate_sign=False,
        strip_accents="unicode",
        dtype=np.float32,
    )
    counts = vectorizer.transform(distinct)
    seen, terms = np.unique(counts.indices, return_inverse=True)
    counts = sparse.csr_matrix(
        (counts.data, terms.astype(np.int32), counts.indptr),
        shape=(len(distinct), max(len(seen), 1)),
    )
    filled = which[texts != ""]
    weigh = TfidfTransformer(sublinear_tf=True)
    weigh.fit(counts[filled] if len(filled) else counts)
    vectors: sparse.csr_matrix = weigh.transform(counts)[which].astype(np.float32)
    return vectors


def rarest_terms(V: sparse.csr_matrix, products: int = _PRODUCTS) -> sparse.csr_matrix:
    """Leave out the most frequent terms: a search takes up to `products` products per row."""
    frequency = np.bincount(V.indices, minlength=V.shape[1]).astype(np.float64)
    order = np.argsort(frequency, kind="stable")
    spent = np.cumsum(frequency[order] ** 2)
    kept = order[spent <= products * V.shape[0]]
    return V if len(kept) == V.shape[1] else V[:, np.sort(kept)]


def neighbor_pairs(
    V: sparse.csr_matrix, rows: Array, k: int, n_first: int, at_once: int = _AT_ONCE
) -> Array:
    """Pair some rows with their `k` nearest neighbors by cosine; each pair once, smaller first.

    Neighbors of the first `n_first` rows, one table, are among the others, and the other way
    round; there is only one table if that is all of them. Rows without a term in common are no
    neighbors. `at_once` products are in memory at a time.

    Examples
    --------
    >>> V = sparse.csr_matrix(np.array([[1.0, 0.0], [0.8, 0.6], [0.6, 0.8]]))
    >>> neighbor_pairs(V, np.arange(3), 1, 3).tolist()
    [[0, 1], [1, 2]]
    """
    n = V.shape[0]
    if n_first == n:
        pairs = _nearest(V, rows, V, k, 0, at_once)
    else:
        there = _nearest(V, rows[rows < n_first], V[n_first:], k, n_first, at_once)
        back = _nearest(V, rows[rows >= n_first], V[:n_first], k, 0, at_once)
        pairs = np.concatenate([there, back])
    return np.unique(np.sort(pairs, axis=1), axis=0)


def _nearest(
    V: sparse.csr_matrix, rows: Array, among: sparse.csr_matrix, k: int, at: int, at_once: int
) -> Array:
    """Pair `rows` of `V` with their nearest rows of `among`, which are numbered from `at`."""
    others = among.T.tocsr()
    # The number of products that each row takes decides how many rows fit at once.
    frequency = np.diff(others.indptr).astype(np.float64)
    load = np.cumsum(V[rows].astype(bool) @ frequency)
    cuts = np.flatnonzero(np.diff(load // at_once)) + 1
    pairs = [np.empty((0, 2), dtype=np.intp)]
    for part in np.split(rows, cuts):
        pairs += _largest(V[part] @ others, part, k, at)
    return np.concatenate(pairs)


def _largest(products: sparse.csr_matrix, rows: Array, k: int, at: int) -> Iterator[Array]:
    """Yield, for each row, its pairs with the `k` others of the largest positive products."""
    for row, start, end in zip(rows, products.indptr, products.indptr[1:], strict=False):
        indices, values = products.indices[start:end] + at, products.data[start:end]
        values = np.where(indices == row, 0.0, values)
        least = np.partition(values, -k)[-k] if len(values) > k else 0.0
        near = np.flatnonzero((values >= least) & (values > 0.0))
        # Ties are broken by the number of the row, so that the order of a sum decides nothing.
        near = near[np.lexsort([indices[near], -values[near]])][:k]
        yield np.column_stack([np.full(len(near), row), indices[near]])
