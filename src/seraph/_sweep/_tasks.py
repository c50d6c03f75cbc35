"""The tasks of a worker on a cluster: sweep the pairs of some parts, and add up sums."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib.util import find_spec

import numpy as np

from .._utils._typing import Array
from ._design import row_blocks
from ._numpy import COMPILED_FROM, NumbaSweep, NumpySweep
from ._terms import PairTerms, Posterior, Variable
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
    step : int
        Take each pair of the sample after so many.
    """

    P: Array
    terms: PairTerms
    wrt: Variable
    weight: float | None = None
    step: int = 1

    def sums(self, X: Array, terms: PairTerms, split: int | None = None) -> Sums:
        """Sum over the pairs of `X`."""
        return _sweep(X, split)(self.P, terms, self.wrt)


def tile(
    request: Request,
    number: int,
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
    number : int
        Number of the tile: where a share of its pairs is swept, tiles have random ones.
    X : ndarray of shape (n, m)
        Points of the part.
    codes : ndarray of shape (n,) or None
        Class codes; None for rows without labels.
    Y, other_codes
        The same for the other part.
    """
    rows, found = row_blocks(0, len(X), ROWS), []
    if request.terms.share < 1.0 and (codes is None or (Y is not None and other_codes is None)):
        # One of them has no labels. The order of rows is up to the user, so make it random.
        rng = np.random.default_rng([request.terms.seed, number])
        X = X[rng.permutation(len(X))] if codes is None else X
        Y = None if Y is None else Y[rng.permutation(len(Y))]
        request = replace(request, terms=replace(request.terms, seed=int(rng.integers(2**31))))
    else:
        request = replace(request, terms=replace(request.terms, share=1.0))
    right, right_codes = (X, codes) if Y is None else (Y, other_codes)
    with one_blas_thread():
        for place, a in enumerate(rows):
            if Y is None:
                known = request.terms.codes if codes is None else codes[a]
                found.append(request.sums(X[a], replace(request.terms, codes=known)))
            for b in rows[place + 1 :] if Y is None else row_blocks(0, len(Y), ROWS):
                terms = request.terms
                if codes is not None and right_codes is not None:
                    # Every pair is labeled. mu is not used, but must be positive: otherwise
                    # the pairs of two blocks would not be swept.
                    known = np.concatenate([codes[a], right_codes[b]])
                    terms = replace(terms, codes=known, mu=1.0, q=None)
                both = np.concatenate([X[a], right[b]])
                found.append(request.sums(both, terms, split=a.stop - a.start))
    return total(found)


def projected(request: Request, X: Array) -> Array:
    """Project points by the factor, and by that of the frozen metric if there is one."""
    with one_blas_thread():
        return X @ factors(request).T.astype(X.dtype)


def among_projected(
    request: Request, Z: list[Array], n_labeled: int, group: slice
) -> tuple[float, Array, Array]:
    """Sum over some of the unlabeled pairs of all points, from what `projected` made of them."""
    points, r, terms = np.concatenate(Z), len(request.P), request.terms
    width = points.shape[1]
    if width > r:
        terms = replace(terms, q=Posterior(np.eye(width)[r:]))
    with one_blas_thread():
        sweep = _sweep(points)
        return sweep.among_unlabeled(np.eye(r, width), terms, n_labeled, group)


def added(found: list[tuple[float, Array, Array]]) -> tuple[float, Array, Array]:
    """Add up value, degrees and products, in their order."""
    values, degrees, products = zip(*found, strict=True)
    return sum(values), np.sum(degrees, axis=0), np.sum(products, axis=0)


def laplacian(
    request: Request, sums: tuple[float, Array, Array], Z: list[Array]
) -> tuple[float, float, Array]:
    """Turn the sums over all unlabeled pairs into value, sum of weights and ``Lap(W) Z``."""
    value, degree, product = sums
    points = np.concatenate(Z)[:, : len(request.P)]
    return value, float(degree.sum()), degree[:, np.newaxis] * points - product


def back_projected(request: Request, X: Array, L: Array) -> Sums:  # noqa: ARG001
    """Compute the share of some points in ``d / dP = 2 (Lap(W) Z)' X``."""
    with one_blas_thread():
        return 0.0, 2.0 * L.T @ X


def factors(request: Request) -> Array:
    """The factor, above that of the frozen metric if there is one."""
    q = request.terms.q
    return request.P if q is None or q.P is None else np.vstack([request.P, q.P])


def sampled_pairs(request: Request, D: Array) -> Sums:
    """Sum over sampled unlabeled pairs, from their `differences`."""
    assert request.weight is not None
    scale = request.terms.mu * request.weight
    with one_blas_thread():
        sweep = _sweep(D[:: request.step])
        value, gradient = sweep.of_differences(request.P, request.terms, request.wrt, listed=False)
    return scale * value, scale * gradient


def listed_pairs(request: Request, D: Array, marks: Array) -> Sums:
    """Sum over listed pairs, from their `differences`, likeness and weights (two columns)."""
    similar, weights = marks.T
    terms = replace(request.terms, similar=similar, weights=weights)
    if request.weight is not None:  # they were not swept, so there is nothing to subtract
        terms = replace(terms, mu=0.0)
    with one_blas_thread():
        return _sweep(D).of_differences(request.P, terms, request.wrt, listed=True)


def pieces(part: Array, rows: list[Array]) -> list[Array]:
    """Take several sets of rows from a part."""
    return [part[some] for some in rows]


def differences(n: int, taken: list[Array], places: list[Array]) -> Array:
    """Put rows of points together to differences of pairs.

    From the differences a worker can sum over pairs of points that it does not have.

    Parameters
    ----------
    n : int
        Number of pairs.
    taken : list of ndarray of shape (k, m)
        Rows from several parts.
    places : list of ndarray of int of shape (k,)
        Where they belong: ``2 i`` for the first point of the pair i, and ``2 i + 1`` for the
        second.
    """
    D = np.zeros((n, taken[0].shape[1]), dtype=taken[0].dtype)
    for rows, where in zip(taken, places, strict=True):
        first = where % 2 == 0
        D[where[first] // 2] += rows[first]
        D[where[~first] // 2] -= rows[~first]
    return D


def _sweep(X: Array, split: int | None = None) -> NumpySweep:
    """A sweep over points, compiled if they are many and this machine has numba."""
    compiled = len(X) >= COMPILED_FROM and find_spec("numba") is not None
    return (NumbaSweep if compiled else NumpySweep)(X, split=split)


def total(found: list[Sums]) -> Sums:
    """Add up sums, in their order."""
    gradient: Array = np.sum([gradient for _, gradient in found], axis=0)
    return sum(value for value, _ in found), gradient
