"""Read files as tables, by suffix."""

from __future__ import annotations

import gzip
import io
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from ..._typing import Array
from ._csv import check_distinct, parse_csv
from ._table import InputTable, NamedColumns, PlainArray

KINDS = (".csv", ".tsv", ".csv.gz", ".tsv.gz", ".parquet", ".npy", ".npz")


def kind_of(path: Path, kinds: tuple[str, ...] = KINDS) -> str:
    """Return the suffix of a file, one of `kinds`; refuse any other.

    Examples
    --------
    >>> kind_of(Path("Wine.CSV.gz"))
    '.csv.gz'
    """
    name = path.name.lower()
    for kind in sorted(kinds, key=len, reverse=True):
        if name.endswith(kind):
            return kind
    *others, last = kinds
    choice = f"{', '.join(others)} or {last}" if others else last
    raise ValueError(f"{path}: the name must end in {choice}.")


def read_table(path: Path, *, decimal_comma: bool = False) -> InputTable:
    r"""Read a table; raise a ValueError of one line if that fails.

    Parameters
    ----------
    path : Path
        File whose name ends in one of `KINDS`. An .npz file holds an array X and, if there are
        labels, an array y.
    decimal_comma : bool, default=False
        Whether 1,5 in a text table means one and a half.

    Returns
    -------
    InputTable
        A table with at least one row.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "table.csv"
    ...     _ = path.write_text("height,weight,kind\n1.5,30,a\n1.8,80,\n")
    ...     table = read_table(path)
    >>> table.labels("kind")
    array(['a', None], dtype=object)
    >>> table.points(without=["kind"]).to_numpy()
    array([[ 1.5, 30. ],
           [ 1.8, 80. ]])
    """
    kind = kind_of(path)
    if path.is_dir():
        raise ValueError(f"{path} is a folder, not a table: name a file.")
    try:
        data = path.read_bytes()
        if kind.endswith(".gz"):
            data = gzip.decompress(data)
        table = _table(path, kind.removesuffix(".gz"), data, decimal_comma=decimal_comma)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ValueError(f"{path} is damaged or cut short ({error}): copy it again.") from None
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    if table.n_rows == 0:
        raise ValueError(f"{path} has columns but no rows: add some.")
    return table


def _table(path: Path, kind: str, data: bytes, *, decimal_comma: bool) -> InputTable:
    if kind == ".npy":
        with _reading_as("an .npy file"):
            X = _load_npy(data)
        return PlainArray(path, _checked_features(X))
    if kind == ".npz":
        return PlainArray(path, *_npz_arrays(data))
    if kind == ".parquet":
        return NamedColumns(path, _parquet_columns(data), decimal_comma)
    return NamedColumns(path, parse_csv(data, "\t" if kind == ".tsv" else None), decimal_comma)


@contextmanager
def _reading_as(kind: str) -> Iterator[None]:
    """Turn any error about a damaged file into a ValueError."""
    try:
        yield
    except Exception as error:  # other libraries' readers fail in many ways on damaged bytes
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise ValueError(f"it cannot be read as {kind} ({reason}).") from None


def _parquet_columns(data: bytes) -> dict[str, Any]:
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile

    with _reading_as("a Parquet file"):
        # ParquetFile, because read_table would make columns from the names of folders.
        table = ParquetFile(pa.BufferReader(data)).read()
    kept = [name for name in table.column_names if not name.startswith("__index_level_")]
    check_distinct(kept)
    if not kept:
        raise ValueError("it has no columns: write it with the features as columns.")
    return {name: table.column(name) for name in kept}


def _npz_arrays(data: bytes) -> tuple[Array, Array | None]:
    with _reading_as("an .npz file"), zipfile.ZipFile(io.BytesIO(data)) as archive:
        names = [name[:-4] for name in archive.namelist() if name.endswith(".npy")]
        arrays = {
            name: _load_npy(archive.read(f"{name}.npy")) for name in names if name in ("X", "y")
        }
    if "X" not in arrays:
        raise ValueError(
            f"it holds {', '.join(names) or 'nothing'}: the features must be an array X (rows by "
            "features), and labels, if any, an array y."
        )
    X, y = _checked_features(arrays["X"]), arrays.get("y")
    if y is not None and (y.shape != X.shape[:1] or y.dtype.kind not in "biufUS"):
        raise ValueError(
            f"y must be one label for each of the {len(X)} rows of X; it is an array of "
            f"{y.dtype} of shape {y.shape}."
        )
    if y is not None and y.dtype.kind == "S":
        y = y.astype(str)
    return X, y


def _load_npy(data: bytes) -> Array:
    file = io.BytesIO(data)
    version = np.lib.format.read_magic(file)
    header = {(1, 0): np.lib.format.read_array_header_1_0}.get(
        version, np.lib.format.read_array_header_2_0
    )
    shape, _, dtype = header(file)
    # Check the size first: a damaged header may ask for more memory than there is.
    if len(data) - file.tell() < dtype.itemsize * int(np.prod(shape, dtype=object)):
        raise ValueError(f"the header says shape {shape}, but the file is shorter")
    file.seek(0)
    array: Array = np.lib.format.read_array(file, allow_pickle=False)
    return array


def _checked_features(X: Array) -> Array:
    if X.dtype.kind not in "biuf" or X.ndim != 2 or X.shape[1] == 0:
        raise ValueError(
            "the features must be numbers in an array of two dimensions, rows by features; it is "
            f"an array of {X.dtype} of shape {X.shape}."
        )
    return X
