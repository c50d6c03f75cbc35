"""The tasks of a worker on a cluster: sweep the pairs of some parts, and add up sums."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib.util import find_spec

import numpy as np

from .._typing import Array
from ._design import row_blocks
from ._numpy import COMPILED_FROM, NumbaSweep, NumpySweep
from ._terms import PairTerms, Sample, Variable
from ._threads import one_blas_thread

# Parts are swept in blocks of this number of rows, which bounds the memory of a task.
ROWS = 8192

Sums = tuple[float, Array]


@dataclass(frozen=True)
class Request:
    """What every task of a sweep needs to know besides its points.

    Parameters
    ----------
    P : ndarray of shape (r, m)
        Factor of the metric.
    terms : PairTerms
        Threshold, weight and posterior, without codes or pairs.
    wrt : {"metric", "factor", "threshold"}
        What to differentiate by.
    weight : float or None
        Number of unlabeled pairs that each sampled one represents; None if all are swept.
    """

    P: Array
    terms: PairTerms
    wrt: Variable
    weight: float | None = None

    def sums(self, X: Array, terms: PairTerms, split: int | None = None) -> Sums:
        """Sum over the pairs of `X`, compiled if this machine has numba."""
        compiled = len(X) >= COMPILED_FROM and find_spec("numba") is not None
        sweep = (NumbaSweep if compiled else NumpySweep)(X, split=split)
        return sweep(self.P, terms, self.wrt)


def tile(
    request: Request,
    X: Array,
    codes: Array | None,
    Y: Array | None = None,
    other_codes: Array | None = None,
) -> Sums:
    """Sum over the pairs of a part with itself, or with another part.

    Parameters
    ----------
    request : Request
        What to sum.
    X : ndarray of shape (n, m)
        Points of the part.
    codes : ndarray of shape (n,) or None
        Class codes; None for rows without labels.
    Y, other_codes
        The same for the other part.
    """
    rows, found = row_blocks(0, len(X), ROWS), []
    right, right_codes = (X, codes) if Y is None else (Y, other_codes)
    with one_blas_thread():
        for number, a in enumerate(rows):
            if Y is None:
                known = request.terms.codes if codes is None else codes[a]
                found.append(request.sums(X[a], replace(request.terms, codes=known)))
            for b in rows[number + 1 :] if Y is None else row_blocks(0, len(Y), ROWS):
                terms = request.terms
                if codes is not None and right_codes is not None:
                    # Every pair is labeled. mu is not used, but must be positive: otherwise
                    # the pairs of two blocks would not be swept.
                    known = np.concatenate([codes[a], right_codes[b]])
                    terms = replace(terms, codes=known, mu=1.0, q=None)
                both = np.concatenate([X[a], right[b]])
                found.append(request.sums(both, terms, split=a.stop - a.start))
    return total(found)


def sampled_pairs(request: Request, D: Array) -> Sums:
    """Sum over sampled unlabeled pairs, from their `differences`."""
    assert request.weight is not None
    sample = Sample(_with_last(D), request.weight)
    with one_blas_thread():
        return request.sums(D, replace(request.terms, sample=sample))


def listed_pairs(request: Request, D: Array, marks: Array) -> Sums:
    """Sum over listed pairs, from their `differences`, likeness and weights (two columns)."""
    similar, weights = marks.T
    terms = replace(request.terms, pairs=_with_last(D), similar=similar, weights=weights)
    if request.weight is not None:  # they were not swept, so there is nothing to subtract
        terms = replace(terms, mu=0.0)
    with one_blas_thread():
        return request.sums(D, terms, split=0)


def differences(left: Array, right: list[Array]) -> Array:
    """Compute the differences of pairs of points, followed by a row of zeros.

    A difference and zero are as far apart as the two points. So a worker can sum over pairs of
    points that it does not have.
    """
    D = np.zeros((len(left) + 1, left.shape[1]), dtype=left.dtype)
    np.subtract(left, np.concatenate(right), out=D[:-1])
    return D


def _with_last(D: Array) -> Array:
    """Pair each row with the last one."""
    n = len(D) - 1
    return np.column_stack([np.arange(n), np.full(n, n)])


def total(found: list[Sums]) -> Sums:
    """Add up sums, in their order."""
    gradient: Array = np.sum([gradient for _, gradient in found], axis=0)
    return sum(value for value, _ in found), gradient
