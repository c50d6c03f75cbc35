"""Tables with named columns: where they come from, and their cells."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from .._utils._optional import optional_module
from .._utils._typing import BoolArray
from ._reading import typed_column

# Columns and names that a message lists; the rest are counted.
_LISTED = 5
_NAMES = 12
_LONGEST_TEXT = 30


class Written(NamedTuple):
    r"""How a text table is written, to write another like it and to name its lines.

    Parameters
    ----------
    separator : str, default=","
        What separates cells.
    encoding : str, default="utf-8"
        Its encoding.
    line_end : str, default="\n"
        What ends a line.
    lines : bool, default=False
        Whether each row is a line, and the header the first.
    header : mapping of str to str, default={}
        Names of columns that are written otherwise than they are called, such as empty ones.

    Examples
    --------
    >>> from seraph.tables import Written
    >>> Written(";").separator
    ';'
    """

    separator: str = ","
    encoding: str = "utf-8"
    line_end: str = "\n"
    lines: bool = False
    header: Mapping[str, str] = MappingProxyType({})


_CSV = Written()


@dataclass(frozen=True)
class NamedColumns:
    """A table with named columns, and the file that messages about it name.

    `TablePreparer` takes it like a data frame.

    Parameters
    ----------
    path : Path
        File it was read from.
    columns : dict of str to pyarrow.ChunkedArray
        Columns by name.
    decimal_comma : bool, default=False
        Whether numbers in text have a decimal comma.
    written : Written
        How the file is written, if it is text.

    Examples
    --------
    >>> from pathlib import Path
    >>> from seraph.tables import NamedColumns, typed_column
    >>> table = NamedColumns(Path("wine.csv"), {"hue": typed_column(["1,5", "0,75"])})
    >>> table.names, table.n_rows, table.place(1)
    (('hue',), 2, 'row 1')
    """

    path: Path
    columns: dict[str, Any]
    decimal_comma: bool = False
    written: Written = _CSV

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(self.columns)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(next(iter(self.columns.values())))

    def place(self, row: int) -> str:
        """Name a row as the file does: by its line, if each row is one.

        Parameters
        ----------
        row : int
            Its number from 0.

        Returns
        -------
        str
            Such as "line 5" or "row 3".
        """
        return f"line {row + 2}" if self.written.lines else f"row {row}"


class Setting(NamedTuple):
    """A parameter of `TablePreparer` that a message advises, for programs to phrase anew.

    Parameters
    ----------
    name : str
        Name of the parameter.
    values : list
        What to add to it.

    Examples
    --------
    >>> from seraph.tables import Setting
    >>> str(Setting("drop", ["remarks"]))
    "drop=['remarks']"
    """

    name: str
    values: list[Any]

    def __str__(self) -> str:
        return f"{self.name}={self.values}"


class _Advice(Exception):
    """A message whose `parts` are texts and settings."""

    def __init__(self, *parts: object) -> None:
        self.parts = parts
        super().__init__("".join(map(str, parts)))


class ColumnError(_Advice, ValueError):
    """Columns that cannot be used as they are.

    Parameters
    ----------
    *parts : str or Setting
        The message.

    Examples
    --------
    >>> from seraph.tables import ColumnError, Setting
    >>> ColumnError("Leave it out: ", Setting("drop", ["remarks"]))
    ColumnError("Leave it out: drop=['remarks']")
    """


class ColumnWarning(_Advice, UserWarning):
    """Columns that may mean something else than they seem to.

    Parameters
    ----------
    *parts : str or Setting
        The message.

    Examples
    --------
    >>> from seraph.tables import ColumnWarning, Setting
    >>> ColumnWarning("If it is missing, add ", Setting("missing", [-999])).parts[1].name
    'missing'
    """


def check_columns(table: NamedColumns, names: Sequence[str]) -> None:
    """Refuse a table that lacks columns which a model was fitted on."""
    absent = [name for name in names if name not in table.columns]
    if absent:
        which = and_more([repr(name) for name in absent[:_NAMES]], len(absent))
        raise ValueError(
            f"{table.path} lacks {len(absent)} of the {len(names)} columns that the model was "
            f"fitted on: {which}.{advice(absent[0], table.names)}"
        )


def check_clear(table: NamedColumns, name: str, texts: Sequence[str]) -> None:
    """Refuse a column with `texts` that contradict one another, or leave two readings."""
    if texts:
        where = ", but ".join(first_of(table, name, [text]) or repr(text) for text in texts)
        where += ", in a table with semicolons" if len(texts) == 1 else ""
        raise ValueError(
            f"{table.path}: it is not clear whether commas separate thousands or decimals in "
            f"column {name!r} ({where}): write the numbers without a separator between thousands, "
            "and with a point before decimals."
        )


def first_of(table: NamedColumns, name: str, texts: Collection[str]) -> str:
    """Return the first cell with one of some texts, as `about` does; "" if there is none."""
    known = {*texts}
    cells = table.columns[name].to_pylist()
    mask = np.array([isinstance(c, str) and c.strip() in known for c in cells], dtype=bool)
    return about(table, name, mask) if mask.any() else ""


def about(table: NamedColumns, name: str, cells: BoolArray) -> str:
    """Return the first of some cells and its place, for a message, and count the others."""
    row = int(np.flatnonzero(cells)[0])
    text = f"{table.columns[name][row].as_py()}"
    text = text if len(text) <= _LONGEST_TEXT else f"{text[: _LONGEST_TEXT - 3]}..."
    others = int(cells.sum()) - 1
    return f"{text!r} in {table.place(row)}" + (f" and {others} more" if others else "")


def as_table(X: Any) -> NamedColumns:
    """Return a table of pandas, polars or pyarrow as named columns; refuse anything else."""
    pa = optional_module("pyarrow", "TablePreparer needs pyarrow", "tables")
    pd = optional_module("pandas", "TablePreparer needs pandas", "tables")
    from .._utils._validation import shown

    if isinstance(X, NamedColumns):
        return X
    if type(X).__module__.startswith("dask"):
        X = X.compute()
    if isinstance(X, pd.DataFrame):
        names = [str(name) for name in X.columns]
        columns = [typed_column(X.iloc[:, k]) for k in range(X.shape[1])]
    elif isinstance(X, pa.Table) or hasattr(X, "to_arrow"):
        arrow = X if isinstance(X, pa.Table) else X.to_arrow()
        names = [str(name) for name in arrow.column_names]
        columns = [typed_column(column) for column in arrow.columns]
    else:
        raise ValueError(
            "X must be a table with named columns, of pandas, polars or pyarrow; got "
            f"{shown(X)}. (An array of numbers needs a scaler alone, such as StandardScaler.)"
        )
    twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if twice:
        raise ValueError(f"X has two columns called {twice[0]!r}: rename one of them.")
    if not names or len(X) == 0:
        raise ValueError(f"X has {len(X)} rows and {len(names)} columns: it needs some of each.")
    return NamedColumns(Path("X"), dict(zip(names, columns, strict=True)))


def advice(name: str, names: Sequence[str]) -> str:
    """Suggest the most similar name, or list all names if there are few."""
    folded = {known.casefold(): known for known in reversed(names)}
    near = get_close_matches(name.casefold(), list(folded), n=1)
    if near:
        return f" Did you mean {folded[near[0]]!r}?"
    if len(names) <= _NAMES:
        return f" It has {', '.join(repr(known) for known in names)}."
    return ""


def and_more(texts: Sequence[str], n: int) -> str:
    """Join the first of `n` texts, and count the others.

    Examples
    --------
    >>> and_more(["a", "b"], 2), and_more(["a", "b"], 5)
    ('a, b', 'a, b and 3 more')
    """
    return ", ".join(texts) + (f" and {n - len(texts)} more" if n > len(texts) else "")


def listed(details: Mapping[str, str]) -> str:
    """Name a few columns, each with a detail about it, and count the others.

    Examples
    --------
    >>> listed({"a": "'x' in row 0", "b": "list"})
    "columns 'a' ('x' in row 0), 'b' (list)"
    """
    texts = [f"{name!r} ({detail})" for name, detail in list(details.items())[:_LISTED]]
    return f"{'column' if len(details) == 1 else 'columns'} {and_more(texts, len(details))}"
