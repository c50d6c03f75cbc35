"""TablePreparer: an untidy table becomes numbers, and new rows are read like the first ones."""

import pickle
import sys
from pathlib import Path

import numpy as np
import onnxruntime
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

import seraph
from seraph import SERAPH, MarksKFold, MeanMetric, MetricClassifier, TablePreparer

PENGUINS = Path(__file__).parents[2] / "docs" / "data" / "penguins.csv"
N = 40


def cars():
    """Forty cars: row numbers, words for missing values, categories, dates, names, thousands."""
    rng = np.random.default_rng(0)
    power = rng.integers(50, 150, N).astype(str).astype(object)
    power[[3, 17]] = "?"
    return pd.DataFrame(
        {
            "no": np.arange(N),
            "name": [f"car {k}" for k in range(N)],
            "power": power,
            "price": [f"{v:,}" for v in rng.integers(1000, 9000, N)],
            "fuel": rng.choice(["gas", "diesel"], N),
            "built": [f"{d}.{1 + 6 * (k % 2)}.2020" for k, d in enumerate(rng.integers(1, 29, N))],
            "doors": np.where(np.arange(N) % 5 == 0, np.nan, 4.0 + np.arange(N) % 2),
            "sold": False,
        }
    )  # fmt: skip


CLASSES = np.where(np.arange(N) < 12, np.arange(N) % 2, -1)
quietly = pytest.mark.filterwarnings("ignore:X. column:UserWarning")


@pytest.fixture(scope="module")
def fitted():
    with pytest.warns(UserWarning, match=r"X: columns 'power' .*missing.*'price' .*thousands"):
        return TablePreparer().fit(cars())


# What becomes of the columns


def test_three_lines_from_a_table_to_a_model():
    table = pd.read_csv(PENGUINS)
    species = table.pop("species")
    labels = species.where(np.arange(len(table)) % 18 == 0, None)
    model = MetricClassifier(make_pipeline(TablePreparer(), MeanMetric())).fit(table, labels)
    assert np.mean(model.predict(table) == species) > 0.97
    scores = cross_val_score(model, table, labels, cv=MarksKFold(2))
    assert np.all(scores > 0.7)


def test_each_column_becomes_what_it_holds(fitted):
    assert fitted.columns_ == {
        "no": "left out: row numbers",
        "name": "left out: text, different in every row",
        "power": "numbers, 2 missing: filled in by the median",
        "price": "numbers",
        "fuel": "categories",
        "built": "dates: days since 1970",
        "doors": "numbers, 8 missing: filled in by the median",
        "sold": "left out: the same in every row",
    }
    assert list(fitted.feature_names_in_) == list(cars().columns)
    names = ["power", "price", "built", "doors", "fuel_diesel", "fuel_gas"]
    assert list(fitted.get_feature_names_out()) == names


@quietly
def test_the_numbers_are_those_of_scikit_learn(fitted):
    table = cars()
    power = pd.to_numeric(table["power"], errors="coerce").to_numpy()
    scaled = (power - np.nanmean(power)) / np.nanstd(power)
    scaled[np.isnan(scaled)] = np.nanmedian(scaled)
    Z = fitted.transform(table)
    np.testing.assert_allclose(Z[:, 0], scaled)
    np.testing.assert_array_equal(Z[:, 5], table["fuel"] == "gas")
    np.testing.assert_array_equal(Z, TablePreparer().fit_transform(table))


@quietly
def test_parameters_change_what_becomes_of_columns():
    table = cars()
    made = TablePreparer(dates="parts", keep=["no"], onehot=["doors"], drop=["power"]).fit(table)
    assert made.columns_["no"] == "numbers"
    assert made.columns_["power"] == "left out: as asked"
    assert made.columns_["built"] == "dates: year, season and weekday"
    assert made.columns_["doors"] == "categories, 8 missing: a category of its own"
    assert {"built.season_sin", "doors_4"} <= {*made.get_feature_names_out()}
    unit = TablePreparer(scale="unit", onehot=(), drop=["fuel"]).fit_transform(table)
    np.testing.assert_allclose(np.linalg.norm(unit, axis=1), 1)


@quietly
def test_tables_of_pandas_polars_and_pyarrow_become_the_same(fitted):
    table = cars()
    Z = fitted.transform(table)
    for other in (
        pl.from_pandas(table),
        pa.Table.from_pandas(table),
        table.astype({"fuel": "category"}),
        table.convert_dtypes(),
    ):
        np.testing.assert_array_equal(fitted.transform(other), Z)
        np.testing.assert_allclose(TablePreparer().fit_transform(other), Z)


