"""TablePreparer: an untidy table becomes numbers, and new rows are read like the first ones."""

import datetime
import pickle
import time
import warnings
from functools import cache

import numpy as np
import onnxruntime
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

import seraph
from seraph import SERAPH, MetricClassifier, TablePreparer
from seraph.records import DuplicateFinder

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
quietly = pytest.mark.filterwarnings("ignore:X. (column|read with):UserWarning")


@pytest.fixture(scope="module")
def fitted():
    with pytest.warns(UserWarning, match=r"X: columns 'power' .*missing.*'price' .*thousands"):
        return TablePreparer().fit(cars())


# What becomes of the columns


def test_each_column_becomes_what_it_holds(fitted):
    assert fitted.n_features_in_ == 8
    assert {name: str(column) for name, column in fitted.columns_.items()} == {
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
    names = ["power", "price", "built", "doors", "fuel_diesel", "fuel_gas", "fuel_(rare)"]
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
    assert str(made.columns_["no"]) == "numbers"
    assert str(made.columns_["power"]) == "left out: as asked"
    assert str(made.columns_["built"]) == "dates: year, season and weekday"
    assert str(made.columns_["doors"]) == "categories, 8 missing: a category of its own"
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
    named = table.set_axis([f"row {k}" for k in range(N)])
    out = clone(fitted).set_output(transform="pandas").fit(named).transform(named)
    assert list(out.columns) == list(fitted.get_feature_names_out())
    assert list(out.index) == list(named.index)


def test_columns_of_odd_types_are_used_or_left_out_in_words():
    n = 20
    table = pd.DataFrame(
        {
            "x": np.arange(n) % 7,
            "mixed": ["b", "a", 2.0, None] * 5,
            "cut": pd.cut(np.arange(n) % 9, [-1, 3, 6, 9]),
            "huge": [2**64 + 10 * (k % 3) ** 9 for k in range(n)],
            "period": pd.period_range("2026", periods=n, freq="D"),
            "span": pd.to_timedelta(np.arange(n), "h"),
            "list": [[1, 2]] * n,
            "money": pa_column(["1.50", "2.25"] * 10, pa.decimal128(5, 2)),
            "zone": pd.date_range("2026-01-01", periods=n, freq="5h", tz="Asia/Tokyo"),
        }
    )
    made = TablePreparer().fit(table)
    kinds = {name: column.use for name, column in made.columns_.items()}
    assert kinds == {
        "x": "numbers", "mixed": "categories", "cut": "categories", "huge": "numbers",
        "period": "dates", "span": "", "list": "", "money": "numbers",
        "zone": "dates",
    }  # fmt: skip
    assert {"mixed_2", "cut_(3, 6]"} <= {*made.get_feature_names_out()}
    arrow = pa.Table.from_pandas(table.drop(columns=["mixed", "huge", "period"]))
    assert TablePreparer().fit(arrow).columns_.items() <= made.columns_.items()


def pa_column(cells, kind):
    return pd.Series(pd.array(cells, dtype=pd.ArrowDtype(pa.string()))).astype(pd.ArrowDtype(kind))


# New rows


def test_new_rows_may_have_other_columns_in_any_order(fitted):
    table = cars()
    new = table.sample(frac=1, axis=1, random_state=0).drop(columns=["no", "name"])
    new["more"] = 1
    np.testing.assert_array_equal(fitted.transform(new), fitted.transform(table))
    with pytest.raises(ValueError, match=r"X lacks 1 of the 5 .*'power'. Did you mean 'Power'"):
        fitted.transform(table.rename(columns={"power": "Power"}))


# The reading is settled at the fit

COLUMNS = {
    # Cells of the fit; a cell of new rows, and its value.
    "day first": (["31/1/2026", "2/1/2026", "5/3/2026"], "2/1/2026", "2026-01-02"),
    "month first": (["1/31/2026", "2/1/2026", "5/3/2026"], "2/1/2026", "2026-02-01"),
    "iso beside": (["31/1/2026", "2/1/2026", "5/3/2026"], "2026-01-02", "2026-01-02"),
    "whole dates": ([20260131, 20260102, 20260305], "20260102", "2026-01-02"),
    "commas": (["1,5", "2,25", "1.000,5"], "1.234", 1234),
    "points": (["1.5", "2.25", "1,000.5"], "1,234", 1234),
    "numbers": ([1.5, 2.25, 7.0], "1,234.5", 1234.5),
    "unit": (["13.99%", "7%", "8.5 %"], "4.5 %", 4.5),
    "truth": (["true", "false", "TRUE"], "True", 1),
    "a word": (["12", "13", "n.b.", "15", "16", "17"], "14", 14),
}


DATES = st.builds(
    lambda date, form: date.strftime(form),
    st.dates(datetime.date(1990, 1, 1), datetime.date(2030, 1, 1)),
    st.sampled_from(["%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%Y-%m-%d", "%Y%m%d"]),
)
NUMBERS = st.builds(
    lambda number, form: form.format(number),
    st.floats(-1e6, 1e6).map(lambda number: round(number, 3)),
    st.sampled_from(["{}", "{:,}", "{:,.2f}", "{:.3f} %", "{:.0f} kg"]),
)
WORDS = st.sampled_from(["", "?", "k.A.", "n.b.", "broken", "true", "False", "1,2,3", "4+", None])
COMMAS = NUMBERS.map(lambda text: text.translate({44: ".", 46: ","}))


@cache
def fitted_on(kind):
    cells, cell, value = COLUMNS[kind]
    table = pd.DataFrame({"a": cells * 4, "b": np.arange(4 * len(cells)) % 5})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = TablePreparer(scale="none").fit(table)
    value = np.datetime64(value).astype(int) if isinstance(value, str) else value
    assert made.transform(pd.DataFrame({"a": [cell], "b": 0}))[0, 0] == pytest.approx(value)
    return made


@pytest.mark.filterwarnings("ignore:X. column:UserWarning")
@given(
    st.sampled_from(sorted(COLUMNS)),
    st.lists(DATES | NUMBERS | COMMAS | WORDS, min_size=1, max_size=6),
)
def test_a_cell_means_the_same_whatever_rows_come_with_it(kind, cells):
    made = fitted_on(kind)
    together = made.transform(pd.DataFrame({"a": cells, "b": 0}, dtype=object))
    alone = [made.transform(pd.DataFrame({"a": [c], "b": 0}, dtype=object))[0] for c in cells]
    np.testing.assert_array_equal(together, alone)


@quietly
def test_numbers_stay_numbers_beside_text_with_decimal_commas():
    made = fitted_on("commas")
    for cells in ([1.125], [1.125, "k.A."], [1.125, "2,5"], ["1,125"]):
        table = pd.DataFrame({"a": cells, "b": 0}, dtype=object)
        assert made.transform(table)[0, 0] == 1.125
    table = pd.DataFrame({"a": ["1,5", 1.125, 12.5, 2] * 4, "b": np.arange(16) % 5})
    numbers = TablePreparer(scale="none").fit(table).transform(table)[:, 0]
    assert numbers[:4].tolist() == [1.5, 1.125, 12.5, 2]


@pytest.mark.parametrize("kind", COLUMNS)
@pytest.mark.parametrize("cell", ["broken", "31.2.2026", "7 parsec", "1,2,3", np.inf])
def test_a_cell_that_does_not_fit_is_missing_and_named(kind, cell):
    made = fitted_on(kind)
    missing = made.transform(pd.DataFrame({"a": [None], "b": 0}))
    with pytest.warns(UserWarning, match=rf"X: column 'a' \('{cell}' in row 0\): read as missing"):
        np.testing.assert_array_equal(
            made.transform(pd.DataFrame({"a": [cell], "b": 0}, dtype=object)), missing
        )


def test_values_that_mean_missing_are_missing_in_every_column():
    table = cars().astype({"power": object})
    table["doors"] = table["doors"].fillna(-999)
    table.loc[[3, 17], "power"] = "-999"
    table.loc[:4, "fuel"] = "-999"
    blank = table.replace([-999, "-999"], None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made, plain = TablePreparer(missing=[-999]).fit(table), TablePreparer().fit(blank)
    assert made.columns_ == plain.columns_
    np.testing.assert_array_equal(made.transform(table), plain.transform(blank))


DAY = datetime.date(2020, 5, 1)
MAY_MEAN_ANOTHER = {
    "sentinel": ([20.0, 31, 27, 99999999],
                 r"\(99999999 in 5 rows\), far from .* add missing=\['99999999'\]"),
    "2.5k": (["2.5k", "900", "700", "800"], r"'2.5k' in row 0 is read as 2500\)"),
    "never": (["2020-05-01", "9999-12-31", "2020-06-01", "2020-07-01"],
              r"'9999-12-31' in row 1 is read as missing"),
    "never, typed": ([DAY, datetime.date(9999, 12, 31), DAY, datetime.date(2020, 7, 1)],
                     r"'9999-12-31' in row 1 and 4 more is read as missing"),
    "first day": (["01.01.1900", "1.5.2020", "2.5.2020", "28.7.2020"],
                  r"\(01.01.1900 in 5 rows\), far .* add missing=\['01.01.1900'\]"),
    "spelling": (["Cat", "dog", "cat", "Cat"], "'Cat' and 'cat'.* are different categories"),
}  # fmt: skip


@pytest.mark.parametrize("case", MAY_MEAN_ANOTHER)
def test_cells_that_may_mean_something_else_are_named(case):
    cells, said = MAY_MEAN_ANOTHER[case]
    table = pd.DataFrame({"a": cells * 5, "b": np.arange(20) % 7})
    with pytest.warns(UserWarning, match=rf"X: column 'a' .*{said}"):
        made = TablePreparer(scale="none").fit(table)
    assert made.columns_["a"].use
    if case == "first day":
        made = TablePreparer(scale="none", missing=["01.01.1900"]).fit(table)
    if case in ("never", "never, typed", "first day"):
        assert np.ptp(made.transform(table)[:, 0]) < 100  # days


def test_the_use_of_a_column_is_said_where_it_is_not_clear():
    rng = np.random.default_rng(0)
    n = 1200
    table = pd.DataFrame(
        {
            "state": [f"S{k % 58}" for k in range(n)],
            "engines": rng.choice(["1", "2-10", "11-100"], n, p=[0.8, 0.15, 0.05]),
            "kids": rng.choice(["0", "1", "2", "3+", "< 1"], n),
            "slip": [*map(str, rng.integers(0, 40, n - 1)), "3O"],
            "when": [f"{1 + k % 12}/{1 + k // 12 % 12}/{1900 + k // 12}" for k in range(n)],
        }
    )
    made = TablePreparer().fit(table)
    assert {name: str(column) for name, column in made.columns_.items()} == {
        "state": "categories",
        "engines": "categories",
        "kids": "categories",
        "slip": "left out: numbers and text, '3O' in row 1199",
        "when": "left out: dates, and either the day or the month is first",
    }


# Categories


@pytest.mark.parametrize("n_missing", [0, 1, 40])
@pytest.mark.parametrize("n_rare", [0, 1])
def test_missing_rare_and_new_categories_follow_one_rule(n_missing, n_rare):
    """A missing cell is a category like any other; rare ones and new ones share a column."""
    cells = ["u", "v"] * 100
    cells[:n_missing] = [None] * n_missing
    cells[50 : 50 + n_rare] = ["w"] * n_rare
    table = pd.DataFrame({"c": cells, "x": np.arange(200) % 7})
    made = TablePreparer().fit(table)
    new = pd.DataFrame({"c": ["u", "v", None, "w", "new"], "x": 0})
    Z = made.transform(new)
    apart = ((Z[:, np.newaxis] - Z) ** 2).sum(axis=2)
    group = [0, 1, 2 if n_missing == 40 else 3, 3, 3]
    expected = np.where(np.equal.outer(group, group), 0, 2)
    np.testing.assert_allclose(apart, expected, atol=1e-12)
    rule = {0: "", 1: ", 1 missing: with the rare ones", 40: ", 40 missing: a category of its own"}
    assert str(made.columns_["c"]) == f"categories{rule[n_missing]}"
    n_columns = 4 + (n_missing == 40)
    assert len(made.get_feature_names_out()) == n_columns


def test_equal_values_are_one_category():
    for first, second in (
        ([1, 2] * 9, ["1.0", "2"]),
        ([0.1, 2.5] * 9, np.array([0.1, 2.5], dtype=np.float32)),
        ([True, False] * 9, ["true", "FALSE"]),
        (["1.0", "7"] * 9, [1, 7.0]),
    ):
        table = pd.DataFrame({"c": first, "x": np.arange(18) % 5})
        made = TablePreparer(onehot=["c"], scale="none").fit(table)
        new = made.transform(pd.DataFrame({"c": second, "x": [0, 1]}))
        np.testing.assert_array_equal(new, made.transform(table)[:2])


def test_both_marks_before_decimals_in_one_column_are_refused():
    table = pd.DataFrame({"a": ["1,5", "2,25", "12.5"] * 4, "b": ["1,5", "1,75", "2"] * 4})
    said = r"not clear whether.*'12.5' in row 2 and 3 more, but '1,5' in row"
    with (
        pytest.warns(UserWarning, match="decimal commas"),
        pytest.raises(ValueError, match=said),
    ):
        TablePreparer().fit(table)


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


# What is refused


@pytest.mark.parametrize(
    ("parameters", "table", "said"),
    [
        ({"scale": "log"}, {"a": [1, 2]}, "^scale must be one of 'standard'.*got 'log'"),
        ({"impute": "drop"}, {"a": [1, 2]}, "^impute must be one of 'median', 'knn'; got 'drop'"),
        ({"dates": "weeks"}, {"a": [1, 2]}, "^dates must be one of 'days'.*got 'weeks'"),
        ({"onehot": "a"}, {"a": [1, 2]}, "onehot must be a list of names; got 'a'"),
        ({"drop": ["b"]}, {"a": [1, 2]}, "X has no column 'b'"),
        ({"drop": ["a"], "keep": ["a"]}, {"a": [1, 2]}, "'a' cannot be both used and left out"),
        ({"keep": ["a"]}, {"a": ["u", "v"]}, r"no numbers in column 'a'.*drop=\['a'\]"),
        ({}, {"a b": ["u", "v"]}, r"no column is left.*Use one with onehot=\['a b'\], or add"),
        ({}, {"a": [1, 1]}, r"no column is left.*'a' \(the same in every row\). Add some"),
        ({}, {"a": [np.inf, 1]}, r"infinite.*or leave the column out \(drop=\['a'\]\)"),
        ({}, {}, "X has 0 rows and 0 columns"),
        ({}, pd.DataFrame([[1, 2], [2, 1]], columns=["a", "a"]), "two columns called 'a'"),
        ({}, np.eye(3), "X must be a table with named columns"),
        ({}, [[1.0, 2.0]], "X must be a table with named columns"),
        ({}, None, "X must be a table with named columns"),
    ],
)
def test_errors_name_parameters(parameters, table, said):
    table = pd.DataFrame(table) if isinstance(table, dict) else table
    with pytest.raises(ValueError, match=said) as raised:
        TablePreparer(**parameters).fit(table)
    assert "--" not in str(raised.value)


@pytest.mark.parametrize("estimator", [TablePreparer(), DuplicateFinder()], ids=type)
def test_a_table_that_is_not_read_yet_is_refused_with_the_call_that_reads_it(estimator):
    with pytest.raises(TypeError, match=r"X is a LazyFrame.* not read yet: pass X.collect\(\)"):
        estimator.fit(pl.DataFrame({"a": [1.0, 2.0]}).lazy(), [0, 1])
    with pytest.raises(TypeError, match=r"pass X.to_table\(\)"):
        estimator.fit(pyarrow.dataset.dataset(pa.table({"a": [1.0, 2.0]})), [0, 1])


def test_columns_of_text_are_read_in_time_that_is_linear_in_their_rows():
    def seconds(n):
        table = pd.DataFrame({"a": [f"text {'xyz'[k % 3] * (k % 99)}{k}" for k in range(n)]})
        table["a"] = table["a"].str.translate(str.maketrans("0123456789", "abcdefghij"))
        start = time.process_time()
        TablePreparer().fit(table.assign(x=np.arange(n) % 7))
        return time.process_time() - start

    seconds(100)
    assert seconds(16_000) < 12 * seconds(4_000)  # 16 times if quadratic
