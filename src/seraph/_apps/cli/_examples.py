"""From a table to what is learned from: features, labels and marked pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import Marks
from ..._utils._quantities import is_quantity, warn_of_quantity
from ..._utils._rows import implied_by_classes
from ..._utils._typing import Array, BoolArray, FloatArray, IntArray, computed_once
from ._answered import answered_classes, check_rows, test_weights
from ._rows import sample_rows
from ._tables import InputTable, labels_of, read_pairs, read_table, unknown_labels

if TYPE_CHECKING:
    from ._requests import TableRequest


_OF_A_QUANTITY = (
    "add a column with a few classes of it (low, middle, high), and name that with --label. (A "
    "distance for the quantity itself is learned in Python, by seraph.classic.MLKR.)"
)
# A query that makes two classes of a quantity, for --sql.
_TWO_CLASSES = (
    "SELECT * EXCLUDE ({0}), CASE TRY_CAST({0} AS DOUBLE) > {1:g} WHEN true THEN 'high' WHEN "
    "false THEN 'low' END AS class FROM data"
)


@dataclass(frozen=True)
class Examples:
    """Columns, labels and pairs of the rows that are used.

    Parameters
    ----------
    path : Path
        File that they come from.
    table : InputTable
        The columns to make features of.
    labels : ndarray or None
        Label of each row, text or None; None if there are no labels.
    pairs, similar : ndarray
        Marked pairs, and which of them are similar.
    test_weights : ndarray or None
        Weights of the pairs in a test, NaN for those to learn from; None if there is no test.
    unlabeled : tuple of str
        Labels that mean that the class is unknown.
    """

    path: Path
    table: InputTable
    labels: Array | None
    pairs: IntArray
    similar: BoolArray
    test_weights: FloatArray | None = None
    unlabeled: tuple[str, ...] = ()

    @property
    def marks(self) -> Marks:
        """The marked pairs."""
        return Marks(self.pairs, self.similar, rows=self.table.n_rows)

    @computed_once
    def codes(self) -> IntArray:
        """Class code of each row, -1 where the class is unknown."""
        return _class_codes(self.labels, self.table.n_rows)

    @property
    def class_names(self) -> list[str]:
        """Names of the classes, in the order of their codes."""
        labels = () if self.labels is None else self.labels
        return sorted({label for label in labels if label is not None})

    @classmethod
    def read(
        cls, table: InputTable, request: TableRequest, pairs_file: Path | None = None
    ) -> Examples:
        """Take them from a table; refuse what nothing can be learned from."""
        unlabeled = request.unlabeled
        if unlabeled is None:
            unlabeled = unknown_labels(table, request.label)
        if request.labels is None:
            labels = labels_of(table, request.label, unlabeled)
        else:
            labels = answered_classes(table, request.labels, request.id_column)
        pairs, similar = marked_pairs(table, pairs_file, request.id_column)
        _check_labels(table, labels, len(pairs), request.label, pairs_file)
        # On all rows, so that a contradiction is named by the rows of the table.
        marks = Marks(pairs, similar, rows=table.n_rows)
        implied_by_classes(marks.pairs, marks.labels, _class_codes(labels, table.n_rows))
        needed = _needed(pairs, labels, request.sample, request.seed)
        rows = sample_rows(table.n_rows, request.sample, needed, request.seed)
        some = table if len(rows) == table.n_rows else table.take(rows)
        place = np.empty(table.n_rows, dtype=np.intp)
        place[rows] = np.arange(len(rows))
        examples = cls(
            table.path,
            some.without([request.label if table.names else None, request.id_column]),
            None if labels is None else labels[rows],
            place[pairs],
            similar,
            test_weights(pairs_file, len(pairs)),
            tuple(unlabeled),
        )
        if len(examples.class_names) < 2 and similar.all():
            raise ValueError(
                f"{table.path}: all labeled pairs are similar, so nothing keeps points apart: "
                "label rows of a second class (-1 means no label), or mark pairs that are not "
                "alike."
            )
        return examples


def _class_codes(labels: Array | None, n: int) -> IntArray:
    """Number the classes of `n` rows from 0; -1 where the label is None."""
    codes: IntArray = np.full(n, -1, dtype=np.intp)
    if labels is not None:
        known = np.array([value is not None for value in labels], dtype=bool)
        codes[known] = np.unique(labels[known].astype(str), return_inverse=True)[1]
    return codes


def marked_pairs(
    table: InputTable, path: Path | None, id_column: str | None
) -> tuple[IntArray, BoolArray]:
    """Read the marked pairs of a table, by row number, and which of them are similar."""
    if path is None:
        return np.empty((0, 2), dtype=np.intp), np.empty(0, dtype=bool)
    return answered_pairs([table], path, [ids_of(table, id_column)], may_change=False)


def ids_of(table: InputTable, id_column: str | None) -> list[Any] | None:
    """Return the id of each row; None if no column has ids."""
    return None if id_column is None else table.cells(id_column).to_pylist()


def answered_pairs(
    tables: Sequence[InputTable],
    path: Path,
    ids: Sequence[Sequence[Any] | None],
    *,
    may_change: bool = True,
) -> tuple[IntArray, BoolArray]:
    """Read the pairs that have been answered, and which of them are similar; see `read_pairs`.

    If a pair has a row of each of two tables, those of the second are numbered on after those of
    the first. `ids` has the ids of the rows of each table, or None.
    """
    first = tables[0]
    answers = read_table(path)
    other = None if len(tables) == 1 else (tables[1].n_rows, ids[1])
    pairs, similar = read_pairs(
        answers,
        first.n_rows,
        ids[0],
        other,
        is_array=first.names is None,
        may_change=may_change,
    )
    if other is not None:
        pairs[:, 1] += first.n_rows
    check_rows(tables, pairs, answers, by_id=ids[0] is not None)
    return pairs, similar


def _check_labels(
    table: InputTable, labels: Array | None, n_pairs: int, label: str | None, pairs: Path | None
) -> None:
    """Refuse a table with nothing to learn from, naming the options that would help."""
    if labels is None and pairs is None:
        raise ValueError(
            f"{table.path}: there is nothing to learn from. Name the column with the classes "
            "(--label) or a file of marked pairs (--pairs)."
        )
    if labels is None and not n_pairs:
        raise ValueError(
            f"{pairs}: no pair has been answered: the column similar is empty. Fill it in."
        )
    n_labeled = 0 if labels is None else sum(value is not None for value in labels)
    if labels is not None and not n_pairs and n_labeled < 2:
        raise ValueError(
            f"{table.path}: {n_labeled or 'none'} of its {len(labels)} rows has a label in "
            f"{label or 'y'!r} (-1 and empty cells mean unlabeled): label at least two "
            "rows, of two classes."
        )
    if table.n_rows < 2:
        raise ValueError(f"{table.path} has only one row: add more rows to learn from.")
    if labels is not None:
        known = [value for value in labels if value is not None]
        if label is not None and is_quantity(np.array(known), surely=True):
            raise ValueError(_no_classes(table.path, label, known))
        warn_of_quantity(known, label or "y", _OF_A_QUANTITY)


def _no_classes(path: Path, label: str, known: Sequence[str]) -> str:
    """Say that labels are a quantity, and how to make classes of it."""
    name = label if label.isidentifier() else '"' + label.replace('"', '""') + '"'
    median = np.median(np.array(known, dtype=np.float64))
    query = _TWO_CLASSES.format(name, median).replace('"', r"\"")
    return (
        f"{path}: {label!r} has {len(set(known))} different numbers in {len(known)} labels, so it "
        "measures a quantity and names no classes. Make a few classes of it, such as --label "
        f'class --sql "{query}"; or learn a distance for the quantity itself, in Python, by '
        "seraph.classic.MLKR. (If they are names, begin each with a letter.)"
    )


def _needed(pairs: IntArray, labels: Array | None, size: int | None, seed: int) -> IntArray:
    """Return the rows that a sample must have: in a pair, or labeled, if not too many are."""
    if labels is None:
        return pairs.ravel()
    labeled = np.flatnonzero([value is not None for value in labels])
    if size is not None:
        labeled = labeled[sample_rows(len(labeled), size, [], seed)]
    return np.concatenate([pairs.ravel(), labeled])
