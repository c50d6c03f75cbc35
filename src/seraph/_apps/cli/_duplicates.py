"""The command ``duplicates``: find the rows that describe the same thing."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import _options as options
from ._console import (
    check_tables_out,
    command,
    free_name,
    progress_bar,
    put_table,
    result,
    say,
    show,
    show_facts,
)

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
            help="Second table with the same columns: find the rows of DATA in it, instead of "
            "duplicates within DATA."
        ),
    ] = None,
    pairs: Annotated[
        list[Path] | None,
        typer.Option(
            help="Table of answers, from --ask or seraph ask: columns i and j, or id_i and id_j, "
            "and similar (1 for the same, 0 for different, empty if not answered; repeatable)."
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
        typer.Option(help="With --against: a row of one table is at most one row of the other."),
    ] = False,
    output: options.TableOutput = None,
    pairs_out: Annotated[
        Path | None,
        typer.Option(
            help="Write the found pairs here, all those within groups, with their probabilities, "
            "the surest first."
        ),
    ] = None,
    ask: Annotated[
        Path | None,
        typer.Option(
            help="Write pairs to answer here, and find nothing yet. With --pairs, those that the "
            "answers leave open."
        ),
    ] = None,
    n: Annotated[int, typer.Option("-n", min=1, help="Number of pairs to ask about.")] = 50,
    k: Annotated[
        int,
        typer.Option(
            "-k",
            min=1,
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
    from ._record_columns import check_records, fitted_finder
    from ._tables import read_table, read_tables

    check_tables_out((output, pairs_out, ask), (*data, against, *(pairs or ())))
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
    if one_to_one and against is None:
        raise ValueError("--one-to-one needs two tables: name the other with --against.")
    written: dict[str, Any] = {"decimal_comma": decimal_comma, "encoding": encoding}
    tables = [read_tables(data, asked=[id_column], sql=sql, **written)]
    if against is not None:
        tables.append(read_table(against, **written))
    check_records(tables, id_column)
    answers = _answers(tables, pairs, id_column) if pairs else ()
    with progress_bar() as progress:
        task = progress.add_task("Comparing neighbors", total=2)
        finder = fitted_finder(
            tables,
            [*(drop or ()), *([id_column] if id_column else ())],
            DuplicateFinder(n_neighbors=k, text=text or (), random_state=seed),
        )
        progress.update(task, advance=1, description="Learning")
        if ask is not None:
            asked = finder.questions(n, *answers)
        else:
            found = finder.find(*answers, precision=precision, one_to_one=one_to_one)
    if ask is not None:
        _write_questions(ask, asked, tables, id_column)
        return
    _write_found(found, tables, id_column, output, pairs_out)
    _summarize(found, tables, id_column, answers[1])
    if output is None and pairs_out is None:
        say("To keep the groups, name a file with -o.")


def _answers(
    tables: Sequence[InputTable], paths: Sequence[Path], id_column: str | None
) -> tuple[Array, ...]:
    """Return the pairs that are answered in any file, and which of them are the same."""
    import numpy as np

    from ._examples import answered_pairs, ids_of

    ids = [ids_of(table, id_column) for table in tables]
    answers = [answered_pairs(tables, path, ids) for path in paths]
    rows, same = (np.concatenate(parts) for parts in zip(*answers, strict=True))
    if len(rows) == 0:
        raise ValueError(
            "No pair is answered yet: fill in the column similar, 1 for the same and 0 for "
            "different."
        )
    return rows - _offsets(tables), same


def _offsets(tables: Sequence[InputTable]) -> list[int]:
    """Return the number of rows before the table of each end of a pair."""
    return [0, tables[0].n_rows if len(tables) == 2 else 0]


def _ends(tables: Sequence[InputTable], pairs: Array) -> list[tuple[str, InputTable, Array]]:
    """Return the name, the table and the rows of each end of some pairs."""
    return [("i", tables[0], pairs[:, 0]), ("j", tables[-1], pairs[:, 1])]


def _ids(tables: Sequence[InputTable], pairs: Array, id_column: str | None) -> dict[str, Any]:
    """Return the columns with the ids of pairs, if rows have ids."""
    if id_column is None:
        return {}
    ends = _ends(tables, pairs)
    return {f"id_{end}": table.cells(id_column).take(rows) for end, table, rows in ends}


def _write_questions(
    path: Path, asked: Array, tables: Sequence[InputTable], id_column: str | None
) -> None:
    """Write pairs side by side, with a column for the answer."""
    import numpy as np

    columns: dict[str, Any] = {
        "i": asked[:, 0],
        "j": asked[:, 1],
        "similar": np.full(len(asked), "", dtype=object),
        **_ids(tables, asked, id_column),
    }
    for name in tables[0].names or ():
        for end, table, rows in _ends(tables, asked):
            if name != id_column and name in (table.names or ()):
                columns.setdefault(f"{name} ({end})", table.cells(name).take(rows))
    put_table(path, columns)
    result(n_pairs=len(asked))
    say(
        f"{path}: {len(asked)} pairs. Fill in the column similar (1 for the same, 0 for "
        "different), then run the command again with --pairs in place of --ask."
    )


def _write_found(
    found: Duplicates,
    tables: Sequence[InputTable],
    id_column: str | None,
    output: Path | None,
    pairs_out: Path | None,
) -> None:
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
    if output is not None:
        put_table(output, _records(found, tables))
    if pairs_out is not None:
        columns = {
            "i": found.pairs[:, 0],
            "j": found.pairs[:, 1],
            **_ids(tables, found.pairs, id_column),
            "probability": found.probability.round(4),
            "group": found.group[found.pairs[:, 0]],
        }
        put_table(pairs_out, columns, "pairs_out")


def _records(found: Duplicates, tables: Sequence[InputTable]) -> dict[str, Any]:
    """Return the records with a duplicate, group by group, with all their columns."""
    import numpy as np
    import pyarrow as pa

    group = np.concatenate([found.group, found.other_group])
    best = np.zeros(len(group))
    stacked: Array = found.pairs + _offsets(tables)  # the second table below the first
    np.maximum.at(best, stacked, found.probability[:, np.newaxis])
    order = np.flatnonzero(group >= 0)
    order = order[np.argsort(group[order], kind="stable")]
    side = (order >= tables[0].n_rows).astype(np.intp)
    rows = order - tables[0].n_rows * side
    names = list(dict.fromkeys(name for table in tables for name in table.names or ()))
    columns: dict[str, Any] = {free_name("group", names): group[order]}
    if len(tables) == 2:
        columns[free_name("table", names)] = [str(tables[number].path) for number in side]
    columns[free_name("row", names)] = rows
    columns[free_name("probability", names)] = best[order].round(4)
    for name in names:
        cells = np.full(len(order), None, dtype=object)
        for number, table in enumerate(tables):
            if name in (table.names or ()):
                cells[side == number] = table.cells(name).take(rows[side == number]).to_pylist()
        if len({type(cell) for cell in cells if cell is not None}) > 1:
            cells = np.array([None if cell is None else str(cell) for cell in cells], dtype=object)
        columns[name] = pa.array(cells.tolist())
    return columns


def _summarize(
    found: Duplicates, tables: Sequence[InputTable], id_column: str | None, same: Array
) -> None:
    import numpy as np

    groups = np.concatenate([found.group, found.other_group])
    sizes = np.bincount(groups[groups >= 0], minlength=1)
    show_facts(
        [
            ["records", " and ".join(f"{table.n_rows:,}" for table in tables)],
            ["answers", f"{same.sum()} the same, {(~same).sum()} different"],
            ["candidates", f"{found.n_candidates:,} pairs of neighbors"],
            ["found", f"{len(found.pairs):,} pairs in {found.n_groups:,} groups"],
            ["largest group", f"{sizes.max()} records"],
            ["precision", _interval(found.precision)],
            ["recall", f"{_interval(found.recall)} of the candidates that are the same"],
        ],
        "Duplicates; precision and recall are expected ones, from the answers",
    )
    shares = sorted(found.weights.items(), key=lambda item: -item[1])
    rows = [[name, f"{100 * share:.1f} %"] for name, share in shares]
    show([["column", "share"], *rows], "What matters: share of the weights")
    lines = []
    for place in np.argsort(found.probability, kind="stable")[:_LEAST_SURE]:
        for _, table, (row,) in _ends(tables, found.pairs[[place]]):
            name, record = _short(table, int(row), id_column)
            lines.append([f"{found.probability[place]:.3f}", name, record])
    if lines:
        heads = ["probability", "row", "record"]
        show([heads, *lines], "Least sure: look at these", numbers=slice(0, 1))
    if found.note:
        warnings.warn(found.note, stacklevel=2)


def _short(table: InputTable, row: int, id_column: str | None) -> tuple[str, str]:
    """Return what a row is called, and the beginnings of its cells that are not empty."""
    from ._ask_rows import text_of

    texts = {name: text_of(table.cells(name)[row].as_py()) for name in table.names or ()}
    called = str(row) if id_column is None else texts.pop(id_column)
    return called, ", ".join(text[:_CELL] for text in texts.values() if text)[:_RECORD]


def _interval(values: tuple[float, float, float]) -> str:
    value, low, high = values
    return f"{value:.3f} (95 %: {low:.3f} to {high:.3f})"
