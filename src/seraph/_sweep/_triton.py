"""The fused sweep on a CUDA device: tiles never leave the chip.

As in FlashAttention, each program holds a block of rows, streams all columns past it, and keeps
the sums of its rows: the terms, the degrees ``W 1`` and the product ``W Y``. The formulas are
those of `_formulas`.

The matrix units are fast for 16-bit numbers only, and a float16 has 11 significant bits. So
every operand is split into ``high + low``, two float16 with 22 bits together, almost the 24 of a
float32. Of the four products of two such sums, ``low * low`` is below the rounding of the others
and left out: three products are still several times faster than one in float32.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import torch
import triton
import triton.language as tl
from torch import Tensor

from .._utils._typing import Array
from . import _formulas
from ._plan import band
from ._tiles import Pass, Sums

# Rows and columns of a tile, warps, and stages of the pipeline, by the width of the operands:
# the fastest of those whose operands fit into the registers and the shared memory.
_SHAPES = {16: (128, 64, 4, 3), 32: (128, 64, 4, 3), 64: (128, 64, 4, 2), 128: (64, 32, 4, 2)}
# A multiple of the rows and of the columns of each tile.
_BLOCK = 128
# The narrowest operand that the matrix units take.
_MIN_WIDTH = 16
# Rows and columns per program of a tile in memory.
_PLAIN_ROWS, _PLAIN_COLUMNS = 16, 256
# The matrix units round their sums toward zero, so the error of a long sum grows with its
# length. After this number of columns the sum is added to one that is rounded to nearest.
_SPAN = 512
# Rows that one program splits.
_SPLIT_ROWS = 64
# Programs that fill a GPU.
_PROGRAMS = 512
# Where Y is narrow, each unlabeled pair is computed once. The sums of the columns then go through
# memory, in stripes of rows that need this share of it (or so many bytes, without a GPU). Each
# launch has about so many programs, since they take unequal times.
_MIRRORED_SHARE, _MIRRORED_BYTES, _MIRRORED_PROGRAMS = 1 / 32, 1 << 28, 8192
# Scales that keep the low parts away from the smallest float16, 6e-8. Weights are at most 1 and
# are multiplied by the first; coordinates are scaled so that the largest is from 128 to 256, by
# exponents (with their bias of 127) that add up to the second. (The largest float16 is 65504.)
_WEIGHT_SCALE = tl.constexpr(16384.0)
_SCALED_EXPONENT = tl.constexpr(7 + 2 * 127)
# Squared length of the rows that pad the last block: so far from all others that their terms
# and weights are 0. That spares the kernel all masks.
_PADDING_SQUARE = 1e4
# exp2 of more than this overflows.
_LARGEST_EXPONENT = tl.constexpr(126.0)
_LOG2E = tl.constexpr(1.4426950408889634)
_LN2 = tl.constexpr(0.6931471805599453)
# What a region of pairs has for terms: the entropy of (7); or (11) with q = 0, with q from the
# frozen metric, or with q from the classes.
_ENTROPY, _DISSIMILAR, _FROZEN, _LABELED = (tl.constexpr(kind) for kind in range(4))
_INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"


@triton.jit
def _inverse(x, EXACT: tl.constexpr):
    """``1 / x``, by the approximation of the hardware, which is good to one unit in 2^23."""
    if EXACT:  # the interpreter runs no assembly
        return 1.0 / x
    return tl.inline_asm_elementwise(
        "rcp.approx.ftz.f32 $0, $1;", "=f,f", [x], dtype=tl.float32, is_pure=True, pack=1
    )


@triton.jit
def _times(a, b):
    return a * b


@triton.jit
def _log_of_product(factors, EXACT: tl.constexpr):
    """Sum of the logarithms of each row: up to 64 numbers in (1, 2], whose product is finite."""
    if EXACT:  # a reduction by a function of ours takes minutes in the interpreter
        return tl.sum(tl.log2(factors), 1) * _LN2
    return tl.log2(tl.reduce(factors, 1, _times)) * _LN2


@triton.jit
def _margin(high_rows, low_rows, high, low, rows2, columns2, factor):
    """Compute the t of a tile from split coordinates and squared lengths, `rows2` less eta.

    Rounding can make a squared distance negative; the terms are as good there.
    """
    right_high, right_low = tl.trans(high), tl.trans(low)
    inner = tl.dot(high_rows, right_high)
    inner = tl.dot(high_rows, right_low, inner)
    inner = tl.dot(low_rows, right_high, inner)
    return inner * factor + (rows2[:, None] + columns2[None, :])


@triton.jit
def _split_kernel(
    a,
    largest,
    high,
    low,
    folded,
    squares,
    scales,
    k,
    offset,
    n,
    width,
    stride,
    padding,
    FOLDED: tl.constexpr,
    W: tl.constexpr,
    ROWS: tl.constexpr,
):
    """Put rows times a scale in their padded places, as sums of two float16.

    The scale is a power of two, from the exponent of the `largest` number. It is stored, too, as
    are the squared lengths of the rows.
    """
    place = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    row = tl.where(place < k, place, place - offset + k)
    inside = (place < k) | ((place >= offset) & (row < n))
    across = tl.arange(0, W)
    where = row[:, None].to(tl.int64) * stride + across[None, :]
    points = tl.load(a + where, mask=inside[:, None] & (across < width)[None, :], other=0.0)
    exponent = _SCALED_EXPONENT - (tl.load(largest).to(tl.int32, bitcast=True) >> 23)
    exponent = tl.where((exponent > 0) & (exponent < 255), exponent, 127)
    scale = (exponent << 23).to(tl.float32, bitcast=True)
    tl.store(scales, scale)
    scaled = points * scale
    upper = scaled.to(tl.float16)
    lower = (scaled - upper.to(tl.float32)).to(tl.float16)
    out = place[:, None].to(tl.int64) * W + across[None, :]
    tl.store(high + out, upper)
    tl.store(low + out, lower)
    if FOLDED:
        tl.store(folded + 2 * out, upper)
        tl.store(folded + 2 * out + 1, lower)
    tl.store(squares + place, tl.where(inside, tl.sum(points * points, 1), padding))


@triton.jit
def _kernel(  # noqa: PLR0912
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
    mirrored_degrees,
    mirrored_products,
    row_start,
    column_start,
    column_stop,
    columns_each,
    reach,
    n_out,
    n_mirrored,
    eta,
    scales,
    slope,
    KIND: tl.constexpr,
    WITH_PRODUCT: tl.constexpr,
    BANDED: tl.constexpr,
    MIRRORED: tl.constexpr,
    FOLDED: tl.constexpr,
    R: tl.constexpr,
    C: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
    SPAN: tl.constexpr,
    EXACT: tl.constexpr,
):
    """Sums of ROWS rows over the columns from `column_start` to `column_stop`.

    Programs of the second axis share the columns, `columns_each` at a time. If BANDED, a program
    takes the span of SPAN columns that its own rows are in, and the `reach` next ones on either
    side, in a circle. If MIRRORED, it leaves out the columns before its own rows, and stores what
    each tile adds to the sums of its columns, for `_collect_kernel` to add up. If FOLDED, `y_high`
    has high and low parts side by side, for one product in place of two. R is the width of Z and
    C that of Y, both padded to powers of 2. Nothing is masked: regions start at multiples of a
    block, and the padding adds nothing.
    """
    first_row = row_start + tl.program_id(0) * ROWS
    rows = first_row + tl.arange(0, ROWS)
    across, deep, both = tl.arange(0, R), tl.arange(0, C), tl.arange(0, 2 * C)
    scale = tl.load(scales)
    factor = -2.0 / (scale * scale)
    # 64 bits, since n * R may be more than 2^31.
    here = rows[:, None].to(tl.int64) * R + across[None, :]
    high_rows, low_rows = tl.load(z_high + here), tl.load(z_low + here)
    rows2 = tl.load(squares + rows) - eta
    if KIND == _FROZEN:
        old_high_rows, old_low_rows = tl.load(old_high + here), tl.load(old_low + here)
        old_rows2 = tl.load(old_squares + rows) - eta
        old_scale = tl.load(scales + 1)
        old_factor = -2.0 / (old_scale * old_scale)
    if KIND == _LABELED:
        row_codes = tl.load(codes + rows)
    value = tl.zeros([ROWS], dtype=tl.float32)
    degree = tl.zeros([ROWS], dtype=tl.float32)
    product = tl.zeros([ROWS, 2 * C if FOLDED else C], dtype=tl.float32)
    if MIRRORED and WITH_PRODUCT:
        own = tl.load(y_high + rows[:, None].to(tl.int64) * (2 * C) + both[None, :])
    lower = column_start + tl.program_id(1) * columns_each
    upper = tl.minimum(lower + columns_each, column_stop)
    if MIRRORED:
        lower = tl.maximum(lower, first_row)
    n_spans = tl.cdiv(upper - lower, SPAN)
    n_all = n_spans
    first_span = 0
    if BANDED:
        first_span = tl.program_id(0) * ROWS // SPAN + n_all - reach
        n_spans = 2 * reach + 1
    for span in range(n_spans):
        outer = lower + span * SPAN
        if BANDED:
            outer = lower + (first_span + span) % n_all * SPAN
        part_value = tl.zeros([ROWS], dtype=tl.float32)
        part_degree = tl.zeros([ROWS], dtype=tl.float32)
        part = tl.zeros([ROWS, 2 * C if FOLDED else C], dtype=tl.float32)
        for start in range(outer, tl.minimum(outer + SPAN, upper), COLUMNS):
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
            size = tl.abs(t)
            e = tl.exp2(size * -_LOG2E)
            one_plus = 1.0 + e
            inverse = _inverse(one_plus, EXACT)
            logarithm = _log_of_product(one_plus, EXACT)
            if KIND == _ENTROPY:
                share = e * inverse
                weight = share * inverse * t
                terms = -logarithm - tl.sum(size * share, 1)
            else:
                p = tl.where(t > 0.0, e, 1.0) * inverse
                if KIND == _DISSIMILAR:
                    weight = p
                    terms = tl.sum(tl.minimum(t, 0.0), 1) - logarithm
                else:
                    if KIND == _FROZEN:
                        old = _margin(
                            old_high_rows,
                            old_low_rows,
                            tl.load(old_high + there),
                            tl.load(old_low + there),
                            old_rows2,
                            tl.load(old_squares + columns),
                            old_factor,
                        )
                        q = _inverse(
                            1.0 + tl.exp2(tl.minimum(old * slope, _LARGEST_EXPONENT)), EXACT
                        )
                    else:
                        same = row_codes[:, None] == tl.load(codes + columns)[None, :]
                        q = tl.where(same, 1.0, 0.0)
                    weight = p - q
                    terms = tl.sum(tl.minimum(t, 0.0) - q * t, 1) - logarithm
            if MIRRORED:
                # Tiles beyond the own rows have each pair once, and count for both ends.
                terms *= tl.where(start >= first_row + ROWS, 2.0, 1.0)
                beyond = tl.program_id(0) * n_mirrored + columns - column_start
                tl.store(mirrored_degrees + beyond, tl.sum(weight, 0))
            part_value += terms
            part_degree += tl.sum(weight, 1)
            if WITH_PRODUCT:
                weight *= _WEIGHT_SCALE
                w1 = weight.to(tl.float16)
                w2 = (weight - w1.to(tl.float32)).to(tl.float16)
                if FOLDED:
                    y = tl.load(y_high + columns[:, None].to(tl.int64) * (2 * C) + both[None, :])
                    part = tl.dot(w1, y, part)
                    part = tl.dot(w2, y, part)
                else:
                    wide = columns[:, None].to(tl.int64) * C + deep[None, :]
                    y1, y2 = tl.load(y_high + wide), tl.load(y_low + wide)
                    part = tl.dot(w1, y1, part)
                    part = tl.dot(w2, y1, part)
                    part = tl.dot(w1, y2, part)
                if MIRRORED:
                    back = tl.dot(tl.trans(w1), own)
                    back = tl.dot(tl.trans(w2), own, back)
                    back = tl.sum(tl.reshape(back, [COLUMNS, C, 2]), 2)
                    place = beyond[:, None].to(tl.int64) * C + deep[None, :]
                    tl.store(mirrored_products + place, back)
        value += part_value
        degree += part_degree
        product += part
    place = tl.program_id(1) * n_out + rows - row_start
    tl.store(values + place, value)
    tl.store(degrees + place, degree)
    if WITH_PRODUCT:
        if FOLDED:
            product = tl.sum(tl.reshape(product, [ROWS, C, 2]), 2)
        out = place[:, None].to(tl.int64) * C + deep[None, :]
        tl.store(products + out, product)


@triton.jit
def _collect_kernel(
    degrees,
    products,
    mirrored_degrees,
    mirrored_products,
    degree,
    product,
    y_scale,
    scale_high,
    scale_low,
    first_place,
    last_place,
    n_shares,
    n_out,
    column_start,
    n_blocks,
    n_mirrored,
    k,
    offset,
    n,
    width,
    MIRRORED: tl.constexpr,
    WITH_PRODUCT: tl.constexpr,
    C: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
):
    """Add what `_kernel` has stored for some rows to their sums, in a fixed order, times a scale.

    The rows from `first_place` on were `n_out` of its own, each shared by `n_shares` programs.
    If MIRRORED, blocks of rows before a row have stored something for it, too.
    """
    first = first_place + tl.program_id(0) * COLUMNS
    places = first + tl.arange(0, COLUMNS)
    deep = tl.arange(0, C)
    sum_degree = tl.zeros([COLUMNS], dtype=tl.float64)
    sum_product = tl.zeros([COLUMNS, C], dtype=tl.float64)
    if first < first_place + n_out:
        for share in range(n_shares):
            place = share * n_out + places - first_place
            sum_degree += tl.load(degrees + place).to(tl.float64)
            if WITH_PRODUCT:
                wide = place[:, None].to(tl.int64) * C + deep[None, :]
                sum_product += tl.load(products + wide).to(tl.float64)
    if MIRRORED:
        # No block of rows starts inside these columns, since ROWS is a multiple of COLUMNS.
        before = tl.minimum((first - first_place) // ROWS, n_blocks)
        for block in range(tl.where(first < column_start, 0, before)):
            place = block * n_mirrored + places - column_start
            sum_degree += tl.load(mirrored_degrees + place).to(tl.float64)
            if WITH_PRODUCT:
                wide = place[:, None].to(tl.int64) * C + deep[None, :]
                sum_product += tl.load(mirrored_products + wide).to(tl.float64)
    # A kernel takes a float for a float32; two of them are precise enough.
    sum_degree = sum_degree * scale_high + sum_degree * scale_low
    rows = tl.where(places < k, places, places - offset + k)
    inside = (places < k) | ((places >= offset) & (rows < n))
    inside = inside & (places < last_place)
    old = tl.load(degree + rows, mask=inside, other=0.0)
    tl.store(degree + rows, old + sum_degree, mask=inside)
    if WITH_PRODUCT:
        sum_product = sum_product / (tl.load(y_scale).to(tl.float64) * _WEIGHT_SCALE)
        sum_product = sum_product * scale_high + sum_product * scale_low
        wide = rows[:, None].to(tl.int64) * width + deep[None, :]
        inside_wide = inside[:, None] & (deep < width)[None, :]
        old_product = tl.load(product + wide, mask=inside_wide, other=0.0)
        tl.store(product + wide, old_product + sum_product, mask=inside_wide)


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
    """Turn a tile of inner products into weights, in place, and sum the terms."""
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


def negative_entropy(Z: Tensor, rows: slice, columns: slice, eta: float) -> tuple[Tensor, Tensor]:
    """Value and weights of a tile in memory, in one pass over the products of its points."""
    left, right = Z[rows], Z[columns]
    tile = torch.mm(left, right.T)
    grid = (
        triton.cdiv(tile.shape[0], _PLAIN_ROWS),
        triton.cdiv(tile.shape[1], _PLAIN_COLUMNS),
    )
    values = torch.empty(grid, dtype=tile.dtype, device=tile.device)
    # (In memory, since a kernel takes a float for a float32.)
    threshold = torch.full((1,), eta, dtype=tile.dtype, device=tile.device)
    _entropy_kernel[grid](
        tile,
        _squares(left),
        _squares(right),
        values,
        *tile.shape,
        threshold,
        DIAGONAL=rows == columns,
        ROWS=_PLAIN_ROWS,
        COLUMNS=_PLAIN_COLUMNS,
        num_warps=4,
    )
    return values.sum(dtype=torch.float64), tile


def _squares(Z: Tensor) -> Tensor:
    return torch.einsum("ir,ir->i", Z, Z)


def sweep_regions(sums: Pass, codes: Tensor, Y: Tensor) -> Sums:
    """Sum over the labeled pairs of the first rows, and over all unlabeled pairs.

    Parameters
    ----------
    sums : Pass
        The sweep: points, terms and what to differentiate by.
    codes : Tensor of int32 of shape (k,)
        Class codes of the first k rows.
    Y : Tensor of shape (n, at most 128)
        What to multiply the weights with.

    Returns
    -------
    value, degrees, product
        Sums over the pairs; the product is ``W Y``.
    """
    regions = _Regions(sums, codes, Y)
    k, n, terms = len(codes), len(sums.X), sums.terms
    if terms.tiles_unlabeled:
        kind = _ENTROPY
        if terms.q is not None:
            kind = _DISSIMILAR if sums.frozen is None else _FROZEN
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
    if k > 1:
        regions.add_square(_LABELED, 1.0, (0, k), terms.plan.labeled_share)
    return regions.value, regions.degree, regions.product


def _at_zero(kind: tl.constexpr, sums: Pass) -> tuple[float, float]:
    """Term and weight of a pair at distance zero, as a point is from itself."""
    t = np.array([[-sums.terms.eta]])
    if kind == _ENTROPY:
        value, weight = _formulas.negative_entropy(t)
    else:
        q: Array | float = 1.0 if kind == _LABELED else 0.0
        if kind == _FROZEN:
            q = _formulas.e_step(t, sums.terms.mu)
        value, weight = _formulas.cross_entropy(t, q)
    return value, float(weight[0, 0])


class _Regions:
    """The operands of the kernel, split and padded, and the sums over regions of pairs.

    Class-labeled rows and the others are padded to whole blocks each, so that a region of
    either starts at a block.
    """

    def __init__(self, sums: Pass, codes: Tensor, Y: Tensor) -> None:
        self.sums, self.width, X = sums, Y.shape[1], sums.X
        k, n = len(codes), len(X)
        room = torch.zeros(1 + n + Y.numel(), dtype=sums.wide, device=X.device)
        self.value, self.degree, self.product = (
            room[0],
            room[1 : n + 1],
            room[n + 1 :].view(Y.shape),
        )
        old = sums.now if sums.frozen is None else sums.frozen
        self.R = _padded_width(max(sums.Z.shape[1], old.Z.shape[1]))
        self.C = _padded_width(self.width)
        self.shape = _SHAPES[max(self.R, self.C)]
        self.block = block = max(self.shape[:2])
        offset = -(-k // block) * block
        self.length = offset + -(-(n - k) // block) * block
        self.k, self.offset = k, offset
        # The scales stay on the device, which need not wait for the host to ask for them.
        self.scales = X.new_empty(3)
        self.folded = self.C == _MIN_WIDTH
        same = Y is sums.Z and self.C == self.R
        self.now = self._split(sums.Z, self.R, 0, folded=same and self.folded)
        self.old = self.now if sums.frozen is None else self._split(old.Z, self.R, 1)
        self.y_scale = self.scales[0 if same else 2 :]
        y = self.now if same else self._split(Y, self.C, 2, folded=self.folded)
        self.y_high, self.y_low = (y[3], y[1]) if self.folded else y[:2]
        self.codes = torch.nn.functional.pad(codes, (0, offset - k), value=-1)

    def _split(
        self, a: Tensor, width: int, number: int, *, folded: bool = False
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
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

        Returns
        -------
        high, low, squares, both
            The parts, the squared lengths, and the parts side by side.
        """
        largest = torch.linalg.vector_norm(a, torch.inf) if a.numel() else a.new_zeros(())
        high, low = a.new_empty((2, self.length, width), dtype=torch.float16)
        both = a.new_empty((self.length, 2 * width), dtype=torch.float16) if folded else high
        squares = a.new_empty(self.length)
        _split_kernel[(self.length // _SPLIT_ROWS,)](
            a,
            largest,
            high,
            low,
            both,
            squares,
            self.scales[number:],
            self.k,
            self.offset,
            *a.shape,
            a.stride(0),
            _PADDING_SQUARE,
            FOLDED=folded,
            W=width,
            ROWS=_SPLIT_ROWS,
            num_warps=4,
        )
        return high, low, squares, both

    def add_sample(self, kind: tl.constexpr, mu: float, share: float) -> None:
        """Add an estimate of the sums over all unlabeled pairs from a share of them.

        Rows without labels are in random order: some of them stand for all where they meet the
        labeled rows, and a band of tiles stands for all where they meet each other.
        """
        k, n = len(self.sums.terms.codes), len(self.sums.X)
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
            reach, weight = band(rows[1] - rows[0], _SPAN, share)
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
        sums, n_rows = self.sums, self.shape[0]
        first, last = self._places(*rows)
        left, right = self._places(*columns)
        n_blocks, n_spans = -(-(last - first) // n_rows), -(-(right - left) // _SPAN)
        # A few blocks of rows would leave most of the GPU idle: several programs share each.
        n_shares = 1 if reach is not None else min(-(-_PROGRAMS // n_blocks), n_spans)
        columns_each = -(-n_spans // n_shares) * _SPAN
        n_shares = -(-n_spans * _SPAN // columns_each)
        n_out = n_blocks * n_rows
        out = values, *_ = self._room(n_shares, n_out)
        grid = n_blocks, n_shares
        where = first, left, right, columns_each, reach or 0, n_out
        self._launch(kind, grid, out, where, BANDED=reach is not None)
        # The kernel meets every pair twice, from either side.
        self.value += 0.5 * scale * values[:, : last - first].sum(dtype=sums.wide)
        self._collect(scale, out, (first, last))
        if columns[0] <= rows[0] and rows[1] <= columns[1]:
            self._subtract_own(kind, scale, rows)

    def add_mirrored(self, kind: tl.constexpr, scale: float) -> None:
        """Add the sums over all unlabeled pairs, each computed once.

        Some blocks of rows at a time meet the columns from their own on. What they add to these
        columns goes through memory, and is added up in the order of the blocks.
        """
        sums, n_rows = self.sums, self.shape[0]
        left, length = self.offset, self.length
        n_mirrored, n_blocks = length - left, length // n_rows
        n_bytes = _MIRRORED_BYTES
        if sums.X.is_cuda:
            whole = torch.cuda.get_device_properties(sums.X.device).total_memory
            n_bytes = int(_MIRRORED_SHARE * whole)
        each = max(1, min(n_blocks, n_bytes // (4 * n_mirrored * (self.C + 1))))
        room = self._room(each, n_mirrored)[1:]
        for block in range(0, n_blocks, each):
            first, some = block * n_rows, min(each, n_blocks - block)
            start = max(left, first)
            n_spans = -(-(length - start) // _SPAN)
            n_shares = min(-(-_MIRRORED_PROGRAMS // some), n_spans)
            columns_each = -(-n_spans // n_shares) * _SPAN
            n_shares = -(-n_spans * _SPAN // columns_each)
            out = values, *_ = self._room(n_shares, some * n_rows)
            where = first, start, length, columns_each, 0, some * n_rows
            self._launch(kind, (some, n_shares), out, where, mirrored=(*room, length - start))
            self.value += 0.5 * scale * values.sum(dtype=sums.wide)
            self._collect(scale, out, (first, length), (*room, start, some, length - start))
        self._subtract_own(kind, scale, (self.k, len(sums.X)))

    def _subtract_own(self, kind: tl.constexpr, scale: float, rows: tuple[int, int]) -> None:
        """Subtract the pairs of some rows with themselves, which the kernel met, too.

        Their weights are in the degrees and in the product, where the two cancel; the value, and
        degrees without product, must lose them.
        """
        term, weight = _at_zero(kind, self.sums)
        self.value -= 0.5 * scale * term * (rows[1] - rows[0])
        if not self.width:
            self.degree[slice(*rows)] -= scale * weight

    def _collect(
        self,
        scale: float,
        out: tuple[Tensor, Tensor, Tensor],
        places: tuple[int, int],
        mirrored: tuple[Tensor, Tensor, int, int, int] | None = None,
    ) -> None:
        """Add what the kernel has stored for the rows at some places to their sums."""
        _, degrees, products = out
        high = float(np.float32(scale))
        _, n_columns, *_ = self.shape
        none = degrees, products, 0, 0, 0
        _collect_kernel[(-(-(places[1] - places[0]) // n_columns),)](
            degrees,
            products,
            *(none if mirrored is None else mirrored)[:2],
            self.degree,
            self.product,
            self.y_scale,
            high,
            scale - high,
            *places,
            *degrees.shape,
            *(none if mirrored is None else mirrored)[2:],
            self.k,
            self.offset,
            *self.product.shape,
            MIRRORED=mirrored is not None,
            WITH_PRODUCT=self.width > 0,
            C=self.C,
            ROWS=self.shape[0],
            COLUMNS=n_columns,
            num_warps=4,
        )

    def _room(self, *shape: int) -> tuple[Tensor, Tensor, Tensor]:
        """Room for values, degrees and products."""
        values, degrees, products = (
            torch.empty((*shape, *more), dtype=torch.float32, device=self.sums.X.device)
            for more in ((), (), (self.C,))
        )
        return values, degrees, products

    def _launch(
        self,
        kind: tl.constexpr,
        grid: tuple[int, int],
        out: tuple[Tensor, Tensor, Tensor],
        where: tuple[int, ...],
        mirrored: tuple[Tensor, Tensor, int] | None = None,
        *,
        BANDED: bool = False,
    ) -> None:
        """Run the kernel on a region."""
        terms, (n_rows, n_columns, warps, stages) = self.sums.terms, self.shape
        _kernel[grid](
            *self.now[:3],
            self.y_high,
            self.y_low,
            *self.old[:3],
            self.codes,
            *out,
            *(out[1:] if mirrored is None else mirrored[:2]),
            *where,
            0 if mirrored is None else mirrored[2],
            terms.eta,
            self.scales,
            (1.0 + terms.mu) * _LOG2E.value,
            KIND=kind.value,
            WITH_PRODUCT=self.width > 0,
            BANDED=BANDED,
            MIRRORED=mirrored is not None,
            FOLDED=self.folded,
            R=self.R,
            C=self.C,
            ROWS=n_rows,
            COLUMNS=n_columns,
            SPAN=_SPAN,
            EXACT=_INTERPRETED,
            num_warps=warps,
            num_stages=stages,
        )

    def _places(self, start: int, stop: int) -> tuple[int, int]:
        """Where the rows from `start` to `stop` are after padding."""
        first, last = (
            row if row < self.k else row - self.k + self.offset for row in (start, stop - 1)
        )
        return first, last + 1


def _padded_width(width: int) -> int:
    padded: Any = triton.next_power_of_2(width)
    return max(_MIN_WIDTH, int(padded))
