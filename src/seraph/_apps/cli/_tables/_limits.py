"""How large a table may be: refuse what would not fit into memory, before or while it is read."""

from __future__ import annotations

import gzip
import io
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import BinaryIO

# Each named column costs its own arrays, whatever the number of rows.
MOST_COLUMNS = 50_000
# A longer line is no row of a table.
LONGEST_LINE = 1 << 25
# Reading takes up to this many times the table's own size: its text, or 8 bytes a cell.
TIMES = 3
# What a compressed table may unpack to: this much, or _RATIO times its size.
_UNPACKED = 256 * 2**20
_RATIO = 100
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


def check_unpacked(packed: int, unpacked: int) -> None:
    """Refuse compressed content that unpacks to far more than a table of its size does."""
    if unpacked > max(_UNPACKED, _RATIO * packed):
        raise TooLarge(
            f"its {packed:,} bytes unpack to more than {_UNPACKED / 2**20:.0f} MiB and "
            f"{_RATIO} times as much, like no table: if it is one, unpack it first."
        )
    check_memory(unpacked)


def read_bounded(
    file: BinaryIO | gzip.GzipFile, check: Callable[[int], None] = check_memory
) -> bytes:
    """Read all of a file, as long as its size passes a check: a pipe may never end."""
    content = io.BytesIO()  # hands its buffer over without a copy
    while block := file.read(_BLOCK):
        content.write(block)
        check(content.tell())
    return content.getvalue()


def read_file(path: Path) -> bytes:
    """Read all of a file on disk; refuse one that is too large before it is read."""
    with path.open("rb") as file:
        check_memory(os.fstat(file.fileno()).st_size)
        return read_bounded(file)


def gunzip(data: bytes) -> bytes:
    """Unpack gzip's format, as long as `check_unpacked` allows."""
    with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
        return read_bounded(file, partial(check_unpacked, len(data)))


def available_memory() -> int:
    """Return the bytes of memory that this process may still take."""
    import psutil

    left = [_left_to_container(*names) for names in _CGROUPS]
    free: int = psutil.virtual_memory().available
    return min([free, *(size for size in left if size is not None)])


# Where Linux keeps the limit of a container, of which psutil knows nothing, its use, and the part
# of it that is only a cache.
_CGROUPS = (
    ("/sys/fs/cgroup", "memory.max", "memory.current", ("inactive_file", "active_file")),
    (
        "/sys/fs/cgroup/memory",
        "memory.limit_in_bytes",
        "memory.usage_in_bytes",
        ("total_inactive_file", "total_active_file"),
    ),
)


def _left_to_container(folder: str, limit: str, used: str, caches: tuple[str, ...]) -> int | None:
    """Return what the container may still take; None if it has no limit."""
    here = Path(folder)
    try:
        most, now = (int((here / name).read_text(encoding="ascii")) for name in (limit, used))
        lines = (here / "memory.stat").read_text(encoding="ascii").splitlines()
        counts = dict(line.split() for line in lines)
    except (OSError, ValueError):
        return None
    return max(most - now + sum(int(counts.get(name, 0)) for name in caches), 0)
