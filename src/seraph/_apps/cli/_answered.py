"""What the answers of ``seraph ask`` say beyond pairs: classes, a test, and the rows they mean."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import compress
from operator import ne
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

from ... import Marks
from ..._utils._typing import Array, BoolArray, FloatArray, IntArray
from ..ask._judge import Comparison, compare
from ..ask._row_names import rows_of_another_table
from ._ask_rows import row_contents
from ._rows import sample_rows
from ._tables import InputTable, cell_text, read_table

# Rows that the check learns from, beside those of the pairs: as many as the page of questions.
_ROWS = 800
# Random pairs whose distances the comparison knows, beside those of the answers.
_POPULATION = 2000


def answered_classes(table: InputTable, path: Path, id_column: str | None) -> Array:
    """Return the class of each row of a table by ``seraph ask --classes``, None where unknown.

    The file has the columns class and row (numbers from 0), or id, if `id_column` is given.
    """
    answers = read_table(path)
    by_id = id_column is not None and id_column in (table.names or ())
    key = "id" if by_id else "row"
    for column in ("class", key):
        if column not in (answers.names or ()):
            raise ValueError(
                f"{path} has no column {column!r}: --labels reads the answers of seraph ask "
                "--classes, with the columns row, class and id."
            )
    names = table.cells(str(id_column)).to_pylist() if by_id else range(table.n_rows)
    place = {cell_text(name): row for row, name in enumerate(names)}
    rows = []
    for number, cell in enumerate(_answered_cells(answers, key, "class")):
        name = cell_text(cell)
        if not name or name not in place:
            raise ValueError(f"{path}, answer {number}: {table.path} has no row {name!r}.")
        rows.append(place[name])
    check_rows([table], np.array(rows, dtype=np.intp)[:, None], answers, "class", by_id=by_id)
    labels = np.full(table.n_rows, None, dtype=object)
    labels[rows] = [cell_text(label) for label in _answered_cells(answers, "class", "class")]
    return labels


def _answered_cells(answers: InputTable, name: str, answer: str) -> list[Any]:
    """Return the cells of a column where the column `answer` is not empty."""
    answered = map(cell_text, answers.cells(answer).to_pylist())
    return list(compress(answers.cells(name).to_pylist(), answered))


def check_rows(
    tables: Sequence[InputTable],
    rows: IntArray,
    answers: InputTable,
    answer: str = "similar",
    *,
    by_id: bool = False,
) -> None:
    """Refuse answers about rows that hold something else than when ``seraph ask`` asked.

    It notes a digest of each row, because a row number may mean another row by now, and an id
    another row of another table. Answers without digests hold. `rows`, of shape (n_answers, k),
    were found by number; or by id, and then a few of them may have changed. The rows of a second
    table are numbered on. The column `answer` is empty where there is no answer.
    """
    if "content" not in (answers.names or ()):
        return
    cells = [cell_text(cell).split() for cell in _answered_cells(answers, "content", answer)]
    noted = [k for k, cell in enumerate(cells) if len(cell) == rows.shape[1]]
    if len(cells) != len(rows) or not noted:
        return
    known = rows[noted].ravel().tolist()
    said = [name for k in noted for name in cells[k]]
    changed = dict(zip(known, map(ne, row_contents(tables, known), said), strict=True))
    others = rows_of_another_table(changed, by_id=by_id)
    if others:
        order = "" if by_id else ", with its rows in the same order"
        raise ValueError(
            f"{answers.path} has answers about another table: {len(others)} of the "
            f"{len(changed)} rows that they are about have other cells in "
            f"{' or '.join(str(table.path) for table in tables)}, row {others[0]} first. Give the "
            f"table that they are about{order}. If these are the same things with other cells, "
            "remove the column 'content'."
        )


def test_weights(path: Path | None, n_pairs: int) -> FloatArray | None:
    """Return the weight in the test of each answered pair, NaN for one to learn from.

    None if the file says nothing about a test.
    """
    table = None if path is None else read_table(path)
    if table is None or "test_weight" not in (table.names or ()):
        return None
    cells = _answered_cells(table, "test_weight", "similar")
    weights = np.array([np.nan if cell in (None, "") else float(cell) for cell in cells])
    if len(weights) != n_pairs or np.isnan(weights).all():
        return None
    return weights


@dataclass(frozen=True)
class TestedPairs:
    """The verdict of answers that were kept apart as a test.

    Parameters
    ----------
    comparison : Comparison
        What they say about the learned and the Euclidean distance.
    n : int
        How many there are.
    name : str
        Name of the learner.
    """

    comparison: Comparison
    n: int
    name: str
    title = "AUC on the test answers: how often a similar pair is nearer than a dissimilar one"

    @property
    def method(self) -> str:
        """How it was computed."""
        return (
            f"{self.n} questions were drawn at random as a test. The distance was learned once "
            "more without their answers. The AUC says how often a pair that you called similar "
            "is nearer than one that you called dissimilar: 1 is best, 0.5 is chance, and wrong "
            "answers lower it. No AUC exceeds 1, so an interval near 1 reaches further down "
            "than up."
        )

    def rows(self) -> list[list[str]]:
        """Return the comparison as a table, headings first."""
        found = self.comparison
        return [
            ["distance", "AUC", "95 % interval"],
            *(
                [name, f"{one.value:.2f}", f"{one.low:.2f} to {one.high:.2f}"]
                for name, one in ((self.name, found.learned), ("Euclidean", found.euclidean))
            ),
        ]

    def verdict(self) -> str:
        """Say in a sentence which distance is better."""
        return self.comparison.sentence()

    def values(self) -> dict[str, Any]:
        """Return the comparison as plain values."""
        return {
            "held_out": "test answers",
            "n": self.n,
            **asdict(self.comparison),
            "better": self.comparison.better,
            "verdict": self.verdict(),
        }


def tested_pairs(
    learner: Any,
    points: FloatArray,
    pairs: IntArray,
    similar: BoolArray,
    weights: FloatArray | None,
    *,
    seed: int,
) -> TestedPairs | None:
    """Learn from the pairs that are not in the test, and judge by those that are.

    Returns None if there is no test, or too few pairs of either.
    """
    if weights is None:
        return None
    tested: BoolArray = ~np.isnan(weights)
    if similar[~tested].all() or not similar[~tested].any():
        return None
    needed: IntArray = np.unique(pairs)
    rows = sample_rows(len(points), len(needed) + _ROWS, needed, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the fit on all pairs has already warned
        marks = Marks(pairs[~tested], similar[~tested], rows=len(points))[rows]
        learned = clone(learner).fit(points[rows], marks=marks)

    def distances(some: IntArray) -> tuple[FloatArray, FloatArray]:
        plain = np.linalg.norm(points[some[:, 0]] - points[some[:, 1]], axis=1)
        return learned.pair_distance(some, points), plain

    rng = np.random.default_rng(seed)
    first = rng.integers(len(points), size=_POPULATION)
    second = (first + rng.integers(1, len(points), size=_POPULATION)) % len(points)
    found = compare(
        *distances(pairs[tested]),
        similar[tested],
        weights[tested],
        population=distances(np.column_stack([first, second])),
    )
    if found is None:
        return None
    return TestedPairs(found, int(tested.sum()), type(learner).__name__)
