"""Samples of pairs: balanced, without repetition, and right on average whatever the order."""

import numpy as np
import pytest

from seraph._pairs import (
    ListedPairs,
    LogLikelihood,
    class_pairs,
    sample_class_pairs,
    sum_over_list,
)
from tests.helpers.oracle import pair_sums
from tests.helpers.quick import few


def orders():
    """Rows in orders that mislead a sample of neighbors: points, and classes."""
    rng = np.random.default_rng(0)
    codes = np.repeat([0, 1, 2], [30, 50, 10])
    X = rng.normal(size=(90, 2)) + 2.0 * rng.normal(size=(3, 2))[codes]
    by_norm = np.argsort(np.linalg.norm(X, axis=1))
    twice = np.repeat(np.arange(45), 2)
    return {
        "by class": (X, codes),
        "by norm": (X[by_norm], codes[by_norm]),
        "repeated rows": (X[twice], codes[twice]),
        "many small classes": (X, np.arange(90) % 40),
    }


@pytest.mark.parametrize("order", few(orders(), "by class".__eq__))
def test_a_sample_of_the_pairs_of_classes_is_right_on_average(order):
    X, codes = orders()[order]
    n = len(X)
    similar = np.equal.outer(codes, codes) * 1.0
    value, slope, product = pair_sums(X, X, 1.0, np.ones((n, n)), similar)
    exact = np.r_[value, slope, product.ravel()]
    samples = []
    for seed in range(200):
        pairs, q, weights = sample_class_pairs(codes, 3, np.random.RandomState(seed))
        assert np.all(q == similar[tuple(pairs.T)])
        kinds = [weights[q == kind].sum() for kind in (1, 0)]
        n_similar = (similar.sum() - n) / 2
        assert kinds == pytest.approx([n_similar, n * (n - 1) / 2 - n_similar])
        listed = ListedPairs.make(pairs, q, weights, n, like=X)
        value, slope, product = sum_over_list(X, X, listed, (LogLikelihood(), q, weights), eta=1.0)
        samples.append(np.r_[value, slope, product.ravel()])
    error = np.std(samples, axis=0, ddof=1) / np.sqrt(len(samples))
    assert 0.0 < error[0] < 0.03 * abs(exact[0])
    # (Five standard errors, since there are 182 numbers.)
    assert np.all(np.abs(np.mean(samples, axis=0) - exact) <= 5.0 * error + 1e-9)


def test_numbered_pairs_are_all_pairs_of_a_kind_once(rng):
    codes = rng.integers(-1, 4, 40)
    i, j = np.triu_indices(40, 1)
    known = (codes[i] >= 0) & (codes[j] >= 0)
    for similar in (True, False):
        chosen = known & ((codes[i] == codes[j]) == similar)
        pairs = class_pairs(codes, similar=similar)
        found = set(map(tuple, np.sort(pairs, axis=1).tolist()))
        assert found == set(zip(i[chosen].tolist(), j[chosen].tolist(), strict=True))
        some = rng.integers(len(pairs), size=9)
        np.testing.assert_array_equal(class_pairs(codes, some, similar=similar), pairs[some])
        assert class_pairs(np.full(5, -1), similar=similar).shape == (0, 2)
