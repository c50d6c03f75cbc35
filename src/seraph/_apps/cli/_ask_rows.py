"""What ``seraph ask`` shows of the rows that it asks about."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...tables._table import InputTable


def shown_table(points: InputTable, described: Path | None) -> InputTable:
    """Return the table with ids and columns to show, which an array has in another file."""
    from ...tables._files import read_table

    if described is None:
        return points
    if points.names is not None:
        raise ValueError(
            f"--table is for arrays: {points.path} has columns of its own to show and to name its "
            "rows by."
        )
    table = read_table(described)
    if table.names is None or table.n_rows != points.n_rows:
        kind = f"{table.n_rows} rows" if table.names is not None else "no named columns"
        raise ValueError(
            f"{described} has {kind}, and {points.path} has {points.n_rows} rows: --table needs "
            "named columns and one line for each row."
        )
    return table


def what_to_show(
    table: InputTable, wanted: Iterable[str], id_column: str | None
) -> tuple[list[str], Path | None]:
    """Return the columns and the folder to show."""
    names = table.names or ()
    folders = [name for name in wanted if Path(name).is_dir()]
    columns = [name for name in wanted if name not in folders]
    for name in columns:
        if name not in names:
            raise ValueError(
                f"--show {name}: there is neither such a folder nor such a column. Columns: "
                f"{', '.join(names or ['none'])}."
            )
    if not columns and not folders and not names:
        raise ValueError(
            "An array has nothing to show: name a folder (--show), or a table of its rows "
            "(--table)."
        )
    if not columns and not folders:
        columns = [name for name in names if name != id_column]
    return columns, Path(folders[0]) if folders else None
