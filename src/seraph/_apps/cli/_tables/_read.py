"""Read files as tables, by suffix."""

from __future__ import annotations

import codecs
import gzip
import io
import sys
import zipfile
import zlib
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import json as arrow_json

from ...._utils._cells._table import NamedColumns, Written
from ...._utils._cells._types import columns_of
from ...._utils._typing import Array
from ._arrays import InputTable, PlainArray, stack
from ._csv import as_utf8, check_distinct, guess_encoding, parse_csv, separator_of
from ._databases import IN_MEMORY, query_database, query_duckdb
from ._limits import (
    TooLarge,
    check_columns,
    check_memory,
    read_bounded,
    read_file,
)
from ._spreadsheets import spreadsheet_table

KINDS = (
    ".csv", ".tsv", ".csv.gz", ".tsv.gz", ".jsonl", ".ndjson", ".parquet", ".feather", ".arrow",
    ".xlsx", ".ods", ".npy", ".npz",
)  # fmt: skip
_DATABASES = (".sqlite", ".sqlite3", ".db", ".duckdb")
STDIN = Path("-")
# How files begin, for what comes from standard input without a name.
_MAGIC = {b"\x1f\x8b": ".csv.gz", b"PAR1": ".parquet", b"ARROW1": ".arrow", b"{": ".jsonl"}


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


def read_tables(
    paths: Sequence[Path],
    *,
    asked: Collection[str | None] = (),
    decimal_comma: bool = False,
    encoding: str | None = None,
    other_encoding: str | None = None,
    sql: str | None = None,
) -> InputTable:
    """Read one table, or several with the same columns, one below the other.

    `asked` are columns that a table with names must have, `other_encoding` what to guess if the
    table is no UTF-8. `sql` is run on the tables, which it calls `data`, or on a SQLite or DuckDB
    file. The table has at least one row.
    """
    table: InputTable
    if sql is not None and len(paths) == 1 and paths[0].suffix.lower() in _DATABASES:
        table = NamedColumns(paths[0], query_database(paths[0], sql), decimal_comma)
    else:
        tables = [
            read_table(
                path,
                decimal_comma=decimal_comma,
                encoding=encoding,
                other_encoding=other_encoding,
            )
            for path in paths
        ]
        table = tables[0] if len(tables) == 1 else stack(tables)
        if sql is not None:
            if not isinstance(table, NamedColumns):
                raise ValueError(
                    f"{table.path}: --sql needs named columns, which an array has not."
                )
            data = pa.table(dict(table.columns))
            columns = query_duckdb(IN_MEMORY, sql, f"{table.path}", data)
            written = table.written._replace(lines=False)
            table = NamedColumns(table.path, columns, decimal_comma, written)
    for name in asked:
        if name is not None and table.names is not None:
            table.cells(name)  # refuses a name that it does not have
    return _with_rows(table)


def read_table(
    path: Path,
    *,
    decimal_comma: bool = False,
    encoding: str | None = None,
    other_encoding: str | None = None,
) -> InputTable:
    r"""Read a table with at least one row; raise a ValueError of one line if that fails.

    The name of the file ends in one of `KINDS`, or is - for standard input. An .npz file holds an
    array X and, if there are labels, an array y. For the options see `read_tables`.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "table.csv"
    ...     _ = path.write_text("height,weight,kind\n1.5,30,a\n1.8,80,\n")
    ...     table = read_table(path)
    >>> table.names
    ('height', 'weight', 'kind')
    >>> table.points(["height", "weight"]).to_numpy()
    array([[ 1.5, 30. ],
           [ 1.8, 80. ]])
    """
    if path == STDIN:
        path = Path("(standard input)")
        with _about(path):
            data = read_bounded(sys.stdin.buffer)
            kind = _kind_of_content(data)
    else:
        if path.suffix.lower() in _DATABASES:
            raise ValueError(f"{path} is a database: say what to read from it with --sql.")
        if path.is_dir():
            raise ValueError(f"{path} is a folder, not a table: name a file.")
        kind = kind_of(path)
        with _about(path):
            data = b"" if kind == ".npy" else read_file(path)  # an array is mapped instead
    with _about(path):
        if kind.endswith(".gz"):
            with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
                kind, data = kind.removesuffix(".gz"), read_bounded(file)
        if kind in (".csv", ".tsv"):
            encoding = encoding or guess_encoding(data, other_encoding, path)
            if data.startswith(codecs.BOM_UTF8):
                encoding = "utf-8-sig"
            data = as_utf8(data, encoding)
        table = _table(path, kind, data, encoding, decimal_comma=decimal_comma)
    return _with_rows(table)


