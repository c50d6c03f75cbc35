"""Cut rows into parts of bounded size."""

from __future__ import annotations


def row_slices(n: int, size: int) -> list[slice]:
    """Cut `n` rows into as few slices of at most `size` rows as possible, about equally long."""
    count = -(-n // max(1, size))
    return [slice(k * n // count, (k + 1) * n // count) for k in range(count)]


def spaced(n: int, most: int) -> slice:
    """Return a slice of `n` rows that takes at most `most` of them, evenly spaced."""
    return slice(None, None, max(1, -(-n // most)))
