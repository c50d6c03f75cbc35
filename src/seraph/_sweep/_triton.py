"""The fused sweep on a CUDA device: tiles stay in registers and shared memory.

As in FlashAttention, each program holds a block of rows, streams all columns past it, and keeps
the sums of its rows: the terms, the degrees ``W 1`` and the product ``W Y``. The
formulas are in `_formulas`, the kernels in `_kernels`.

Tensor cores multiply float16, with 11 significant bits. So every operand is split into
``high + low``, two float16 with 22 bits together, almost the 24 of a float32. Of the four products
of two such sums, ``low * low`` is below the rounding errors of the others and left out: three
products on tensor cores are several times faster than one in float32.
"""

from __future__ import annotations

import os

import numpy as np
import torch
import triton
import triton.language as tl
from torch import Tensor
from torch.nn import functional

from .._utils._typing import Array
from ._formulas import NumpyArithmetic
from ._kernels import (
    DISSIMILAR,
    ENTROPY,
    FROZEN,
    LABELED,
    LOG2E,
    SCALE_STRIDE,
    SPLIT_ROWS,
    Form,
    Operand,
    Region,
    Room,
    collect_kernel,
    entropy_kernel,
    split_kernel,
    sweep_kernel,
)
from ._plan import choose_band
from ._tiles import Pass, Sums

# Rows and columns of a tile, warps, and stages of the pipeline, by the width of the operands:
# the fastest of those whose operands fit into the registers and the shared memory
# (`python -m benchmarks.gpu`).
_SHAPES = {16: (128, 64, 4, 3), 32: (128, 64, 4, 3), 64: (128, 64, 4, 2), 128: (64, 32, 4, 2)}
# A multiple of the rows and of the columns of each tile.
_BLOCK = 128
# Smallest width of an operand of tensor cores.
_MIN_WIDTH = 16
# Rows and columns per program of a tile in memory.
_PLAIN_ROWS, _PLAIN_COLUMNS = 16, 256
# Tensor cores round their sums toward zero, so the error grows with the number of terms. After
# this number of columns the partial sum is added to an accumulator that is rounded to nearest.
_SPAN = 512
# Programs that fill a GPU of about 130 multiprocessors, with several on each.
_PROGRAMS = 512
# If Y has few columns, each unlabeled pair is computed once (`add_mirrored`). The sums of the
# columns then go through global memory, in stripes of rows that need this share of it (or this
# number of bytes, without a GPU). A launch has about this number of programs, whose times are
# unequal.
_MIRRORED_SHARE, _MIRRORED_BYTES, _MIRRORED_PROGRAMS = 1 / 32, 1 << 28, 8192
# Squared norm of the rows that pad the last block: so far from all others that their terms and
# weights are 0, so that the kernel needs no masks.
_PADDING_SQUARE = 1e4
# Value of a constant that a kernel does not use.
_ANY = tl.constexpr(None)
_INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"


def negative_entropy(Z: Tensor, rows: slice, columns: slice, eta: float) -> tuple[Tensor, Tensor]:
    """Value and weights of a tile in memory, in one pass over the products of its points."""
    left, right = Z[rows], Z[columns]
    tile = torch.mm(left, right.T)
    grid = (
        triton.cdiv(tile.shape[0], _PLAIN_ROWS),
        triton.cdiv(tile.shape[1], _PLAIN_COLUMNS),
    )
    values = torch.empty(grid, dtype=tile.dtype, device=tile.device)
    # (A tensor, because Triton passes a Python float as float32.)
    threshold = torch.full((1,), eta, dtype=tile.dtype, device=tile.device)
    entropy_kernel[grid](
        tile,
        _square_norms(left),
        _square_norms(right),
        values,
        *tile.shape,
        threshold,
        DIAGONAL=rows == columns,
        ROWS=_PLAIN_ROWS,
        COLUMNS=_PLAIN_COLUMNS,
        num_warps=4,
    )
    return values.sum(dtype=torch.float64), tile


def _square_norms(Z: Tensor) -> Tensor:
    return torch.einsum("ir,ir->i", Z, Z)


