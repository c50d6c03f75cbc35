"""Sums over pairs beside the oracle: every term, library, precision and size of blocks."""

from functools import cache

import numpy as np
import pytest
import torch
from scipy.spatial.distance import pdist, squareform
from scipy.special import expit

from seraph._pairs import (
    BlockPairs,
    ListedPairs,
    LogLikelihood,
    MStep,
    NegativeEntropy,
    _blocks,
    squared_distances,
    sum_over_blocks,
    sum_over_list,
)
from tests.helpers.oracle import pair_sums

ETA, MU = 1.3, 0.4
SIZES = [1, 2, 63, 64, 65, 129, 601]  # around the edges of small blocks, and of large ones
# The function of the pairs; "m-step" takes q from another metric, "classes" sums labeled pairs.
KINDS = {
    "entropy": NegativeEntropy(),
    "first m-step": LogLikelihood(),
    "m-step": MStep(MU),
    "classes": LogLikelihood(),
}
EVERY_KIND = pytest.mark.parametrize("name", KINDS)
BOTH_TYPES = pytest.mark.parametrize("dtype", [np.float64, np.float32])


@pytest.fixture(params=["numpy", "numba", "torch"])
def convert(request, monkeypatch):
    """Make arrays of a library, which then computes the sums, however few the pairs are."""
    compiled = 0 if request.param == "numba" else np.inf
    monkeypatch.setattr(_blocks, "_COMPILED_PAIRS", compiled)
    return torch.as_tensor if request.param == "torch" else np.asarray


def check(sums, expected, dtype):
    value, slope, product = expected[0], expected[1], np.asarray(expected[2])
    close = 1e-10 if dtype == np.float64 else 3e-5
    size = max(np.abs(product).max(initial=0.0), abs(value), 1.0)
    assert sums[0] == pytest.approx(value, rel=close, abs=close)
    assert sums[1] == pytest.approx(slope, rel=close, abs=close * size)
    assert np.asarray(sums[2]).dtype == dtype
    np.testing.assert_allclose(np.asarray(sums[2]), product, rtol=0, atol=close * size)


def expected_sums(Z, Y, codes, name, old, meets=1.0):
    """The sums of the oracle; `meets` says how often each pair counts."""
    known = np.logical_and.outer(codes >= 0, codes >= 0)
    q = {
        "entropy": None,
        "first m-step": np.zeros(known.shape),
        "m-step": expit(-(1 + MU) * (squareform(pdist(old, "sqeuclidean")) - ETA)),
        "classes": np.equal.outer(codes, codes) * 1.0,
    }[name]
    return pair_sums(Z, Y, ETA, meets * (known if name == "classes" else ~known), q)


def sums_over(Z, Y, codes, name, old, convert, dtype, partners=None, n_jobs=1):
    Z, Y, old = (convert(a.astype(dtype)) for a in (Z, Y, old))
    pairs = BlockPairs.make(codes, partners, labeled=name == "classes", like=Z, n_jobs=n_jobs)
    frozen = old if name == "m-step" else None
    value, slope, product = sum_over_blocks(Z, Y, pairs, KINDS[name], ETA, frozen=frozen)
    return float(value), float(slope), product


def table(rng, n, order="scattered"):
    """Points, an array to multiply, another metric's points, and classes of a part of the rows."""
    codes = rng.integers(-1, 3, n)
    if order == "classified first":
        codes = codes[np.argsort(codes < 0, kind="stable")]
    return 0.8 * rng.normal(size=(n, 3)), rng.normal(size=(n, 4)), rng.normal(size=(n, 2)), codes


@cache
def case(name, n, order):
    """A table, and the sums of the oracle over it."""
    Z, Y, old, codes = table(np.random.default_rng(n), n, order)
    return (Z, Y, codes, name, old), expected_sums(Z, Y, codes, name, old)


# In single precision two of them: compiling each takes seconds.
@pytest.mark.parametrize(
    ("name", "dtype"),
    [*((name, np.float64) for name in KINDS), ("entropy", np.float32), ("classes", np.float32)],
)
def test_all_pairs_give_the_sums_of_the_oracle(convert, name, dtype):
    for n in SIZES:
        for order in ("scattered", "classified first"):
            data, expected = case(name, n, order)
            check(sums_over(*data, convert, dtype), expected, dtype)


