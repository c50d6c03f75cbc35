"""The tasks of the backend "dask": sweep the pairs of some parts, and add up sums."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec

import numpy as np

from .._utils._threads import one_blas_thread
from .._utils._typing import Array
from ._lists import Listed
from ._numpy import COMPILED_FROM, SIDES, NumbaSweep, NumpySweep
from ._plan import Strip, cut_rows
from ._terms import PairTerms, Posterior, Variable
from ._tiles import Pass

# Rows of a block.
ROWS = 8192

Sums = tuple[float, Array]


@dataclass(frozen=True)
class Request:
    """The arguments that all tasks of a sweep share.

    Parameters
    ----------
    P : ndarray of shape (r, m)
        Factor of the metric.
    terms : PairTerms
        Threshold, weight, posterior and plan, without codes, pairs or a list.
    wrt : {"metric", "factor", "threshold"}
        What to differentiate by.
    block_rows : int
        Rows of the blocks in which parts are swept, which bounds the memory of a task.
    """

    P: Array
    terms: PairTerms
    wrt: Variable
    block_rows: int = ROWS

    def sum_pairs(
        self,
        X: Array,
        terms: PairTerms,
        strips: Sequence[Strip] = (),
        lists: Sequence[Listed] = (),
    ) -> Sums:
        """Sum over some pairs of `X`."""
        return _make_sweep(X).sum_pairs(self.P, terms, self.wrt, strips, lists)


def sum_tile(
    request: Request,
    number: int,
    X: Array,
    codes: Array | None,
    Y: Array | None = None,
    other_codes: Array | None = None,
) -> Sums:
    """Sum over the pairs of a part with itself, or with another part.

    Points `X` have the class codes `codes`, or None if they are unlabeled; `Y` and `other_codes`
    are those of the other part. `number` is a seed for a sample of the pairs, if only a share of
    them is swept.
    """
    plan = request.terms.plan
    is_labeled = codes is not None and (Y is None or other_codes is not None)
    share = plan.labeled_share if is_labeled else plan.share
    rng = np.random.default_rng([plan.seed, number])
    if Y is None and share < 1.0:
        # Tiles of a share need rows in random order, and the user may have sorted them.
        order = rng.permutation(len(X))
        X, codes = X[order], None if codes is None else codes[order]
    rows = request.block_rows
    found, left = [], _cut(X, codes, rows)
    right = left if Y is None else _cut(Y, other_codes, rows)
    with one_blas_thread():
        for place, (points, known) in enumerate(left):
            if Y is None:
                own = request.terms.codes if known is None else known
                terms = replace(request.terms, codes=own)
                found.append(_make_sweep(points)(request.P, terms, request.wrt))
            for other in right[place + 1 :] if Y is None else right:
                found.append(_sum_across(request, (points, known), other, share, rng))
    return add(found)


# Points, and their class codes if they have any.
_Block = tuple[Array, Array | None]


def _cut(X: Array, codes: Array | None, rows: int) -> list[_Block]:
    return [
        (X[some], None if codes is None else codes[some]) for some in cut_rows(0, len(X), rows)
    ]


def _sum_across(
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
    terms, points, labeled = request.terms, np.concatenate([X, Y]), False
    if codes is not None and other_codes is not None:
        terms, labeled = replace(terms, codes=np.concatenate([codes, other_codes]), q=None), True
    side = SIDES[points.dtype]
    columns = cut_rows(len(X), len(points), side)
    weight *= 1.0 if labeled else terms.mu
    strips = [Strip(rows, columns, weight, labeled) for rows in cut_rows(0, len(X), side)]
    return request.sum_pairs(points, terms, strips)


def project(request: Request, X: Array) -> Array:
    """Project points by the factor, and by the frozen factor if there is one."""
    with one_blas_thread():
        return X @ stack_factors(request).T.astype(X.dtype)


def sum_projected(request: Request, Z: list[Array], n_labeled: int, group: slice) -> Sums:
    """Sum over some of the unlabeled pairs of all points, from their projections.

    In place of the derivative by the factor, return ``Lap(W) Z``: see `project_back`.
    The first `n_labeled` points are class-labeled. `group` says which strips of tiles to sum.
    """
    points, r = np.concatenate(Z), len(request.P)
    n, width = points.shape
    terms = replace(request.terms, codes=np.zeros(n_labeled, dtype=np.intp))
    if width > r:
        terms = replace(terms, q=Posterior(np.eye(width)[r:]))
    sweep = _make_sweep(points)
    tiles = terms.tiles(n, sweep.tile, sweep.arithmetic.least_side)
    strips = [strip for strip in tiles if not strip.labeled][group]
    with one_blas_thread(), np.errstate(under="ignore"):
        sums = Pass(sweep.arithmetic, points, np.eye(r, width), terms, "factor", n)
        found = [sums.sum_tiles(strips)] if strips else []
        value, degree, product = sums.add([(0.0, np.zeros(n), np.zeros((n, r))), *found])
    if request.wrt == "threshold":
        return value, np.asarray(-0.5 * degree.sum())
    return value, degree[:, np.newaxis] * points[:, :r] - product


def project_back(request: Request, X: Array, L: Array) -> Sums:  # noqa: ARG001
    """Compute the terms of some points in ``d / dP = 2 (Lap(W) Z)' X``."""
    with one_blas_thread():
        return 0.0, 2.0 * L.T @ X


def stack_factors(request: Request) -> Array:
    """Stack the factor on the frozen one, if there is one."""
    q = request.terms.q
    return request.P if q is None or q.P is None else np.vstack([request.P, q.P])


def sum_differences(
    request: Request, D: Array, start: int, step: int, unlabeled: float, marks: Array | None = None
) -> Sums:
    """Sum over listed pairs, from their differences: every `step`-th pair of the list.

    `D` has the differences from the `start`-th pair on. `unlabeled` is the weight of the unlabeled
    terms; `marks` are the likeness and weights of marked pairs, in two columns.
    """
    some = slice(-start % step, None, step)
    similar, weights = (None, None) if marks is None else marks[some].T
    listed = Listed(None, similar, weights, unlabeled)
    with one_blas_thread():
        return request.sum_pairs(D[some], request.terms, lists=[listed])


def take_rows(part: Array, rows: list[Array]) -> list[Array]:
    """Take several sets of rows from a part."""
    return [part[some] for some in rows]


def subtract_rows(n: int, taken: list[Array], places: list[Array]) -> Array:
    """Compute the differences of pairs from rows that come from several parts.

    With the differences of the `n` pairs, a worker can sum over them without the points. The rows
    `taken` from a part have `places`: ``2 i`` for the first point of the pair i, and ``2 i + 1``
    for the second.
    """
    D = np.zeros((n, taken[0].shape[1]), dtype=taken[0].dtype)
    for rows, where in zip(taken, places, strict=True):
        first = where % 2 == 0
        D[where[first] // 2] += rows[first]
        D[where[~first] // 2] -= rows[~first]
    return D


def _make_sweep(X: Array) -> NumpySweep:
    """Make a sweep over points, compiled if they are many and this machine has numba."""
    compiled = len(X) >= COMPILED_FROM and find_spec("numba") is not None
    return (NumbaSweep if compiled else NumpySweep)(X)


def add(found: list[Sums]) -> Sums:
    """Add up sums, in their order."""
    gradient: Array = np.sum([gradient for _, gradient in found], axis=0)
    return sum(value for value, _ in found), gradient
