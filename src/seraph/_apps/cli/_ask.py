"""The command ``ask``: a page that asks which rows are the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ._console import command, notes, print_now, result, say
from ._requests import ColumnsRequest, DataFile

if TYPE_CHECKING:
    from ..._utils._typing import Array
    from ...tables._table import InputTable
    from ..ask._finish import Finish
    from ..ask._records import Records
    from ..ask._session import Session, Setting

# Features to list by name; the rest are counted.
_LISTED = 40
# Options that the command at the end has as well; the second ones have no meaning for records.
_PASSED_ON = ("against", "encoding", "drop", "decimal_comma")
_OF_POINTS = ("scale", "impute", "missing", "dates", "keep", "onehot")


@dataclass(frozen=True, kw_only=True)
class AskRequest(ColumnsRequest):
    """What `seraph ask` is asked for."""

    data: DataFile
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            help="Keep the answers here: .csv. If the file exists, the session goes on from it.",
        ),
    ] = Path("answers.csv")
    show: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FOLDER|COLUMN",
            help="What to show: a folder of images, sounds or texts, found by --id, or a column "
            "(repeatable). All columns by default.",
        ),
    ] = None
    question: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Ask this, not which are the same.")
    ] = None
    table: Annotated[
        Path | None,
        typer.Option(help="Table of ids and columns to show, if DATA is an array."),
    ] = None
    classes: Annotated[
        str | None,
        typer.Option(metavar="NAMES", help="Ask for the class of each row: names, with commas."),
    ] = None
    sort: Annotated[
        bool,
        typer.Option("--sort", help="Ask for groups of rows, not only for those like the first."),
    ] = False
    duplicates: Annotated[
        bool, typer.Option(help="Ask which rows describe the same thing, for seraph duplicates.")
    ] = False
    against: Annotated[
        Path | None,
        typer.Option(help="With --duplicates: second table, to find the rows of DATA in."),
    ] = None
    port: Annotated[
        int | None, typer.Option(min=1, max=65535, help="Port; any free one by default.")
    ] = None
    no_browser: Annotated[bool, typer.Option(help="Print the address and open nothing.")] = False

    def check(self) -> None:
        """Refuse what cannot be asked before anything is read."""
        from ...tables._files import check_output

        if self.data.is_dir():
            raise ValueError(
                f"{self.data} is a folder. Pass a table of numbers that describe its files, one "
                "row each, such as vectors from a model that embeds images; the folder is what to "
                f"show: seraph ask vectors.csv --id file --show {self.data}"
            )
        check_output(self.output, (".csv",), (self.data, self.table, self.against))
        if self.against is not None and not self.duplicates:
            raise ValueError("--against has a meaning only with --duplicates.")
        ways = {"--duplicates": self.duplicates, "--sort": self.sort}
        ways["--classes"] = self.classes is not None
        if len(both := [option for option, given in ways.items() if given]) > 1:
            raise ValueError(f"{both[1]} has no meaning with {both[0]}: leave one of them out.")

    def arguments(self) -> list[str]:
        """Return the arguments of the command that learns from the answers, all but these."""
        words = ["duplicates" if self.duplicates else "fit", str(self.data)]
        if self.id_column is not None and self.table is None:  # an array has no ids
            words += ["--id", self.id_column]
        defaults = {field.name: field.default for field in fields(self)}
        for name in (*_PASSED_ON, *(() if self.duplicates else _OF_POINTS)):
            option, value = f"--{name.replace('_', '-')}", getattr(self, name)
            if value is True:
                words.append(option)
            elif value is not None and value != defaults[name]:
                for one in value if isinstance(value, list) else [value]:
                    words += [option, str(one)]
        return words


@command
def ask(request: AskRequest) -> None:
    """Ask which rows are the same, on a page in your browser, and learn the distance meanwhile.

    The page shows eight rows at a time: tap those that are the same as the first. Every screen is
    in the file before the next one shows; run the same command again to go on. The server listens
    on this machine only.

    Example: seraph ask photos.csv --id file --show photos/ -o answers.csv

    Example: seraph ask vectors.npy --table photos.csv --id file --show photos/

    Example: seraph ask people.csv --id id --duplicates
    """
    _check_installed()
    request.check()
    with notes():  # before the page opens, not when it is closed
        asked = _read(request)
    _serve(request, *asked)


def _read(request: AskRequest) -> tuple[Setting, list[str], Callable[[int], str]]:
    """Read the tables; return what to ask about, and the ids and digests of its rows."""
    from ...tables._answers import row_contents
    from ...tables._files import read_table
    from ...tables._table import row_ids
    from ..ask._session import Setting, check_class
    from ..ask._things import Column, Files, RowThings
    from ._ask_rows import shown_table, what_to_show

    tables = [
        read_table(path, **request.how)
        for path in (request.data, request.against)
        if path is not None
    ]
    if tables[0].n_rows < 3:
        raise ValueError(
            f"{request.data} has {tables[0].n_rows} rows: at least 3 are needed to ask about."
        )
    points, features = (_records if request.duplicates else _points)(tables, request)
    shown = [shown_table(tables[0], request.table), *tables[1:]]
    ids = [name for table in shown for name in row_ids(table, request.id_column)]
    columns, folder = what_to_show(shown[0], request.show or [], request.id_column)
    cells = {name: Column(name, shown) for name in columns}
    classes = None
    if request.classes is not None:
        names = [check_class(name) for name in request.classes.split(",") if name.strip()]
        classes = tuple(dict.fromkeys(names))
    setting = Setting(
        RowThings(ids, cells, None if folder is None else Files.below(folder, ids)),
        " and ".join(table.path.name for table in tables),
        points,
        classes=classes,
        sort=request.sort,
        seed=request.seed,
        question=request.question or "",
        features=features,
    )
    return setting, ids, lambda row: row_contents(tables, [row])[0]


def _records(
    tables: Sequence[InputTable], request: AskRequest
) -> tuple[Records, list[tuple[str, str]]]:
    """Return the records with their neighbors, and which columns are compared."""
    from ...records import DuplicateFinder
    from ...tables._words import and_more
    from ..ask._records import Records
    from ._record_columns import check_records, fitted_finder

    check_records(tables, request.id_column)
    without = [*(request.drop or []), *([request.id_column] if request.id_column else [])]
    finder = fitted_finder(tables, without, DuplicateFinder(random_state=0))
    records = Records(finder, tables[0].n_rows if len(tables) == 2 else None)
    compared = [name for name in tables[0].names or () if name not in without]
    return records, [("compared", and_more(compared[:_LISTED], len(compared)))]


def _points(
    tables: Sequence[InputTable], request: AskRequest
) -> tuple[Array, list[tuple[str, str]]]:
    """Return the rows as numbers on one scale, and what the columns are used as."""
    import numpy as np

    from ._examples import prepare
    from ._summary import column_rows

    (points,) = tables
    named = points.names is not None
    steps, scaled = prepare(points.without([request.id_column if named else None]), request)
    used = column_rows(steps[0][1].columns_)[1:] if named else []
    features = [
        *((use, names) for names, use, _ in used),
        ("features in all", f"{scaled.shape[1]:,}"),
    ]
    # Half the memory; the fit at the end reads the file again.
    return np.ascontiguousarray(scaled, dtype=np.float32), features


def _serve(
    request: AskRequest, setting: Setting, ids: Sequence[str], contents: Callable[[int], str]
) -> None:
    """Serve the page until the user ends it."""
    from ..ask._answers import AnswerFile
    from ..ask._server import Server
    from ..ask._session import Session

    n_first = getattr(setting.points, "n_first", None)
    by_id, classes = request.id_column is not None, setting.classes is not None
    file = AnswerFile(request.output, ids, contents, n_first, classes=classes, by_id=by_id)
    finish = _finish(request)
    session = Session(setting, file, finish)
    try:
        server = Server(session, request.port)
        _greet(server.address, session, request.output)
        server.run(browser=not request.no_browser)
    except KeyboardInterrupt:
        pass  # the way to end it
    finally:
        session.close()
    say(f"{_count(session)} in {request.output}. Learn from them: {finish.command}")
    result(
        answers=str(request.output),
        n_answers=session.n_answers,
        command=finish.command,
        **session.learning.values(),
        verdict=session.learning.verdict,
    )


def _finish(request: AskRequest) -> Finish:
    """Return the command that learns from the answers."""
    from ..ask._finish import Finish

    output, stem = request.output, request.output.name.removesuffix(".csv")
    answers = ["--pairs" if request.classes is None else "--labels", str(output)]
    words = [*request.arguments(), *answers]
    if request.duplicates:
        return Finish(words, output.with_name(f"{stem}-found.csv"))
    model, report = (output.with_name(stem + end) for end in (".skops", ".html"))
    then = [str(request.data), *answers, "-o", str(output.with_name(f"{stem}-classes.csv"))]
    return Finish(words, model, report, then if request.classes is not None else ())


def _greet(address: str, session: Session, output: Path) -> None:
    title, n_rows, n_missing = session.setting.title, session.setting.n_rows, session.n_missing
    missing = f", {n_missing:,} of them without a file and not asked" if n_missing else ""
    going_on = f" Going on after {_count(session)}." if session.n_answers else ""
    say(f"{title}: {n_rows:,} rows{missing}. Answers go to {output}.{going_on}")
    print_now(address)
    say("Open this address in a browser on this machine. Ctrl-C ends the session.")


def _count(session: Session) -> str:
    n, noun = session.n_answers, "answer" if session.setting.duplicates else "screen"
    return f"{n} {noun}{'s' if n != 1 else ''}"


def _check_installed() -> None:
    for package in ("starlette", "uvicorn", "PIL", "jinja2"):
        if find_spec(package) is None:
            raise ImportError("The page needs more packages: pip install 'seraph-learn[ask]'.")