@contextmanager
def _about(path: Path) -> Iterator[None]:
    """Name the file in errors about its content."""
    try:
        yield
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ValueError(f"{path} is damaged or cut short ({error}): copy it again.") from None
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def _with_rows(table: InputTable) -> InputTable:
    if table.n_rows == 0:
        raise ValueError(f"{table.path} has columns but no rows: add some.")
    return table


def _kind_of_content(data: bytes) -> str:
    start = data[:64].lstrip()
    return next((kind for magic, kind in _MAGIC.items() if start.startswith(magic)), ".csv")


def _table(
    path: Path, kind: str, data: bytes, encoding: str | None, *, decimal_comma: bool
) -> InputTable:
    if kind == ".npy":
        with _reading_as(kind):
            X = np.lib.format.open_memmap(path, mode="r")
        return PlainArray(path, _checked_features(X))
    if kind == ".npz":
        return PlainArray(path, *_npz_arrays(data))
    if kind in (".csv", ".tsv"):
        separator = "\t" if kind == ".tsv" else separator_of(data)
        columns = parse_csv(data, separator)
        # Cells with line ends and empty lines make more lines than rows.
        n_lines = data.count(b"\n") + (not data.endswith(b"\n"))
        written = Written(
            separator,
            encoding or "utf-8",
            "\r\n" if b"\r\n" in data else "\n",
            lines=n_lines == 1 + len(next(iter(columns.values()))),
        )
        return NamedColumns(path, columns, decimal_comma, written)
    read = {
        ".parquet": _parquet_table,
        ".feather": _arrow_table,
        ".arrow": _arrow_table,
        ".jsonl": _json_table,
        ".ndjson": _json_table,
        ".xlsx": spreadsheet_table,
        ".ods": spreadsheet_table,
    }[kind]
    with _reading_as(kind):
        table = read(data)
    # pandas saves an index without a name as a column called like this.
    kept = [name for name in table.column_names if not name.startswith("__index_level_")]
    check_columns(len(kept))
    check_distinct(kept)
    if not kept:
        raise ValueError("it has no columns: write it with the features as columns.")
    return NamedColumns(path, columns_of(table, kept), decimal_comma)


_KIND_NAMES = {".parquet": "a Parquet file", ".jsonl": "JSON lines", ".ndjson": "JSON lines"}


@contextmanager
def _reading_as(kind: str) -> Iterator[None]:
    """Turn any error of a library about a damaged file into a ValueError."""
    try:
        yield
    except (ImportError, TooLarge):
        raise
    except Exception as error:  # other libraries' readers fail in many ways on damaged bytes
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        name = _KIND_NAMES.get(kind, f"an {kind} file")
        raise ValueError(f"it cannot be read as {name} ({reason}).") from None


def _parquet_table(data: bytes) -> Any:
    from pyarrow.parquet import ParquetFile

    file = ParquetFile(pa.BufferReader(data))
    check_columns(file.metadata.num_columns)
    # Codes of a few bytes may stand for any number of rows.
    check_memory(max(len(data), 8 * file.metadata.num_rows * file.metadata.num_columns))
    return file.read()


def _arrow_table(data: bytes) -> Any:
    is_stream = not data.startswith(b"ARROW1")
    reader = (pa.ipc.open_stream if is_stream else pa.ipc.open_file)(pa.BufferReader(data))
    check_columns(len(reader.schema.names))
    return reader.read_all()


def _json_table(data: bytes) -> Any:
    options = arrow_json.ReadOptions(use_threads=False, block_size=max(len(data), 1 << 20))
    return arrow_json.read_json(pa.BufferReader(data), read_options=options)


def _npz_arrays(data: bytes) -> tuple[Array, Array | None]:
    with _reading_as(".npz"), zipfile.ZipFile(io.BytesIO(data)) as archive:
        check_memory(sum(entry.file_size for entry in archive.infolist()))
        names = [name[:-4] for name in archive.namelist() if name.endswith(".npy")]
        arrays: dict[str, Array] = {
            name: np.lib.format.read_array(io.BytesIO(archive.read(f"{name}.npy")))
            for name in names
            if name in ("X", "y")
        }
    if {"indptr", "indices"} <= {*names}:
        raise ValueError(
            "it is a sparse matrix, and a distance is learned from dense features: map it first, "
            "by sklearn.decomposition.TruncatedSVD(100) for example, and save X and y."
        )
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


def _checked_features(X: Array) -> Array:
    if X.dtype.kind not in "biuf" or X.ndim != 2 or X.shape[1] == 0:
        raise ValueError(
            "the features must be numbers in an array of two dimensions, rows by features; it is "
            f"an array of {X.dtype} of shape {X.shape}."
        )
    return X
