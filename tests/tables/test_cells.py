"""Cells: numbers, dates, answers and ids as people write them, and what is none of these."""

import datetime
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from seraph import Marks
from seraph.tables._answers import answered_pairs, marked_pairs
from seraph.tables._dates import date_features
from seraph.tables._ids import looks_like_ids, sentinel, suspicion
from seraph.tables._reading import (
    categories_of,
    column_text,
    read_dates,
    read_numbers,
    typed_column,
    without_values,
)
from seraph.tables._table import NamedColumns, PlainArray
from seraph.tables._words import cell_text, is_missing, read_answer

NAN = np.nan


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (["1.5", " 1.5 ", "+1.5", "-.5", "5.", "1e-3", "1E5", "007"],
         [1.5, 1.5, 1.5, -0.5, 5, 1e-3, 1e5, 7]),
        (["1,000", "900"], [1000, 900]),
        (["1,234,567.5", "12.25"], [1234567.5, 12.25]),
        (["-1,000", "+2,000", "3.5"], [-1000, 2000, 3.5]),
        (["1,000", "12,75", "3"], [1, 12.75, 3]),
        (["0,125", "900"], [0.125, 900]),
        (["1.234,5", "1.000", "7,25"], [1234.5, 1000, 7.25]),
        (["13.99%", "7 %", "3"], [13.99, 7, 3]),
        (["$35,000", "-$1.50", "US$5"], None),  # two units
        (["$35,000", "-$1.50", "$5"], [35000, -1.5, 5]),
        (["1.234,50 €", "7 €"], [1234.5, 7]),
        (["920 g", "5g", "1.5 g"], [920, 5, 1.5]),
        (["5 kg", "920 g", "7 kg"], None),
        (["20 °C", "-3 °C"], [20, -3]),
        (["12 km/h", "3 m²"], None),
        (["2.5k", "900", "1.2 M"], [2500, 900, 1.2e6]),
        (["$2.5bn", "-$3M", "$900"], [2.5e9, -3e6, 900]),
        (["2,5k €", "3 k€", "900 €"], [2500, 3000, 900]),
        (["19M", "201k", "Varies"], [19e6, 201e3, NAN]),
        (["True", "false", "TRUE"], [1, 0, 1]),
        (["1", "?", "n/a", "", "NaN", "-"], [1, NAN, NAN, NAN, NAN, NAN]),
        (["12", "7", "3", "k.A.", "keine"], [12, 7, 3, NAN, NAN]),
        (["12", "7", "4+", "3"], None),  # a digit: not a word for nothing
        (["12", "a", "b", "c"], None),
        (["12.5.1", "3,5", "2"], None),
        (["1.5", "1,5"], None),  # both marks
        (["1,5", 1.125, 12.5, 1e-7, 2.0], [1.5, 1.125, 12.5, 1e-7, 2]),  # some are numbers already
        (["2,75 kg", "3 kg", np.float32(0.5), Decimal("1.234")], [2.75, 3, 0.5, 1.234]),
        (["1,5", "1.234", 1.234], [1.5, 1234, 1.234]),
        ([2**64, 5], [2.0**64, 5]),
        ([Decimal("1.25"), None], [1.25, NAN]),
        ([None, None], [NAN, NAN]),
        ([datetime.date(2026, 1, 31)], None),
    ],
)  # fmt: skip
def test_numbers_are_read_as_people_write_them(cells, values):
    numbers = read_numbers(cells)
    if values is None:
        assert numbers is None
    else:
        np.testing.assert_allclose(numbers, values)


@pytest.mark.parametrize("text", ["1_000", "0x10", "--1", "1 000", "one", "1d3", "٣", "12:30"])
def test_text_that_a_careful_reader_would_not_take_for_a_number_is_none(text):
    assert read_numbers(["1", text]) is None