def sweep_regions(sums: Pass, codes: Tensor, Y: Tensor) -> Sums:
    """Sum over the unlabeled pairs, and over class-labeled pairs if given their codes.

    Parameters
    ----------
    sums : Pass
        The pass: points, terms and the variable.
    codes : Tensor of int32 of shape (k,) or (0,)
        Class codes of the first k rows, or none.
    Y : Tensor of shape (n, at most 128)
        The right factor of the product.

    Returns
    -------
    value, degrees, product
        Sums over the pairs; the product is ``W Y``.
    """
    regions = _Regions(sums, codes, Y)
    k, n, terms = len(sums.terms.codes), len(sums.X), sums.terms
    if terms.tiles_unlabeled:
        kind = ENTROPY
        if terms.q is not None:
            kind = DISSIMILAR if sums.frozen is None else FROZEN
        # Each program keeps the sums of its own rows alone, and so the kernel meets each pair
        # from either side. L x L is labeled; L x U and U x (L and U) make up the rest.
        if terms.plan.share < 1.0:
            regions.add_sample(kind, terms.mu, terms.plan.share)
        elif k < n and regions.folded:
            regions.add_mirrored(kind, terms.mu)
        elif k < n:
            if k:
                regions.add(kind, terms.mu, (0, k), (k, n))
            regions.add(kind, terms.mu, (k, n), (0, n))
    # Last, so that the device has work while the host prepares this.
    if len(codes) > 1:
        regions.add_square(LABELED, 1.0, (0, k), terms.plan.labeled_share)
    return regions.value, regions.degree, regions.product


def _evaluate_at_zero(kind: tl.constexpr, sums: Pass) -> tuple[float, float]:
    """Term and weight of a pair at distance zero, as a point is from itself."""
    t, arithmetic = np.array([[-sums.terms.eta]]), NumpyArithmetic()
    if kind == ENTROPY:
        value, weight = arithmetic.negative_entropy(t)
    else:
        q: Array | float = 1.0 if kind == LABELED else 0.0
        if kind == FROZEN:
            q = arithmetic.e_step(t, sums.terms.mu)
        value, weight = arithmetic.cross_entropy(t, q)
    return value, float(weight[0, 0])


