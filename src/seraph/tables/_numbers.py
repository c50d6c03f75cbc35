"""Text as numbers: decimal marks, thousands and units, settled once for each column."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from ._columns import Column
from ._words import split_words

_OTHER = {",": ".", ".": ","}
_NUMBER = re.compile(
    r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|[+-]?(?:inf|infinity)", re.IGNORECASE
)
# By the mark before decimals: 1,234.5 and 1.234,5; then 1.5 and 1,5.
_GROUPED = {
    mark: re.compile(rf"[+-]?[1-9][0-9]{{0,2}}([{other}][0-9]{{3}})+([{mark}][0-9]*)?")
    for mark, other in _OTHER.items()
}
# With this many decimals, or an exponent, a point does not separate thousands.
_POINT = re.compile(r"[+-]?[0-9]+\.([0-9]{4,}([eE][+-]?[0-9]+)?|[0-9]*[eE][+-]?[0-9]+)")
_TRUTH = {"true": 1.0, "false": 0.0}
_CURRENCY = r"[A-Z]{0,2}[$€£¥₹]|USD|EUR|GBP|CHF|JPY|CNY|INR"
# 2.5k and $3M, as exponents of ten; but the k of kg is no such letter.
_TIMES = {"": "", "k": "e3", "K": "e3", "M": "e6", "Mio": "e6", "B": "e9", "bn": "e9", "Mrd": "e9"}
_WITH_UNIT = re.compile(
    rf"(?P<sign>[+-]?)(?P<before>{_CURRENCY})?\s*"
    r"(?P<number>[+-]?[0-9.,]*[0-9][.,]?(?:[eE][+-]?[0-9]+)?)"
    rf"\s*(?P<times>(?:{'|'.join(filter(None, _TIMES))})(?![^\W_]|[/²³°^]))?"
    rf"\s*(?P<after>{_CURRENCY}|[%‰]|[°µ]?[^\W\d_](?:[^\W\d_]|[/²³°µ^. ])*)?"
)
_LONGEST_UNIT = 12


def number_in(text: str, mark: str = ".", unit: str = "") -> float | None:
    """Return the number in a cell, which depends on no other cell; None if it is none.

    `mark` comes before decimals, and the other mark separates thousands. A unit such as $, % or
    kg may be left out.
    """
    if text.casefold() in _TRUTH:
        return _TRUTH[text.casefold()]
    number, times, its_unit = split_unit(text)
    if its_unit not in ("", unit):
        return None
    if not _POINT.fullmatch(number):
        if _GROUPED[mark].fullmatch(number):
            number = number.replace(_OTHER[mark], "")
        if _OTHER[mark] in number:
            return None
        number = number.replace(mark, ".")
    number += _TIMES[times]
    return float(number) if _NUMBER.fullmatch(number) else None


def split_unit(text: str) -> tuple[str, str, str]:
    """Return a number as it is written, a letter for thousands or more, and its unit.

    A text of another form has neither.
    """
    match = None if _NUMBER.fullmatch(text) else _WITH_UNIT.fullmatch(text)
    if match is None:
        return text, "", ""
    sign, before, number, times, after = match.groups(default="")
    if (before and after) or len(after) > _LONGEST_UNIT:
        return text, "", ""
    return sign + number, times, before or after


@dataclass(frozen=True)
class Settled:
    """What the texts of a column are."""

    column: Column | None = None  # how they are read; None if neither as numbers nor as dates
    wrong: tuple[str, ...] = ()  # texts that are not numbers
    commas: str = ""  # a text whose comma can only be a decimal one
    points: str = ""  # a text whose point can only be a decimal one
    ambiguous: tuple[str, ...] = ()  # texts whose commas and points contradict one another
    unclear: str = ""  # a text such as 1.234 where a point may separate thousands
    scaled: str = ""  # a text such as 2.5k, beside others without a letter
    thousands: str = ""  # a text with marks between thousands
    two_ways: bool = False  # dates, of which the day may be first or the month


def settle_numbers(
    counts: Mapping[str, int], decimal: str | None = None, *, semicolons: bool = False
) -> Settled:
    """Say how the numbers in the texts of a column are written, if it is a column of numbers.

    `counts` has the number of cells of each distinct text. `decimal` is the mark elsewhere in the
    table; the column itself is stronger evidence. Where semicolons separate the cells, commas may
    well be decimal.
    """
    if not counts:
        return Settled(Column("numbers"))
    parts = {text: split_unit(text) for text in counts}
    unit = _unit(counts, parts)
    by_point, by_comma = (
        {text: number_in(text, mark, unit) for text in counts} for mark in (".", ",")
    )

    def first(form: str, *, where: Callable[[str], bool] = bool) -> str:
        matching = (t for t, part in parts.items() if re.fullmatch(form, part[0]) and where(t))
        return next(matching, "")

    # 1,5 is a number with one of the marks only; 1,234 with both, and so is 1.2345.
    commas = first(".*,.*", where=lambda t: by_point[t] is None and by_comma[t] is not None)
    points = first(r".*\..*", where=lambda t: by_comma[t] is None and by_point[t] is not None)
    points = points or ("" if commas else first(_POINT.pattern))
    mark = "," if commas or (decimal == "," and not points) else "."
    others = [text for text in counts if (by_comma if mark == "," else by_point)[text] is None]
    if commas and points:
        others = [text for text in others if by_point[text] is None]
    words, wrong = split_words(counts, others)
    if wrong or len(words) == len(counts):
        return Settled(wrong=(*wrong, *words))
    groups = first(r"[+-]?[1-9]\d{0,2},\d{3}")
    open_question = semicolons and decimal is None and not (commas or points)
    unclear, ambiguous = "", tuple[str, ...]()
    if commas and points:
        ambiguous = (points, commas)
    elif groups and mark == "," and not commas and (whole := first(r"[+-]?\d+")):
        ambiguous = (groups, whole)
    elif groups and open_question and not first(r".*,\d{3},.*"):
        ambiguous = (groups,)
    elif open_question and not (groups or first(r"[+-]?\d{4,}")):
        unclear = first(r"[+-]?[1-9]\d{0,2}\.\d{3}")
    several = len({times for _, times, _ in parts.values()}) > 1
    scaled = next((text for text, (_, times, _) in parts.items() if times and several), "")
    thousands = first(_GROUPED[mark].pattern, where=lambda t: _OTHER[mark] in parts[t][0])
    column = Column("numbers", mark, unit, tuple(words))
    return Settled(column, (), commas, points, ambiguous, unclear, scaled, thousands)


def in_text(number: str, texts: Iterable[str]) -> str:
    """Return a number so that it is the same one among texts with decimal commas."""
    whole, point, decimals = number.partition(".")
    beside = [split_unit(text)[0] for text in texts]
    commas = any(number_in(t, ",") is not None and number_in(t) is None for t in beside)
    unclear = commas or _GROUPED[","].fullmatch(number)
    return f"{whole}.{decimals:0<4}" if point and unclear and "e" not in number else number


def _unit(counts: Mapping[str, int], parts: Mapping[str, tuple[str, str, str]]) -> str:
    """Return the unit of the numbers of a column: the only one, and most cells have it."""
    cells = Counter[str]()
    for text, (_, _, unit) in parts.items():
        cells[unit] += counts[text]
    bare = cells.pop("", 0)
    return next((unit for unit, n in cells.items() if len(cells) == 1 and 2 * n > bare), "")
