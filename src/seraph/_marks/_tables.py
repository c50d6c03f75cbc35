"""The table of marks: columns i, j and similar, as people fill it in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .._utils._typing import Array
from .._utils._unknown import is_unknown
from ._columns import objects
from ._rows import Rows

if TYPE_CHECKING:
    import pandas as pd

# Words for yes and no in a table of marks; it may also have numbers from 0 to 1.
_ANSWERS = {
    **dict.fromkeys(("1", "+1", "1.0", "true", "yes"), True),
    **dict.fromkeys(("0", "-1", "0.0", "-1.0", "false", "no"), False),
}


def _read_answer(value: Any) -> Any:
    """Read a cell of the column "similar"; None without an answer."""
    if not isinstance(value, str):
        return value
    text = value.strip().casefold()
    if text in ("", "nan", "na", "none", "unsure"):
        return None
    if text in _ANSWERS:
        return _ANSWERS[text]
    try:
        return float(text)
    except ValueError:
        raise ValueError(
            f"similar is {value!r}. It must be 1 or 0, +1 or -1, true or false, yes or no, from "
            "0 to 1, or empty if the pair has not been answered."
        ) from None


def marks_table(marks: Any, rows: Rows) -> pd.DataFrame:
    """Write marks as a table; see ``Marks.to_frame``."""
    import pandas as pd

    sure = np.all((marks.labels == 0.0) | (marks.labels == 1.0))
    columns = {
        "i": rows.called(marks.pairs[:, 0]),
        "j": rows.called(marks.pairs[:, 1]),
        "similar": marks.labels.astype(int) if sure else marks.labels,
    }
    if np.any(marks.weights != 1.0):
        columns["weight"] = marks.weights
    frame = pd.DataFrame(columns)
    if len(marks.triplets) == 0:
        return frame
    sides = zip(("i", "j", "than"), marks.triplets.T, strict=True)
    compared = pd.DataFrame({name: rows.called(column) for name, column in sides})
    if compared["than"].dtype.kind in "iu":  # with cells that are missing, it would become floats
        compared["than"] = compared["than"].convert_dtypes()
    if len(frame) == 0:
        return compared.assign(similar=None)[["i", "j", "similar", "than"]]
    return pd.concat([frame.astype({"similar": object}), compared], ignore_index=True)


def read_table(frame: Any, *, by_name: bool) -> dict[str, Any]:
    """Read the arguments of ``Marks`` from a table; see ``Marks.from_frame``."""
    known = set(frame if isinstance(frame, Mapping) else frame.columns)
    first, second = ("id_i", "id_j") if by_name and {"id_i", "id_j"} <= known else ("i", "j")
    for name in (first, second, "similar"):
        if name not in known:
            raise ValueError(
                f"A table of marks needs a column {name!r}; got {sorted(map(str, known))}."
            )
    pairs = np.column_stack([_column(frame, first), _column(frame, second)])
    labels = objects([_read_answer(value) for value in _column(frame, "similar")])
    than = _column(frame, "than") if "than" in known else np.full(len(pairs), None)
    compared = ~is_unknown(than)
    return {
        "pairs": pairs[~compared],
        "labels": labels[~compared],
        "weights": _column(frame, "weight")[~compared] if "weight" in known else None,
        "triplets": np.column_stack([pairs, than])[compared] if compared.any() else None,
    }


def _column(frame: Any, name: str) -> Array:
    values = frame[name]
    return objects(values.tolist() if hasattr(values, "tolist") else list(values))
