import numpy as np
import pytest
from oracle import labelled_pairs, numeric_gradient, objective
from scipy.special import expit

from seraph.sweep import NumpySweep, PairTerms, Posterior, one_blas_thread

ETA, MU = 1.3, 0.4


def problem(rng, n=23, m=5):
    X = rng.normal(size=(n, m)) * 0.6
    codes = np.array([0, 0, 0, 1, 1, 2, 2])
    pairs = np.array([[0, 9], [10, 12], [22, 8]])
    similar = np.array([True, False, True])
    return X, codes, pairs, similar


def posteriors(rng, m=5):
    return {
        "entropy": None,
        "all dissimilar": Posterior(),
        "frozen metric": Posterior(rng.normal(size=(3, m))),
    }


def q_function(source):
    if source is None:
        return None
    if source.P is None:
        return lambda d: 0.0
    return lambda d: expit(-(1 + MU) * ((source.P @ d) @ (source.P @ d) - ETA))


@pytest.mark.parametrize("kind", ["entropy", "all dissimilar", "frozen metric"])
@pytest.mark.parametrize("rank", [0, 1, 2, 5, 7])
@pytest.mark.parametrize("mu", [0.0, MU])
def test_sums_are_those_of_the_pair_by_pair_oracle(rng, kind, rank, mu):
    X, codes, pairs, similar = problem(rng)
    source = posteriors(rng)[kind]
    P = rng.normal(size=(rank, 5))
    known = labelled_pairs(codes, pairs, similar)

    def value_of(A):
        return objective(X, A, known, eta=ETA, mu=mu, q=q_function(source))

    terms = PairTerms(codes, pairs, similar, ETA, mu, source)
    value, by_metric = NumpySweep(X, tile=6)(P, terms, "metric")
    _, by_factor = NumpySweep(X, tile=6)(P, terms, "factor")

    assert value == pytest.approx(value_of(P.T @ P), rel=1e-12)
    expected = numeric_gradient(value_of, P.T @ P, h=1e-5)
    np.testing.assert_allclose(by_metric, (expected + expected.T) / 2, atol=2e-7)
    np.testing.assert_allclose(by_factor, 2 * P @ by_metric, atol=1e-11)


@pytest.mark.parametrize("kind", ["entropy", "frozen metric"])
@pytest.mark.parametrize("wrt", ["metric", "factor"])
@pytest.mark.parametrize("rank", [2, 5])
def test_tile_size_agnosticism(rng, kind, wrt, rank):
    X, codes, pairs, similar = problem(rng, n=90)
    terms = PairTerms(codes, pairs, similar, ETA, MU, posteriors(rng)[kind])
    P = rng.normal(size=(rank, 5))
    expected_value, expected = NumpySweep(X, tile=1000)(P, terms, wrt)
    for tile in (1, 7, 32, 89):
        value, gradient = NumpySweep(X, tile=tile)(P, terms, wrt)
        assert value == pytest.approx(expected_value, rel=1e-12)
        np.testing.assert_allclose(gradient, expected, rtol=1e-10, atol=1e-11)


@pytest.mark.parametrize("wrt", ["metric", "factor"])
def test_thread_count_does_not_change_a_bit(rng, wrt):
    X, codes, pairs, similar = problem(rng, n=300)
    terms = PairTerms(codes, pairs, similar, ETA, MU)
    P = rng.normal(size=(2, 5))
    with one_blas_thread():
        value, gradient = NumpySweep(X, n_jobs=1, tile=16)(P, terms, wrt)
        value_3, gradient_3 = NumpySweep(X, n_jobs=3, tile=16)(P, terms, wrt)
    assert value == value_3
    np.testing.assert_array_equal(gradient, gradient_3)


def test_float32_tiles_are_summed_to_float32_accuracy(rng):
    X, codes, pairs, similar = problem(rng, n=1500)
    terms = PairTerms(codes, pairs, similar, ETA, MU)
    P = rng.normal(size=(2, 5)) * 0.5
    for wrt in ("metric", "factor"):
        value, gradient = NumpySweep(X)(P, terms, wrt)
        value_32, gradient_32 = NumpySweep(X.astype(np.float32))(P, terms, wrt)
        assert value_32 == pytest.approx(value, rel=1e-5)
        assert np.linalg.norm(gradient_32 - gradient) < 1e-5 * np.linalg.norm(gradient)


def test_without_unlabelled_weight_only_labelled_rows_matter(rng):
    X, codes, _, _ = problem(rng)
    P = rng.normal(size=(2, 5))
    moved = X.copy()
    moved[len(codes) :] += 100.0
    for wrt in ("metric", "factor"):
        here, there = (NumpySweep(Z)(P, PairTerms(codes), wrt) for Z in (X, moved))
        assert here[0] == there[0]
        np.testing.assert_array_equal(here[1], there[1])


def test_no_labelled_row_and_no_listed_pair_is_an_empty_sum(rng):
    value, gradient = NumpySweep(rng.normal(size=(4, 3)))(
        np.eye(3), PairTerms(np.empty(0, dtype=int)), "metric"
    )
    assert value == 0.0
    np.testing.assert_array_equal(gradient, np.zeros((3, 3)))


def test_overlapping_blas_limits_are_lifted_when_the_last_one_leaves():
    from threadpoolctl import threadpool_info

    def threads():
        return [lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"]

    before = threads()
    first, second = one_blas_thread(), one_blas_thread()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert set(threads()) == {1}
    second.__exit__(None, None, None)
    assert threads() == before
