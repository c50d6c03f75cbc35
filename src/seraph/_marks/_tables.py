"""The table of marks: columns i, j and similar, as people fill it in."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from .._utils._typing import Array
from .._utils._validation import shown
from ..tables._words import read_answer
from ._read import pair_likeness
from ._rows import Rows, as_column, is_unknown, objects, plain
from ._screens import stand_for

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
    frame = pd.DataFrame(marks.pairs, columns=["i", "j"])
    frame["similar"] = marks.labels.astype(int) if sure else marks.labels
    if np.any(marks.weights != 1.0):
        frame["weight"] = marks.weights
    if np.any(marks.represents != 1.0):
        frame["represents"] = marks.represents
    if len(marks.triplets):
        compared = pd.DataFrame(marks.triplets, columns=["i", "j", "than"])
        compared = compared.astype({"than": "Int64"})  # with floats, long names would be rounded
        parts = [frame.astype({"similar": object}), compared.assign(similar=None)]
        frame = pd.concat(parts if len(frame) else parts[1:], ignore_index=True)
    if rows.names is not None:  # row numbers alone would mean other rows of a shuffled table
        for end in [end for end in ("i", "j", "than") if end in frame]:
            given = frame[end].notna().to_numpy()
            names = np.full(len(frame), None, dtype=object)
            names[given] = rows.names[frame[end][given].to_numpy(dtype=np.intp)]
            frame[f"id_{end}"] = plain(names)
    return frame


def read_table(frame: Any, *, by_name: bool) -> dict[str, Any]:
    """Read the arguments of ``Marks`` from a table; see ``Marks.from_frame``."""
    names = getattr(frame, "column_names", getattr(frame, "columns", None))  # pyarrow, others
    if names is None and not isinstance(frame, Mapping):
        raise TypeError(
            "A table of marks must be a DataFrame, or a dictionary of columns i, j and similar; "
            f"got {shown(frame)}."
        )
    known = set(frame if names is None else names)
    go_by_id = by_name and {"id_i", "id_j"} <= known
    first, second, third = ("id_i", "id_j", "id_than") if go_by_id else ("i", "j", "than")
    for name in (first, second, "similar"):
        if name not in known:
            raise ValueError(
                f"A table of marks needs the columns {first!r}, {second!r} and "
                f"'similar', and {name!r} is missing; got {sorted(map(str, known))}."
            )
    cells = {
        name: _column(frame, name)
        for name in (first, second, "similar", "weight", "represents", "screen", "chance", third)
        if name in known
    }
    pairs = np.column_stack([cells[first], cells[second]])
    labels = objects([_read_answer(value) for value in cells["similar"]])
    than = cells.get(third, np.full(len(pairs), None))
    compared = ~is_unknown(than)
    represents = cells.get("represents")
    if "screen" in cells:
        labels, represents = _of_screens(pairs, labels, cells)
    return {
        "pairs": pairs[~compared],
        "labels": labels[~compared],
        "weights": cells["weight"][~compared] if "weight" in known else None,
        "represents": None if represents is None else represents[~compared],
        "triplets": np.column_stack([pairs, than])[compared] if compared.any() else None,
    }


def _of_screens(pairs: Array, labels: Array, cells: dict[str, Array]) -> tuple[Array, Array]:
    """Return how likely the pairs are similar, and what they represent; some are from screens.

    Of the lines of screens about one pair, the first says what most say, and stands for all.
    """
    likeness = pair_likeness(labels, len(labels))
    chance = cells.get("chance", np.full(len(labels), None))
    has_screen, has_chance = (
        ~is_unknown(cell) & (cell != "") & ~np.isnan(likeness)
        for cell in (cells["screen"], chance)
    )
    weights = np.zeros(len(labels))
    weights[has_chance] = 1.0 / chance[has_chance].astype(float)
    lines: dict[frozenset[Any], list[int]] = {}
    for line in np.flatnonzero(has_screen).tolist():
        lines.setdefault(frozenset(pairs[line].tolist()), []).append(line)
    for same in lines.values():
        votes, weight = np.sign(likeness[same] - 0.5).sum(), weights[same].sum()
        likeness[same], weights[same] = np.nan, 0.0
        likeness[same[0]] = 0.5 + 0.5 * np.sign(votes) if votes else np.nan
        weights[same[0]] = weight
    represents = stand_for(weights) if has_chance.any() else np.ones(len(labels))
    return likeness, np.where(has_screen, represents, 1.0)


def _column(frame: Any, name: str) -> Array:
    values = as_column(frame[name])
    if getattr(values, "ndim", 1) != 1:
        raise ValueError(f"A table of marks has two columns {name!r}: remove or rename one.")
    return objects(values.tolist() if hasattr(values, "tolist") else list(values))
