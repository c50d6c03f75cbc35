"""The answers file: every answer is on disk before the next question shows.

It is a CSV file, appended to and synced; undo cuts the last line off again. There is no other
state, so a session that was killed goes on from this file, and ``seraph fit --pairs`` reads it.
"""

from __future__ import annotations

import csv
import hashlib
import io
import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol, Self

from ..._utils._files import note_write, write_whole


@dataclass(frozen=True)
class PairAnswer:
    """An answer about two rows.

    Parameters
    ----------
    i, j : int
        Row numbers, smaller first.
    same : bool or None
        Whether the two are the same; None if the person was unsure.
    weight : float or None
        Weight in the test; None for an answer to learn from.
    """

    i: int
    j: int
    same: bool | None
    weight: float | None = None

    @property
    def rows(self) -> tuple[int, ...]:
        """Row numbers that the question was about."""
        return self.i, self.j


@dataclass(frozen=True)
class ClassAnswer:
    """An answer about the class of one row.

    Parameters
    ----------
    i : int
        Row number.
    name : str or None
        Name of the class; None if the person was unsure.
    weight : float or None
        1.0 for a row of the test; None for an answer to learn from.
    """

    i: int
    name: str | None
    weight: float | None = None

    @property
    def rows(self) -> tuple[int, ...]:
        """Row numbers that the question was about."""
        return (self.i,)


Answer = PairAnswer | ClassAnswer


class RowNames:
    """How answers find their rows again: by id, or by what is in the row if it has no id.

    Parameters
    ----------
    ids : sequence of str
        Name of each row.
    contents : sequence of str or None
        Digest of each row, all different (`digests`), if the ids are mere row numbers, which
        mean other rows in another table.

    n_first : int or None
        Number of rows of the first table, if the ids are those of two tables, which may share
        them; an answer then names a row of each.

    Examples
    --------
    >>> RowNames(["a", "b"]).find(["b", "a"], "")
    [1, 0]
    >>> RowNames(["a", "b", "a"], n_first=2).find(["a", "a"], "")
    [0, 2]
    >>> RowNames(["0", "1"], ["f00d", "cafe"]).find(["0", "1"], "cafe f00d")
    [1, 0]
    """

    def __init__(
        self,
        ids: Sequence[str],
        contents: Sequence[str] | None = None,
        n_first: int | None = None,
    ) -> None:
        self.ids = ids
        self._contents = contents
        one = {name: row for row, name in enumerate(contents or ids)}
        self._places = [one, one]
        if n_first is not None and contents is None:
            self._places = [
                {name: row for row, name in enumerate(ids) if (row < n_first) == first}
                for first in (True, False)
            ]

    def content(self, rows: Sequence[int]) -> str:
        """Return the digests of rows; nothing if they go by id."""
        return "" if self._contents is None else " ".join(self._contents[row] for row in rows)

    def find(self, ids: Sequence[str], content: str) -> list[int]:
        """Return the numbers of the rows of an answer; a KeyError if one is not there."""
        names = ids if self._contents is None else content.split(" ")
        return [self._places[min(k, 1)][name] for k, name in enumerate(names)]


def digests(rows: Iterable[bytes]) -> list[str]:
    """Return a short digest of the content of each row; equal rows are numbered.

    Examples
    --------
    >>> a, b, again = digests([b"a", b"b", b"a"])
    >>> again == a + "-2", len(a)
    (True, 12)
    """
    seen: dict[str, int] = {}
    found = []
    for row in rows:
        name = hashlib.blake2b(row, digest_size=6).hexdigest()
        seen[name] = seen.get(name, 0) + 1
        found.append(name if seen[name] == 1 else f"{name}-{seen[name]}")
    return found


class Format(Protocol):
    """How answers stand in the file."""

    @property
    def header(self) -> tuple[str, ...]:
        """Names of the columns."""
        ...

    @property
    def n_first(self) -> int | None:
        """Number of rows of the first table, if the rows are those of two tables."""
        ...

    def line(self, answer: Answer, names: RowNames) -> list[str]:
        """Return the cells of an answer, all but the time."""
        ...

    def answer(self, cells: Mapping[str, str], names: RowNames) -> Answer:
        """Return the answer in a line."""
        ...


_SAME = {"1": True, "0": False, "": None}


