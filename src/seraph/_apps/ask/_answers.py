"""The answers file: every screen is on disk before the next one shows.

It is a CSV file, written atomically with each screen: a line per pair of its rows, or per row that
was named. There is no other state, so a session that was killed goes on from this file, and
``seraph fit --pairs`` reads it. What an editor or a spreadsheet made of it is read; what another
program writes meanwhile is never written over.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from ...tables._answers import rows_of_another_table
from ...tables._words import read_answer

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


# Columns that a file may lack.
_OPTIONAL = ("screen", "chance", "content", "when")


class AnswerFile:
    """A file of answers; it is made if it does not exist.

    `ids` are the names of the rows, by which answers find them again. `contents` returns the
    digest of a row, by which a changed row is noticed. If there are two tables, which may share
    ids, `n_first` is the number of rows of the first, and an answer names a row of each. With
    `classes`, there is a line per row that was named, else one per pair. `by_id` is whether the
    user gave the ids: then a few rows may have changed since.

    The `answers` are in the order of the file; of several about the same rows, the last. The file
    keeps those that agree with it: an answer that was given twice is sure. A file of something
    else, about rows that are not there, or about another table is refused with a ValueError.
    """

    def __init__(
        self,
        path: Path,
        ids: Sequence[str],
        contents: Callable[[int], str] | None = None,
        n_first: int | None = None,
        *,
        classes: bool = False,
        by_id: bool = False,
    ) -> None:
        self.path = path
        self.answers: list[Answer] = []
        self._log: list[Answer] = []  # every line, of which `answers` are the last
        self._ids = ids
        self._contents = None if contents is None else cache(contents)
        self._n_first = n_first
        first = {name: row for row, name in enumerate(ids[:n_first])}
        second = enumerate(ids[n_first:], n_first) if n_first is not None else ()
        self._rows = (first, {name: row for row, name in second} or first)
        numbers, self._value = (("row",), "class") if classes else (("i", "j"), "similar")
        self._ends = ("id",) if classes else ("id_i", "id_j")
        self._header = (*numbers, self._value, *self._ends, *_OPTIONAL)
        self._by_id = by_id
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
        writer.writerow(self._header)
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
        """Return the cells of an answer; a second table has row numbers of its own."""
        rows, value, below = answer.rows, answer.value, self._n_first or 0
        return [
            *(str(row - below if row >= below else row) for row in rows),
            str(int(value)) if isinstance(value, bool) else value or "",
            *(self._ids[row] for row in rows),
            "" if answer.screen is None else str(answer.screen),
            "" if answer.chance is None else format(answer.chance, ".6g"),
            "" if self._contents is None else " ".join(map(self._contents, rows)),
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
        wanted = self._header
        if tuple(header) != tuple(c for c in wanted if c in header or c not in _OPTIONAL):
            raise ValueError(self._refusal(f"starts with {','.join(header)[:80]!r}"))
        changed: dict[int, bool] = {}
        lost: list[int] = []
        for number, line in enumerate(lines):
            cells = dict.fromkeys(wanted, "") | dict(zip(header, line, strict=False))
            try:
                names = [cells[column] for column in self._ends]
                rows = [places[name] for places, name in zip(self._rows, names, strict=False)]
                answer = self._answer(rows, cells)
            except KeyError:
                lost.append(number)
                continue
            except ValueError as error:
                raise ValueError(self._refusal(f"has a bad row {number} ({error})")) from None
            digests = cells["content"].split(" ")
            if self._contents is not None and len(digests) == len(rows):
                pairs = zip(rows, digests, strict=True)
                changed |= {row: self._contents(row) != digest for row, digest in pairs}
            self._log.append(answer)
        if lost:
            raise ValueError(
                f"{self.path} has answers about other rows: {len(lost)} of {len(lines)} name rows "
                f"that this table does not have, line {lost[0] + 2} first. Pass the table that "
                "they are about, or choose another file with -o."
            )
        # Another table may have rows of the same names.
        others = rows_of_another_table(changed, by_id=self._by_id)
        if others:
            order = "" if self._by_id else ", with its rows in the same order"
            raise ValueError(
                f"{self.path} has answers about another table: {len(others)} of the "
                f"{len(changed)} rows that they are about have other cells here, "
                f"{self._ids[others[0]]!r} first. Pass the table that they are about"
                f"{order}, or choose another file with -o. If these are the same rows with "
                f"other cells, remove the column 'content' from {self.path}."
            )

    def _answer(self, rows: Sequence[int], cells: Mapping[str, str]) -> Answer:
        """Return the answer in a line."""
        said = cells[self._value]
        value = said or None if self._value == "class" else read_answer(said)
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

    def _refusal(self, fault: str) -> str:
        return (
            f"{self.path} {fault}: it is not a file of answers of this kind, which starts with "
            f"{','.join(self._header)!r}. Choose another file with -o."
        )
