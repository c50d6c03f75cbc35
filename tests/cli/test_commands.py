"""The command line: its output, its files and its refusals."""

import csv
import html
import re
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.neighbors import NearestNeighbors
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

import seraph as package
from seraph import SERAPH, MeanMetric, MetricClassifier, load, save
from seraph.classic import Euclidean
from tests.helpers.command import ok, refusal
from tests.helpers.wines import FEATURES, FIT, wine_frame

# fit


@pytest.mark.parametrize(
    ("scale", "scaler"),
    [("standard", StandardScaler()), ("minmax", MinMaxScaler()), ("none", None)],
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
    assert model[0].columns_["remarks"] == "left out: as asked"
    steps = model[0].encoder_.named_steps
    assert list(steps) == (["impute"] if scaler is None else ["scale", "impute"])


def test_fit_says_what_was_learned(folder):
    out = ok(*FIT, "-o", "m.skops").out
    learner = load("m.skops")[-1]
    for text in (
        r"rows\W+60 ",
        r"labeled rows\W+12 ",
        r"classes\W+3: barbera \(4\), barolo \(4\), grignolino \(4\)",
        r"features\W+5, scaled in standard deviations",
        r"pairs\W+18 similar, 48 dissimilar, 1,704 unlabeled",
        r"learner\W+MeanMetric: 33 % seraph, 33 % lrml, 33 % itml",
        r"rank of the metric\W+5 of 5",
        r"MeanMetric\W+\d+ of 12\W+\d+\.\d ± \d+\.\d %",
        r"Euclidean\W+\d+ of 12",
        r"Model: m.skops",
    ):
        assert re.search(text, out), text
    diagonal = np.diag(learner.get_mahalanobis_matrix())  # the features have variance 1
    for name, share in zip(FEATURES, diagonal / diagonal.sum(), strict=True):
        assert re.search(rf"{name}\W+{100 * share:.1f} %", out)


def test_fit_says_what_seraph_alone_has_learned(folder):
    out = ok(*FIT, "--learner", "seraph", "-o", "m.skops").out
    learner = load("m.skops")[-1]
    for text in (
        r"pairs\W+18 similar, 48 dissimilar, 1,704 unlabeled",
        rf"rank of the metric\W+{len(learner.components_)} of 5",
        rf"converged\W+yes, after {learner.n_iter_} iterations \(optimality gap \d",
        rf"lam\W+{learner.lam_:.4g} \(chosen from the data\)",
    ):
        assert re.search(text, out), text


def test_labels_and_pairs_are_merged(folder):
    ok(*FIT, "--pairs", "pairs.csv", "-o", "m.skops", "--no-check")
    with_pairs, without = (load(f)[-1].named_learners_.seraph for f in ("m.skops", "model.skops"))
    more = with_pairs.n_similar_ + with_pairs.n_dissimilar_ - without.n_similar_
    assert 0 < more - without.n_dissimilar_ <= 6


def test_pairs_alone_will_do(folder):
    out = ok("fit", "new.csv", "--pairs", "pairs.csv", "--id", "name", "--drop", "remarks").out
    assert "similar" in out
    assert "labeled rows" not in out
    assert "6 pairs are too few to tell" in out
    assert sorted(p.name for p in folder.iterdir()) == sorted(
        ["data.csv", "new.csv", "pairs.csv", "model.skops"]
    )


def test_rank_and_iterations_can_be_capped_and_an_early_stop_is_noted_in_one_line(folder):
    done = ok(
        *FIT, "--set", "n_components=1", "--set", "seraph__max_iter=2", "-o", "m.skops",
        "--no-check",
    )  # fmt: skip
    assert len(load("m.skops")[-1].components_) == 1
    assert re.fullmatch(r"seraph: note: SERAPH has not converged .*\n", done.err)


def test_verbose_lines_go_to_stderr_and_not_into_the_model(folder):
    done = ok(*FIT, "--learner", "seraph", "--set", "verbose=1", "-o", "m.skops")
    assert "objective" in done.err
    assert "[SERAPH]" not in done.out
    assert load("m.skops")[-1].verbose == 0


# The check


@pytest.mark.slow
def test_a_better_distance_is_called_better_and_a_worse_one_worse(tmp_path, rng):
    # One feature of sixty tells the class: the Euclidean distance drowns in the others.
    y = np.tile([0, 1], 60)
    X = rng.normal(size=(120, 60))
    X[:, 0] += 4 * y
    np.savez(tmp_path / "noisy.npz", X=X, y=y)
    out = ok("fit", tmp_path / "noisy.npz").out
    assert re.search(r"The learned distance is better than the Euclidean one \(sign test, p", out)
    # Of two crossed classes any metric of rank one loses half.
    X = rng.normal(size=(120, 2))
    y = (X[:, 0] > 0) ^ (X[:, 1] > 0)
    np.savez(tmp_path / "crossed.npz", X=X, y=y.astype(int))
    out = ok("fit", tmp_path / "crossed.npz", "--set", "n_components=1").out
    assert "The Euclidean distance of the scaled features is better (sign test" in out
    assert "if nothing helps, stay with the Euclidean distance" in out


def test_labels_of_one_row_each_cannot_be_checked(tmp_path, rng):
    np.savez(tmp_path / "t.npz", X=rng.normal(size=(20, 3)), y=[0, 1] + [-1] * 18)
    out = ok("fit", tmp_path / "t.npz").out
    assert "Too few labels to check" in out


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


def test_a_model_of_named_columns_refuses_an_array(folder):
    np.save("x.npy", pd.read_csv("data.csv")[FEATURES].to_numpy())
    err = refusal("transform", "model.skops", "x.npy")
    assert "x.npy is an array, and the model in model.skops was fitted on columns" in err


def test_a_model_without_names_takes_any_table_of_its_width(folder):
    frame = pd.read_csv("data.csv")
    np.savez("x.npz", X=frame[FEATURES], y=frame["class"].fillna("-1").to_numpy(dtype=str))
    ok("fit", "x.npz", "-o", "m.skops", "--no-check")
    frame[[*FEATURES, "name"]].to_csv("plain.csv", index=False)
    named = ok("transform", "m.skops", "plain.csv", "--id", "name").out
    without = [line.split(",", 1)[1] for line in named.splitlines()]
    assert without == ok("transform", "m.skops", "x.npz").out.splitlines()
    refusal("transform", "m.skops", "pairs.csv")


# neighbors


def test_neighbors_are_the_nearest_in_the_new_space(folder):
    out = ok(
        "neighbors", "model.skops", "data.csv", "--row", "17", "-k", "4", "--id", "name",
        "--label", "class",
    ).out  # fmt: skip
    frame = pd.read_csv("data.csv", keep_default_na=False)
    model = load("model.skops")
    Z = model.transform(frame[FEATURES])
    distances, rows = NearestNeighbors(n_neighbors=5).fit(Z).kneighbors(Z[[17]])
    lines = re.findall(r"^│ (\d+) +│ (\S+) +│ (\S+) +│ +(\S+) │", out, re.MULTILINE)
    assert len(lines) == 4
    for line, distance, row in zip(lines, distances[0, 1:], rows[0, 1:], strict=True):
        assert line[0] == str(row)
        assert line[1] == frame["name"][row]
        assert line[2] == (frame["class"][row] or "-")
        assert float(line[3]) == pytest.approx(distance, rel=1e-3)


# query


def test_queries_go_to_an_expert_and_come_back(folder):
    frame = wine_frame()
    ok("query", "model.skops", "data.csv", "-n", "6", "--label", "class", "--id", "name",
       "-o", "queries.csv")  # fmt: skip
    with Path("queries.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["i", "j", "similar", "p", "id_i", "id_j"]
    assert len(rows) == 6
    for row in rows:
        i, j = int(row["i"]), int(row["j"])
        assert row["similar"] == ""
        assert row["id_i"] == frame["name"][i]
        assert not (frame["class"][i] and frame["class"][j])
        row["similar"] = "yes" if frame["truth"][i] == frame["truth"][j] else "no"
    rows[-1]["similar"] = ""  # the expert is not sure
    with Path("queries.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    ok(*FIT, "--pairs", "queries.csv", "-o", "m.skops", "--no-check")
    before, after = (load(f)[-1].named_learners_.seraph for f in ("model.skops", "m.skops"))
    known = [learner.n_similar_ + learner.n_dissimilar_ for learner in (before, after)]
    assert known[1] == known[0] + 5
    ok("query", "model.skops", "data.csv", "-n", "6", "--label", "class", "--id", "name",
       "--pairs", "queries.csv", "-o", "more.csv")  # fmt: skip
    asked = {(row["i"], row["j"]) for row in rows}
    again = {(row["i"], row["j"]) for row in csv.DictReader(Path("more.csv").read_text().split())}
    assert asked & again == {(rows[-1]["i"], rows[-1]["j"])}


def test_queries_are_shown_where_no_file_is_named(folder):
    out = ok("query", "model.skops", "data.csv", "-n", "3").out
    assert len(re.findall(r"^│ +\d+ │ +\d+ │ +0\.\d+ │", out, re.MULTILINE)) == 3


# inspect


def test_inspect_says_what_is_in_the_file(folder):
    out = ok("inspect", "model.skops").out
    for text in (
        "TablePreparer(drop=[", "('seraph', SERAPH())", "33 % seraph", "60 rows", "3: barbera (4)",
        "18 similar", "of 5",
        f"seraph {package.__version__}", f"numpy {np.__version__}", "alcohol, ash, hue",
    ):  # fmt: skip
        assert text in out
    assert (
        ok(*FIT, "--no-check")
        .out.split("What matters")[1]
        .startswith(out.split("What matters")[1].rstrip())
    )


# Models from elsewhere


@pytest.fixture
def from_python(folder):
    frame = pd.read_csv("data.csv", keep_default_na=False)
    y = [label or None for label in frame["class"]]
    X = frame[FEATURES] / frame[FEATURES].std()
    save(SERAPH().fit(X.to_numpy(), y), "bare.skops")
    save(Euclidean().fit(X), "euclidean.skops")
    save(MetricClassifier(SERAPH()).fit(X, y), "classifier.skops")
    save(SERAPH(), "unfitted.skops")
    X.to_csv("plain.csv", index=False)


@pytest.mark.usefixtures("from_python")
def test_models_that_python_saved_can_be_used():
    for name in ("bare.skops", "euclidean.skops"):
        assert ok("transform", name, "plain.csv").out.count("\n") == 61
        assert "distance" in ok("neighbors", name, "plain.csv", "--row", "0").out
        assert "What matters" in ok("inspect", name).out
    assert "p(similar)" in ok("neighbors", "bare.skops", "plain.csv", "--row", "0").out
    assert "p(similar)" not in ok("neighbors", "euclidean.skops", "plain.csv", "--row", "0").out


def test_the_shares_of_a_model_from_python_are_those_of_its_metric(tmp_path, wine):
    model = make_pipeline(StandardScaler(), SERAPH()).fit(*wine[:2])
    out = ok("inspect", save(model, tmp_path / "model.skops")).out
    diagonal = np.diag(model[-1].get_mahalanobis_matrix())
    shares = 100 * diagonal / diagonal.sum()
    for k in np.argsort(-shares)[:5]:
        assert re.search(rf"x{k}\W+{shares[k]:.1f} %", out)


@pytest.mark.usefixtures("from_python")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["transform", "classifier.skops", "plain.csv"],
            "MetricClassifier.*no learned distance",
        ),
        (["inspect", "unfitted.skops"], "not fitted"),
        (["query", "euclidean.skops", "plain.csv"], "a Euclidean, which cannot say how sure"),
    ],
)
def test_models_that_lack_something_are_refused(arguments, message):
    assert re.search(message, refusal(*arguments))