def test_cells_of_several_types_become_text():
    table = pd.DataFrame({"mixed": ["b", "a", 2.0, None] * 5, "x": np.arange(20) % 7})
    made = TablePreparer().fit(table)
    assert made.columns_["mixed"].startswith("categories")
    assert "mixed_2" in made.get_feature_names_out()


@quietly
def test_names_and_the_index_stay(fitted):
    table = cars().set_axis([f"row {k}" for k in range(N)])
    out = clone(fitted).set_output(transform="pandas").fit(table).transform(table)
    assert list(out.columns) == list(fitted.get_feature_names_out())
    assert list(out.index) == list(table.index)


# New rows


def test_new_rows_may_have_other_columns_in_any_order(fitted):
    table = cars()
    new = table.sample(frac=1, axis=1, random_state=0).drop(columns=["no", "name"])
    new["more"] = 1
    np.testing.assert_array_equal(fitted.transform(new), fitted.transform(table))
    with pytest.raises(ValueError, match=r"X lacks 1 of the 5 .*'power'. Did you mean 'Power'"):
        fitted.transform(table.rename(columns={"power": "Power"}))


def test_what_is_no_number_in_new_rows_is_refused(fitted):
    new = cars().head(3)
    new.loc[1, "doors"] = 1e300
    with pytest.raises(ValueError, match=r"X: infinite or too large values in column 'doors'"):
        fitted.transform(new)
    new["doors"] = ["four", "five", "four"]
    with pytest.raises(ValueError, match=r"no numbers in column 'doors' .*learned from numbers"):
        fitted.transform(new)


@pytest.mark.parametrize("cells", [["1.234"], ["1.234", "7,5"], ["1.234", "1"]])
def test_a_number_means_the_same_whatever_rows_come_with_it(cells):
    table = pd.DataFrame({"a": ["1,5", "2,25", "3", "1.000,5"] * 3, "b": np.arange(12) % 5})
    with pytest.warns(UserWarning, match="decimal commas|thousands"):
        made = TablePreparer(scale="none").fit(table)
    new = pd.DataFrame({"a": cells, "b": 0})
    assert made.transform(new)[0, 0] == 1234
    with pytest.raises(ValueError, match=r"'12.5' in row"):
        made.transform(pd.DataFrame({"a": [*cells, "12.5"], "b": 0}))


def test_a_column_with_points_keeps_them_in_a_table_with_commas():
    table = pd.DataFrame({"a": ["1,5", "2,25", "3"] * 4, "b": ["12.5", "1.234", "2"] * 4})
    with pytest.warns(UserWarning, match="decimal commas"):
        made = TablePreparer(scale="none").fit(table)
    assert made.transform(pd.DataFrame({"a": ["3"], "b": ["1.234"]})).tolist() == [[3, 1.234]]


def test_both_marks_before_decimals_in_one_column_are_refused():
    table = pd.DataFrame({"a": ["1,5", "2,25", "12.5"] * 4, "b": ["1,5", "1,75", "2"] * 4})
    said = r"not clear whether.*'12.5' in row 2, but '1,5' in row"
    with (
        pytest.warns(UserWarning, match="decimal commas"),
        pytest.raises(ValueError, match=said),
    ):
        TablePreparer().fit(table)


# Dates


def days(cells, **table):
    frame = pd.DataFrame({"d": cells, "x": np.arange(len(cells)) % 3, **table})
    return TablePreparer(scale="none").fit(frame), frame


def test_time_zones_count():
    utc = pd.to_datetime(["2026-01-31T12:00Z", "2026-02-01T00:00Z", "2026-03-01T05:30Z"])
    text = ["2026-01-31T17:00:00+05:00", "2026-02-01 00:00:00Z", "2026-03-01T00:30:00.5-0500"]
    made, frame = days([*text])
    expected = utc.tz_localize(None).to_numpy("datetime64[s]").astype(float) / 86400
    np.testing.assert_allclose(made.transform(frame)[:, 0], expected)
    for other in (utc, utc.tz_convert("Asia/Tokyo"), utc.strftime("%Y-%m-%d %H:%M+00:00")):
        np.testing.assert_allclose(made.transform(frame.assign(d=other))[:, 0], expected)


