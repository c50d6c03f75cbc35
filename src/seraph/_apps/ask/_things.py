"""What the page shows for a row: a picture, a sound, a text, cells of the table.

Files are found by the name of the row, never by what a browser asks for.
"""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Protocol

from ..._utils._typing import FloatArray

_PICTURES = (".avif", ".bmp", ".gif", ".jpeg", ".jpg", ".png", ".tif", ".tiff", ".webp")
_SOUNDS = (".aac", ".flac", ".m4a", ".mp3", ".oga", ".ogg", ".opus", ".wav", ".weba")
_KINDS = {
    **dict.fromkeys((*_PICTURES, ".svg"), "image"),
    **dict.fromkeys(_SOUNDS, "sound"),
    **dict.fromkeys((".md", ".txt"), "text"),
}
# Characters of a text, and of a cell, that the page shows.
_LONGEST_TEXT, _LONGEST_CELL = 20_000, 2_000
# Sides of pictures in pixels: beside the question, and over a point of the map.
SIZES = {"large": 960, "small": 160}


class Cells(Protocol):
    """A column of text."""

    def __getitem__(self, row: int, /) -> str: ...


class Folder:
    """Files under one folder, one for each name.

    A file belongs to a name if its path below the folder is that name, or that name and a suffix.
    """

    def __init__(self, root: Path, names: Sequence[str]) -> None:
        stems = cache(_stems)
        self._paths = [_file_of(root, name, stems) for name in names]

    def forget(self, row: int) -> None:
        """Count the file of a row as missing, since it cannot be read."""
        self._paths[row] = None

    def find(self, row: int) -> tuple[Path, str] | None:
        """Return the file of a row and its kind, if it is still there."""
        path = self._paths[row]
        if path is None or not path.is_file():
            return None
        return path, _KINDS[path.suffix.lower()]


def _file_of(root: Path, name: str, stems: Callable[[Path], dict[str, Path]]) -> Path | None:
    """Return the file below a folder that a name means; None if there is none."""
    if Path(name).anchor or ".." in Path(name).parts:
        return None
    path = root / name
    if path.suffix.lower() in _KINDS and path.is_file():
        return path
    return stems(path.parent).get(path.name)


def _stems(folder: Path) -> dict[str, Path]:
    """Return the files of a folder that can be shown, by their names without suffix."""
    if not folder.is_dir():
        return {}
    paths = (path for path in folder.iterdir() if path.suffix.lower() in _KINDS)
    return {path.stem: path for path in sorted(paths, reverse=True)}


@dataclass
class RowThings:
    """Rows of a table, with their files and cells."""

    ids: Sequence[str]
    columns: Mapping[str, Cells]
    folder: Folder | None = None
    # Numbers of the columns that have some, in units of their spread.
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
                with path.open(encoding="utf-8", errors="replace") as file:
                    card["text"] = _cut(file.read(_LONGEST_TEXT + 1), _LONGEST_TEXT)
        elif len(self.columns) == 1:
            ((_, text, _),) = card["cells"]
            card |= {"kind": "text", "text": text, "cells": []}
        return card

    def _size(self, name: str, row: int) -> float | None:
        """Return a number in units of its column's spread; None for other cells."""
        size = float(self.sizes[name][row]) if name in self.sizes else math.nan
        return round(size, 3) if math.isfinite(size) else None

    def picture(self, row: int, size: str) -> tuple[bytes, str] | None:
        """Return the picture of a row and its media type; None if it has none."""
        path = self.path(row, "image")
        if self.folder is None or path is None:
            return None
        drawing = path.suffix.lower() == ".svg"
        made = (path.read_bytes(), "image/svg+xml") if drawing else scaled(path, SIZES[size])
        if made is None:
            self.folder.forget(row)
        return made

    def path(self, row: int, kind: str) -> Path | None:
        """Return the file of a row if it is of a kind."""
        path, its_kind = (self.folder and self.folder.find(row)) or (None, "")
        return path if its_kind == kind else None


def _cut(text: str, longest: int) -> str:
    """Cut a long text, and say so at its end."""
    if len(text) <= longest:
        return text
    return f"{text[:longest]} […] (cut after {longest:,} characters)"


def scaled(path: Path, side: int) -> tuple[bytes, str] | None:
    """Return a picture with no side longer than `side`, and its media type.

    What a browser gets is a JPEG, or a PNG if it is small or transparent; None if the file cannot
    be read as a picture.
    """
    from PIL import Image, ImageOps

    out = io.BytesIO()
    try:
        with Image.open(path) as image:
            image.draft("RGB", (side, side))  # a large JPEG is read at a smaller scale
            turned = ImageOps.exif_transpose(image)
            turned.thumbnail((side, side))
            transparent = turned.mode in ("RGBA", "LA", "PA") or "transparency" in turned.info
            if transparent or turned.width * turned.height <= 128 * 128:
                turned.convert("RGBA" if transparent else "RGB").save(out, "PNG")
                return out.getvalue(), "image/png"
            turned.convert("RGB").save(out, "JPEG", quality=88)
            return out.getvalue(), "image/jpeg"
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return None
