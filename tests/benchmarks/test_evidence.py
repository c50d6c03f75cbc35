"""The evidence: its measures, its closed forms, and a run that goes on after it was stopped."""

import json
import os
import sys
import zipfile

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from benchmarks.evidence import (
    _classes,
    _classifiers,
    _data,
    _embed,
    _rivals,
    _run,
    _tabpfn,
)
from benchmarks.evidence._fetch import PACKAGES, Unavailable, cache, fetch
from benchmarks.evidence._packages import Package, fetch_package, hash_folder
from benchmarks.evidence._report import fill
from benchmarks.evidence._results import Results, critical_difference, holm
from benchmarks.evidence._tasks import judge, map_at_r, pair_auc, sample, squared_distances


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("SERAPH_EVIDENCE_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def points():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 60)
    return rng.normal(size=(60, 4)) + y[:, np.newaxis], y


def plain_map_at_r(distances, y):
    """MAP@R, query by query."""
    found = []
    for q in range(len(y)):
        others = [k for k in np.argsort(distances[q], kind="stable") if k != q]
        R = sum(y[k] == y[q] for k in others)
        if R:
            hits = [y[k] == y[q] for k in others[:R]]
            found.append(sum(hit * np.mean(hits[: k + 1]) for k, hit in enumerate(hits)) / R)
    return np.mean(found)


def test_measures_agree_with_their_plain_forms(points):
    X, y = points
    y = np.append(y[:-1], 99)  # a class of one row has no neighbor to find
    D = squared_distances(X, X)
    alike = y[:, np.newaxis] == y
    i, j = np.triu_indices(len(y), 1)
    assert D[3, 5] == pytest.approx(((X[3] - X[5]) ** 2).sum())
    assert pair_auc(D, alike) == pytest.approx(roc_auc_score(alike[i, j], -D[i, j]))
    assert map_at_r(D, alike) == pytest.approx(plain_map_at_r(D, y))
    nearest = [np.argmin([np.inf if k == q else D[q, k] for k in range(60)]) for q in range(60)]
    assert judge(D, y)["error"] == pytest.approx(100 * np.mean(y[nearest] != y))


def test_auc_counts_ties_by_half():
    D = np.ones((4, 4))
    y = np.array([0, 0, 1, 1])
    assert pair_auc(D, y[:, np.newaxis] == y) == 0.5


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


def test_a_set_that_is_too_small_for_a_setting_gives_no_task(points):
    assert sample(*points, "table", "labels-50", 0) is None  # as many labels as rows
    assert sample(*points, "table", "pairs-1000", 0) is None


def test_gmml_solves_its_riccati_equation():
    rng = np.random.default_rng(0)
    S, D = (np.cov(rng.normal(size=(4, 50))) for _ in range(2))
    A = _rivals.gmml_matrix(S, D)
    assert np.allclose(A @ S @ A, D)
    assert np.allclose(_rivals.gmml_matrix(S, D, t=0), np.linalg.inv(S))
    assert np.allclose(_rivals.gmml_matrix(S, D, t=1), D)


def test_rca_whitens_the_shrunk_scatter_within_chunklets(points):
    task = sample(*points, "table", "pairs-40", 0)
    map_ = _rivals.rca(task)(np.eye(4))
    rows = _rivals.chunklets(task)
    assert all(len(np.unique(task.classes[r])) == 1 for r in rows)
    centered = np.vstack([task.X[r] - task.X[r].mean(axis=0) for r in rows])
    C = _rivals.half_shrunk(np.cov(centered.T, bias=True))
    assert np.allclose(map_ @ C @ map_.T, np.eye(4))


def test_the_free_matrix_brings_similar_pairs_together():
    rng = np.random.default_rng(1)
    y = np.arange(60) % 2
    X = rng.normal(size=(60, 6))
    X[:, 0] += 2 * y
    task = sample(X / np.linalg.norm(X, axis=1, keepdims=True), y, "embedding", "pairs-40", 0)
    before, after = (
        _rivals.measure(fit, task)["auc"]
        for fit in (_rivals.RIVALS["euclidean"].fit, _rivals.RIVALS["matrix"].fit)
    )
    assert after > before + 5


@pytest.mark.parametrize("setting", ["labels-20", "pairs-40"])
def test_every_rival_runs(setting):
    for name, rival in _rivals.RIVALS.items():
        if rival.takes("table", setting) and name != "tabpfn":  # it fetches 103 MB
            (record,) = _run.work(_run.Unit("wine", setting, 0, (name,)))
            assert "failed" not in record, record
            assert 0 <= record["error"] < 40


def test_a_failure_counts_as_the_euclidean_distance():
    words = ("euclidean", "bad=SERAPH(lam='no')")
    base, bad = _run.work(_run.Unit("iris", "labels-20", 0, words))
    assert "lam" in bad["failed"]
    assert [bad[m] for m in ("error", "auc", "map")] == [base[m] for m in ("error", "auc", "map")]


def test_a_candidate_does_not_look_like_a_file():
    # Coverage reads every file that code names, and warns where there is none.
    _, rival = _rivals.from_expression("bad=1/0")
    with pytest.raises(ZeroDivisionError) as raised:
        rival.fit(None)
    assert str(raised.traceback[-1].path) == "<bad>"


def test_a_stopped_run_goes_on(tmp_path):
    path = tmp_path / "records.jsonl"
    words = ["euclidean", "pca"]

    def units(records):
        return _run.plan(["iris"], ["labels-10", "pairs-40"], 2, words, records.found)

    records = _run.Records(path)
    assert len(units(records)) == 4
    _run.run(units(records)[:3], 1, records.add)
    path.write_bytes(path.read_bytes()[:-20])  # killed while it wrote
    again = _run.Records(path)
    assert [(u.setting, u.seed, u.methods) for u in units(again)] == [
        ("labels-10", 1, ("pca",)),
        ("pairs-40", 1, ("euclidean", "pca")),
    ]
    _run.run(units(again), 1, again.add)
    last = _run.Records(path)
    assert units(last) == []
    assert len(last.found) == 8
    last.forget({"pca"})
    assert {json.loads(line)["method"] for line in path.read_text().splitlines()} == {"euclidean"}


def test_holm_and_the_critical_difference_agree_with_the_books():
    assert holm([0.01, 0.04, 0.03]) == [0.03, 0.06, 0.06]
    # Demšar (2006), section 3.2: 4 methods on 14 data sets, q = 2.569.
    assert critical_difference(4, 14) == pytest.approx(2.569 * np.sqrt(4 * 5 / (6 * 14)), abs=1e-3)


def test_ranks_and_tests_follow_the_records():
    rng = np.random.default_rng(0)
    records = []
    for name in ("iris", "wine"):
        for seed in range(10):
            base = rng.uniform(40, 60)
            for method, gain in (("euclidean", 0), ("pca", -1), ("seraph", 2)):
                record = {"set": name, "setting": "labels-10", "seed": seed, "method": method}
                values = {"error": base - gain, "auc": base + gain, "map": base + gain}
                records.append(record | values | {"seconds": 0.1})
    results = Results(records, ["iris", "wine"], ["euclidean", "pca", "seraph"])
    for metric in ("error", "auc", "map"):
        methods, ranks = results.ranks("labels", metric)
        assert dict(zip(methods, ranks.mean(axis=0), strict=True)) == {
            "seraph": 1,
            "euclidean": 2,
            "pca": 3,
        }
        gain, p = results.tests("pca", metric)["iris", "labels-10"]
        assert gain == pytest.approx(-1)
        assert p == pytest.approx(2 * 2 / 2**10)  # Wilcoxon's smallest, times two sets


def test_no_set_is_both_for_choosing_and_for_judging():
    choosing, judging = ([one.name for one in s] for s in (_data.CHOOSING, _data.JUDGING))
    assert not set(choosing) & set(judging)
    assert sum(one.kind == "table" for one in _data.JUDGING) >= 12
    assert sum(one.kind == "embedding" for one in _data.JUDGING) >= 3
    assert len(_data.SETS) >= 24


def test_a_table_gives_every_feature_a_variance_of_one():
    columns = [
        ([1.0, 2.0, np.nan, 9.0], False),
        (["a", "b", None, "a"], True),
        (["x", "x", "y", "y"], True),
        ([3.0, 3.0, 3.0, 3.0], False),
    ]
    X = _data.scaled(columns)
    assert X.shape == (4, 1 + 3 + 1)
    assert X.var(axis=0)[[0, 4]] == pytest.approx([1, 1])
    assert X[:, 1:4].var(axis=0).sum() == pytest.approx(1)


def test_a_missing_client_is_told_in_one_line(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert PACKAGES["face-api"].client == "npm"
    with pytest.raises(Unavailable, match="npm is missing"):
        fetch("face-api")
    assert list((tmp_path / "cache" / "packages").iterdir()) == []


def test_a_file_with_another_checksum_is_refused_and_leaves_nothing(tmp_path, monkeypatch):
    programs = tmp_path / "programs"
    programs.mkdir()
    npm = programs / "npm"  # stands in for the registry
    npm.write_text("#!/bin/sh\necho other > face-api.tgz\n")
    npm.chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    with pytest.raises(Unavailable, match=r"face-api.tgz has SHA-256 .*; expected 0d77fffe"):
        fetch("face-api")
    assert list((tmp_path / "cache" / "packages").iterdir()) == []


def archive_of(folder, machine):
    """Pack a wheel that has the same data on every machine, beside code of its own."""
    folder.mkdir()
    path = folder / f"two-1.0-{machine}.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("two/data/a.csv", "1,2\n")
        archive.writestr("two/data/more/b.csv", "3\n")
        archive.writestr("two/code.so", machine)
    return path


def test_data_of_another_machine_s_archive_are_the_same(tmp_path, monkeypatch):
    programs = tmp_path / "programs"
    programs.mkdir()
    npm = programs / "npm"  # stands in for the registry
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    hashes = set()
    for machine in ("amd64", "arm64"):
        source = archive_of(tmp_path / machine, machine)
        npm.write_text(f"#!/bin/sh\ncp '{source}' .\n")
        npm.chmod(0o755)
        unpacked = tmp_path / f"{machine}-unpacked"
        with zipfile.ZipFile(source) as archive:
            archive.extractall(unpacked)
        hashes.add(hash_folder(unpacked / "two/data"))
        package = Package("npm", "two", next(iter(hashes)), data="two/data")
        place = fetch_package("two", package, tmp_path / f"{machine}-cache")
        assert (place / "two/code.so").read_text() == machine
    assert len(hashes) == 1
    other = Package("npm", "two", "0" * 64, data="two/data")
    with pytest.raises(Unavailable, match=r"two/data in two-1.0-arm64.whl has SHA-256"):
        fetch_package("two", other, tmp_path / "refused")
    assert list((tmp_path / "refused").iterdir()) == []


def test_names_and_places_of_files_are_part_of_a_folder_s_hash(tmp_path):
    hashes = set()
    for k, (name, text) in enumerate([("a", "1"), ("b", "1"), ("a", "2"), ("c/a", "1")]):
        path = tmp_path / str(k) / name
        path.parent.mkdir(parents=True)
        path.write_text(text)
        hashes.add(hash_folder(tmp_path / str(k)))
    assert len(hashes) == 4


def test_a_missing_reader_names_the_group_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "tokenizers", None)  # as if it were not installed
    with pytest.raises(Unavailable, match=r"tokenizers is missing: .* --group evidence"):
        _embed.wordllama(["a text"])


def test_a_set_beyond_what_a_method_takes_is_left_out():
    (record,) = _run.work(_run.Unit("mnist-3-5-8", "labels-20", 0, ("tabpfn",)))
    assert record["skipped"]
    wide = _tabpfn.TabPFN(0)
    with pytest.raises(_tabpfn.TooLarge, match=r"takes 100 features.*; got 2, 11 and 22"):
        wide.fit(np.zeros((22, 2)), np.arange(22) % 11)


def test_what_was_fetched_is_kept_in_the_folder_for_caches(tmp_path, monkeypatch):
    monkeypatch.delenv("SERAPH_EVIDENCE_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache() == tmp_path / "seraph"


@pytest.mark.parametrize("bad", [0.0, np.nan, np.inf])
def test_a_vector_without_a_direction_is_refused(bad):
    X = np.ones((4, 3))
    assert np.linalg.norm(_data.unit(X), axis=1) == pytest.approx(1)
    X[2] = bad
    with pytest.raises(ValueError, match="Row 2 of the vectors is zero or not finite"):
        _data.unit(X)


def test_the_page_is_filled_between_its_markers():
    page = "before\n<!-- evidence: wins -->\nold\n<!-- end -->\nafter\n"
    filled = fill(page, {"wins": "new"})
    assert filled == "before\n<!-- evidence: wins -->\n\nnew\n\n<!-- end -->\nafter\n"
    assert fill(filled, {"wins": "new"}) == filled


def test_probabilities_are_judged_by_the_formulas():
    chances = np.array([[0.8, 0.2], [0.4, 0.6], [0.55, 0.45]])
    y, classes = np.array([0, 0, 5]), np.array([0, 1])
    wrong = classes[chances.argmax(axis=1)] != y
    found = _classifiers.judge_probabilities(chances, classes, y, wrong)
    squares = [0.2**2 + 0.2**2, 0.6**2 + 0.6**2, 0.55**2 + 0.45**2 + 1.0]  # 5 has no label
    assert found["brier"] == pytest.approx(100 * np.mean(squares))
    assert found["least_sure"] == 100.0
    count, best, right = np.array(found["curve"])
    assert (count[8], count[6], count[5]) == (1, 1, 1)
    assert (best[8], right[8], right[6]) == (0.8, 1, 0)


def class_records(methods=_classes.METHODS):
    records = []
    for seed in range(3):
        for method in methods:
            error = {"seraph-classes": 30.0 + seed, "logistic-10": 20.0}.get(method, 25.0)
            records.append(
                {"set": "zoo", "setting": "labels-10", "seed": seed, "method": method}
                | {"error": error, "auc": 70.0, "map": 50.0, "brier": 40.0, "least_sure": 60.0}
                | {"curve": [[0] * 9 + [10], [0] * 9 + [9], [0] * 9 + [8]]}
            )
    return records


def test_the_section_on_classes_lists_what_is_behind_the_best_logistic_regression():
    results = _classes.ClassResults(class_records())
    keys, gaps, worse, probably = results.losses()
    assert keys == worse == probably == [("zoo", 10)]
    assert gaps == [pytest.approx(11.0)]
    assert results.mean("tables", 10, "seraph-classes", "error") == 31.0
    count, best, right = results.curve("logistic")
    assert (count[9], best[9], right[9]) == (30, 0.9, 0.8)
    assert results.gap("logistic") == pytest.approx(10.0)
    table = _classes.least_sure(results)  # 60 % wrong of the least sure, 31 % of all
    assert "| zoo | 1.9 (3.2) |" in table
    assert "is possible in 1 of 1 cases, and reached in 0." in table


def test_a_rival_that_does_not_take_every_set_is_compared_on_those_that_it_takes():
    records = class_records()
    records += [
        record | {"set": "letters"}
        for record in class_records([m for m in _classes.METHODS if m != "tabpfn"])
    ]
    results = _classes.ClassResults(records)
    assert np.isnan(results.mean("tables", 10, "tabpfn", "error"))
    assert results.limited("tabpfn") == [(10, 1, 3, 25.0, 31.0)]
    rows = _classes.summary(results).splitlines()
    assert not any("TabPFN" in row for row in rows)
    assert results.mean("tables", 10, "forest", "error") == 25.0
