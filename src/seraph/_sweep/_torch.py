"""Sweeps with PyTorch, on a GPU or wherever else it computes.

On a CUDA device and in float32 a fused Triton kernel streams the tiles through on-chip memory.
Everywhere else the tiles are plain tensors, as large as memory allows.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from . import _formulas as model
from ._terms import ROUNDING, PairTerms, Variable
from ._threads import SharedSetting
from ._tiles import row_blocks

# Side of a tile of plain tensors: on a GPU some five of 256 MB are alive at once.
_TILES = {"cuda": 8192, "mps": 4096}
_TILE = 512
# Rows, or gathered pairs, that are worked on at a time.
_CHUNK = 1 << 17
# The pair of a point with itself is given this t, and q = 0: every term and weight is 0 there.
_FAR = 1e4


class TorchSweep:
    """Sums over the pairs of `X`, with PyTorch.

    Parameters
    ----------
    X : ndarray of shape (n, m), float32 or float64
        Points, ordered as `PairTerms` wants them. (On "mps", which has no double precision,
        they are computed with in single precision.)
    device : str
        Where to compute.
    tile : int, optional
        Side of a tile, where tiles are plain tensors.

    Attributes
    ----------
    n_sweeps : int
        How often the pairs were swept.
    """

    name = "torch"

    def __init__(self, X: NDArray, device: str, tile: int | None = None) -> None:
        self.n_sweeps = 0
        self.X = _to_device(X, torch.device(device))
        self.device = str(self.X.device)
        self.rounding = ROUNDING[str(self.X.dtype).removeprefix("torch.")]
        self.tile = _TILES.get(self.X.device.type, _TILE) if tile is None else tile
        # What sums are kept in.
        self.wide = torch.float32 if self.X.device.type == "mps" else torch.float64

    @property
    def n_features(self) -> int:
        """Number of columns of the points."""
        return self.X.shape[1]

    def __call__(self, P: NDArray, terms: PairTerms, wrt: Variable) -> tuple[float, NDArray]:
        """Sum the pair terms under ``P'P``, and differentiate, as `NumpySweep` does."""
        self.n_sweeps += 1
        with torch.inference_mode(), _full_precision():
            sums = _Pass(self, P, terms, wrt)
            if _fits_kernel(sums):
                from ._triton import sweep_regions

                sweep_regions(sums)
            else:
                self._patiently(sums)
            value, gradient = sums.finish()
        return value, gradient.cpu().numpy().astype(np.float64)

    def _patiently(self, sums: _Pass) -> None:
        """Sweep in plain tiles, in smaller ones as long as memory does not suffice."""
        while True:
            try:
                return sums.sweep(self.tile)
            except torch.OutOfMemoryError:
                if self.tile <= 256:
                    raise
                self.tile //= 2
                torch.cuda.empty_cache()


def _to_device(X: NDArray, device: torch.device) -> Tensor:
    if device.type == "mps":
        X = X.astype(np.float32, copy=False)
    return torch.tensor(np.ascontiguousarray(X)).to(device)


def _has_triton(X: Tensor) -> bool:
    """Whether kernels can be written for where `X` is."""
    here = X.device.type == "cuda" or os.environ.get("TRITON_INTERPRET") == "1"
    return here and find_spec("triton") is not None


def _fits_kernel(sums: _Pass) -> bool:
    """Whether the fused kernel can do this sweep."""
    narrow = max(sums.Z.shape[1], sums.Y.shape[1]) <= 128
    return narrow and sums.X.dtype == torch.float32 and _has_triton(sums.X)


def _set_full_precision() -> Callable[[], None]:
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("highest")
    return lambda: torch.set_float32_matmul_precision(before)


# Products of float32 matrices are as exact as they can be, whatever the user has set.
_full_precision = SharedSetting(_set_full_precision)


class _Margins:
    """``t_ij = ||z_i - z_j||^2 - eta``, tile by tile or for listed pairs."""

    def __init__(self, Z: Tensor, eta: float) -> None:
        self.Z, self.eta = Z, eta
        self.squares = torch.einsum("ir,ir->i", Z, Z)

    def tile(self, rows: slice, columns: slice) -> Tensor:
        t = torch.mm(self.Z[rows], self.Z[columns].T).mul_(-2.0)
        t += self.squares[rows, None] - self.eta
        t += self.squares[columns]
        t.clamp_(min=-self.eta)  # no squared distance is negative
        if rows == columns:
            t.fill_diagonal_(_FAR)
        return t

    def listed(self, i: Tensor, j: Tensor) -> Tensor:
        difference = self.Z[i] - self.Z[j]
        return torch.einsum("kr,kr->k", difference, difference) - self.eta


