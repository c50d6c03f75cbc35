"""Tables as they are: separators, ids, dates and unknown labels are noticed and said."""

import io
import re
from pathlib import Path

import numpy as np
import onnxruntime
import pandas as pd
import pytest
from scipy.sparse import csr_array, save_npz
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.preprocessing import StandardScaler

from seraph import TablePreparer, load
from seraph._apps.cli._models import SavedModel
from seraph._apps.cli._prepare import column_rows
from seraph._apps.cli._summary import share_rows
from seraph._apps.cli._tables import read_table
from seraph._utils._cells._table import Reading
from tests.helpers.command import ok, refusal
from tests.helpers.quick import few


def untidy_table():
    """Forty rows with row numbers, names, holes, cities, dates, thousands and question marks."""
    rng = np.random.default_rng(0)
    n = 40
    truth = np.tile(["u", "v"], n // 2)
    shift = np.where(truth == "u", 0.0, 3.0)
    frame = pd.DataFrame(
        {
            "name": [f"N{k:02d}" for k in rng.permutation(n)],
            "a": (rng.normal(size=n) + shift).round(3),
            "b": rng.normal(size=n).round(3),
            "visit_no": rng.permutation(n) + 100,
            "city": rng.choice(["Bern", "Basel", "Chur"], n),
            "seen": (np.datetime64("2025-11-01") + rng.integers(0, 90, n)).astype(str),
            "day": 20260101 + rng.integers(0, 28, n),
            "cost_$_per_$": [f"{v:,}" for v in [1000, *rng.integers(500, 9000, n - 1)]],
            "kind": np.where(np.arange(n) < 12, truth, "?"),
        }
    )
    frame.loc[::7, "b"] = np.nan
    frame.loc[5, "city"] = np.nan
    frame.loc[6, "city"] = "Genf"
    return frame


def test_decimal_commas_are_recognized_beside_words_for_missing_values(tmp_path):
    (tmp_path / "t.csv").write_text("a;b\n1,5;2\n?;3\n0,25;4\n")
    with pytest.warns(UserWarning, match="read") as notes:
        points = TablePreparer(scale="none").fit_transform(read_table(tmp_path / "t.csv"))
    assert "with decimal commas, as in column 'a'" in str(notes[0].message)
    assert "'?' in line 3 is read as missing" in str(notes[1].message)
    np.testing.assert_array_equal(points[:, 0], [1.5, 0.875, 0.25])


def test_commas_in_a_table_with_semicolons_need_proof(tmp_path):
    (tmp_path / "t.csv").write_text("cost;b\n1,125;2\n2,250;3\n")
    with pytest.raises(ValueError, match=r"not clear whether.*in a table with semicolons"):
        read_table(tmp_path / "t.csv").points()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    untidy_table().to_csv("t.csv")
    return tmp_path


FIT = ["fit", "t.csv", "--label", "kind", "--unlabeled", "?", "--id", "name", "--no-check"]
ALL = ["--onehot", "city", "--dates", "days", "--impute", "median"]


def test_one_attempt_says_what_became_of_each_column_and_makes_the_model_of_all_options(folder):
    done = ok(*FIT, "-o", "m.skops")
    assert "column 'cost_$_per_$' ('1,000' in line 2 is read as thousands)" in done.err
    for text in (
        r"b .6.\W+missing: filled in by the median\W+--impute knn",
        r"city\W+categories\W+--drop city",
        r"seen, day\W+dates: days since 1970\W+--dates parts, --dates drop",
        r"unnamed_1\W+left out: row numbers, without a name\W+--keep unnamed_1",
        r"visit_no\W+left out: ids, by its name\W+--keep visit_no",
    ):
        assert re.search(text, done.out), text
        assert re.search(text, ok("inspect", "m.skops").out), text
    ok(*FIT, *ALL, "-o", "asked.skops")
    learned, asked = load("m.skops"), load("asked.skops")
    np.testing.assert_array_equal(learned[-1].components_, asked[-1].components_)
    assert repr(learned[0].encoder_) == repr(asked[0].encoder_)


def test_columns_are_sorted_by_what_they_hold(tmp_path):
    n = 40
    frame = pd.DataFrame(
        {
            "id": np.arange(n)[::-1] * 3 + 1,
            "note": [f"see file {k}" if k % 4 == 0 else "" for k in range(n)],
            "street": [f"street {k // 2}" for k in range(n)],
            "few": np.tile(["x", "y", "NA", "y"], n // 4),
            "once": np.where(np.arange(n) < 5, "yes", ""),
            "same": "a",
            "one": 1.5,
            "wrong": [f"{k % 7}" if k != 3 else "three" for k in range(n)],
            "none": np.nan,
            "power": np.tile(["1.5", "?", "n/a", "7"], n // 4),
            "truth": np.tile(["True", "False"], n // 2),
            "size": np.tile(["1,5", "2,25"], n // 2),
            "null": np.tile(["NULL", "3", "4", r"\N"], n // 4),
            "day": (np.datetime64("2026-01-01") + np.arange(n)).astype(str),
            "today": "2026-01-01",
        }
    )
    frame.to_csv(tmp_path / "t.csv", index=False)
    made = TablePreparer()
    with pytest.warns(UserWarning, match="read") as notes:
        points = made.fit_transform(read_table(tmp_path / "t.csv"))
    said = [str(note.message).removeprefix(f"{tmp_path / 't.csv'}: ") for note in notes]
    assert sorted(said) == [
        "column 'power' ('?' in line 3 is read as missing). If that is wrong, correct those "
        "cells.",
        "read with decimal commas, as in column 'size' ('1,5' in line 2 and 39 more).",
    ]
    uses = made.columns_
    left_out = {name: use for name, use in uses.items() if use.startswith("left out")}
    assert left_out == {
        "id": "left out: whole numbers, all distinct and in order",
        "note": "left out: text, different in every row",
        "street": "left out: text with 20 different values",
        "same": "left out: the same in every row",
        "one": "left out: the same in every row",
        "none": "left out: empty",
        "wrong": "left out: numbers and text, 'three' in line 5",
        "today": "left out: the same in every row",
    }
    absent = [row for row in column_rows(uses) if row[1].startswith("missing: a category")]
    assert absent == [["few (10), once (35)", "missing: a category of its own", ""]]
    assert uses["day"] == "dates: days since 1970"
    assert uses["null"] == uses["power"] == "numbers, 20 missing: filled in by the median"
    plain = ["power", "truth", "size", "null", "day"]
    assert made.get_feature_names_out().tolist() == [
        *plain, "few_(missing)", "few_x", "few_y", "once_(missing)", "once_yes",
    ]  # fmt: skip
    power = np.tile([1.5, 4.25, 4.25, 7.0], n // 4)
    np.testing.assert_allclose(points[:, 0], (power - 4.25) / 2.75)


def test_a_column_to_keep_must_hold_numbers(folder):
    assert "no numbers in column 'city'" in refusal(*FIT, "--keep", "city")


def test_a_table_of_text_alone_says_how_to_use_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("text,c\n" + "".join(f"word {k},{k % 2}\n" for k in range(12)))
    err = refusal("fit", "t.csv", "--label", "c")
    assert "no column is left as a feature: 'text' (text, different in every row). Use one" in err
    assert "--onehot text" in err


def test_the_model_does_what_scikit_learn_would(folder):
    ok(*FIT, *ALL, "-o", "m.skops")
    model = load("m.skops")
    frame = untidy_table()
    cost = frame["cost_$_per_$"].str.replace(",", "").astype(float)
    days = [pd.to_datetime(frame["seen"]), pd.to_datetime(frame["day"].astype(str))]
    numbers = np.column_stack(
        [frame["a"], frame["b"], *(d.to_numpy("datetime64[D]").astype(float) for d in days), cost]
    )
    scaled = StandardScaler().fit_transform(numbers)
    scaled = SimpleImputer(strategy="median").fit_transform(scaled)
    city = frame["city"].fillna("(missing)")
    common = [c for c in sorted(city.unique()) if (city == c).sum() > 1]
    onehot = np.column_stack([city == c for c in common] + [~city.isin(common)]).astype(float)
    expected = np.hstack([scaled, onehot])
    np.testing.assert_allclose(model[:-1].transform(frame), expected)
    printed = ok("transform", "m.skops", "t.csv").out
    mapped = pd.read_csv(io.StringIO(printed)).to_numpy()
    np.testing.assert_allclose(mapped, expected @ model[-1].components_.T, rtol=1e-9, atol=1e-12)


def test_new_rows_may_have_missing_values_and_cities_never_seen(folder):
    ok(*FIT, *ALL, "-o", "m.skops")
    new = untidy_table().head(4).drop(columns="kind")
    new.loc[0, "city"] = "Atlantis"
    new.loc[1, ["a", "seen"]] = np.nan
    new.to_csv("new.csv", index=False)
    mapped = pd.read_csv(io.StringIO(ok("transform", "m.skops", "new.csv").out)).to_numpy()
    assert mapped.shape[0] == 4
    assert np.isfinite(mapped).all()
    for command in (["neighbors"], ["predict", "--reference", "t.csv", "--label", "kind",
                                    "--unlabeled", "?"]):  # fmt: skip
        ok(command[0], "m.skops", "new.csv", "--row", "0", *command[1:])
    ok("query", "m.skops", "new.csv", "-n", "2")


def test_knn_fills_in_from_similar_rows(folder):
    ok(*FIT, "--onehot", "city", "--dates", "drop", "--impute", "knn", "-o", "m.skops")
    frame = untidy_table()
    cost = frame["cost_$_per_$"].str.replace(",", "").astype(float)
    numbers = StandardScaler().fit_transform(np.column_stack([frame["a"], frame["b"], cost]))
    expected = KNNImputer(n_neighbors=5).fit_transform(numbers)
    model = load("m.skops")
    raw = pd.DataFrame({"a": frame["a"], "b": frame["b"], "cost_$_per_$": cost,
                        "city": frame["city"]})  # fmt: skip
    np.testing.assert_allclose(model[:-1].transform(raw)[:, :3], expected)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--impute", "mean"], "'--impute': .*'mean' is not one of 'median', 'knn'"),
        (["--dates", "weeks"], "'--dates': .*'weeks' is not one of 'days', 'parts', 'drop'"),
        (["--onehot", "town"], "no column 'town'"),
        (["--onehot", "city", "--drop", "city"], "'city' cannot be both used and left out"),
        (["--unlabeled", "??"], r"no row has the label '\?\?' that --unlabeled names"),
        (["--learner", "itm"], "--learner must be one of meanmetric, .*'itm'. Did you mean itml"),
        (["--set", "gamma"], "--set must be NAME=VALUE"),
        (["--set", "seraph__gama=2"], "MeanMetric has no parameter seraph__gama. It has"),
        (["--learner", "itml", "--set", "lam=2"], "ITML has no parameter lam"),
    ],
)
def test_wishes_that_cannot_be_met_are_refused(options, message, folder):
    assert re.search(message, refusal(*FIT, *ALL, *options))


def test_a_model_remembers_how_its_table_was_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    kind = np.tile(["Köln", "Genève"], 15)
    frame = pd.DataFrame(
        {
            "Größe": np.where(kind == "Köln", 1.5, 4.5) + rng.random(30).round(3),
            "probability": rng.random(30).round(3),
            "Stadt": kind,
        }
    )
    text = frame.to_csv(index=False, sep=";", decimal=",")
    Path("t.csv").write_bytes(text.encode("latin-1"))
    note = ok("fit", "t.csv", "--label", "Stadt", "-o", "m.skops", "--no-check").err
    assert "t.csv: line 1 is not UTF-8 (byte 0xf6): read as cp1252" in note
    assert "t.csv: read with decimal commas, as in column 'Größe' (" in note
    new = frame.assign(Stadt="").head(3)
    Path("new.csv").write_bytes(new.to_csv(index=False, sep=";", decimal=",").encode("latin-1"))
    new.drop(columns="Stadt").to_csv("bare.csv", index=False)
    told = refusal("predict", "m.skops", "bare.csv")
    assert "bare.csv has no column 'Stadt', which holds the known classes" in told
    assert "The model learned from t.csv: --reference t.csv" in told
    ok("predict", "m.skops", "new.csv", "--reference", "t.csv", "-o", "out.csv")
    out = pd.read_csv("out.csv", sep=";", decimal=",", encoding="latin-1")
    assert list(out) == [*frame, "probability_", "given", "nearest"]
    assert out["Stadt"].tolist() == kind[:3].tolist()
    told = ok("fit", "t.csv", "--label", "Stadt", "--encoding", "latin-1", "--no-check").err
    assert "UTF-8" not in told
    assert "--encoding klingon is not known" in refusal(
        "fit", "t.csv", "--label", "Stadt", "--encoding", "klingon"
    )


@pytest.mark.filterwarnings("ignore:.*(thousands|missing numbers)")
@pytest.mark.parametrize(
    "options",
    few(
        [
            [],
            ["--impute", "knn", "--scale", "minmax"],
            ["--scale", "none", "--dates", "parts", "--onehot", "visit_no"],
            ["--scale", "unit", "--drop", "city"],
            ["--impute", "knn", "--drop", "city", "--learner", "lfda"],
        ],
        lambda options: options[:1] in ([], ["--impute"]),
    ),
)
def test_every_model_becomes_a_graph_of_named_columns(options, folder):
    ok(*FIT, *options, "-o", "m.skops")
    table = pd.read_csv("t.csv", sep=None, engine="python", dtype=str)
    table.to_csv("rows.csv", index=False)
    said = ok("export", "m.skops", "-o", "m.onnx", "--data", "rows.csv").out
    assert "m.onnx: from" in said
    assert "the probabilities of 2 classes: 'u', 'v'" in said
    fitted = SavedModel.read(Path("m.skops"))
    session = onnxruntime.InferenceSession("m.onnx")
    assert [column.name for column in session.get_inputs()] == fitted.feature_names
    new = untidy_table()
    new.loc[3, "city"] = "Atlantis"
    new.loc[4, "city"] = np.nan
    new.loc[5:8, "a"] = np.nan
    new.to_csv("new.csv", index=False)
    preparer, table = fitted.estimator[0], read_table(Path("new.csv"))
    points = preparer._read(table)[fitted.feature_names]
    columns = {
        name: values.fillna("").to_numpy(dtype=str)[:, np.newaxis]
        if values.dtype.kind == "O" or name in preparer.reading_["categories"]
        else values.to_numpy(np.float32)[:, np.newaxis]
        for name, values in points.items()
    }
    expected = fitted.estimator.transform(table)
    classes, shares, mapped = session.run(None, columns)
    np.testing.assert_allclose(mapped, expected, atol=2e-4 * np.abs(expected).max())
    ok("predict", "m.skops", "new.csv", "--reference", "rows.csv", "-o", "filled.csv")
    filled = pd.read_csv("filled.csv")
    assert classes.tolist() == filled["kind"].tolist()
    np.testing.assert_allclose(shares.max(axis=1), filled["probability"], atol=2e-3)


@pytest.mark.filterwarnings("ignore:.*(thousands|missing numbers)")
def test_a_matrix_is_written_where_the_map_is_linear(folder):
    ok(*FIT, "--drop", "city", "-o", "m.skops")
    ok("export", "m.skops", "-o", "W.npy")
    fitted = SavedModel.read(Path("m.skops"))
    table = read_table(Path("t.csv"))
    table = table.take(np.flatnonzero(untidy_table()["b"].notna()))
    points = table.points(fitted.feature_names, Reading(**fitted.estimator[0].reading_))
    mapped, W = fitted.estimator.transform(table), np.load("W.npy")
    expected = mapped - mapped[0]
    scaled = (points - points.iloc[0]).to_numpy() @ W
    np.testing.assert_allclose(scaled, expected, atol=1e-4 * np.abs(expected).max())
    ok(*FIT, "-o", "m.skops")
    assert "write an ONNX graph, to a name that ends in .onnx" in refusal(
        "export", "m.skops", "-o", "W.npy"
    )
    ok("export", "m.skops", "-o", "m.onnx", "--components", "1", "--data", "t.csv")
    (output,) = onnxruntime.InferenceSession("m.onnx").get_outputs()
    assert output.shape[1] == 1
    untidy_table().drop(columns="kind").to_csv("bare.csv")
    said = ok("export", "m.skops", "-o", "m.onnx", "--data", "bare.csv").out
    assert "without classes: for these, leave --components out and give --data with labels" in said
    assert len(onnxruntime.InferenceSession("m.onnx").get_outputs()) == 1


@pytest.mark.slow
def test_a_picture_that_fails_costs_neither_the_model_nor_the_page(folder, monkeypatch):
    def fail(*args, **kwargs):
        raise RuntimeError("no ink")

    monkeypatch.setattr("seraph.plot.EmbeddingDisplay.from_estimator", fail)
    done = ok(*FIT, *ALL, "-o", "m.skops", "--report", "r.html")
    assert "The picture 'The rows before and after' could not be drawn: no ink" in done.err
    assert len(load("m.skops")[-1].components_)
    page = Path("r.html").read_text()
    assert page.count("<img") == 2
    assert "could not be drawn: no ink" in page
    assert "cost_$_per_$" in page


@pytest.mark.slow
def test_names_with_dollars_and_other_signs_are_drawn_as_they_are(folder):
    frame = untidy_table().rename(columns={"a": "$x", "b": r"$\frac$"})
    frame["kind"] = frame["kind"].replace({"u": "$u$", "v": "_v^2"})
    frame.to_csv("t.csv")
    done = ok(*FIT, *ALL, "-o", "m.skops", "--report", "r.html")
    assert "could not be drawn" not in done.err
    assert Path("r.html").read_text().count("<img") == 3


def test_a_sample_has_all_labeled_rows_unless_they_are_more(folder):
    out = ok(*FIT, *ALL, "--sample", "20").out
    assert re.search(r"rows\W+20 ", out)
    assert re.search(r"labeled rows\W+12 ", out)
    assert re.search(r"rows\W+40 ", ok(*FIT, *ALL, "--sample", "400").out)
    out = ok(*FIT, *ALL, "--sample", "9").out
    assert re.search(r"rows\W+9 .*labeled rows\W+9 ", out, re.DOTALL)


@pytest.mark.slow
def test_another_learner_and_any_of_its_parameters(folder):
    out = ok(*FIT, *ALL, "--learner", "ITML", "--set", "gamma=2.0", "--set", "max_iter=50",
             "-o", "m.skops").out  # fmt: skip
    learner = load("m.skops")[-1]
    assert (type(learner).__name__, learner.gamma, learner.max_iter) == ("ITML", 2.0, 50)
    assert re.search(r"learner\W+ITML", out)


def test_a_sparse_matrix_is_refused_with_what_to_do(tmp_path):
    save_npz(tmp_path / "t.npz", csr_array(np.eye(8, 5)))
    with pytest.raises(ValueError, match=r"sparse matrix.*TruncatedSVD\(100\)"):
        read_table(tmp_path / "t.npz")


def test_shares_of_many_features_are_not_rounded_to_nothing():
    rows = share_rows({f"x{k}": 1 / 4000 for k in range(4000)})
    assert rows[1][:2] == ["x0", "0.025 %"]
    assert rows[-1][0] == "3,960 others"
    assert share_rows({f"x{k}": 1 / 41 for k in range(41)})[-1][:2] == ["1 other", "2.4 %"]
