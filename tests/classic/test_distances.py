"""Sums over labeled pairs under a factor of the metric, by sweeps and by lists of differences."""

import numpy as np
import pytest

from seraph import Marks
from seraph._marks import PairLabels
from seraph.classic._distances import Differences, FactorSums
from seraph.classic._scatter import PairSums


def listed_pairs(found):
    """Return the numbers of the points (k, k^2) whose differences were listed, smaller first."""
    d, e = found.array
    i, j = (e / d + d) / 2.0, (e / d - d) / 2.0  # from i - j and i^2 - j^2
    return np.sort(np.column_stack([i, j]).round().astype(int), axis=1)


@pytest.mark.parametrize("dissimilar", [True, False])
@pytest.mark.parametrize("n", [2, 9, 64, 65, 300])
def test_a_list_is_that_of_the_pairs_or_of_a_fair_sample(n, dissimilar):
    X = np.column_stack([np.arange(n), np.arange(n) ** 2]).astype(float)
    y = np.arange(n) % 5
    labels = PairLabels.make(n, y)
    rows = PairSums(labels).rows
    found = Differences.of(X[rows], y[rows], dissimilar=dissimilar)
    pairs = listed_pairs(found)
    same = y[pairs[:, 0]] == y[pairs[:, 1]]
    assert len(np.unique(pairs, axis=0)) == len(pairs)
    if dissimilar:
        assert found.similar is None
        assert not same.any()
    else:
        np.testing.assert_array_equal(found.similar, same)
    n_all = labels.n_dissimilar if dissimilar else labels.n_labeled
    assert found.n_each * len(pairs) == pytest.approx(n_all)
    if n <= 64:
        assert found.n_each == 1.0
    else:  # as if all pairs of a row with 8 others had been sampled, whatever their class
        assert found.n_each == pytest.approx((n - 1) / 8, rel=0.05)
        partners = np.bincount(pairs.ravel(), minlength=n)
        assert partners.min() >= 4
        assert partners.max() <= 8


def test_only_few_pairs_of_few_features_are_listed():
    y = np.arange(300) % 3
    assert Differences.are_few(PairLabels.make(300, y), 20)
    assert not Differences.are_few(PairLabels.make(300, y), 21)
    assert not Differences.are_few(PairLabels.make(3000, np.arange(3000) % 3), 20)
    assert not Differences.are_few(PairLabels.make(3, marks=Marks([[0, 1]], [1], rows=3)), 2)


@pytest.mark.parametrize("dissimilar", [True, False])
def test_a_list_and_a_sweep_give_the_same_sums(rng, dissimilar):
    X, y = rng.normal(size=(12, 4)), np.arange(12) % 3
    sums = PairSums(PairLabels.make(12, y))
    X = X[sums.rows]

    def term(d2, similar):
        weight = np.where(False if similar is None else similar, 0.0 if dissimilar else 2.0, 1.0)
        return np.sum(weight * np.sqrt(1.0 + d2) * (d2 > 0)), 0.5 * weight / np.sqrt(1.0 + d2)

    swept = FactorSums(X, sums)
    listed = FactorSums(X, sums, Differences.of(X, sums.codes, dissimilar=dissimilar))
    for P in (np.eye(4), rng.normal(size=(2, 4))):
        for name in ("by_factor", "by_metric"):
            value, slope = getattr(listed, name)(P, term)
            expected, expected_slope = getattr(swept, name)(P, term)
            assert value == pytest.approx(expected, rel=1e-12)
            np.testing.assert_allclose(slope, expected_slope, atol=1e-12)
        _, gradient = listed.by_metric(P, term)
        np.testing.assert_allclose(listed.by_factor(P, term)[1], P @ gradient, atol=1e-12)
