"""Write tables to files atomically."""

from __future__ import annotations

import io
import json
import warnings
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ....tables import Written, is_missing
from ._read import kind_of, read_table

STDOUT = Path("-")
# Formats for columns of any type, and one for numbers alone.
MIXED_TABLES = (".csv", ".tsv", ".jsonl", ".parquet", ".xlsx")
_TABLES = (*MIXED_TABLES, ".npy")


def check_output(
    path: Path, kinds: tuple[str, ...] = _TABLES, inputs: Iterable[Path | None] = ()
) -> None:
    """Refuse, before any work is done, a file that cannot be written or would replace an input."""
    if path.is_dir():
        raise ValueError(f"{path} is a folder: name a file in it.")
    kind_of(path, kinds)
    if not path.parent.is_dir():
        raise ValueError(f"{path} cannot be written: there is no folder {path.parent}.")
    if path.exists() and any(p is not None and p.exists() and p.samefile(path) for p in inputs):
        raise ValueError(f"{path} is an input and would be replaced: choose another name.")


def check_tables_out(
    outputs: Iterable[Path | None],
    inputs: Iterable[Path | None],
    kinds: tuple[str, ...] = MIXED_TABLES,
) -> None:
    """Refuse tables that cannot be written, or would replace an input or somebody's answers."""
    for path in outputs:
        if path is None or path == STDOUT:
            continue
        check_output(path, kinds, inputs)
        if n := _n_answers(path):
            raise ValueError(
                f"{path} has {n} answers, which would be written over: name another file, or move "
                "this one away."
            )


def _n_answers(path: Path) -> int:
    """Count the answers that somebody typed into a file, about pairs or about classes."""
    table = None
    with suppress(ValueError, OSError), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = read_table(path)
    names = () if table is None or table.names is None else table.names
    answer = "similar" if "similar" in names else "class"
    if table is None or not {answer, "i" if answer == "similar" else "row"} <= {*names}:
        return 0
    return sum(not is_missing(cell) for cell in table.cells(answer).to_pylist())


def write_table(
    path: Path,
    columns: Mapping[str, Any],
    like: Written | None = None,
    *,
    decimal_comma: bool = False,
) -> Path:
    """Write columns of equal length as a table, in the format of the suffix; see `csv_bytes`."""
    kind = kind_of(path, _TABLES)
    out = io.BytesIO()
    if kind == ".npy":
        np.save(out, np.column_stack(list(columns.values())), allow_pickle=False)
    elif kind == ".parquet":
        from pyarrow import parquet

        parquet.write_table(pa.table(dict(columns)), out)
    elif kind == ".jsonl":
        for row in pa.table(dict(columns)).to_pylist():
            out.write(f"{json.dumps(row, ensure_ascii=False, default=str)}\n".encode())
    elif kind == ".xlsx":
        _frame(columns, like).to_excel(out, index=False, engine="xlsxwriter")
    else:
        if kind == ".tsv":
            like = (like or Written())._replace(separator="\t")
        out.write(csv_bytes(columns, like, decimal_comma=decimal_comma))
    from ....persist._write import write_whole  # slow to import

    return write_whole(path, out.getvalue())


def csv_bytes(
    columns: Mapping[str, Any], like: Written | None = None, *, decimal_comma: bool = False
) -> bytes:
    r"""Return columns as a text table, written `like` another; numbers keep all their digits.

    Examples
    --------
    >>> csv_bytes({"id": ["a", "b"], "x": [0.5, None]})
    b'id,x\na,0.5\nb,\n'
    >>> csv_bytes({"id": ["ä"], "x": [0.5]}, Written(";", "latin-1"), decimal_comma=True)
    b'id;x\n\xe4;0,5\n'
    """
    like = like or Written()
    text: str = _frame(columns, like).to_csv(
        index=False,
        sep=like.separator,
        lineterminator=like.line_end,
        decimal="," if decimal_comma else ".",
    )
    try:
        return text.encode(like.encoding)
    except UnicodeEncodeError as error:
        bad = text[error.start]
        warnings.warn(f"{like.encoding} has no {bad!r}: written in UTF-8 instead.", stacklevel=2)
        return text.encode()


def cells_like(texts: Sequence[str], column: Any) -> Any:
    """Return texts as cells of the type of a column that was read; as text if one does not fit.

    Examples
    --------
    >>> cells_like(["1", "2"], pa.chunked_array([[1, None]])).to_pylist()
    [1, 2]
    """
    cells = pa.array(texts, type=pa.string())
    try:
        return cells.cast(column.type)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return cells


def _frame(columns: Mapping[str, Any], like: Written | None) -> Any:
    """Return columns as floats or objects, by the names that the table that was read has.

    So whole numbers stay whole beside empty cells.
    """
    import pandas as pd

    series = {}
    for name, column in columns.items():
        cells = column.to_pylist() if hasattr(column, "to_pylist") else list(column)
        # A spreadsheet has no time zones, and pandas would write them in its own form.
        cells = [str(c) if getattr(c, "tzinfo", None) is not None else c for c in cells]
        floats = all(c is None or isinstance(c, float) for c in cells)
        series[name] = pd.Series(cells, dtype=float if floats else object)
    header = like.header if like else {}
    return pd.DataFrame(series).set_axis([header.get(name, name) for name in columns], axis=1)
