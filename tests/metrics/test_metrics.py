"""The figures of merit, against plain forms that store every distance."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from sklearn.metrics import roc_auc_score, roc_curve
from sklearn.preprocessing import StandardScaler

from seraph import Marks
from seraph._marks import PairLabels
from seraph.metrics import (
    equal_error_rate,
    map_at_r,
    pair_auc,
    precision_at_1,
    recall_at_k,
)
from seraph.metrics._pairs import pairs_of_kind

FEW = settings(max_examples=15)


def sample(seed, n=60, r=3, classes=4, unknown=0.2, whole=False):
    rng = np.random.default_rng(seed)
    y = rng.integers(classes, size=n)
    Z = rng.normal(size=(n, r)) + np.eye(classes, r)[y]
    y = np.where(rng.random(n) < unknown, -1, y)
    y[:4] = [0, 0, 1, 1]
    return (np.round(Z) if whole else Z), y


# Plain forms


def plain_pairs(Z, y):
    """Distances of all pairs of labeled points, and which are similar."""
    known = np.flatnonzero(y >= 0)
    i, j = np.triu_indices(len(known), k=1)
    gap = np.linalg.norm(Z[known][i] - Z[known][j], axis=1)
    return gap, y[known][i] == y[known][j]


def plain_equal_error_rate(d, similar):
    accepts, accepted, _ = roc_curve(similar, -d, drop_intermediate=False)
    rejects = 1.0 - accepted
    at = np.flatnonzero(accepts >= rejects)[0]
    share = (rejects - accepts)[at - 1] / ((rejects - accepts)[at - 1] + (accepts - rejects)[at])
    return accepts[at - 1] + share * (accepts[at] - accepts[at - 1])


def plain_neighbors(Z, y, Z_reference=None, y_reference=None):
    """For each query with a companion: which neighbors are companions, nearest first."""
    itself = Z_reference is None
    Z_reference, y_reference = (Z, y) if itself else (Z_reference, y_reference)
    for q in np.flatnonzero(y >= 0):
        others = [k for k in np.flatnonzero(y_reference >= 0) if not (itself and k == q)]
        same = y_reference[others] == y[q]
        if same.any():
            gap = cdist(Z[[q]], Z_reference[others])[0].round(9)
            yield same[np.lexsort([same, gap])]


def plain_map_at_r(Z, y, **reference):
    scores = []
    for hits in plain_neighbors(Z, y, **reference):
        R = hits.sum()
        scores.append(sum(hits[: i + 1].mean() for i in range(R) if hits[i]) / R)
    return np.mean(scores)


def plain_recall(Z, y, k, **reference):
    return np.mean([hits[:k].any() for hits in plain_neighbors(Z, y, **reference)])


# Pairs


@FEW
@example(seed=0, r=0)  # points that coincide
@given(seed=st.integers(0, 10**6), r=st.integers(0, 5))
def test_auc_and_equal_error_rate_are_those_of_all_distances(seed, r):
    Z, y = sample(seed, r=r) if r else (np.empty((60, 0)), sample(seed)[1])
    d, similar = plain_pairs(Z, y)
    assert pair_auc(Z, y) == pytest.approx(roc_auc_score(similar, -d), abs=1e-12)
    expected = plain_equal_error_rate(d, similar)
    assert equal_error_rate(Z, y) == pytest.approx(expected, abs=1e-12)


def test_marked_pairs_count_beside_those_of_the_classes():
    Z, y = sample(1)
    d, similar = plain_pairs(Z, y)
    free = np.flatnonzero(y < 0)
    marked = np.column_stack([free[:-1], free[1:]])
    signs = np.arange(len(marked)) % 2 == 0
    marks = Marks(marked, signs, rows=Z)
    more = np.linalg.norm(Z[marked[:, 0]] - Z[marked[:, 1]], axis=1)
    expected = roc_auc_score(np.r_[similar, signs], -np.r_[d, more])
    assert pair_auc(Z, y, marks=marks) == pytest.approx(expected, abs=1e-12)
    expected = roc_auc_score(signs, -more)
    assert pair_auc(Z, marks=marks) == pytest.approx(expected, abs=1e-12)
    expected = plain_equal_error_rate(more, signs)
    assert equal_error_rate(Z, marks=marks) == pytest.approx(expected)


def test_marks_may_name_their_rows():
    Z, names = np.array([[0.0], [1.0], [5.0]]), ["a", "b", "c"]
    marks = Marks([["c", "a"], ["b", "a"]], [-1, 1], rows=names)
    assert pair_auc(Z, marks=marks) == 1.0
    frame = pd.DataFrame(Z, index=names)
    assert equal_error_rate(frame, marks=marks) == 0.0
    assert equal_error_rate(frame[::-1], marks=marks) == 0.0
    assert pair_auc(Z[::-1], marks=marks[::-1]) == 1.0
    with pytest.raises(ValueError, match="about 3 rows, but X has 2"):
        pair_auc(Z[:2], marks=marks)


@pytest.mark.parametrize("similar", [True, False])
@pytest.mark.parametrize("classes", [2, 30])
def test_pairs_are_listed_once_and_above_the_limit_sampled(classes, similar):
    _, y = sample(2, classes=classes)
    free = np.flatnonzero(y < 0)
    marks = Marks(np.column_stack([free[:-1], free[1:]]), [similar] * (len(free) - 1), rows=60)
    labels = PairLabels.make(60, y, marks)
    n = labels.n_similar if similar else labels.n_dissimilar
    listed = [frozenset(pair) for pair in pairs_of_kind(labels, similar=similar).tolist()]
    assert len(set(listed)) == len(listed) == n
    chosen = pairs_of_kind(labels, similar=similar, most=n - 1, sample=n // 2)
    assert len(chosen) == n // 2
    assert {frozenset(pair) for pair in chosen.tolist()} <= set(listed)


TIED = {
    "binary": lambda rng: rng.integers(2, size=(16, 8)) * 1.0,
    "counts": lambda rng: rng.poisson(2.0, size=(16, 3)) * 1.0,
    "scaled": lambda rng: StandardScaler().fit_transform(rng.integers(2, size=(16, 8))),
    "far away": lambda rng: 1e6 + rng.integers(2, size=(16, 8)),
    "duplicates": lambda rng: rng.normal(size=(4, 3))[rng.integers(4, size=16)],
}


@pytest.mark.parametrize("kind", TIED)
def test_neither_ties_nor_the_order_of_the_rows_change_a_figure(kind):
    rng = np.random.default_rng(3)
    Z, y = TIED[kind](rng), np.arange(16) % 2
    order = rng.permutation(16)
    for figure in (precision_at_1, map_at_r):
        assert figure(Z[order], y[order]) == pytest.approx(figure(Z, y), abs=1e-12)
    assert map_at_r(Z, y) == pytest.approx(plain_map_at_r(Z, y), abs=1e-12)
    for figure in (pair_auc, equal_error_rate):
        assert figure(Z[order], y[order]) == pytest.approx(figure(Z, y), abs=1e-3)


# Neighbors


@FEW
@given(st.integers(0, 10**6), st.integers(1, 70))
def test_neighbors_are_judged_as_by_sorting_every_row(seed, k):
    Z, y = sample(seed)
    assert map_at_r(Z, y) == pytest.approx(plain_map_at_r(Z, y), abs=1e-12)
    assert recall_at_k(Z, y, k) == pytest.approx(plain_recall(Z, y, k), abs=1e-12)
    assert precision_at_1(Z, y) == recall_at_k(Z, y, 1)


@FEW
@given(st.integers(0, 10**6))
def test_queries_find_their_neighbors_in_a_reference(seed):
    Z, y = sample(seed)
    other = dict(zip(("Z_reference", "y_reference"), sample(seed + 1, n=40), strict=True))
    y[10] = 99  # a class that the reference does not have
    assert map_at_r(Z, y, **other) == pytest.approx(plain_map_at_r(Z, y, **other), abs=1e-12)
    assert recall_at_k(Z, y, 3, **other) == pytest.approx(plain_recall(Z, y, 3, **other))


def test_classes_may_be_text_and_lonely_points_are_no_queries():
    Z = [[0.0], [1.0], [5.0], [1.1]]
    assert precision_at_1(Z, ["a", "a", "b", None]) == 1.0


# Bad input

FIGURES = [pair_auc, equal_error_rate, precision_at_1, map_at_r]


@pytest.mark.parametrize("figure", FIGURES)
@pytest.mark.parametrize(
    ("Z", "y", "message"),
    [
        ([[0.0], [np.nan]], [0, 0], "NaN"),
        ([0.0, 1.0], [0, 0], "2D array"),
        ([[0.0], [1.0]], [0], "1 labels"),
        ([[0.0], [1.0]], [0, 1], "both kinds|another one of its class"),
        ([[0.0], [1.0]], [-1, -1], "No labeled pair|No labeled point"),
    ],
)
def test_bad_points_and_labels_are_refused(figure, Z, y, message):
    with pytest.raises(ValueError, match=message):
        figure(Z, y)


def test_what_cannot_be_judged_is_refused():
    Z, y = [[0.0], [1.0]], [0, 0]
    with pytest.raises(ValueError, match="k must be"):
        recall_at_k(Z, y, 0)
    with pytest.raises(ValueError, match="together"):
        map_at_r(Z, y, Z_reference=Z)
    with pytest.raises(ValueError, match="1 dimensions and Z_reference has 2"):
        map_at_r(Z, y, Z_reference=[[0.0, 1.0]], y_reference=[0])
    with pytest.raises(ValueError, match="y_reference has 2 labels and X has 1"):
        map_at_r(Z, y, Z_reference=[[0.0]], y_reference=[0, 1])
    with pytest.raises(ValueError, match="0 similar and 1 dissimilar"):
        pair_auc(Z, marks=Marks([[0, 1]], [-1], rows=2))
