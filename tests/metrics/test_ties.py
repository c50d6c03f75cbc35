"""What is equal in exact arithmetic is a tie, in whatever form the points come."""

from fractions import Fraction

import numpy as np
import pytest
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
from seraph.metrics._ordered import ordered_counts, pair_chunks
from seraph.metrics._retrieval import find_neighbors
from seraph.metrics._tiles import SquaredDistances
from tests.helpers import exact
from tests.helpers.quick import few


def figures(Z, y, pairs=None, signs=None):
    marks = {} if pairs is None else {"marks": Marks(pairs, signs, rows=len(y))}
    return {
        "pair_auc": pair_auc(Z, y, **marks),
        "equal_error_rate": equal_error_rate(Z, y, **marks),
        "precision_at_1": precision_at_1(Z, y),
        "recall_at_5": recall_at_k(Z, y, 5),
        "map_at_r": map_at_r(Z, y),
    }


def assert_same(found, expected):
    for name, value in expected.items():
        assert found[name] == pytest.approx(float(value), abs=1e-12), name


def joined(parts):
    return [np.concatenate(arrays) for arrays in zip(*parts, strict=True)]


def labels(rng, n):
    y = rng.integers(2, size=n)
    y[:4] = [0, 0, 1, 1]
    return y


def bits(rng, n=16, m=8):
    return rng.integers(2, size=(n, m)).astype(float), labels(rng, n)


def one_hot(rng, n=16):
    kinds = rng.integers(4, size=(n, 3))
    return np.eye(4)[kinds].reshape(n, -1), labels(rng, n)


WHOLE = {
    "binary": bits,
    "one-hot": one_hot,
    "counts": lambda rng: (rng.poisson(2.0, size=(16, 3)) * 1.0, labels(rng, 16)),
    "one feature": lambda rng: (rng.integers(9, size=(16, 1)) * 1.0, labels(rng, 16)),
    "large counts": lambda rng: (rng.integers(3, size=(16, 3)) * 9_999_991.0, labels(rng, 16)),
    "large and close": lambda rng: (5e6 * rng.integers(2, size=(16, 2))
                                    + rng.integers(2, size=(16, 2)), labels(rng, 16)),
    "an outlier": lambda rng: (np.r_[[[1e9, -3e8]], rng.integers(3, size=(15, 2))],
                               labels(rng, 16)),
    "quarters": lambda rng: (rng.integers(9, size=(16, 2)) / 4.0, labels(rng, 16)),
    "duplicates": lambda rng: (rng.normal(size=(4, 3))[rng.integers(4, size=16)], labels(rng, 16)),
}  # fmt: skip


@pytest.mark.parametrize("seed", few(range(3), {0}.__contains__))
@pytest.mark.parametrize("kind", WHOLE)
def test_ties_are_those_of_exact_arithmetic(kind, seed):
    Z, y = WHOLE[kind](np.random.default_rng(seed))
    assert_same(figures(Z, y), exact.figures(exact.fractions(Z), y))


@pytest.mark.parametrize("seed", range(3))
def test_marked_pairs_tie_with_those_of_the_classes(seed):
    rng = np.random.default_rng(seed)
    Z, y = bits(rng)
    y[8:] = -1
    pairs = [(k, k + 1) for k in range(8, 15)]
    signs = (rng.random(len(pairs)) < 0.5).tolist()
    expected = exact.figures(exact.fractions(Z), y, pairs, signs)
    assert_same(figures(Z, y, pairs, signs), expected)
    scaled = StandardScaler().fit_transform(Z)
    variances = [Fraction(int(c.sum()), 16) * (1 - Fraction(int(c.sum()), 16)) for c in Z.T]
    expected = exact.figures(exact.fractions(Z), y, pairs, signs, [1 / v for v in variances])
    assert_same(figures(scaled, y, pairs, signs), expected)


# Numbers that no float holds: ties are those before the points were rounded.


@pytest.mark.parametrize("seed", few(range(3), {1}.__contains__))
@pytest.mark.parametrize("factor", [0.1, 1 / 3, 1e-3 / 7, 1e-200 / 3, 1e200 / 3])
def test_a_common_factor_breaks_no_tie(factor, seed):
    rng = np.random.default_rng(seed)
    Z, y = bits(rng) if seed else WHOLE["counts"](rng)
    assert_same(figures(factor * Z, y), exact.figures(exact.fractions(Z), y))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("balanced", [True, False])
def test_standardized_binary_columns_keep_their_ties(seed, balanced):
    rng = np.random.default_rng(seed)
    Z, y = bits(rng)
    if balanced:  # every column has the same variance, but not the same rounding
        Z = np.column_stack([rng.permutation(np.arange(16) % 2) for _ in range(8)]) * 1.0
    shares = [Fraction(int(column.sum()), 16) for column in Z.T]
    weights = [1 / (share * (1 - share)) for share in shares]
    expected = exact.figures(exact.fractions(Z), y, weights=weights)
    assert_same(figures(StandardScaler().fit_transform(Z), y), expected)


