"""The table of marks: columns i, j and similar, as people fill it in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .._utils._typing import Array
from ._answers import is_unknown, read_answer
from ._columns import objects
from ._rows import Rows

if TYPE_CHECKING:
    import pandas as pd


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
    labels = objects([read_answer(value) for value in _column(frame, "similar")])
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