class _Pass:
    """One sweep: the projected points, and the sums as they grow.

    The sums over tiles are the value, the degrees ``W 1`` and the product ``W Y``; those over
    gathered pairs are a matrix of the gradient's own shape.
    """

    def __init__(self, sweep: TorchSweep, P: NDArray, terms: PairTerms, wrt: Variable) -> None:
        self.X, self.terms, self.wrt, self.wide = sweep.X, terms, wrt, sweep.wide
        device = self.X.device
        self.Z = self.X @ _like(P, self.X).T
        self.Y = {"metric": self.X, "factor": self.Z, "threshold": self.X[:, :0]}[wrt]
        self.now = _Margins(self.Z, terms.eta)
        self.frozen: _Margins | None = None
        if terms.mu > 0.0 and terms.q is not None and terms.q.P is not None:
            self.frozen = _Margins(self.X @ _like(terms.q.P, self.X).T, terms.eta)
        self.codes = torch.tensor(terms.codes.astype(np.int32)).to(device)
        self.all_unlabeled = terms.mu > 0.0 and terms.sample is None
        self.value = torch.zeros((), dtype=self.wide, device=device)
        self.degree = torch.zeros(len(self.X), dtype=self.wide, device=device)
        self.product = torch.zeros(self.Y.shape, dtype=self.wide, device=device)

    def sweep(self, side: int) -> None:
        """Add up all tiles of the given side, as plain tensors."""
        for sums in (self.value, self.degree, self.product):
            sums.zero_()
        k, n = len(self.codes), len(self.X)
        blocks = row_blocks(0, k, side) + (row_blocks(k, n, side) if self.all_unlabeled else [])
        for number, rows in enumerate(blocks):
            for columns in blocks[number:]:
                value, weight = self._tile(rows, columns)
                if rows == columns:  # the square holds each pair twice
                    self.value += 0.5 * value
                else:
                    self.value += value
                    self.degree[columns] += weight.sum(dim=0)
                    self.product[columns] += weight.T @ self.Y[rows]
                self.degree[rows] += weight.sum(dim=1)
                self.product[rows] += weight @ self.Y[columns]

    def _tile(self, rows: slice, columns: slice) -> tuple[Tensor, Tensor]:
        unlabeled = columns.stop > len(self.codes)
        if unlabeled and self.terms.q is None and _has_triton(self.X):
            from . import _triton

            value, weight = _triton.negative_entropy(
                self.Z, self.now.squares, rows, columns, self.terms.eta
            )
            return self.terms.mu * value, weight.mul_(self.terms.mu)
        t = self.now.tile(rows, columns)
        if columns.stop <= len(self.codes):
            q = (self.codes[rows, None] == self.codes[columns]).to(t.dtype)
            if rows == columns:
                q.fill_diagonal_(0.0)
            return cross_entropy(t, q, self.wide)
        old = None if self.frozen is None else self.frozen.tile(rows, columns)
        value, weight = self._unlabeled(t, old)
        return self.terms.mu * value, weight.mul_(self.terms.mu)

    def _unlabeled(self, t: Tensor, t_old: Tensor | None) -> tuple[Tensor, Tensor]:
        if self.terms.q is None:
            return negative_entropy(t, self.wide)
        if t_old is None:
            return cross_entropy(t, torch.zeros((), dtype=t.dtype, device=t.device), self.wide)
        return cross_entropy(t, torch.sigmoid(t_old * -(1.0 + self.terms.mu)), self.wide)

    def finish(self) -> tuple[float, Tensor]:
        """The sum and its gradient: of the tiles, the listed pairs and the sampled ones."""
        value, gradient = self.value, self._of_tiles()
        terms = self.terms
        if len(terms.pairs):
            similar = torch.tensor(terms.similar).to(self.X)

            def labeled(chunk: slice, t: Tensor, t_old: Tensor | None) -> tuple[Tensor, Tensor]:
                value, weight = cross_entropy(t.clone(), similar[chunk], self.wide)
                if self.all_unlabeled:  # less the term they were swept with
                    other, less = self._unlabeled(t, t_old)
                    value, weight = value - terms.mu * other, weight - terms.mu * less
                return value, weight

            more, part = self._gathered(terms.pairs, labeled)
            value, gradient = value + more, gradient + part
        if terms.mu > 0.0 and terms.sample is not None:
            scale = terms.mu * terms.sample.weight

            def unlabeled(chunk: slice, t: Tensor, t_old: Tensor | None) -> tuple[Tensor, Tensor]:
                value, weight = self._unlabeled(t, t_old)
                return scale * value, scale * weight

            more, part = self._gathered(terms.sample.pairs, unlabeled)
            value, gradient = value + more, gradient + part
        return float(value), gradient

    def _of_tiles(self) -> Tensor:
        """What the degrees and the product say of the gradient."""
        if self.wrt == "threshold":
            return -0.5 * self.degree.sum()
        gradient = torch.zeros(
            (self.Y.shape[1], self.X.shape[1]), dtype=self.wide, device=self.X.device
        )
        for start in range(0, len(self.X), _CHUNK):
            rows = slice(start, start + _CHUNK)
            laplacian = self.degree[rows, None] * self.Y[rows] - self.product[rows]
            gradient += laplacian.T @ self.X[rows].to(self.wide)
        if self.wrt == "factor":
            return 2.0 * gradient
        return 0.5 * (gradient + gradient.T)

    def _gathered(
        self,
        pairs: NDArray,
        term: Callable[[slice, Tensor, Tensor | None], tuple[Tensor, Tensor]],
    ) -> tuple[Tensor, Tensor]:
        """Sums over pairs that are gathered in chunks."""
        value = torch.zeros_like(self.value)
        gradient = self._of_nothing()
        rows = torch.tensor(np.ascontiguousarray(pairs.T, dtype=np.int64)).to(self.X.device)
        for start in range(0, len(pairs), _CHUNK):
            chunk = slice(start, start + _CHUNK)
            i, j = rows[:, chunk]
            t_old = None if self.frozen is None else self.frozen.listed(i, j)
            part, weight = term(chunk, self.now.listed(i, j), t_old)
            value += part
            if self.wrt == "threshold":
                gradient -= weight.sum(dtype=self.wide)
                continue
            dX, dY = self.X[i] - self.X[j], self.Y[i] - self.Y[j]
            factor = 2.0 if self.wrt == "factor" else 1.0
            gradient += factor * ((weight[:, None] * dY).T @ dX)
        return value, gradient

    def _of_nothing(self) -> Tensor:
        shape = () if self.wrt == "threshold" else (self.Y.shape[1], self.X.shape[1])
        return torch.zeros(shape, dtype=self.wide, device=self.X.device)

    @property
    def at_zero(self) -> dict[str, tuple[float, float]]:
        """Term and weight of a labelled and of an unlabelled pair at distance zero."""
        t, q = np.array([[-self.terms.eta]]), np.ones((1, 1))
        value, weight = model.cross_entropy(t.copy(), q)
        labeled = value, float(weight[0, 0])
        if self.terms.q is None:
            value, weight = model.negative_entropy(t)
        else:
            q = 0.0 * q if self.frozen is None else model.e_step(t.copy(), self.terms.mu)
            value, weight = model.cross_entropy(t, q)
        return {"labeled": labeled, "unlabeled": (value, float(weight[0, 0]))}


def _like(P: NDArray, X: Tensor) -> Any:
    # (A copy: numpy takes one row for contiguous whatever its stride, which may be negative.)
    return torch.tensor(P.copy()).to(dtype=X.dtype).to(X.device)


def cross_entropy(t: Tensor, q: Tensor, wide: torch.dtype) -> tuple[Tensor, Tensor]:
    """Sum of ``(1 - q) t - softplus(t)``, and its derivatives ``p - q``; as in `model`."""
    value = (t.clamp(max=0.0) - q * t - torch.log1p(torch.exp(-t.abs()))).sum(dtype=wide)
    return value, torch.sigmoid(-t).sub_(q)


def negative_entropy(t: Tensor, wide: torch.dtype) -> tuple[Tensor, Tensor]:
    """Sum of ``p ln p + (1 - p) ln(1 - p)``, and its derivatives ``p (1 - p) t``."""
    size = t.abs()
    e = torch.exp(-size)
    share = e / (1.0 + e)
    value = -(torch.log1p(e) + size * share).sum(dtype=wide)
    return value, share.mul_(t).div_(e.add_(1.0))
