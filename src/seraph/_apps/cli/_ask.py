"""The commands ``ask`` and ``demo ask``: a page that asks "same or different?"."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, fields
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlsplit

import typer

from . import _options as options
from ._ask_rows import (
    Column,
    numbers_of,
    row_contents,
    row_ids,
    shown_table,
    what_to_show,
)
from ._console import command, notes, print_now, result, say

if TYPE_CHECKING:
    from ..._utils._typing import Array
    from ..ask._finish import Finish
    from ..ask._records import Records
    from ..ask._row_names import Contents
    from ..ask._session import Session, Setting
    from ._tables import InputTable

# Of more rows, the final fit learns from a sample. On 10,000 vectors of 384 numbers and 60
# answers, another 5,000 rows changed the metric by 7 % (four times as many should halve that), and
# one answer less by 2.8 %.
_MANY_ROWS = 20_000
_DEMO = Path("seraph-demo")
# Features to list by name, and questions that were answered in two ways; the rest are counted.
_LISTED, _LISTED_TWICE = 40, 5
# Options of `AskRequest` that the command at the end has as well.
_PASSED_ON = (
    "against", "id_column", "scale", "impute", "dates", "encoding", "drop", "keep", "onehot",
    "decimal_comma",
)  # fmt: skip
# Those without a meaning for records.
_NOT_OF_RECORDS = ("scale", "classes", "table", "keep", "onehot", "impute", "dates")


@dataclass(frozen=True, kw_only=True)
class AskRequest:
    """What `seraph ask` is asked for."""

    data: options.DataFile
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
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
            help="Table with the ids and the columns to show, if DATA is an array: one line per "
            "row."
        ),
    ] = None
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
            help="The rows are records of text, numbers and dates: ask which describe the same "
            "thing, for seraph duplicates."
        ),
    ] = False
    against: Annotated[
        Path | None,
        typer.Option(
            help="With --duplicates: second table with the same columns, to find the rows of "
            "DATA in."
        ),
    ] = None
    scale: options.Scale = "standard"
    drop: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN", help="Column that is not a feature (repeatable)."),
    ] = None
    keep: options.Keep = None
    onehot: options.OneHot = None
    impute: options.Impute = "median"
    dates: options.Dates = "days"
    decimal_comma: options.DecimalComma = False
    encoding: options.Encoding = None
    port: Annotated[
        int | None, typer.Option(min=1, max=65535, help="Port; any free one by default.")
    ] = None
    no_browser: Annotated[bool, typer.Option(help="Print the address and open nothing.")] = False
    seed: options.Seed = 0

    def check(self) -> None:
        """Refuse what cannot be asked before anything is read."""
        from ._tables import check_output

        if self.data.is_dir():
            raise ValueError(
                f"{self.data} is a folder. Pass a table of numbers that describe its files, one "
                "row each, such as vectors from a model that embeds images; the folder is what to "
                f"show: seraph ask vectors.csv --id file --show {self.data}"
            )
        check_output(self.output, (".csv",), (self.data, self.table, self.against))
        if self.against is not None and not self.duplicates:
            raise ValueError("--against has a meaning only with --duplicates.")
        if self.duplicates and (given := self._given(_NOT_OF_RECORDS)):
            raise ValueError(
                f"{next(iter(given))} has no meaning with --duplicates: leave one of them out."
            )

    def arguments(self) -> list[str]:
        """Return the arguments of the command that learns from the answers, all but these."""
        words = ["duplicates" if self.duplicates else "fit", str(self.data)]
        for option, value in self._given(_PASSED_ON).items():
            if value is True:
                words.append(option)
            elif option != "--id" or self.table is None:  # else DATA is an array, without ids
                for one in value if isinstance(value, list) else [value]:
                    words += [option, str(one)]
        return words

    def _given(self, names: Sequence[str]) -> dict[str, Any]:
        """Return the options among some that are not at their defaults."""
        defaults = {field.name: field.default for field in fields(self)}
        return {
            f"--{name.removesuffix('_column').replace('_', '-')}": value
            for name in names
            if (value := getattr(self, name)) and value != defaults[name]
        }


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
        asked = _read(request)
    _serve(request, *asked)


def _read(request: AskRequest) -> tuple[Setting, list[str], Contents]:
    """Read the tables; return what to ask about, and the ids and digests of its rows."""
    from ..ask._session import Setting, check_class
    from ..ask._things import Folder, RowThings
    from ._record_columns import check_records
    from ._tables import read_table

    written: dict[str, Any] = {
        "decimal_comma": request.decimal_comma,
        "encoding": request.encoding,
    }
    points = read_table(request.data, **written)
    others = [] if request.against is None else [read_table(request.against, **written)]
    tables, id_column = [points, *others], request.id_column
    if request.duplicates:
        check_records(tables, id_column)
    shown = shown_table(points, request.table)
    if points.n_rows < 3:
        raise ValueError(
            f"{request.data} has {points.n_rows} rows: at least 3 are needed to ask about."
        )
    ids = [name for table in (shown, *others) for name in row_ids(table, id_column)]
    columns, folder = what_to_show(shown, request.show or [], id_column)
    X, records, features = (_records if request.duplicates else _points)(tables, request)
    cells = {name: Column(name, [shown, *others]) for name in columns}
    sizes = {name: cell.sizes for name, cell in cells.items() if cell.sizes is not None}
    classes = None
    if request.classes is not None:
        names = [check_class(name) for name in request.classes.split(",") if name.strip()]
        classes = tuple(dict.fromkeys(names))
    setting = Setting(
        X,
        RowThings(ids, cells, None if folder is None else Folder(folder, ids), sizes),
        title=" and ".join(table.path.name for table in tables),
        classes=classes,
        seed=request.seed,
        records=records,
        question=request.question or "",
        features=features,
    )
    return setting, ids, lambda row: row_contents(tables, [row])[0]


def _records(
    tables: Sequence[InputTable], request: AskRequest
) -> tuple[Array, Records, list[tuple[str, str]]]:
    """Return records as points to draw, their neighbors, and which columns are compared."""
    from ..ask._records import Records
    from ._record_columns import fitted_finder
    from ._tables import and_more

    without = [*(request.drop or []), *([request.id_column] if request.id_column else [])]
    records = Records(fitted_finder(tables, without))
    compared = [name for name in tables[0].names or () if name not in without]
    return records.points(), records, [("compared", and_more(compared[:_LISTED], len(compared)))]


def _points(
    tables: Sequence[InputTable], request: AskRequest
) -> tuple[Array, None, list[tuple[str, str]]]:
    """Return the rows as numbers on one scale, no records, and what the columns are used as."""
    import numpy as np

    from ._prepare import column_rows, prepare

    (points,) = tables
    named = points.names is not None
    try:
        steps, scaled = prepare(points.without([request.id_column if named else None]), request)
    except ValueError as error:
        raise _about_texts(error, points, request) from None
    used = []
    if named:
        _, *columns = column_rows(steps[0][1].columns_)
        used = [(use, names) for names, use, _ in columns]
    said = [*used, ("features in all", f"{scaled.shape[1]:,}")]
    # Half the memory; the fit at the end reads the file again.
    return np.ascontiguousarray(scaled, dtype=np.float32), None, said


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
    from ..ask._digits import save_demo

    say(f"The demo keeps your answers and its files in {_DEMO.resolve()}; delete it if you like.")
    data, pictures = save_demo(_DEMO)
    request = AskRequest(
        data=data,
        output=_DEMO / "answers.csv",
        show=[str(pictures)],
        question="Is this the same digit?",
        port=port,
        no_browser=not browser,
    )
    _serve(request, *_read(request))


def _serve(
    request: AskRequest,
    setting: Setting,
    ids: Sequence[str],
    contents: Contents,
) -> None:
    """Serve the page until the user ends it."""
    from ..ask._answers import AnswerFile, ClassFormat, PairFormat
    from ..ask._server import Server
    from ..ask._session import Session

    form = PairFormat() if setting.classes is None else ClassFormat()
    n_first = None if setting.records is None else setting.records.n_first
    by_id = request.id_column is not None
    with AnswerFile(request.output, ids, form, contents, n_first, by_id=by_id) as file:
        n_before = len(file.answers)
        finish = _finish(request, len(setting.X))
        session = Session(setting, file, finish)
        try:
            server = Server(session, request.port)
            _greet(server.address, session, request.output, n_before)
            server.run(browser=not request.no_browser)
        except KeyboardInterrupt:
            pass  # the way to end it
        finally:
            session.close()
        n_answers = len(file.answers)
        learning = session.state()["learning"]
    say(f"{n_answers} answers in {request.output}. Learn from them: {finish.command}")
    judgments = learning["judgments"]
    result(
        answers=str(request.output),
        n_answers=n_answers,
        command=finish.command,
        better=learning["better"] or None,
        test=judgments[-1] if judgments else None,
        advice=learning["advice"],
    )


def _finish(request: AskRequest, n_rows: int) -> Finish:
    """Return the command that learns from the answers."""
    from ..ask._finish import Finish

    output, stem = request.output, request.output.name.removesuffix(".csv")
    if request.duplicates:
        found = output.with_name(f"{stem}-found.csv")
        arguments = [*request.arguments(), "--pairs", str(output), "-o", str(found)]
        return Finish(arguments, found, None)
    model, report = (output.with_name(stem + end) for end in (".skops", ".html"))
    answers = ["--pairs" if request.classes is None else "--labels", str(output)]
    arguments = [
        *request.arguments(),
        *answers,
        *(["--sample", str(_MANY_ROWS)] if n_rows > _MANY_ROWS else []),
        *("-o", str(model), "--report", str(report)),
    ]
    then = ""
    if request.classes is not None:
        filled = output.with_name(f"{stem}-classes.csv")
        named = [str(model), str(request.data), *answers, "-o", str(filled)]
        then = shlex.join(["seraph", "predict", *named])
    return Finish(arguments, model, report, then)


def _greet(address: str, session: Session, output: Path, n_before: int) -> None:
    from ._tables import and_more

    title, n_rows, n_missing = session.setting.title, len(session.setting.X), session.n_missing
    missing = f", {n_missing:,} of them without a file and not asked" if n_missing else ""
    going_on = f" Going on after {n_before} answers." if n_before else ""
    say(f"{title}: {n_rows:,} rows{missing}. Answers go to {output}.{going_on}")
    twice = [[session.file.ids[row] for row in rows] for rows in session.file.contradicted]
    if twice:
        named = and_more([" and ".join(ids) for ids in twice[:_LISTED_TWICE]], len(twice))
        say(f"Answered in two ways: {named}. The last answer counts, and the page asks again.")
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
