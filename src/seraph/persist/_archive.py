"""Read zip archives that may be hostile: no more is unpacked than a model can need."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from typing import IO

# Largest size of an unpacked archive: these bytes, or _RATIO times the size of the file. Arrays of
# zeros shrink a thousandfold, so small files may grow; text takes 20 times its size once read.
_BYTES = 256 * 2**20
_TEXT_BYTES = 16 * 2**20
_RATIO = 20


def read_archive(file: IO[bytes], only: tuple[str, ...] | None = None) -> dict[str, bytes]:
    """Read the entries of an archive, or `only` those that are named and exist.

    Raises
    ------
    ValueError
        If two entries have the same name, or if they unpack to more than a model can need.
    """
    with zipfile.ZipFile(file) as archive:
        entries = archive.infolist()
        # Zip readers disagree on which of two entries with one name counts: accept neither.
        if len({entry.filename for entry in entries}) < len(entries):
            raise ValueError("two of its entries have the same name")
        check_sizes({entry.filename: entry.file_size for entry in entries}, file.seek(0, 2))
        return {
            entry.filename: _content(archive, entry)
            for entry in entries
            if only is None or entry.filename in only
        }


def check_sizes(sizes: Mapping[str, int], packed: int) -> None:
    """Raise an error if entries of these sizes are too large for a file of `packed` bytes."""
    text = {name: size for name, size in sizes.items() if name.endswith(".json")}
    for what, total, least in (
        ("text", sum(text.values()), _TEXT_BYTES),
        ("data", sum(sizes.values()), _BYTES),
    ):
        if total > max(least, _RATIO * packed):
            raise ValueError(
                f"its {packed:,} bytes unpack to {total:,} bytes of {what}, which is more than a "
                "model takes"
            )


def write_archive(entries: Mapping[str, bytes]) -> bytes:
    """Write an archive that is not compressed."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, entry in entries.items():
            archive.writestr(name, entry)
    return content.getvalue()


def _content(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    """Read one entry, and stop at the size that the archive declares for it."""
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise ValueError(f"its entry {entry.filename} is neither stored nor deflated")
    with archive.open(entry) as file:
        # Without a size, zipfile would unpack everything first and then cut it.
        return b"".join(iter(lambda: file.read(2**20), b""))
