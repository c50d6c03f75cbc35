"""The evidence: measures against their plain forms, lists, log, stamps and report."""

import re
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_1samp
from sklearn.metrics import roc_auc_score

from benchmarks import _stamp
from benchmarks.evidence import _data, _methods, _order, _readers, _report, _results, _run
from benchmarks.evidence._tasks import (
    NEW_CLASSES,
    UNTIDY,
    judge,
    map_at_r,
    pair_auc,
    sample,
    squared_distances,
)
from seraph import SERAPH, MeanMetric

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


@pytest.fixture
def points():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 60)
    return rng.normal(size=(60, 4)) + y[:, np.newaxis], y


# Measures and tasks


def plain_map_at_r(distances, y):
    """MAP@R, query by query."""
    values = []
    for q in range(len(y)):
        others = [k for k in np.argsort(distances[q], kind="stable") if k != q]
        R = sum(y[k] == y[q] for k in others)
        if R:
            hits = [y[k] == y[q] for k in others[:R]]
            values.append(sum(hit * np.mean(hits[: k + 1]) for k, hit in enumerate(hits)) / R)
    return np.mean(values)


def test_measures_agree_with_their_plain_forms(points):
    X, y = points
    y = np.append(y[:-1], 99)  # a class of one row has no neighbor to find
    D = squared_distances(X, X)
    alike = y[:, np.newaxis] == y
    i, j = np.triu_indices(len(y), 1)
    assert D[3, 5] == pytest.approx(((X[3] - X[5]) ** 2).sum())
    assert pair_auc(D, alike) == pytest.approx(roc_auc_score(alike[i, j], -D[i, j]))
    assert pair_auc(np.ones((60, 60)), alike) == 0.5  # ties count by half
    assert map_at_r(D, alike) == pytest.approx(plain_map_at_r(D, y))
    nearest = [np.argmin([np.inf if k == q else D[q, k] for k in range(60)]) for q in range(60)]
    assert judge(D, y)["error"] == pytest.approx(100 * np.mean(y[nearest] != y))


@pytest.mark.parametrize("setting", ["labels-10", "pairs-40"])
def test_a_task_keeps_the_judging_rows_apart_and_repeats(points, setting):
    X, y = points
    one, two = (sample(X, y, "table", setting, seed=3) for _ in range(2))
    assert np.array_equal(one.X, two.X)
    seen, judged = {tuple(row) for row in one.X}, {tuple(row) for row in one.X_test}
    assert not seen & judged
    assert len(seen) == len(judged) == 30
    if setting == "labels-10":
        assert np.array_equal(one.y[one.labeled], one.classes[one.labeled])
        assert len(one.labeled) == 10
        assert 1 < len(np.unique(one.y[one.labeled])) < 10
    else:
        assert np.sum(one.pair_labels == 1) == np.sum(one.pair_labels == -1) == 20
        same = one.classes[one.pairs[:, 0]] == one.classes[one.pairs[:, 1]]
        assert np.array_equal(same, one.pair_labels == 1)


def test_marks_may_be_wrong_rare_or_of_some_classes_only(points):
    X, y = points
    of = {s: sample(X, y, "table", s, seed=1) for s in ("pairs-40-wrong-50", "pairs-40-same-10")}
    wrong, rare = of.values()
    same = wrong.classes[wrong.pairs]
    assert 5 < np.sum((same[:, 0] == same[:, 1]) != (wrong.pair_labels == 1)) < 35
    assert np.sum(rare.pair_labels == 1) == 4
    task = sample(X, y, "table", "pairs-20-classes-2", seed=1)
    known = np.unique(task.classes[task.pairs])
    assert len(known) == 2
    assert np.array_equal(task.marked, np.isin(task.y_test, known))
    names = [record["method"] for record in _methods.measure(task, ["euclidean", "itml"])]
    assert names == ["euclidean", "euclidean/new", "itml", "itml/new"]
    noisy = sample(X, y, "table", "labels-20-wrong-50", seed=1)
    assert 0 < np.sum(noisy.y[noisy.labeled] != noisy.classes[noisy.labeled]) < 20


# Sets


def test_the_lists_are_disjoint_and_complete():
    choosing, judging = _data.GROUPS["choosing"], _data.GROUPS["judging"]
    assert not choosing.keys() & judging.keys()
    kinds = [row["kind"] for row in judging.values()]
    assert kinds.count("table") >= 20
    assert kinds.count("embedding") >= 5
    assert sum(int(row["rows"]) > 5000 for row in judging.values()) >= 5
    assert all(row["license"] and len(row["sha256"]) == 64 for row in judging.values())