def test_another_column_decides_what_a_comma_means_only_where_the_cells_do_not():
    assert read_numbers(["1,125", "2,250"]).tolist() == [1125, 2250]
    assert read_numbers(["1,125", "2,250"], decimal=",").tolist() == [1.125, 2.25]
    assert read_numbers(["12.5", "3"], decimal=",").tolist() == [12.5, 3]
    assert read_numbers(["1,000", "900"], decimal=",") is None  # one thousand, or one?


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["2026-01-31", ""], ["2026-01-31", "NaT"]),
        (["2026-01-31T12:00:00Z"], ["2026-01-31T12:00:00"]),
        (["2026-01-31 12:00"], ["2026-01-31T12:00:00"]),
        (["2026-03-01T00:30:00.5-0500"], ["2026-03-01T05:30:00"]),
        (["31.1.2026", "1.2.2026"], ["2026-01-31", "2026-02-01"]),
        (["2016/01/01 00:47:36", "2016/1/2"], ["2016-01-01T00:47:36", "2016-01-02"]),
        (["9/30/1990 0:00:00", "1/2/1991 7:05:00"], ["1990-09-30", "1991-01-02T07:05:00"]),
        (["8/26/20 18:57", "8/6/98 6:57 PM"], ["2020-08-26T18:57:00", "1998-08-06T18:57:00"]),
        (["31.01.20 12:00:00.5", "01.02.20"], ["2020-01-31T12:00:00", "2020-02-01"]),
        (["Jun 12 1998", "February 3, 2001", "n/a"], ["1998-06-12", "2001-02-03", "NaT"]),
        (["12 Jun 1998", "3-Feb-01", "1. März 2001"], ["1998-06-12", "2001-02-03", "2001-03-01"]),
        (["2026-01-31", "9999-12-31", "2026-02-01"], ["2026-01-31", "NaT", "2026-02-01"]),
        ([datetime.date(9999, 12, 31), datetime.date(2026, 1, 31)], ["NaT", "2026-01-31"]),
        (
            pd.to_datetime(["2026-02-01T00:00Z", None]).tz_convert("Asia/Tokyo"),
            ["2026-02-01", "NaT"],
        ),
        (["2026-03-01T00:30+05:00", "2026-02-01 00:00Z"], ["2026-02-28T19:30", "2026-02-01"]),
        (["31.1.2026", "1.2.2026", "9999-12-31"], ["2026-01-31", "2026-02-01", "NaT"]),
        (["1.2.10", "2.0.15", "1.10.20"], None),  # versions
        (["Mon 12 1998"], None),
        (["1/31/2026 13:00 pm"], None),
        (["1/31/2026", "2/1/2026"], ["2026-01-31", "2026-02-01"]),
        (["31/1/2026", "2/1/2026"], ["2026-01-31", "2026-01-02"]),
        (["20260131", "20251231"], ["2026-01-31", "2025-12-31"]),
        (["20260131", "?", "20251231", "offen"], ["2026-01-31", "NaT", "2025-12-31", "NaT"]),
        ([20260131, None], ["2026-01-31", "NaT"]),
        ([20260131.0, None], ["2026-01-31", "NaT"]),
        ([datetime.date(2026, 1, 31), None], ["2026-01-31", "NaT"]),
        (["1/2/2026", "3/4/2026"], None),  # day or month first?
        (["2026-02-31"], None),
        (["31.2.2026"], None),
        (["20261301"], None),
        (["99999999", "20260131"], None),
        (["0001-01-01"], None),
        (["", ""], None),
        (["2026-01-31", "soon"], None),
        ([1.5, 2.5], None),
        ([True, False], None),
        ([12345678, 1], None),
    ],
)
def test_dates_are_read_as_people_write_them(cells, expected):
    dates = read_dates(cells)
    if expected is None:
        assert dates is None
    else:
        np.testing.assert_array_equal(dates, np.array(expected, dtype="datetime64[s]"))


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


