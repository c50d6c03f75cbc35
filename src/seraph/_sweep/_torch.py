"""Sweeps with PyTorch, on a GPU or any other of its devices.

On a CUDA device and in float32, a fused Triton kernel streams the unlabeled pairs, which are
many, through on-chip memory. All other tiles are plain tensors, as large as memory allows.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np
import torch
from torch import Tensor

from .._utils._typing import Array
from . import _tensors
from ._numpy import NumpySweep
from ._terms import ROUNDING, PairTerms, Sweep, Variable
from ._threads import SharedSetting
from ._tiles import Pass, Sums, chunks

# Side of a tile by device. About five tiles are alive at once, each of 256 MB on a GPU.
_SIDES = {"cuda": 8192, "mps": 4096}
_SIDE = 512
# Smaller tiles leave most of a GPU idle.
_LEAST_SIDES = {"cuda": 2048, "mps": 1024}
# Tiles are not halved below this side when memory runs out: a sweep would be too slow.
_SMALLEST_SIDE = 256
# Devices on which numpy sums over lists of pairs faster, and in much less memory.
_LISTS_BY_NUMPY = ("cpu",)
# Largest rank for the fused kernel: wider operands do not fit in shared memory (`_SHAPES` in
# `_triton`).
_KERNEL_WIDTH = 128
# Up to this number of class-labeled rows, their pairs are summed in plain tiles, in less than half
# a millisecond; a kernel for them takes seconds to compile (`python -m benchmarks.gpu`).
_FEW_LABELED = 4096
# Columns of X for each launch of the kernel, by the metric.
_METRIC_WIDTH = 64
# Rows to convert to double precision at a time, which bounds the memory of the copies.
_WIDENED_ROWS = 1 << 17
_TRITON = find_spec("triton") is not None


class TorchSweep(Sweep):
    """Sums over the pairs of `X`, with PyTorch.

    Parameters
    ----------
    X : ndarray of shape (n, m), float32 or float64
        Points, in the order that `PairTerms` describes. ("mps" has no double precision, and
        computes in single precision.)
    device : str
        Device to compute on.
    tile : int, optional
        Side of a tile of plain tensors.
    """

    name = "torch"

    def __init__(self, X: Array, device: str, tile: int | None = None) -> None:
        self.X = _to_device(X, torch.device(device))
        self.device = str(self.X.device)
        self.rounding = ROUNDING[str(self.X.dtype).removeprefix("torch.")]
        self.tile = _SIDES.get(self.X.device.type, _SIDE) if tile is None else tile
        # Class codes are the same in each sweep of a fit, and a copy of them makes the host wait.
        self._codes: tuple[Array | None, Tensor] = None, self.X[:0, 0]

    @property
    def shape(self) -> tuple[int, int]:
        """Number of points and of their features."""
        n, m = self.X.shape
        return n, m

    def scatter(self) -> Array | None:
        """Compute ``X'X`` in double precision, on a GPU that has it."""
        return _scatter(self.X) if self.X.device.type == "cuda" else None

    def __call__(self, P: Array, terms: PairTerms, wrt: Variable) -> tuple[float, Array]:
        """Sum the pair terms, and differentiate the sum: see `Sweep`."""
        self.n_sweeps += 1
        with torch.inference_mode(), _full_precision:
            fused = fits_kernel(self.X, P, terms)
            few = len(terms.codes) <= _FEW_LABELED
            n_tiled = (len(terms.codes) if few else 0) if fused else None
            sums = _TorchPass(self.X, P, terms, wrt, _tensors, n_tiled)
            sums.codes = self._codes_of(terms)
            # (The kernel first, so that the device has work while the host prepares the rest.)
            parts = [sums.fused(few)] if fused else []
            if sums.n_tiled:
                parts += self._in_tiles(sums)
            value, gradient = sums.total(parts)
            # One copy to the host, since it waits for each.
            found = torch.cat(
                [
                    torch.as_tensor(value, dtype=gradient.dtype, device=gradient.device).view(1),
                    gradient.flatten(),
                ]
            ).cpu()
        both: Array = found.numpy().astype(np.float64)
        return float(both[0]), both[1:].reshape(gradient.shape)

    def _codes_of(self, terms: PairTerms) -> Tensor:
        known, codes = self._codes
        if known is not terms.codes:
            codes = torch.tensor(terms.codes.astype(np.int32), device=self.X.device)
            self._codes = terms.codes, codes
        return codes

    def _in_tiles(self, sums: _TorchPass) -> list[Sums]:
        """Sweep in plain tiles; halve them whenever memory runs out."""
        while True:
            try:
                return sums.parts(self.tile)
            except torch.OutOfMemoryError:
                if self.tile <= _SMALLEST_SIDE:
                    raise
                self.tile //= 2
                torch.cuda.empty_cache()


