"""The command ``duplicates``: find the rows that describe the same thing."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, takewhile
from operator import eq
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..._utils._optional import Late
from ._console import command, free_name, put_table, result, say, show, show_facts, working
from ._requests import DataFile, Drop, ReadRequest, Seed, TableOutput

if TYPE_CHECKING:
    from rich.status import Status

    from ..._utils._typing import Array
    from ...records import Duplicates
    from ...tables._table import InputTable

np = Late("numpy")
_LEAST_SURE = 5  # pairs to show
_SUSPICIOUS = 20  # answers to list
_CELL, _RECORD = 30, 70  # letters of a cell, and of a record, to show
_RANGES = (
    "precision", "recall", "f1", "new_precision", "new_recall", "n_same", "n_wrong",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class DuplicatesRequest(ReadRequest):
    """What `seraph duplicates` is asked for."""

    data: DataFile
    against: Annotated[
        Path | None,
        typer.Option(
            help="Second table with the same columns: find the rows of DATA in it, instead of "
            "duplicates within DATA."
        ),
    ] = None
    pairs: Annotated[
        list[Path] | None,
        typer.Option(
            help="Table of answers, from --ask or seraph ask: columns i and j, or id_i and id_j, "
            "and similar (1 for the same, 0 for different, empty if not answered; repeatable)."
        ),
    ] = None
    precision: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            max=1.0,
            metavar="SHARE",
            help="Share of the found pairs that is to be right. By default, the expected F1 of "
            "precision and recall is the best.",
        ),
    ] = None
    one_to_one: Annotated[
        bool,
        typer.Option(help="With --against: a row of one table is at most one row of the other."),
    ] = False
    output: TableOutput = None
    pairs_out: Annotated[
        Path | None,
        typer.Option(
            help="Write the found pairs here, all those within groups, with their probabilities, "
            "the surest first."
        ),
    ] = None
    ask: Annotated[
        Path | None,
        typer.Option(
            help="Write pairs to answer here, and find nothing yet. With --pairs, those that the "
            "answers leave open."
        ),
    ] = None
    n: Annotated[int, typer.Option("-n", min=1, help="Number of pairs to ask about.")] = 50
    drop: Drop = None
    text: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="Column to compare letter by letter, although it holds numbers (repeatable).",
        ),
    ] = None
    seed: Seed = 0

    def check(self) -> None:
        """Refuse, before anything is read, what cannot be done."""
        from ...tables._files import check_tables_out

        inputs = (self.data, self.against, *(self.pairs or ()))
        check_tables_out((self.output, self.pairs_out, self.ask), inputs)
        if self.ask is None and not self.pairs:
            raise ValueError(
                "There are no answers to learn from. Get pairs to answer with --ask answers.csv, "
                "fill in the column similar (1 for the same, 0 for different), and pass the file "
                "with --pairs."
            )
        if self.ask is not None and (self.output is not None or self.pairs_out is not None):
            raise ValueError("--ask writes pairs to answer and finds nothing: leave out -o.")
        if self.output is not None and self.output == self.pairs_out:
            raise ValueError(f"-o and --pairs-out both name {self.output}: choose two files.")
        if self.one_to_one and self.against is None:
            raise ValueError("--one-to-one needs two tables: name the other with --against.")


@command
def duplicates(request: DuplicatesRequest) -> None:
    """Find the rows that describe the same person or thing, from a hundred answers.

    First get pairs to answer: --ask answers.csv. Fill in the column similar (1 for the same, 0
    for different) and pass the file with --pairs. The output has one row for each record that has
    a duplicate, with the number of its group. Answers that look wrong are listed and set aside;
    the last answer to a pair counts, and one given twice is kept.

    Example: seraph duplicates people.csv --id id --ask answers.csv

    Example: seraph duplicates people.csv --id id --pairs answers.csv -o found.csv
    """
    from ...records import DuplicateFinder
    from ...tables._files import read_table
    from ._record_columns import check_records, fitted_finder

    request.check()
    id_column = request.id_column
    tables = [read_table(request.data, asked=[id_column], **request.how)]
    if request.against is not None:
        tables.append(read_table(request.against, **request.how))
    check_records(tables, id_column)
    records = _Records(tables, id_column)
    answers = records.answers(request.pairs) if request.pairs else ()
    with working("comparing neighbors") as status, _followed(status):
        finder = fitted_finder(
            tables,
            [*(request.drop or ()), *([id_column] if id_column else ())],
            DuplicateFinder(text=request.text or (), random_state=request.seed),
        )
        if request.ask is not None:
            asked = finder.questions(request.n, *answers)
        else:
            duplicates = finder.find(
                *answers, precision=request.precision, one_to_one=request.one_to_one
            )
    if request.ask is not None:
        _write_questions(request.ask, asked, records)
        return
    _write_found(duplicates, records, request)
    _summarize(duplicates, records, *answers)


@contextmanager
def _followed(status: Status) -> Iterator[None]:
    """Show the steps of the finder, which it logs, in the line that says that it works."""
    log, handler = logging.getLogger("seraph.records"), logging.Handler(logging.INFO)
    handler.emit = lambda record: status.update(record.getMessage())  # type: ignore[method-assign]
    level = log.level
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.setLevel(level)


@dataclass(frozen=True)
class _Records:
    """The records of one table or of two, and the names of their rows.

    The first row of a pair is one of the first table, the second one of the last.
    """

    tables: Sequence[InputTable]
    id_column: str | None

    @property
    def offsets(self) -> Array:
        """Number of rows before the table of each end of a pair."""
        return np.array([0, self.tables[0].n_rows if len(self.tables) == 2 else 0])

    def answers(self, paths: Sequence[Path]) -> tuple[Array, Array]:
        """Return the pairs that are answered in any file, and which of them are the same."""
        from ...tables._answers import answered_pairs

        parts = [
            answered_pairs(self.tables, path, self.id_column) for path in dict.fromkeys(paths)
        ]
        rows, same = (np.concatenate(part) for part in zip(*parts, strict=True))
        if len(rows) == 0:
            raise ValueError("No pair is answered yet: fill in the column similar, 1 or 0.")
        return rows - self.offsets, same

    def keys(self, pairs: Array) -> list[tuple[int, ...]]:
        """Return pairs as keys; within one table, the order of the two rows does not count."""
        return [tuple(pair if len(self.tables) == 2 else sorted(pair)) for pair in pairs.tolist()]

    def name(self, place: int, row: int) -> str:
        """Return what a row of a table is called: its id, or its number."""
        from ...tables._words import cell_text

        if self.id_column is None:
            return str(row)
        return cell_text(self.tables[place].cells(self.id_column)[row].as_py())

    def ids(self, pairs: Array) -> dict[str, Any]:
        """Return the columns with the ids of pairs, if rows have ids."""
        if self.id_column is None:
            return {}
        return {
            f"id_{end}": self.tables[k].cells(self.id_column).take(pairs[:, k])
            for end, k in (("i", 0), ("j", -1))
        }

    def contents(self, pairs: Array) -> list[str]:
        """Return the digests by which changed rows are noticed, as `seraph ask` does."""
        from ...tables._answers import row_contents

        digests = row_contents(self.tables, (pairs + self.offsets).ravel().tolist())
        return [" ".join(pair) for pair in zip(digests[::2], digests[1::2], strict=True)]

    def side_by_side(self, pairs: Array, first: Sequence[str]) -> list[list[str]]:
        """Return the two records of each pair, one below the other, after a first cell."""
        lines = []
        for pair, cell in zip(pairs.tolist(), first, strict=False):
            rows = [*zip((0, -1), pair, strict=True)]
            texts = [self._texts(self.tables[place], row) for place, row in rows]
            for (place, row), own, other in zip(rows, texts, texts[::-1], strict=True):
                lines.append([cell, self.name(place, row), _short(own, other)])
        return lines

    def _texts(self, table: InputTable, row: int) -> dict[str, str]:
        """Return the cells of a row by column."""
        from ...tables._words import cell_text

        names = (name for name in table.names or () if name != self.id_column)
        return {name: cell_text(table.cells(name)[row].as_py()) for name in names}


def _short(texts: dict[str, str], others: dict[str, str]) -> str:
    """Return the beginnings of cells, first those that differ from the other record's, there."""
    differ = {name: text for name, text in texts.items() if text != others.get(name, "")}
    parts = []
    for name, text in (differ | texts).items():
        alike = [*takewhile(bool, map(eq, text, others.get(name, "")))] if name in differ else []
        start = max(len(alike) - _CELL // 2, 0)
        parts.append(("…" if start else "") + text[start : start + _CELL])
    return ", ".join(filter(None, parts))[:_RECORD]


def _write_questions(path: Path, asked: Array, records: _Records) -> None:
    """Write pairs side by side, with a column for the answer."""
    columns: dict[str, Any] = {
        "i": asked[:, 0],
        "j": asked[:, 1],
        "similar": np.full(len(asked), "", dtype=object),
        **records.ids(asked),
    }
    for name in records.tables[0].names or ():
        for end, place in (("i", 0), ("j", -1)):
            table = records.tables[place]
            if name != records.id_column and name in (table.names or ()):
                columns.setdefault(f"{name} ({end})", table.cells(name).take(asked[:, place]))
    columns["content"] = records.contents(asked)
    put_table(path, columns)
    result(n_pairs=len(asked))
    say(
        f"{path}: {len(asked)} pairs. Fill in the column similar (1 for the same, 0 for "
        "different), then run the command again with --pairs in place of --ask."
    )


def _write_found(found: Duplicates, records: _Records, request: DuplicatesRequest) -> None:
    result(
        n_groups=found.n_groups,
        n_pairs=len(found.pairs),
        n_new=found.n_new,
        n_candidates=found.n_candidates,
        threshold=found.threshold,
        note=found.note,
        suspicious=found.suspicious.tolist(),
        shares=found.weights,
        **{
            name: dict(zip(("value", "low", "high"), getattr(found, name), strict=True))
            for name in _RANGES
        },
    )
    if request.output is not None:
        put_table(request.output, _grouped(found, records))
    if request.pairs_out is not None:
        columns = {
            "i": found.pairs[:, 0],
            "j": found.pairs[:, 1],
            **records.ids(found.pairs),
            "probability": found.probability.round(4),
            "group": found.group[found.pairs[:, 0]],
        }
        put_table(request.pairs_out, columns, "pairs_out")


def _grouped(found: Duplicates, records: _Records) -> dict[str, Any]:
    """Return the records with a duplicate, group by group, with all their columns."""
    from ...tables._reading import typed_column

    tables, n = records.tables, records.tables[0].n_rows
    group = np.concatenate([found.group, found.other_group])
    best = np.zeros(len(group))
    np.maximum.at(best, found.pairs + records.offsets, found.probability[:, np.newaxis])
    order = np.flatnonzero(group >= 0)
    order = order[np.argsort(group[order], kind="stable")]
    side = (order >= n).astype(np.intp)
    names = list(dict.fromkeys(name for table in tables for name in table.names or ()))
    columns: dict[str, Any] = {free_name("group", names): group[order]}
    if len(tables) == 2:
        columns[free_name("table", names)] = [str(tables[number].path) for number in side]
    columns[free_name("row", names)] = order - n * side
    columns[free_name("probability", names)] = best[order].round(4)
    for name in names:
        parts = [
            table.cells(name).to_pylist() if name in (table.names or ()) else [None] * table.n_rows
            for table in tables
        ]
        column = tables[0].cells(name) if len(tables) == 1 else typed_column([*chain(*parts)])
        columns[name] = column.take(order)
    return columns


def _summarize(found: Duplicates, records: _Records, rows: Array, same: Array) -> None:
    groups = np.concatenate([found.group, found.other_group])
    sizes = np.bincount(groups[groups >= 0], minlength=1)
    said = f"{same.sum()} the same, {(~same).sum()} different"
    show_facts(
        [
            ["records", " and ".join(f"{table.n_rows:,}" for table in records.tables)],
            ["answers", f"{said}; about {_range(found.n_wrong, ',.0f')} wrong"],
            ["candidates", f"{found.n_candidates:,} pairs of neighbors"],
            ["duplicates", f"about {_range(found.n_same, ',.0f')} of them"],
            ["found", f"{len(found.pairs):,} pairs in {found.n_groups:,} groups"],
            ["largest group", f"{sizes.max()} records"],
            ["new", f"{found.n_new:,} pairs that you did not answer"],
            ["precision, new", _range(found.new_precision)],
            ["recall, new", f"{_range(found.new_recall)} of the candidates that are the same"],
            ["recall, all", f"{_range(found.recall)} of the candidates that are the same"],
            ["F1, all", _range(found.f1)],
        ],
        "Duplicates; precision and recall are expected ones, from the answers",
    )  # fmt: skip
    if len(found.suspicious):
        kinds = dict(zip(records.keys(rows), np.where(same, "same", "different"), strict=True))
        words = [str(kinds[key]) for key in records.keys(found.suspicious)]
        count = "1 looks wrong and was" if len(words) == 1 else f"{len(words)} look wrong and were"
        title = f"Answers: {count} set aside, the oddest first; the others say the opposite"
        lines = records.side_by_side(found.suspicious[:_SUSPICIOUS], words)
        show([["answer", "row", "record"], *lines], title)
        say("Correct them in a further file of --pairs: the last answer counts.")
    shares = sorted(found.weights.items(), key=lambda item: -item[1])
    lines = [[name, f"{100 * share:.1f} %"] for name, share in shares]
    show([["column", "share"], *lines], "What matters: share of the weights")
    least = np.argsort(found.probability, kind="stable")[:_LEAST_SURE]
    sure = [f"{found.probability[place]:.3f}" for place in least]
    if lines := records.side_by_side(found.pairs[least], sure):
        heads = ["probability", "row", "record"]
        show([heads, *lines], "Least sure: look at these", numbers=slice(0, 1))
    if found.note:
        warnings.warn(found.note, stacklevel=2)


def _range(values: tuple[float, float, float], form: str = ".3f") -> str:
    value, low, high = (f"{number:{form}}" for number in values)
    return f"{value} (95 %: {low} to {high})"