@pytest.mark.parametrize("seed", range(2))
def test_a_learned_map_breaks_no_tie(seed):
    rng = np.random.default_rng(seed)
    X, y = bits(rng, n=16, m=6)
    P = rng.normal(size=(4, 6))
    factor = exact.fractions(P)
    mapped = [
        [sum(p * x for p, x in zip(row, point, strict=True)) for row in factor]
        for point in exact.fractions(X)
    ]
    assert_same(figures(X @ P.T, y), exact.figures(mapped, y))


def test_points_that_coincide_before_a_map_do_so_after_it():
    rng = np.random.default_rng(0)
    Z = np.tile(rng.normal(size=5), (40, 1))
    Z *= 1.0 + rng.integers(-2, 3, size=Z.shape) * 2.0**-52  # as matrix products round
    y = np.arange(40) % 2
    assert pair_auc(Z, y) == 0.5
    assert precision_at_1(Z, y) == 0.0
    far = np.r_[Z, Z + 3.0]
    assert recall_at_k(far, np.arange(80) % 2, 20) == 0.0
    assert recall_at_k(far, np.arange(80) % 2, 21) == 1.0


# What must not matter


KINDS = WHOLE | {
    "scaled": lambda rng: (StandardScaler().fit_transform(bits(rng)[0]), labels(rng, 16)),
}


@pytest.mark.parametrize("kind", KINDS)
def test_the_order_of_the_rows_does_not_matter(kind):
    rng = np.random.default_rng(3)
    Z, y = KINDS[kind](rng)
    order = rng.permutation(len(Z))
    assert figures(Z[order], y[order]) == figures(Z, y)


@pytest.mark.parametrize("kind", KINDS)
def test_the_tiles_do_not_matter(kind):
    Z, y = KINDS[kind](np.random.default_rng(3))
    known, d2, tiled = PairLabels.make(16, y), SquaredDistances(Z), SquaredDistances(Z, budget=7)
    whole = ordered_counts(pair_chunks(d2, known), known.n_labeled, d2.tie)
    parts = ordered_counts(
        pair_chunks(tiled, known, tile=5), known.n_labeled, d2.tie, budget=20, range_bits=8
    )
    for found, expected in zip(joined(parts), joined(whole), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-12)
    for k in (5, None):
        whole, parts = (find_neighbors(Z, y, None, None, k, budget) for budget in (10**6, 50))
        for found, expected in zip(joined(parts), joined(whole), strict=True):
            np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("constant", [1.0, -1e6, 2.0**43])
def test_a_whole_number_that_is_added_does_not_matter(constant, seed):
    Z, y = bits(np.random.default_rng(seed))
    assert figures(Z + constant, y) == figures(Z, y)


@pytest.mark.parametrize("constant", [0.1, -5.3])
def test_a_constant_of_the_size_of_the_points_does_not_matter(constant):
    Z, y = bits(np.random.default_rng(0))
    Z = StandardScaler().fit_transform(Z)
    assert figures(Z + constant, y) == figures(Z, y)


def test_points_of_a_reference_tie_as_well():
    Z, y = bits(np.random.default_rng(0), n=30)
    both = {"Z_reference": Z[20:] + 0.1, "y_reference": y[20:]}
    for k in (1, 3):
        hits = [
            [hit for _, hit in sorted((exact.squared(Z[q], Z[k]), y[k] == y[q])
                                      for k in range(20, 30))]
            for q in range(20) if y[q] in y[20:]
        ]  # fmt: skip
        expected = np.mean([any(row[:k]) for row in hits])
        assert recall_at_k(Z[:20] + 0.1, y[:20], k, **both) == pytest.approx(expected)


# Accuracy


@pytest.mark.parametrize("offset", [0.0, 1e3, 1e8])
@pytest.mark.parametrize("r", [1, 3, 40])
def test_squared_distances_are_right_to_a_few_bits(r, offset):
    rng = np.random.default_rng(r)
    Z = offset + rng.normal(size=(12, r)) * 10.0 ** rng.integers(-6, 1, size=(12, 1))
    squared = SquaredDistances(Z)
    everything = np.arange(12)
    found, points = squared(everything, everything), exact.fractions(Z)
    for i in range(12):
        for j in range(12):
            value = exact.squared(points[i], points[j])
            if offset == 0.0 or value > (1e-13 * offset) ** 2:
                error = abs(Fraction(found[i, j]) - value)
                assert error <= value * Fraction(32, 2**52)


def test_distances_that_differ_by_more_than_rounding_are_no_tie():
    Z = np.array([[0.0], [1 / 3], [-(1 / 3) * (1 + 1e-12)]])
    nearer, farther = (Marks([[0, 1], [0, 2]], signs, rows=Z) for signs in ([1, -1], [-1, 1]))
    assert pair_auc(Z, marks=nearer) == 1.0
    assert pair_auc(Z, marks=farther) == 0.0
    Z[2] = -(1 / 3) * (1 + 1e-15)
    assert pair_auc(Z, marks=nearer) == 0.5


def test_whole_numbers_tie_only_if_they_are_equal():
    # The squares 2**51 + 1 and 2**51 are closer than what counts as rounding elsewhere.
    a = 2.0**25
    Z = np.array([[0.0, 0.0], [a, 1.0], [a, 0.0]])
    marks = Marks([[0, 1], [0, 2]], [-1, 1], rows=Z)
    assert pair_auc(Z, marks=marks) == 1.0
