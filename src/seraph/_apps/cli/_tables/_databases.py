"""Run an SQL query on a database file, or on tables that have been read."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from ...._utils._cells._types import columns_of, typed_column
from ._csv import check_distinct

_SQLITE_MAGIC = b"SQLite format 3\0"


def query_database(path: Path, sql: str) -> dict[str, Any]:
    """Return the columns of a query on a SQLite or DuckDB file, which is opened read-only."""
    with path.open("rb") as file:
        is_sqlite = file.read(len(_SQLITE_MAGIC)) == _SQLITE_MAGIC
    return _query_sqlite(path, sql) if is_sqlite else query_duckdb(str(path), sql, f"{path}")


IN_MEMORY = ":memory:"
# A query reads what it is given, not other files or the network.
_CLOSED: dict[str, Any] = {"enable_external_access": "false", "threads": "1"}


def query_duckdb(database: str, sql: str, source: str, data: Any = None) -> dict[str, Any]:
    """Return the columns of a query on a database, and on the table `data` if there is one.

    Messages call it `source`.
    """
    try:
        import duckdb
    except ImportError as error:
        raise ImportError("--sql needs duckdb: pip install 'seraph-learn[cli]'.") from error
    try:
        connection = duckdb.connect(database, read_only=database != IN_MEMORY, config=_CLOSED)
    except duckdb.Error as error:
        raise ValueError(
            f"{source} cannot be read as a SQLite or DuckDB file ({_first_line(error)})."
        ) from None
    with closing(connection):
        if data is not None:
            connection.register("data", data)
        try:
            result = connection.sql(sql)
            table = None if result is None else result.to_arrow_table()
        except duckdb.Error as error:
            raise ValueError(f"{source}: the query fails: {_first_line(error)}.") from None
    if table is None:
        raise ValueError(f"{source}: the query returns no table: begin it with SELECT.")
    check_distinct(table.column_names)
    return columns_of(table, table.column_names)


def _query_sqlite(path: Path, sql: str) -> dict[str, Any]:
    uri = f"{path.resolve().as_uri()}?mode=ro"
    try:
        with closing(sqlite3.connect(uri, uri=True)) as connection:
            cursor = connection.execute(sql)
            if cursor.description is None:
                raise ValueError(f"{path}: the query returns no table: begin it with SELECT.")
            names = [column[0] for column in cursor.description]
            rows = cursor.fetchall()
    except sqlite3.Error as error:
        raise ValueError(f"{path}: the query fails: {_first_line(error)}.") from None
    check_distinct(names)
    cells = list(zip(*rows, strict=True)) or [() for _ in names]
    return {name: typed_column(column) for name, column in zip(names, cells, strict=True)}


def _first_line(error: Exception) -> str:
    return next(iter(str(error).strip().splitlines()), type(error).__name__).rstrip(".")
