"""The tasks of the backend "dask": sweep the pairs of some parts, and add up sums."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib.util import find_spec

import numpy as np

from .._utils._typing import Array
from ._numpy import COMPILED_FROM, NumbaSweep, NumpySweep
from ._plan import row_blocks
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
        Threshold, weight, posterior and plan, without codes or pairs. A list in the plan is
        empty; it only says that no tile has unlabeled pairs.
    wrt : {"metric", "factor", "threshold"}
        What to differentiate by.
    """

    P: Array
    terms: PairTerms
    wrt: Variable

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
        Number of the tile, a seed for its sample of pairs where only a share is swept.
    X : ndarray of shape (n, m)
        Points of the part.
    codes : ndarray of shape (n,) or None
        Class codes; None for rows without labels.
    Y, other_codes
        The same for the other part.
    """
    plan = request.terms.plan
    is_labeled = codes is not None and (Y is None or other_codes is not None)
    share = plan.labeled_share if is_labeled else plan.share
    rng = np.random.default_rng([plan.seed, number])
    if Y is None and share < 1.0:
        # Tiles of a share need rows in random order, and the user may have sorted them.
        order = rng.permutation(len(X))
        X, codes = X[order], None if codes is None else codes[order]
    found, left = [], _blocks(X, codes)
    right = left if Y is None else _blocks(Y, other_codes)
    with one_blas_thread():
        for place, (points, known) in enumerate(left):
            if Y is None:
                own = request.terms.codes if known is None else known
                found.append(request.sums(points, replace(request.terms, codes=own)))
            for other in right[place + 1 :] if Y is None else right:
                found.append(_across(request, (points, known), other, share, rng))
    return total(found)


# Points, and their class codes if they have any.
_Block = tuple[Array, Array | None]


def _blocks(X: Array, codes: Array | None) -> list[_Block]:
    return [
        (X[rows], None if codes is None else codes[rows]) for rows in row_blocks(0, len(X), ROWS)
    ]


def _across(
    request: Request, one: _Block, other: _Block, share: float, rng: np.random.Generator
) -> Sums:
    """Sum over the pairs of two blocks, or a share of them: all of one, and some of the other."""
    if share < 1.0 and rng.random() < 0.5:
        one, other = other, one
    (X, codes), (Y, other_codes) = one, other
    weight = 1.0
    if share < 1.0:
        some = rng.choice(len(Y), max(1, round(share * len(Y))), replace=False)
        weight = len(Y) / len(some)
        Y, other_codes = Y[some], None if other_codes is None else other_codes[some]
    terms = request.terms
    if codes is not None and other_codes is not None:
        terms = replace(terms, codes=np.concatenate([codes, other_codes]), q=None)
    value, gradient = request.sums(np.concatenate([X, Y]), terms, split=len(X))
    return weight * value, weight * gradient


def projected(request: Request, X: Array) -> Array:
    """Project points by the factor, and by that of the frozen metric if there is one."""
    with one_blas_thread():
        return X @ factors(request).T.astype(X.dtype)


def among_projected(request: Request, Z: list[Array], n_labeled: int, group: slice) -> Sums:
    """Sum over some of the unlabeled pairs of all points, from their projections.

    In place of the derivative by the factor, return ``Lap(W) Z``: see `back_projected`.
    """
    points, r, terms = np.concatenate(Z), len(request.P), request.terms
    width = points.shape[1]
    if width > r:
        terms = replace(terms, q=Posterior(np.eye(width)[r:]))
    with one_blas_thread():
        value, degree, product = _sweep(points).among_unlabeled(
            np.eye(r, width), terms, n_labeled, group
        )
    if request.wrt == "threshold":
        return value, np.asarray(-0.5 * degree.sum())
    return value, degree[:, np.newaxis] * points[:, :r] - product


def back_projected(request: Request, X: Array, L: Array) -> Sums:  # noqa: ARG001
    """Compute the terms of some points in ``d / dP = 2 (Lap(W) Z)' X``."""
    with one_blas_thread():
        return 0.0, 2.0 * L.T @ X


def factors(request: Request) -> Array:
    """Return the factor, stacked on that of the frozen metric if there is one."""
    q = request.terms.q
    return request.P if q is None or q.P is None else np.vstack([request.P, q.P])


def sampled_pairs(request: Request, start: int, D: Array) -> Sums:
    """Sum over sampled unlabeled pairs from the `start`-th on, from their `differences`."""
    plan = request.terms.plan
    scale = request.terms.mu * plan.weight
    with one_blas_thread():
        sweep = _sweep(D[-start % plan.step :: plan.step])
        value, gradient = sweep.of_differences(request.P, request.terms, request.wrt, marked=False)
    return scale * value, scale * gradient


def marked_pairs(request: Request, D: Array, marks: Array) -> Sums:
    """Sum over marked pairs, from their `differences`, likeness and weights (two columns)."""
    similar, weights = marks.T
    terms = replace(request.terms, similar=similar, weights=weights)
    with one_blas_thread():
        return _sweep(D).of_differences(request.P, terms, request.wrt, marked=True)


def pieces(part: Array, rows: list[Array]) -> list[Array]:
    """Take several sets of rows from a part."""
    return [part[some] for some in rows]


def differences(n: int, taken: list[Array], places: list[Array]) -> Array:
    """Compute the differences of pairs from rows that come from several parts.

    With the differences, a worker can sum over pairs without the points.

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
