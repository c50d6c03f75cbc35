"""Sweeps on the CPU, with numpy or numba: tiles that stay in the cache, on several threads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from scipy.sparse import csr_array

from .._utils._typing import Array, computed_once
from . import _formulas
from ._plan import PairList, Strip, row_blocks
from ._terms import ROUNDING, PairTerms, Sweep, Variable
from ._threads import one_blas_thread
from ._tiles import Pass, Sums, chunks, product_rows

# Side of a tile. A tile has four arrays: t, q (before the E-step, t under the frozen metric) and
# two of scratch, one of which becomes the weights. All four fit in a cache of 2 MB.
_SIDES = {np.dtype(np.float64): 256, np.dtype(np.float32): 384}
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
    split : int, optional
        Sweep only the pairs of one of the first `split` rows with one of the others, for
        points that come in parts.
    """

    name = "numpy"

    def __init__(
        self,
        X: Array,
        n_jobs: int | None = None,
        tile: int | None = None,
        split: int | None = None,
    ) -> None:
        self.X = np.ascontiguousarray(X)
        self.n_threads = effective_n_jobs(n_jobs)
        self.tile = _SIDES[self.X.dtype] if tile is None else tile
        self.split = split
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
        # The metric takes one product a tile and the factor two, so the factor pays off only if
        # it is narrow; d/dP is 2 P d/dA in any case.
        by_metric_first = wrt == "factor" and 2 * len(P) >= self.shape[1]
        swept_by: Variable = "metric" if by_metric_first else wrt
        with self._pass(P, terms, swept_by) as sums:
            sums.map_in_order = self._map
            value, gradient = sums.total(sums.parts(self.tile, self.split))
        if by_metric_first:
            gradient = 2.0 * P @ gradient
        return value, gradient

    def among_unlabeled(self, P: Array, terms: PairTerms, n_labeled: int, group: slice) -> Sums:
        """Sum over some of the pairs that are not of two labeled rows: value, degrees, ``W Z``.

        Parameters
        ----------
        P, terms
            As in `__call__`.
        n_labeled : int
            Number of labeled rows, which come first; the terms have no codes of theirs.
        group : slice
            Which of the strips of tiles to sweep.
        """
        blocks, n = row_blocks(0, n_labeled, self.tile), len(self.X)
        others = row_blocks(n_labeled, n, self.tile)
        strips = [(rows, others) for rows in blocks]
        strips += [(rows, others[number:]) for number, rows in enumerate(others)]
        with self._pass(P, terms, "factor") as sums:
            found = [sums.sweep(strips[group])] if strips[group] else []
            nothing = 0.0, np.zeros(n), np.zeros((n, len(P)))
            return sums.added([nothing, *found])

    def of_lists(self, P: Array, terms: PairTerms, wrt: Variable) -> tuple[float, Array]:
        """Sum over the marked pairs and a plan's list alone."""
        with self._pass(P, terms, wrt, n_tiled=0) as sums:
            return sums.total(sums.of_sample())

    def of_differences(
        self, P: Array, terms: PairTerms, wrt: Variable, *, marked: bool
    ) -> tuple[float, Array]:
        """Sum over pairs, where `X` has ``x_i - x_j`` of each pair.

        Parameters
        ----------
        P, terms, wrt
            As in `__call__`.
        marked : bool
            Whether these are the marked pairs, or else unlabeled ones of weight 1.
        """
        with self._pass(P, terms, wrt, n_tiled=0) as sums:
            return sums.sum_list(None, marked=marked)

    @contextmanager
    def _pass(
        self, P: Array, terms: PairTerms, wrt: Variable, n_tiled: int | None = None
    ) -> Iterator[_NumpyPass]:
        """Make a pass over the points; within the block, terms may underflow to zero."""
        with np.errstate(under="ignore"):
            yield _NumpyPass(self.X, P, terms, wrt, self._arithmetic(), n_tiled)

    def _arithmetic(self) -> Any:
        return _formulas

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
    """Sums over the pairs of `X`, with the arithmetic of a tile compiled by numba."""

    name = "numba"

    def _arithmetic(self) -> Any:
        from . import _compiled

        return _compiled


