"""Files to tables, by their suffix."""

from __future__ import annotations

import gzip
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._csv import check_distinct, parse_csv
from ._table import NamedColumns, PlainArray, Table

KINDS = (".csv", ".tsv", ".csv.gz", ".tsv.gz", ".parquet", ".npy", ".npz")


def kind_of(path: Path, kinds: tuple[str, ...] = KINDS) -> str:
    """The suffix of a file, one of `kinds`; anything else is refused.

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


def read_table(path: Path, *, decimal_comma: bool = False) -> Table:
    r"""Read a table, or say in one line why it is none.

    Parameters
    ----------
    path : Path
        A file whose name ends in one of `KINDS`. An .npz file holds an array X, and may hold
        labels as y.
    decimal_comma : bool, default=False
        Whether a text table writes 1,5 for one and a half.

    Returns
    -------
    Table
        With at least one row.

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
        raise ValueError(f"{path} is a folder, not a table.")
    read = _READERS[kind.removesuffix(".gz")]
    try:
        if kind.endswith(".gz"):
            table = read(path, gzip.decompress(path.read_bytes()), decimal_comma)
        else:
            table = read(path, path.read_bytes(), decimal_comma)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ValueError(f"{path} is damaged or cut short ({error}).") from None
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    if table.n_rows == 0:
        raise ValueError(f"{path} has columns, but no rows.")
    return table


def _read_csv(path: Path, data: bytes, decimal_comma: bool) -> Table:
    return NamedColumns(path, parse_csv(data), decimal_comma)


def _read_tsv(path: Path, data: bytes, decimal_comma: bool) -> Table:
    return NamedColumns(path, parse_csv(data, "\t"), decimal_comma)


def _read_parquet(path: Path, data: bytes, decimal_comma: bool) -> Table:
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile

    def read(data: bytes) -> Any:
        # ParquetFile, not read_table, which would take columns from the names of folders.
        return ParquetFile(pa.BufferReader(data)).read()

    table = _guarded(read, data, "a Parquet file")
    kept = [name for name in table.column_names if not name.startswith("__index_level_")]
    check_distinct(kept)
    if not kept:
        raise ValueError("it has no columns.")
    return NamedColumns(path, {name: table.column(name) for name in kept}, decimal_comma)


def _read_npy(path: Path, data: bytes, decimal_comma: bool) -> Table:
    return PlainArray(path, _features(_guarded(_load_npy, data, "an .npy file")))


def _read_npz(path: Path, data: bytes, decimal_comma: bool) -> Table:
    arrays = _guarded(_load_npz, data, "an .npz file")
    if "X" not in arrays:
        raise ValueError(
            f"it holds {', '.join(arrays) or 'nothing'}: the features must be an array X (rows by "
            "features), the labels, if any, an array y."
        )
    X, y = _features(arrays["X"]), arrays.get("y")
    if y is not None and (y.shape != X.shape[:1] or y.dtype.kind not in "biufUS"):
        raise ValueError(
            f"y must be one label for each of the {len(X)} rows of X; it is an array of "
            f"{y.dtype} of shape {y.shape}."
        )
    if y is not None and y.dtype.kind == "S":
        y = y.astype(str)
    return PlainArray(path, X, y)


_READERS: dict[str, Callable[[Path, bytes, bool], Table]] = {
    ".csv": _read_csv,
    ".tsv": _read_tsv,
    ".parquet": _read_parquet,
    ".npy": _read_npy,
    ".npz": _read_npz,
}


def _guarded(read: Callable[[bytes], Any], data: bytes, kind: str) -> Any:
    """What a reader makes of a file; whatever it makes of a damaged one is a ValueError."""
    try:
        return read(data)
    except ImportError:
        raise
    except Exception as error:  # other people's readers fail in many ways on damaged bytes
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise ValueError(f"it cannot be read as {kind} ({reason}).") from None


def _load_npy(data: bytes) -> NDArray:
    import io

    file = io.BytesIO(data)
    version = np.lib.format.read_magic(file)
    header = {(1, 0): np.lib.format.read_array_header_1_0}.get(
        version, np.lib.format.read_array_header_2_0
    )
    shape, _, dtype = header(file)
    # The size is checked first: a damaged header may ask for more memory than there is.
    if len(data) - file.tell() < dtype.itemsize * int(np.prod(shape, dtype=object)):
        raise ValueError(f"the header tells of shape {shape}, and the file is shorter")
    file.seek(0)
    array: NDArray = np.lib.format.read_array(file, allow_pickle=False)
    return array


def _load_npz(data: bytes) -> dict[str, NDArray]:
    import io

    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        names = [name for name in archive.namelist() if name.endswith(".npy")]
        wanted = [name for name in names if name in ("X.npy", "y.npy")]
        found: dict[str, NDArray] = {name[:-4]: _load_npy(archive.read(name)) for name in wanted}
        return found or {name[:-4]: np.empty(0) for name in names}


def _features(X: NDArray) -> NDArray:
    if X.dtype.kind not in "biuf" or X.ndim != 2 or X.shape[1] == 0:
        raise ValueError(
            "the features must be numbers in an array of two dimensions, rows by features; it is "
            f"an array of {X.dtype} of shape {X.shape}."
        )
    return X
