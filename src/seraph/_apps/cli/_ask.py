"""The commands ``ask`` and ``demo ask``: a page that asks "same or different?"."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import _options as options
from ._console import say

if TYPE_CHECKING:
    from ..._utils._typing import Array
    from ..ask._answers import Answer
    from ..ask._records import Records
    from ..ask._session import Setting
    from ._prepare import Preparation
    from ._tables import InputTable

# With more rows, the final fit sums over a sample of the unlabeled pairs.
_MANY_ROWS, _PAIRS = 5000, "2000000"
_DEMO = Path("seraph-demo")


def ask(
    data: options.DataFile,
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Keep the answers here: .csv. If the file exists, the session goes on from it.",
        ),
    ] = Path("answers.csv"),
    id_column: options.IdColumn = None,
    show: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FOLDER|COLUMN",
            help="What to show: a folder of images, sounds or texts, found by --id, or a column "
            "(repeatable). All columns by default.",
        ),
    ] = None,
    table: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Table with the ids and the columns to show, if DATA is an array: one line per "
            "row.",
        ),
    ] = None,
    pairs: options.PairsFile = None,
    classes: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help="Ask for the class of one row at a time instead: names, separated by commas.",
        ),
    ] = None,
    duplicates: Annotated[
        bool,
        typer.Option(
            "--duplicates",
            help="The rows are records of text, numbers and dates: ask which describe the same "
            "thing, for seraph duplicates.",
        ),
    ] = False,
    against: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="With --duplicates: second table with the same columns, to find the rows of "
            "DATA in.",
        ),
    ] = None,
    scale: options.Scale = "standard",
    drop: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN", help="Column that is not a feature (repeatable)."),
    ] = None,
    decimal_comma: options.DecimalComma = False,
    port: Annotated[
        int | None,
        typer.Option(min=1, max=65535, metavar="NUMBER", help="Port; any free one by default."),
    ] = None,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Print the address and open nothing.")
    ] = False,
    seed: Annotated[int, typer.Option(min=0, metavar="NUMBER", help="Random seed.")] = 0,
) -> None:
    """Ask about pair after pair on a page in your browser, and learn the distance meanwhile.

    The page shows two rows: same or different? Every answer is in the file before the next
    question shows; run the same command again to go on. The server listens on this machine only.

    Example: seraph ask photos.csv --id file --show photos/ -o answers.csv

    Example: seraph ask vectors.npy --table photos.csv --id file --show photos/

    Example: seraph ask people.csv --id id --duplicates
    """
    _check_installed()
    from ._prepare import Preparation
    from ._tables import check_output, read_table

    check_output(output, (".csv",), (data, table, pairs, against))
    preparation = Preparation(scale)
    if duplicates:
        _check_records(scale, classes, table)
    elif against is not None:
        raise ValueError("--against has a meaning only with --duplicates.")
    points = read_table(data, decimal_comma=decimal_comma)
    others = [read_table(against, decimal_comma=decimal_comma)] if against is not None else []
    shown = _shown_table(points, table)
    if points.n_rows < 3:
        raise ValueError(f"{data} has {points.n_rows} rows: at least 3 are needed to ask about.")
    ids = row_ids(shown, points.n_rows, id_column)
    for other in others:
        ids += row_ids(other, other.n_rows, id_column)
    contents = None if id_column else _contents([points, *others])
    columns, folder = _what_to_show(shown, show or [], id_column)
    not_features = [] if duplicates else _not_numbers(points, columns)
    dropped = list(dict.fromkeys([*(drop or []), *not_features]))
    without = [*dropped, *([id_column] if id_column and points.names else [])]
    job = _Job(
        arguments=[
            *("duplicates" if duplicates else "fit", str(data)),
            *(["--against", str(against)] if against is not None else []),
            *(["--id", id_column] if id_column and points.names else []),
            *(part for name in dropped for part in ("--drop", name)),
            *(["--scale", scale] if scale != "standard" else []),
            *(["--decimal-comma"] if decimal_comma else []),
        ],
        output=output,
        title=data.name,
        classes=_class_names(classes),
        port=port,
        browser=not no_browser,
        seed=seed,
    )
    if duplicates:
        X, records = _records([points, *others], without)
    else:
        X, records = _scaled(points.points(without=without), preparation, data), None
    from ..ask._things import Folder, RowThings

    things = RowThings(
        ids,
        {
            name: _Cells([table.cells(name) for table in (shown, *others)])
            for name in columns
            if shown is not None
        },
        None if folder is None else Folder(folder, ids),
    )
    n_first = points.n_rows if others else None
    earlier = _earlier(pairs, ids, job, n_first) if pairs is not None else []
    job.run(X, things, ids, earlier, records, contents)


def demo_ask(port: int | None = None, *, browser: bool = True) -> None:
    """Ask about handwritten digits that the package ships; keep everything in seraph-demo/."""
    _check_installed()
    import numpy as np

    from ..._utils._files import write_whole
    from ..ask._digits import DigitThings, demo_digits

    _DEMO.mkdir(exist_ok=True)
    say(f"The demo keeps your answers and its files in {_DEMO.resolve()}; delete it if you like.")
    X, _ = demo_digits()
    vectors = _DEMO / "digits.npy"
    content = io.BytesIO()
    np.save(content, X, allow_pickle=False)
    write_whole(vectors, content.getvalue())
    job = _Job(
        arguments=["fit", str(vectors), "--scale", "none"],
        output=_DEMO / "answers.csv",
        title="Handwritten digits",
        classes=None,
        port=port,
        browser=browser,
        seed=0,
    )
    job.run(X, DigitThings(X), [str(row) for row in range(len(X))], [])


@dataclass(frozen=True)
class _Job:
    """A session to run: where its answers go, and the line that fits the model at the end."""

    arguments: Sequence[str]
    output: Path
    title: str
    classes: tuple[str, ...] | None
    port: int | None
    browser: bool
    seed: int

    def run(
        self,
        X: Array,
        things: Any,
        ids: Sequence[str],
        earlier: Sequence[Answer],
        records: Records | None = None,
        contents: Sequence[str] | None = None,
    ) -> None:
        """Serve the page until the user ends it."""
        from ..ask._answers import AnswerFile, ClassFormat, LinkFormat, PairFormat
        from ..ask._server import Server
        from ..ask._session import Session, Setting

        setting: Setting = Setting(X, things, self.title, self.classes, self.seed, records)
        form: ClassFormat | PairFormat = PairFormat()
        if self.classes is not None:
            form = ClassFormat()
        elif records is not None and records.n_first is not None:
            form = LinkFormat(records.n_first)
        with AnswerFile(self.output, ids, form, contents) as file:
            n_before = len(file.answers)
            file.add_earlier(earlier)
            finish = self._finish(ids, len(X), duplicates=records is not None)
            session = Session(setting, file, finish)
            try:
                server = Server(session, self.port)
                self._greet(server.address, len(X), n_before, session.n_missing)
                server.run(browser=self.browser)
            except KeyboardInterrupt:
                pass  # the way to end it
            finally:
                session.close()
            n_answers = len(file.answers)
        say(f"{n_answers} answers in {self.output}. Learn from them: {finish.command}")

    def _finish(self, ids: Sequence[str], n_rows: int, *, duplicates: bool) -> Any:
        from ..ask._finish import Finish

        stem, by_class = self.output.name.removesuffix(".csv"), self.classes is not None
        if duplicates:
            found = self.output.with_name(f"{stem}-found.csv")
            arguments = [*self.arguments, "--pairs", str(self.output), "-o", str(found)]
            return Finish(arguments, self.output, found, None, ids)
        pairs = self.output.with_name(f"{stem}-pairs.csv") if by_class else self.output
        model, report = (self.output.with_name(stem + end) for end in (".skops", ".html"))
        arguments = [
            *self.arguments,
            *("--pairs", str(pairs)),
            *(["--unlabeled-pairs", _PAIRS] if n_rows > _MANY_ROWS else []),
            *("-o", str(model), "--report", str(report)),
        ]
        return Finish(arguments, pairs, model, report, ids, from_classes=by_class)

    def _greet(self, address: str, n_rows: int, n_before: int, n_missing: int) -> None:
        missing = f", {n_missing:,} of them without a file and not asked" if n_missing else ""
        going_on = f" Going on after {n_before} answers." if n_before else ""
        say(f"{self.title}: {n_rows:,} rows{missing}. Answers go to {self.output}.{going_on}")
        print(address, flush=True)
        say("Open this address in a browser on this machine. Ctrl-C ends the session.")


def _check_installed() -> None:
    for package in ("starlette", "uvicorn", "PIL", "jinja2"):
        if find_spec(package) is None:
            raise ImportError("The page needs more packages: pip install 'seraph-learn[ask]'.")


def _shown_table(points: InputTable, described: Path | None) -> InputTable | None:
    """Return the table with ids and columns to show; None for an array without one."""
    from ._tables import read_table

    if described is None:
        return points if points.names is not None else None
    if points.names is not None:
        raise ValueError(
            f"--table is for arrays: {points.path} has columns of its own to show and to name its "
            "rows by."
        )
    table = read_table(described)
    if table.names is None or table.n_rows != points.n_rows:
        kind = f"{table.n_rows} rows" if table.names is not None else "no named columns"
        raise ValueError(
            f"{described} has {kind}, and {points.path} has {points.n_rows} rows: --table needs "
            "named columns and one line for each row."
        )
    return table


def row_ids(table: InputTable | None, n_rows: int, column: str | None) -> list[str]:
    """Return the name of each row; refuse names that are missing or not unique."""
    if column is None:
        return [str(row) for row in range(n_rows)]
    if table is None:
        raise ValueError(f"--id {column}: an array has no columns: pass a table with --table.")
    ids = [_text(cell) for cell in table.cells(column).to_pylist()]
    first: dict[str, int] = {}
    for row, name in enumerate(ids):
        if not name or not name.isprintable():
            raise ValueError(
                f"{table.path}, row {row}: {name!r} in {column!r} cannot name a row: an id is one "
                "line of text."
            )
        if name in first:
            raise ValueError(
                f"{table.path}: rows {first[name]} and {row} have the same id {name!r} in "
                f"{column!r}: ids must be unique. Remove one, or name another column."
            )
        first[name] = row
    return ids


def _contents(tables: Sequence[InputTable]) -> list[str]:
    """Return a digest of each row, which answers find it by when it has no id."""
    from ..ask._answers import digests

    return digests(row for table in tables for row in _rows_as_bytes(table))


def _rows_as_bytes(table: InputTable) -> Iterator[bytes]:
    import numpy as np

    if table.names is None:
        yield from (np.ascontiguousarray(row).tobytes() for row in np.asarray(table.points()))
        return
    columns = [table.cells(name).to_pylist() for name in table.names]
    yield from (repr(cells).encode() for cells in zip(*columns, strict=True))


def _what_to_show(
    table: InputTable | None, wanted: Iterable[str], id_column: str | None
) -> tuple[list[str], Path | None]:
    """Return the columns and the folder to show."""
    columns: list[str] = []
    folder: Path | None = None
    for name in wanted:
        if Path(name).is_dir():
            if folder is not None:
                raise ValueError(f"--show names two folders, {folder} and {name}: choose one.")
            folder = Path(name)
        elif table is not None and name in (table.names or ()):
            columns.append(name)
        else:
            raise ValueError(
                f"--show {name}: there is neither such a folder nor such a column. Columns: "
                f"{', '.join((table.names if table is not None else None) or ['none'])}."
            )
    if not columns and folder is None:
        if table is None:
            raise ValueError(
                "An array has nothing to show: name a folder (--show), or a table of its rows "
                "(--table)."
            )
        columns = [name for name in table.names or () if name != id_column]
    return columns, folder


def _not_numbers(points: InputTable, columns: Sequence[str]) -> list[str]:
    """Return the shown columns that cannot be features."""
    names = []
    for name in columns if points.names is not None else ():
        try:
            points.points([name])
        except ValueError:
            names.append(name)
    return names


def _check_records(scale: str, classes: str | None, table: Path | None) -> None:
    for option, given in (
        ("--scale", scale != "standard"),
        ("--classes", classes is not None),
        ("--table", table is not None),
    ):
        if given:
            raise ValueError(f"{option} has no meaning with --duplicates: leave one of them out.")


def _records(tables: Sequence[InputTable], without: Sequence[str]) -> tuple[Array, Records]:
    """Return the neighbors of records, and the records as points to draw."""
    from ..ask._records import Records
    from ._record_columns import fitted_finder

    for table in tables:
        if table.names is None:
            raise ValueError(f"{table.path} is an array of numbers: duplicates are found by text.")
    records = Records(fitted_finder(tables, without))
    return records.points(), records


def _class_names(text: str | None) -> tuple[str, ...] | None:
    from ..ask._session import check_class

    if text is None:
        return None
    return tuple(dict.fromkeys(check_class(name) for name in text.split(",") if name.strip()))


def _scaled(points: Any, preparation: Preparation, path: Path) -> Array:
    import numpy as np

    from ..._estimators._models import check_directions
    from ._prepare import Features

    X = np.asarray(points)
    if np.all(np.ptp(X, axis=0) == 0.0):
        raise ValueError(f"{path}: every feature has the same value in all rows: nothing differs.")
    for _, step in preparation.steps(Features(points)):
        check_directions(step, X, str(path))
        X = step.fit_transform(X)
    # Half the memory; the fit at the end reads the file again.
    return np.ascontiguousarray(X, dtype=np.float32)


def _earlier(path: Path, ids: Sequence[str], job: _Job, n_first: int | None) -> list[Answer]:
    """Return the answers of an earlier file, by ids if it has them."""
    from ..ask._answers import PairAnswer
    from ._tables import read_pairs, read_table

    if job.classes is not None:
        raise ValueError("--pairs holds answers about pairs: leave out --classes, or --pairs.")
    n = len(ids) if n_first is None else n_first
    other = None if n_first is None else (len(ids) - n, list(ids[n:]))
    pairs, same = read_pairs(read_table(path), n, list(ids[:n]), other)
    if n_first is not None:
        pairs[:, 1] += n_first
    return [
        PairAnswer(min(pair), max(pair), bool(alike))
        for pair, alike in zip(pairs.tolist(), same, strict=True)
    ]


class _Cells:
    """A column, of one table or of two, whose cells become text when they are shown."""

    def __init__(self, parts: Sequence[Any]) -> None:
        self._parts = parts

    def __getitem__(self, row: int) -> str:
        first = len(self._parts[0])
        part, place = (0, row) if row < first else (1, row - first)
        return _text(self._parts[part][place].as_py())


def _text(cell: Any) -> str:
    from ._tables import cell_text

    return "" if cell is None or cell != cell else cell_text(cell).strip()  # noqa: PLR0124 (NaN)
