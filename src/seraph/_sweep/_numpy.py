"""Sweeps on the CPU, with numpy or numba: tiles that stay in the cache, on several threads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from scipy.sparse import csr_array

from .._utils._threads import one_blas_thread
from .._utils._typing import Array, computed_once
from ._formulas import NumpyArithmetic
from ._lists import Listed, PairList
from ._plan import Strip
from ._terms import ROUNDING, PairTerms, Sweep, Variable
from ._tiles import Pass, Sums, count_product_rows, count_rows, cut_range

# Side of a tile. A tile has four arrays: t, q (before the E-step, t under the frozen metric) and
# two of scratch, one of which becomes the weights. All four fit in a cache of 2 MB.
SIDES = {np.dtype(np.float64): 256, np.dtype(np.float32): 384}
# Number of groups of strips, one task each, for any number of threads. Their sums are added in
# order, so that results are bitwise equal whatever the number of threads.
_N_GROUPS = 16
# Fewer groups for a sample: its sweep is short, and each group allocates sums to be added.
_N_SAMPLE_GROUPS = 4
# A list of pairs is evaluated in tiles of this shape, which stay in the cache.
_SPARSE_SHAPE = (64, 256)
# A sparse matrix of weights has this many pairs, or this many for each row, whichever is more: a
# product with it writes all rows, which should not take longer than its pairs.
_SPARSE_PAIRS, _SPARSE_PER_ROW = 1 << 15, 4
# Loading compiled code pays off from this number of points on (`python -m benchmarks.sweeps`).
COMPILED_FROM = 1000


class NumpySweep(Sweep):
    """Sums over the pairs of `X`, swept in tiles with numpy.

    Parameters
    ----------
    X : ndarray of shape (n, m), float32 or float64
        Points, in the order that `PairTerms` describes. Tiles are computed in their precision
        and summed in double precision.
    n_jobs : int, optional
        Number of threads, as joblib counts them.
    tile : int, optional
        Side of a tile.
    """

    name = "numpy"

    def __init__(self, X: Array, n_jobs: int | None = None, tile: int | None = None) -> None:
        self.X = np.ascontiguousarray(X)
        self.n_threads = effective_n_jobs(n_jobs)
        self.tile = SIDES[self.X.dtype] if tile is None else tile
        self.rounding = ROUNDING[self.X.dtype.name]

    @property
    def shape(self) -> tuple[int, int]:
        """Number of points and of their features."""
        return self.X.shape

    def scatter(self) -> None:
        """Return None: the caller computes ``X'X`` with numpy, too."""

    def __call__(self, P: Array, terms: PairTerms, wrt: Variable) -> tuple[float, Array]:
        """Sum the pair terms, and differentiate the sum: see `Sweep`."""
        self.n_sweeps += 1
        strips = terms.tiles(len(self.X), self.tile, NumpyArithmetic.least_side)
        return self.sum_pairs(P, terms, wrt, strips, terms.lists())

    def sum_pairs(
        self,
        P: Array,
        terms: PairTerms,
        wrt: Variable,
        strips: Sequence[Strip] = (),
        lists: Sequence[Listed] = (),
    ) -> tuple[float, Array]:
        """Sum over some tiles and lists of pairs; `__call__` passes all of the terms."""
        # The metric takes one product a tile and the factor two, so in tiles the factor pays off
        # only if it is narrow; d/dP is 2 P d/dA in any case.
        by_metric_first = wrt == "factor" and bool(strips) and 2 * len(P) >= self.shape[1]
        with np.errstate(under="ignore"):
            # A row that no pair has is not read.
            n_tiled = count_rows(strips)
            X = self.X[: max(n_tiled, count_rows(lists))]
            by: Variable = "metric" if by_metric_first else wrt
            sums = Pass(self.arithmetic, X, P, terms, by, n_tiled)
            groups = _group(strips, is_whole=terms.plan.is_whole)
            parts, one_by_one = list(self._map(sums.sum_tiles, groups)), []
            for listed in lists:
                if _can_be_sparse(listed, len(sums.X)):
                    parts += self._sum_sparse(sums, listed.every())
                else:
                    one_by_one.append(sums.sum_list(listed))
            value, gradient = sums.total(parts, one_by_one)
        return float(value), 2.0 * P @ gradient if by_metric_first else gradient

    def _sum_sparse(self, sums: Pass, listed: Listed) -> list[Sums]:
        """Sum over a list, by groups: the weights of its pairs are a sparse matrix."""
        pairs = listed.pairs if isinstance(listed.pairs, PairList) else PairList.of(listed.pairs)
        size = max(_SPARSE_PAIRS, _SPARSE_PER_ROW * len(sums.X))
        groups = _group(list(cut_range(len(pairs), size)), is_whole=False)
        of_group = partial(_sum_group, sums, listed._replace(pairs=pairs))
        return list(self._map(of_group, groups))

    @computed_once
    def arithmetic(self) -> NumpyArithmetic:
        """The pair terms."""
        return NumpyArithmetic(self.X.dtype)

    def _map(self, function: Callable[..., Any], items: Sequence[Any]) -> Iterable[Any]:
        """Apply a function to each item, in parallel; results come in order."""
        if self.n_threads == 1 or len(items) == 1:
            return map(function, items)

        def limited(item: Any) -> Any:
            with one_blas_thread():  # some libraries of BLAS have a limit for each thread
                return function(item)

        return self._threads.map(limited, items)

    @computed_once
    def _threads(self) -> ThreadPoolExecutor:
        """Threads for all sweeps; they end when this object, and so the pool, is collected."""
        return ThreadPoolExecutor(self.n_threads, thread_name_prefix="seraph-sweep")


