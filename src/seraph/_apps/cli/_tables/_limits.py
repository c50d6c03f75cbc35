"""How large a table may be: refuse what would not fit into memory, before or while it is read."""

from __future__ import annotations

import gzip
import io
import os
from pathlib import Path
from typing import BinaryIO

# Each named column costs its own arrays, whatever the number of rows.
MOST_COLUMNS = 50_000
# Reading takes up to this many times the table's own size: its text, or 8 bytes a cell.
TIMES = 3
# Below this, a table is read without looking at how much memory is left.
_SMALL = 256 * 2**20
_BLOCK = 1 << 24


class TooLarge(ValueError):
    """A table is larger than a limit."""


def check_columns(n_columns: int) -> None:
    """Refuse a table with too many columns."""
    if n_columns > MOST_COLUMNS:
        raise TooLarge(
            f"it has {n_columns:,} columns, and a table with names may have {MOST_COLUMNS:,}: "
            "save the features as an array (.npy, or X and y in an .npz), which has no such "
            "limit, or leave columns out."
        )


def check_memory(size: int) -> None:
    """Refuse a table of `size` bytes if reading it takes more memory than is left."""
    needed = TIMES * size
    if needed <= _SMALL:
        return
    left = available_memory()
    if needed > left:
        raise TooLarge(
            f"reading it takes {needed / 1e9:.1f} GB of memory or more, and {left / 1e9:.1f} GB "
            "are left: take fewer rows or columns, or save the features as .npy, which is read "
            "in place."
        )


def read_bounded(file: BinaryIO | gzip.GzipFile) -> bytes:
    """Read all of a file, as long as memory is left: a pipe may never end."""
    content = io.BytesIO()  # hands its buffer over without a copy
    while block := file.read(_BLOCK):
        content.write(block)
        check_memory(content.tell())
    return content.getvalue()


def read_file(path: Path) -> bytes:
    """Read all of a file on disk; refuse one that is too large before it is read."""
    with path.open("rb") as file:
        check_memory(os.fstat(file.fileno()).st_size)
        return read_bounded(file)


def available_memory() -> int:
    """Return the bytes of memory that are left."""
    import psutil

    free: int = psutil.virtual_memory().available
    return free