def test_a_table_gets_a_variance_of_one_per_column_and_missing_cells_are_filled():
    columns = [[1.0, np.nan, 5.0, 3.0], ["a", "b", None, "a"], [2.0] * 4, ["x", "y", "x", "y"]]
    X = _data.scale(columns, rows=[0, 1, 2, 3])
    assert X.shape == (4, 1 + 3 + 1)  # the constant column goes, two values need one column
    np.testing.assert_allclose(X.mean(axis=0), 0, atol=1e-12)
    variances = X.var(axis=0)
    assert variances[0] == pytest.approx(1)
    assert variances[1:4].sum() == pytest.approx(1)
    assert X[1, 0] == pytest.approx(0)  # the median is the mean here


def test_a_frame_is_a_table_or_untidy_and_is_carried_in_a_folder(tmp_path, monkeypatch):
    path = tmp_path / "shop.csv"
    path.write_text(
        "id,price,day,kind\n"
        + "".join(f'{k},"${k}.50",2026-01-{k % 28 + 1:02},{"ab"[k % 2]}\n' for k in range(60))
        + "60,,,\n"
    )  # a row without a class
    columns, y = _readers.read_columns(path, target="kind", drop="id")
    assert (len(columns), len(columns[0]), y[:2]) == (2, 60, ["a", "b"])
    row = {"kind": "untidy", "package": "", "path": path, "reader": "frame", "license": ""}
    row |= {"options": "target=kind;drop=id", "sha256": ""}
    monkeypatch.setitem(_data.SETS, "shop", row)
    monkeypatch.setenv("SERAPH_EVIDENCE_SETS", str(tmp_path / "carried"))
    _data.load("shop")
    path.unlink()
    X, codes, kind = _data.load("shop")
    assert isinstance(X, pd.DataFrame)
    task = sample(X, codes, kind, "labels-10", seed=0)
    assert task.X.shape == task.X_test.shape == (30, 2)  # a price and a date are numbers


def test_the_order_of_list_choice_and_look_is_checked_from_git(tmp_path, monkeypatch):
    def commit(name, text):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
        _stamp.git("add", ".")
        _stamp.git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-m", name)
        return _stamp.git("rev-parse", "HEAD")

    assert _order.check_order()[1] == []  # of this repository
    monkeypatch.setattr(_stamp, "ROOT", tmp_path)
    _stamp.git("init")
    listed = commit(_order.LIST, "name,sha256\na,1\n")
    chosen = commit("src/seraph/a.py", "1")
    title = "date,tree,list,choice,log,command\n"
    commit(_order.LOOKS, f"{title}1,,,,,\n2,,{listed},{chosen},,\n")
    lines, wrong = _order.check_order()
    assert (len(lines), wrong) == (2, [])
    commit(_order.LOOKS, f"{title}2,,{chosen},{listed},,\n")
    assert f"{chosen} is not before {listed}" in _order.check_order()[1]
    late = commit(_order.LIST, "name,sha256\na,1\nb,2\n")
    later = commit("src/seraph/a.py", "2")
    commit(_order.LOOKS, f"{title}2,,{late},{chosen},,\n3,,{listed},{later},,\n")
    wrong = _order.check_order()[1]
    assert f"{late} is not before {chosen}" in wrong
    assert any(line.startswith("the list was changed") for line in wrong)


# Methods


@pytest.mark.parametrize("setting", ["labels-10", "pairs-40"])
def test_the_mean_of_fitted_learners_is_meanmetric(points, setting):
    task = sample(*points, "table", setting, seed=0)
    records = _methods.measure(task, ["euclidean", "lrml", "itml", "seraph", "mean"])
    learned = MeanMetric().fit(task.X, **task.supervision)
    scores = _methods.judge_metric(learned, task)
    figures = next(record for record in records if record["method"] == "mean")
    assert {key: figures[key] for key in scores} == pytest.approx(scores, abs=1e-3)
    assert not any(record["note"] for record in records)


def test_a_forest_of_pairs_and_posteriors_are_judged_as_similarities(points):
    task = sample(*points, "table", "labels-10", seed=0)
    names = ["euclidean", "lrml", "itml", "seraph", "mean", "rfd", "logistic", "svm", "classifier"]
    records = {record["method"]: record for record in _methods.measure(task, names)}
    assert all(records[name]["auc"] > 60 for name in ("rfd", "logistic", "classifier"))
    assert "auc" not in records["svm"]
    learned = ("lrml", "itml", "seraph", "mean")
    assert records["classifier"]["seconds"] >= records["mean"]["seconds"] > 0
    assert records["mean"]["seconds"] >= max(records[name]["seconds"] for name in learned[:3])


