"""The fused sweep on a CUDA device: tiles never leave the chip.

In the manner of FlashAttention, each program holds a block of rows, streams all columns past
it, and keeps the sums of its rows: the terms, the degrees and the product ``W Y``. Matrix
units multiply 16-bit numbers, so every operand is the sum of two float16, ``high + low``, 22
bits together, and of the four products the three large ones are taken.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import torch
import triton
import triton.language as tl
from torch import Tensor

if TYPE_CHECKING:
    from ._torch import _Pass

# Rows and columns of a tile, warps, stages of the pipeline, by the width of the operands.
_SHAPES = {16: (128, 64, 4, 3), 32: (128, 64, 4, 3), 64: (128, 64, 4, 2), 128: (64, 32, 4, 2)}
# Rows and columns that a program takes of a tile that lies in memory.
_PLAIN = (16, 256)
# Columns after which the sums of the matrix units, which round towards zero, are put by.
_SPAN = 512
# Weights are at most 1; multiplied by this, their low parts are far from what float16 cannot
# tell from 0. Coordinates are made as large as the second.
_WEIGHT = tl.constexpr(16384.0)
_LARGEST = 256.0
# Squared length that is given to rows which only fill the last block up: they are far away.
_FAR = 1e4
_LOG2E = tl.constexpr(1.4426950408889634)
_LN2 = tl.constexpr(0.6931471805599453)
_ENTROPY, _DISSIMILAR, _FROZEN, _LABELED = range(4)
_INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"


@triton.jit
def _inverse(x, EXACT: tl.constexpr):
    if EXACT:
        return 1.0 / x
    return tl.inline_asm_elementwise(
        "rcp.approx.ftz.f32 $0, $1;", "=f,f", [x], dtype=tl.float32, is_pure=True, pack=1
    )


@triton.jit
def _times(a, b):
    return a * b


@triton.jit
def _log_of_product(factors, EXACT: tl.constexpr):
    """Sum over a row of the logarithms of up to 64 numbers in (1, 2], by one logarithm."""
    if EXACT:  # reductions by a function of one's own take minutes in the interpreter
        return tl.sum(tl.log2(factors), 1) * _LN2
    return tl.log2(tl.reduce(factors, 1, _times)) * _LN2


@triton.jit
def _margin(high_rows, low_rows, high, low, rows2, columns2, factor):
    """``||z_i - z_j||^2`` of a tile, from split coordinates and squared lengths."""
    right_high, right_low = tl.trans(high), tl.trans(low)
    inner = tl.dot(high_rows, right_high)
    inner = tl.dot(high_rows, right_low, inner)
    inner = tl.dot(low_rows, right_high, inner)
    return inner * factor + (rows2[:, None] + columns2[None, :])


@triton.jit
def _kernel(
    z_high,
    z_low,
    squares,
    y_high,
    y_low,
    old_high,
    old_low,
    old_squares,
    codes,
    values,
    degrees,
    products,
    row_start,
    column_start,
    column_stop,
    eta,
    factor,
    old_factor,
    slope,
    KIND: tl.constexpr,
    WITH_PRODUCT: tl.constexpr,
    R: tl.constexpr,
    C: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
    SPAN: tl.constexpr,
    EXACT: tl.constexpr,
):
    rows = row_start + tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    across, deep = tl.arange(0, R), tl.arange(0, C)
    here = rows[:, None].to(tl.int64) * R + across[None, :]
    high_rows, low_rows = tl.load(z_high + here), tl.load(z_low + here)
    rows2 = tl.load(squares + rows) - eta
    if KIND == 2:
        old_high_rows, old_low_rows = tl.load(old_high + here), tl.load(old_low + here)
        old_rows2 = tl.load(old_squares + rows) - eta
    if KIND == 3:
        row_codes = tl.load(codes + rows)
    value = tl.zeros([ROWS], dtype=tl.float32)
    degree = tl.zeros([ROWS], dtype=tl.float32)
    product = tl.zeros([ROWS, C], dtype=tl.float32)
    for outer in range(column_start, column_stop, SPAN):
        part_value = tl.zeros([ROWS], dtype=tl.float32)
        part_degree = tl.zeros([ROWS], dtype=tl.float32)
        part = tl.zeros([ROWS, C], dtype=tl.float32)
        for start in range(outer, tl.minimum(outer + SPAN, column_stop), COLUMNS):
            columns = start + tl.arange(0, COLUMNS)
            there = columns[:, None].to(tl.int64) * R + across[None, :]
            t = _margin(
                high_rows,
                low_rows,
                tl.load(z_high + there),
                tl.load(z_low + there),
                rows2,
                tl.load(squares + columns),
                factor,
            )
            t = tl.maximum(t, -eta)
            size = tl.abs(t)
            e = tl.exp2(size * -_LOG2E)
            one_plus = 1.0 + e
            inverse = _inverse(one_plus, EXACT)
            logarithm = _log_of_product(one_plus, EXACT)
            if KIND == 0:
                share = e * inverse
                weight = share * inverse * t
                part_value -= logarithm + tl.sum(size * share, 1)
            else:
                p = tl.where(t > 0.0, e, 1.0) * inverse
                if KIND == 1:
                    weight = p
                    part_value += tl.sum(tl.minimum(t, 0.0), 1) - logarithm
                else:
                    if KIND == 2:
                        old = _margin(
                            old_high_rows,
                            old_low_rows,
                            tl.load(old_high + there),
                            tl.load(old_low + there),
                            old_rows2,
                            tl.load(old_squares + columns),
                            old_factor,
                        )
                        old = tl.maximum(old, -eta)
                        q = _inverse(1.0 + tl.exp2(tl.minimum(old * slope, 126.0)), EXACT)
                    else:
                        same = row_codes[:, None] == tl.load(codes + columns)[None, :]
                        q = tl.where(same, 1.0, 0.0)
                    weight = p - q
                    part_value += tl.sum(tl.minimum(t, 0.0) - q * t, 1) - logarithm
            part_degree += tl.sum(weight, 1)
            if WITH_PRODUCT:
                wide = columns[:, None].to(tl.int64) * C + deep[None, :]
                y1, y2 = tl.load(y_high + wide), tl.load(y_low + wide)
                weight *= _WEIGHT
                w1 = weight.to(tl.float16)
                w2 = (weight - w1.to(tl.float32)).to(tl.float16)
                part = tl.dot(w1, y1, part)
                part = tl.dot(w2, y1, part)
                part = tl.dot(w1, y2, part)
        value += part_value
        degree += part_degree
        product += part
    tl.store(values + rows, value)
    tl.store(degrees + rows, degree)
    if WITH_PRODUCT:
        out = rows[:, None].to(tl.int64) * C + deep[None, :]
        tl.store(products + out, product)


@triton.jit
def _entropy_kernel(
    tile,
    squares_rows,
    squares_columns,
    values,
    n_rows,
    n_columns,
    eta,
    DIAGONAL: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
):
    i = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    j = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    inside = (i[:, None] < n_rows) & (j[None, :] < n_columns)
    rows2 = tl.load(squares_rows + i, mask=i < n_rows)
    columns2 = tl.load(squares_columns + j, mask=j < n_columns)
    place = tile + i[:, None].to(tl.int64) * n_columns + j[None, :]
    inner = tl.load(place, mask=inside)
    t = tl.maximum(rows2[:, None] + columns2[None, :] - 2.0 * inner, 0.0) - tl.load(eta)
    if DIAGONAL:
        inside = inside & (i[:, None] != j[None, :])
    size = tl.abs(t)
    e = tl.exp(-size)
    share = e / (1.0 + e)
    term = tl.where(inside, tl.log(1.0 + e) + size * share, 0.0)
    weight = tl.where(inside, share / (1.0 + e) * t, 0.0)
    tl.store(place, weight, mask=(i[:, None] < n_rows) & (j[None, :] < n_columns))
    number = tl.program_id(0) * tl.num_programs(1) + tl.program_id(1)
    tl.store(values + number, -tl.sum(tl.sum(term, 1), 0))


def negative_entropy(
    Z: Tensor, squares: Tensor, rows: slice, columns: slice, eta: float
) -> tuple[Tensor, Tensor]:
    """Value and weights of a tile, in one pass over the products of its points."""
    tile = torch.mm(Z[rows], Z[columns].T)
    grid = (triton.cdiv(tile.shape[0], _PLAIN[0]), triton.cdiv(tile.shape[1], _PLAIN[1]))
    values = torch.empty(grid, dtype=tile.dtype, device=tile.device)
    # (A scalar argument of a kernel is a float32.)
    threshold = torch.full((1,), eta, dtype=tile.dtype, device=tile.device)
    _entropy_kernel[grid](
        tile,
        squares[rows],
        squares[columns],
        values,
        *tile.shape,
        threshold,
        DIAGONAL=rows == columns,
        ROWS=_PLAIN[0],
        COLUMNS=_PLAIN[1],
        num_warps=4,
    )
    return values.sum(dtype=torch.float64), tile


def sweep_regions(sums: _Pass) -> None:
    """Add up the labelled pairs of the first rows, and all the unlabelled ones."""
    operands = _Operands(sums)
    k, n, mu = len(sums.codes), len(sums.X), sums.terms.mu
    at_zero = sums.at_zero
    if k > 1:
        operands.add(_LABELED, 1.0, 0, k, 0, k, at_zero["labeled"])
    if sums.all_unlabeled:
        kind = _ENTROPY
        if sums.terms.q is not None:
            kind = _DISSIMILAR if sums.frozen is None else _FROZEN
        if 0 < k < n:
            operands.add(kind, mu, 0, k, k, n)
        operands.add(kind, mu, k, n, 0, n, at_zero["unlabeled"])


class _Operands:
    """What the kernel reads, split and padded, and the sums it adds to.

    Labelled rows and the others are padded apart, so that a region of either starts at a
    block.
    """

    def __init__(self, sums: _Pass) -> None:
        self.sums = sums
        k, n = len(sums.codes), len(sums.X)
        width = max(16, triton.next_power_of_2(sums.Z.shape[1]))
        depth = max(16, triton.next_power_of_2(sums.Y.shape[1]))
        self.R, self.C = width, depth
        if sums.frozen is not None:
            self.R = max(width, triton.next_power_of_2(sums.frozen.Z.shape[1]))
        self.shape = _SHAPES[max(self.R, depth)]
        block = max(self.shape[:2])
        self.offset = -(-k // block) * block
        self.length = self.offset + -(-(n - k) // block) * block
        self.place = torch.arange(n, device=sums.X.device)
        self.place[k:] += self.offset - k
        self.high, self.low, scale = self._split(sums.Z, self.R)
        self.factor = -2.0 / scale**2
        self.squares = self._padded(sums.now.squares, _FAR)
        self.y_high, self.y_low, y_scale = self._split(sums.Y, depth)
        self.y_factor = 1.0 / (y_scale * _WEIGHT.value)
        self.old = (self.high, self.low, self.squares, self.factor)
        if sums.frozen is not None:
            high, low, scale = self._split(sums.frozen.Z, self.R)
            self.old = (high, low, self._padded(sums.frozen.squares, _FAR), -2.0 / scale**2)
        self.codes = self._padded(sums.codes, -1)

    def _padded(self, a: Tensor, filling: float, width: int | None = None) -> Tensor:
        """Rows in their places; codes, which only the first ones have, stay in front."""
        shape = (self.length,) if width is None else (self.length, width)
        out = torch.full(shape, filling, dtype=a.dtype, device=a.device)
        rows = self.place[: len(a)]
        if width is None:
            out[rows] = a
        else:
            out[rows, : a.shape[1]] = a
        return out

    def _split(self, a: Tensor, width: int) -> tuple[Tensor, Tensor, float]:
        """A matrix times a scale as the sum of two of float16, and the scale."""
        largest = float(a.abs().max()) if a.numel() else 0.0
        scale = _LARGEST / largest if largest > 0.0 else 1.0
        wide = self._padded(a * scale, 0.0, width)
        high = wide.half()
        return high, (wide - high.float()).half(), scale

    def add(
        self,
        kind: int,
        weight: float,
        row_start: int,
        row_stop: int,
        column_start: int,
        column_stop: int,
        at_zero: tuple[float, float] | None = None,
    ) -> None:
        """Add the sums over a region of rows and columns, and take its diagonal off."""
        if row_stop <= row_start:
            return
        sums, (rows, columns, warps, stages) = self.sums, self.shape
        values = torch.empty(self.length, dtype=torch.float32, device=sums.X.device)
        degrees = torch.empty_like(values)
        products = torch.empty((self.length, self.C), dtype=torch.float32, device=values.device)
        first = int(self.place[row_start])
        last = int(self.place[row_stop - 1]) + 1
        _kernel[(-(-(last - first) // rows),)](
            self.high,
            self.low,
            self.squares,
            self.y_high,
            self.y_low,
            *self.old[:3],
            self.codes,
            values,
            degrees,
            products,
            first,
            int(self.place[column_start]),
            int(self.place[column_stop - 1]) + 1,
            sums.terms.eta,
            self.factor,
            self.old[3],
            (1.0 + sums.terms.mu) * 1.4426950408889634,
            KIND=kind,
            WITH_PRODUCT=sums.Y.shape[1] > 0,
            R=self.R,
            C=self.C,
            ROWS=rows,
            COLUMNS=columns,
            SPAN=_SPAN,
            EXACT=_INTERPRETED,
            num_warps=warps,
            num_stages=stages,
        )
        here, there = slice(row_start, row_stop), slice(first, last)
        # Every pair is met twice, from either end.
        sums.value += 0.5 * weight * values[there].to(sums.wide).sum()
        sums.degree[here] += weight * degrees[there]
        if sums.Y.shape[1]:
            sums.product[here] += weight * self.y_factor * products[there, : sums.Y.shape[1]]
        if at_zero is not None:
            # A point was paired with itself, at distance zero: the weight of that pair is in the
            # degree and must stay in the product, too, where it does not matter.
            n_rows = row_stop - row_start
            sums.value -= 0.5 * weight * at_zero[0] * n_rows
            if not sums.Y.shape[1]:
                sums.degree[here] -= weight * at_zero[1]
