"""Write tables to files, which appear whole or not at all."""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import warnings
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ...._utils._cells._table import Written
from ...._utils._files import write_whole
from ._read import kind_of

STDOUT = Path("-")
_TABLES = (
    ".csv", ".tsv", ".csv.gz", ".tsv.gz", ".jsonl", ".parquet", ".feather", ".arrow", ".npy",
)  # fmt: skip
# Formats for columns of any type.
MIXED_TABLES = _TABLES[:-1]
# Text that a spreadsheet computes; numbers such as -1 are none.
_FORMULA = re.compile(r"[=@\t\r]|[+-](?![\d.]+(e[+-]?\d+)?$)")


def check_output(
    path: Path, kinds: tuple[str, ...] = _TABLES, inputs: Iterable[Path | None] = ()
) -> None:
    """Refuse, before any work is done, a file that cannot be written or would replace an input."""
    if path.is_dir():
        raise ValueError(f"{path} is a folder: name a file in it.")
    kind_of(path, kinds)
    folder = Path(os.path.realpath(path)).parent if path.is_symlink() else path.parent
    if not folder.is_dir():
        raise ValueError(f"{path} cannot be written: there is no folder {folder}. Make it first.")
    with suppress(FileNotFoundError):
        path.lstat()  # the system refuses a name that is too long
    if path.exists() and not path.is_file():
        raise ValueError(f"{path} is not a plain file: choose another name.")
    if path.exists() and any(p is not None and p.exists() and p.samefile(path) for p in inputs):
        raise ValueError(f"{path} is an input and would be replaced: choose another name.")
    if not os.access(folder, os.W_OK):
        raise ValueError(f"{path}: you may not write to the folder {folder}: choose another.")


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
    elif kind in (".feather", ".arrow"):
        from pyarrow import feather

        feather.write_feather(pa.table(dict(columns)), out)
    elif kind == ".jsonl":
        for row in pa.table(dict(columns)).to_pylist():
            out.write(f"{json.dumps(row, ensure_ascii=False, default=str)}\n".encode())
    else:
        if kind.startswith(".tsv"):
            like = (like or Written())._replace(separator="\t")
        text = csv_bytes(columns, like, decimal_comma=decimal_comma)
        out.write(gzip.compress(text, mtime=0) if kind.endswith(".gz") else text)
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
    # Objects, so that whole numbers stay whole beside empty cells.
    frame = pa.table(dict(columns)).to_pandas(integer_object_nulls=True, timestamp_as_object=True)
    _warn_of_formulas(frame)
    text: str = frame.to_csv(
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


def _warn_of_formulas(frame: Any) -> None:
    """Warn of cells that a spreadsheet would compute."""
    for name, column in frame.items():
        texts = [cell for cell in (name, *column) if isinstance(cell, str)]
        if found := [text for text in texts if _FORMULA.match(text)]:
            warnings.warn(
                f"Column {name!r} has {len(found)} cells that a spreadsheet takes for formulas "
                f"and computes, the first {found[0]!r}. They are written as they are: import the "
                "file with that column as text, or write .parquet.",
                stacklevel=2,
            )
