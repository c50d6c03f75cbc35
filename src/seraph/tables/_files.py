"""Files as tables, and tables as files, by suffix; errors say how to mend what cannot be read."""

from __future__ import annotations

import codecs
import csv
import io
import json
import re
import warnings
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from pyarrow import csv as arrow_csv

from .._utils._optional import Late
from .._utils._typing import Array
from ._reading import typed_column
from ._table import CSV, InputTable, NamedColumns, PlainArray, Written
from ._words import is_missing

pd = Late("pandas")
STDOUT = Path("-")
# Formats for columns of any type, and one for numbers alone.
MIXED_TABLES = (".csv", ".tsv", ".txt", ".jsonl", ".parquet", ".xlsx")
_TABLES = (*MIXED_TABLES, ".npy")
KINDS = (".csv", ".tsv", ".txt", ".jsonl", ".parquet", ".xlsx", ".ods", ".npy", ".npz")
_TEXT = (".csv", ".tsv", ".txt")
_SEPARATORS = ",;\t|"
_DECIMAL = re.compile(r"\s*[-+]?(\d*\.\d+|\d+\.?)([eE][-+]?\d+)?\s*")
# The heads of columns, their cells, and the line of each row if there are lines.
_Content: TypeAlias = tuple[Sequence[str], Sequence[Any], Sequence[int]]


def kind_of(path: Path, kinds: tuple[str, ...] = KINDS) -> str:
    """Return the suffix of a file, one of `kinds`; refuse any other."""
    if path.suffix.lower() in kinds:
        return path.suffix.lower()
    choice = " or ".join(filter(None, (", ".join(kinds[:-1]), kinds[-1])))
    raise ValueError(f"{path}: the name must end in {choice}.")


def read_table(
    path: Path,
    *,
    asked: Collection[str | None] = (),
    decimal_comma: bool = False,
    encoding: str | None = None,
    separator: str | None = None,
    other_encoding: str | None = None,
) -> InputTable:
    r"""Read a table with at least one row; raise a ValueError of one line if that fails.

    The name of the file ends in one of `KINDS`. An .npz file holds an array X and, if there are
    labels, an array y. `asked` are columns that a table with names must have; `other_encoding` is
    what to guess if it is not UTF-8.
    """
    if path.is_dir():
        raise ValueError(f"{path} is a folder, not a table: name a file.")
    kind = kind_of(path)
    table: InputTable
    with _about(path, kind):
        if kind in (".npy", ".npz"):
            table = _array_table(path)
        else:
            data, written = path.read_bytes(), Written(decimal_comma=decimal_comma)
            if kind in _TEXT:
                text, encoding = _decoded(data, encoding, other_encoding, path)
                separator = {"tab": "\t", r"\t": "\t"}.get(separator or "", separator)
                separator = separator or ("\t" if kind == ".tsv" else _separator(text))
                if len(separator) != 1:
                    raise _Unreadable(f"--separator {separator}: it must be one letter, or tab.")
                # A cell may have line ends of its own.
                end = "\r\n" if 2 * text.count("\r\n") > text.count("\n") else "\n"
                written = Written(separator, encoding, end, decimal_comma)
                heads, columns, lines = _text_table(text, separator)
            else:
                heads, columns, lines = _READERS[kind](data)
            names = _names(heads)
            typed = dict(zip(names, map(typed_column, columns), strict=True))
            mixed = {
                name: (typed[name], column)
                for name, column in zip(names, columns, strict=True)
                if isinstance(column, list) and len({*map(type, column)} - {type(None)}) > 1
            }
            header = dict(zip(names, heads, strict=True))
            table = NamedColumns(path, typed, written._replace(header=header, mixed=mixed), lines)
    if table.n_rows == 0:
        raise ValueError(f"{path} has columns but no rows: add some.")
    for name in asked:
        if name is not None and table.names is not None:
            table.cells(name)  # refuses a name that it does not have
    return table


class _Unreadable(ValueError):
    """What is wrong with the content of a file, in words that end a sentence about it."""


@contextmanager
def _about(path: Path, kind: str) -> Iterator[None]:
    """Name the file in errors about its content, whichever library raises them."""
    try:
        yield
    except (ImportError, MemoryError, FileNotFoundError, PermissionError):
        raise
    except _Unreadable as error:
        raise ValueError(f"{path}: {error}") from None
    except Exception as error:  # other libraries' readers fail in many ways on damaged bytes
        reason = " ".join(str(error).split())[:300] or type(error).__name__
        raise ValueError(
            f"{path}: it cannot be read as a file of kind {kind} ({reason})."
        ) from None