class PairFormat:
    """The columns that ``seraph fit --pairs`` reads, and a few more that it ignores."""

    header = ("i", "j", "similar", "id_i", "id_j", "test_weight", "content", "when")
    n_first: int | None = None

    def line(self, answer: Answer, names: RowNames) -> list[str]:
        """Return the cells of an answer, all but the time."""
        assert isinstance(answer, PairAnswer)
        similar = "" if answer.same is None else str(int(answer.same))
        i, j = answer.rows
        named = [str(i), str(j), similar, names.ids[i], names.ids[j]]
        return [*named, _weight_text(answer.weight), names.content(answer.rows)]

    def answer(self, cells: Mapping[str, str], names: RowNames) -> Answer:
        """Return the answer in a line."""
        rows = names.find([cells["id_i"], cells["id_j"]], cells["content"])
        if len(rows) != 2:
            raise ValueError(f"{cells['content'][:80]!r} does not name two rows")
        i, j = sorted(rows)
        if cells["similar"] not in _SAME:
            raise ValueError(f"{cells['similar'][:80]!r} is neither 1, 0 nor empty")
        same = _SAME[cells["similar"]]
        if i == j:
            raise ValueError("a row is paired with itself")
        return PairAnswer(i, j, same, _weight(cells["test_weight"]))


class LinkFormat(PairFormat):
    """Pairs of a row of one table and a row of another, which has row numbers of its own.

    Parameters
    ----------
    n_first : int
        Number of rows of the first table.
    """

    def __init__(self, n_first: int) -> None:
        self.n_first = n_first

    def line(self, answer: Answer, names: RowNames) -> list[str]:
        """Return the cells of an answer, all but the time."""
        i, j, *rest = super().line(answer, names)
        return [i, str(int(j) - (self.n_first or 0)), *rest]


class ClassFormat:
    """One line per row that was named."""

    header = ("row", "class", "id", "test_weight", "content", "when")
    n_first: int | None = None

    def line(self, answer: Answer, names: RowNames) -> list[str]:
        """Return the cells of an answer, all but the time."""
        assert isinstance(answer, ClassAnswer)
        named = [str(answer.i), answer.name or "", names.ids[answer.i]]
        return [*named, _weight_text(answer.weight), names.content(answer.rows)]

    def answer(self, cells: Mapping[str, str], names: RowNames) -> Answer:
        """Return the answer in a line."""
        rows = names.find([cells["id"]], cells["content"])
        if len(rows) != 1:
            raise ValueError(f"{cells['content'][:80]!r} does not name one row")
        return ClassAnswer(rows[0], cells["class"] or None, _weight(cells["test_weight"]))


def _weight_text(weight: float | None) -> str:
    return "" if weight is None else format(weight, ".6g")


def _weight(text: str) -> float | None:
    if not text:
        return None
    weight = float(text)
    if not 0.0 < weight < math.inf:
        raise ValueError(f"the weight {text[:80]!r} is not a positive number")
    return weight


