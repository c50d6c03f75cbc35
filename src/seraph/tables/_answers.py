"""Labels of a table, which of them mean that the class is unknown, and answers about its rows.

Answers are those of ``seraph ask`` and of people: pairs and classes.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from operator import ne
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import compute

from .._utils._optional import Late
from .._utils._typing import Array, BoolArray, IntArray
from .._utils._warnings import warn
from ._files import read_table
from ._table import InputTable, NamedColumns, PlainArray, as_text, row_ids
from ._words import advice, cell_text, is_missing, quoted, read_answer, spellings

pd = Late("pandas")
# What `seraph predict` adds to a table.
ADDED = ("probability", "given", "nearest")
_MINUS_ONE = ("-1", "-1.0")
# Words for a missing number that may well name a class.
_MAY_BE_CLASSES = ("-", "--", ".", "none")
# Another table, if more than this share of the rows of the answers has changed. Two tables with
# few columns have a few rows in common by chance.
_CHANGED = 0.25


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


# Answers


def answered_pairs(
    tables: Sequence[InputTable], path: Path, id_column: str | None = None
) -> tuple[IntArray, BoolArray]:
    """Return the pairs that have been answered, by row number, and which of them are similar.

    The file has the columns i and j, row numbers from 0, and similar: 1 or 0, yes or no, same or
    different; empty if the pair has not been answered. If the tables have ids, and the file the
    columns id_i and id_j, these name the rows, wherever they are now. Of two tables, i is a row of
    the first and j one of the second, which are numbered on.
    """
    answers, pairs = _read_pairs(tables, path, id_column)
    return pairs, np.array([*answers.said.values()], dtype=bool)


def marked_pairs(table: InputTable, path: Path, id_column: str | None = None) -> dict[str, Any]:
    """Return the same for one table, as the columns that ``Marks.from_frame`` reads.

    Two answers about one pair that differ are refused, unless screens gave them.
    """
    answers, pairs = _read_pairs([table], path, id_column)
    columns: dict[str, Any] = {
        "i": pairs[:, 0],
        "j": pairs[:, 1],
        "similar": [*answers.said.values()],
    }
    for name in {"screen", "chance"} & {*answers.file.names}:
        cells = answers.file.cells(name).to_pylist()
        columns[name] = [cells[row] for row in answers.said]
    screens = columns.get("screen", [None] * len(pairs))
    answers.check_consistent(pairs, [cell_text(screen) != "" for screen in screens])
    return columns


def _read_pairs(
    tables: Sequence[InputTable], path: Path, id_column: str | None
) -> tuple[_Answers, IntArray]:
    """Return the answers in a file, and the rows that they are about."""
    answers = _Answers(path, "similar", read_answer)
    by_id = answers.go_by_id(tables[0], id_column)
    id_column = id_column if by_id else None
    ends = (("i", tables[0]), ("j", tables[-1]))
    rows = [answers.rows(f"id_{end}" if by_id else end, table, id_column) for end, table in ends]
    pairs = np.column_stack(rows)
    if len(tables) == 2:
        pairs[:, 1] += tables[0].n_rows
    answers.check_contents(tables, pairs, by_id=by_id)
    return answers, pairs


def asked_pairs(
    table: InputTable, path: Path, id_column: str | None
) -> tuple[NamedColumns, IntArray]:
    """Return a table of pairs to decide about, and the row numbers of each of them."""
    names = read_table(path).names or ()
    ends = [f"id_{end}" if f"id_{end}" in names and id_column else end for end in "ij"]
    asked = _Answers(path, ends[0], lambda _: True)
    by_id = id_column if asked.go_by_id(table, id_column) else None
    return asked.file, np.column_stack([asked.rows(end, table, by_id) for end in ends])


def answered_classes(table: InputTable, path: Path, id_column: str | None) -> Array:
    """Return the class of each row of a table by ``seraph ask --classes``, None where unknown.

    The file has the columns class and row (numbers from 0), or id, if `id_column` is given.
    """
    by_id = id_column is not None and id_column in (table.names or ())
    answers = _Answers(path, "class", lambda cell: cell_text(cell) or None)
    rows = answers.rows("id" if by_id else "row", table, id_column if by_id else None)
    answers.check_contents([table], rows[:, np.newaxis], by_id=by_id)
    labels = np.full(table.n_rows, None, dtype=object)
    labels[rows] = [*answers.said.values()]
    return labels


class _Answers:
    """The answers in a file: `said` has them by the row of the file."""

    def __init__(self, path: Path, column: str, read: Callable[[Any], Any]) -> None:
        file = read_table(path, asked=[column])
        if not isinstance(file, NamedColumns):
            raise ValueError(f"{path} is an array without column names: save it as a .csv.")
        self.file = file
        self.said: dict[int, Any] = {}
        for row, cell in enumerate(file.cells(column).to_pylist()):
            try:
                answer = read(cell)
            except ValueError as error:
                raise ValueError(f"{path}, {file.place(row)}: {column}: {error}") from None
            if answer is not None:
                self.said[row] = answer

    def go_by_id(self, table: InputTable, id_column: str | None) -> bool:
        """Return whether answers name rows by id; refuse ids without a column of the data."""
        if not {"id_i", "id_j"} <= {*self.file.names}:
            return False
        # `seraph ask` writes the numbers again for rows without a name.
        texts = {name: as_text(cells).tolist() for name, cells in self.file.columns.items()}
        are_numbers = all(texts.get(end) == texts[f"id_{end}"] for end in "ij")
        if id_column is None and table.names is not None and not are_numbers:
            raise ValueError(
                f"{self.file.path}: its columns id_i and id_j name the rows, which may have moved "
                "since: say which column of the data holds these ids (--id)."
            )
        return id_column is not None

    def rows(self, column: str, table: InputTable, id_column: str | None) -> IntArray:
        """Return the rows of a table that a column names, by id or by number."""
        places = {name: row for row, name in enumerate(row_ids(table, id_column))}
        cells, rows = self.file.cells(column).to_pylist(), []
        for row in self.said:
            name = cell_text(cells[row])
            name = name if id_column is not None else name.removesuffix(".0")
            if name not in places:
                what = f"row number from 0 to {table.n_rows - 1}" if id_column is None else "id"
                raise ValueError(
                    f"{self.file.path}, {self.file.place(row)}: {column} is {name!r}, and no row "
                    f"of {table.path} has this {what}. Correct it, or remove the answer."
                )
            rows.append(places[name])
        return np.array(rows, dtype=np.intp)

    def check_consistent(self, pairs: IntArray, free: Sequence[bool]) -> None:
        """Refuse two answers about one pair that differ, but not the `free` ones."""
        first: dict[tuple[int, ...], int] = {}
        sides = map(tuple, np.sort(pairs, axis=1).tolist())
        for pair, row, may_differ in zip(sides, self.said, free, strict=True):
            before = row if may_differ else first.setdefault(pair, row)
            if self.said[before] != self.said[row]:
                raise ValueError(
                    f"{self.file.path}, {self.file.place(before)} and {self.file.place(row)}: the "
                    f"rows {pair[0]} and {pair[1]} are called similar and dissimilar. Remove one "
                    "of the two answers."
                )

    def check_contents(self, tables: Sequence[InputTable], rows: IntArray, *, by_id: bool) -> None:
        """Refuse answers about rows that hold something else than when they were asked about.

        The answers note a digest of each row, because a row number may mean another row by now,
        and an id another row of another table. Answers without digests hold. `rows`, of shape
        (n_answers, k), were found by number; or by id, and then a few of them may have changed.
        """
        if "content" not in self.file.names:
            return
        cells = self.file.cells("content").to_pylist()
        noted = {k: cell_text(cells[row]).split() for k, row in enumerate(self.said)}
        full = [k for k, digests in noted.items() if len(digests) == rows.shape[1]]
        known, then = rows[full].ravel().tolist(), [digest for k in full for digest in noted[k]]
        changed = dict(zip(known, map(ne, row_contents(tables, known), then), strict=True))
        if others := rows_of_another_table(changed, by_id=by_id):
            before = tables[0].n_rows if others[0] >= tables[0].n_rows else 0
            table = tables[-1 if before else 0]
            order = "" if by_id else ", with its rows in the same order"
            raise ValueError(
                f"{self.file.path} has answers about another table: {len(others)} of the "
                f"{len(changed)} rows that they are about have other cells in {table.path}, "
                f"{table.place(others[0] - before)} first. Give the table that they are about"
                f"{order}. If these are the same rows with other cells, remove the column "
                "'content'."
            )


def row_contents(tables: Sequence[InputTable], rows: Sequence[int]) -> list[str]:
    """Return a digest of each of some rows; those of a second table are numbered on."""
    numbers, start = np.asarray(rows, dtype=np.intp), 0
    digests = np.empty(len(numbers), dtype=object)
    for table in tables:
        here = (numbers >= start) & (numbers < start + table.n_rows)
        some = table.take(numbers[here] - start)
        start += table.n_rows
        if some.names is None:
            digests[here] = [digest(row.tobytes()) for row in np.asarray(some.points())]
        else:
            # As text: a row that is added may turn a column of whole numbers into one of decimals.
            columns = [map(cell_text, some.cells(name).to_pylist()) for name in some.names]
            cells = zip(*columns, strict=True)
            digests[here] = [digest(repr(row).encode()) for row in cells]
    return digests.tolist()


def digest(row: bytes) -> str:
    """Return a short digest of the content of a row."""
    return hashlib.blake2b(row, digest_size=6).hexdigest()


def rows_of_another_table(changed: Mapping[int, bool], *, by_id: bool) -> list[int]:
    """Return the rows that have changed if the table is another one; none if few have.

    Without ids, no row may have changed: a number may mean another row by now.
    """
    others = [row for row, other in changed.items() if other]
    return others if not by_id or len(others) > max(1.0, _CHANGED * len(changed)) else []
