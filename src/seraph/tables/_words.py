"""Words that tables use for nothing, for yes and for no: one list of each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any
from unicodedata import normalize

# Empty cells as R, pandas, databases and spreadsheets write them. Case matters: Na is sodium.
MISSING = ("", "NA", "NaN", "nan", "NaT", "null", "NULL", r"\N", "<NA>", "#N/A")
# Words of people for something unknown, in lower case.
UNKNOWN = (
    "?", "??", "-", "--", ".", "n/a", "#n/a", "n.a.", "k.a.", "none", "unknown", "unbekannt",
    "unlabeled", "unlabelled", "not labeled", "missing", "undefined", "unclassified",
    "unspecified", "tbd", "to do", "todo",
)  # fmt: skip
_YES = ("1", "+1", "1.0", "true", "yes", "y", "ja", "j", "same", "similar")
_NO = ("0", "-1", "0.0", "-1.0", "false", "no", "n", "nein", "different", "dissimilar")
_ANSWERS = {**dict.fromkeys(_YES, True), **dict.fromkeys(_NO, False)}
_UNSURE = ("unsure", "cannot tell")
# A column of numbers or dates has at most so many words for nothing beside those above.
_MOST_WORDS = 3


def cell_text(cell: Any) -> str:
    """Return a cell as text without spaces around it; "" if it has no value."""
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
    if _is_null(cell):
        return True
    if not isinstance(cell, str):
        return False
    text = cell.strip()
    return text in MISSING or (unknown and text.casefold() in UNKNOWN)


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
    return not isinstance(cell, str) and bool(cell != cell)  # noqa: PLR0124 (NaN)
