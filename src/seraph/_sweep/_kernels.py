"""The kernels of the fused sweep, in Triton. `_triton` prepares their operands and launches them.

Their arguments are grouped in named tuples: operands, indices, and a `Form` of constants, for each
of which Triton compiles a kernel. It also specializes a kernel for integers that are 1, and for
integers and addresses that are multiples of 16. So those in tuples are always multiples of 16, and
the others are excepted by ``do_not_specialize``: a problem of another size needs no compilation.
Triton inlines the functions that kernels call.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import triton
import triton.language as tl

# Scales that keep the low parts from underflow (the smallest float16 is 6e-8). Weights are at most
# 1 and are multiplied by the first; coordinates are scaled so that the largest is from 128 to 256,
# by exponents (with their bias of 127) that add up to the second. (The largest float16 is 65504.)
_WEIGHT_SCALE = tl.constexpr(16384.0)
_SCALED_EXPONENT = tl.constexpr(7 + 2 * 127)
# exp2 of more than this overflows a float32.
_LARGEST_EXPONENT = tl.constexpr(126.0)
# Stride between the scales of two operands, so that each is at a multiple of 16 bytes.
SCALE_STRIDE = tl.constexpr(4)
# Rows that one program splits.
SPLIT_ROWS = tl.constexpr(64)
LOG2E = tl.constexpr(1.4426950408889634)
_LN2 = tl.constexpr(0.6931471805599453)
# The term of the pairs of a region: the entropy of (7); or (11) with q = 0, with q from the frozen
# metric, or with q from the classes.
ENTROPY, DISSIMILAR, FROZEN, LABELED = (tl.constexpr(kind) for kind in range(4))


class Operand(NamedTuple):
    """Scaled rows, each split into two float16, and the squared norms of the original rows.

    `both` has the parts side by side, for one product in place of two.
    """

    high: Any
    low: Any
    squares: Any
    both: Any


class Room(NamedTuple):
    """Memory for the sums of the rows of the programs, or of their columns."""

    value: Any
    degrees: Any
    products: Any


class Region(NamedTuple):
    """Which pairs the programs of a launch visit.

    Parameters
    ----------
    row_start, column_start, column_stop : int
        Where the rows start; where the columns start and stop.
    columns_each : int
        Number of columns of each program of the second axis.
    n_out : int
        Number of rows.
    n_mirrored : int
        Number of columns, if their sums are stored, too.
    """

    row_start: int
    column_start: int
    column_stop: int
    columns_each: int
    n_out: int
    n_mirrored: int


class Form(NamedTuple):
    """Constants of a kernel.

    Parameters
    ----------
    KIND : constexpr
        Which terms the pairs have: ENTROPY, DISSIMILAR, FROZEN or LABELED.
    WITH_PRODUCT : constexpr
        Whether to compute the product with Y.
    MIRRORED : constexpr
        Whether each pair is computed once: columns before the rows of a program are left out, and
        the sums that a tile adds to its columns are stored, for `collect_kernel` to add up.
    FOLDED : constexpr
        Whether Y has high and low parts side by side, for one product in place of two.
    R, C : constexpr
        The widths of Z and of Y, padded to powers of 2.
    ROWS, COLUMNS, SPAN : constexpr
        Rows and columns of a tile, and columns of a partial sum.
    EXACT : constexpr
        Whether Triton's interpreter runs the kernel; it has no inline assembly.
    """

    KIND: Any
    WITH_PRODUCT: Any
    MIRRORED: Any
    FOLDED: Any
    R: Any
    C: Any
    ROWS: Any
    COLUMNS: Any
    SPAN: Any
    EXACT: Any


@triton.jit
def _inverse(x, EXACT: tl.constexpr):
    """``1 / x``, by the approximation of the hardware, with a relative error of 2^-23."""
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
    if EXACT:  # a reduction with a custom function takes minutes in the interpreter
        return tl.sum(tl.log2(factors), 1) * _LN2
    return tl.log2(tl.reduce(factors, 1, _times)) * _LN2


@triton.jit
def _halves(a):
    """Split numbers into two of float16."""
    high = a.to(tl.float16)
    return high, (a - high.to(tl.float32)).to(tl.float16)


@triton.jit
def _margin(rows, high, low, columns2):
    """Compute the t of a tile from split coordinates and squared lengths (less eta for rows).

    Rounding can make a squared distance negative; the terms are defined there, too.
    """
    high_rows, low_rows, rows2, factor = rows
    right_high, right_low = tl.trans(high), tl.trans(low)
    inner = tl.dot(high_rows, right_high)
    inner = tl.dot(high_rows, right_low, inner)
    inner = tl.dot(low_rows, right_high, inner)
    return inner * factor + (rows2[:, None] + columns2[None, :])


@triton.jit
def _rows_of(operand, rows, eta, scale_at, R: tl.constexpr):
    """Load the operands of `_margin` for some rows."""
    scale = tl.load(scale_at)
    # 64 bits, since n * R may be more than 2^31.
    here = rows[:, None].to(tl.int64) * R + tl.arange(0, R)[None, :]
    rows2 = tl.load(operand.squares + rows) - eta
    return (
        tl.load(operand.high + here),
        tl.load(operand.low + here),
        rows2,
        -2.0 / (scale * scale),
    )


@triton.jit
def _to_columns(rows, operand, columns, R: tl.constexpr):
    """Compute the t of a tile of some rows with some columns of the same operand."""
    there = columns[:, None].to(tl.int64) * R + tl.arange(0, R)[None, :]
    return _margin(
        rows,
        tl.load(operand.high + there),
        tl.load(operand.low + there),
        tl.load(operand.squares + columns),
    )


@triton.jit
def _terms_and_weights(t, q, KIND: tl.constexpr, EXACT: tl.constexpr):
    """Compute the terms of a tile, summed by rows, and their derivatives by t."""
    size = tl.abs(t)
    e = tl.exp2(size * -LOG2E)
    one_plus = 1.0 + e
    inverse = _inverse(one_plus, EXACT)
    logarithm = _log_of_product(one_plus, EXACT)
    if KIND == ENTROPY:
        share = e * inverse
        weight = share * inverse * t
        terms = -logarithm - tl.sum(size * share, 1)
    else:
        p = tl.where(t > 0.0, e, 1.0) * inverse
        if KIND == DISSIMILAR:
            weight = p
            terms = tl.sum(tl.minimum(t, 0.0), 1) - logarithm
        else:
            weight = p - q
            terms = tl.sum(tl.minimum(t, 0.0) - q * t, 1) - logarithm
    return terms, weight


@triton.jit
def _add_product(part, w1, w2, y, columns, FOLDED: tl.constexpr, C: tl.constexpr):
    """Add the product of split weights with the rows of Y."""
    deep, both = tl.arange(0, C), tl.arange(0, 2 * C)
    if FOLDED:
        y12 = tl.load(y.both + columns[:, None].to(tl.int64) * (2 * C) + both[None, :])
        part = tl.dot(w1, y12, part)
        part = tl.dot(w2, y12, part)
    else:
        wide = columns[:, None].to(tl.int64) * C + deep[None, :]
        y1, y2 = tl.load(y.high + wide), tl.load(y.low + wide)
        part = tl.dot(w1, y1, part)
        part = tl.dot(w2, y1, part)
        part = tl.dot(w1, y2, part)
    return part


@triton.jit
def _store_mirrored(products, beyond, w1, w2, own, FORM):
    """Store the terms of a tile in the product of its columns."""
    back = tl.dot(tl.trans(w1), own)
    back = tl.dot(tl.trans(w2), own, back)
    back = tl.sum(tl.reshape(back, [FORM.COLUMNS, FORM.C, 2]), 2)
    place = beyond[:, None].to(tl.int64) * FORM.C + tl.arange(0, FORM.C)[None, :]
    tl.store(products + place, back)


@triton.jit
def _sum_span(mine, operands, codes, mirrored, region, bounds, slope, FORM):
    """Sum over a span of columns: the terms, the weights and their product with Y, by rows."""
    KIND: tl.constexpr = FORM.KIND
    rows, old_rows, row_codes, own, first_row = mine
    now, y, old = operands
    part_value = tl.zeros([FORM.ROWS], dtype=tl.float32)
    part_degree = tl.zeros([FORM.ROWS], dtype=tl.float32)
    part = tl.zeros([FORM.ROWS, 2 * FORM.C if FORM.FOLDED else FORM.C], dtype=tl.float32)
    for start in range(bounds[0], bounds[1], FORM.COLUMNS):
        columns = start + tl.arange(0, FORM.COLUMNS)
        t = _to_columns(rows, now, columns, FORM.R)
        q = t
        if KIND == FROZEN:
            before = _to_columns(old_rows, old, columns, FORM.R)
            power = tl.exp2(tl.minimum(before * slope, _LARGEST_EXPONENT))
            q = _inverse(1.0 + power, FORM.EXACT)
        if KIND == LABELED:
            same = row_codes[:, None] == tl.load(codes + columns)[None, :]
            q = tl.where(same, 1.0, 0.0)
        terms, weight = _terms_and_weights(t, q, KIND, FORM.EXACT)
        if FORM.MIRRORED:
            # Tiles off the diagonal have each pair once, and it counts for its row and its column.
            terms *= tl.where(start >= first_row + FORM.ROWS, 2.0, 1.0)
            beyond = tl.program_id(0) * region.n_mirrored + columns - region.column_start
            tl.store(mirrored.degrees + beyond, tl.sum(weight, 0))
        part_value += terms
        part_degree += tl.sum(weight, 1)
        if FORM.WITH_PRODUCT:
            weight *= _WEIGHT_SCALE
            w1, w2 = _halves(weight)
            part = _add_product(part, w1, w2, y, columns, FORM.FOLDED, FORM.C)
            if FORM.MIRRORED:
                _store_mirrored(mirrored.products, beyond, w1, w2, own, FORM)
    return part_value, part_degree, part


@triton.jit(do_not_specialize=["reach"])
def sweep_kernel(now, y, old, codes, out, mirrored, region, reach, scales, eta, slope, FORM):
    """Sum over the pairs of ROWS rows with the columns of a region.

    Programs of the second axis share the columns, `columns_each` at a time. Where `reach` is not
    negative, a program takes the span of SPAN columns that its own rows are in, and the `reach`
    next ones on either side, in a circle. Nothing is masked: regions start at multiples of a
    block, and the padding adds nothing.
    """
    SPAN: tl.constexpr = FORM.SPAN
    first_row = region.row_start + tl.program_id(0) * FORM.ROWS
    rows = first_row + tl.arange(0, FORM.ROWS)
    mine = _rows_of(now, rows, eta, scales, FORM.R)
    old_mine, row_codes, own = mine, rows, rows
    if FORM.KIND == FROZEN:
        old_mine = _rows_of(old, rows, eta, scales + SCALE_STRIDE, FORM.R)
    if FORM.KIND == LABELED:
        row_codes = tl.load(codes + rows)
    if FORM.MIRRORED and FORM.WITH_PRODUCT:
        both = tl.arange(0, 2 * FORM.C)
        own = tl.load(y.both + rows[:, None].to(tl.int64) * (2 * FORM.C) + both[None, :])
    value = tl.zeros([FORM.ROWS], dtype=tl.float32)
    degree = tl.zeros([FORM.ROWS], dtype=tl.float32)
    product = tl.zeros([FORM.ROWS, 2 * FORM.C if FORM.FOLDED else FORM.C], dtype=tl.float32)
    lower = region.column_start + tl.program_id(1) * region.columns_each
    upper = tl.minimum(lower + region.columns_each, region.column_stop)
    if FORM.MIRRORED:
        lower = tl.maximum(lower, first_row)
    n_all = tl.cdiv(upper - lower, SPAN)
    first_span, n_spans = 0, n_all
    if reach >= 0:
        first_span = tl.program_id(0) * FORM.ROWS // SPAN + n_all - reach
        n_spans = 2 * reach + 1
    for span in range(n_spans):
        outer = lower + (first_span + span) % n_all * SPAN
        bounds = outer, tl.minimum(outer + SPAN, upper)
        about = mine, old_mine, row_codes, own, first_row
        part_value, part_degree, part = _sum_span(
            about, (now, y, old), codes, mirrored, region, bounds, slope, FORM
        )
        value += part_value
        degree += part_degree
        product += part
    place = tl.program_id(1) * region.n_out + rows - region.row_start
    tl.store(out.value + place, value)
    tl.store(out.degrees + place, degree)
    if FORM.WITH_PRODUCT:
        if FORM.FOLDED:
            product = tl.sum(tl.reshape(product, [FORM.ROWS, FORM.C, 2]), 2)
        tl.store(
            out.products + place[:, None].to(tl.int64) * FORM.C + tl.arange(0, FORM.C)[None, :],
            product,
        )


@triton.jit
def _row_at(places, k, offset, n):
    """Return the rows at some places after padding, and whether there are any."""
    rows = tl.where(places < k, places, places - offset + k)
    return rows, (places < k) | ((places >= offset) & (rows < n))


@triton.jit(do_not_specialize=["k", "n", "width", "stride"])
def split_kernel(
    a, largest, operand, scale_at, k, offset, n, width, stride, padding,
    FOLDED: tl.constexpr, W: tl.constexpr,
):  # fmt: skip
    """Put rows times a scale in their padded places, as sums of two float16.

    There are `n` rows of `width` numbers: the first `k` stay in place, and the others follow from
    `offset` on. The scale is a power of two, from the exponent of the `largest` number. It is
    stored, too, as are the squared lengths of the rows.
    """
    ROWS: tl.constexpr = SPLIT_ROWS
    place = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    row, inside = _row_at(place, k, offset, n)
    across = tl.arange(0, W)
    where = row[:, None].to(tl.int64) * stride + across[None, :]
    filled = inside[:, None] & (across < width)[None, :]
    points = tl.load(a + where, mask=filled, other=0.0)
    exponent = _SCALED_EXPONENT - (tl.load(largest).to(tl.int32, bitcast=True) >> 23)
    exponent = tl.where((exponent > 0) & (exponent < 255), exponent, 127)
    scale = (exponent << 23).to(tl.float32, bitcast=True)
    tl.store(scale_at, scale)
    upper, lower = _halves(points * scale)
    out = place[:, None].to(tl.int64) * W + across[None, :]
    tl.store(operand.high + out, upper)
    tl.store(operand.low + out, lower)
    if FOLDED:
        tl.store(operand.both + 2 * out, upper)
        tl.store(operand.both + 2 * out + 1, lower)
    tl.store(operand.squares + place, tl.where(inside, tl.sum(points * points, 1), padding))


@triton.jit
def _add_stored(sums, room, place, FORM):
    """Add up the sums that programs have stored at some places."""
    degree, product = sums
    degree += tl.load(room.degrees + place).to(tl.float64)
    if FORM.WITH_PRODUCT:
        wide = place[:, None].to(tl.int64) * FORM.C + tl.arange(0, FORM.C)[None, :]
        product += tl.load(room.products + wide).to(tl.float64)
    return degree, product


@triton.jit(do_not_specialize=["n_shares", "n_blocks", "k", "n", "width"])
def collect_kernel(
    room, mirrored, total, y_scale, scale, where, n_shares, n_blocks, k, n, width, FORM
):
    """Add the sums that `sweep_kernel` has stored for some rows, in a fixed order.

    Parameters
    ----------
    room, mirrored : Room
        Sums stored for the programs' own rows, and for the columns that they met.
    total : Room
        The sums to add to.
    y_scale : pointer
        Scale of Y.
    scale : tuple of two floats
        Factor of the sums: a float32, and the rest of the number.
    where : tuple of five ints
        First place and number of own rows; if MIRRORED, first column and number of columns;
        `offset`.
    n_shares, n_blocks : int
        Number of programs that shared each row; if MIRRORED, number of blocks of rows.
    k, n, width : int
        As for `split_kernel`.
    """
    first_place, n_out, column_start, n_mirrored, offset = where
    first = first_place + tl.program_id(0) * FORM.COLUMNS
    places = first + tl.arange(0, FORM.COLUMNS)
    sums = (
        tl.zeros([FORM.COLUMNS], dtype=tl.float64),
        tl.zeros([FORM.COLUMNS, FORM.C], dtype=tl.float64),
    )
    if first < first_place + n_out:
        for share in range(n_shares):
            sums = _add_stored(sums, room, share * n_out + places - first_place, FORM)
    if FORM.MIRRORED:
        # No block of rows starts inside these columns, since ROWS is a multiple of COLUMNS.
        before = tl.minimum((first - first_place) // FORM.ROWS, n_blocks)
        for block in range(tl.where(first < column_start, 0, before)):
            sums = _add_stored(sums, mirrored, block * n_mirrored + places - column_start, FORM)
    # Triton passes a float as float32; a sum of two is precise enough.
    sum_degree = sums[0] * scale[0] + sums[0] * scale[1]
    rows, inside = _row_at(places, k, offset, n)
    old = tl.load(total.degrees + rows, mask=inside, other=0.0)
    tl.store(total.degrees + rows, old + sum_degree, mask=inside)
    if FORM.WITH_PRODUCT:
        deep = tl.arange(0, FORM.C)
        sum_product = sums[1] / (tl.load(y_scale).to(tl.float64) * _WEIGHT_SCALE)
        sum_product = sum_product * scale[0] + sum_product * scale[1]
        wide = rows[:, None].to(tl.int64) * width + deep[None, :]
        inside_wide = inside[:, None] & (deep < width)[None, :]
        old_product = tl.load(total.products + wide, mask=inside_wide, other=0.0)
        tl.store(total.products + wide, old_product + sum_product, mask=inside_wide)


@triton.jit
def entropy_kernel(
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
