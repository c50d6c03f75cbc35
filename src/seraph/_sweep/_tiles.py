"""Sweeps on the CPU: tiles that stay in the cache, one scratch space a thread."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from types import ModuleType

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from scipy.sparse import csr_array

from . import _formulas as model
from ._terms import ROUNDING, PairTerms, Variable

# Four arrays of this side (the tile, its weights, its q, a scratch) fit a cache of 2 MB.
_TILES = {np.dtype(np.float64): 256, np.dtype(np.float32): 384}
# Listed pairs are gathered so many numbers at a time.
_CHUNK = 1 << 18
# Row blocks are dealt to so many groups whatever the number of threads, and the groups' sums
# are added in order: the result does not depend on the threads.
_GROUPS = 16
# A chunk of sampled pairs is a tile of this shape.
_SAMPLED = (64, 256)
# The pair of a point with itself is given this t, and q = 0: every term and weight is 0 there.
_FAR = 1e4


class NumpySweep:
    """Sums over the pairs of `X`, swept in tiles with numpy.

    Parameters
    ----------
    X : ndarray of shape (n, m), float32 or float64
        Points, ordered as `PairTerms` wants them. Tiles are computed in their precision and
        summed in double precision.
    n_jobs : int, optional
        Number of threads, as joblib counts them.
    tile : int, optional
        Side of a tile.
    split : int, optional
        Sweep only the pairs of one of the first `split` rows with one of the others, for
        those who have the points in parts.

    Attributes
    ----------
    n_sweeps : int
        How often the pairs were swept.
    """

    name = "numpy"
    device: str | None = None

    def __init__(
        self,
        X: NDArray,
        n_jobs: int | None = None,
        tile: int | None = None,
        split: int | None = None,
    ) -> None:
        self.X = np.ascontiguousarray(X)
        self.n_threads = effective_n_jobs(n_jobs)
        self.tile = _TILES[self.X.dtype] if tile is None else tile
        self.split = split
        self.rounding = ROUNDING[self.X.dtype.name]
        self.n_sweeps = 0

    @property
    def n_features(self) -> int:
        """Number of columns of the points."""
        return self.X.shape[1]

    def __call__(self, P: NDArray, terms: PairTerms, wrt: Variable) -> tuple[float, NDArray]:
        """Sum the pair terms under the metric ``P'P``, and differentiate the sum.

        Parameters
        ----------
        P : ndarray of shape (r, m)
            Factor of the metric.
        terms : PairTerms
            The term of each pair.
        wrt : {"metric", "factor", "threshold"}
            Whether to differentiate by the metric ``A = P'P``, by ``P``, or by ``eta``.

        Returns
        -------
        value : float
            The sum.
        gradient : ndarray of shape (m, m), (r, m) or ()
            Its derivative, in double precision.
        """
        self.n_sweeps += 1
        # X' Lap(W) X takes one product a tile and Lap(W) Z two, so the latter pays for
        # narrow factors only; d/dP is 2 P d/dA in any case.
        by_metric_first = wrt == "factor" and 2 * len(P) >= self.n_features
        swept_by: Variable = "metric" if by_metric_first else wrt
        with np.errstate(under="ignore"):
            sums = _Pass(self, P, terms, swept_by, self._arithmetic())
            value, gradient = sums.run(self.n_threads)
        if by_metric_first:
            gradient = 2.0 * P @ gradient
        return value, gradient

    def _arithmetic(self) -> ModuleType:
        """Where the arithmetic of a tile comes from."""
        return model

    def _distances(self) -> Callable[[NDArray, NDArray, NDArray], NDArray]:
        """What tells the squared distances of listed pairs."""
        return _squared_distances


class NumbaSweep(NumpySweep):
    """The same, with the arithmetic of a tile compiled by numba."""

    name = "numba"

    def _arithmetic(self) -> ModuleType:
        from . import _compiled

        return _compiled

    def _distances(self) -> Callable[[NDArray, NDArray, NDArray], NDArray]:
        from . import _compiled

        return _compiled.squared_distances


class _Pass:
    """One sweep: the projected points, and what to make of each tile of their pairs."""

    def __init__(
        self,
        sweep: NumpySweep,
        P: NDArray,
        terms: PairTerms,
        wrt: Variable,
        arithmetic: ModuleType,
    ) -> None:
        self.X, self.terms, self.wrt, self.arithmetic = sweep.X, terms, wrt, arithmetic
        X, tile = sweep.X, sweep.tile
        self.Z = X @ P.T.astype(X.dtype)
        # By the threshold the weights alone matter: their product is with no column at all.
        self.Y = {"metric": X, "factor": self.Z, "threshold": X[:, :0]}[wrt]
        all_unlabeled = terms.mu > 0.0 and terms.sample is None
        n_tiled = len(X) if all_unlabeled else len(terms.codes)
        self.frozen: _Margins | None = None
        if terms.mu > 0.0 and terms.q is not None and terms.q.P is not None:
            self.frozen = _Margins(
                X @ terms.q.P.T.astype(X.dtype), terms.eta, n_tiled, sweep._distances()
            )
        self.now = _Margins(self.Z, terms.eta, n_tiled, sweep._distances())
        # Blocks of rows, each with the blocks of columns that it meets.
        self.strips: list[tuple[slice, list[slice]]] = []
        if sweep.split is not None:
            if all_unlabeled:
                columns = row_blocks(sweep.split, len(X), tile)
                self.strips = [(rows, columns) for rows in row_blocks(0, sweep.split, tile)]
        else:
            blocks = row_blocks(0, len(terms.codes), tile)
            if all_unlabeled:
                blocks += row_blocks(len(terms.codes), len(X), tile)
            self.strips = [(rows, blocks[k:]) for k, rows in enumerate(blocks)]

    def run(self, n_threads: int) -> tuple[float, NDArray]:
        groups = [g for g in (self.strips[g::_GROUPS] for g in range(_GROUPS)) if g]
        if n_threads > 1 and len(groups) > 1:
            with ThreadPoolExecutor(n_threads) as pool:
                parts = list(pool.map(self._group, groups))
        else:
            parts = [self._group(group) for group in groups]
        if self.terms.mu > 0.0 and self.terms.sample is not None:
            parts.append(self._sampled_pairs(n_threads))

        value, gradient = self._listed_pairs()
        if parts:
            # A part knows only of the rows down to its last one.
            value += sum(part[0] for part in parts)
            degree = _sum_of_heads([part[1] for part in parts])[:, np.newaxis]
            product = _sum_of_heads([part[2] for part in parts])
            X, Z = self.X[: len(degree)], self.Z[: len(degree)]
            if self.wrt == "factor":
                gradient += 2.0 * (degree * Z - product).T @ X
            elif self.wrt == "metric":
                gradient += X.T @ (degree * X) - product - product.T
            else:
                gradient -= 0.5 * degree.sum()
        return value, gradient

    def _group(
        self, strips: Sequence[tuple[slice, list[slice]]]
    ) -> tuple[float, NDArray, NDArray]:
        """Sweep some strips of tiles: the value, the degrees W1, and the product with Y.

        With U the weights above the diagonal (and half of the symmetric diagonal tiles), the
        product is ``(U + U') Z``, or, as half of what is needed by the metric, ``X' U X``.
        """
        blocks = [block for rows, columns in strips for block in (rows, *columns)]
        n, width = max(block.stop for block in blocks), self.Y.shape[1]
        side = max(block.stop - block.start for block in blocks)
        scratch = np.empty((4, side * side), dtype=self.X.dtype)
        value, degree = 0.0, np.zeros(n)
        by_factor = self.wrt == "factor"
        product = np.zeros((n, width) if by_factor else (width, width))
        for rows, across in strips:
            UY = np.zeros((rows.stop - rows.start, width))
            for columns in across:
                tile_value, weight = self._tile(rows, columns, scratch)
                value += tile_value
                degree[rows] += weight.sum(axis=1)
                degree[columns] += weight.sum(axis=0)
                UY += weight @ self.Y[columns]
                if by_factor:
                    product[columns] += weight.T @ self.Y[rows]
            if by_factor:
                product[rows] += UY
            else:
                product += self.Y[rows].T @ UY
        return value, degree, product

    def _sampled_pairs(self, n_threads: int) -> tuple[float, NDArray, NDArray]:
        """The sampled unlabelled pairs, as a group: the pairs are a sparse matrix of weights."""
        sample = self.terms.sample
        assert sample is not None
        scale = self.terms.mu * sample.weight
        weights = np.empty(len(sample.pairs), dtype=self.X.dtype)
        size = _SAMPLED[0] * _SAMPLED[1]
        edges = [*range(0, len(weights), size), len(weights)]

        def chunk(edge: tuple[int, int]) -> float:
            i, j = sample.pairs[slice(*edge)].T
            shape = _SAMPLED if len(i) == size else (1, len(i))
            t = self.now.listed(i, j).reshape(shape)
            t_old = t if self.frozen is None else self.frozen.listed(i, j).reshape(shape)
            value, weight = self._unlabeled(t, t_old, [np.empty_like(t), np.empty_like(t)])
            weights[slice(*edge)] = weight.ravel()
            return value

        if n_threads > 1:
            with ThreadPoolExecutor(n_threads) as pool:
                value = sum(pool.map(chunk, pairwise(edges)))
        else:
            value = sum(map(chunk, pairwise(edges)))
        weights *= scale
        first, last = sample.pairs.T
        starts = np.searchsorted(first, np.arange(len(self.X) + 1))
        U = csr_array((weights, last, starts), shape=(len(self.X), len(self.X)))
        degree = np.add(U.sum(axis=1, dtype=np.float64), U.sum(axis=0, dtype=np.float64))
        UY = U @ self.Y
        product = UY + U.T @ self.Y if self.wrt == "factor" else self.Y.T @ UY
        return scale * value, degree, product

    def _tile(self, rows: slice, columns: slice, scratch: NDArray) -> tuple[float, NDArray]:
        """Value and weights of the pairs rows x columns; half of the square on the diagonal."""
        terms, on_diagonal = self.terms, rows == columns
        shape = (rows.stop - rows.start, columns.stop - columns.start)
        t, q, *work = (s[: shape[0] * shape[1]].reshape(shape) for s in scratch)
        self.now(rows, columns, t)
        if columns.stop <= len(terms.codes):
            scale = 1.0
            np.equal(terms.codes[rows, np.newaxis], terms.codes[np.newaxis, columns], out=q)
            if on_diagonal:
                np.fill_diagonal(q, 0.0)
            value, weight = self.arithmetic.cross_entropy(t, q, work)
        else:
            scale = terms.mu
            if self.frozen is not None:
                self.frozen(rows, columns, q)
            value, weight = self._unlabeled(t, q, work)
        if on_diagonal:
            scale *= 0.5
        if scale != 1.0:
            weight *= scale
        return scale * value, weight

    def _unlabeled(
        self, t: NDArray, t_old: NDArray, work: Sequence[NDArray]
    ) -> tuple[float, NDArray]:
        """Unlabelled term; `t` and `t_old`, of the frozen metric, may be overwritten."""
        if self.terms.q is None:
            return self.arithmetic.negative_entropy(t, work)
        if self.frozen is None:
            return self.arithmetic.cross_entropy(t, 0.0, work)
        q = self.arithmetic.e_step(t_old, self.terms.mu, out=t_old)
        return self.arithmetic.cross_entropy(t, q, work)

    def _listed_pairs(self) -> tuple[float, NDArray]:
        """Listed pairs: their labelled term, less the unlabelled one they were swept with."""
        terms, n_columns = self.terms, self.X.shape[1]
        value = 0.0
        gradient = np.zeros(
            () if self.wrt == "threshold" else (self.Y.shape[1], n_columns), dtype=np.float64
        )
        chunk = max(1, _CHUNK // n_columns)
        for start in range(0, len(terms.pairs), chunk):
            i, j = terms.pairs[start : start + chunk].T
            t = self.now.listed(i, j)[np.newaxis]
            q = terms.similar[np.newaxis, start : start + chunk].astype(t.dtype)
            part, weight = model.cross_entropy(t.copy(), q)
            value += part
            if terms.mu > 0.0 and terms.sample is None:
                t_old = t if self.frozen is None else self.frozen.listed(i, j)[np.newaxis]
                part, unlabeled = self._unlabeled(t, t_old, [np.empty_like(t), np.empty_like(t)])
                value -= terms.mu * part
                weight -= terms.mu * unlabeled
            if self.wrt == "threshold":
                gradient -= weight.sum(dtype=np.float64)
                continue
            dX, dY = self.X[i] - self.X[j], self.Y[i] - self.Y[j]
            factor = 2.0 if self.wrt == "factor" else 1.0
            gradient += factor * (weight * dY.T) @ dX
        return value, gradient


def _sum_of_heads(parts: Sequence[NDArray]) -> NDArray:
    """Sum of arrays that are filled up with rows of zeros to the length of the longest."""
    total = np.zeros(max((part.shape for part in parts), key=lambda shape: shape[0]))
    for part in parts:
        total[: len(part)] += part
    return total


def _squared_distances(Z: NDArray, i: NDArray, j: NDArray) -> NDArray:
    difference = np.take(Z, i, axis=0)
    difference -= np.take(Z, j, axis=0)
    return np.einsum("kr,kr->k", difference, difference)


def row_blocks(start: int, stop: int, tile: int) -> list[slice]:
    """Cut the rows from `start` to `stop` into blocks of nearly equal length."""
    if stop <= start:
        return []
    edges = np.linspace(start, stop, -(-(stop - start) // tile) + 1).astype(int).tolist()
    return [slice(a, b) for a, b in pairwise(edges)]


class _Margins:
    """``t_ij = ||z_i - z_j||^2 - eta``, by tiles of the first rows or for listed pairs."""

    def __init__(
        self,
        Z: NDArray,
        eta: float,
        n_tiled: int,
        distances: Callable[[NDArray, NDArray, NDArray], NDArray],
    ) -> None:
        self.Z, self.eta, self.distances = Z, Z.dtype.type(eta), distances
        Z = Z[:n_tiled]
        squares = np.einsum("ir,ir->i", Z, Z)[:, np.newaxis]
        ones = np.ones_like(squares)
        # Two matrices whose product is t.
        self.left = np.hstack([-2.0 * Z, squares - self.eta, ones])
        self.right = np.hstack([Z, ones, squares])

    def __call__(self, rows: slice, columns: slice, out: NDArray) -> None:
        np.matmul(self.left[rows], self.right[columns].T, out=out)
        np.maximum(out, -self.eta, out=out)  # no squared distance is negative
        if rows == columns:
            np.fill_diagonal(out, _FAR)

    def listed(self, i: NDArray, j: NDArray) -> NDArray:
        return self.distances(self.Z, i, j) - self.eta
