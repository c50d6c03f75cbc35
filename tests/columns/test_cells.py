"""Cells: numbers, dates and ids as people write them, and what is none of these."""

import re

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from seraph._utils._cells._dates import date_features, parse_dates
from seraph._utils._cells._ids import looks_like_ids
from seraph._utils._cells._numbers import Faults, to_numbers


def numbers(cells, **options):
    """The column as numbers, and how its separators were read."""
    faults = Faults()
    values = to_numbers("cost", pa.chunked_array([cells]), faults, **options)
    faults.check("t.csv")
    return values.tolist(), faults.readings.get("cost", "")


@pytest.mark.parametrize(
    ("text", "value"),
    [("1.5", 1.5), (" 1.5 ", 1.5), ("+1.5", 1.5), ("-.5", -0.5), ("5.", 5.0), ("1e-3", 1e-3),
     ("1E5", 1e5), ("007", 7.0), ("9" * 30, 1e30)],
)  # fmt: skip
def test_text_that_is_a_number_is_that_number(text, value):
    assert numbers([text])[0] == [pytest.approx(value)]


@pytest.mark.parametrize("text", ["1_000", "0x10", "1,5", "--1", "1 000", "one", "1d3", "٣"])
def test_text_that_a_careful_reader_would_not_take_for_a_number_is_refused(text):
    with pytest.raises(ValueError, match=re.escape(f"'{text}' in row 1")):
        numbers(["1", text])


# Thousands and decimals


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["1,000", "900"], [1000, 900]),
        (["45,000", "52,500"], [45000, 52500]),
        (["1,234,567.5", "12.25"], [1234567.5, 12.25]),
        (["-1,000", "+2,000", "3.5"], [-1000, 2000, 3.5]),
    ],
)
def test_groups_of_three_digits_are_thousands_and_that_is_said(cells, expected):
    values, reading = numbers(cells)
    assert values == expected
    assert reading == f"{cells[0]!r} in row 0 is read as thousands"


@pytest.mark.parametrize("cells", [["1,000", "1,5"], ["0,125", "900"], ["1,000", "12,75", "3"]])
def test_a_comma_that_cannot_separate_thousands_is_a_decimal_comma(cells):
    with pytest.raises(ValueError, match=r"decimal commas.*--decimal-comma"):
        numbers(cells)
    assert numbers(cells, decimal_comma=True)[0] == [float(c.replace(",", ".")) for c in cells]


def test_nothing_is_said_about_separators_of_a_column_that_is_no_feature():
    faults = Faults()
    assert len(to_numbers("cost", pa.chunked_array([["1,000", "free"]]), faults)) == 0
    assert faults.readings == {}
    assert faults.text == {"cost": "'free' in row 1"}


def test_the_advice_to_read_decimal_commas_never_makes_one_of_a_thousand():
    with pytest.raises(ValueError, match=r"not clear whether.*'1,000' in row 0, but '900' in row"):
        numbers(["1,000", "900"], decimal_comma=True)
    assert numbers(["1,125", "2,250"], decimal_comma=True)[0] == [1.125, 2.25]
    assert numbers(["1,125", "2,250.5"], semicolons=True)[0] == [1125, 2250.5]


def test_points_separate_thousands_where_commas_are_decimal():
    values, reading = numbers(["1.234,5", "1.000", "7,25"], decimal_comma=True)
    assert values == [1234.5, 1000, 7.25]
    assert "'1.234,5' in row 0 is read as thousands" in reading
    assert numbers(["12.5", "3"], decimal_comma=True) == ([12.5, 3], "")
    with pytest.raises(ValueError, match="no numbers"):
        numbers(["12.5.1", "3,5"], decimal_comma=True)


# Dates


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["2026-01-31", ""], ["2026-01-31", "NaT"]),
        (["2026-01-31T12:00:00Z"], ["2026-01-31T12:00:00"]),
        (["2026-01-31 12:00"], ["2026-01-31T12:00:00"]),
        (["31.1.2026", "1.2.2026"], ["2026-01-31", "2026-02-01"]),
        (["1/31/2026", "2/1/2026"], ["2026-01-31", "2026-02-01"]),
        (["31/1/2026", "2/1/2026"], ["2026-01-31", "2026-01-02"]),
        (["20260131", "20251231"], ["2026-01-31", "2025-12-31"]),
        ([20260131, None], ["2026-01-31", "NaT"]),
        ([20260131.0, None], ["2026-01-31", "NaT"]),
    ],
)
def test_dates_are_read_as_people_write_them(cells, expected):
    dates = parse_dates(pa.chunked_array([cells]))
    np.testing.assert_array_equal(dates, np.array(expected, dtype="datetime64[s]"))


@pytest.mark.parametrize(
    "cells",
    [
        ["1/2/2026", "3/4/2026"],  # day or month first?
        ["2026-02-31"],
        ["31.2.2026"],
        ["20261301"],
        ["99999999", "20260131"],
        ["0001-01-01"],
        ["", ""],
        ["2026-01-31", "soon"],
        [1.5, 2.5],
        [True, False],
        [12345678, 1],
    ],
)
def test_what_may_be_no_date_is_not_read_as_one(cells):
    assert parse_dates(pa.chunked_array([cells])) is None


def test_december_lies_beside_january_and_sunday_beside_monday():
    dates = np.array(["2025-12-31", "2026-01-01", "2026-07-01"], dtype="datetime64[s]")
    parts = pd.DataFrame(date_features("d", dates, "parts")).drop(columns="d.year").to_numpy()
    season = parts[:, :2]
    assert np.linalg.norm(season[0] - season[1]) < 0.03
    assert np.linalg.norm(season[0] - season[2]) > 1.99
    week = np.arange("2026-01-04", "2026-01-12", dtype="datetime64[D]").astype("datetime64[s]")
    around = pd.DataFrame(date_features("d", week, "parts")).filter(like="weekday").to_numpy()
    np.testing.assert_allclose(around[0], around[7], atol=1e-9)
    steps = np.linalg.norm(np.diff(around, axis=0), axis=1)
    np.testing.assert_allclose(steps, steps[0])


# Ids and row numbers


@pytest.mark.parametrize(
    ("name", "values", "why"),
    [
        ("Unnamed: 0", np.arange(50.0), "row numbers"),
        ("x", np.arange(7.0, 57.0), "row numbers"),
        ("x", np.arange(50.0) ** 2, "whole numbers, all distinct and in order"),
        ("x", -np.arange(50.0), "whole numbers, all distinct and in order"),
        ("x", np.r_[np.arange(50.0), np.nan], "row numbers"),
        ("patient_id", np.array([9.0, 4.0, 7.0]), "ids, by its name"),
        ("ID", np.array([9.0, 4.0, 7.0]), "ids, by its name"),
        ("userId", np.array([9.0, 4.0, 7.0]), "ids, by its name"),
        ("width", np.array([9.0, 4.0, 7.0]), None),  # it ends in "id" only by chance
        ("patient_id", np.array([9.0, 4.0, 4.0]), None),
        ("x", np.arange(9.0), None),  # too few rows to be sure
        ("x", np.arange(50.0) + 0.5, None),
        ("x", np.r_[np.arange(50.0), 3.0], None),
        ("x", np.array(["a", "b"], dtype=object), None),
    ],
)
def test_columns_that_only_identify_rows_are_noticed(name, values, why):
    assert looks_like_ids(name, values) == why
