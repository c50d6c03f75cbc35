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
_SUSPICIOUS = 20  # answers to list
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
    a duplicate, with the number of its group. Answers that look wrong are listed and set aside;
    --ask asks them again first, and the last answer counts.

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
    _keep_answers(ask)
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
        _write_questions(ask, asked, tables, id_column, answers[0] if answers else asked[:0])
        return
    _write_found(found, tables, id_column, output, pairs_out)
    _summarize(found, tables, id_column, answers)
    if output is None and pairs_out is None:
        say("To keep the groups, name a file with -o.")


def _keep_answers(path: Path | None) -> None:
    """Refuse to write questions over a file that has answers."""
    from ._tables import STDOUT, read_table

    if path is None or path == STDOUT or not path.exists():
        return
    table = read_table(path)
    if "similar" not in (table.names or ()):
        return
    cells = table.cells("similar").to_pylist()
    n = sum(cell is not None and str(cell).strip() not in ("", "nan") for cell in cells)
    if n:
        raise ValueError(
            f"{path} has {n} answers, which --ask would write over: name another file, or move "
            "this one away."
        )


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
    rows = rows - _offsets(tables)
    _warn_of_changes(tables, rows, same, id_column)
    return rows, same


def _warn_of_changes(
    tables: Sequence[InputTable], rows: Array, same: Array, id_column: str | None
) -> None:
    """Name the pairs that were answered both ways."""
    last: dict[tuple[int, ...], bool] = {}
    changed: dict[tuple[int, ...], None] = {}
    for key, answer in zip(_keys(tables, rows), same.tolist(), strict=True):
        if last.setdefault(key, answer) != answer:
            changed[key] = None
        last[key] = answer
    if changed:
        ends = tables[0], tables[-1]
        named = [
            " and ".join(_name(t, row, id_column) for t, row in zip(ends, key, strict=True))
            for key in changed
        ]
        count = "1 pair was" if len(named) == 1 else f"{len(named)} pairs were"
        warnings.warn(
            f"{count} answered both ways, and the last answer counts: "
            f"{'; '.join(named[:_LEAST_SURE])}{'; ...' if len(named) > _LEAST_SURE else ''}.",
            stacklevel=2,
        )


def _keys(tables: Sequence[InputTable], pairs: Array) -> list[tuple[int, ...]]:
    """Return pairs as keys; within one table, the order of the two rows does not count."""
    return [tuple(pair if len(tables) == 2 else sorted(pair)) for pair in pairs.tolist()]


def _name(table: InputTable, row: int, id_column: str | None) -> str:
    """Return what a row is called: its id, or its number."""
    return str(row) if id_column is None else str(table.cells(id_column)[row].as_py())


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
    path: Path, asked: Array, tables: Sequence[InputTable], id_column: str | None, known: Array
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
    answered = set(_keys(tables, known))
    n_again = sum(key in answered for key in _keys(tables, asked))
    result(n_pairs=len(asked), n_again=n_again)
    again = f", the first {n_again} again, because their answers look wrong" if n_again else ""
    say(
        f"{path}: {len(asked)} pairs{again}. Fill in the column similar (1 for the same, 0 for "
        "different), then run the command again with --pairs in place of --ask."
    )