@pytest.mark.parametrize("empty", [None, "", "NA"])
def test_dates_may_be_missing_in_all_new_rows(empty):
    made, frame = days(["2026-01-01", "2026-01-03", "2026-01-05"] * 4)
    alone = made.transform(pd.DataFrame({"d": [empty], "x": [1]}))
    beside = made.transform(pd.concat([pd.DataFrame({"d": [empty], "x": [1]}), frame]))
    np.testing.assert_array_equal(alone[0], beside[0])
    assert alone[0, 0] == np.datetime64("2026-01-03").astype(int)


def test_the_day_stays_first_in_new_rows():
    made, _ = days(["31/1/2026", "2/1/2026", "5/3/2026"] * 4)
    (row,) = made.transform(pd.DataFrame({"d": ["2/1/2026"], "x": [0]}))
    assert row[0] == np.datetime64("2026-01-02").astype(int)
    (iso,) = made.transform(pd.DataFrame({"d": ["2026-01-02"], "x": [0]}))
    assert iso[0] == row[0]


# Like any other estimator


@quietly
def test_it_is_cloned_pickled_saved_and_exported(fitted, tmp_path):
    table = cars()
    assert clone(TablePreparer(impute="knn", drop=["no"])).get_params()["drop"] == ["no"]
    for model in (
        make_pipeline(TablePreparer(), SERAPH()),
        MetricClassifier(make_pipeline(TablePreparer(dates="parts"), SERAPH())),
        MetricClassifier(make_pipeline(TablePreparer(drop=["fuel"]), SERAPH())),
    ):
        model.fit(table, CLASSES)
        Z = model.transform(table)
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).transform(table), Z)
        seraph.save(model, tmp_path / "m.skops")
        np.testing.assert_array_equal(seraph.load(tmp_path / "m.skops").transform(table), Z)
        graph = seraph.persist.to_onnx(model, table)
        session = onnxruntime.InferenceSession(graph.SerializeToString())
        inputs = {value.name for value in session.get_inputs()}
        assert "power" in inputs
        assert "name" not in inputs


def test_the_picture_shows_what_became_of_each_column(fitted):
    evil = pd.DataFrame({"<b>x": np.arange(12) % 5, "y": np.arange(12) % 3, "z": 1})
    page = make_pipeline(TablePreparer(), SERAPH()).fit(evil, CLASSES[:12])._repr_html_()
    assert "&lt;b&gt;x" in page
    assert "<b>x" not in page
    assert "left out: the same in every row" in page
    assert "row numbers" in fitted._repr_html_()
    assert "left out" not in TablePreparer()._repr_html_()


# What is refused


@pytest.mark.parametrize(
    ("parameters", "table", "said"),
    [
        ({"scale": "log"}, {"a": [1, 2]}, "^scale must be one of 'standard'.*got 'log'"),
        ({"impute": "drop"}, {"a": [1, 2]}, "^impute must be one of 'median', 'knn'; got 'drop'"),
        ({"dates": "weeks"}, {"a": [1, 2]}, "^dates must be one of 'days'.*got 'weeks'"),
        ({"onehot": "a"}, {"a": [1, 2]}, "onehot must be a list of columns; got 'a'"),
        ({"drop": ["b"]}, {"a": [1, 2]}, "X has no column 'b'"),
        ({"keep": ["a"]}, {"a": ["u", "v"]}, r"no numbers in column 'a'.*drop=\['a'\]"),
        ({}, {"a b": ["u", "v"]}, r"no column is left.*Use one with onehot=\['a b'\], or add"),
        ({}, {"a": [1, 1]}, "every feature has the same value"),
        ({}, {"a": [np.inf, 1]}, r"infinite.*or leave the column out \(drop=\['a'\]\)"),
        ({}, {}, "X has 0 rows and 0 columns"),
    ],
)
def test_errors_name_parameters(parameters, table, said):
    with pytest.raises(ValueError, match=said) as raised:
        TablePreparer(**parameters).fit(pd.DataFrame(table))
    assert "--" not in str(raised.value)


@pytest.mark.parametrize(
    "other", [np.eye(3), [[1.0, 2.0]], None, pl.DataFrame({"a": [1]}).lazy()], ids=type
)
def test_what_is_no_table_is_refused(other):
    with pytest.raises(ValueError, match="X must be a table with named columns"):
        TablePreparer().fit(other)


def test_two_columns_of_one_name_are_refused():
    table = pd.DataFrame([[1, 2], [2, 1]], columns=["a", "a"])
    with pytest.raises(ValueError, match="two columns called 'a'"):
        TablePreparer().fit(table)


def test_without_pyarrow_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"pip install 'seraph-learn\[tables\]'"):
        TablePreparer().fit(pd.DataFrame({"a": [1, 2]}))