@pytest.mark.parametrize(
    ("answer", "cells"),
    [
        (True, ["1", "+1", 1, 1.0, " 1 ", True, "true", "TRUE", "Yes", "y", "ja", "same"]),
        (False, ["0", "-1", 0, -1.0, False, "FALSE", "no", "n", "Nein", "different"]),
        (None, ["", "?", " ", None, NAN, pd.NA, pd.NaT, "NA", "nan", "<NA>", "n/a", "unsure"]),
    ],
)
def test_answers_come_in_many_words(answer, cells):
    assert [read_answer(cell) for cell in cells] == [answer] * len(cells)


@pytest.mark.parametrize("cell", ["maybe", "2", 0.5, "yes no"])
def test_what_is_not_an_answer_is_refused(cell):
    with pytest.raises(ValueError, match="is not an answer: it must be 1 or 0"):
        read_answer(cell)


@pytest.fixture
def pairs_of(tmp_path):
    """Read pairs of four rows."""
    four = PlainArray(Path("x.npy"), np.zeros((4, 1)))

    def read(text):
        (tmp_path / "p.csv").write_text(text)
        return Marks.from_frame(marked_pairs(four, tmp_path / "p.csv"), rows=4)

    return read


@pytest.mark.parametrize("words", ["1 0 ?", "same different NA", "ja Nein "])
def test_answered_pairs_are_read(words, pairs_of):
    yes, no, empty = words.split(" ")
    marks = pairs_of(f"note,j,i,similar\nx,1,0,{yes}\ny,2,0,{empty}\nz,3.0,2,{no}\n")
    assert marks.pairs.tolist() == [[0, 1], [2, 3]]
    assert marks.labels.tolist() == [1.0, 0.0]


def test_screens_may_differ_and_most_of_them_decide(pairs_of):
    lines = ("0,1,1,1,0.5", "0,2,0,1,0.1", "1,0,0,2,0.5", "0,1,1,3,0.5", "2,3,0,,")
    marks = pairs_of("\n".join(("i,j,similar,screen,chance", *lines, "")))
    assert marks.pairs.tolist() == [[0, 1], [0, 2], [2, 3]]
    assert marks.labels.tolist() == [1.0, 0.0, 0.0]
    assert marks.represents[1] > marks.represents[0] > 0.0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("i,j,similar\n0,1,maybe\n", "line 2: similar: 'maybe' is not an answer"),
        ("i,j,similar\n0,1,1\n0,9,1\n", "line 3: j is '9', and no row .* number from 0 to 3"),
        ("i,j,similar\n-1,1,1\n", "line 2: i is '-1', and no row"),
        ("i,j,similar\n0.5,1,1\n", "no row"),
        ("i,j,same\n0,1,1\n", "no column 'similar'"),
        ("i,j,similar\n0,1,1\n1,0,0\n", "line 2 and line 3: the rows 0 and 1 are called similar"),
    ],
)
def test_impossible_pairs_are_refused_with_their_row(text, message, pairs_of):
    with pytest.raises(ValueError, match=message):
        pairs_of(text)


def named(*ids):
    """A table whose rows have ids."""
    return NamedColumns(Path("data.csv"), {"id": typed_column(ids)})


