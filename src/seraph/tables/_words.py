"""Words that tables use for nothing, for yes and for no, and what messages are made of."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from difflib import get_close_matches
from typing import Any, NamedTuple
from unicodedata import normalize

# Empty cells as R, pandas, databases and spreadsheets write them. Case matters: Na is sodium.
MISSING = ("", "NA", "NaN", "nan", "NaT", "null", "NULL", r"\N", "<NA>", "#N/A")
# Words of people for something unknown, in lower case.
UNKNOWN = (
    "?", "??", "-", "--", ".", "n/a", "#n/a", "n.a.", "k.a.", "none", "unknown", "unbekannt",
    "unlabeled", "unlabelled", "not labeled", "missing", "undefined", "unclassified",
    "unspecified", "tbd", "to do", "todo",
)  # fmt: skip
_MISSING, _UNKNOWN = frozenset(MISSING), frozenset(UNKNOWN)  # to look up a million cells
_YES = ("1", "+1", "1.0", "true", "yes", "y", "ja", "j", "same", "similar")
_NO = ("0", "-1", "0.0", "-1.0", "false", "no", "n", "nein", "different", "dissimilar")
_ANSWERS = {**dict.fromkeys(_YES, True), **dict.fromkeys(_NO, False)}
_UNSURE = ("unsure", "cannot tell")
# A column of numbers or dates has at most this many further words for "missing".
_MOST_WORDS = 3
# Columns and names that a message lists; the rest are counted.
_LISTED, _NAMES = 5, 12


def cell_text(cell: Any) -> str:
    """Return a cell as text without spaces around it; "" if it has no value."""
    if isinstance(cell, str):
        return cell.strip()
    if _is_null(cell):
        return ""
    if isinstance(cell, Decimal):
        cell = float(cell)
    whole = isinstance(cell, float) and cell.is_integer()
    return str(int(cell) if whole else cell).strip()


def is_missing(cell: Any, *, unknown: bool = False) -> bool:
    """Return whether a cell is empty, or holds what programs write for an empty cell.

    `unknown` includes words of people for something unknown, such as "?", "n/a" and "-".
    """
    if not isinstance(cell, str):
        return _is_null(cell)
    text = cell.strip()
    return text in _MISSING or (unknown and text.casefold() in _UNKNOWN)


def read_answer(cell: Any) -> bool | None:
    """Return the answer to a question for yes or no; None if there is none, such as "?"."""
    text = cell_text(cell).casefold()
    if text in _ANSWERS:
        return _ANSWERS[text]
    if text in _UNSURE or text == "na" or is_missing(cell, unknown=True):
        return None
    raise ValueError(
        f"{cell!r} is not an answer: it must be 1 or 0, +1 or -1, true or false, yes or no, same "
        "or different, or empty if there is no answer."
    )


def split_words(counts: Mapping[str, int], others: Iterable[str]) -> tuple[list[str], list[str]]:
    """Sort out the texts of a column that are neither numbers nor dates, as most are.

    Returns the words for nothing and the texts that are something else. Words for nothing have
    no digit; there are few of them, in fewer than half of the cells.
    """
    others = [*others]
    words = [text for text in others if not any(map(str.isdigit, text))]
    few = len(words) <= _MOST_WORDS and 2 * sum(map(counts.__getitem__, words)) < sum(
        counts.values()
    )
    if not few:
        return [], others
    return words, [text for text in others if text not in words]


def spellings(counts: Mapping[str, int]) -> list[list[str]]:
    """Return groups of texts that differ in case, spaces or composed letters only."""
    groups: dict[str, list[str]] = {}
    for text in counts:
        folded = " ".join(normalize("NFKC", text).casefold().split())
        groups.setdefault(folded, []).append(text)
    return [group for group in groups.values() if len(group) > 1]


def _is_null(cell: Any) -> bool:
    """Return whether a cell is None, NaN, NaT or pandas.NA."""
    if cell is None or type(cell).__name__ == "NAType":
        return True
    return bool(cell != cell)  # noqa: PLR0124 (NaN)


# Messages


class Setting(NamedTuple):
    """A parameter of `TablePreparer` that a message advises, for programs to phrase anew."""

    name: str
    values: list[Any]

    def __str__(self) -> str:
        return f"{self.name}={self.values}"


class _Advice(Exception):
    """A message whose `parts` are texts and settings."""

    def __init__(self, *parts: object) -> None:
        self.parts = parts
        super().__init__("".join(map(str, parts)))


class ColumnError(_Advice, ValueError):
    """Columns that cannot be used as they are."""


class ColumnWarning(_Advice, UserWarning):
    """Columns that may mean something else than they seem to."""


def advice(name: str, names: Sequence[str]) -> str:
    """Suggest the most similar name, or list all names if there are few."""
    folded = {known.casefold(): known for known in reversed(names)}
    near = get_close_matches(name.casefold(), list(folded), n=1)
    if near:
        return f" Did you mean {folded[near[0]]!r}?"
    return f" It has {', '.join(map(repr, names))}." if len(names) <= _NAMES else ""


def and_more(texts: Sequence[str], n: int) -> str:
    """Join the first of `n` texts, and count the others."""
    return ", ".join(texts) + (f" and {n - len(texts)} more" if n > len(texts) else "")


def listed(details: Mapping[str, str]) -> str:
    """Name a few columns, each with a detail about it, and count the others."""
    texts = [f"{name!r} ({detail})" for name, detail in list(details.items())[:_LISTED]]
    return f"{'column' if len(details) == 1 else 'columns'} {and_more(texts, len(details))}"


def quoted(text: str) -> str:
    """Return text as an argument of a command, in quotation marks if it needs any."""
    return text if re.fullmatch(r"\w+", text) else f'"{text}"'