class AnswerFile:
    """A file of answers that one process holds open.

    Parameters
    ----------
    path : Path
        The file; it is made if it does not exist.
    ids : sequence of str
        Name of each row. Answers are found again by names, whatever the order of the rows.
    form : Format
        Answers about pairs or about classes.
    contents : sequence of str, optional
        Digests of the rows, if `ids` are row numbers; see `RowNames`.

    Attributes
    ----------
    answers : list of Answer
        All answers in the file, oldest first.

    Raises
    ------
    ValueError
        If another process holds the file, if it holds something else, or if it names a row that
        is not there.
    """

    def __init__(
        self,
        path: Path,
        ids: Sequence[str],
        form: Format,
        contents: Sequence[str] | None = None,
    ) -> None:
        self.path = path
        self._names = RowNames(ids, contents, form.n_first)
        self._form = form
        self._file = path.open("a+b", buffering=0)
        try:
            with _explained(path, "is in use by another `seraph ask`: end that one, or choose "):
                _lock(self._file.fileno())
            self._ends = [0]  # where the header ends, then each answer
            self.answers: list[Answer] = []
            self._read()
        except BaseException:
            self.close()
            raise

    def add(self, answer: Answer) -> None:
        """Write an answer to the disk; if that fails, the file is as it was before."""
        self._append([*self._form.line(answer, self._names), _now()])
        self.answers.append(answer)

    def replace(self, answer: Answer) -> None:
        """Take back the answer about the same rows, and write the new one at the end."""
        place = [old.rows for old in self.answers].index(answer.rows)
        self._file.seek(0)
        whens = [line[-1] for line, _ in self._lines(self._file.read())[1:]]
        kept = [k for k in range(len(whens)) if k != place]
        self._rewrite(
            [*(self.answers[k] for k in kept), answer], [*(whens[k] for k in kept), _now()]
        )

    def add_earlier(self, answers: Iterable[Answer]) -> int:
        """Add those answers whose rows have no answer yet; return how many."""
        known = {answer.rows for answer in self.answers}
        new = {answer.rows: answer for answer in answers if answer.rows not in known}
        for answer in new.values():
            self.add(answer)
        return len(new)

    def undo(self) -> Answer | None:
        """Take the last answer back; None if there is none."""
        if not self.answers:
            return None
        self._file.truncate(self._ends[-2])
        os.fsync(self._file.fileno())
        self._ends.pop()
        return self.answers.pop()

    def close(self) -> None:
        """Close the file, and let others open it."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _append(self, cells: Sequence[str]) -> None:
        out = io.StringIO(newline="")
        csv.writer(out, lineterminator="\n").writerow(cells)
        data = out.getvalue().encode()
        try:
            written = 0
            while written < len(data):  # a full disk may take a part
                written += self._file.write(data[written:])
            os.fsync(self._file.fileno())
        except OSError:
            with suppress(OSError):
                self._file.truncate(self._ends[-1])
            raise
        self._ends.append(self._ends[-1] + len(data))
        note_write(self.path)

    def _read(self) -> None:
        """Read what is there; drop a last line that a killed process left unfinished.

        The file is changed only once it is known to be one of answers.
        """
        self._file.seek(0)
        data = self._file.read()
        whole = data[: data.rfind(b"\n") + 1]
        if not whole:
            if data and not ",".join(self._form.header).encode().startswith(data):
                raise ValueError(self._refusal("has no header"))
            self._file.truncate(0)
            self._append(self._form.header)
            self._ends = self._ends[1:]
            return
        lines = self._lines(whole)
        last = self._complete(data[len(whole) :])
        moved = self._parse([*lines, *last])
        if last or moved:
            self._rewrite(self.answers, [line[-1] for line, _ in [*lines[1:], *last]])
        elif len(whole) < len(data):
            self._file.truncate(len(whole))

    def _lines(self, data: bytes) -> list[tuple[list[str], int]]:
        """Return the cells of each line, and where it ends in the file."""
        try:
            return list(_csv_lines(data))
        except (UnicodeDecodeError, csv.Error) as error:
            raise ValueError(self._refusal(f"cannot be read ({error})")) from None

    def _complete(self, tail: bytes) -> list[tuple[list[str], int]]:
        """Return the last line if only its end is missing, as where an editor left it out."""
        try:
            lines = list(_csv_lines(tail))
        except (UnicodeDecodeError, csv.Error):
            return []
        return [(cells, end) for cells, end in lines if len(cells) == len(self._form.header)]

    def _parse(self, lines: Sequence[tuple[list[str], int]]) -> bool:
        """Read the answers; return whether row numbers have changed since they were written."""
        (header, end), *rest = lines
        if tuple(header) != self._form.header:
            raise ValueError(self._refusal(f"starts with {','.join(header)[:80]!r}"))
        self._ends, self.answers = [end], []
        moved = False
        lost: list[int] = []
        for number, (line, end) in enumerate(rest):
            try:
                if len(line) != len(header):
                    raise ValueError(f"{len(line)} cells instead of {len(header)}")
                answer = self._form.answer(dict(zip(header, line, strict=True)), self._names)
            except KeyError:
                lost.append(number)
                continue
            except ValueError as error:
                raise ValueError(self._refusal(f"has a bad row {number} ({error})")) from None
            moved |= self._form.line(answer, self._names) != line[:-1]
            self.answers.append(answer)
            self._ends.append(end)
        if lost:
            raise ValueError(
                f"{self.path} has answers about other rows: {len(lost)} of {len(rest)} name rows "
                f"that this table does not have, line {lost[0] + 2} first. Pass the table that "
                "they are about, or choose another file with -o. (Without --id a row is known by "
                "its cells; with --id it may change and keep its answers.)"
            )
        return moved

    def _rewrite(self, answers: Sequence[Answer], whens: Sequence[str]) -> None:
        """Write the file again, with the row numbers of today and the times of then."""
        out = io.StringIO(newline="")
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(self._form.header)
        for answer, when in zip(answers, whens, strict=True):
            writer.writerow([*self._form.line(answer, self._names), when])
        self._file.close()  # Windows replaces no open file
        try:
            write_whole(self.path, out.getvalue())
        finally:  # if the disk is full, the file is as it was
            self._file = self.path.open("a+b", buffering=0)
            _lock(self._file.fileno())
            self._file.seek(0)
            self._parse(self._lines(self._file.read()))

    def _refusal(self, fault: str) -> str:
        return (
            f"{self.path} {fault}: it is not a file of answers of this kind, which starts with "
            f"{','.join(self._form.header)!r}. Choose another file with -o."
        )


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _csv_lines(data: bytes) -> Iterator[tuple[list[str], int]]:
    """Yield the cells of each line, and where it ends in the file."""
    end = 0
    for line in io.StringIO(data.decode(), newline="\n"):  # names hold no line breaks
        end += len(line.encode())
        (cells,) = csv.reader([line], strict=True)
        yield cells, end


@contextmanager
def _explained(path: Path, reason: str) -> Iterator[None]:
    try:
        yield
    except OSError:
        raise ValueError(f"{path} {reason}another file with -o.") from None


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
