"""Texts as dates, and dates as numbers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np

from .._utils._typing import Array, FloatArray
from ._words import split_words

ISO = "iso"
_ISO = re.compile(r"\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}([.,]\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?")
# Dates as people write them; the day is first or the month is.
_FORMATS = {
    "%Y%m%d": re.compile(r"\d{8}"),
    "%Y/%m/%d": re.compile(r"\d{4}/\d{2}/\d{2}"),
    "%d.%m.%Y": re.compile(r"\d{1,2}\.\d{1,2}\.\d{4}"),
    "%d/%m/%Y": re.compile(r"\d{1,2}/\d{1,2}/\d{4}"),
    "%m/%d/%Y": re.compile(r"\d{1,2}/\d{1,2}/\d{4}"),
    "%d-%m-%Y": re.compile(r"\d{1,2}-\d{1,2}-\d{4}"),
    "%m-%d-%Y": re.compile(r"\d{1,2}-\d{1,2}-\d{4}"),
}
# Tables are about these centuries.
_EARLIEST, _LATEST = np.datetime64("1800-01-01", "s"), np.datetime64("2200-01-01", "s")
_PARTS = ("year", "season_sin", "season_cos", "weekday_sin", "weekday_cos")


def settle_dates(counts: Mapping[str, int]) -> tuple[str, list[str]] | None:
    """Return how the dates of a column are written, and its words for nothing; None without dates.

    `counts` has the number of cells of each distinct text. The form is "iso" or one of pandas.

    Examples
    --------
    >>> settle_dates({"31/1/2026": 1, "2/1/2026": 1}), settle_dates({"1/2/2026": 1})
    (('%d/%m/%Y', []), None)
    """
    first = next((text for text in counts if text[:1].isdigit()), "")
    if not any(pattern.fullmatch(first) for pattern in (_ISO, *_FORMATS.values())):
        return None  # most columns end here
    texts, forms = list(counts), []
    for form in (ISO, *_FORMATS):
        dates = parse_dates(texts, form)
        unread = [text for text, date in zip(texts, dates, strict=True) if np.isnat(date)]
        words, wrong = split_words(counts, unread)
        if len(unread) < len(texts) and not wrong:
            forms.append((form, words, dates))
    same = all(np.array_equal(dates, forms[0][2], equal_nan=True) for *_, dates in forms)
    return forms[0][:2] if forms and same else None


def parse_dates(texts: Sequence[str], form: str) -> Array:
    """Return texts as dates, each by itself: NaT where one is not of the form.

    A text such as 2026-01-31, which can mean one day only, is a date in any form.

    Examples
    --------
    >>> parse_dates(["2026-01-31T02:00:00+05:00", "31.1.2026"], "iso")
    array(['2026-01-30T21:00:00',                 'NaT'], dtype='datetime64[s]')
    """
    import pandas as pd

    pattern = _ISO if form == ISO else _FORMATS[form]
    written = pd.Series(
        [text if pattern.fullmatch(text) else None for text in texts], dtype=object
    )
    if form == ISO:
        written = written.str.replace(r"[.,]\d+", "", regex=True)
    dates = pd.to_datetime(
        written, format="ISO8601" if form == ISO else form, errors="coerce", utc=True
    )
    seconds = dates.dt.tz_localize(None).to_numpy(dtype="datetime64[s]")
    seconds = np.where(
        (seconds >= _EARLIEST) & (seconds < _LATEST), seconds, np.datetime64("NaT", "s")
    )
    if form != ISO:
        seconds = np.where(np.isnat(seconds), parse_dates(texts, ISO), seconds)
    return np.asarray(seconds, dtype="datetime64[s]")


def date_names(name: str, use: str) -> list[str]:
    """Return the names of the features made of a date column."""
    return [name] if use == "days" else [f"{name}.{part}" for part in _PARTS]


def date_features(name: str, dates: Array, use: str) -> dict[str, FloatArray]:
    """Turn dates into numbers, NaN where there is none.

    "days" counts days since 1970, with fractions. "parts" gives the year, and the sine and cosine
    of the time of the year and of the week: December lies beside January.

    Examples
    --------
    >>> dates = np.array(["1970-01-03", "NaT"], dtype="datetime64[s]")
    >>> date_features("seen", dates, "days")
    {'seen': array([ 2., nan])}
    >>> list(date_features("seen", dates, "parts"))
    ['seen.year', 'seen.season_sin', 'seen.season_cos', 'seen.weekday_sin', 'seen.weekday_cos']
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
    return dict(zip(date_names(name, "parts"), values, strict=True))