class _Regions:
    """The operands of the kernel, split and padded, and the sums over regions of pairs.

    Class-labeled rows and the others are padded to whole blocks each, so that a region of
    either starts at a block.
    """

    def __init__(self, sums: Pass, codes: Tensor, Y: Tensor) -> None:
        self.sums, self.width, X = sums, Y.shape[1], sums.X
        k, n = len(sums.terms.codes), len(X)
        self.value, self.degree, self.product = (
            torch.zeros(shape, dtype=sums.wide, device=X.device) for shape in ((), n, Y.shape)
        )
        old = sums.now if sums.frozen is None else sums.frozen
        self.R, self.C = _pad_widths(max(sums.Z.shape[1], old.Z.shape[1]), self.width)
        self.shape = _SHAPES[max(self.R, self.C)]
        self.block = block = max(self.shape[:2])
        offset = -(-k // block) * block
        self.length = offset + -(-(n - k) // block) * block
        self.k, self.offset = k, offset
        # The scales stay on the device: reading them would synchronize it with the host.
        self.scales = X.new_empty((3, SCALE_STRIDE.value))
        self.folded = self.C == _MIN_WIDTH
        same = Y is sums.Z and self.C == self.R
        self.now = self._split(sums.Z, self.R, 0, folded=same and self.folded)
        self.old = self.now if sums.frozen is None else self._split(old.Z, self.R, 1)
        self.y_scale = self.scales[0 if same else 2]
        self.y = self.now if same else self._split(Y, self.C, 2, folded=self.folded)
        self.codes = functional.pad(codes, (0, offset - k), value=-1)

    def _split(self, a: Tensor, width: int, number: int, *, folded: bool = False) -> Operand:
        """Split rows into two of float16, times a scale, and pad them.

        Parameters
        ----------
        a : Tensor of shape (n, at most `width`)
            The rows.
        width : int
            Width after padding.
        number : int
            Number of the scale in `scales`.
        folded : bool, default=False
            Whether the parts are needed side by side, too.
        """
        largest = torch.linalg.vector_norm(a, torch.inf) if a.numel() else a.new_zeros(())
        high, low = a.new_empty((2, self.length, width), dtype=torch.float16)
        both = a.new_empty((self.length, 2 * width), dtype=torch.float16) if folded else high
        operand = Operand(high, low, a.new_empty(self.length), both)
        split_kernel[(self.length // SPLIT_ROWS.value,)](
            a,
            largest,
            operand,
            self.scales[number],
            self.k,
            self.offset,
            *a.shape,
            a.stride(0),
            _PADDING_SQUARE,
            FOLDED=folded,
            W=width,
            num_warps=4,
        )
        return operand

    def add_sample(self, kind: tl.constexpr, mu: float, share: float) -> None:
        """Add an estimate of the sums over all unlabeled pairs from a share of them.

        Rows without labels are in random order: some of them stand for all where they meet the
        labeled rows, and a band of tiles stands for all where they meet each other.
        """
        k, n = self.k, len(self.sums.X)
        # The kernel takes whole blocks of columns; the same pairs whatever the width of Y.
        some = min(n, k + -(-round(share * (n - k)) // _BLOCK) * _BLOCK)
        if k and k < n:
            weight = mu * (n - k) / (some - k)
            self.add(kind, weight, (0, k), (k, some))
            self.add(kind, weight, (k, some), (0, k))
        if n - k > 1:
            self.add_square(kind, mu, (k, n), share)

    def add_square(
        self, kind: tl.constexpr, scale: float, rows: tuple[int, int], share: float
    ) -> None:
        """Add the sums over the pairs of some rows, or an estimate from a share of them."""
        if share == 1.0:
            self.add(kind, scale, rows, rows)
        else:
            reach, weight = choose_band(rows[1] - rows[0], _SPAN, share)
            self.add(kind, scale * weight, rows, rows, reach=reach)

    def add(
        self,
        kind: tl.constexpr,
        scale: float,
        rows: tuple[int, int],
        columns: tuple[int, int],
        reach: int | None = None,
    ) -> None:
        """Add the sums over a region, times a scale.

        Parameters
        ----------
        kind : constexpr
            Kind of the terms.
        scale : float
            Weight of the terms.
        rows, columns : tuple of two ints
            Where they start and stop.
        reach : int, optional
            Number of spans to either side that rows meet, in a square region; None for all.
        """
        sums, (n_rows, n_columns, *_) = self.sums, self.shape
        first, last = self._find_places(*rows)
        left, right = self._find_places(*columns)
        right = -(-right // n_columns) * n_columns  # the kernel takes whole tiles anyway
        n_blocks = -(-(last - first) // n_rows)
        # Few blocks of rows would leave most of the GPU idle: several programs share each.
        n_shares, columns_each = _share_columns(
            right - left, n_blocks, _PROGRAMS if reach is None else n_blocks
        )
        n_out = n_blocks * n_rows
        room = self._allocate(n_shares, n_out)
        region = Region(first, left, right, columns_each, n_out, 0)
        self._launch(kind, (n_blocks, n_shares), room, region, reach=reach)
        # The kernel meets every pair twice, from either side.
        self.value += 0.5 * scale * room.value[:, : last - first].sum(dtype=sums.wide)
        self._collect(scale, room, (first, last))
        if columns[0] <= rows[0] and rows[1] <= columns[1]:
            self._subtract_own(kind, scale, rows)

    def add_mirrored(self, kind: tl.constexpr, scale: float) -> None:
        """Add the sums over all unlabeled pairs, each computed once.

        Some blocks of rows at a time meet the columns from their own on. Their sums for these
        columns go through memory, and are added up in the order of the blocks.
        """
        sums, n_rows = self.sums, self.shape[0]
        left, length = self.offset, self.length
        n_mirrored, n_blocks = length - left, length // n_rows
        n_bytes = _MIRRORED_BYTES
        if sums.X.is_cuda:
            whole = torch.cuda.get_device_properties(sums.X.device).total_memory
            n_bytes = int(_MIRRORED_SHARE * whole)
        each = max(1, min(n_blocks, n_bytes // (4 * n_mirrored * (self.C + 1))))
        mirrored = self._allocate(each, n_mirrored)
        for block in range(0, n_blocks, each):
            first, some = block * n_rows, min(each, n_blocks - block)
            start = max(left, first)
            n_shares, columns_each = _share_columns(length - start, some, _MIRRORED_PROGRAMS)
            room = self._allocate(n_shares, some * n_rows)
            region = Region(first, start, length, columns_each, some * n_rows, length - start)
            self._launch(kind, (some, n_shares), room, region, mirrored)
            self.value += 0.5 * scale * room.value.sum(dtype=sums.wide)
            blocks = some, start, length - start
            self._collect(scale, room, (first, length), mirrored, blocks)
        self._subtract_own(kind, scale, (self.k, len(sums.X)))

    def _subtract_own(self, kind: tl.constexpr, scale: float, rows: tuple[int, int]) -> None:
        """Subtract the pairs of rows with themselves, which the kernel has included.

        In the gradient their weights cancel, because degrees and product both include them; they
        are subtracted from the value, and from degrees without a product.
        """
        term, weight = _evaluate_at_zero(kind, self.sums)
        self.value -= 0.5 * scale * term * (rows[1] - rows[0])
        if not self.width:
            self.degree[slice(*rows)] -= scale * weight

    def _collect(
        self,
        scale: float,
        room: Room,
        places: tuple[int, int],
        mirrored: Room | None = None,
        blocks: tuple[int, int, int] = (0, 0, 0),
    ) -> None:
        """Add the sums that the kernel has stored for the rows at some places.

        For mirrored sums, `blocks` are the number of blocks of rows, the first column, and the
        number of columns.
        """
        high, (first, last) = float(np.float32(scale)), places
        _, n_columns, *_ = self.shape
        n_tiles = -(-(last - first) // n_columns)
        n_shares, n_out = room.degrees.shape
        n_blocks, column_start, n_mirrored = blocks
        collect_kernel[(n_tiles,)](
            room,
            room if mirrored is None else mirrored,
            Room(self.value, self.degree, self.product),
            self.y_scale,
            (high, scale - high),
            (first, n_out, column_start, n_mirrored, self.offset),
            n_shares,
            n_blocks,
            self.k,
            *self.product.shape,
            # The same kernel for any kind of terms and any width of Z.
            self._make_form(ENTROPY, mirrored=mirrored is not None)._replace(R=_ANY),
            num_warps=4,
        )

    def _allocate(self, *shape: int) -> Room:
        """Allocate values, degrees and products."""
        return Room(
            *(
                torch.empty((*shape, *more), dtype=torch.float32, device=self.sums.X.device)
                for more in ((), (), (self.C,))
            )
        )

    def _launch(
        self,
        kind: tl.constexpr,
        grid: tuple[int, int],
        room: Room,
        region: Region,
        mirrored: Room | None = None,
        *,
        reach: int | None = None,
    ) -> None:
        """Run the kernel on a region."""
        terms, (_, _, warps, stages) = self.sums.terms, self.shape
        sweep_kernel[grid](
            self.now,
            self.y,
            self.old,
            self.codes,
            room,
            room if mirrored is None else mirrored,
            region,
            -1 if reach is None else reach,
            self.scales,
            terms.eta,
            (1.0 + terms.mu) * LOG2E.value,
            self._make_form(kind, mirrored=mirrored is not None),
            num_warps=warps,
            num_stages=stages,
        )

    def _make_form(self, kind: tl.constexpr, *, mirrored: bool) -> Form:
        """Make the constants of a kernel."""
        n_rows, n_columns, *_ = self.shape
        flags = self.width > 0, mirrored, self.folded
        sizes = self.R, self.C, n_rows, n_columns, _SPAN
        return Form(kind, *map(tl.constexpr, (*flags, *sizes, _INTERPRETED)))

    def _find_places(self, start: int, stop: int) -> tuple[int, int]:
        """Where the rows from `start` to `stop` are after padding."""
        first, last = (
            row if row < self.k else row - self.k + self.offset for row in (start, stop - 1)
        )
        return first, last + 1


def _share_columns(n_columns: int, n_blocks: int, n_programs: int) -> tuple[int, int]:
    """Share the columns, in whole spans, among the programs of a block of rows.

    Returns
    -------
    n_shares, columns_each : int
        Number of programs for each block, so that all blocks have about `n_programs`; and number
        of columns of each program.
    """
    n_spans = -(-n_columns // _SPAN)
    spans_each = -(-n_spans // min(-(-n_programs // n_blocks), n_spans))
    return -(-n_spans // spans_each), spans_each * _SPAN


def _pad_widths(of_z: int, of_y: int) -> tuple[int, int]:
    """Widths of the operands: few combinations, since each takes a second to compile.

    They are (16, 16), where tiles can be mirrored, (32, 32), (32, 64), (64, 64) and (128, 128);
    without a product, Y has no width of its own.
    """
    widest = max(of_z, of_y)
    if widest <= _MIN_WIDTH:
        return _MIN_WIDTH, _MIN_WIDTH
    R = int(triton.next_power_of_2(max(of_z, 2 * _MIN_WIDTH)))
    return R, int(triton.next_power_of_2(max(R, of_y)))
