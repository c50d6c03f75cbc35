"""The reproduction: protocol, published figures and statistics."""

import json
from dataclasses import asdict

import numpy as np
import pytest

from benchmarks.paper import Plan, Record, claims, table2
from benchmarks.paper._data import TASKS, is_there, load_task
from benchmarks.paper._methods import COUNTERPART, METHODS
from benchmarks.paper._pages import write_pages
from benchmarks.paper._protocol import sample_task
from benchmarks.paper._reproduce import pair_counts
from benchmarks.paper._tables import comparable, published, significant

# The protocol


THERE = [name for name in TASKS if is_there(name)]


@pytest.mark.parametrize("name", THERE)
def test_samplings_have_the_sizes_of_table_1(name):
    task = load_task(name)
    sampling = sample_task(task, seed=0, number=3)
    assert sampling.X.shape == (task.row.n_train, task.row.n_features)
    assert sampling.X_test.shape == (task.row.n_test, task.row.n_features)
    assert sampling.labeled.sum() == task.row.n_labels
    assert np.sum(sampling.y_partial >= 0) == task.row.n_labels
    both = np.concatenate([sampling.X, sampling.X_test])
    assert len(both) <= len(task.X)


@pytest.mark.parametrize("name", [name for name in THERE if load_task(name).row.digits])
def test_digit_samplings_are_balanced_and_their_pair_counts_are_exactly_table_1s(name):
    task = load_task(name)
    for number in range(3):
        sampling = sample_task(task, seed=1, number=number)
        for classes in (sampling.y, sampling.y[sampling.labeled], sampling.y_test):
            assert len(set(np.bincount(classes))) == 1
    similar, dissimilar = pair_counts(Plan(tasks=(name,), samplings=2))[name]
    assert (similar, dissimilar) == (task.row.n_similar, task.row.n_dissimilar)


def test_training_and_test_points_are_different_rows():
    task = load_task("mnist-1-7")  # all of its images are different
    sampling = sample_task(task, seed=0, number=0)
    seen = {row.tobytes() for row in sampling.X}
    assert len(seen) == task.row.n_train
    assert not any(row.tobytes() in seen for row in sampling.X_test)


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
    for error, held in ((5.0, [2, 2, 1, 1]), (40.0, [0, 0, 0, 0])):
        table = table2(fake_records({"euclidean": 9.0, "itml": 7.0, "hyper": error}))
        assert [count for _, count, _, _ in claims(table)] == held
        assert claims(table)[0][3] == ([] if held[0] else ["iris", "usps-1-5-20"])


def test_the_pages_are_filled_from_the_log_with_its_stamp(tmp_path, monkeypatch):
    lines = [{"format": 1, "seed": 0, "scaling": "zscore", "stamp": "tree 1"}]
    lines += [asdict(record) for record in fake_records(dict.fromkeys(METHODS, 9.0))]
    (tmp_path / "records.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    page = tmp_path / "page.md"
    parts = ("table2", "best", "claims", "full", "summary", "figure1")
    page.write_text("".join(f"<!-- paper: {part} -->\nold\n<!-- end -->\n" for part in parts))
    monkeypatch.setattr("benchmarks.paper._pages.PAGES", (page,))
    write_pages(tmp_path)
    assert "old" not in page.read_text()
    assert page.read_text().count("*20 samplings; tree 1.*") == len(parts)
    assert all(title in page.read_text() for title, _ in METHODS.values())
