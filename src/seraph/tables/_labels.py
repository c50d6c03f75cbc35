"""The labels of a table, and which of them mean that the class is unknown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import replace

import numpy as np
import pyarrow as pa
from pyarrow import compute

from .._utils._optional import Late
from .._utils._typing import Array, IntArray
from .._utils._warnings import warn
from ._messages import advice, quoted
from ._table import InputTable, NamedColumns, PlainArray
from ._words import cell_text, is_missing, spellings

pd = Late("pandas")
# What `seraph predict` adds to a table.
ADDED = ("probability", "given", "nearest")
_MINUS_ONE = ("-1", "-1.0")
# Words for a missing number that may well name a class.
_MAY_BE_CLASSES = ("-", "--", ".", "none")


def label_texts(table: InputTable, name: str | None) -> list[str] | None:
    """Return the label of each row as text, "" if there is none; None without labels.

    An array has its labels beside it.
    """
    if isinstance(table, NamedColumns):
        return None if name is None else [*map(cell_text, table.cells(name).to_pylist())]
    if name is not None and (name != "y" or table.y is None):
        table.cells(name)
    return None if table.y is None else [*map(cell_text, table.y.tolist())]


def labels_of(
    table: InputTable, name: str | None, unlabeled: Collection[str] | None = None
) -> Array | None:
    """Return the label of each row, text or None; None if the table has no labels.

    Empty cells and those `unlabeled` mean that the class is unknown, and no others;
    `unknown_labels` by default.
    """
    texts = label_texts(table, name)
    if texts is None:
        return None
    if unlabeled is None:
        unlabeled = unknown_labels(table, name)
    for text in unlabeled:
        if text.strip() and text.strip() not in texts:
            raise ValueError(
                f"{table.path}: no row has the label {text!r} that --unlabeled names."
                f"{advice(text, sorted({*texts} - {''}))}"
            )
    unknown = {"", *(text.strip() for text in unlabeled)}
    counts = Counter(text for text in texts if text not in unknown)
    for alike in spellings(counts):
        said = ", ".join(f"{word!r} ({counts[word]})" for word in alike)
        warn(
            f"{table.path}: the labels {said} are different classes. If they mean the same, write "
            "them alike."
        )
    for word, n in counts.items():
        if _may_be_unknown(word) and "" not in unlabeled:
            warn(
                f"{table.path}: {_rows(n)} the label {word!r}, which counts as a class. If it "
                f"means that the class is unknown, add --unlabeled {quoted(word)}"
            )
    return np.array([None if text in unknown else text for text in texts], dtype=object)


def unknown_labels(table: InputTable, name: str | None, known: Collection[str] = ()) -> list[str]:
    """Return the labels that mean an unknown class by custom, and say so: -1, NA, "?" and such.

    Those `known` mean what they meant before: nothing is said of them.
    """
    counts = Counter(label_texts(table, name) or ())
    words = [w for w in counts if _may_be_unknown(w) and w.casefold() not in _MAY_BE_CLASSES]
    own = () if table.names else _MINUS_ONE  # the custom of arrays needs no words
    if said := [word for word in words if word not in (*known, *own)]:
        warn(
            f"{table.path}: {_rows(sum(counts[word] for word in said))} "
            f"{' or '.join(map(repr, said))} as {name or 'y'}, which is read as no label. If it "
            'is a class, say what else means no label (--unlabeled "" for empty cells alone).'
        )
    return words


def _rows(n: int) -> str:
    return "1 row has" if n == 1 else f"{n} rows have"


def _may_be_unknown(word: str) -> bool:
    return word != "" and (word in _MINUS_ONE or is_missing(word, unknown=True))


def class_codes(labels: Array) -> tuple[Array, IntArray]:
    """Return the names of the classes in order, and the code of each label, -1 where unknown."""
    codes, names = pd.factorize(labels, sort=True)
    return names, codes


def as_it_was(table: InputTable, label: str | None) -> InputTable:
    """Return a table that `seraph predict` has filled in as it was before, and say so.

    Or the filled-in classes would count as labels, and what was added to them as features.
    """
    if isinstance(table, PlainArray) or table.names[-3:] != ADDED:
        return table
    given = [cell_text(cell).casefold() for cell in table.cells("given").to_pylist()]
    if not {*given} <= {"true", "false"}:
        return table
    warn(
        f"{table.path} was filled in by seraph predict: the {given.count('false')} classes that "
        f"are not given count as no labels, and {', '.join(ADDED)} are left out."
    )
    table = table.without(ADDED)
    if label not in table.columns:
        return table
    column = table.cells(label)
    open_rows = pa.array([word == "false" for word in given])
    cells = compute.if_else(open_rows, pa.scalar(None, column.type), column)
    return replace(table, columns={**table.columns, label: cells})
