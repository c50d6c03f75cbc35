"""The commands ``ask`` and ``demo ask``: a page that asks "same or different?"."""

from __future__ import annotations

import io
import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlsplit

import typer

from . import _options as options
from ._ask_rows import Column, numbers_of, row_contents, row_ids, shown_table, what_to_show
from ._console import command, notes, print_now, result, say

if TYPE_CHECKING:
    from ..._utils._typing import Array
    from ..ask._answers import Answer
    from ..ask._finish import Finish
    from ..ask._records import Records
    from ..ask._session import Setting
    from ._prepare import Preparation
    from ._tables import InputTable

# With more rows, the final fit sums over a sample of the unlabeled pairs; with far more, it learns
# from a sample of the rows. On 10,000 vectors of 384 numbers and 60 answers, another sample of the
# pairs changed the metric by 2.4 %, another 5,000 rows by 7 % (four times as many should halve
# that), and one answer less by 2.8 %.
_MANY_ROWS, _PAIRS = 5000, "200000"
_FAR_MORE_ROWS = 20_000
_DEMO = Path("seraph-demo")
# Features to list by name; the rest are counted.
_LISTED = 40


@dataclass(frozen=True, kw_only=True)
class AskRequest:
    """What `seraph ask` is asked for."""

    data: options.DataFile
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Keep the answers here: .csv. If the file exists, the session goes on from it.",
        ),
    ] = Path("answers.csv")
    id_column: options.IdColumn = None
    show: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FOLDER|COLUMN",
            help="What to show: a folder of images, sounds or texts, found by --id, or a column "
            "(repeatable). All columns by default.",
        ),
    ] = None
    question: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT", help='What the page asks instead of "Are these two the same?".'
        ),
    ] = None
    table: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Table with the ids and the columns to show, if DATA is an array: one line per "
            "row.",
        ),
    ] = None
    pairs: options.PairsFile = None
    classes: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help="Ask for the class of one row at a time instead: names, separated by commas.",
        ),
    ] = None
    duplicates: Annotated[
        bool,
        typer.Option(
            "--duplicates",
            help="The rows are records of text, numbers and dates: ask which describe the same "
            "thing, for seraph duplicates.",
        ),
    ] = False
    against: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="With --duplicates: second table with the same columns, to find the rows of "
            "DATA in.",
        ),
    ] = None
    scale: options.Scale = "standard"
    drop: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN", help="Column that is not a feature (repeatable)."),
    ] = None
    keep: options.Keep = None
    onehot: options.OneHot = None
    impute: options.Impute = None
    dates: options.Dates = None
    decimal_comma: options.DecimalComma = False
    encoding: options.Encoding = None
    port: Annotated[
        int | None,
        typer.Option(min=1, max=65535, metavar="NUMBER", help="Port; any free one by default."),
    ] = None
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Print the address and open nothing.")
    ] = False
    seed: Annotated[int, typer.Option(min=0, metavar="NUMBER", help="Random seed.")] = 0

    def check(self) -> None:
        """Refuse what cannot be asked before anything is read."""
        from ._tables import check_output

        if self.data.is_dir():
            raise ValueError(
                f"{self.data} is a folder. Pass a table of numbers that describe its files, one "
                "row each, such as vectors from a model that embeds images; the folder is what to "
                f"show: seraph ask vectors.csv --id file --show {self.data}"
            )
        check_output(self.output, (".csv",), (self.data, self.table, self.pairs, self.against))
        if self.against is not None and not self.duplicates:
            raise ValueError("--against has a meaning only with --duplicates.")
        for option, given in (
            ("--scale", self.scale != "standard"),
            ("--classes", self.classes is not None),
            ("--table", self.table is not None),
            ("--keep", bool(self.keep)),
            ("--onehot", bool(self.onehot)),
            ("--impute", self.impute is not None),
            ("--dates", self.dates is not None),
        ):
            if given and self.duplicates:
                raise ValueError(
                    f"{option} has no meaning with --duplicates: leave one of them out."
                )
        _ = self.preparation  # refuses unknown choices

    @property
    def preparation(self) -> Preparation:
        """What to do with the columns."""
        from ._prepare import Preparation

        return Preparation(
            scale=self.scale,
            impute=self.impute,
            dates=self.dates,
            onehot=self.onehot or (),
            drop=self.drop or (),
            keep=self.keep or (),
        )

    def arguments(self, *, named: bool) -> list[str]:
        """Return the arguments of the command that learns from the answers, all but these."""
        words = [*("duplicates" if self.duplicates else "fit", str(self.data))]
        for option, value, default in (
            ("--against", self.against, None),
            ("--id", self.id_column if named else None, None),
            ("--scale", self.scale, "standard"),
            ("--impute", self.impute, None),
            ("--dates", self.dates, None),
            ("--encoding", self.encoding, None),
        ):
            if value != default:
                words += [option, str(value)]
        for option, names in (
            ("--drop", self.drop), ("--keep", self.keep), ("--onehot", self.onehot)
        ):  # fmt: skip
            words += [part for name in names or () for part in (option, name)]
        return [*words, *(["--decimal-comma"] if self.decimal_comma else [])]


