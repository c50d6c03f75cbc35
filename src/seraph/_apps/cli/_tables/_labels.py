"""The labels of a table, and which of them mean that the class is unknown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ...._utils._cells._table import NamedColumns, advice
from ...._utils._cells._types import MISSING, NO_LABEL, UNKNOWN, cell_text, quoted
from ...._utils._typing import Array
from ...._utils._unknown import MINUS_ONE, has_lost_minus_one, warn_of_signs
from ...._utils._warnings import warn
from ._arrays import InputTable


def labels_of(
    table: InputTable, name: str | None, unlabeled: Collection[str] = ()
) -> Array | None:
    """Return the label of each row, text or None; None if the table has no labels.

    An array has its labels beside it. `unlabeled` are more labels that mean an unknown class.
    """
    if not isinstance(table, NamedColumns):
        if name is not None and (name != "y" or table.y is None):
            table.cells(name)
        if table.y is None:
            return None
        _warn_of_lost_sign(table.y, unlabeled, table.path)
        return as_text(table.y.tolist(), unlabeled, table.path)
    if name is None:
        return None
    cells = table.cells(name)
    if pa.types.is_unsigned_integer(cells.type):
        _warn_of_lost_sign(np.asarray(cells.drop_null()), unlabeled, table.path)
    return as_text(cells.to_pylist(), unlabeled, table.path)


def as_text(cells: Sequence[Any], unlabeled: Collection[str], path: Path) -> Array:
    """Return labels as text, None for unlabeled rows: empty cells, -1, and those `unlabeled`.

    Notes about classes that look like unknown ones name the file `path`.

    Examples
    --------
    >>> as_text(["a", "", "-1", 3.0, float("nan"), "?"], ["?"], Path("t.csv"))
    array(['a', None, None, '3', None, None], dtype=object)
    """
    texts = [cell_text(cell) for cell in cells]
    unknown = {*MISSING, *(text.strip() for text in unlabeled)}
    answered = [text for text in texts if text not in unknown]
    known = [text not in MINUS_ONE for text in answered]
    warn_of_signs(np.array(answered, dtype=object), np.array(known, dtype=bool))
    unknown.update(MINUS_ONE)
    labels = [None if text in unknown else text for text in texts]
    counts = Counter(label for label in labels if label is not None)
    for text in unlabeled:
        if text.strip() and text.strip() not in texts:
            raise ValueError(
                f"{path}: no row has the label {text!r} that --unlabeled names."
                f"{advice(text, list(counts))}"
            )
    for text, count in counts.items():
        if text.casefold() in UNKNOWN and "" not in unlabeled:
            warn(
                f"{path}: {count} {'row has' if count == 1 else 'rows have'} the label "
                f"{text!r}, which counts as a class. If it means that the class is unknown, add "
                f"--unlabeled {quoted(text)}"
            )
    return np.array(labels, dtype=object)


def unknown_labels(table: InputTable, name: str | None) -> list[str]:
    """Return the labels of a table that are words for an unknown class, and say so.

    Examples
    --------
    >>> import warnings
    >>> labels = pa.chunked_array([["a", "?", "b", "?", ""]])
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     unknown_labels(NamedColumns(Path("t.csv"), {"kind": labels}), "kind")
    ['?']
    """
    if name is None or table.names is None:
        return []
    counts = Counter(map(cell_text, table.cells(name).to_pylist()))
    found = [text for text in counts if text.casefold() in NO_LABEL]
    if found:
        n = sum(counts[text] for text in found)
        which = " or ".join(map(repr, found))
        warn(
            f"{table.path}: {n} {'row has' if n == 1 else 'rows have'} {which} as {name}, which "
            "is read as no label. If it is a class, say what else means no label (--unlabeled "
            '"" for empty cells alone).'
        )
    return found


def _warn_of_lost_sign(labels: Array, unlabeled: Collection[str], path: Path) -> None:
    """Warn of a class that may be what an unsigned type has made of -1."""
    if has_lost_minus_one(labels) and str(labels.max()) not in unlabeled:
        warn(
            f"{path}: the labels are {labels.dtype}, which cannot hold -1, and some are "
            f"{labels.max()}, which counts as a class. If it stands for -1, add --unlabeled "
            f"{labels.max()}"
        )
