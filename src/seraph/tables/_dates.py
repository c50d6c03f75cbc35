"""Texts as dates, and dates as numbers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

import numpy as np

from .._utils._typing import Array, FloatArray
from ._words import split_words

ISO = "y-m-d"
_Y, _M, _D = r"(?P<y>\d{4})", r"(?P<m>\d{1,2})", r"(?P<d>\d{1,2})"
_YY, _NAME = r"(?P<y>\d{4}|\d{2})", r"(?P<name>[^\W\d_]{3,9})\.?"
_TIME = (
    r"(?:(?:[T ]|, )(?P<H>\d{1,2}):(?P<M>\d\d)(?::(?P<S>\d\d)(?:[.,]\d+)?)?(?: ?(?P<half>[ap])m)?"
    r"(?: ?(?P<zone>Z|UTC|GMT|[+-]\d\d:?\d\d))?)?"
)
# Dates as people write them; the day is first or the month is.
_FORMS = {
    form: re.compile(day + _TIME, re.IGNORECASE)
    for form, day in {
        ISO: r"(?P<y>\d{4})-(?P<m>\d\d)-(?P<d>\d\d)",
        "ymd": r"(?P<y>\d{4})(?P<m>\d\d)(?P<d>\d\d)",
        "y/m/d": f"{_Y}/{_M}/{_D}",
        # 1.2.10 may be a version, and 01.02.10 is none.
        "d.m.y": rf"(?=\d\d\.\d\d\.|[\d.]+\d{{4}}){_D}\.{_M}\.{_YY}",
        "d/m/y": f"{_D}/{_M}/{_YY}",
        "m/d/y": f"{_M}/{_D}/{_YY}",
        "d-m-y": f"{_D}-{_M}-{_Y}",
        "m-d-y": f"{_M}-{_D}-{_Y}",
        "d month y": rf"{_D}(?:[ -]|\. ?){_NAME}[ -]{_YY}",
        "month d y": rf"{_NAME} {_D}(?:st|nd|rd|th)?,? {_Y}",
    }.items()
}
_MONTHS = (
    ("january", "januar"), ("february", "februar"), ("march", "märz", "mrz"), ("april",),
    ("may", "mai"), ("june", "juni"), ("july", "juli"), ("august",), ("september",),
    ("october", "oktober"), ("november",), ("december", "dezember"),
)  # fmt: skip
# Tables are about these centuries: 9999-12-31 and 0001-01-01 mean that there is no date.
_EARLIEST, _LATEST = np.datetime64("1800-01-01", "s"), np.datetime64("2200-01-01", "s")
# Dates of programs for no date, and days between them and others.
_NO_DATES = ("1899-12-30", "1899-12-31", "1900-01-01", "1970-01-01")
_GAP = np.timedelta64(3650, "D")
_EPOCH = datetime(1970, 1, 1)
_PARTS = ("year", "season_sin", "season_cos", "weekday_sin", "weekday_cos")


def settle_dates(counts: Mapping[str, int]) -> tuple[str, list[str]] | None:
    """Return how the dates of a column are written, and its words for nothing; None without dates.

    `counts` has the number of cells of each distinct text. The form is "" if the day may be first
    or the month, and that makes a difference.
    """
    firsts = [text for text in counts if any(map(str.isdigit, text))][:1]
    possible = [form for form in _FORMS if any(map(_FORMS[form].fullmatch, firsts))]
    found = []
    for form in possible:  # most columns have none
        dates = parse_dates(counts, form)
        unread = [text for text, date in zip(counts, dates, strict=True) if np.isnat(date)]
        never = [text for text in unread if _seconds(text, form) is not None]
        words, wrong = split_words(counts, [text for text in unread if text not in never])
        n_never = sum(counts[text] for text in never)
        if len(unread) < len(counts) and not wrong and 2 * n_never < sum(counts.values()):
            found.append((form, [*words, *never], dates))
    if not found:
        return None
    same = all(np.array_equal(dates, found[0][2], equal_nan=True) for *_, dates in found)
    return found[0][:2] if same else ("", [])


def parse_dates(texts: Sequence[str] | Mapping[str, int], form: str) -> Array:
    """Return texts as dates, each by itself: NaT where one is not of the form.

    A text such as 2026-01-31, which can mean one day only, is a date in any form.
    """
    nothing = np.iinfo(np.int64).min  # numpy's NaT
    seconds = (_seconds(text, form) for text in texts)
    values = [nothing if value is None else value for value in seconds]
    return without_never(np.array(values, dtype=np.int64).view("datetime64[s]"))


def without_never(dates: Array) -> Array:
    """Return dates with NaT for those of centuries that no table is about."""
    return np.where((dates >= _EARLIEST) & (dates < _LATEST), dates, np.datetime64("NaT", "s"))


def _seconds(text: str, form: str) -> int | None:
    """Return a date in seconds since 1970; None if the text is none of this form."""
    match = _FORMS[form].fullmatch(text) or _FORMS[ISO].fullmatch(text)
    if match is None:
        return None
    part = match.groupdict(default="")
    name, year, hour = part.get("name", "").casefold(), int(part["y"]), int(part["H"] or 0)
    months = (k for k, names in enumerate(_MONTHS, 1) for full in names if full.startswith(name))
    month = next(months, 0) if name else int(part["m"])
    if len(part["y"]) == 2:  # as C's strptime: 1969 to 2068
        year += 1900 if year >= 69 else 2000
    if part["half"]:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if part["half"].casefold() == "p" else 0)
    try:
        moment = datetime(year, month, int(part["d"]), hour, int(part["M"] or 0),
                          int(part["S"] or 0))  # fmt: skip
    except ValueError:
        return None
    zone = part["zone"]
    east = int(zone[:3]) * 60 + int(zone[0] + zone[-2:]) if zone[:1] in ("+", "-") else 0
    return (moment - _EPOCH) // timedelta(seconds=1) - 60 * east


def no_date(dates: Array) -> Array | None:
    """Return a date that may mean a missing one, far from all others; None without one."""
    known = np.unique(dates[~np.isnat(dates)])
    if len(known) < 3:
        return None
    for extreme, others in ((known[0], known[1:]), (known[-1], known[:-1])):
        gap = np.abs(others - extreme).min()
        width = others[-1] - others[0]
        usual = str(extreme.astype("datetime64[D]")) in _NO_DATES
        if gap > _GAP and (usual or gap > 5 * width):
            return extreme
    return None


def date_features(name: str, dates: Array, use: str) -> dict[str, FloatArray]:
    """Turn dates into numbers, NaN where there is none.

    "days" counts days since 1970, with fractions. "parts" gives the year, and the sine and cosine
    of the time of the year and of the week: December lies beside January.
    """
    missing = np.isnat(dates)
    days = np.where(missing, np.nan, dates.astype("datetime64[s]").astype(np.int64) / 86400.0)
    if use == "days":
        return {name: days}
    start = dates.astype("datetime64[Y]")
    year = np.where(missing, np.nan, start.astype(np.int64) + 1970.0)
    first = np.where(missing, np.nan, start.astype("datetime64[D]").astype(np.int64))
    season = 2.0 * np.pi * (days - first) / 365.25
    week = 2.0 * np.pi * np.floor(days) / 7.0
    values = (year, np.sin(season), np.cos(season), np.sin(week), np.cos(week))
    return {f"{name}.{part}": column for part, column in zip(_PARTS, values, strict=True)}