def _names(heads: Sequence[str]) -> list[str]:
    """Return a name of its own for each column, as its head says."""
    names = [head.strip() or f"unnamed_{k}" for k, head in enumerate(heads, start=1)]
    if not names:
        raise _Unreadable("it has no columns: write it with the features as columns.")
    for name, count in Counter(names).items():
        if count > 1:
            raise _Unreadable(f"two columns are called {name!r}: rename one of them.")
    return names


# Text


def _decoded(data: bytes, encoding: str | None, other: str | None, path: Path) -> tuple[str, str]:
    """Return a text table and its encoding; a note is given if this is a guess.

    `other` is the encoding of a table like it; without one, what Windows uses in Western Europe.
    """
    utf_16 = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    if b"\0" in data and not (utf_16 or (encoding or "").lower().startswith("utf-16")):
        # Text of Western letters has a NUL beside each: the second byte of a pair, or the first.
        for end, half in (("le", data[1::2]), ("be", data[::2])):
            if 2 * half.count(0) > len(half):
                raise _Unreadable(
                    "it contains NUL bytes, as UTF-16 without a mark does: add --encoding "
                    f"utf-16-{end}."
                )
        raise _Unreadable("it contains NUL bytes, which text never does: is it another format?")
    first = "utf-8-sig" if data.startswith(codecs.BOM_UTF8) else "utf-8"
    first = encoding or ("utf-16" if utf_16 else first)
    try:
        return data.decode(first), first
    except LookupError:
        raise _Unreadable(
            f"--encoding {encoding} is not known: utf-8, latin-1 and cp1252 are, and others that "
            "Python knows."
        ) from None
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        if encoding is not None:
            raise _Unreadable(f"line {line} is not {encoding} ({error.reason}).") from None
        if other is None:
            warnings.warn(
                f"{path}: line {line} is not UTF-8 (byte 0x{data[error.start]:02x}): read as "
                "cp1252. If that is wrong, name the encoding (--encoding).",
                stacklevel=2,
            )
        return data.decode(other or "cp1252"), other or "cp1252"


