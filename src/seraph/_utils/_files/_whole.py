"""Atomic writes: a file appears complete or not at all."""

from __future__ import annotations

import io
import os
import secrets
import stat
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# The last files of this process: where each was prepared, if anywhere, and where it belongs.
_writes: deque[tuple[Path | None, Path]] = deque(maxlen=100)


def finished_writes() -> list[Path]:
    """Return the files that this process wrote last and that are there; remove unfinished ones.

    For a process that ends now. It checks the disk, so that a file is reported even if an
    interrupt came after the file was moved and before that was noted.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = write_whole(Path(folder) / "note.txt", "Hello.")
    ...     path in finished_writes()
    True
    """
    written: dict[Path, None] = {}
    for temporary, path in tuple(_writes):
        if temporary is not None and temporary.exists():
            temporary.unlink(missing_ok=True)
        elif path.exists():
            written[path] = None
    return list(written)


def note_write(path: Path) -> None:
    """Note that a file is written in place, for `finished_writes`."""
    if (None, path) not in _writes:
        _writes.append((None, path))


def write_whole(path: Path, content: str | bytes | Callable[[BinaryIO], None]) -> Path:
    """Write to a temporary file in the same folder, then move it to `path`.

    A replaced file keeps its permissions; a new one gets those that the umask leaves. If `path` is
    a symbolic link, the link stays and the file it points to is written. Remnants of an earlier
    write to `path`, by a killed process, are removed. If the content does not fit in memory, pass
    a function that writes it to a binary file. A folder, a device or a pipe is refused: a file
    would take its place.
    """
    if path.exists() and not path.is_file():
        raise ValueError(f"{str(path)!r} is not a plain file: choose another name.")
    target = Path(os.path.realpath(path))
    # Short, however long the name of the target is, and the same at the start for every write
    # to this target.
    prefix = f".seraph-{sha256(os.fsencode(target.name)).hexdigest()[:16]}-"
    temporary = target.with_name(prefix + secrets.token_hex(4))
    mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else None

    def private_enough(name: str, flags: int) -> int:
        # Never more open than the file it becomes, not even while it is being written.
        return os.open(name, flags, 0o666 if mode is None else mode)

    write = (temporary, path)
    try:
        with open(temporary, "xb", opener=private_enough) as file:
            _writes.append(write)
            if callable(content):
                content(file)
            else:
                file.write(content.encode() if isinstance(content, str) else content)
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            temporary.chmod(mode)  # the umask may have taken some of it away
        temporary.replace(target)
    except FileNotFoundError:
        # Another write to this target ended meanwhile, and took our file for a remnant. The
        # file is complete, the same as if our write had ended first.
        if not target.exists():
            raise
    except BaseException as error:
        if isinstance(error, OSError) and error.filename is None:
            error.filename = str(path)  # a full disk, say: name the file that was to be written
        if temporary.exists():  # else it is moved, and counts as written
            with suppress(ValueError):
                _writes.remove(write)
            temporary.unlink(missing_ok=True)
        raise
    for leftover in target.parent.glob(f"{prefix}*"):
        with suppress(OSError):  # somebody else's, or open on Windows
            leftover.unlink()
    return path


def save_whole(figure: Figure, path: Path) -> Path:
    """Write a matplotlib figure as `write_whole` does, in the format that the suffix names."""
    out = io.BytesIO()
    figure.savefig(out, format=path.suffix[1:] or "png", dpi=150)
    return write_whole(path, out.getvalue())
