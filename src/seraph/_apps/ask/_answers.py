"""The answers file: every answer is on disk before the next question shows.

It is a CSV file, appended to and synced; undo cuts the last line off again. There is no other
state, so a session that was killed goes on from this file, and ``seraph fit --pairs`` reads it.
What an editor or a spreadsheet made of it is read, and written again in this form.
"""

from __future__ import annotations

import csv
import io
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import ClassVar, Self

from ..._utils._files import note_write, write_whole
from ._row_names import Contents, RowNames, rows_of_another_table


@dataclass(frozen=True)
class Answer:
    """An answer about two rows, or about the class of one.

    Parameters
    ----------
    rows : tuple of int
        Row numbers that the question was about: two, smaller first, or one.
    value : bool, str or None
        Whether the two are the same, or the name of the class; None if the person was unsure.
    weight : float or None
        Weight in the test; None for an answer to learn from.
    times : int
        How often it was given; the file has a line for each time.
    """

    rows: tuple[int, ...]
    value: bool | str | None
    weight: float | None = None
    times: int = 1


# As the page writes them, and as people and spreadsheets do, in lower case.
_SAME: dict[str, bool | None] = {
    **dict.fromkeys(("1", "true", "yes"), True),
    **dict.fromkeys(("0", "false", "no"), False),
    "": None,
}
# Columns that a file may lack.
_OPTIONAL = ("test_weight", "content", "when")


class Format:
    """The columns of the file, and how an answer is written in them: as text by default."""

    numbers: ClassVar[tuple[str, ...]]
    value: ClassVar[str]
    ids: ClassVar[tuple[str, ...]]

    @property
    def header(self) -> tuple[str, ...]:
        """Names of the columns."""
        return (*self.numbers, self.value, *self.ids, "test_weight", "content", "when")

    def text(self, value: bool | str | None) -> str:
        """Return the cell of an answer."""
        return str(value or "")

    def parsed(self, text: str) -> bool | str | None:
        """Return the answer in a cell."""
        return text or None

    def line(self, answer: Answer, names: RowNames) -> list[str]:
        """Return the cells of an answer, all but the time."""
        return [
            *names.numbers(answer.rows),
            self.text(answer.value),
            *(names.ids[row] for row in answer.rows),
            "" if answer.weight is None else format(answer.weight, ".6g"),
            names.content(answer.rows),
        ]

    def answer(self, cells: Mapping[str, str], names: RowNames) -> Answer:
        """Return the answer in a line."""
        rows = names.find([cells[column] for column in self.ids])
        if len(set(rows)) < len(rows):
            raise ValueError("a row is paired with itself")
        weight = float(cells["test_weight"]) if cells["test_weight"] else None
        if weight is not None and not 0.0 < weight < math.inf:
            raise ValueError(f"the weight {cells['test_weight'][:80]!r} is not a positive number")
        return Answer(tuple(sorted(rows)), self.parsed(cells[self.value]), weight)


class PairFormat(Format):
    """The columns that ``seraph fit --pairs`` reads, and a few more that it ignores."""

    numbers, value, ids = ("i", "j"), "similar", ("id_i", "id_j")

    def text(self, value: bool | str | None) -> str:
        """Return the cell of an answer."""
        return "" if value is None else str(int(value))

    def parsed(self, text: str) -> bool | None:
        """Return the answer in a cell."""
        if text.strip().casefold() not in _SAME:
            raise ValueError(f"{text[:80]!r} is neither 1 or yes, 0 or no, nor empty")
        return _SAME[text.strip().casefold()]


class ClassFormat(Format):
    """One line per row that was named."""

    numbers, value, ids = ("row",), "class", ("id",)