@command
def ask(request: AskRequest) -> None:
    """Ask about pair after pair on a page in your browser, and learn the distance meanwhile.

    The page shows two rows: same or different? Every answer is in the file before the next
    question shows; run the same command again to go on. The server listens on this machine only.

    Example: seraph ask photos.csv --id file --show photos/ -o answers.csv

    Example: seraph ask vectors.npy --table photos.csv --id file --show photos/

    Example: seraph ask people.csv --id id --duplicates
    """
    _check_installed()
    request.check()
    with notes():  # before the page opens, not when it is closed
        job, rows = _read(request)
    job.run(*rows)


def _read(request: AskRequest) -> tuple[_Job, tuple[Any, ...]]:
    """Read the tables; return the session to run, and the arguments of its ``run``."""
    from ._tables import and_more, read_table

    written: dict[str, Any] = {
        "decimal_comma": request.decimal_comma,
        "encoding": request.encoding,
    }
    points = read_table(request.data, **written)
    others = [] if request.against is None else [read_table(request.against, **written)]
    shown = shown_table(points, request.table)
    if points.n_rows < 3:
        raise ValueError(
            f"{request.data} has {points.n_rows} rows: at least 3 are needed to ask about."
        )
    id_column = request.id_column
    ids = row_ids(shown, points.n_rows, id_column)
    for other in others:
        ids += row_ids(other, other.n_rows, id_column)
    contents = None if id_column else row_contents([points, *others])
    columns, folder = what_to_show(shown, request.show or [], id_column)
    job = _Job(
        arguments=request.arguments(named=points.names is not None),
        output=request.output,
        title=" and ".join(table.path.name for table in (points, *others)),
        classes=_class_names(request.classes),
        port=request.port,
        browser=not request.no_browser,
        seed=request.seed,
        question=request.question or "",
    )
    if request.duplicates:
        without = [*(request.drop or []), *([id_column] if id_column else [])]
        X, records = _records([points, *others], without)
        compared = [name for name in points.names or () if name not in without]
        job = replace(job, features=[("compared", and_more(compared[:_LISTED], len(compared)))])
    else:
        X, features = _points(points, request)
        records, job = None, replace(job, features=features)
    from ..ask._things import Folder, RowThings

    cells = {name: Column(name, [shown, *others]) for name in columns if shown is not None}
    things = RowThings(
        ids,
        cells,
        None if folder is None else Folder(folder, ids),
        {name: cell.sizes for name, cell in cells.items() if cell.sizes is not None},
    )
    earlier = []
    if request.pairs is not None:
        earlier = _earlier(request.pairs, ids, job, [points, *others])
    return job, (X, things, ids, earlier, records, contents)


def _points(points: InputTable, request: AskRequest) -> tuple[Array, list[tuple[str, str]]]:
    """Return the rows as numbers on one scale, and what the columns are used as."""
    import numpy as np

    from ..._estimators._models import check_directions
    from ._columns import column_rows
    from ._prepare import prepare
    from ._tables import and_more

    named = points.names is not None
    without = [request.id_column] if request.id_column and named else []
    try:
        prepared = prepare(points, request.preparation, without)
    except ValueError as error:
        raise _about_texts(error, points, request) from None
    if prepared.transformer is not None:
        for _, step in prepared.transformer.steps:
            check_directions(step, np.asarray(prepared.features.points), str(request.data))
    kept = prepared.features
    if len(kept.kept) < points.n_rows:
        raise ValueError(
            f"{request.data}: --impute drop would leave out {points.n_rows - len(kept.kept):,} "
            "rows, which the page could then not ask about: fill the numbers in (--impute median)."
        )
    said = [("features", f"{len(prepared.names):,}")]
    if named:
        said = [("features", and_more(prepared.names[:_LISTED], len(prepared.names)))]
    noted = kept.noted(request.preparation.impute)
    said += [(names, use) for names, use, _ in column_rows(noted)[1:]]
    # Half the memory; the fit at the end reads the file again.
    return np.ascontiguousarray(prepared.matrix, dtype=np.float32), said


def _about_texts(error: ValueError, points: InputTable, request: AskRequest) -> ValueError:
    """Return the error; about a table of texts only, one that says what to do with texts."""
    names = [name for name in points.names or () if name != request.id_column]
    if not names or any(len(numbers_of(name, points)) for name in names):
        return error
    return ValueError(
        f"{request.data} has only text, and a distance needs numbers. Embed each text by a model, "
        f"save the vectors as vectors.npy, and run seraph ask vectors.npy --table {request.data} "
        f"--show {names[0]} --scale unit. If the rows are records that may describe the same "
        "thing, add --duplicates instead."
    )


