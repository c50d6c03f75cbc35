"""Cut rows into blocks, and pairs of rows into tiles, of bounded size."""

from __future__ import annotations

from collections.abc import Iterator


def row_slices(n: int, size: int) -> list[slice]:
    """Cut `n` rows into as few slices of at most `size` rows as possible, about equally long.

    Examples
    --------
    >>> row_slices(7, 3)
    [slice(0, 2, None), slice(2, 4, None), slice(4, 7, None)]
    """
    count = -(-n // max(1, size))
    return [slice(k * n // count, (k + 1) * n // count) for k in range(count)]


def spaced(n: int, most: int) -> slice:
    """Return a slice of `n` rows that takes at most `most` of them, evenly spaced.

    Examples
    --------
    >>> list(range(7))[spaced(7, 3)]
    [0, 3, 6]
    """
    return slice(None, None, max(1, -(-n // most)))


def upper_tiles(n: int, side: int) -> Iterator[tuple[slice, slice]]:
    """Yield rows and columns of the tiles on or above the diagonal of an n x n array.

    Together they hold each pair of two different rows once, except that a tile on the diagonal,
    whose rows are its columns, holds its own pairs twice, and each of its rows with itself.

    Examples
    --------
    >>> list(upper_tiles(4, 3))  # doctest: +NORMALIZE_WHITESPACE
    [(slice(0, 2, None), slice(0, 2, None)), (slice(0, 2, None), slice(2, 4, None)),
     (slice(2, 4, None), slice(2, 4, None))]
    """
    blocks = row_slices(n, side)
    return ((rows, columns) for k, rows in enumerate(blocks) for columns in blocks[k:])
