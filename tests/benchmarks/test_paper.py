"""The reproduction: protocol, statistics, resuming a run, and what it writes."""

import json
import re

import numpy as np
import pytest

from benchmarks.paper import PARTS, Plan, Record, claims, reproduce, run, table2
from benchmarks.paper._figures import fit_sparsity
from benchmarks.paper._methods import COUNTERPART, METHODS
from benchmarks.paper._protocol import SCALINGS, sample_task, scaled
from benchmarks.paper._reproduce import pair_counts
from benchmarks.paper._tables import (
    comparable,
    published,
    significant,
)
from seraph.datasets import TASKS, load_task

SMALL = Plan(tasks=("iris", "mnist-1-7"), methods=("euclidean", "itml", "hyper"), samplings=2)


def keys(records):
    return {(r.task, r.method, r.sampling, r.error, r.rank) for r in records}


# The protocol


@pytest.mark.parametrize("name", TASKS)
def test_samplings_have_the_sizes_of_table_1(name):
    task = load_task(name)
    sampling = sample_task(task, seed=0, number=3)
    assert sampling.X.shape == (task.n_train, task.n_features)
    assert sampling.X_test.shape == (task.n_test, task.n_features)
    assert sampling.labeled.sum() == task.n_labels
    assert np.sum(sampling.y_partial >= 0) == task.n_labels
    n_labeled_pairs = task.n_labels * (task.n_labels - 1) // 2
    assert task.n_train * (task.n_train - 1) // 2 - n_labeled_pairs == task.n_unlabeled
    both = np.concatenate([sampling.X, sampling.X_test])
    assert len(both) <= len(task.X)


@pytest.mark.parametrize("name", [t for t in TASKS if t.startswith(("usps", "mnist"))])
def test_digit_samplings_are_balanced_and_their_pair_counts_are_exactly_table_1s(name):
    task = load_task(name)
    for number in range(3):
        sampling = sample_task(task, seed=1, number=number)
        for classes in (sampling.y, sampling.y[sampling.labeled], sampling.y_test):
            assert len(set(np.bincount(classes))) == 1
    similar, dissimilar = pair_counts(Plan(tasks=(name,), samplings=2))[name]
    assert (similar, dissimilar) == (task.n_similar, task.n_dissimilar)


def test_training_and_test_points_are_different_rows():
    task = load_task("usps-1-5-20")  # all of its images are different
    sampling = sample_task(task, seed=0, number=0)
    seen = {row.tobytes() for row in sampling.X}
    assert len(seen) == task.n_train
    assert not any(row.tobytes() in seen for row in sampling.X_test)


def test_a_sampling_depends_on_its_seed_number_and_task_alone():
    task = load_task("wine")
    first, again = sample_task(task, 5, 7), sample_task(task, 5, 7)
    np.testing.assert_array_equal(first.X, again.X)
    for other in (sample_task(task, 5, 8), sample_task(task, 6, 7)):
        assert not np.array_equal(first.X, other.X)


def test_every_sampling_has_similar_and_dissimilar_pairs():
    task = load_task("diabetes")
    for number in range(100):
        sampling = sample_task(task, 0, number)
        sizes = np.bincount(sampling.y[sampling.labeled])
        assert 1 < sizes.max() < task.n_labels


def test_scalings_do_what_they_say(rng):
    X = rng.normal(size=(200, 5)) * [1, 10, 100, 1, 0] + 3
    assert set(SCALINGS) == {"zscore", "unit", "symmetric", "raw"}
    z = scaled(X[:, :4], "zscore")
    assert 2 * z.var(axis=0).sum() == pytest.approx(2)
    assert np.all(np.isfinite(scaled(X, "zscore")))
    unit, symmetric = scaled(X, "unit"), scaled(X, "symmetric")
    np.testing.assert_allclose(unit[:, :4].min(axis=0), 0, atol=1e-15)
    np.testing.assert_allclose(unit[:, :4].max(axis=0), 1)
    np.testing.assert_allclose(symmetric, 2 * unit - 1)
    assert scaled(X, "raw") is X


# The published figures


def test_published_figures_are_complete():
    rows = [method for method in METHODS if method not in COUNTERPART]
    missing = [(m, t) for m in rows for t in TASKS if (m, t) not in published()]
    assert missing == [("gdm", t) for t in TASKS[7:]]
    assert len(published()) == len(rows) * len(TASKS) - len(missing)
    assert published()["hyper", "usps-1-10-40"] == (33.41, 0.47)
    assert published()["itml", "wine"] == (8.22, 0.66)


