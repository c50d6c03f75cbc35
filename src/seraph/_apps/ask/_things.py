"""What the page shows for a row: a picture, a sound, a text, cells of the table.

Files are found by the name of the row and never by what a browser asks for, and only under the
folder that the user named.
"""

from __future__ import annotations

import io
import math
import os
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Protocol

from ..._utils._typing import FloatArray

_PICTURES = (".avif", ".bmp", ".gif", ".jpeg", ".jpg", ".png", ".tif", ".tiff", ".webp")
_SOUNDS = {
    ".aac": "audio/aac",
    ".flac": "audio/flac",
    ".m4a": "audio/mp4",
    ".mp3": "audio/mpeg",
    ".oga": "audio/ogg",
    ".ogg": "audio/ogg",
    ".opus": "audio/ogg",
    ".wav": "audio/wav",
    ".weba": "audio/webm",
}
_KINDS = {
    **dict.fromkeys((*_PICTURES, ".svg"), "image"),
    **dict.fromkeys(_SOUNDS, "sound"),
    **dict.fromkeys((".md", ".txt"), "text"),
}
# Characters of a text, and of a cell, that the page shows.
_LONGEST_TEXT, _LONGEST_CELL = 20_000, 2_000
# Sides of pictures in pixels: beside the question, and over a point of the map.
SIZES = {"large": 960, "small": 160}
_LARGEST_PICTURE = 200_000_000  # pixels
_LARGEST_FILE = 200 * 2**20


class Cells(Protocol):
    """A column of text."""

    def __getitem__(self, row: int, /) -> str: ...


class Folder:
    """Files under one folder, one for each name.

    A file belongs to a name if its path below the folder is that name, or that name and a suffix.
    Files that a link leads to elsewhere are left alone.

    Parameters
    ----------
    root : Path
        The folder.
    names : sequence of str
        Names of the rows.
    """

    def __init__(self, root: Path, names: Sequence[str]) -> None:
        self.root = Path(os.path.realpath(root))
        self._paths: list[Path | None] = self._find(names)

    def forget(self, row: int) -> None:
        """Count the file of a row as missing, since it cannot be read."""
        self._paths[row] = None

    def find(self, row: int) -> tuple[Path, str] | None:
        """Return the file of a row and its kind, if it is still inside the folder."""
        path = self._paths[row]
        if path is None or not self._inside(path):
            return None
        return path, _KINDS[path.suffix.lower()]

    def _find(self, names: Sequence[str]) -> list[Path | None]:
        stems = cache(self._stems)
        found: list[Path | None] = []
        for name in names:
            path = self._below(name)
            if path is None:
                found.append(None)
            elif path.suffix.lower() in _KINDS and self._inside(path):
                found.append(path)
            else:
                found.append(stems(path.parent).get(path.name))
        return found

    def _below(self, name: str) -> Path | None:
        """Return the path that a name means; None if that is not below the folder."""
        path = Path(name)
        if not path.parts or path.anchor or ".." in path.parts:
            return None
        return self.root / path

    def _stems(self, folder: Path) -> dict[str, Path]:
        """Return the files of a folder that can be shown, by their names without suffix."""
        if not self._inside(folder, kind=stat.S_ISDIR):
            return {}
        files: dict[str, Path] = {}
        with os.scandir(folder) as entries:
            for entry in sorted(entries, key=lambda e: e.name):
                path = folder / entry.name
                if path.suffix.lower() in _KINDS and self._inside(path):
                    files.setdefault(path.stem, path)
        return files

    def _inside(self, path: Path, kind: Any = stat.S_ISREG) -> bool:
        """Return whether the path, with all links followed, is a plain file below the folder."""
        try:
            real = Path(os.path.realpath(path, strict=True))
            return real.is_relative_to(self.root) and kind(real.stat().st_mode)
        except (OSError, ValueError):
            return False