def _write_found(
    found: Duplicates,
    tables: Sequence[InputTable],
    id_column: str | None,
    output: Path | None,
    pairs_out: Path | None,
) -> None:
    ranges = ("precision", "recall", "new_precision", "new_recall", "more_recall", "n_same")
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
            for name in (*ranges, "n_wrong")
        },
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
    found: Duplicates,
    tables: Sequence[InputTable],
    id_column: str | None,
    answers: tuple[Array, ...],
) -> None:
    import numpy as np

    groups = np.concatenate([found.group, found.other_group])
    sizes = np.bincount(groups[groups >= 0], minlength=1)
    same = answers[1]
    said = f"{same.sum()} the same, {(~same).sum()} different"
    show_facts(
        [
            ["records", " and ".join(f"{table.n_rows:,}" for table in tables)],
            ["answers", f"{said}; about {_range(found.n_wrong)} wrong"],
            ["candidates", f"{found.n_candidates:,} pairs of neighbors"],
            ["duplicates", f"about {_range(found.n_same)} of them"],
            ["found", f"{len(found.pairs):,} pairs in {found.n_groups:,} groups"],
            ["largest group", f"{sizes.max()} records"],
            ["new", f"{found.n_new:,} pairs that you did not answer"],
            ["precision, new", _interval(found.new_precision)],
            ["recall, new", _interval(found.new_recall)],
            ["recall, all", f"{_interval(found.recall)} of the candidates that are the same"],
            ["50 more answers", f"recall known to {_ends_of(found.more_recall)}, or about"],
        ],
        "Duplicates; precision and recall are expected ones, from the answers",
    )
    _show_suspicious(found, tables, id_column, answers)
    shares = sorted(found.weights.items(), key=lambda item: -item[1])
    rows = [[name, f"{100 * share:.1f} %"] for name, share in shares]
    show([["column", "share"], *rows], "What matters: share of the weights")
    least = np.argsort(found.probability, kind="stable")[:_LEAST_SURE]
    sure = [f"{found.probability[place]:.3f}" for place in least]
    lines = _side_by_side(found.pairs[least], sure, tables, id_column)
    if lines:
        heads = ["probability", "row", "record"]
        show([heads, *lines], "Least sure: look at these", numbers=slice(0, 1))
    if found.note:
        warnings.warn(found.note, stacklevel=2)


def _show_suspicious(
    found: Duplicates,
    tables: Sequence[InputTable],
    id_column: str | None,
    answers: tuple[Array, ...],
) -> None:
    """List the answers that look wrong, with both records."""
    import numpy as np

    if len(found.suspicious) == 0:
        return
    kinds = np.where(answers[1], "same", "different").tolist()
    said = dict(zip(_keys(tables, answers[0]), kinds, strict=True))
    words = [said[tuple(pair)] for pair in found.suspicious.tolist()]
    shown = found.suspicious[:_SUSPICIOUS]
    lines = _side_by_side(shown, words, tables, id_column)
    count = "1 looks wrong and was" if len(words) == 1 else f"{len(words)} look wrong and were"
    title = f"Answers: {count} set aside, the oddest first; the others say the opposite"
    show([["answer", "row", "record"], *lines], title)
    say("To answer these again, get questions with --pairs and --ask. The last answer counts.")


def _side_by_side(
    pairs: Array, first: Sequence[str], tables: Sequence[InputTable], id_column: str | None
) -> list[list[str]]:
    """Return the two records of each pair, one below the other, after a first cell."""
    return [
        [cell, *_short(table, int(row), id_column)]
        for pair, cell in zip(pairs, first, strict=False)
        for _, table, (row,) in _ends(tables, pair[None])
    ]


def _short(table: InputTable, row: int, id_column: str | None) -> tuple[str, str]:
    """Return what a row is called, and the beginnings of its cells that are not empty."""
    from ._ask_rows import text_of

    texts = [
        text_of(table.cells(name)[row].as_py()) for name in table.names or () if name != id_column
    ]
    return _name(table, row, id_column), ", ".join(t[:_CELL] for t in texts if t)[:_RECORD]


def _interval(values: tuple[float, float, float]) -> str:
    value, low, high = values
    return f"{value:.3f} (95 %: {low:.3f} to {high:.3f})"


def _ends_of(values: tuple[float, float, float]) -> str:
    return f"{values[1]:.3f} to {values[2]:.3f}"


def _range(values: tuple[float, float, float]) -> str:
    value, low, high = values
    return f"{value:,.0f} (95 %: {low:,.0f} to {high:,.0f})"
