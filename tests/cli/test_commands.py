"""The command line: its output, its files and its refusals."""

import re
import warnings
from pathlib import Path

import numpy as np
import onnxruntime
import pandas as pd
import pytest
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

import seraph as package
from seraph import SERAPH, MeanMetric, MetricClassifier, load, save
from seraph.classic import Euclidean
from tests.helpers.command import ok, refusal
from tests.helpers.quick import few
from tests.helpers.wines import FEATURES, FIT, wine_frame

# fit


@pytest.mark.parametrize(
    ("scale", "scaler"),
    few(
        [("standard", StandardScaler()), ("minmax", MinMaxScaler()), ("none", None)],
        lambda case: case[0] == "standard",
    ),
)
def test_the_model_is_what_python_would_have_made(scale, scaler, folder):
    ok(*FIT, "--scale", scale, "--set", "seraph__lam=2.5", "-o", "m.skops", "--no-check")
    model = load("m.skops")
    assert isinstance(model, Pipeline)
    frame = pd.read_csv("data.csv", keep_default_na=False)
    X = frame[FEATURES].to_numpy()
    X = X if scaler is None else scaler.fit_transform(X)
    y = [label or None for label in frame["class"]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of features that are not scaled
        expected = MeanMetric().set_params(seraph__lam=2.5).fit(X, y)
    np.testing.assert_allclose(model[-1].components_, expected.components_)
    np.testing.assert_allclose(model.transform(frame[FEATURES]), expected.transform(X))
    assert list(model.feature_names_in_) == [*FEATURES, "remarks"]
    assert str(model[0].columns_["remarks"]) == "left out: as asked"
    steps = model[0].encoder_.named_steps
    assert list(steps) == (["impute"] if scaler is None else ["scale", "impute"])


def test_fit_says_what_was_learned(folder):
    out = ok(*FIT, "-o", "m.skops").out
    learner = load("m.skops")[-1]
    for text in (
        r"rows\W+60 ",
        r"labeled rows\W+12 ",
        r"classes\W+3: barbera \(4\), barolo \(4\), grignolino \(4\)",
        r"features\W+5, --scale standard",
        r"pairs\W+18 similar, 48 dissimilar, 1,704 unlabeled",
        r"learner\W+MeanMetric: 33 % seraph, 33 % lrml, 33 % itml",
        r"rank of the metric\W+5 of 5",
        r"MeanMetric and a forest\W+\d+ of 12\W+\d+\.\d ± \d+\.\d %",
        r"forest\W+43 % of each decision: less, the more features",
        r"Euclidean\W+\d+ of 12",
        r"Model: m.skops",
    ):
        assert re.search(text, out), text
    diagonal = np.diag(learner.get_mahalanobis_matrix())  # the features have variance 1
    for name, share in zip(FEATURES, diagonal / diagonal.sum(), strict=True):
        assert re.search(rf"{name}\W+{100 * share:.1f} %", out)


def test_pairs_alone_will_do_and_decide_about_others(folder):
    frame = pd.read_csv("new.csv")
    truth = wine_frame()["truth"].to_numpy()
    i, j = np.random.default_rng(0).integers(60, size=(2, 80))
    asked = pd.DataFrame({"i": i, "j": j, "similar": (truth[i] == truth[j]).astype(int)})
    asked = asked[asked["i"] != asked["j"]]
    asked.to_csv("asked.csv", index=False)
    fit = ["fit", "new.csv", "--pairs", "asked.csv", "--id", "name", "--drop", "remarks"]
    out = ok(*fit, "-o", "p.skops").out
    assert "labeled rows" not in out
    assert re.search(r"forest\W+\d+ % of each decision: AUC on held-out pairs \d\.\d+, of", out)
    ids = frame["name"].to_numpy()
    named = pd.DataFrame({"id_i": ids[asked["i"]], "id_j": ids[asked["j"]]})
    named.to_csv("open.csv", index=False)
    said = ok("predict", "p.skops", "new.csv", "--pairs", "open.csv", "-o", "decided.csv").out
    decided = pd.read_csv("decided.csv")
    assert f"{len(asked)} pairs, {decided['similar'].sum()} of them similar." in said
    model = load("p.skops")
    points, pairs = model[0].transform(frame), asked[["i", "j"]].to_numpy()
    assert model.decider_.forest_share_ > 0.0
    np.testing.assert_array_equal(
        decided["similar"] > 0, model.decider_.predict(pairs, points) > 0
    )
    shares = model.decider_.predict_proba(pairs, points)[:, 1]
    np.testing.assert_allclose(decided["probability"], shares, atol=1e-4)
    ok("export", "p.skops", "-o", "p.onnx", "--data", "new.csv")
    session = onnxruntime.InferenceSession("p.onnx")
    fed = {name: frame[[name]].to_numpy(np.float64) for name in FEATURES}
    _, graphs, Z = session.run(None, fed | {"pairs": pairs})
    np.testing.assert_allclose(graphs[:, 1], shares, atol=1e-6)
    np.testing.assert_allclose(Z, model.transform(frame), atol=1e-6)
    assert "fit a model with --pairs" in refusal(
        "predict", "model.skops", "new.csv", "--pairs", "open.csv"
    )


# transform


def test_columns_are_matched_by_name_and_rows_keep_their_order(folder):
    ok("transform", "model.skops", "data.csv", "--id", "name", "-o", "z.csv")
    written = pd.read_csv("z.csv")
    frame = pd.read_csv("data.csv")
    Z = load("model.skops").transform(frame[FEATURES])
    np.testing.assert_array_equal(written["name"], frame["name"])
    assert list(written) == ["name", *(f"seraph{k}" for k in range(Z.shape[1]))]
    np.testing.assert_allclose(written.iloc[:, 1:], Z, rtol=1e-12)
    shuffled = frame[[*FEATURES[::-1], "name", "class"]].assign(extra="ignored")
    shuffled.to_csv("shuffled.csv", index=False)
    ok("transform", "model.skops", "shuffled.csv", "--id", "name", "-o", "z2.csv")
    assert Path("z.csv").read_bytes() == Path("z2.csv").read_bytes()


def test_a_model_without_names_takes_any_table_of_its_width(folder):
    frame = pd.read_csv("data.csv")
    np.savez("x.npz", X=frame[FEATURES], y=frame["class"].fillna("-1").to_numpy(dtype=str))
    ok("fit", "x.npz", "-o", "m.skops", "--no-check")
    frame[[*FEATURES, "name"]].to_csv("plain.csv", index=False)
    named = ok("transform", "m.skops", "plain.csv", "--id", "name").out
    without = [line.split(",", 1)[1] for line in named.splitlines()]
    assert without == ok("transform", "m.skops", "x.npz").out.splitlines()
    refusal("transform", "m.skops", "pairs.csv")


# What a model file tells


def test_a_model_tells_what_fit_printed(folder):
    printed = ok(*FIT, "-o", "m.skops").out
    about = ok("--about", "m.skops").out
    for block in printed.split("Model: ")[0].split("Learned from data.csv"):
        assert block.strip() in about
    for text in (
        "TablePreparer(drop=[", "('seraph', SERAPH())",
        f"seraph {package.__version__}", f"numpy {np.__version__}",
    ):  # fmt: skip
        assert text in about


def test_models_that_python_saved_are_used_or_refused(folder):
    frame = pd.read_csv("data.csv", keep_default_na=False)
    y = [label or None for label in frame["class"]]
    X = frame[FEATURES] / frame[FEATURES].std()
    save(SERAPH().fit(X.to_numpy(), y), "bare.skops")
    save(Euclidean().fit(X), "euclidean.skops")
    save(MetricClassifier(SERAPH()).fit(X, y), "classifier.skops")
    save(SERAPH(), "unfitted.skops")
    X.to_csv("plain.csv", index=False)
    for name in ("bare.skops", "euclidean.skops"):
        assert ok("transform", name, "plain.csv").out.count("\n") == 61
        assert "rank of the metric" in ok("--about", name).out
    said = refusal("transform", "classifier.skops", "plain.csv")
    assert "a MetricClassifier, which is not a learned distance" in said
    assert "not fitted" in refusal("--about", "unfitted.skops")


# The page


def test_the_page_stands_alone_and_shows_its_picture(folder):
    out = ok(*FIT, "--report", "report.html").out
    assert "Page: report.html" in out
    page = Path("report.html").read_text()
    assert page.count("<img") == 1
    assert re.findall(r"(?:src|href)=['\"](?!data:)[^'\"]*", page) == []
    assert "url(" not in page
    assert "barbera (4)" in page
    assert "of 12 held-out labels wrong" in page
    assert re.findall(r"<h2>(.*?)</h2>", page) == [
        "Error on held-out labels",
        "Columns",
        "What matters: share in the mean squared distance",
        "What it learned from",
        "The rows before and after",
    ]


# Refusals


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fit", "absent.csv", "--label", "class"], "absent.csv: No such file"),
        (["fit", "data.csv", "--label", "clas"], "no column 'clas'. Did you mean 'class'"),
        (["fit", "data.csv", "--label", "class", "--drop", "remark"], "mean 'remarks'"),
        (["fit", "data.csv"], "nothing to learn from.*--label.*--pairs"),
        ([*FIT, "--pairs", "absent.csv"], "absent.csv: No such"),
        ([*FIT, "--pairs", "new.csv"], "new.csv has no column 'similar'"),
        (
            [*FIT, "--scale", "log"],
            "'--scale': .*'log' is not one of 'standard'",
        ),
        ([*FIT, "--set", "seraph__lam=-1"], "lam must be a finite number of at least 0"),
        ([*FIT, "--learner", "seraph", "--set", "lam=1e9"], "metric is zero.*--set"),
        ([*FIT, "-o", "m.pkl"], "m.pkl: the name must end in .skops"),
        ([*FIT, "-o", "absent/m.skops"], "there is no folder absent"),
        ([*FIT, "-o", "x" * 300 + ".skops"], "xxx.skops: File name too long"),
        ([*FIT, "--report", "r.pdf"], "must end in .html or .htm"),
        ([*FIT, "--lable", "class"], r"No such option.*--lable.*\(Options: seraph fit --help\)"),
        (["fit"], "Missing argument '(data|DATA)"),
        (["fitt"], "No such command 'fitt'"),
        (["transform", "data.csv", "data.csv"], "data.csv cannot be read: it is not a model"),
        (["transform", ".", "data.csv"], "Is a directory"),
        (["transform", "model.skops", "pairs.csv"], "lacks 5 of the 5 columns.*'alcohol'"),
        (["transform", "model.skops", "data.csv", "-o", "data.csv"], "would be replaced"),
        (["transform", "model.skops", "data.csv", "-o", "z.npy", "--id", "name"], "only numbers"),
        (["transform", "model.skops", "data.csv", "--id", "nam"], "Did you mean 'name'"),
        (["predict", "model.skops", "data.csv", "-o", "p.npy"], "must end in"),
        (["--about", "absent.skops"], "absent.skops: No such"),
    ],
)
def test_bad_input_ends_with_one_line_and_code_2(arguments, message, folder):
    before = {path: path.read_bytes() for path in folder.iterdir()}
    assert re.search(message, refusal(*arguments))
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"class": [""] * 60}, "none of its 60 rows has a label in 'class'"),
        ({"class": ["a", *[""] * 59]}, "1 of its 60 rows has a label"),
        ({"class": ["a"] * 5 + ["-1"] * 55}, "all labeled pairs are similar.*second class"),
        ({"class": [f"N{k}" for k in range(60)]}, "has another value in each of the 60 labeled"),
        (
            {name: [f"word {k}" for k in range(60)] for name in FEATURES},
            r"no column is left as a feature: .*'ash' \(text, different in every row\).*--onehot",
        ),
        (dict.fromkeys(FEATURES, 1.0), "no column is left as a feature: .*the same in every row"),
    ],
)
def test_a_table_that_teaches_nothing_is_refused(columns, message, folder):
    pd.read_csv("data.csv").assign(**columns).to_csv("data.csv", index=False)
    assert re.search(message, refusal(*FIT, "-o", "m.skops"))
    assert not Path("m.skops").exists()