class NumbaSweep(NumpySweep):
    """Sums over the pairs of `X`, with the pair terms compiled by numba."""

    name = "numba"

    @computed_once
    def arithmetic(self) -> NumpyArithmetic:
        """The pair terms."""
        from ._compiled import NumbaArithmetic

        return NumbaArithmetic(self.X.dtype)


def _group(items: Sequence[Any], *, is_whole: bool) -> list[Sequence[Any]]:
    """Split work into groups, one task each: strips of about the same work, or a sample."""
    if is_whole:
        return [items[number::_N_GROUPS] for number in range(min(_N_GROUPS, len(items)))]
    length = max(1, -(-len(items) // _N_SAMPLE_GROUPS))
    return [items[some] for some in cut_range(len(items), length)]


def _can_be_sparse(listed: Listed, n: int) -> bool:
    """Whether to sum by a sparse matrix: a sample, or more marked pairs than rows, sorted."""
    pairs = listed.pairs
    if isinstance(pairs, np.ndarray):
        return len(pairs) > n and not np.any(pairs[1:, 0] < pairs[:-1, 0])
    return pairs is not None


def _sum_group(sums: Pass, listed: Listed, group: Sequence[slice]) -> Sums:
    """Sum over parts of a list of pairs, by one sparse matrix of weights for each."""
    width, Y = sums.Y.shape[1], sums.Y
    degree = np.zeros(len(sums.X))
    product = np.zeros((len(sums.X) if sums.wrt == "factor" else width, width))
    value = 0.0
    for some in group:
        part, rows, U = _find_weights(sums, listed, some)
        value += part
        degree[rows] += U.sum(axis=1, dtype=np.float64)
        degree += U.sum(axis=0, dtype=np.float64)
        if sums.wrt == "factor":
            product[rows] += U @ Y
            product += U.T @ Y[rows]
        else:
            for few in cut_range(len(rows), count_product_rows(width)):
                product += Y[rows[few]].T @ (U[few] @ Y)
        del U  # before the next is made: it is the largest array here
    return value, degree, product


def _find_weights(sums: Pass, listed: Listed, some: slice) -> tuple[float, Array, csr_array]:
    """Return the value of some pairs, their first rows, and the sparse matrix of weights."""
    rows, starts, columns = listed.pairs.part(some)
    first, last = np.repeat(rows, np.diff(starts)), columns.astype(np.int32)
    arithmetic: Any = sums.arithmetic
    metrics = [sums.now] if sums.frozen is None else [sums.now, sums.frozen]
    weights = np.empty(len(last), dtype=sums.X.dtype)
    value, size = 0.0, _SPARSE_SHAPE[0] * _SPARSE_SHAPE[1]
    for few in cut_range(len(last), size):
        i, j = first[few], last[few]
        shape = _SPARSE_SHAPE if len(i) == size else (1, len(i))
        margins = [
            (arithmetic.squared_distances(of.Z, i, j) - of.eta).reshape(shape) for of in metrics
        ]
        here = slice(some.start + few.start, some.start + few.stop)
        part, weight = sums.sum_terms(listed, here, margins)
        value += part
        weights[few] = weight.ravel()
    return value, rows, csr_array((weights, last, starts), shape=(len(rows), len(sums.X)))
