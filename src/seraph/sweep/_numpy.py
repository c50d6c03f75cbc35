"""The sweep in numpy: tiles that stay in the cache, one scratch space a thread."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Literal

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray

from .. import model
from ._terms import PairTerms

# Four arrays of doubles of this side (the tile, its weights, its q, a scratch) fit a cache
# of 2 MB.
_TILE = 256
# Listed pairs are gathered so many numbers at a time.
_CHUNK = 1 << 18
# Row blocks are dealt to so many groups whatever the number of threads, and the groups' sums
# are added in order: the result does not depend on the threads.
_GROUPS = 16
# What a sum can be differentiated by.
_Variable = Literal["metric", "factor", "threshold"]
# The pair of a point with itself is given this t, and q = 0: every term and weight is 0 there.
_FAR = 1e4


class NumpySweep:
    """Sums over the pairs of `X`, swept in tiles.

    Parameters
    ----------
    X : ndarray of shape (n, m), float32 or float64
        Points, ordered as `PairTerms` wants them. Tiles are computed in their precision and
        summed in double precision.
    n_jobs : int, optional
        Number of threads, as joblib counts them.
    tile : int, default=256
        Side of a tile.

    Attributes
    ----------
    n_sweeps : int
        How often the pairs were swept.
    """

    def __init__(self, X: NDArray, n_jobs: int | None = None, tile: int = _TILE) -> None:
        self.X = np.ascontiguousarray(X)
        self.n_threads = effective_n_jobs(n_jobs)
        self.tile = tile
        self.n_sweeps = 0

    def __call__(
        self, P: NDArray, terms: PairTerms, wrt: Literal["metric", "factor", "threshold"]
    ) -> tuple[float, NDArray]:
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
        by_metric_first = wrt == "factor" and 2 * len(P) >= self.X.shape[1]
        swept_by: _Variable = "metric" if by_metric_first else wrt
        with np.errstate(under="ignore"):
            value, gradient = _Pass(self.X, P, terms, self.tile, swept_by).run(self.n_threads)
        if by_metric_first:
            gradient = 2.0 * P @ gradient
        return value, gradient


class _Pass:
    """One sweep: the projected points, and what to make of each tile of their pairs."""

    def __init__(
        self, X: NDArray, P: NDArray, terms: PairTerms, tile: int, wrt: _Variable
    ) -> None:
        self.X, self.terms, self.wrt = X, terms, wrt
        self.Z = X @ P.T.astype(X.dtype)
        # By the threshold the weights alone matter: their product is with no column at all.
        self.Y = {"metric": X, "factor": self.Z, "threshold": X[:, :0]}[wrt]
        self.now = _Margins(self.Z, terms.eta)
        self.frozen: _Margins | None = None
        if terms.mu > 0.0 and terms.q is not None and terms.q.P is not None:
            self.frozen = _Margins(X @ terms.q.P.T.astype(X.dtype), terms.eta)
        n_labeled = len(terms.codes)
        self.blocks = _row_blocks(0, n_labeled, tile)
        if terms.mu > 0.0:
            self.blocks += _row_blocks(n_labeled, len(X), tile)

    def run(self, n_threads: int) -> tuple[float, NDArray]:
        groups = [g for g in (range(g, len(self.blocks), _GROUPS) for g in range(_GROUPS)) if g]
        if n_threads > 1 and len(groups) > 1:
            with ThreadPoolExecutor(n_threads) as pool:
                parts = list(pool.map(self._group, groups))
        else:
            parts = [self._group(group) for group in groups]

        value, gradient = self._listed_pairs()
        if parts:
            value += sum(part[0] for part in parts)
            degree = np.sum([part[1] for part in parts], axis=0)[:, np.newaxis]
            product = np.sum([part[2] for part in parts], axis=0)
            if self.wrt == "factor":
                gradient += 2.0 * (degree * self.Z - product).T @ self.X
            elif self.wrt == "metric":
                gradient += self.X.T @ (degree * self.X) - product - product.T
            else:
                gradient -= 0.5 * degree.sum()
        return value, gradient

    def _group(self, numbers: Sequence[int]) -> tuple[float, NDArray, NDArray]:
        """Sweep some row blocks: the value, the degrees W1, and the product with Y.

        With U the weights above the diagonal (and half of the symmetric diagonal tiles), the
        product is ``(U + U') Z``, or, as half of what is needed by the metric, ``X' U X``.
        """
        n, width = self.Y.shape
        side = max(block.stop - block.start for block in self.blocks)
        scratch = np.empty((4, side * side), dtype=self.X.dtype)
        value, degree = 0.0, np.zeros(n)
        by_factor = self.wrt == "factor"
        product = np.zeros((n, width) if by_factor else (width, width))
        for number in numbers:
            rows = self.blocks[number]
            UY = np.zeros((rows.stop - rows.start, width))
            for columns in self.blocks[number:]:
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
            value, weight = model.cross_entropy(t, q, work)
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
        self, t: NDArray, t_old: NDArray, work: Sequence[NDArray] | None = None
    ) -> tuple[float, NDArray]:
        """Unlabelled term; `t_old`, of the frozen metric if there is one, is overwritten."""
        if self.terms.q is None:
            return model.negative_entropy(t, work)
        if self.frozen is None:
            return model.cross_entropy(t, 0.0, work)
        q = model.e_step(t_old, self.terms.mu, out=t_old)
        return model.cross_entropy(t, q, work)

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
            t = self.now.listed(i, j)
            q = terms.similar[start : start + chunk].astype(t.dtype)
            part, weight = model.cross_entropy(t.copy(), q)
            value += part
            if terms.mu > 0.0:
                t_old = t if self.frozen is None else self.frozen.listed(i, j)
                part, unlabeled = self._unlabeled(t, t_old)
                value -= terms.mu * part
                weight -= terms.mu * unlabeled
            if self.wrt == "threshold":
                gradient -= weight.sum(dtype=np.float64)
                continue
            dX, dY = self.X[i] - self.X[j], self.Y[i] - self.Y[j]
            factor = 2.0 if self.wrt == "factor" else 1.0
            gradient += factor * (weight[:, np.newaxis] * dY).T @ dX
        return value, gradient


def _row_blocks(start: int, stop: int, tile: int) -> list[slice]:
    """Cut the rows from `start` to `stop` into blocks of nearly equal length."""
    if stop <= start:
        return []
    edges = np.linspace(start, stop, -(-(stop - start) // tile) + 1).astype(int).tolist()
    return [slice(a, b) for a, b in pairwise(edges)]


class _Margins:
    """``t_ij = ||z_i - z_j||^2 - eta``, tile by tile or for listed pairs."""

    def __init__(self, Z: NDArray, eta: float) -> None:
        self.Z, self.eta = Z, Z.dtype.type(eta)
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
        difference = self.Z[i] - self.Z[j]
        return np.einsum("kr,kr->k", difference, difference) - self.eta
