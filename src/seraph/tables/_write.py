"""Tables as the bytes of files."""

from __future__ import annotations

import csv
import io
import json
import warnings
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa

from .._utils._optional import Late
from ._files import kind_of, read_table
from ._table import CSV, Written
from ._words import is_missing

pd = Late("pandas")
STDOUT = Path("-")
# Formats for columns of any type, and one for numbers alone.
MIXED_TABLES = (".csv", ".tsv", ".txt", ".jsonl", ".parquet", ".xlsx")
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
        n, table = 0, None
        with suppress(ValueError, OSError), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            table = read_table(path)
        for answer, asked in (("similar", "i"), ("class", "row")):
            if table is not None and {answer, asked} <= {*(table.names or ())}:
                n = n or sum(not is_missing(cell) for cell in table.cells(answer).to_pylist())
        if n:
            raise ValueError(
                f"{path} has {n} answers, which would be written over: name another file, or move "
                "this one away."
            )


def table_bytes(path: Path, columns: Mapping[str, Any], like: Written = CSV) -> bytes:
    """Return columns of equal length as a file, in the format of its suffix; see `csv_bytes`."""
    kind, out = kind_of(path, _TABLES), io.BytesIO()
    if kind in (".csv", ".tsv", ".txt"):
        like = like._replace(separator="\t") if kind == ".tsv" else like
        return csv_bytes(columns, like)
    if kind == ".jsonl":
        names, *rows = _rows(columns, like)
        objects = (dict(zip(names, row, strict=True)) for row in rows)
        lines = (json.dumps(each, ensure_ascii=False, default=str) for each in objects)
        return "".join(f"{line}\n" for line in lines).encode()
    if kind == ".xlsx":
        names, *rows = _rows(columns, like)
        # A sheet has neither time zones nor more than 15 digits. Texts that look like formulas or
        # links stay texts.
        frame = pd.DataFrame([[*map(_for_sheet, row)] for row in rows], dtype=object)
        options = {f"strings_to_{kind}": False for kind in ("formulas", "urls", "numbers")}
        frame.to_excel(out, index=False, header=[*names], engine="xlsxwriter",
                       engine_kwargs={"options": options})  # fmt: skip
    elif kind == ".npy":
        np.save(out, np.column_stack(list(columns.values())), allow_pickle=False)
    else:
        from pyarrow import parquet

        parquet.write_table(pa.table(dict(columns)), out)
    return out.getvalue()


def csv_bytes(columns: Mapping[str, Any], like: Written = CSV) -> bytes:
    r"""Return columns as a text table, written `like` another; numbers keep all their digits."""
    lines = list[str]()
    # Cells with \r or \n are quoted whatever the line end is: the writer's own is both.
    writer = csv.writer(SimpleNamespace(write=lines.append), delimiter=like.separator)
    for row in _rows(columns, like):
        commas = (str(c).replace(".", ",") if isinstance(c, float) else c for c in row)
        writer.writerow(commas if like.decimal_comma else row)
    text = "".join(line.removesuffix("\r\n") + like.line_end for line in lines)
    try:
        return text.encode(like.encoding)
    except UnicodeEncodeError as error:
        bad = text[error.start]
        warnings.warn(f"{like.encoding} has no {bad!r}: written in UTF-8 instead.", stacklevel=2)
        return text.encode()


def _rows(columns: Mapping[str, Any], like: Written) -> list[tuple[Any, ...]]:
    """Return the rows of columns, the names that the file gave them first; None where missing."""
    cells = []
    for name, column in columns.items():
        typed, raw = like.mixed.get(name, (None, []))
        make = getattr(column, "to_pylist", None) or getattr(column, "tolist", None)
        values = raw if column is typed else [*column] if make is None else make()
        cells.append([None if value != value else value for value in values])  # noqa: PLR0124
    return [tuple(like.header.get(name, name) for name in columns), *zip(*cells, strict=True)]


def _for_sheet(cell: Any) -> Any:
    long = isinstance(cell, int) and abs(cell) >= 10**15
    return str(cell) if long or getattr(cell, "tzinfo", None) is not None else cell


def cells_like(texts: Sequence[str], column: Any) -> Any:
    """Return texts as cells of the type of a column that was read; as text if one does not fit."""
    cells = pa.array(texts, type=pa.string())
    try:
        return cells.cast(column.type)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return cells