# The page


@pytest.mark.parametrize(("learner", "n_pictures"), [("meanmetric", 3), ("seraph", 4)])
def test_the_page_stands_alone_and_shows_its_pictures(learner, n_pictures, folder):
    out = ok(*FIT, "--learner", learner, "--report", "report.html").out
    assert "Page: report.html" in out
    page = Path("report.html").read_text()
    assert page.count("<img") == n_pictures
    assert re.findall(r"(?:src|href)=['\"](?!data:)[^'\"]*", page) == []
    assert "url(" not in page
    assert "barbera (4)" in page
    assert "12 labels are too few to tell" in page
    assert "invert(" not in page  # it would turn what captions call dark into light
    headings = re.findall(r"<h2>(.*?)</h2>", page)
    assert headings[:3] == ["Does it help?", "What it learned from", "Labels"]


def test_the_page_begins_with_the_verdict_and_its_doubts(folder):
    frame = pd.read_csv("data.csv")
    frame["Sample Number"] = np.arange(len(frame)) // 2
    frame.to_csv("data.csv", index=False)
    done = ok(*FIT, "--set", "seraph__max_iter=1", "-o", "m.skops", "--report", "fitted.html")
    page = Path("fitted.html").read_text()
    said = re.findall(r'<p class="verdict">(.*?)</p>', page, re.DOTALL)
    assert html.unescape(said[0]) in done.out.replace("\n", " ")
    assert "data.csv: column &#39;Sample Number&#39; (named like ids) is used" in said[1]
    assert said[2].startswith("SERAPH stopped before it converged, after 1 iter")
    assert "--set seraph__max_iter=1000" in said[2]
    assert page.index(said[2]) < page.index("<table")