def test_chosen_methods_come_with_those_they_need_and_ones_own(points):
    spread, itml = "benchmarks.evidence._methods:Spread", "seraph.classic:ITML"
    chosen = _methods.choose_methods(["mean", spread, itml])
    assert list(chosen) == ["euclidean", "seraph", "lrml", "itml", "mean", spread, itml]
    assert _methods.wanted("pairs-100", 0, "table", chosen)[-2:] == ["mean", itml]
    task = sample(*points, "table", "labels-10", seed=0)
    records = {one["method"]: one for one in _methods.measure(task, chosen, chosen)}
    assert records[itml]["auc"] == records["itml"]["auc"] != records[spread]["auc"]
    with pytest.raises(SystemExit, match=r"no method 'itlm'.*module:Class"):
        _methods.choose_methods(["itlm"])


@pytest.mark.slow  # torch's optimizers take seconds to import
@pytest.mark.parametrize("setting", ["labels-10", "pairs-40"])
def test_a_fine_tuned_layer_is_judged_as_a_metric(points, setting):
    task = sample(*points, "table", setting, seed=0)
    _, layer = _methods.measure(task, ["euclidean", "layer"])
    assert layer["auc"] > 60
    assert not layer["note"]


def test_a_method_that_fails_counts_as_not_learning(points):
    class Failing:
        def fit(self, X, y):
            raise ValueError("no")

    methods = _methods.METHODS | {"failing": _methods.Method("failing", Failing)}
    task = sample(*points, "table", "labels-10", seed=0)
    plain, failed = _methods.measure(task, ["euclidean", "failing"], methods)
    assert failed["note"] == "ValueError: no"
    assert [failed[key] for key in ("error", "auc", "map")] == [
        plain[key] for key in ("error", "auc", "map")
    ]


# The log


def test_a_run_goes_on_where_it_ended_but_not_with_another_tree(tmp_path, monkeypatch):
    monkeypatch.setenv("SERAPH_EVIDENCE_CACHE", str(tmp_path))
    log = tmp_path / "log.csv"
    arguments = ["iris"], 1, 1, log, ["labels-20", "labels-100"], ["euclidean", "itml"]
    _run.run(*arguments)
    first = log.read_text()
    assert first.count("iris,labels-20,0,") == 2
    assert first.count("too small") == 1  # 75 rows are seen
    _run.run(*arguments)
    assert log.read_text() == first
    log.write_text(first.replace("tree ", "tree 0"))
    with pytest.raises(SystemExit, match=r"was made by seraph .*, tree 0"):
        _run.run(*arguments)


# The report


TABLES = ("wine", "glass", "iris", "heart", "sonar")


def write_log(path, samplings=6):
    """A log in which MeanMetric gains 2 points of everything, and ITML, the best rival, 1."""
    gains = dict.fromkeys(_methods.METHODS, 0.0) | {"itml": 1.0, "mean": 2.0, "classifier": 2.0}
    rng = np.random.default_rng(0)
    lines = ["# seraph 0, tree 1, defaults 2, day 3", ",".join(_run.FIELDS)]
    for name in (*TABLES, "faces", "newsgroups-minilm", "shop-orders", "aircraft"):
        untidy = _data.SETS[name]["kind"] == "untidy"
        for setting in UNTIDY if untidy else ("labels-20", "pairs-100", NEW_CLASSES):
            for seed in range(samplings):
                base = 60 + rng.normal(scale=5)
                ends = ("", "/new") if setting == NEW_CLASSES else ("",)
                names = _methods.wanted(setting, seed, "table")
                for method in (name + end for name in names for end in ends):
                    value = base + gains[method.removesuffix("/new")] + rng.normal(scale=0.1)
                    cells = (name, setting, seed, method, 100 - value, value, value, 0.1, "")
                    lines.append(",".join(map(str, cells)))
    path.write_text("\n".join(lines) + "\n")


def test_the_report_finds_gains_rivals_and_losses(tmp_path):
    write_log(tmp_path / "log.csv")
    results = _results.Results(_run.read_log(tmp_path / "log.csv")[1])
    assert results.best_rival("labels-20", "tables", "error") == "itml"
    key = ("pairs-100", "tables", "map", "mean", "itml")
    assert {*results.gains(*key[:2], *key[3:], "map")} == {*TABLES}
    figures = results.compare(*key)
    assert figures["mean"] == pytest.approx(1, abs=0.2)
    assert figures["ends"][0] < figures["mean"] < figures["ends"][1]
    assert (figures["worse"], figures["surely worse"], figures["sets"]) == (0, 0, 5)
    assert results.sure(*key) == 1
    assert results.compare("labels-20", "tables", "auc", "itml", "mean")["surely worse"] == 5
    keys = [(*case, "mean", "itml") for case in results.cases]  # two faces and newsgroups: unsure
    assert _report.count_sure(results, keys)[1] == "0 (0)"


