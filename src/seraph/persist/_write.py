"""Atomic writes: a file appears complete or not at all."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO


def write_whole(
    path: str | os.PathLike[str], content: str | bytes | Callable[[BinaryIO], None]
) -> Path:
    """Write a file atomically: to a temporary file in the same folder, then move it to `path`.

    If writing fails or is interrupted, an existing file stays as it was. A replaced file keeps its
    permissions; a new one gets those that the umask allows. If `path` is a symbolic link, the
    link stays and the file it points to is written.

    `content` is text, written as UTF-8, bytes, or a function that writes to a binary file. A
    `path` to a folder, a device or a pipe raises a ValueError.
    """
    path = Path(path)
    if path.exists() and not path.is_file():
        raise ValueError(f"{str(path)!r} is not a plain file: choose another name.")
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise FileNotFoundError(f"Cannot write {path.name}: there is no folder {target.parent}.")
    mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else None
    temporary = target.with_name(f".seraph-{secrets.token_hex(8)}")

    def private_enough(name: str, flags: int) -> int:
        # Never more open than the file it becomes, not even while it is being written.
        return os.open(name, flags, 0o666 if mode is None else mode)

    try:
        with open(temporary, "xb", opener=private_enough) as file:
            if callable(content):
                content(file)
            else:
                file.write(content.encode() if isinstance(content, str) else content)
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            temporary.chmod(mode)  # the umask may have removed some of it
        temporary.replace(target)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno and error.filename in (None, str(temporary)):
            # A full disk or a long name, say: name the file that was to be written.
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise
    return path