class AnswerFile:
    """A file of answers that one process holds open.

    Parameters
    ----------
    path : Path
        The file; it is made if it does not exist.
    ids : sequence of str
        Name of each row, which answers are found again by.
    form : Format
        Answers about pairs or about classes.
    contents : callable, optional
        Returns the digest of a row; see `RowNames`.
    n_first : int, optional
        Number of rows of the first table, if the rows are those of two tables.
    by_id : bool, default=False
        Whether the user gave the ids: a few of their rows may have changed since.

    Attributes
    ----------
    answers : list of Answer
        All answers in the file, oldest first; of several about the same rows, the last.
    contradicted : list of tuple of int
        Rows that the file had different answers about.

    Raises
    ------
    ValueError
        If another process holds the file, if it holds something else, if it names a row that is
        not there, or if its answers are about another table.
    """

    def __init__(
        self,
        path: Path,
        ids: Sequence[str],
        form: Format,
        contents: Contents | None = None,
        n_first: int | None = None,
        *,
        by_id: bool = False,
    ) -> None:
        self.path = path
        self.answers: list[Answer] = []
        self.contradicted: list[tuple[int, ...]] = []
        self._when: list[str] = []
        self._names = RowNames(ids, contents, n_first)
        self._by_id = by_id
        self._form = form
        self._file = open(path, "a+b", buffering=0, opener=_private)  # noqa: SIM115 (kept open)
        try:
            _lock(self._file.fileno())
        except OSError:
            self.close()
            raise ValueError(
                f"{path} is in use by another `seraph ask`: end that one, or choose another file "
                "with -o."
            ) from None
        try:
            self._read()
        except BaseException:
            self.close()
            raise

    @property
    def ids(self) -> Sequence[str]:
        """Name of each row."""
        return self._names.ids

    def add(self, answer: Answer) -> None:
        """Write an answer to the disk; if that fails, the file is as it was before."""
        when = _now()
        self._append([*self._form.line(answer, self._names), when])
        self.answers.append(answer)
        self._when.append(when)

    def replace(self, answer: Answer) -> None:
        """Write an answer at the end, and take back another one about the same rows."""
        place = [old.rows for old in self.answers].index(answer.rows)
        answers, when = list(self.answers), list(self._when)
        old, _ = answers.pop(place), when.pop(place)
        if old.value == answer.value:
            answer = replace(answer, times=old.times + 1)
        self._rewrite([*answers, answer], [*when, _now()])

    def undo(self) -> Answer | None:
        """Take the last answer back; None if there is none."""
        if not self.answers:
            return None
        end = self._data().rstrip(b"\n")
        for _ in range(self.answers[-1].times):
            end = end[: end.rfind(b"\n")]
        self._file.truncate(len(end) + 1)
        os.fsync(self._file.fileno())
        self._when.pop()
        return self.answers.pop()

    def close(self) -> None:
        """Close the file, and let others open it."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _data(self) -> bytes:
        self._file.seek(0)
        return self._file.read()

    def _append(self, cells: Sequence[str]) -> None:
        data = _csv_text([cells]).encode()
        end = self._file.seek(0, os.SEEK_END)
        try:
            written = 0
            while written < len(data):  # a full disk may take a part
                written += self._file.write(data[written:])
            os.fsync(self._file.fileno())
        except OSError:
            with suppress(OSError):
                self._file.truncate(end)
            raise
        note_write(self.path)

    def _read(self) -> None:
        """Read what is there; drop a last line that a killed process left unfinished.

        The file is changed only once it is known to be one of answers.
        """
        data = self._data()
        whole = data[: data.rfind(b"\n") + 1]
        if not whole:
            if data and not ",".join(self._form.header).encode().startswith(data):
                raise ValueError(self._refusal("has no header"))
            self._file.truncate(0)
            self._append(self._form.header)
            return
        header, *lines = self._lines(whole.removeprefix(b"\xef\xbb\xbf"))
        lines += self._complete(data[len(whole) :], len(header))
        self._parse(header, lines)
        if self._text(self.answers, self._when).encode() != whole:
            self._rewrite(self.answers, self._when)
        elif len(whole) < len(data):
            self._file.truncate(len(whole))

    def _lines(self, data: bytes) -> list[list[str]]:
        """Return the cells of each line that has any; names hold no line breaks."""
        try:
            lines = data.decode().removesuffix("\n").split("\n")
            read = [cells for line in lines for cells in csv.reader([line], strict=True)]
        except (UnicodeDecodeError, csv.Error) as error:
            raise ValueError(self._refusal(f"cannot be read ({error})")) from None
        return [cells for cells in read if any(cells)]

    def _complete(self, tail: bytes, width: int) -> list[list[str]]:
        """Return the last line if only its end is missing, as where an editor left it out."""
        try:
            return [cells for cells in self._lines(tail) if len(cells) == width]
        except ValueError:
            return []

    def _parse(self, header: Sequence[str], lines: Sequence[Sequence[str]]) -> None:
        """Read the answers, the last one about the same rows, and when they were given."""
        wanted = self._form.header
        if tuple(header) != tuple(c for c in wanted if c in header or c not in _OPTIONAL):
            raise ValueError(self._refusal(f"starts with {','.join(header)[:80]!r}"))
        found: dict[tuple[int, ...], tuple[Answer, str]] = {}
        twice: dict[tuple[int, ...], None] = {}
        changed: dict[int, bool] = {}
        lost: list[int] = []
        for number, line in enumerate(lines):
            try:
                if len(line) != len(header):
                    raise ValueError(f"{len(line)} cells instead of {len(header)}")
                cells = dict.fromkeys(wanted, "") | dict(zip(header, line, strict=True))
                answer = self._form.answer(cells, self._names)
            except KeyError:
                lost.append(number)
                continue
            except ValueError as error:
                raise ValueError(self._refusal(f"has a bad row {number} ({error})")) from None
            rows = self._names.find([cells[column] for column in self._form.ids])
            changed |= self._names.changed(rows, cells["content"])
            before = found.pop(answer.rows, (replace(answer, times=0), ""))[0]
            if before.value == answer.value:
                answer = replace(answer, times=before.times + 1)
            elif None not in (before.value, answer.value):
                twice[answer.rows] = None
            found[answer.rows] = answer, cells["when"]
        if lost:
            raise ValueError(
                f"{self.path} has answers about other rows: {len(lost)} of {len(lines)} name rows "
                f"that this table does not have, line {lost[0] + 2} first. Pass the table that "
                "they are about, or choose another file with -o."
            )
        self._check_unchanged(changed)
        self.contradicted = list(twice)
        self.answers = [answer for answer, _ in found.values()]
        self._when = [when for _, when in found.values()]

    def _check_unchanged(self, changed: Mapping[int, bool]) -> None:
        """Refuse answers about another table whose rows have the same names."""
        others = rows_of_another_table(changed, by_id=self._by_id)
        if others:
            order = "" if self._by_id else ", with its rows in the same order"
            raise ValueError(
                f"{self.path} has answers about another table: {len(others)} of the "
                f"{len(changed)} rows that they are about have other cells here, "
                f"{self.ids[others[0]]!r} first. Pass the table that they are about{order}, or "
                "choose another file with -o. If these are the same things with other cells, "
                f"remove the column 'content' from {self.path}."
            )

    def _text(self, answers: Sequence[Answer], when: Sequence[str]) -> str:
        lines = [
            [*self._form.line(answer, self._names), then]
            for answer, then in zip(answers, when, strict=True)
            for _ in range(answer.times)
        ]
        return _csv_text([self._form.header, *lines])

    def _rewrite(self, answers: Sequence[Answer], when: Sequence[str]) -> None:
        """Write the file again, with the row numbers of today and the times of then."""
        self._file.close()  # Windows replaces no open file
        try:
            write_whole(self.path, self._text(answers, when))
        finally:  # if the disk is full, the file is as it was
            self._file = open(self.path, "a+b", buffering=0, opener=_private)  # noqa: SIM115
            _lock(self._file.fileno())
        self.answers, self._when = list(answers), list(when)

    def _refusal(self, fault: str) -> str:
        return (
            f"{self.path} {fault}: it is not a file of answers of this kind, which starts with "
            f"{','.join(self._form.header)!r}. Choose another file with -o."
        )


def _private(name: str, flags: int) -> int:
    """Open a file that, if it is new, only this user can read."""
    return os.open(name, flags, 0o600)


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _csv_text(lines: Iterable[Sequence[str]]) -> str:
    out = io.StringIO(newline="")
    csv.writer(out, lineterminator="\n").writerows(lines)
    return out.getvalue()


def _lock(descriptor: int) -> None:
    """Lock the file for this process; others may still read it."""
    try:
        import fcntl
    except ImportError:  # Windows
        import msvcrt

        # A byte far behind the end: locked bytes could not be read.
        os.lseek(descriptor, 1 << 40, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
    else:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
