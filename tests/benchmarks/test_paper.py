"""The reproduction: protocol, published figures and statistics."""

import numpy as np
import pytest

from benchmarks.paper import Plan, Record, claims, table2
from benchmarks.paper._methods import COUNTERPART, METHODS
from benchmarks.paper._protocol import sample_task
from benchmarks.paper._reproduce import pair_counts
from benchmarks.paper._tables import comparable, published, significant
from seraph.datasets import TASKS, load_task

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