class _NumpyPass(Pass):
    """A sweep over ndarrays."""

    xp = np
    arithmetic: Any  # `_formulas` or `_compiled`, which have `squared_distances`, too
    wide = np.float64
    gathered_numbers = 1 << 17  # they stay in the cache, and sums in single precision stay short
    map_in_order: Callable[..., Iterable[Any]] = map

    def _array(self, a: Array) -> Array:
        return a.astype(self.X.dtype)

    def _indices(self, pairs: Array) -> tuple[Array, Array]:
        return pairs[:, 0], pairs[:, 1]

    def _zeros(self, *shape: int) -> Array:
        return np.zeros(shape)

    def _widened(self, a: Array) -> Array:
        return a.astype(np.float64, copy=False)

    def _scratch(self, side: int) -> Array:
        return np.empty((4, side * side), dtype=self.X.dtype)

    def _views(self, scratch: Array, shape: tuple[int, int]) -> list[Array]:
        return [part[: shape[0] * shape[1]].reshape(shape) for part in scratch]

    def _same_class(self, rows: slice, columns: slice, out: Array | None) -> Array | float:
        left, right = self.terms.codes[rows], self.terms.codes[columns]
        # Rows are sorted by class, so most tiles have pairs of one kind only.
        if left.max() < right.min() or right.max() < left.min():
            return 0.0
        if rows != columns and left.min() == right.max() and left.max() == right.min():
            return 1.0
        return np.equal(left[:, np.newaxis], right[np.newaxis], out=out)

    def parts(self, side: int, split: int | None = None) -> list[Sums]:
        """Return the sums over all tiles and over a plan's list, by groups."""
        groups = self._groups(self.strips(side, split))
        return [*self.map_in_order(self.sweep, groups), *self.of_sample()]

    def of_sample(self) -> list[Sums]:
        """Return the sums over a plan's list, by groups."""
        plan, mu = self.terms.plan, self.terms.mu
        if mu == 0.0 or plan.pairs is None:
            return []
        return self._sparse(plan.pairs, mu * plan.weight, marked=False)

    def _groups(self, strips: list[Strip]) -> list[list[Strip]]:
        """Split the strips into groups of about the same work."""
        if self.terms.plan.is_whole:
            return [strips[number::_N_GROUPS] for number in range(min(_N_GROUPS, len(strips)))]
        return _sample_groups(strips)

    def of_lists(self) -> tuple[Any, Array]:
        """Return value and gradient of the marked pairs (`parts` has those of a plan's list).

        If there are many, their weights are a sparse matrix.
        """
        pairs = self.terms.pairs
        if len(pairs) <= len(self.X) or np.any(pairs[1:, 0] < pairs[:-1, 0]):
            return self.sum_list(pairs, marked=True)
        value, degree, product = self.added(self._sparse(PairList.of(pairs), 1.0, marked=True))
        return value, self._gradient(degree[:, np.newaxis], product)

    def _sparse(self, pairs: PairList, scale: float, *, marked: bool) -> list[Sums]:
        """Return `scale` times the sums over a list of pairs, by groups."""
        some = list(chunks(len(pairs), max(_SPARSE_PAIRS, _SPARSE_PER_ROW * len(self.X))))

        def of_group(group: list[slice]) -> Sums:
            width = self.Y.shape[1]
            degree = np.zeros(len(self.X))
            product = np.zeros((len(self.X) if self.wrt == "factor" else width, width))
            value = 0.0
            for some in group:
                part, rows, U = self._weights(pairs, some, marked=marked)
                U *= scale
                value += scale * part
                degree[rows] += U.sum(axis=1, dtype=np.float64)
                degree += U.sum(axis=0, dtype=np.float64)
                if self.wrt == "factor":
                    product[rows] += U @ self.Y
                    product += U.T @ self.Y[rows]
                else:
                    for few in chunks(len(rows), product_rows(width)):
                        product += self.Y[rows[few]].T @ (U[few] @ self.Y)
                del U  # before the next is made: it is the largest array here
            return value, degree, product

        return list(self.map_in_order(of_group, _sample_groups(some)))

    def _weights(
        self, pairs: PairList, some: slice, *, marked: bool
    ) -> tuple[float, Array, csr_array]:
        """Return the value of some pairs, their first rows, and the sparse matrix of weights."""
        rows, starts, columns = pairs.part(some)
        first, last = np.repeat(rows, np.diff(starts)), columns.astype(np.int32)
        margins = [self.now] if self.frozen is None else [self.now, self.frozen]
        weights = np.empty(len(last), dtype=self.X.dtype)
        value = 0.0
        for few in chunks(len(last), _SPARSE_SHAPE[0] * _SPARSE_SHAPE[1]):
            i, j = first[few], last[few]
            shape = _SPARSE_SHAPE if len(i) == _SPARSE_SHAPE[0] * _SPARSE_SHAPE[1] else (1, len(i))
            t = [
                (self.arithmetic.squared_distances(of.Z, i, j) - of.eta).reshape(shape)
                for of in margins
            ]
            here = slice(some.start + few.start, some.start + few.stop)
            part, weight = self.list_terms(here, t[0], t[-1], marked=marked)
            value += part
            weights[few] = weight.ravel()
        return value, rows, csr_array((weights, last, starts), shape=(len(rows), len(self.X)))


def _sample_groups(items: list[Any]) -> list[list[Any]]:
    """Split the work on a sample into at most `_N_SAMPLE_GROUPS` groups of consecutive items."""
    length = max(1, -(-len(items) // _N_SAMPLE_GROUPS))
    return [items[part] for part in chunks(len(items), length)]
