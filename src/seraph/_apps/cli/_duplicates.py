"""The command ``duplicates``: find the rows that describe the same thing."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import _options as options
from ._console import command, print_table, progress_bar, result, say, show
from ._console import show_facts as facts

if TYPE_CHECKING:
    from ..._utils._typing import Array
    from ...records import Duplicates
    from ._tables import InputTable

_LEAST_SURE = 5  # pairs to show
_CELL, _RECORD = 30, 70  # letters of a cell, and of a record, to show


@command
def duplicates(
    data: options.DataFiles,
    against: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Second table with the same columns: find the rows of DATA in it, instead of "
            "duplicates within DATA.",
        ),
    ] = None,
    pairs: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="Table of answers, from --ask or seraph ask: columns i and j, or id_i and id_j, "
            "and similar (1 for the same, 0 for different, empty if not answered; repeatable).",
        ),
    ] = None,
    precision: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            max=1.0,
            metavar="SHARE",
            help="Share of the found pairs that is to be right. By default, pairs are found that "
            "are likelier the same than different.",
        ),
    ] = None,
    one_to_one: Annotated[
        bool,
        typer.Option(
            "--one-to-one",
            help="With --against: a row of one table is at most one row of the other.",
        ),
    ] = False,
    output: options.TableOutput = None,
    pairs_out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the found pairs here, all those within groups, with their probabilities, "
            "the surest first.",
        ),
    ] = None,
    ask: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write pairs to answer here, and find nothing yet. With --pairs, those that the "
            "answers leave open.",
        ),
    ] = None,
    n: Annotated[
        int, typer.Option("-n", min=1, metavar="NUMBER", help="Number of pairs to ask about.")
    ] = 50,
    k: Annotated[
        int,
        typer.Option(
            "-k",
            min=1,
            metavar="NUMBER",
            help="Neighbors of each row to look at first; more where all of them are the same.",
        ),
    ] = 10,
    id_column: options.IdColumn = None,
    drop: options.Drop = None,
    text: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="Column to compare letter by letter, although it holds numbers (repeatable).",
        ),
    ] = None,
    decimal_comma: options.DecimalComma = False,
    encoding: options.Encoding = None,
    sql: options.Sql = None,
    seed: options.Seed = 0,
) -> None:
    """Find the rows that describe the same person or thing, from a hundred answers.

    First get pairs to answer: --ask answers.csv. Fill in the column similar (1 for the same, 0
    for different) and pass the file with --pairs. The output has one row for each record that has
    a duplicate, with the number of its group.

    Example: seraph duplicates people.csv --id id --ask answers.csv

    Example: seraph duplicates people.csv --id id --pairs answers.csv -o found.csv
    """
    from ...records import DuplicateFinder
    from ._record_columns import fitted_finder
    from ._tables import MIXED_TABLES, STDOUT, check_output, read_table, read_tables

    inputs = (*data, against, *(pairs or ()))
    for path in (output, pairs_out, ask):
        if path is not None and path != STDOUT:
            check_output(path, MIXED_TABLES, inputs)
    _check_options(pairs, output, pairs_out, ask)
    if one_to_one and against is None:
        raise ValueError("--one-to-one needs two tables: name the other with --against.")
    written: dict[str, Any] = {"decimal_comma": decimal_comma, "encoding": encoding}
    tables = [read_tables(data, asked=[id_column], sql=sql, **written)]
    if against is not None:
        tables.append(read_table(against, **written))
    sides = [_Side.of(table, id_column) for table in tables]
    answers = [_answers(path, sides) for path in pairs or ()]
    with progress_bar() as progress:
        task = progress.add_task("Comparing neighbors", total=2)
        finder = fitted_finder(
            tables,
            [*(drop or ()), *([id_column] if id_column else ())],
            DuplicateFinder(n_neighbors=k, text=text or (), random_state=seed),
        )
        progress.update(task, advance=1, description="Learning")
        rows, same = _together(answers)
        if ask is not None:
            asked = finder.questions(n, *((rows, same) if len(rows) else ()))
        else:
            found = finder.find(rows, same, precision=precision, one_to_one=one_to_one)
    if ask is not None:
        _write_questions(ask, asked, sides, id_column)
        return
    _write_found(found, sides, output, pairs_out)
    _summarize(found, sides, int(same.sum()), int((~same).sum()))
    if output is None and pairs_out is None:
        say("To keep the groups, name a file with -o.")


def _check_options(
    pairs: Sequence[Path] | None, output: Path | None, pairs_out: Path | None, ask: Path | None
) -> None:
    if ask is None and not pairs:
        raise ValueError(
            "There are no answers to learn from. Get pairs to answer with --ask answers.csv, fill "
            "in the column similar (1 for the same, 0 for different), and pass the file with "
            "--pairs."
        )
    if ask is not None and (output is not None or pairs_out is not None):
        raise ValueError("--ask writes pairs to answer and finds nothing: leave out -o.")
    if output is not None and output == pairs_out:
        raise ValueError(f"-o and --pairs-out both name {output}: choose two files.")


@dataclass(frozen=True)
class _Side:
    """One of the tables, and what its rows are called."""

    table: InputTable
    id_column: str | None

    @classmethod
    def of(cls, table: InputTable, id_column: str | None) -> _Side:
        from ._ask_rows import row_ids

        if table.names is None:
            raise ValueError(
                f"{table.path} is an array of numbers: duplicates are found by text. Learn a "
                "distance with seraph fit instead."
            )
        row_ids(table, table.n_rows, id_column)
        return cls(table, id_column)

    @property
    def n_rows(self) -> int:
        return self.table.n_rows

    @property
    def ids(self) -> list[Any] | None:
        return None if self.id_column is None else self.table.cells(self.id_column).to_pylist()

    def named(self, rows: Array) -> Any:
        """Return what the user calls some rows."""
        return rows if self.id_column is None else self.table.cells(self.id_column).take(rows)


def _answers(path: Path, sides: Sequence[_Side]) -> tuple[Array, Array]:
    from ._answered import rows_by_content
    from ._tables import read_pairs, read_table

    first, last = sides[0], sides[-1]
    other = (last.n_rows, last.ids) if len(sides) == 2 else None
    answers = read_table(path)
    pairs, same = read_pairs(answers, first.n_rows, first.ids, other)
    offset = [0, first.n_rows if other else 0]
    found = rows_by_content([side.table for side in sides], pairs + offset, answers)
    return found - offset, same


def _together(answers: Sequence[tuple[Array, Array]]) -> tuple[Array, Array]:
    import numpy as np

    if not answers:
        return np.empty((0, 2), dtype=np.intp), np.empty(0, dtype=bool)
    rows, same = (np.concatenate(parts) for parts in zip(*answers, strict=True))
    if len(rows) == 0:
        raise ValueError(
            "No pair is answered yet: fill in the column similar, 1 for the same and 0 for "
            "different."
        )
    return rows, same


def _write_questions(
    path: Path, asked: Array, sides: Sequence[_Side], id_column: str | None
) -> None:
    """Write pairs side by side, with a column for the answer."""
    import numpy as np

    from ._tables import STDOUT, write_table

    both = [sides[0], sides[-1]]
    columns: dict[str, Any] = {
        "i": asked[:, 0],
        "j": asked[:, 1],
        "similar": np.full(len(asked), "", dtype=object),
    }
    if id_column is not None:
        for side, name, rows in zip(both, "ij", asked.T, strict=True):
            columns[f"id_{name}"] = side.named(rows)
    for name in sides[0].table.names or ():
        if name != id_column:
            for side, end, rows in zip(both, "ij", asked.T, strict=True):
                if name in (side.table.names or ()):
                    columns.setdefault(f"{name} ({end})", side.table.cells(name).take(rows))
    if path == STDOUT:
        print_table(columns)
        return
    write_table(path, columns)
    result(output=str(path), n_pairs=len(asked))
    say(
        f"{path}: {len(asked)} pairs. Fill in the column similar (1 for the same, 0 for "
        "different), then run the command again with --pairs in place of --ask."
    )


def _write_found(
    found: Duplicates, sides: Sequence[_Side], output: Path | None, pairs_out: Path | None
) -> None:
    from ._tables import STDOUT, write_table

    result(
        n_groups=found.n_groups,
        n_pairs=len(found.pairs),
        n_candidates=found.n_candidates,
        threshold=found.threshold,
        note=found.note,
        precision=dict(zip(("value", "low", "high"), found.precision, strict=True)),
        recall=dict(zip(("value", "low", "high"), found.recall, strict=True)),
        shares=found.weights,
    )
    for path, columns in ((output, _records), (pairs_out, _pairs)):
        if path == STDOUT:
            print_table(columns(found, sides))
        elif path is not None:
            write_table(path, columns(found, sides))
            result(**{"output" if path == output else "pairs_out": str(path)})


def _records(found: Duplicates, sides: Sequence[_Side]) -> dict[str, Any]:
    """Return the records with a duplicate, group by group, with all their columns."""
    import numpy as np
    import pyarrow as pa

    groups = [found.group, found.other_group][: len(sides)]
    best = [np.zeros(side.n_rows) for side in sides]
    for column, members in enumerate(found.pairs.T):
        np.maximum.at(best[column if len(sides) == 2 else 0], members, found.probability)
    rows = [np.flatnonzero(group >= 0) for group in groups]
    which = np.concatenate([np.full(len(part), side) for side, part in enumerate(rows)])
    group = np.concatenate([group[part] for group, part in zip(groups, rows, strict=True)])
    p = np.concatenate([values[part] for values, part in zip(best, rows, strict=True)])
    order = np.lexsort([np.concatenate(rows), which, group])
    names = list(dict.fromkeys(name for side in sides for name in side.table.names or ()))
    columns: dict[str, Any] = {_free("group", names): group[order]}
    if len(sides) == 2:
        columns[_free("table", names)] = [str(sides[s].table.path) for s in which[order]]
    columns[_free("row", names)] = np.concatenate(rows)[order]
    columns[_free("probability", names)] = p[order].round(4)
    for name in names:
        parts = []
        for side, part in zip(sides, rows, strict=True):
            if name in (side.table.names or ()):
                parts.append(side.table.cells(name).take(part).to_pylist())
            else:
                parts.append([None] * len(part))
        cells = [cell for part in parts for cell in part]
        if len({type(cell) for cell in cells if cell is not None}) > 1:
            cells = [None if cell is None else str(cell) for cell in cells]
        columns[name] = pa.array(cells).take(pa.array(order))
    return columns


def _pairs(found: Duplicates, sides: Sequence[_Side]) -> dict[str, Any]:
    columns: dict[str, Any] = {"i": found.pairs[:, 0], "j": found.pairs[:, 1]}
    for side, name, rows in zip([sides[0], sides[-1]], "ij", found.pairs.T, strict=True):
        if side.id_column is not None:
            columns[f"id_{name}"] = side.named(rows)
    columns["probability"] = found.probability.round(4)
    columns["group"] = found.group[found.pairs[:, 0]]
    return columns


def _free(name: str, taken: Collection[str]) -> str:
    """Return a name that no column of the user has."""
    while name in taken:
        name += "_"
    return name


def _summarize(found: Duplicates, sides: Sequence[_Side], n_same: int, n_different: int) -> None:
    import numpy as np

    groups = np.concatenate([found.group, found.other_group])
    sizes = np.bincount(groups[groups >= 0]) if found.n_groups else np.zeros(1, dtype=int)
    facts(
        [
            ["records", " and ".join(f"{side.n_rows:,}" for side in sides)],
            ["answers", f"{n_same} the same, {n_different} different"],
            ["candidates", f"{found.n_candidates:,} pairs of neighbors"],
            ["found", f"{len(found.pairs):,} pairs in {found.n_groups:,} groups"],
            ["largest group", f"{int(sizes.max())} records"],
            ["precision", _interval(found.precision)],
            ["recall", f"{_interval(found.recall)} of the candidates that are the same"],
        ],
        "Duplicates; precision and recall are expected ones, from the answers",
    )
    shares = sorted(found.weights.items(), key=lambda item: -item[1])
    rows = [[name, f"{100 * share:.1f} %"] for name, share in shares]
    show([["column", "share"], *rows], "What matters: share of the weights")
    lines = []
    for place in np.argsort(found.probability, kind="stable")[:_LEAST_SURE].tolist():
        for side, row in zip([sides[0], sides[-1]], found.pairs[place].tolist(), strict=True):
            named = side.named(np.array([row]))[0]
            name = str(named.as_py() if hasattr(named, "as_py") else named)
            lines.append([f"{found.probability[place]:.3f}", name, _short(side, row)])
    if lines:
        heads = ["probability", "row", "record"]
        show([heads, *lines], "Least sure: look at these", numbers=slice(0, 1))
    if found.note:
        say(found.note)


def _short(side: _Side, row: int) -> str:
    """Return the beginnings of the cells of a row that are not empty."""
    cells = [side.table.cells(name)[row].as_py() for name in side.table.names or ()]
    names = side.table.names or ()
    texts = [
        str(cell).strip()[:_CELL]
        for name, cell in zip(names, cells, strict=True)
        if name != side.id_column and cell is not None and cell == cell  # noqa: PLR0124 (NaN)
    ]
    return ", ".join(text for text in texts if text)[:_RECORD]


def _interval(values: tuple[float, float, float]) -> str:
    value, low, high = values
    return f"{value:.3f} (95 %: {low:.3f} to {high:.3f})"
