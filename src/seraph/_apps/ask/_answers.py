"""The answers file: every screen is on disk before the next one shows.

It is a CSV file, written atomically with each screen: a line per pair of its rows, or per row that
was named. There is no other state, so a session that was killed goes on from this file, and
``seraph fit --pairs`` reads it. What an editor or a spreadsheet made of it is read; what another
program writes meanwhile is never written over.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar

from ...tables._answers import rows_of_another_table
from ...tables._words import read_answer
from ._row_names import Contents, RowNames

# A question: the number of a screen, or two rows.
Place = int | tuple[int, ...]


@dataclass(frozen=True)
class Answer:
    """An answer about two rows, or about the class of one: a line of the file."""

    rows: tuple[int, ...]  # two row numbers, or one
    value: bool | str | None  # the same or not, or a class; None if the person was unsure
    screen: int | None = None  # number of the screen that showed them
    chance: float | None = None  # that the last row was shown with the first one of its screen
    when: str = field(default="", compare=False)
    times: int = 1  # how often it was given, or another one about the same rows

    @property
    def place(self) -> Place:
        """The question that it answers: the number of a screen, or the rows."""
        return self.rows if self.screen is None else self.screen


# Columns that a file may lack, and one of earlier versions.
_OPTIONAL, _OLD = ("screen", "chance", "content", "when"), "test_weight"


class PairFormat:
    """The columns that ``seraph fit --pairs`` reads, and a few more that it ignores."""

    numbers: ClassVar[tuple[str, ...]] = ("i", "j")
    value: ClassVar[str] = "similar"
    ids: ClassVar[tuple[str, ...]] = ("id_i", "id_j")

    @property
    def header(self) -> tuple[str, ...]:
        """Names of the columns."""
        return (*self.numbers, self.value, *self.ids, *_OPTIONAL)

    def text(self, value: bool | str | None) -> str:
        """Return the cell of an answer."""
        return str(int(value)) if isinstance(value, bool) else value or ""

    def parsed(self, text: str) -> bool | str | None:
        """Return the answer in a cell."""
        return read_answer(text)


class ClassFormat(PairFormat):
    """One line per row that was named."""

    numbers, value, ids = ("row",), "class", ("id",)

    def parsed(self, text: str) -> str | None:
        """Return the answer in a cell."""
        return text or None


class AnswerFile:
    """A file of answers; it is made if it does not exist.

    `ids` are the names of the rows, by which answers find them again; `contents` returns the
    digest of a row, and `n_first` is the number of rows of the first of two tables (`RowNames`).
    `by_id` is whether the user gave the ids: then a few rows may have changed since. The
    `answers` are in the order of the file; of several about the same rows, the last. The file
    keeps those that agree with it: an answer that was given twice is sure. A file of something
    else, about rows that are not there, or about another table is refused with a ValueError.
    """

    def __init__(
        self,
        path: Path,
        ids: Sequence[str],
        form: PairFormat,
        contents: Contents | None = None,
        n_first: int | None = None,
        *,
        by_id: bool = False,
    ) -> None:
        self.path = path
        self.answers: list[Answer] = []
        self._log: list[Answer] = []  # every line, of which `answers` are the last
        self._names = RowNames(ids, contents, n_first)
        self._by_id = by_id
        self._form = form
        self._known = self._data()
        header, *lines = self._lines()
        if header:
            self._parse(header, lines)
        self._write(self._log)  # with the row numbers of today

    def add(self, answers: Sequence[Answer]) -> None:
        """Write answers, in place of those of the same screen or of different ones about a pair.

        If that fails, the file is as it was before.
        """
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        new = [replace(answer, when=now) for answer in answers]
        screens = {answer.screen for answer in new} - {None}
        pairs = {answer.rows: answer.value for answer in new if answer.screen is None}
        lines: list[Answer] = []
        for old in self._log:
            if old.screen in screens:  # a screen stays where it was
                lines += new
                new = []
            elif old.screen is not None or pairs.get(old.rows, old.value) == old.value:
                lines.append(old)
        self._write([*lines, *new])

    def _data(self) -> bytes:
        return self.path.read_bytes() if self.path.exists() else b""

    def _write(self, answers: Sequence[Answer]) -> None:
        from ...persist._write import write_whole  # slow to import

        if self._data() not in (self._known, b""):
            raise OSError("another program has changed it: end this session and start it again")
        out = io.StringIO(newline="")
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(self._form.header)
        writer.writerows(map(self._cells, answers))
        new = out.getvalue().encode()
        write_whole(self.path, new)
        self._known, self._log = new, list(answers)
        last: dict[Any, Answer] = {}
        for answer in answers:
            old = last.pop((answer.rows, answer.place), None)  # the last one is at the end
            times = 1 + (old.times if old else 0)
            last[answer.rows, answer.place] = replace(answer, times=times)
        self.answers = list(last.values())

    def _cells(self, answer: Answer) -> list[str]:
        """Return the cells of an answer."""
        return [
            *self._names.numbers(answer.rows),
            self._form.text(answer.value),
            *(self._names.ids[row] for row in answer.rows),
            "" if answer.screen is None else str(answer.screen),
            "" if answer.chance is None else format(answer.chance, ".6g"),
            self._names.content(answer.rows),
            answer.when,
        ]

    def _lines(self) -> list[list[str]]:
        """Return the cells of each line that has any, the header first; it may be empty."""
        try:
            text = io.StringIO(self._known.decode("utf-8-sig"), newline="")
            return [cells for cells in csv.reader(text, strict=True) if any(cells)] or [[]]
        except (UnicodeDecodeError, csv.Error) as error:
            raise ValueError(self._refusal(f"cannot be read ({error})")) from None

    def _parse(self, header: Sequence[str], lines: Sequence[Sequence[str]]) -> None:
        """Read the answers."""
        wanted = self._form.header
        named = tuple(column for column in header if column != _OLD)
        if named != tuple(c for c in wanted if c in header or c not in _OPTIONAL):
            raise ValueError(self._refusal(f"starts with {','.join(header)[:80]!r}"))
        changed: dict[int, bool] = {}
        lost: list[int] = []
        for number, line in enumerate(lines):
            cells = dict.fromkeys(wanted, "") | dict(zip(header, line, strict=False))
            try:
                rows = self._names.find([cells[column] for column in self._form.ids])
                answer = self._answer(rows, cells)
            except KeyError:
                lost.append(number)
                continue
            except ValueError as error:
                raise ValueError(self._refusal(f"has a bad row {number} ({error})")) from None
            changed |= self._names.changed(rows, cells["content"])
            self._log.append(answer)
        if lost:
            raise ValueError(
                f"{self.path} has answers about other rows: {len(lost)} of {len(lines)} name rows "
                f"that this table does not have, line {lost[0] + 2} first. Pass the table that "
                "they are about, or choose another file with -o."
            )
        self._check_unchanged(changed)

    def _answer(self, rows: Sequence[int], cells: Mapping[str, str]) -> Answer:
        """Return the answer in a line."""
        value = self._form.parsed(cells[self._form.value])
        screen, chance = cells["screen"].removesuffix(".0"), cells["chance"]
        if screen and not screen.isdecimal():
            raise ValueError(f"the screen {screen[:80]!r} is not a number")
        if chance and not 0.0 < float(chance) <= 1.0:
            raise ValueError(f"the chance {chance[:80]!r} is not from 0 to 1")
        return Answer(
            tuple(rows if screen else sorted(rows)),
            value,
            int(screen) if screen else None,
            float(chance) if chance else None,
            cells["when"],
        )

    def _check_unchanged(self, changed: Mapping[int, bool]) -> None:
        """Refuse answers about another table whose rows have the same names."""
        others = rows_of_another_table(changed, by_id=self._by_id)
        if others:
            order = "" if self._by_id else ", with its rows in the same order"
            raise ValueError(
                f"{self.path} has answers about another table: {len(others)} of the "
                f"{len(changed)} rows that they are about have other cells here, "
                f"{self._names.ids[others[0]]!r} first. Pass the table that they are about"
                f"{order}, or choose another file with -o. If these are the same rows with "
                f"other cells, remove the column 'content' from {self.path}."
            )

    def _refusal(self, fault: str) -> str:
        return (
            f"{self.path} {fault}: it is not a file of answers of this kind, which starts with "
            f"{','.join(self._form.header)!r}. Choose another file with -o."
        )
