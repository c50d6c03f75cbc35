"""Clusters keep to the marks, and without marks they are the usual ones."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.cluster import KMeans

from seraph import Marks, constrained_k_means
from seraph._clustering import _assign
from tests.helpers.quick import examples


def sample(seed, n=40, classes=4):
    rng = np.random.default_rng(seed)
    y = rng.integers(classes, size=n)
    Z = rng.normal(size=(n, 2)) + 1.5 * np.eye(classes, 2)[y]
    pairs = np.array([rng.choice(n, 2, replace=False) for _ in range(n // 2)])
    pairs = np.unique(np.sort(pairs, axis=1), axis=0)
    return Z, y, pairs, np.where(y[pairs[:, 0]] == y[pairs[:, 1]], 1, -1)


def marked(pairs, labels, n=40):
    return {"marks": Marks(pairs, labels, rows=n)}


@examples(2)
@given(seed=st.integers(0, 10**6))
def test_marks_that_can_be_kept_are_kept(seed):
    Z, y, pairs, marks = sample(seed)
    labels = constrained_k_means(Z, len(np.unique(y)) + 2, **marked(pairs, marks))
    together = labels[pairs[:, 0]] == labels[pairs[:, 1]]
    np.testing.assert_array_equal(together, marks == 1)
    assert len(np.unique(labels)) == len(np.unique(y)) + 2


def test_without_marks_the_sum_of_squares_is_that_of_k_means():
    Z = np.random.default_rng(0).normal(size=(200, 3))
    labels = constrained_k_means(Z, 6, n_init=20, random_state=0)
    ours = sum(((Z[labels == k] - Z[labels == k].mean(axis=0)) ** 2).sum() for k in range(6))
    assert ours <= 1.01 * KMeans(6, n_init=20, random_state=0).fit(Z).inertia_


def test_groups_are_assigned_at_the_least_cost_in_small_cases():
    rng = np.random.default_rng(0)
    for _ in range(30):
        cost = rng.random((5, 3))
        apart = np.array([[0, 1], [1, 2], [0, 2], [3, 4]])
        every = np.stack(np.meshgrid(*[range(3)] * 5), axis=-1).reshape(-1, 5)
        fine = every[(every[:, apart[:, 0]] != every[:, apart[:, 1]]).all(axis=1)]
        best = min(cost[np.arange(5), labels].sum() for labels in fine)
        found = _assign(cost, apart)
        assert (found[apart[:, 0]] != found[apart[:, 1]]).all()
        assert cost[np.arange(5), found].sum() <= 1.05 * best


def test_names_are_matched():
    Z, _, pairs, marks = sample(1)
    names = np.array([f"r{k}" for k in range(40)])
    expected = constrained_k_means(Z, 5, **marked(pairs, marks), random_state=0)
    frame = pd.DataFrame(Z, index=names)
    named = Marks(names[pairs], marks, rows=frame)
    found = constrained_k_means(frame, 5, marks=named, random_state=0)
    np.testing.assert_array_equal(found, expected)
    order = np.random.default_rng(0).permutation(40)
    found = constrained_k_means(frame.iloc[order], 5, marks=named, random_state=0)
    together = found[np.argsort(order)]
    np.testing.assert_array_equal(together[pairs[:, 0]] == together[pairs[:, 1]], marks == 1)


@examples(4)
@given(seed=st.integers(0, 10**6))
def test_sure_marks_are_kept_whatever_unsure_marks_claim(seed):
    Z, _, pairs, sure = sample(seed)
    rng = np.random.default_rng(seed)
    clicks = np.array([rng.choice(40, 2, replace=False) for _ in range(30)])
    claims = Marks(clicks, rng.choice([0.1, 0.9], 30), weights=rng.random(30), rows=40)
    marks = claims + Marks(pairs, sure, rows=40)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # too few clusters for all that must be apart
        labels = constrained_k_means(Z, 2, marks=marks)
    together = labels[pairs[:, 0]] == labels[pairs[:, 1]]
    assert together[sure == 1].all()


@pytest.mark.parametrize("weakest", range(3))
def test_of_unsure_marks_that_disagree_the_weakest_is_left_out(weakest):
    Z = np.arange(6.0)[:, np.newaxis]
    pairs, likeness = np.array([[0, 4], [4, 5], [0, 5]]), np.array([0.9, 0.9, 0.1])
    weights = np.where(np.arange(3) == weakest, 0.5, 1.0)
    labels = constrained_k_means(Z, 3, marks=Marks(pairs, likeness, weights=weights, rows=Z))
    kept = (labels[pairs[:, 0]] == labels[pairs[:, 1]]) == (likeness > 0.5)
    np.testing.assert_array_equal(kept, np.arange(3) != weakest)


def test_marks_that_cannot_be_kept_are_told():
    Z = np.random.default_rng(0).normal(size=(6, 2))
    pairs = [[0, 1], [1, 2], [0, 2]]
    with pytest.warns(UserWarning, match="1 of 3 pairs of groups that must be apart"):
        constrained_k_means(Z, 2, **marked(pairs, [-1] * 3, 6), random_state=0)


def test_bad_input_is_refused():
    Z = np.random.default_rng(0).normal(size=(6, 2))
    with pytest.raises(ValueError, match="Rows 0 and 2 are marked dissimilar, but similar marks"):
        constrained_k_means(Z, 2, **marked([[0, 1], [1, 2], [0, 2]], [1, 1, -1], 6))
    with pytest.raises(ValueError, match=r"n_clusters=6 is more than .* similar marks join, 5"):
        constrained_k_means(Z, 6, **marked([[0, 1]], [1], 6))
    with pytest.raises(ValueError, match="n_clusters must be"):
        constrained_k_means(Z, 0)
    with pytest.raises(ValueError, match="NaN"):
        constrained_k_means([[np.nan], [1.0]], 1)
    with pytest.raises(ValueError, match="n_init must be"):
        constrained_k_means(Z, 2, n_init=0)