def demo_ask(port: int | None = None, *, browser: bool = True) -> None:
    """Ask about handwritten digits that the package ships; keep everything in seraph-demo/."""
    _check_installed()
    import numpy as np
    from sklearn.preprocessing import StandardScaler

    from ..._utils._files import write_whole
    from ..ask._digits import DigitThings, demo_digits

    _DEMO.mkdir(exist_ok=True)
    say(f"The demo keeps your answers and its files in {_DEMO.resolve()}; delete it if you like.")
    X, pixels, _ = demo_digits()
    vectors = _DEMO / "digits.npy"
    content = io.BytesIO()
    np.save(content, X, allow_pickle=False)
    write_whole(vectors, content.getvalue())
    job = _Job(
        arguments=["fit", str(vectors)],
        output=_DEMO / "answers.csv",
        title="Handwritten digits",
        classes=None,
        port=port,
        browser=browser,
        seed=0,
        question="Is this the same digit?",
        features=[
            ("features", "3 principal components of the ink, and the color of the paper: 3")
        ],
    )
    scaled = StandardScaler().fit_transform(X).astype(np.float32)
    job.run(scaled, DigitThings(pixels), [str(row) for row in range(len(X))], [])


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
    question: str = ""
    features: Sequence[tuple[str, str]] = ()

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
        from ..ask._answers import AnswerFile, ClassFormat, PairFormat
        from ..ask._server import Server
        from ..ask._session import Session, Setting

        setting: Setting = Setting(
            X, things, self.title, self.classes, self.seed, records, self.question, self.features
        )
        form = PairFormat() if self.classes is None else ClassFormat()
        n_first = None if records is None else records.n_first
        with AnswerFile(self.output, ids, form, contents, n_first) as file:
            n_before = len(file.answers)
            file.add_earlier(earlier)
            finish = self._finish(len(X), duplicates=records is not None)
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
            learning = session.state()["learning"]
        say(f"{n_answers} answers in {self.output}. Learn from them: {finish.command}")
        judgments = learning["judgments"]
        result(
            answers=str(self.output),
            n_answers=n_answers,
            command=finish.command,
            better=learning["better"] or None,
            test=judgments[-1] if judgments else None,
            advice=learning["advice"],
        )

    def _finish(self, n_rows: int, *, duplicates: bool) -> Finish:
        from ..ask._finish import Finish

        stem = self.output.name.removesuffix(".csv")
        if duplicates:
            found = self.output.with_name(f"{stem}-found.csv")
            arguments = [*self.arguments, "--pairs", str(self.output), "-o", str(found)]
            return Finish(arguments, found, None)
        model, report = (self.output.with_name(stem + end) for end in (".skops", ".html"))
        by_class = self.classes is not None
        arguments = [
            *self.arguments,
            *("--labels" if by_class else "--pairs", str(self.output)),
            *(["--sample", str(_FAR_MORE_ROWS)] if n_rows > _FAR_MORE_ROWS else []),
            *(["--unlabeled-pairs", _PAIRS] if n_rows > _MANY_ROWS else []),
            *("-o", str(model), "--report", str(report)),
        ]
        then = ""
        if by_class:
            filled = self.output.with_name(f"{stem}-classes.csv")
            labels = ("--labels", str(self.output), "-o", str(filled))
            then = shlex.join(["seraph", "predict", str(model), self.arguments[1], *labels])
        return Finish(arguments, model, report, then)

    def _greet(self, address: str, n_rows: int, n_before: int, n_missing: int) -> None:
        missing = f", {n_missing:,} of them without a file and not asked" if n_missing else ""
        going_on = f" Going on after {n_before} answers." if n_before else ""
        say(f"{self.title}: {n_rows:,} rows{missing}. Answers go to {self.output}.{going_on}")
        print_now(address)
        say("Open this address in a browser on this machine. Ctrl-C ends the session.")
        if "SSH_CONNECTION" in os.environ:
            port = urlsplit(address).port
            say(
                f"You are logged in from elsewhere: run ssh -L {port}:127.0.0.1:{port} and the "
                "name of this machine there, and open the address there."
            )


def _check_installed() -> None:
    for package in ("starlette", "uvicorn", "PIL", "jinja2"):
        if find_spec(package) is None:
            raise ImportError("The page needs more packages: pip install 'seraph-learn[ask]'.")


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


def _earlier(
    path: Path, ids: Sequence[str], job: _Job, tables: Sequence[InputTable]
) -> list[Answer]:
    """Return the answers of an earlier file, by ids if it has them."""
    from ..ask._answers import Answer
    from ._answered import rows_by_content
    from ._tables import read_pairs, read_table

    if job.classes is not None:
        raise ValueError("--pairs holds answers about pairs: leave out --classes, or --pairs.")
    n = tables[0].n_rows
    other = None if len(tables) == 1 else (len(ids) - n, list(ids[n:]))
    answers = read_table(path)
    pairs, same = read_pairs(answers, n, list(ids[:n]), other)
    if other is not None:
        pairs[:, 1] += n
    pairs = rows_by_content(tables, pairs, answers)
    return [
        Answer((min(pair), max(pair)), bool(alike))
        for pair, alike in zip(pairs.tolist(), same, strict=True)
    ]
