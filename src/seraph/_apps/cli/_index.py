"""The mapped rows of a table in a file, to search them again and again."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from sklearn.neighbors import NearestNeighbors
from sklearn.utils import _safe_indexing

from ..._utils._files import write_whole
from ..._utils._typing import Array, IntArray

if TYPE_CHECKING:
    from ._models import SavedModel
    from ._tables import InputTable

KIND = ".safetensors"
_FORMAT = "seraph index 1"
# Rows to map at a time.
_ROWS = 1 << 14
# Rows that choose the directions of a shorter index, that measure its recall, and that show
# whether an index belongs to a model and a table.
_FOR_DIRECTIONS, _FOR_RECALL, _FOR_MATCH = 20_000, 100, 200
# Neighbors that count for the recall, and candidates for each that the full distance sorts.
K, _CANDIDATES = 10, 10
# Share of the largest number by which rows that were mapped again may differ.
_TOLERANCE = 1e-4
# The header has this length whatever it says, since the recall is known only at the end.
_HEADER = 1024

Mapping = Callable[[IntArray], Array]


@dataclass(frozen=True)
class Index:
    """Mapped rows, memory-mapped from a file.

    The search is exact: a scan of a million rows of 64 numbers takes a tenth of a second, less
    than loading a graph of neighbors would. An index of fewer directions than the metric has
    finds candidates, which the full distance sorts.

    Parameters
    ----------
    path : Path
        The file.
    points : ndarray of shape (n_rows, n_components)
        The rows, mapped by the model and along the directions, in single precision.
    directions : ndarray of shape (rank, n_components) or None
        Directions in the space of the model; None if all are kept.
    recall : float
        Share of the 10 nearest rows that a search finds, measured on 100 rows.
    """

    path: Path
    points: Array
    directions: Array | None
    recall: float

    def nearest(self, place: int, k: int, mapped: Mapping) -> tuple[IntArray, Array]:
        """Return the rows nearest to a row, without itself, and their full distances.

        Parameters
        ----------
        place : int
            The row.
        k : int
            Number of neighbors.
        mapped : callable
            Takes row numbers and returns what the model maps those rows to.
        """
        (candidates,) = self.candidates(np.array([place]), k)
        return _nearest(place, k, candidates, mapped)

    def candidates(self, places: IntArray, k: int) -> IntArray:
        """Return, for each place, the rows among which its k nearest are sought."""
        many = k + 1 if self.directions is None else _CANDIDATES * k + 1
        search = NearestNeighbors(algorithm="brute").fit(self.points)
        rows: IntArray = search.kneighbors(
            self.points[places], min(many, len(self.points)), return_distance=False
        )
        return rows

    def holds(self, rows: IntArray, Z: Array) -> bool:
        """Return whether the model maps these rows to what the index has of them."""
        rank = self.points.shape[1] if self.directions is None else len(self.directions)
        if Z.shape[1] != rank:
            return False
        Z = Z if self.directions is None else Z @ self.directions
        away = np.abs(Z - self.points[rows]).max()
        return bool(away <= _TOLERANCE * np.abs(Z).max())


def _nearest(place: int, k: int, candidates: IntArray, mapped: Mapping) -> tuple[IntArray, Array]:
    """Return the candidates that are nearest by the full distance, and their distances."""
    others = np.sort(candidates[candidates != place])
    Z = mapped(np.concatenate([[place], others]))
    apart = np.linalg.norm(Z[1:] - Z[0], axis=1)
    order = np.argsort(apart, kind="stable")[:k]
    return others[order], apart[order]


def open_index(
    path: Path, fitted: SavedModel, table: InputTable, without: list[str | None], place: int
) -> tuple[Index, Mapping]:
    """Map an index into memory; refuse one of another model or of other rows.

    Parameters
    ----------
    path : Path
        The file.
    fitted : SavedModel
        The model.
    table : InputTable
        The table that the index is to be of.
    without : list of str or None
        Columns that are not features.
    place : int
        A row of the table that is needed.

    Returns
    -------
    Index
    callable
        Takes row numbers and returns what the model maps those rows to.
    """
    index = _read(path)

    def mapped(rows: IntArray) -> Array:
        points = fitted.some_points(table, rows, without)
        return np.asarray(fitted.estimator.transform(points), dtype=np.float64)

    rows = np.union1d([place], _spaced(table.n_rows, _FOR_MATCH))
    if len(index.points) != table.n_rows or not index.holds(rows, mapped(rows)):
        raise ValueError(
            f"{path} is an index of {len(index.points)} other rows, or of another model: remove "
            "it or name another file, and a new one is made."
        )
    return index, mapped


def build_index(
    path: Path,
    fitted: SavedModel,
    table: InputTable,
    without: list[str | None],
    n_components: int | None,
) -> tuple[Index, Mapping]:
    """Map all rows of a table and write them to a file.

    Parameters
    ----------
    path, fitted, table, without
        As in `open_index`.
    n_components : int or None
        Number of directions to keep: those in which the mapped rows vary most.

    Returns
    -------
    Index
    callable
        As in `open_index`.
    """
    points = fitted.points(table, without=without)
    n_rows = table.n_rows

    def mapped(rows: IntArray | slice) -> Array:
        some = _safe_indexing(points, rows)
        return np.asarray(fitted.estimator.transform(some), dtype=np.float64)

    rank = mapped(slice(0, 1)).shape[1]
    if rank == 0:
        raise ValueError(f"{fitted.path}: a metric of rank 0 tells no rows apart.")
    directions = None
    if n_components is not None and n_components < rank:
        Z = mapped(_spaced(n_rows, _FOR_DIRECTIONS))
        Z -= Z.mean(axis=0)
        directions = np.linalg.eigh(Z.T @ Z)[1][:, ::-1][:, :n_components].astype(np.float32)
    queries = _spaced(n_rows, _FOR_RECALL)
    true = _Nearest(mapped(queries), min(K + 1, n_rows))
    width = rank if directions is None else directions.shape[1]

    def write(file: BinaryIO) -> None:
        file.write(_header(n_rows, width, directions, recall=1.0))
        for start in range(0, n_rows, _ROWS):
            Z = mapped(slice(start, start + _ROWS))
            if directions is not None:
                true.see(start, Z)
                Z = Z @ directions
            file.write(Z.astype("<f4").tobytes())
        if directions is None:
            return
        file.write(directions.astype("<f4").tobytes())
        file.flush()
        index = _read(Path(file.name))
        file.seek(0)
        file.write(_header(n_rows, width, directions, _recall(index, queries, true.rows, mapped)))

    write_whole(path, write)
    return _read(path), mapped


class _Nearest:
    """The rows nearest to some queries, among all that have been seen so far."""

    def __init__(self, queries: Array, k: int) -> None:
        self.queries = queries
        self.k = k
        self.rows: IntArray = np.empty((len(queries), 0), dtype=np.intp)
        self.apart = np.empty((len(queries), 0))

    def see(self, start: int, Z: Array) -> None:
        """Compare the queries with the rows from `start` on."""
        search = NearestNeighbors(algorithm="brute").fit(Z)
        apart, rows = search.kneighbors(self.queries, min(self.k, len(Z)))
        apart, rows = np.hstack([self.apart, apart]), np.hstack([self.rows, rows + start])
        best = np.argsort(apart, axis=1, kind="stable")[:, : self.k]
        self.apart = np.take_along_axis(apart, best, axis=1)
        self.rows = np.take_along_axis(rows, best, axis=1)


def _recall(index: Index, queries: IntArray, true: IntArray, mapped: Mapping) -> float:
    """Return the share of the true nearest rows that the index finds."""
    shares = []
    found = index.candidates(queries, K)
    for place, candidates, wanted in zip(queries, found, true, strict=True):
        expected = wanted[wanted != place][:K]
        rows, _ = _nearest(place, K, candidates, mapped)
        shares.append(len(np.intersect1d(rows, expected)) / max(len(expected), 1))
    return float(np.mean(shares))


def _spaced(n_rows: int, count: int) -> IntArray:
    return np.unique(np.linspace(0, n_rows - 1, min(count, n_rows), dtype=np.intp))


def _header(n_rows: int, width: int, directions: Array | None, recall: float) -> bytes:
    """Return the header of a .safetensors file with the points and then the directions."""
    end = 4 * n_rows * width
    entries: dict[str, Any] = {
        "__metadata__": {"format": _FORMAT, "recall": f"{recall:.6f}"},
        "points": {"dtype": "F32", "shape": [n_rows, width], "data_offsets": [0, end]},
    }
    if directions is not None:
        entries["directions"] = {
            "dtype": "F32",
            "shape": list(directions.shape),
            "data_offsets": [end, end + 4 * directions.size],
        }
    text = json.dumps(entries).encode()
    return struct.pack("<Q", _HEADER) + text.ljust(_HEADER)


def _read(path: Path) -> Index:
    """Map an index into memory; refuse any other file."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(str(path), framework="numpy") as file:
            metadata = file.metadata() or {}
            if metadata.get("format") != _FORMAT:
                raise ValueError("it is another kind of file")
            recall = float(metadata["recall"])
            names = list(file.keys())
            shape = tuple(file.get_slice("points").get_shape())
            directions = file.get_tensor("directions") if "directions" in names else None
        points = np.memmap(path, dtype="<f4", mode="r", offset=8 + _HEADER, shape=shape)
    except (SafetensorError, ValueError, KeyError) as error:
        raise ValueError(
            f"{path} is no index that `seraph neighbors --index` wrote, or it is damaged "
            f"({error}): name another file."
        ) from None
    return Index(path, np.asarray(points), directions, recall)