def test_pairs_find_their_rows_by_id(tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_text("i,j,similar,id_i,id_j\n0,1,1,30,10\n0,1,0,20,30\n")
    pairs, similar = answered_pairs([named(10.0, 20.0, 30.0)], path, "id")
    assert pairs.tolist() == [[2, 0], [1, 2]]
    assert similar.tolist() == [True, False]
    with pytest.raises(ValueError, match="line 2: id_i is '30', and no row of data"):
        answered_pairs([named("a", "b", "c")], path, "id")
    with pytest.raises(ValueError, match="name the rows, which may have moved since"):
        answered_pairs([named(10, 20, 30)], path)
    path.write_text("i,j,similar\n0,1,1\n")
    assert answered_pairs([named("a", "b", "c")], path, "id")[0].tolist() == [[0, 1]]


def test_a_word_for_nothing_is_one_in_every_column_and_a_word_for_the_unknown_in_some():
    for cell in ("", " ", None, NAN, pd.NaT, "NULL", r"\N", "#N/A"):
        assert is_missing(cell)
    for cell in ("?", "n/a", "N/A", "-", "unknown", "k.A."):
        assert not is_missing(cell)
        assert is_missing(cell, unknown=True)
    for cell in ("Na", 0, False, "0"):
        assert not is_missing(cell, unknown=True)


@pytest.mark.parametrize(
    "form",
    [list, np.array, pd.Series, pl.Series, pa.array, lambda c: pa.chunked_array([c]),
     lambda c: pd.Series(c).astype("category"), lambda c: pd.Series(c, dtype="float32")],
)  # fmt: skip
@pytest.mark.parametrize("cells", [[0.1, 2.0], [3, 1]])
def test_a_column_of_any_library_is_read_alike(form, cells):
    column = typed_column(form(cells))
    assert categories_of(column).tolist() == [cell_text(cell) for cell in cells]
    np.testing.assert_allclose(read_numbers(form(cells)), cells)


@pytest.mark.parametrize(
    ("name", "values", "why"),
    [
        ("Unnamed: 0", np.arange(50.0), "row numbers"),
        ("x", np.arange(7.0, 57.0), "row numbers"),
        ("x", np.arange(50.0) ** 2, "in order"),
        ("x", -np.arange(50.0), "in order"),
        ("x", np.r_[np.arange(50.0), np.nan], "row numbers"),
        ("patient_id", np.array([9.0, 4.0, 7.0]), "id name"),
        ("userId", np.array([9.0, 4.0, 7.0]), "id name"),
        ("width", np.array([9.0, 4.0, 7.0]), ""),  # it ends in "id" only by chance
        ("patient_id", np.array([9.0, 4.0, 4.0]), ""),
        ("x", np.arange(9.0), ""),  # too few rows to be sure
        ("x", np.arange(50.0) + 0.5, ""),
        ("x", np.array(["a", "b"], dtype=object), ""),
    ],
)
def test_columns_that_only_identify_rows_are_noticed(name, values, why):
    assert looks_like_ids(name, values) == why


@pytest.mark.parametrize(
    ("values", "doubt"),
    [
        (np.random.default_rng(0).permutation(200) + 7, "nearly distinct"),  # numbered on
        (np.random.default_rng(0).integers(1e8, 1e9, 200), "nearly distinct"),  # of one length
        (np.random.default_rng(0).lognormal(15, 2, 200).round(), ""),  # US Gross
        (np.random.default_rng(0).integers(10000, 99999, 200) * 10, ""),  # prices
    ],
)
def test_amounts_do_not_look_like_ids(values, doubt):
    assert suspicion("gross", values.astype(float)) == doubt


@pytest.mark.parametrize(
    ("values", "value"),
    [
        ([20, 31, 99999999], 99999999),
        ([0.5, 0.25, 1e30], 1e30),
        ([20, 31, -999], -999),
        ([900, 950, 999], None),
        ([0, 1, 99], None),  # a percentage
        ([1e3, 1e5, 3e6], None),
        ([0, 99999999], None),
    ],
)
def test_a_number_far_from_all_others_may_mean_a_missing_one(values, value):
    assert sentinel(np.array([*values, NAN], dtype=float)) == value


def test_a_slice_of_a_column_of_text_is_read_as_the_column_is():
    texts = [f"{k % 7} %" for k in range(40)]
    column = pa.chunked_array([pa.array(["a header", *texts]).slice(1)])
    for values, expected in (["9"], texts), (["3 %"], [None if t == "3 %" else t for t in texts]):
        read = without_values(column, values)
        assert read.to_pylist() == column_text(read).to_pylist() == expected
        read.validate(full=True)
