"""The table of marks: columns i, j and similar, as people fill it in."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from .._utils._typing import Array
from .._utils._unknown import is_unknown
from .._utils._validation import shown
from ..tables._words import read_answer
from ._columns import as_column, objects
from ._rows import Rows

if TYPE_CHECKING:
    import pandas as pd


def _read_answer(value: Any) -> Any:
    """Read a cell of the column "similar": an answer, or a probability; None without one."""
    if not isinstance(value, str):
        return value
    for read in (read_answer, float):
        with suppress(ValueError):
            return read(value)
    raise ValueError(
        f"similar is {value!r}. It must be 1 or 0, +1 or -1, true or false, yes or no, from 0 to "
        "1, or empty if the pair has not been answered."
    )


def marks_table(marks: Any, rows: Rows) -> pd.DataFrame:
    """Write marks as a table; see ``Marks.to_frame``."""
    import pandas as pd

    sure = np.all((marks.labels == 0.0) | (marks.labels == 1.0))
    columns = {
        "i": rows.name_rows(marks.pairs[:, 0]),
        "j": rows.name_rows(marks.pairs[:, 1]),
        "similar": marks.labels.astype(int) if sure else marks.labels,
    }
    if np.any(marks.weights != 1.0):
        columns["weight"] = marks.weights
    frame = pd.DataFrame(columns)
    if len(marks.triplets) == 0:
        return frame
    sides = zip(("i", "j", "than"), marks.triplets.T, strict=True)
    compared = pd.DataFrame({name: rows.name_rows(column) for name, column in sides})
    if compared["than"].dtype.kind in "iu":  # with cells that are missing, it would become floats
        compared["than"] = compared["than"].convert_dtypes()
    if len(frame) == 0:
        return compared.assign(similar=None)[["i", "j", "similar", "than"]]
    return pd.concat([frame.astype({"similar": object}), compared], ignore_index=True)


def read_table(frame: Any, *, by_name: bool) -> dict[str, Any]:
    """Read the arguments of ``Marks`` from a table; see ``Marks.from_frame``."""
    names = getattr(frame, "column_names", getattr(frame, "columns", None))  # pyarrow, others
    if names is None and not isinstance(frame, Mapping):
        raise TypeError(
            "A table of marks must be a DataFrame, or a dictionary of columns i, j and similar; "
            f"got {shown(frame)}."
        )
    known = set(frame if names is None else names)
    first, second = ("id_i", "id_j") if by_name and {"id_i", "id_j"} <= known else ("i", "j")
    for name in (first, second, "similar"):
        if name not in known:
            raise ValueError(
                f"A table of marks needs the columns {first!r}, {second!r} and "
                f"'similar', and {name!r} is missing; got {sorted(map(str, known))}."
            )
    cells = {
        name: _column(frame, name)
        for name in (first, second, "similar", "weight", "than")
        if name in known
    }
    pairs = np.column_stack([cells[first], cells[second]])
    labels = objects([_read_answer(value) for value in cells["similar"]])
    than = cells.get("than", np.full(len(pairs), None))
    compared = ~is_unknown(than)
    return {
        "pairs": pairs[~compared],
        "labels": labels[~compared],
        "weights": cells["weight"][~compared] if "weight" in known else None,
        "triplets": np.column_stack([pairs, than])[compared] if compared.any() else None,
    }


def _column(frame: Any, name: str) -> Array:
    values = as_column(frame[name])
    if getattr(values, "ndim", 1) != 1:
        raise ValueError(f"A table of marks has two columns {name!r}: remove or rename one.")
    return objects(values.tolist() if hasattr(values, "tolist") else list(values))