def _to_device(X: Array, device: torch.device) -> Tensor:
    if device.type == "mps":
        X = X.astype(np.float32, copy=False)
    X = np.ascontiguousarray(X)
    if device.type == "cpu" or not X.flags.writeable:
        return torch.tensor(X, device=device)  # a copy: torch warns of read-only memory
    return torch.from_numpy(X).to(device)


def _scatter(X: Tensor) -> Array:
    total = torch.zeros([X.shape[1]] * 2, dtype=torch.float64, device=X.device)
    with torch.inference_mode():
        for rows in chunks(len(X), _WIDENED_ROWS):
            points = X[rows].double()
            total += points.T @ points
    found: Array = total.cpu().numpy()
    return found


def _has_triton(X: Tensor) -> bool:
    """Whether Triton can compile kernels for the device of `X`."""
    return _TRITON and (X.device.type == "cuda" or os.environ.get("TRITON_INTERPRET") == "1")


def fits_kernel(X: Tensor, P: Array, terms: PairTerms) -> bool:
    """Whether the fused kernel can do this sweep."""
    widths = [len(P)]
    if terms.q is not None and terms.q.P is not None:
        widths.append(len(terms.q.P))
    return max(widths) <= _KERNEL_WIDTH and X.dtype == torch.float32 and _has_triton(X)


def _set_full_precision() -> Callable[[], None]:
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("highest")
    return lambda: torch.set_float32_matmul_precision(before)


# Products of float32 matrices are as exact as they can be, whatever the user has set.
_full_precision = SharedSetting(_set_full_precision)


class _TorchPass(Pass):
    """A sweep over tensors."""

    xp = torch
    gathered_numbers = 1 << 23
    codes: Tensor  # class codes, on the device

    def __init__(self, X: Tensor, P: Array, terms: PairTerms, *args: Any, **kwargs: Any) -> None:
        self.wide = _tensors.wide(X)
        self.least_side = _LEAST_SIDES.get(X.device.type, self.least_side)
        self.P = P
        super().__init__(X, P, terms, *args, **kwargs)

    def _array(self, a: Array) -> Tensor:
        # (A copy, since torch takes no negative strides, and numpy calls an array of one row
        # contiguous whatever its stride.)
        return torch.tensor(a.copy(), dtype=self.X.dtype, device=self.X.device)

    def _indices(self, pairs: Array) -> tuple[Tensor, Tensor]:
        i, j = torch.tensor(np.ascontiguousarray(pairs.T, dtype=np.int64), device=self.X.device)
        return i, j

    def _zeros(self, *shape: int) -> Tensor:
        return torch.zeros(shape, dtype=self.wide, device=self.X.device)

    def _widened(self, a: Tensor) -> Tensor:
        return a.to(self.wide)

    def _scratch(self, side: int) -> None:
        return None  # torch caches the memory of its tensors

    def _views(self, scratch: None, shape: tuple[int, int]) -> Sequence[None]:
        return [None] * 4

    def _same_class(self, rows: slice, columns: slice, out: Tensor | None) -> Tensor:
        return (self.codes[rows, None] == self.codes[columns]).to(self.X.dtype)

    def _unlabeled_tile(self, rows: slice, columns: slice, *room: Any) -> tuple[Tensor, Tensor]:
        if self.terms.q is None and _has_triton(self.X):
            from . import _triton

            return _triton.negative_entropy(self.Z, rows, columns, self.terms.eta)
        return super()._unlabeled_tile(rows, columns, *room)

    def fused(self, few: bool) -> Sums:
        """Sums over the unlabeled pairs, and the labeled ones unless few, by the fused kernel."""
        from ._triton import sweep_regions

        codes = self.codes[:0] if few else self.codes
        if self.wrt != "metric":
            return sweep_regions(self, codes, self.Y)
        # Half of X' W X, as in `Pass.sweep`, some columns at a time.
        half = self._zeros(*[self.X.shape[1]] * 2)
        for columns in chunks(self.X.shape[1], max(_METRIC_WIDTH, self.Z.shape[1])):
            value, degree, product = sweep_regions(self, codes, self.X[:, columns])
            for rows in chunks(len(self.X), _WIDENED_ROWS):
                half[:, columns] += 0.5 * self._widened(self.X[rows]).T @ product[rows]
        return value, degree, half

    def of_lists(self) -> tuple[Any, Tensor]:
        """Return value and gradient of the marked pairs and of a plan's list."""
        if self.X.device.type in _LISTS_BY_NUMPY:
            value, found = NumpySweep(self.X.numpy()).of_lists(self.P, self.terms, self.wrt)
            return value, torch.as_tensor(found, device=self.X.device)
        return super().of_lists()