def nulls(sets, n=1000):
    """Means of sets without a difference, of unequal spread."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, sets)) * rng.lognormal(sigma=1.0, size=(n, sets))


@pytest.mark.parametrize("sets", [7, 25])
def test_at_most_5_percent_of_nulls_are_sure_but_more_with_percentiles(sets):
    means = nulls(sets)
    assert np.mean([_results.t_p_value(one) < 0.05 for one in means]) <= 0.05
    if sets == 7:
        draws = np.random.default_rng(1).integers(sets, size=(500, sets))
        low, high = np.quantile(means[:, draws].mean(axis=-1), [0.025, 0.975], axis=1)
        assert np.mean((low > 0) | (high < 0)) > 0.06


@pytest.mark.slow
def test_flips_and_families_of_18_cases_are_wrong_in_at_most_5_percent():
    signs = np.array([*product((-1, 1), repeat=7)])
    flipped = np.concatenate([signs * one for one in nulls(7, n=8)])  # 1,024 nulls
    assert np.mean([_results.flip_p_value(one) < 0.05 for one in flipped]) <= 0.05
    common = nulls(7)
    families = 0.7 * common + 0.3 * np.random.default_rng(1).normal(size=(18, *common.shape))
    p_values = ttest_1samp(families, 0, axis=2).pvalue
    assert _results.t_p_value(families[3, 4]) == pytest.approx(p_values[3, 4])
    smallest = [min(_results.holm(dict(enumerate(p))).values()) for p in p_values.T]
    assert np.mean(np.array(smallest) < 0.05) <= 0.05


@pytest.mark.slow
def test_every_table_and_the_page_are_rebuilt_with_the_stamp_of_the_log(tmp_path):
    write_log(tmp_path / "log.csv")
    page, readme = tmp_path / "docs" / "evidence.md", tmp_path / "README.md"
    page.parent.mkdir()
    page.write_text(
        "<!-- evidence: headline -->\n<!-- end -->\n<!-- evidence: new -->\n<!-- end -->\n"
        "Before\n<!-- evidence: summary -->\nold\n<!-- end -->\nafter\n"
    )
    readme.write_text("<!-- evidence: readme -->\n<!-- end -->\n")
    _report.write_report(tmp_path / "log.csv", tmp_path / "docs")
    text = page.read_text()
    assert re.search(r"Before\n.*\n\n\|.*tree 1.*\nafter\n$", text, flags=re.S)
    assert "old" not in text
    assert re.search(r"pair AUC \+\d.\d( to \+\d.\d)? on tables \(worse in 0 of 10 cases\)", text)
    assert "on untidy tables (worse in 0 of 2 cases)" in text
    assert "**+2.0**" in text
    assert "| MeanMetric, tables | +2.0 [" in text
    assert "| 60 labels, untidy tables |" in text
    assert "tree 1" in readme.read_text()
    whole = (tmp_path / "docs" / "results" / "evidence.md").read_text()
    assert whole.count("tree 1") >= 6
    for measure in _results.MEASURES:
        assert (tmp_path / f"docs/images/evidence-{measure}.png").stat().st_size > 10_000
    assert "| itml | +1.0 [" in _report.curves(tmp_path / "log.csv")


PAGES = [*DOCS.glob("*.md"), *DOCS.glob("results/*.md")]
PAGES += [ROOT / "README.md", ROOT / "paper/paper.md"]
STAMP = re.compile(r"tree [\w.-]+(?:, defaults (\w+))?, \d{4}-\d\d-\d\d")
FIGURES = re.compile(r"^\|.*\| *\**[<>+-]?\d+\.\d", flags=re.M)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_table_of_figures_says_which_tree_made_it(page):
    for section in re.split(r"^#+ ", page.read_text(), flags=re.M):
        if FIGURES.search(section) or (page.name == "paper.md" and "](results/" in section):
            assert STAMP.search(section), f"no stamp: {section[:300]}"


def test_no_stamp_on_a_page_is_older_than_a_default():
    now = _stamp.hash_defaults()
    for page in PAGES:
        for defaults in STAMP.findall(page.read_text()):
            valid = defaults in ("", now, *_stamp.SAME.get(now, ()))
            assert valid, f"{page.name}: run its figures again"


def test_a_stamp_changes_with_a_default(monkeypatch):
    before = _stamp.hash_defaults()
    monkeypatch.setattr(_stamp, "DEFAULTS", (partial(SERAPH, lam=1.0), *_stamp.DEFAULTS[1:]))
    assert _stamp.hash_defaults() != before
