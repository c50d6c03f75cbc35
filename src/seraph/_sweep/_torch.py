"""Sweeps with PyTorch, on a GPU or any other of its devices.

On a CUDA device and in float32, a fused Triton kernel streams the unlabeled pairs, which are
many, through on-chip memory. All other tiles are plain tensors, as large as memory allows.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from functools import reduce
from importlib.util import find_spec
from typing import Any

import numpy as np
import torch
from torch import Tensor

from .._utils._threads import SharedSetting
from .._utils._typing import Array
from ._cuda_graphs import Recorder
from ._formulas import Arithmetic
from ._moments import Moments, merge_moments
from ._numpy import NumpySweep
from ._plan import Strip
from ._terms import ROUNDING, PairTerms, Sweep, Variable
from ._tiles import Pass, Sums, count_rows, cut_range

# Side of a tile by device. About five tiles are alive at once, each of 256 MB on a GPU.
_SIDES = {"cuda": 8192, "mps": 4096}
_SIDE = 512
# Smaller tiles leave most of a GPU idle.
_LEAST_SIDES = {"cuda": 2048, "mps": 1024}
# Tiles are not halved below this side when memory runs out: a sweep would be too slow.
_SMALLEST_SIDE = 256
# Largest rank for the fused kernel: wider operands do not fit in shared memory (`_SHAPES` in
# `_triton`).
_KERNEL_WIDTH = 128
# Up to this number of class-labeled rows, their pairs are summed in plain tiles, in less than half
# a millisecond; a kernel for them takes seconds to compile (`python -m benchmarks.gpu`).
_FEW_LABELED = 4096
# Columns of X for each launch of the kernel, by the metric.
_METRIC_WIDTH = 64
# Rows, or numbers, to convert to double precision at a time: this bounds the memory of the copies.
_WIDENED_ROWS, _WIDENED_NUMBERS = 1 << 17, 1 << 25
# Multiple of the ranks of recorded sweeps.
_RECORDED_RANKS = 16
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
        self.arithmetic = TorchArithmetic(self.X)
        # On the CPU, numpy sums over lists of pairs faster, and in much less memory.
        self.gathers_lists = self.X.device.type != "cpu"
        self.recorder = Recorder() if self.X.is_cuda else None

    @property
    def shape(self) -> tuple[int, int]:
        """Number of points and of their features."""
        n, m = self.X.shape
        return n, m

    def scatter(self) -> Array | None:
        """Compute ``X'X`` in double precision, on a GPU that has it."""
        return _compute_scatter(self.X) if self.X.device.type == "cuda" else None

    def __call__(self, P: Array, terms: PairTerms, wrt: Variable) -> tuple[float, Array]:
        """Sum the pair terms, and differentiate the sum: see `Sweep`."""
        self.n_sweeps += 1
        here = torch.cuda.device_of(self.X)  # type: ignore[no-untyped-call]
        with torch.inference_mode(), _full_precision, here:
            if self.recorder is None or not self._can_record(P, terms):
                found = self._sum(P, terms, wrt)
            else:
                # (Rows of zeros change nothing, and leave few shapes to record.)
                factor = np.pad(P, ((0, -len(P) % _RECORDED_RANKS), (0, 0)))
                found = self.recorder(self._sum, self.arithmetic.array(factor), terms, wrt)
            # One copy to the host, since it waits for each.
            both: Array = found.cpu().numpy().astype(np.float64)
        value, gradient = float(both[0]), both[1:]
        if wrt == "threshold":
            return value, gradient.reshape(())
        rows = len(P) if wrt == "factor" else self.shape[1]
        return value, gradient.reshape(-1, self.shape[1])[:rows]

    def _can_record(self, P: Array, terms: PairTerms) -> bool:
        """Whether a sweep is so short that its launches take most of its time."""
        is_short = terms.plan.share < 1.0 and terms.q is None and not terms.lists()
        return is_short and fits_kernel(self.X, P, terms)

    def _sum(self, P: Array | Tensor, terms: PairTerms, wrt: Variable) -> Tensor:
        """Return the sum and its derivative, one after the other, on the device."""
        fused, tiled = fits_kernel(self.X, P, terms), terms
        many = len(terms.codes) > _FEW_LABELED
        if fused:  # tiles have the labeled pairs alone
            tiled = replace(terms, mu=0.0, codes=terms.codes[: 0 if many else None])
        n_tiled = count_rows(self._cut(tiled))
        sums = Pass(self.arithmetic, self.X, P, terms, wrt, n_tiled)
        # (The kernel first, so that the device has work while the host prepares the rest.)
        parts = [_sum_fused(sums, labeled=many)] if fused else []
        parts += self._sum_in_tiles(sums, tiled)
        value, gradient = sums.total(parts, self._sum_lists(sums, P))
        value = torch.as_tensor(value, dtype=gradient.dtype, device=gradient.device)
        return torch.cat([value.view(1), gradient.flatten()])

    def _cut(self, terms: PairTerms) -> list[Strip]:
        return terms.tiles(len(self.X), self.tile, self.arithmetic.least_side)

    def _sum_in_tiles(self, sums: Pass, terms: PairTerms) -> list[Sums]:
        """Sum in plain tiles; halve them whenever memory runs out."""
        while True:
            try:
                strips = self._cut(terms)
                return [sums.sum_tiles(strips)] if strips else []
            except torch.OutOfMemoryError:
                if self.tile <= _SMALLEST_SIDE:
                    raise
                self.tile //= 2
                torch.cuda.empty_cache()

    def _sum_lists(self, sums: Pass, P: Any) -> list[tuple[Any, Tensor]]:
        lists = sums.terms.lists()
        if lists and not self.gathers_lists:
            sweep = NumpySweep(self.X.numpy())
            value, gradient = sweep.sum_pairs(P, sums.terms, sums.wrt, lists=lists)
            return [(value, torch.as_tensor(gradient, device=self.X.device))]
        return [sums.sum_list(listed) for listed in lists]


