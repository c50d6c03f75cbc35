"""Read columns as dates, and turn dates into numbers."""

from __future__ import annotations

import re
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .._typing import Array, FloatArray
from ._types import is_date, is_text, without_empty

DateUse = Literal["days", "parts"]
# Whole dates and time stamps as people and programs write them; the day is first or the month is.
_ISO = r"^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}([.,]\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?$"
_FORMATS = {
    r"^\d{8}$": ("%Y%m%d",),
    r"^\d{4}/\d{2}/\d{2}$": ("%Y/%m/%d",),
    r"^\d{1,2}\.\d{1,2}\.\d{4}$": ("%d.%m.%Y",),
    r"^\d{1,2}/\d{1,2}/\d{4}$": ("%d/%m/%Y", "%m/%d/%Y"),
    r"^\d{1,2}-\d{1,2}-\d{4}$": ("%d-%m-%Y", "%m-%d-%Y"),
}
_BEGINS_LIKE_A_DATE = r"^\s*(\d{8}\s*$|\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4})"
_EARLIEST, _LATEST = np.datetime64("1800-01-01", "D"), np.datetime64("2200-01-01", "D")
_PARTS = ("year", "season_sin", "season_cos", "weekday_sin", "weekday_cos")


def parse_dates(column: Any, form: str | None = None) -> Array | None:
    """Return a pyarrow column as dates, NaT where a cell is empty; None if it holds no dates.

    Parameters
    ----------
    column : pyarrow.ChunkedArray
        Dates, time stamps, text such as 2026-01-31, 31.1.2026 or 1/31/2026, or whole numbers
        such as 20260131.
    form : str, optional
        How an earlier table writes these dates, as `read_dates` says. Text that may have the day
        or the month first is read like it, and a column may be empty.

    Returns
    -------
    ndarray of datetime64[s] or None
        Dates, in UTC if they have a time zone. Without `form`, a column that could have either
        the day or the month first is not read as dates.
    """
    if form is not None:
        text = _as_text(column)
        if text is not None and text.null_count == len(text):
            return np.full(len(text), np.datetime64("NaT", "s"))
        if text is not None and "%" in form and (dates := _strptime(text, form)) is not None:
            return _within_reason(dates)
    found = read_dates(column)
    return None if found is None else found[0]


def read_dates(column: Any) -> tuple[Array, str] | None:
    """Return the dates of a column, and how they are written; None if it holds no dates.

    Parameters
    ----------
    column : pyarrow.ChunkedArray
        As for `parse_dates`.

    Returns
    -------
    dates : ndarray of datetime64[s]
        Dates.
    form : str
        A format such as ``"%d.%m.%Y"``, or "iso".

    Examples
    --------
    >>> read_dates(pa.chunked_array([["2026-01-31T02:00:00+05:00"]]))
    (array(['2026-01-30T21:00:00'], dtype='datetime64[s]'), 'iso')
    """
    if is_date(_value_type(column)):
        column = column.cast(_value_type(column))
        return np.asarray(pc.cast(column, pa.timestamp("s"), safe=False).to_numpy()), "iso"
    text = _as_text(column)
    if text is None:
        return None
    first = next((cell.as_py() for cell in text if cell.is_valid), "")
    if not re.match(_BEGINS_LIKE_A_DATE, first):
        return None  # most columns end here
    if _all_match(text, _ISO):
        moments = _without_zone(text)
        return None if moments is None or _within_reason(moments) is None else (moments, "iso")
    for pattern, formats in _FORMATS.items():
        if _all_match(text, pattern):
            read = [
                (dates, form) for form in formats if (dates := _strptime(text, form)) is not None
            ]
            same = all(np.array_equal(dates, read[0][0], equal_nan=True) for dates, _ in read[1:])
            return read[0] if read and same and _within_reason(read[0][0]) is not None else None
    return None


def _value_type(column: Any) -> Any:
    kind = column.type
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _as_text(column: Any) -> Any:
    """Return a column of text or of whole numbers as text, null for empty cells; else None."""
    column = column.cast(_value_type(column))
    if pa.types.is_floating(column.type):  # so are whole numbers beside empty cells
        values = pc.cast(column, pa.float64())
        none = pa.scalar(None, type=pa.float64())
        column = _cast(pc.if_else(pc.is_nan(values), none, values), pa.int64())
        if column is None:
            return None
    if pa.types.is_integer(column.type) or pa.types.is_null(column.type):
        return pc.cast(column, pa.string())
    return without_empty(column) if is_text(column.type) else None


def _without_zone(column: Any) -> Array | None:
    """Return ISO dates and time stamps in UTC; those without a time zone are taken as such."""
    moment = pc.replace_substring_regex(column, r"([.,]\d+)?(Z|[+-]\d{2}:?\d{2})?$", "")
    # The pattern matches the end of a date, too: 2026-01-31 has no time zone of -0131.
    moment = pc.if_else(pc.match_substring(column, ":"), moment, column)
    dates = _cast(pc.replace_substring(moment, "T", " "), pa.timestamp("s"))
    if dates is None:
        return None
    zones = pc.extract_regex(
        column, r":\d{2}(?:[.,]\d+)?(?P<sign>[+-])(?P<h>\d{2}):?(?P<m>\d{2})$"
    )
    found = np.asarray(dates.to_numpy())
    if zones.null_count == len(column):
        return found
    east = [
        0 if zone is None else int(zone["sign"] + "1") * (60 * int(zone["h"]) + int(zone["m"]))
        for zone in zones.to_pylist()
    ]
    return np.asarray(found - 60 * np.array(east).astype("timedelta64[s]"))


def _all_match(column: Any, pattern: str) -> bool:
    return bool(pc.all(pc.match_substring_regex(column, pattern)).as_py())


def _strptime(column: Any, form: str) -> Array | None:
    import pandas as pd

    # pyarrow's strptime reads the 31st of February as the 3rd of March.
    dates = pd.to_datetime(column.to_pandas(), format=form, errors="coerce")
    if np.any(dates.isna().to_numpy() & pc.is_valid(column).to_numpy()):
        return None
    return np.asarray(dates.to_numpy(dtype="datetime64[s]"))


def _cast(column: Any, kind: Any) -> Any:
    try:
        return pc.cast(column, kind)
    except pa.ArrowInvalid:
        return None


def _within_reason(dates: Array) -> Array | None:
    """Return dates if all lie in the centuries that tables are about."""
    known = dates[~np.isnat(dates)].astype("datetime64[D]")
    return dates if np.all((known >= _EARLIEST) & (known < _LATEST)) else None


def date_names(name: str, use: DateUse) -> list[str]:
    """Return the names of the features made of a date column."""
    return [name] if use == "days" else [f"{name}.{part}" for part in _PARTS]


def date_features(name: str, dates: Array, use: DateUse) -> dict[str, FloatArray]:
    r"""Turn dates into numbers, NaN where there is none.

    Parameters
    ----------
    name : str
        Name of the column.
    dates : ndarray of datetime64
        Dates.
    use : {"days", "parts"}
        "days" counts days since 1970, with fractions. "parts" gives the year, and the sine and
        cosine of the time of the year and of the week: December lies beside January.

    Returns
    -------
    dict of str to ndarray
        Features by name.

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
