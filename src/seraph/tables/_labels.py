"""The labels of a table, and which of them mean that the class is unknown."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Collection

import numpy as np

from .._utils._typing import Array
from ._messages import advice, quoted
from ._table import InputTable, NamedColumns
from ._words import cell_text, is_missing, spellings

_MINUS_ONE = ("-1", "-1.0")
# Words for a missing number that may well name a class.
_MAY_BE_CLASSES = ("-", "--", ".", "none")


def labels_of(
    table: InputTable, name: str | None, unlabeled: Collection[str] = ()
) -> Array | None:
    """Return the label of each row, text or None; None if the table has no labels.

    An array has its labels beside it. Empty cells, -1 and those `unlabeled` mean that the class is
    unknown.
    """
    if isinstance(table, NamedColumns):
        if name is None:
            return None
        cells = table.cells(name).to_pylist()
    else:
        if name is not None and (name != "y" or table.y is None):
            table.cells(name)
        if table.y is None:
            return None
        cells = table.y.tolist()
    texts = [cell_text(cell) for cell in cells]
    for text in unlabeled:
        if text.strip() and text.strip() not in texts:
            raise ValueError(
                f"{table.path}: no row has the label {text!r} that --unlabeled names."
                f"{advice(text, sorted({*texts} - {''}))}"
            )
    unknown = {*_MINUS_ONE, *filter(is_missing, texts), *(text.strip() for text in unlabeled)}
    labels = [None if text in unknown else text for text in texts]
    counts = Counter(labels)
    for alike in spellings({word: n for word, n in counts.items() if word is not None}):
        said = ", ".join(f"{word!r} ({counts[word]})" for word in alike)
        warnings.warn(
            f"{table.path}: the labels {said} are different classes. If they mean the same, write "
            "them alike.",
            stacklevel=2,
        )
    for word, n in counts.items():
        if word is not None and is_missing(word, unknown=True) and "" not in unlabeled:
            warnings.warn(
                f"{table.path}: {n} {'row has' if n == 1 else 'rows have'} the label {word!r}, "
                "which counts as a class. If it means that the class is unknown, add --unlabeled "
                f"{quoted(word)}",
                stacklevel=2,
            )
    return np.array(labels, dtype=object)


def unknown_labels(table: InputTable, name: str | None) -> list[str]:
    """Return the labels of a table that are words for an unknown class, and say so."""
    if name is None or table.names is None:
        return []
    counts = Counter(map(cell_text, table.cells(name).to_pylist()))
    words = [
        text
        for text in counts
        if not is_missing(text)
        and is_missing(text, unknown=True)
        and text.casefold() not in _MAY_BE_CLASSES
    ]
    if words:
        n = sum(counts[text] for text in words)
        warnings.warn(
            f"{table.path}: {n} {'row has' if n == 1 else 'rows have'} "
            f"{' or '.join(map(repr, words))} as {name}, which is read as no label. If it is a "
            'class, say what else means no label (--unlabeled "" for empty cells alone).',
            stacklevel=2,
        )
    return words
