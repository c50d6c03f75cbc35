"""What a worker of a cluster does: sweep the pairs of the parts it is given, and add up sums."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib.util import find_spec
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ._numpy import NumbaSweep, NumpySweep
from ._terms import PairTerms, Sample, Variable
from ._threads import one_blas_thread

# Parts are swept so many rows at a time, which bounds the memory of a task.
ROWS = 8192
# Below so many points, loading compiled code does not pay.
_SOME = 1000

Sums = tuple[float, NDArray]


@dataclass(frozen=True)
class Question:
    """What is asked of all workers: the sums at a factor, and a few numbers.

    Parameters
    ----------
    P : ndarray of shape (r, m)
        Factor of the metric.
    terms : PairTerms
        Threshold, weight and posterior; it has neither codes nor pairs.
    wrt : {"metric", "factor", "threshold"}
        What to differentiate by.
    weight : float or None
        How many unlabelled pairs each drawn one stands for; None if all are swept.
    """

    P: NDArray
    terms: PairTerms
    wrt: Variable
    weight: float | None = None

    def sums(self, X: NDArray, terms: PairTerms, split: int | None = None) -> Sums:
        """Sums over the pairs of `X`, by the best that this machine has."""
        compiled = len(X) >= _SOME and find_spec("numba") is not None
        sweep = (NumbaSweep if compiled else NumpySweep)(X, split=split)
        return sweep(self.P, terms, self.wrt)


def tile(
    question: Question,
    X: NDArray,
    codes: NDArray | None,
    Y: NDArray | None = None,
    other_codes: NDArray | None = None,
) -> Sums:
    """Sums over the pairs of a part with itself, or with another one.

    Parameters
    ----------
    question : Question
        What to sum.
    X : ndarray of shape (n, m)
        Points of the part.
    codes : ndarray of shape (n,) or None
        Class codes; None for a part of unlabelled rows.
    Y, other_codes
        The same of the other part.
    """
    rows, found = _blocks(len(X)), []
    right, right_codes = (X, codes) if Y is None else (Y, other_codes)
    with one_blas_thread():
        for number, a in enumerate(rows):
            if Y is None:
                known = question.terms.codes if codes is None else codes[a]
                found.append(question.sums(X[a], replace(question.terms, codes=known)))
            for b in rows[number + 1 :] if Y is None else _blocks(len(Y)):
                terms = question.terms
                if codes is not None and right_codes is not None:
                    # Every pair is labelled. The weight of unlabelled ones is not used, and
                    # says that all pairs of the two blocks are swept.
                    known = np.concatenate([codes[a], right_codes[b]])
                    terms = replace(terms, codes=known, mu=1.0, q=None)
                both = np.concatenate([X[a], right[b]])
                found.append(question.sums(both, terms, split=a.stop - a.start))
    return total(found)


def drawn(question: Question, D: NDArray) -> Sums:
    """Sums over drawn unlabelled pairs, from their `differences`."""
    assert question.weight is not None
    sample = Sample(_with_last(D), question.weight)
    with one_blas_thread():
        return question.sums(D, replace(question.terms, sample=sample))


def listed(question: Question, D: NDArray, similar: NDArray) -> Sums:
    """Sums over listed pairs, from their `differences`."""
    terms = replace(question.terms, pairs=_with_last(D), similar=similar)
    if question.weight is not None:  # they were not swept, and there is nothing to take back
        terms = replace(terms, mu=0.0)
    with one_blas_thread():
        return question.sums(D, terms, split=0)


def differences(left: NDArray, right: list[NDArray]) -> NDArray:
    """Differences of pairs of points, and a row of zeros.

    The pair of a difference with zero is as far apart as the two points are.
    """
    D = np.zeros((len(left) + 1, left.shape[1]), dtype=left.dtype)
    np.subtract(left, np.concatenate(right), out=D[:-1])
    return D


def _with_last(D: NDArray) -> NDArray:
    """The pairs of each row with the last one."""
    n = len(D) - 1
    return np.column_stack([np.arange(n), np.full(n, n)])


def total(found: list[Sums]) -> Sums:
    """Sum of sums, in their order."""
    return sum(value for value, _ in found), np.sum([gradient for _, gradient in found], axis=0)


def _blocks(n: int) -> list[slice]:
    edges = np.linspace(0, n, -(-n // ROWS) + 1).astype(int).tolist()
    return [slice(a, b) for a, b in pairwise(edges)]
