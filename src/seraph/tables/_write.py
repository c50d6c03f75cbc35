"""Tables as the bytes of files."""

from __future__ import annotations

import io
import json
import re
import warnings
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import date
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import numpy as np
import pyarrow as pa

from .._utils._optional import Late
from ._files import kind_of, read_table
from ._table import Written
from ._words import is_missing

pd = Late("pandas")
STDOUT = Path("-")
# Formats for columns of any type, and one for numbers alone.
MIXED_TABLES = (".csv", ".tsv", ".txt", ".jsonl", ".parquet", ".xlsx", ".ods")
_TABLES = (*MIXED_TABLES, ".npy")
_NO_XML = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")


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


def table_bytes(
    path: Path,
    columns: Mapping[str, Any],
    like: Written | None = None,
    *,
    decimal_comma: bool = False,
) -> bytes:
    """Return columns of equal length as a file, in the format of its suffix; see `csv_bytes`."""
    kind, like, out = kind_of(path, _TABLES), like or Written(), io.BytesIO()
    if kind in (".csv", ".tsv", ".txt"):
        like = like._replace(separator="\t") if kind == ".tsv" else like
        return csv_bytes(columns, like, decimal_comma=decimal_comma)
    if kind in _SHEETS:
        names, *rows = _rows(columns, like)
        return _SHEETS[kind](names, rows)
    if kind == ".npy":
        np.save(out, np.column_stack(list(columns.values())), allow_pickle=False)
    else:
        from pyarrow import parquet

        parquet.write_table(pa.table(dict(columns)), out)
    return out.getvalue()


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
    special = re.compile(rf'["\r\n{re.escape(like.separator)}]')

    def cell_as_text(cell: Any) -> str:
        if cell is None:
            text = ""
        elif isinstance(cell, float) and decimal_comma:
            text = repr(cell).replace(".", ",")
        else:
            text = str(cell)
        quotes = special.search(text) or (not text and len(columns) == 1)
        return '"' + text.replace('"', '""') + '"' if quotes else text

    lines = [like.separator.join(map(cell_as_text, row)) for row in _rows(columns, like)]
    text = like.line_end.join([*lines, ""])
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
        cells.append([None if _is_nan(value) else value for value in values])
    return [tuple(like.header.get(name, name) for name in columns), *zip(*cells, strict=True)]


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and value != value  # noqa: PLR0124


def _json_lines(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> bytes:
    objects = (dict(zip(names, row, strict=True)) for row in rows)
    lines = (json.dumps(each, ensure_ascii=False, default=str) for each in objects)
    return "".join(f"{line}\n" for line in lines).encode()


def _for_sheet(cell: Any) -> Any:
    """Return a cell of a spreadsheet, which has neither time zones nor more than 15 digits."""
    long = isinstance(cell, int) and abs(cell) >= 10**15
    return str(cell) if long or getattr(cell, "tzinfo", None) is not None else cell


def _xlsx(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> bytes:
    """Return a spreadsheet whose texts are texts, also those that look like formulas or links."""
    out = io.BytesIO()
    frame = pd.DataFrame([[*map(_for_sheet, row)] for row in rows], dtype=object)
    options = {f"strings_to_{kind}": False for kind in ("formulas", "urls", "numbers")}
    frame.to_excel(out, index=False, header=[*names], engine="xlsxwriter",
                   engine_kwargs={"options": options})  # fmt: skip
    return out.getvalue()


def _ods(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> bytes:
    """Return a spreadsheet as LibreOffice writes it, but for its styles."""

    def as_xml(cell: Any) -> str:
        cell = _for_sheet(cell)
        if cell is None:
            return "<table:table-cell/>"
        kind, value = "string", ""
        if isinstance(cell, bool):
            kind, value = "boolean", f' office:boolean-value="{str(cell).lower()}"'
        elif isinstance(cell, int | float):
            kind, value = "float", f' office:value="{cell!r}"'
        elif isinstance(cell, date):
            kind, value = "date", f' office:date-value="{cell.isoformat()}"'
        text = escape(_NO_XML.sub("?", str(cell)))
        text = re.sub("  +", lambda run: f' <text:s text:c="{len(run[0]) - 1}"/>', text)
        lines = "".join(f"<text:p>{line}</text:p>" for line in text.split("\n"))
        return f'<table:table-cell office:value-type="{kind}"{value}>{lines}</table:table-cell>'

    sheet = "".join(
        f"<table:table-row>{''.join(map(as_xml, row))}</table:table-row>" for row in (names, *rows)
    )
    space, kind = "urn:oasis:names:tc:opendocument:xmlns:", "application/vnd.oasis.opendocument."
    content = (
        f'<office:document-content xmlns:office="{space}office:1.0" '
        f'xmlns:table="{space}table:1.0" xmlns:text="{space}text:1.0" office:version="1.2">'
        '<office:body><office:spreadsheet><table:table table:name="Sheet1">'
        f"{sheet}</table:table></office:spreadsheet></office:body></office:document-content>"
    )
    files = "".join(
        f'<m:file-entry m:full-path="{path}" m:media-type="{media}"/>'
        for path, media in (("/", f"{kind}spreadsheet"), ("content.xml", "text/xml"))
    )
    manifest = f'<m:manifest xmlns:m="{space}manifest:1.0" m:version="1.2">{files}</m:manifest>'
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        # The type comes first, and not compressed.
        archive.writestr("mimetype", f"{kind}spreadsheet", zipfile.ZIP_STORED)
        archive.writestr("content.xml", content)
        archive.writestr("META-INF/manifest.xml", manifest)
    return out.getvalue()


_SHEETS = {".jsonl": _json_lines, ".xlsx": _xlsx, ".ods": _ods}


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