@pytest.mark.slow
def test_the_page_of_pairs_alone_is_made_too(folder):
    ok("fit", "new.csv", "--pairs", "pairs.csv", "--id", "name", "--drop", "remarks",
       "--report", "report.html")  # fmt: skip
    assert Path("report.html").read_text().count("<img") == 3


def test_names_from_the_table_are_neither_html_nor_markup_nor_commands(folder):
    evil = "<script>alert(1)</script>[bold red]x[/nonsense] \x1b[2J"
    frame = pd.read_csv("data.csv").rename(columns={"alcohol": evil})
    frame["class"] = frame["class"].replace("barolo", "<b>[red]barolo\x1b[31m")
    frame.to_csv("data.csv", index=False)
    done = ok(*FIT, "--report", "report.html", "--no-check")
    assert "[bold red]x[/nonsense]" in done.out
    assert "\x1b" not in done.out
    page = Path("report.html").read_text()
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    assert "<b>[red]" not in page


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
        ([*FIT, "--set", "n_components=9"], "n_components=9 is too large"),
        ([*FIT, "--set", "n_components=0"], "n_components must be"),
        ([*FIT, "--set", "seraph__n_jobs=0"], "n_jobs must be"),
        ([*FIT, "-o", "m.pkl"], "m.pkl: the name must end in .skops"),
        ([*FIT, "-o", "absent/m.skops"], "there is no folder absent"),
        ([*FIT, "-o", "x" * 300 + ".skops"], "xxx.skops: File name too long"),
        ([*FIT, "--report", "r.pdf"], "must end in .html or .htm"),
        ([*FIT, "--set", "seraph__unlabeled_pairs=some"], "unlabeled_pairs must be"),
        ([*FIT, "--lable", "class"], r"No such option.*--lable.*\(Options: seraph fit --help\)"),
        (["fit"], "Missing argument '(data|DATA)"),
        (["fitt"], "No such command 'fitt'"),
        (["transform", "data.csv", "data.csv"], "data.csv cannot be read: it is not a model"),
        (["transform", ".", "data.csv"], "is a folder"),
        (["transform", "model.skops", "pairs.csv"], "lacks 5 of the 5 columns.*'alcohol'"),
        (["transform", "model.skops", "data.csv", "-o", "data.csv"], "would be replaced"),
        (["transform", "model.skops", "data.csv", "-o", "z.npz"], "must end in"),
        (["transform", "model.skops", "data.csv", "-o", "z.npy", "--id", "name"], "only numbers"),
        (["transform", "model.skops", "data.csv", "--id", "nam"], "Did you mean 'name'"),
        (["neighbors", "model.skops", "data.csv", "--row", "60"], "only has rows 0 to 59"),
        (["neighbors", "model.skops", "data.csv"], "Missing option '--row'"),
        (["query", "model.skops", "data.csv", "-o", "pairs.npy"], "must end in"),
        (["inspect", "absent.skops"], "absent.skops: No such"),
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
        (dict.fromkeys(FEATURES, 1.0), "the same value in all rows"),
    ],
)
def test_a_table_that_teaches_nothing_is_refused(columns, message, folder):
    pd.read_csv("data.csv").assign(**columns).to_csv("data.csv", index=False)
    assert re.search(message, refusal(*FIT, "-o", "m.skops"))
    assert not Path("m.skops").exists()


def test_a_contradiction_between_labels_and_pairs_is_named(folder):
    frame = pd.read_csv("data.csv", keep_default_na=False)
    i, j = np.flatnonzero(frame["class"] == "barolo")[:2]
    Path("wrong.csv").write_text(f"i,j,similar\n{i},{j},no\n")
    assert f"({i}, {j}) is marked dissimilar" in refusal(*FIT, "--pairs", "wrong.csv")