def _rows(text: str, separator: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of a text table, the header first, each with the line where it begins."""
    rows, line = csv.reader(io.StringIO(text), delimiter=separator), 1
    width = 0
    for row in rows:
        # An empty line is an empty cell where there is one column, and nothing elsewhere.
        if row or width == 1:
            yield line, row or [""]
        width, line = width or len(row), rows.line_num + 1


def _text_table(text: str, separator: str) -> _Content:
    """Return the content of a text table, as text."""
    if text.count('"') % 2:
        raise _Unreadable("a quotation mark is opened and never closed: add the closing one.")
    _, header = next(_rows(text, separator), (0, []))
    if not header:
        raise _Unreadable("the file is empty: it needs a header line and rows.")
    # Whole numbers are names: pandas calls columns so.
    if all(map(_DECIMAL.fullmatch, header)) and not all(n.strip().isdecimal() for n in header):
        raise _Unreadable(
            f"the first line holds numbers ({header[0]}, ...) instead of column names: add a "
            "header line."
        )
    text = text if text.endswith("\n") else text + "\n"
    columns = _text_columns(text, separator, len(header))
    n = len(columns[0])
    # Cells with line ends and empty lines make more lines than rows.
    if text.count("\n") == n + 1:
        return header, columns, range(2, n + 2)
    return header, columns, [line for line, _ in _rows(text, separator)][1 : n + 1]


def _separator(text: str) -> str:
    r"""Return the separator that gives both of the first two rows the most cells."""

    def agreement(separator: str) -> tuple[int, ...]:
        widths = [len(row) for _, row in islice(_rows(text, separator), 2)] or [1]
        return (widths[0] == widths[-1], widths[0]) if widths[0] > 1 else (False, 1)

    return max(_SEPARATORS, key=agreement)


def _text_columns(text: str, separator: str, width: int) -> list[Any]:
    """Return the cells below the header, column by column; name the line of a ragged row."""
    data = (text.strip("\r\n") + "\n" if width == 1 else text).encode()
    names = [f"f{k}" for k in range(width)]
    try:
        table = arrow_csv.read_csv(
            pa.BufferReader(data),
            read_options=arrow_csv.ReadOptions(
                use_threads=False, block_size=max(len(data), 1 << 16), column_names=names
            ),
            parse_options=arrow_csv.ParseOptions(
                delimiter=separator, newlines_in_values=True, ignore_empty_lines=width > 1
            ),
            convert_options=arrow_csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False
            ),
        )
    except pa.ArrowInvalid:
        for line, row in _rows(text, separator):
            if len(row) != width:
                raise _Unreadable(
                    f"line {line} has {len(row)} cells, but the header has {width}: "
                    "correct that line (a cell that contains the separator needs quotation marks)."
                ) from None
        raise
    return [column.slice(1) for column in table.columns]


# Other formats


def _parquet_table(data: bytes) -> _Content:
    from pyarrow.parquet import ParquetFile

    table = ParquetFile(pa.BufferReader(data)).read()
    # pandas saves an index without a name as a column called like this.
    kept = [name for name in table.column_names if not name.startswith("__index_level_")]
    return kept, [table.column(name) for name in kept], ()


def _json_table(data: bytes) -> _Content:
    """Return the columns of JSON lines; a name that a line lacks is an empty cell."""
    rows, lines = [], []
    # Not splitlines: U+2028 and others are letters in JSON.
    for number, line in enumerate(data.decode("utf-8-sig").split("\n"), start=1):
        if line.strip():
            try:
                rows.append(dict(json.loads(line)))
            except (ValueError, TypeError):
                raise _Unreadable(f"line {number} is not a JSON object: {line[:60]!r}.") from None
            lines.append(number)
    if not rows:
        raise _Unreadable("the file is empty: it needs a JSON object in each line.")
    names = [*dict.fromkeys(name for row in rows for name in row)]
    return names, [[row.get(name) for row in rows] for name in names], lines


def _spreadsheet_table(data: bytes) -> _Content:
    """Return the first sheet: names in the first row, then one row each."""
    frame = pd.read_excel(
        io.BytesIO(data), engine="calamine", header=None, dtype=object, na_filter=False
    )
    frame = frame.mask(frame == "", None).dropna(how="all").dropna(how="all", axis="columns")
    if frame.empty:
        raise _Unreadable("the first sheet is empty: it needs a row of names, then the rows.")
    names = ["" if name is None else str(name) for name in frame.iloc[0]]
    columns = [frame.iloc[1:, k].tolist() for k in range(len(names))]
    return names, columns, [row + 1 for row in frame.index[1:].tolist()]


_READERS = {
    ".parquet": _parquet_table,
    ".jsonl": _json_table,
    ".xlsx": _spreadsheet_table,
    ".ods": _spreadsheet_table,
}


def _array_table(path: Path) -> PlainArray:
    loaded = np.load(path, mmap_mode="r")
    if isinstance(loaded, np.ndarray):
        return PlainArray(path, _checked(loaded))
    with loaded as archive:
        if "X" not in archive:
            raise _Unreadable(
                f"it holds {', '.join(archive) or 'nothing'}: the features must be an array X "
                "(rows by features), and labels, if any, an array y."
            )
        X, y = _checked(archive["X"]), archive.get("y")
    if y is not None and (y.shape != X.shape[:1] or y.dtype.kind not in "biufSU"):
        raise _Unreadable(
            f"it has an array y of {y.dtype} of shape {y.shape}: y must be one label for each of "
            f"the {len(X)} rows of X."
        )
    return PlainArray(path, X, y.astype(str) if y is not None and y.dtype.kind == "S" else y)


def _checked(X: Array) -> Array:
    if X.dtype.kind not in "biuf" or X.ndim != 2 or X.shape[1] == 0:
        raise _Unreadable(
            f"it is an array of {X.dtype} of shape {X.shape}: the features must be numbers in an "
            "array of two dimensions, rows by features."
        )
    return X


# Writing


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
        names, *rows = _named_rows(columns, like)
        objects = (dict(zip(names, row, strict=True)) for row in rows)
        lines = (json.dumps(each, ensure_ascii=False, default=str) for each in objects)
        return "".join(f"{line}\n" for line in lines).encode()
    if kind == ".xlsx":
        names, *rows = _named_rows(columns, like)
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
    for row in _named_rows(columns, like):
        commas = (str(c).replace(".", ",") if isinstance(c, float) else c for c in row)
        writer.writerow(commas if like.decimal_comma else row)
    text = "".join(line.removesuffix("\r\n") + like.line_end for line in lines)
    try:
        return text.encode(like.encoding)
    except UnicodeEncodeError as error:
        bad = text[error.start]
        warnings.warn(f"{like.encoding} has no {bad!r}: written in UTF-8 instead.", stacklevel=2)
        return text.encode()


def _named_rows(columns: Mapping[str, Any], like: Written) -> list[tuple[Any, ...]]:
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
