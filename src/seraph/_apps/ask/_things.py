"""What the page shows for a row: a picture, a sound, a text, cells of the table.

Files are found by the name of the row, never by what a browser asks for.
"""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from mimetypes import guess_type
from pathlib import Path
from typing import Any

import numpy as np

from ..._utils._typing import FloatArray
from ...tables._table import InputTable, NamedColumns
from ...tables._words import cell_text

_PICTURES = (".avif", ".bmp", ".gif", ".jpeg", ".jpg", ".png", ".tif", ".tiff", ".webp")
_SOUNDS = (".aac", ".flac", ".m4a", ".mp3", ".oga", ".ogg", ".opus", ".wav", ".weba")
KINDS = {
    **dict.fromkeys((*_PICTURES, ".svg"), "image"),
    **dict.fromkeys(_SOUNDS, "sound"),
    **dict.fromkeys((".md", ".txt"), "text"),
}
# Characters of a text, and of a cell, that the page shows.
_LONGEST_TEXT, _LONGEST_CELL = 20_000, 2_000
# Sides of pictures in pixels: beside the question, and over a point of the map.
SIZES = {"large": 960, "small": 160}


class Column:
    """A column, of one table or of two, whose cells become text when they are shown.

    `sizes` are its cells in units of their spread; None if they are no numbers.
    """

    def __init__(self, name: str, tables: Sequence[InputTable]) -> None:
        self._cells = [cell for table in tables for cell in table.cells(name).to_pylist()]
        numbers = [table.numbers(name) for table in tables if isinstance(table, NamedColumns)]
        self._numbers: FloatArray | None = None
        self.sizes: FloatArray | None = None
        known = [part for part in numbers if part is not None and not np.isnan(part).all()]
        if len(known) == len(tables):
            self._numbers = np.concatenate(known)
            self.sizes = self._numbers / (float(np.nanstd(self._numbers)) or 1.0)
            self._digits = _digits(self._numbers)

    def __getitem__(self, row: int) -> str:
        number = math.nan if self._numbers is None else float(self._numbers[row])
        whole = math.isnan(number) or number.is_integer()
        return cell_text(self._cells[row]) if whole else f"{number:.{self._digits}g}"


def _digits(numbers: FloatArray) -> int:
    """Return how many digits tell different numbers apart: 4 to 15, the rest is rounding.

    With d digits, numbers below 10^e are rounded to multiples of 10^(e - d), so those that differ
    by that much stay different.
    """
    values = np.unique(numbers[np.isfinite(numbers)])
    if len(values) < 2:
        return 4
    largest = np.maximum(np.abs(values[1:]), np.abs(values[:-1]))
    needed = np.floor(np.log10(largest)) + 1.0 - np.log10(np.diff(values))
    return int(np.clip(np.ceil(needed.max()), 4, 15))


class Files:
    """A file for each row, or None."""

    def __init__(self, paths: Iterable[Path | None]) -> None:
        self._paths = [*paths]

    @classmethod
    def below(cls, root: Path, names: Sequence[str]) -> Files:
        """Find files under one folder: each name is a path below it, with or without suffix."""
        stems = cache(_stems)
        return cls(_file_of(root, name, stems) for name in names)

    def forget(self, row: int) -> None:
        """Count the file of a row as missing, since it cannot be read."""
        self._paths[row] = None

    def find(self, row: int) -> tuple[Path, str] | None:
        """Return the file of a row and its kind, if it is still there."""
        path = self._paths[row]
        if path is None or not path.is_file() or path.suffix.lower() not in KINDS:
            return None
        return path, KINDS[path.suffix.lower()]


def _file_of(root: Path, name: str, stems: Callable[[Path], dict[str, Path]]) -> Path | None:
    """Return the file below a folder that a name means; None if there is none."""
    if Path(name).anchor or ".." in Path(name).parts:
        return None
    path = root / name
    if path.suffix.lower() in KINDS and path.is_file():
        return path
    return stems(path.parent).get(path.name)


def _stems(folder: Path) -> dict[str, Path]:
    """Return the files of a folder that can be shown, by their names without suffix."""
    if not folder.is_dir():
        return {}
    paths = (path for path in folder.iterdir() if path.suffix.lower() in KINDS)
    return {path.stem: path for path in sorted(paths, reverse=True)}


@dataclass
class RowThings:
    """Rows of a table, with their files and cells."""

    ids: Sequence[str]
    columns: Mapping[str, Column | Sequence[str]]
    files: Files | None = None

    def shown(self, row: int) -> bool:
        """Return whether there is anything to show for a row."""
        return self.files is None or self.files.find(row) is not None

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
        if self.files is not None:
            path, card["kind"] = self.files.find(row) or (None, "missing")
            if path is not None and card["kind"] == "text":
                with path.open(encoding="utf-8", errors="replace") as file:
                    card["text"] = _cut(file.read(_LONGEST_TEXT + 1), _LONGEST_TEXT)
        elif len(self.columns) == 1:
            ((_, text, _),) = card["cells"]
            card |= {"kind": "text", "text": text, "cells": []}
        return card

    def _size(self, name: str, row: int) -> float | None:
        """Return a number in units of its column's spread; None for other cells."""
        sizes = getattr(self.columns[name], "sizes", None)
        size = math.nan if sizes is None else float(sizes[row])
        return round(size, 3) if math.isfinite(size) else None

    def picture(self, row: int, size: str) -> tuple[bytes, str] | None:
        """Return the picture of a row and its media type; None if it has none."""
        path = self.path(row, "image")
        if self.files is None or path is None:
            return None
        drawing = path.suffix.lower() == ".svg"
        made = (path.read_bytes(), "image/svg+xml") if drawing else scaled(path, SIZES[size])
        if made is None:
            self.files.forget(row)
        return made

    def media(self, path: str) -> tuple[bytes, str] | None:
        """Return the file that a page asks for, as "image/small/3" or "sound/3"; and its type."""
        kind, *size, row = path.split("/")
        if kind == "image":
            return self.picture(int(row), size[0])
        sound = self.path(int(row), "sound")
        if sound is None:
            return None
        return sound.read_bytes(), guess_type(sound.name)[0] or "audio/wav"

    def path(self, row: int, kind: str) -> Path | None:
        """Return the file of a row if it is of a kind."""
        path, its_kind = (self.files and self.files.find(row)) or (None, "")
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
