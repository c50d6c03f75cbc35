"""The archive of a model: what it may unpack to, which is checked before any of it is unpacked."""

from __future__ import annotations

import io
import json
import os
import zipfile
from collections.abc import Iterator, Mapping
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from .._utils._validation import in_short

SCHEMA, VERSIONS = "schema.json", "versions.json"
# An archive of n bytes may unpack to at most a + b n bytes; the schema becomes Python objects of
# ten times its size or more, so its bounds are tighter.
_ALL, _SCHEMA = (64 * 2**20, 20), (16 * 2**20, 4)
# The shapes of what learners and classifiers hold: equal names are equal numbers in one model.
_SHAPES = {
    "n_features_in_": "features",
    "components_": ("rank", "features"),
    "points_": ("rows", "coordinates"),
    "codes_": ("rows",),
    "center_": ("coordinates",),
    "classes_": ("classes",),
    "linear_coef_": ("classes", "coordinates"),
    "linear_intercept_": ("classes",),
    "landmarks_": ("landmarks", "inputs"),
    "forest_.center": ("inputs",),
    "forest_.scale": ("inputs",),
    "forest_.left": ("nodes",),
    "forest_.right": ("nodes",),
    "forest_.feature": ("nodes",),
    "forest_.threshold": ("nodes",),
    "forest_.shares": ("nodes", "classes"),
}


def check_archive(content: bytes) -> None:
    """Refuse an archive that unpacks to too much, or whose arrays contradict each other.

    Only the schema and the first bytes of the arrays are unpacked.
    """
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        _check_size(archive, len(content))
        schema = json.loads(archive.read(SCHEMA))
        shapes = dict(_shapes(archive, len(content)))
    readers: dict[str, Any] = {}
    for node in _nodes(schema):
        file = node.get("file")
        # Read once under one id. Under many, one array would become many.
        place = node.get("__id__")
        if isinstance(file, str) and readers.setdefault(file, place) != place:
            raise ValueError(f"{file} is unpacked twice")
        state = node.get("content")
        if str(node.get("__module__")).startswith("seraph") and isinstance(state, dict):
            _check_shapes(state.get("content"), shapes)


def _check_size(archive: zipfile.ZipFile, n_bytes: int, used: int = 0) -> int:
    """Return how much an archive says that it unpacks to, and Python unpacks no more."""
    entries = archive.infolist()
    total = used + sum(entry.file_size for entry in entries)
    schema = sum(entry.file_size for entry in entries if entry.filename == SCHEMA)
    for size, (base, times) in ((total, _ALL), (schema, _SCHEMA)):
        if size > base + times * n_bytes:
            raise ValueError(f"{n_bytes:,} bytes would unpack to {size:,}")
    if any(e.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) for e in entries):
        raise ValueError("it is compressed in another way than seraph.save does")
    return total


def _shapes(archive: zipfile.ZipFile, n_bytes: int) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Yield the shapes of the arrays, by their headers; refuse one that its bytes do not fill."""
    total = _check_size(archive, n_bytes)
    for entry in archive.infolist():
        name = entry.filename
        if name.endswith(".npz"):  # a sparse array is an archive of its own
            with zipfile.ZipFile(io.BytesIO(archive.read(entry))) as inner:
                total = _check_size(inner, n_bytes, total)
                dict(_shapes(inner, n_bytes))
        elif name.endswith(".npy"):
            with archive.open(entry) as file:
                read = np.lib.format.read_array_header_1_0
                if np.lib.format.read_magic(file) != (1, 0):
                    read = np.lib.format.read_array_header_2_0
                shape, _, dtype = read(file)
                n_rest = entry.file_size - file.tell()
            if dtype.itemsize == 0 or prod(shape) * dtype.itemsize != n_rest:
                raise ValueError(f"{name} holds {n_rest:,} bytes for an array of shape {shape}")
            yield name, shape


def _nodes(schema: Any) -> Iterator[dict[str, Any]]:
    """Yield all objects of a schema, at any depth."""
    left = [schema]
    while left:
        node = left.pop()
        if isinstance(node, dict):
            yield node
        if isinstance(node, dict | list):
            left += node.values() if isinstance(node, dict) else node


def _check_shapes(attributes: Any, shapes: Mapping[str, tuple[int, ...]]) -> None:
    """Refuse an estimator whose arrays have shapes that contradict each other."""
    if not isinstance(attributes, dict):
        return
    forest = attributes.get("forest_", {}).get("content")
    if isinstance(forest, dict):
        attributes = attributes | {f"forest_.{name}": array for name, array in forest.items()}
    known: dict[str, tuple[int, str]] = {}
    for name, expected in _SHAPES.items():
        node = attributes.get(name, {})
        if isinstance(expected, str):
            found = {expected: int(node["content"])} if "content" in node else {}
        elif node.get("file") in shapes:
            shape = shapes[node["file"]]
            if len(shape) != len(expected):
                raise ValueError(f"{name} has {len(shape)} dimensions, not {len(expected)}")
            found = dict(zip(expected, shape, strict=True))
        else:
            continue
        for axis, number in found.items():
            first, other = known.setdefault(axis, (number, name))
            if first != number:
                raise ValueError(f"{name} has {number} {axis}, and {other} has {first}")


def read_versions(path: str | os.PathLike[str]) -> dict[str, str]:
    """Read which library versions saved a model, without loading it.

    They are those of "seraph", "python", "numpy", "scipy", "scikit-learn" and "skops"; none of a
    skops file that seraph did not write.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            if VERSIONS not in archive.namelist():
                return {}
            return dict(json.loads(archive.read(VERSIONS)))
    except (ValueError, TypeError, zipfile.BadZipFile) as error:
        raise damaged(Path(path), error) from error


def damaged(path: Path, error: BaseException) -> ValueError:
    """Return the error of a file that holds no model."""
    return ValueError(
        f"{path} cannot be read: it is not a model that seraph.save wrote, or it is damaged "
        f"({type(error).__name__}: {in_short(str(error))})."
    )