# Statistics


def test_the_t_test_finds_a_significantly_lower_mean(rng):
    low, high = rng.normal(10, 1, 50), rng.normal(12, 1, 50)
    assert significant(low, high)
    assert not significant(high, low)
    assert not significant(low, low + 0.01)
    assert significant([1.0, 1.0], [2.0, 2.0])


def test_the_best_are_the_lowest_mean_and_those_not_significantly_above(rng):
    rivals = [rng.normal(m, 1, 50) for m in (10.0, 10.1, 12.0)]
    assert [comparable(r, rivals) for r in rivals] == [True, True, False]


def fake_records(means, tasks=("iris", "usps-1-5-20"), n=20):
    rng = np.random.default_rng(0)
    return [
        Record(task, method, k, float(rng.normal(mean, 0.5)), 0.1, 2, True)
        for task in tasks
        for method, mean in means.items()
        for k in range(n)
    ]


def test_claims_count_the_tasks_that_hold():
    good = {
        claim: (held, total)
        for claim, held, total, _ in claims(
            table2(fake_records({"euclidean": 9.0, "itml": 7.0, "hyper": 5.0}))
        )
    }
    assert list(good.values()) == [(2, 2), (2, 2), (1, 1), (2, 2)]
    bad = claims(table2(fake_records({"euclidean": 9.0, "itml": 7.0, "hyper": 40.0})))
    assert [held for _, held, _, _ in bad] == [0, 0, 0, 0]
    assert bad[0][3] == ["iris", "usps-1-5-20"]


def test_rivals_of_a_claim_are_the_papers_rows_and_not_our_other_variants():
    means = {"euclidean": 9.0, "hyper": 7.0, "auto": 3.0}
    assert claims(table2(fake_records(means)))[1][1] == 2


def test_cells_know_their_distance_from_the_paper():
    cell = table2(fake_records({"hyper": 5.31}, tasks=("iris",)))["hyper", "iris"]
    assert cell.published == (5.31, 0.43)
    expected = (cell.mean - 5.31) / np.hypot(0.43, cell.spread)
    assert cell.difference == pytest.approx(expected)


# Running, interrupting, resuming


@pytest.fixture(scope="module")
def small_run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("small")
    return folder, list(run(SMALL, folder))


def test_a_run_yields_every_record_once(small_run):
    _, records = small_run
    assert len(records) == SMALL.size() == 12
    assert len({(r.task, r.method, r.sampling) for r in records}) == 12
    assert all(0 <= r.error <= 100 and r.seconds >= 0 for r in records)


# Everything together


FEW_PARTS = ("table1", "table2", "figure3")


@pytest.mark.parametrize(
    "parts", [FEW_PARTS, pytest.param(PARTS, marks=pytest.mark.slow)], ids=len
)
def test_reproduce_writes_tables_figures_and_one_page(small_run, parts):
    folder, _ = small_run
    sizes, table, paths = reproduce(parts, SMALL, folder)
    assert len(sizes) == 3
    assert len(table) == 6
    names = {path.name for path in paths}
    assert names == {
        "table1.md", "table2.csv", "table2.md", "table2.tex", "table2.json", "report.html",
        *(f"{part}.{kind}" for part in parts[2:] for kind in ("png", "svg")),
    }  # fmt: skip
    about = json.loads((folder / "table2.json").read_text())["about"]
    assert {"seed", "seraph", "numpy", "machine"} <= set(about)
    page = (folder / "report.html").read_text()
    assert page.count("<img") == len(parts) - 2
    outside = re.findall(r"(?:src|href)=['\"](?!data:)[^'\"]*", page)
    assert outside == []


@pytest.mark.parametrize(
    "which", [pytest.param("posterior", marks=pytest.mark.slow), "projection"]
)
def test_sparsity_lowers_the_error_on_the_artificial_sets(which):
    errors = []
    for seed in range(5):
        _, _, _, methods = fit_sparsity(which, seed)
        errors.append([method.error for method in methods])
    euclidean, gdm, ours = np.mean(errors, axis=0)
    assert ours < gdm - 5
    assert ours < euclidean - 5