def _to_device(X: Array, device: torch.device) -> Tensor:
    if device.type == "mps":
        X = X.astype(np.float32, copy=False)
    X = np.ascontiguousarray(X)
    if device.type == "cpu" or not X.flags.writeable:
        return torch.tensor(X, device=device)  # a copy: torch warns of read-only memory
    return torch.from_numpy(X).to(device)


def _compute_scatter(X: Tensor) -> Array:
    total = torch.zeros([X.shape[1]] * 2, dtype=torch.float64, device=X.device)
    with torch.inference_mode():
        for rows in cut_range(len(X), _WIDENED_ROWS):
            points = X[rows].double()
            total += points.T @ points
    found: Array = total.cpu().numpy()
    return found


def compute_moments_on(X: Array, device: str) -> Moments:
    """Compute the moments of an array on a device that has double precision."""
    place, few = torch.device(device), []
    with torch.inference_mode():
        for some in cut_range(len(X), max(1, _WIDENED_NUMBERS // X.shape[1])):
            points = _to_device(X[some], place).double()
            size = torch.linalg.vector_norm(points, torch.inf)
            points /= torch.where(size > 0.0, size, 1.0)
            mean = points.mean(dim=0)
            points -= mean
            found = torch.vstack([size.expand_as(mean), mean, points.T @ points]).cpu().numpy()
            few.append(Moments((len(points),), float(found[0, 0]), found[1], found[2:]))
    return reduce(merge_moments, few)


def _has_triton(X: Tensor) -> bool:
    """Whether Triton can compile kernels for the device of `X`."""
    return _TRITON and (X.device.type == "cuda" or os.environ.get("TRITON_INTERPRET") == "1")


def fits_kernel(X: Tensor, P: Array | Tensor, terms: PairTerms) -> bool:
    """Whether the fused kernel can do this sweep."""
    widths = [len(P)]
    if terms.q is not None and terms.q.P is not None:
        widths.append(len(terms.q.P))
    fits = max(widths) <= _KERNEL_WIDTH and terms.plan.rows is None
    return fits and X.dtype == torch.float32 and _has_triton(X)


def _set_full_precision() -> Callable[[], None]:
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("highest")
    return lambda: torch.set_float32_matmul_precision(before)


# Products of float32 matrices are as exact as they can be, whatever the user has set.
_full_precision = SharedSetting(_set_full_precision)


class TorchArithmetic(Arithmetic):
    """The pair terms for tensors of the dtype and on the device of `X`."""

    xp = torch
    gathered_numbers = 1 << 23

    def __init__(self, X: Tensor) -> None:
        self.X = X
        # "mps" does not have double precision.
        self.wide = torch.float32 if X.device.type == "mps" else torch.float64
        self.least_side = _LEAST_SIDES.get(X.device.type, self.least_side)
        self.place = {"device": X.device}
        # Class codes are the same in each sweep of a fit, and a copy of them makes the host wait.
        self._copied: tuple[Array | None, Any] = None, None

    def array(self, a: Array | Tensor) -> Tensor:
        """Copy an array to the device, unless it is there."""
        if isinstance(a, Tensor):
            return a
        # (Of a copy, since torch takes no negative strides, and numpy calls an array of one row
        # contiguous whatever its stride.)
        return torch.tensor(a.copy(), dtype=self.X.dtype, device=self.X.device)

    def codes(self, codes: Array) -> Tensor:
        """Copy class codes to the device, unless the last call had the same."""
        if self._copied[0] is not codes:
            self._copied = codes, super().codes(codes)
        return self._copied[1]

    def equal(self, a: Tensor, b: Tensor, out: Tensor | None) -> Tensor:
        """Return 1 where two tensors of class codes are equal, and 0 elsewhere."""
        return (a == b).to(self.X.dtype)

    def inner(self, a: Tensor, b: Tensor) -> Tensor:
        """Add up the products of the numbers of two tensors."""
        return (a * b).sum(dtype=self.wide)

    def sum_of_logs(self, factors: Tensor) -> Tensor:
        """Add up the logarithms of numbers."""
        return torch.log(factors).sum(dtype=self.wide)

    def entropy_of_tile(self, margins: Any, rows: slice, columns: slice, *work: Any) -> Any:
        """Compute the entropy of a tile; on CUDA, in one pass over the products of its points."""
        if not _has_triton(self.X):
            return super().entropy_of_tile(margins, rows, columns, *work)
        from . import _triton

        return _triton.negative_entropy(margins.Z, rows, columns, margins.eta)


def _sum_fused(sums: Pass, *, labeled: bool) -> Sums:
    """Sum over the unlabeled pairs, and over the class-labeled ones if asked, by the kernel."""
    from ._triton import sweep_regions

    X, arithmetic = sums.X, sums.arithmetic
    codes = sums.codes if labeled else sums.codes[:0]
    if sums.wrt != "metric":
        return sweep_regions(sums, codes, sums.Y)
    # Half of X' W X, as in `Pass.sum_tiles`, some columns at a time.
    half = arithmetic.zeros(*[X.shape[1]] * 2)
    for columns in cut_range(X.shape[1], max(_METRIC_WIDTH, sums.Z.shape[1])):
        value, degree, product = sweep_regions(sums, codes, X[:, columns])
        for rows in cut_range(len(X), _WIDENED_ROWS):
            half[:, columns] += 0.5 * arithmetic.widen(X[rows]).T @ product[rows]
    return value, degree, half
