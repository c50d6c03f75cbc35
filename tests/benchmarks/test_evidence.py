"""The evidence: measures against their plain forms, and sets for choosing that judge nothing."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from benchmarks.evidence import _data
from benchmarks.evidence._results import critical_difference, holm
from benchmarks.evidence._tasks import judge, map_at_r, pair_auc, sample, squared_distances


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


def test_holm_and_the_critical_difference_agree_with_the_books():
    assert holm([0.01, 0.04, 0.03]) == [0.03, 0.06, 0.06]
    # Demšar (2006), section 3.2: 4 methods on 14 data sets, q = 2.569.
    assert critical_difference(4, 14) == pytest.approx(2.569 * np.sqrt(4 * 5 / (6 * 14)), abs=1e-3)


def test_no_set_is_both_for_choosing_and_for_judging():
    choosing, judging = ([one.name for one in s] for s in (_data.CHOOSING, _data.JUDGING))
    assert not set(choosing) & set(judging)
    assert sum(one.kind == "table" for one in _data.JUDGING) >= 12
    assert sum(one.kind == "embedding" for one in _data.JUDGING) >= 3
    assert len(_data.SETS) >= 24
