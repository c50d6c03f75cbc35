"""Write tables to files, which appear whole or not at all."""

from __future__ import annotations

import gzip
import io
import json
import os
import warnings
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ...._utils._files import write_whole
from ._read import kind_of

STDOUT = Path("-")
_TABLES = (
    ".csv", ".tsv", ".csv.gz", ".tsv.gz", ".jsonl", ".parquet", ".feather", ".arrow", ".npy",
)  # fmt: skip
# Formats for columns of any type.
MIXED_TABLES = _TABLES[:-1]


def check_output(
    path: Path, kinds: tuple[str, ...] = _TABLES, inputs: Iterable[Path | None] = ()
) -> None:
    """Refuse an output file that cannot be written, before any work is done.

    Parameters
    ----------
    path : Path
        File to write; an existing file may be replaced.
    kinds : tuple of str, optional
        Allowed suffixes.
    inputs : iterable of Path, optional
        Input files, which must not be replaced.
    """
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


def write_table(path: Path, columns: Mapping[str, Any]) -> Path:
    """Write columns of equal length as a table, in the format of the suffix.

    Parameters
    ----------
    path : Path
        File to write: .csv, .tsv (also .gz), .jsonl, .parquet, .feather or .npy.
    columns : mapping of str to array-like
        Columns by name.

    Returns
    -------
    Path
        `path`.
    """
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
        text = csv_text(columns, "\t" if kind.startswith(".tsv") else ",").encode()
        out.write(gzip.compress(text, mtime=0) if kind.endswith(".gz") else text)
    return write_whole(path, out.getvalue())


def csv_text(columns: Mapping[str, Any], separator: str = ",") -> str:
    """Return columns as a text table; numbers keep all their digits.

    Examples
    --------
    >>> print(csv_text({"id": ["a", "b"], "x": [0.5, None]}), end="")
    id,x
    a,0.5
    b,
    """
    # Objects, so that whole numbers stay whole beside empty cells.
    frame = pa.table(dict(columns)).to_pandas(integer_object_nulls=True, timestamp_as_object=True)
    warn_of_formulas(frame)
    text: str = frame.to_csv(index=False, sep=separator, lineterminator="\n")
    return text


def warn_of_formulas(frame: Any) -> None:
    """Warn of cells that a spreadsheet would compute; they are written as they are."""
    for name, column in frame.items():
        found = [cell for cell in (name, *column) if _is_formula(cell)]
        if found:
            warnings.warn(
                f"Column {name!r} has {len(found)} cells that a spreadsheet takes for formulas "
                f"and computes, the first {found[0]!r}. They are written as they are: import the "
                "file with that column as text, or write .parquet.",
                stacklevel=2,
            )


def _is_formula(cell: object) -> bool:
    """Say whether a cell is text that begins like a formula, and is no number such as -1."""
    if not isinstance(cell, str) or not cell.startswith(("=", "+", "-", "@", "\t", "\r")):
        return False
    try:
        float(cell)
    except ValueError:
        return True
    return False