@EVERY_KIND
@pytest.mark.parametrize(("n", "partners"), [(4, 1), (50, 7), (129, 16), (130, 64), (40, 30)])
def test_sampled_pairs_give_the_sums_of_the_oracle(rng, convert, name, n, partners):
    Z, Y, old, codes = table(rng, n)
    block, n_blocks = np.arange(n) // partners, -(-n // partners)
    meets = np.isin((block[:, np.newaxis] - block) % n_blocks, [1, n_blocks - 1]) * 1.0
    if 2 * partners >= n - 1:
        meets = np.ones((n, n))
    sums = sums_over(Z, Y, codes, name, old, convert, np.float64, partners)
    check(sums, expected_sums(Z, Y, codes, name, old, meets), np.float64)


@EVERY_KIND
@pytest.mark.parametrize(("rank", "width"), [(0, 2), (2, 0), (0, 0)])
def test_a_metric_of_rank_zero_and_a_product_without_columns_have_sums(convert, name, rank, width):
    Z, Y, old, codes = table(np.random.default_rng(0), 70)
    Z, Y = Z[:, :rank], Y[:, :width]
    sums = sums_over(Z, Y, codes, name, old, convert, np.float64)
    check(sums, expected_sums(Z, Y, codes, name, old), np.float64)


@EVERY_KIND
@pytest.mark.parametrize("partners", [None, 16])
def test_threads_give_the_same_sums(rng, convert, name, partners, monkeypatch):
    monkeypatch.setattr(_blocks, "_THREADED_PAIRS", 0)
    Z, Y, old, codes = table(rng, 301)
    one, *others = (
        sums_over(Z, Y, codes, name, old, convert, np.float64, partners, n_jobs)
        for n_jobs in (1, 2, 7)
    )
    for sums in others:
        check(sums, one, np.float64)


@pytest.mark.parametrize("distance", [1e2, 1e4, 1e8])
def test_similar_points_are_pulled_together_from_any_distance(convert, distance):
    Z = np.array([[0.0], [distance], [1.0]])
    codes = np.array([0, 0, -1])
    sums = sums_over(Z, Z, codes, "classes", Z, convert, np.float64)
    check(sums, (ETA - distance**2, -1.0, np.array([[distance], [-distance], [0.0]])), np.float64)


# Listed pairs


@pytest.fixture
def listed(rng):
    """Pairs of 30 points, how likely each is similar, and weights."""
    i, j = np.triu_indices(30, 1)
    chosen = rng.permutation(len(i))[:100]
    q = np.r_[np.ones(40), np.zeros(40), rng.uniform(size=20)]
    return np.column_stack([i, j])[chosen], q, rng.uniform(0.0, 3.0, size=100)


@BOTH_TYPES
@pytest.mark.parametrize("unlabeled", [0.0, -0.7])
@pytest.mark.parametrize("name", ["entropy", "first m-step", "m-step"])
def test_listed_pairs_give_the_sums_of_the_oracle(rng, listed, convert, dtype, name, unlabeled):
    pairs, q, weights = listed
    Z, Y, old, _ = table(rng, 30)
    counts, similar, ones = np.zeros((3, 30, 30))
    counts[tuple(pairs.T)], similar[tuple(pairs.T)], ones[tuple(pairs.T)] = weights, q, 1.0
    parts = [pair_sums(Z, Y, ETA, counts, similar)]
    unknown = expected_sums(Z, Y, np.full(30, -1), name, old, ones)
    parts.append(tuple(unlabeled * part for part in unknown))
    Z, Y, old = (convert(a.astype(dtype)) for a in (Z, Y, old))
    made = ListedPairs.make(pairs, q, weights, 30, like=Z)
    of_old = made.squared_distances(old) - ETA if name == "m-step" else 0.0
    terms = (LogLikelihood(), made.q, made.weights), (KINDS[name], of_old, unlabeled)
    sums = sum_over_list(Z, Y, made, *terms, eta=ETA)
    check(sums, tuple(map(sum, zip(*parts, strict=True))), dtype)


# Distances as a matrix


@pytest.mark.parametrize("n", [5, 400])  # many or few of the distances are short
def test_close_points_keep_the_digits_of_their_distance(rng, n):
    points = 1.0 + rng.normal(size=(n, 4))
    X = np.vstack([points, points[:5] + 1e-9])
    exact = np.sum((X[:, np.newaxis] - X) ** 2, axis=2)
    np.testing.assert_allclose(squared_distances(X, X), exact, rtol=1e-7)
    np.testing.assert_allclose(squared_distances(X[:n], X[n:]), exact[:n, n:], rtol=1e-7)
    stack = np.stack([X[:-4], X[4:]])
    expected = [exact[:-4, :-4], exact[4:, 4:]]
    np.testing.assert_allclose(squared_distances(stack, stack), expected, rtol=1e-7)
    np.testing.assert_array_equal(np.diag(squared_distances(X, X)), 0.0)