@dataclass
class RowThings:
    """Rows of a table, with their files and cells.

    Parameters
    ----------
    ids : sequence of str
        Name of each row.
    columns : mapping of str to Cells
        Cells to show, by column.
    folder : Folder, optional
        Files to show.
    sizes : mapping of str to ndarray
        Numbers of the columns that have some, in units of their spread.
    """

    ids: Sequence[str]
    columns: Mapping[str, Cells]
    folder: Folder | None = None
    sizes: Mapping[str, FloatArray] = field(default_factory=dict)

    def shown(self, row: int) -> bool:
        """Return whether there is anything to show for a row."""
        return self.folder is None or self.folder.find(row) is not None

    def card(self, row: int) -> dict[str, Any]:
        """Return what the page shows for a row, for JSON."""
        card: dict[str, Any] = {
            "row": row,
            "id": self.ids[row],
            "kind": "cells",
            "cells": [
                [name, _cut(str(cells[row]), _LONGEST_CELL), self._size(name, row)]
                for name, cells in self.columns.items()
            ],
        }
        if self.folder is not None:
            path, card["kind"] = self.folder.find(row) or (None, "missing")
            if path is not None and card["kind"] == "text":
                card["text"] = _read_text(path)
        elif len(self.columns) == 1:
            ((_, text, _),) = card["cells"]
            card |= {"kind": "text", "text": text, "cells": []}
        return card

    def _size(self, name: str, row: int) -> float | None:
        """Return a number in units of its column's spread; None for what is no number."""
        size = float(self.sizes[name][row]) if name in self.sizes else math.nan
        return round(size, 3) if math.isfinite(size) else None

    def picture(self, row: int, size: str) -> tuple[bytes, str] | None:
        """Return the picture of a row and its media type; None if it has none."""
        found = None if self.folder is None else self.folder.find(row)
        if self.folder is None or found is None or found[1] != "image":
            return None
        path, made = found[0], None
        if path.stat().st_size <= _LARGEST_FILE:
            drawing = path.suffix.lower() == ".svg"
            made = (path.read_bytes(), "image/svg+xml") if drawing else scaled(path, SIZES[size])
        if made is None:
            self.folder.forget(row)
        return made

    def sound(self, row: int) -> tuple[Path, str] | None:
        """Return the sound file of a row and its media type; None if it has none."""
        found = None if self.folder is None else self.folder.find(row)
        if found is None or found[1] != "sound":
            return None
        return found[0], _SOUNDS[found[0].suffix.lower()]


def _read_text(path: Path) -> str:
    with path.open(encoding="utf-8", errors="replace") as file:
        return _cut(file.read(_LONGEST_TEXT + 1), _LONGEST_TEXT)


def _cut(text: str, longest: int) -> str:
    """Cut a long text, and say so at its end."""
    if len(text) <= longest:
        return text
    return f"{text[:longest]} […] (cut after {longest:,} characters)"


def scaled(path: Path, side: int) -> tuple[bytes, str] | None:
    """Return a picture with no side longer than `side`, and its media type.

    The picture is decoded and encoded again, so what a browser gets is a picture, whatever is in
    the file. Returns None if the file cannot be read as a picture.
    """
    from PIL import Image, ImageOps

    try:
        with Image.open(path) as image:
            if image.width * image.height > _LARGEST_PICTURE:
                return None
            image.draft("RGB", (side, side))  # a large JPEG is read at a smaller scale
            turned = ImageOps.exif_transpose(image)
            turned.thumbnail((side, side))
            return encoded(turned)
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return None


def encoded(image: Any) -> tuple[bytes, str]:
    """Return an image as a JPEG, or as a PNG if it has few pixels or is transparent."""
    out = io.BytesIO()
    transparent = image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info
    if transparent or image.width * image.height <= 128 * 128:
        image.convert("RGBA" if transparent else "RGB").save(out, "PNG")
        return out.getvalue(), "image/png"
    image.convert("RGB").save(out, "JPEG", quality=88)
    return out.getvalue(), "image/jpeg"
