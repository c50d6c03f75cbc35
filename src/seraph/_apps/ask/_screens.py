"""What a person says of the rows of a screen, as answers about pairs, and back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import combinations

from ._answers import Answer, Place

# What is said of a row: whether it is the same as the first one, a group or class, or nothing. A
# row in the group "" is unlike all others.
Value = bool | str | None
# The rows of answers, and of questions that wait for one.
Asked = Set[tuple[int, ...]]


@dataclass(frozen=True)
class Question:
    """Rows to ask about: a screen, or two records."""

    rows: tuple[int, ...]  # the first one first
    chances: tuple[float | None, ...] = ()  # of the other rows to be shown with it
    number: int | None = None  # of a screen that was answered
    given: tuple[Value, ...] = ()  # the answer to change, one value per row
    undone: bool = False  # it was asked again by "undo"

    @property
    def key(self) -> str:
        """Name of the question in requests."""
        return "-".join(map(str, self.rows))

    @property
    def place(self) -> Place:
        """That of its answers."""
        return self.rows if self.number is None else self.number

    def is_new(self, known: Asked) -> bool:
        """Return whether it has a row, or a pair with the first row, that is not `known`."""
        first = {tuple(sorted((self.rows[0], row))) for row in self.rows[1:]}
        return self.rows not in known and not (first and first <= known)

    def answers(self, values: Sequence[Value], number: int | None) -> list[Answer]:
        """Return what a person said as answers about pairs; those with the first row come first.

        Two rows that are not like the first one may be the same or not.

        Examples
        --------
        >>> for answer in Question((3, 7, 9), (0.1, 0.2)).answers([True, True, False], 1):
        ...     print(answer.rows, answer.value, answer.chance)
        (3, 7) True 0.1
        (3, 9) False 0.2
        (7, 9) False None
        """
        answers = []
        for (i, one), (j, other) in combinations(enumerate(values), 2):
            said = None not in (one, other) and (one is not False or other is not False)
            if said or i == 0:
                value = one == other and one != "" if said else None
                chance = self.chances[j - 1] if self.chances and i == 0 else None
                answers.append(Answer((self.rows[i], self.rows[j]), value, number, chance))
        return answers

    def names(self, values: Sequence[Value], number: int | None) -> list[Answer]:
        """Return the classes of the rows as answers."""
        chances = (None, *self.chances)
        both = zip(self.rows, values, chances, strict=True)
        return [Answer((row,), value, number, chance) for row, value, chance in both]


def answered(answers: Sequence[Answer], *, sort: bool = False) -> Iterator[Question]:
    """Yield the questions of a file with what was said, oldest first.

    With `sort`, what was said are the groups of the rows, named by letters.
    """
    screens: dict[object, list[Answer]] = {}
    for answer in answers:
        screens.setdefault(answer.place, []).append(answer)
    for lines in screens.values():
        rows = tuple(dict.fromkeys(row for line in lines for row in line.rows))
        if len(lines[0].rows) == 1:
            chances = tuple(line.chance for line in lines[1:])
            given: tuple[Value, ...] = tuple(line.value for line in lines)
        else:
            said = {frozenset(line.rows): line for line in lines}
            first = [said.get(frozenset((rows[0], row))) for row in rows[1:]]
            chances = tuple(line.chance if line else None for line in first)
            given = (True, *(line.value if line else None for line in first))
            if sort:
                given = _groups(rows, given, said)
        yield Question(rows, chances if any(chances) else (), lines[0].screen, given)


def _groups(
    rows: Sequence[int], given: Sequence[Value], said: dict[frozenset[int], Answer]
) -> tuple[Value, ...]:
    """Return the groups of rows: "A" like the first, other letters, "" if unlike all others."""
    found: list[Value] = []
    letters = iter("BCDEFGHIJKLMNOPQRSTUVWXYZ")
    for k, value in enumerate(given):
        alike = [
            j for j, row in enumerate(rows)
            if (line := said.get(frozenset((row, rows[k])))) and line.value is True
        ]  # fmt: skip
        before = [found[j] for j in alike if j < k]
        if value is not False:
            found.append("A" if value else None)
        else:
            found.append(before[0] if before else next(letters) if alike else "")
    return tuple(found)
