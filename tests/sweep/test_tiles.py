from functools import partial

import numpy as np
import pytest
from distributed import Client
from seraph._sweep import (
    BACKENDS,
    NumbaSweep,
    NumpySweep,
    PairTerms,
    Plan,
    make_sweep,
)
from seraph._sweep._formulas import NumpyArithmetic
from seraph._sweep._plan import Strip

from seraph._utils._threads import one_blas_thread
from tests.helpers.oracle import labeled_pairs, numeric_gradient, objective
from tests.helpers.quick import few
from tests.helpers.sweeps import ETA, MU, posteriors, q_function, sample_of


def problem(rng, n=23, m=5):
    X = rng.normal(size=(n, m)) * 0.6
    codes = np.array([0, 0, 0, 1, 1, 2, 2])
    pairs = np.array([[0, 9], [10, 12], [22, 8]])
    similar = np.array([True, False, True])
    return X, codes, pairs, similar


@pytest.fixture(scope="module")
def dask_client():
    # Any free port, and no dashboard.
    quiet = {"dashboard_address": "127.0.0.1:0", "scheduler_kwargs": {"dashboard": False}}
    with Client(processes=False, n_workers=2, threads_per_worker=1, **quiet) as client:
        yield client


NAMES = BACKENDS


@pytest.fixture(params=NAMES)
def backend(request):
    """Return what makes the sweep of each backend; a new one is tested as soon as it is listed."""
    if request.param == "dask":
        request.getfixturevalue("dask_client")
    device = "cpu" if request.param == "torch" else None
    return partial(make_sweep, backend=request.param, device=device)


@pytest.mark.parametrize("kind", ["entropy", "all dissimilar", "frozen metric"])
@pytest.mark.parametrize("rank", few([0, 1, 2, 5, 7], {2, 7}.__contains__))
@pytest.mark.parametrize("mu", [0.0, MU])
def test_sums_are_those_of_the_pair_by_pair_oracle(rng, kind, rank, mu):
    X, codes, pairs, similar = problem(rng)
    source = posteriors(rng)[kind]
    P = rng.normal(size=(rank, 5))
    known = labeled_pairs(codes, pairs, similar)

    def value_of(A):
        return objective(X, A, known, eta=ETA, mu=mu, q=q_function(source))

    terms = PairTerms(codes, pairs, similar, ETA, mu, source)
    value, by_metric = NumpySweep(X, tile=6)(P, terms, "metric")
    _, by_factor = NumpySweep(X, tile=6)(P, terms, "factor")

    assert value == pytest.approx(value_of(P.T @ P), rel=1e-12)
    expected = numeric_gradient(value_of, P.T @ P, h=1e-5)
    np.testing.assert_allclose(by_metric, (expected + expected.T) / 2, atol=2e-7)
    np.testing.assert_allclose(by_factor, 2 * P @ by_metric, atol=1e-11)


@pytest.mark.parametrize("kind", ["entropy", "all dissimilar", "frozen metric"])
@pytest.mark.parametrize("mu", [0.0, MU])
@pytest.mark.parametrize("wrt", ["metric", "factor", "threshold"])
def test_weighted_and_unsure_pairs_are_those_of_the_oracle(rng, kind, mu, wrt):
    X, codes, pairs, _ = problem(rng)
    similar, weights = np.array([0.8, 0.0, 0.5]), np.array([2.0, 0.3, 1e-3])
    source = posteriors(rng)[kind]
    P = rng.normal(size=(2, 5))
    known = labeled_pairs(codes)
    for pair, *mark in zip(pairs.tolist(), similar, weights, strict=True):
        known[tuple(sorted(pair))] = tuple(mark)

    def value_of(P, eta):
        return objective(X, P.T @ P, known, eta=eta, mu=mu, q=q_function(source))

    terms = PairTerms(codes, pairs, similar, ETA, mu, source, weights=weights)
    value, gradient = NumpySweep(X, tile=6)(P, terms, wrt)
    assert value == pytest.approx(value_of(P, ETA), rel=1e-12)
    if wrt == "factor":
        expected = numeric_gradient(lambda P: value_of(P, ETA), P)
    elif wrt == "metric":
        gradient, expected = 2 * P @ gradient, numeric_gradient(lambda P: value_of(P, ETA), P)
    else:
        expected = numeric_gradient(lambda eta: value_of(P, eta[0]), np.array([ETA]))[0]
    np.testing.assert_allclose(gradient, expected, atol=1e-6)


# (test_dask.py compares the sums of dask with those of numpy, too.)
@pytest.mark.parametrize(
    "backend",
    few(NAMES, lambda name: name != "dask"),
    indirect=True,
)
@pytest.mark.parametrize("kind", ["entropy", "all dissimilar", "frozen metric"])
def test_backends_agree_with_numpy(rng, backend, kind):
    X, codes, pairs, similar = problem(rng, n=90)
    some, uneven = sample_of(rng, 90, codes, pairs), np.array([2.0, 0.3, 1e-3])
    for mu, plan, weights in [(0.0, Plan(), None), (MU, Plan(), uneven), (MU, some, uneven)]:
        q = posteriors(rng)[kind]
        terms = PairTerms(codes, pairs, similar, ETA, mu, q, plan, weights=weights)
        for rank in (0, 2, 5):
            P = rng.normal(size=(rank, 5))
            for wrt in ("metric", "factor", "threshold"):
                expected_value, expected = NumpySweep(X, tile=17)(P, terms, wrt)
                value, gradient = backend(X)(P, terms, wrt)
                assert value == pytest.approx(expected_value, rel=1e-12)
                assert gradient.shape == expected.shape
                assert gradient.dtype == np.float64
                np.testing.assert_allclose(gradient, expected, rtol=1e-10, atol=1e-11)


@pytest.mark.parametrize("kind", ["entropy", "all dissimilar", "frozen metric"])
def test_a_sample_is_the_sum_over_its_pairs_alone(rng, kind):
    X, codes, pairs, similar = problem(rng)
    source = posteriors(rng)[kind]
    sample = sample_of(rng, 23, codes, pairs, size=40)
    known, P = labeled_pairs(codes, pairs, similar), rng.normal(size=(2, 5))
    swept = {tuple(pair) for pair in sample.listed[:].tolist()}

    def value_of(A):
        total = objective(X, A, known, eta=ETA)  # the labeled pairs
        for i, j in swept:
            two = X[[i, j]]
            more = {"eta": ETA, "mu": MU, "q": q_function(source)}
            total += sample.weight * objective(two, A, {}, **more)
        return total

    terms = PairTerms(codes, pairs, similar, ETA, MU, source, sample)
    value, gradient = NumpySweep(X)(P, terms, "metric")
    assert value == pytest.approx(value_of(P.T @ P), rel=1e-12)
    expected = numeric_gradient(value_of, P.T @ P, h=1e-5)
    np.testing.assert_allclose(gradient, (expected + expected.T) / 2, atol=2e-7)


@pytest.mark.parametrize("kind", ["entropy", "frozen metric"])
@pytest.mark.parametrize("wrt", ["metric", "factor", "threshold"])
def test_points_in_two_parts_give_the_sum_of_the_whole(rng, kind, wrt):
    X, codes, _, _ = problem(rng, n=60)
    P, source = rng.normal(size=(2, 5)), posteriors(rng)[kind]
    none = np.empty(0, dtype=int)
    whole = NumpySweep(X)(P, PairTerms(codes, eta=ETA, mu=MU, q=source), wrt)
    columns = [slice(25, 40), slice(40, 60)]
    across = [Strip(rows, columns, weight=MU) for rows in (slice(0, 9), slice(9, 25))]
    parts = [
        NumpySweep(X[:25])(P, PairTerms(codes, eta=ETA, mu=MU, q=source), wrt),
        NumpySweep(X[25:])(P, PairTerms(none, eta=ETA, mu=MU, q=source), wrt),
        NumpySweep(X).sum_pairs(P, PairTerms(none, eta=ETA, mu=MU, q=source), wrt, across),
    ]
    assert sum(part[0] for part in parts) == pytest.approx(whole[0], rel=1e-12)
    np.testing.assert_allclose(sum(part[1] for part in parts), whole[1], rtol=1e-10, atol=1e-11)


@pytest.mark.parametrize("backend", [name for name in NAMES if name != "dask"], indirect=True)
@pytest.mark.parametrize("kind", ["entropy", "frozen metric"])
@pytest.mark.parametrize("wrt", ["metric", "factor"])
@pytest.mark.parametrize("rank", [2, 5])
def test_tile_size_agnosticism(rng, backend, kind, wrt, rank):
    X, codes, pairs, similar = problem(rng, n=26)
    terms = PairTerms(codes, pairs, similar, ETA, MU, posteriors(rng)[kind])
    P = rng.normal(size=(rank, 5))
    sweep = backend(X)
    sweep.tile = 1000
    expected_value, expected = sweep(P, terms, wrt)
    for tile in (1, 7, 16, 25):
        sweep.tile = tile
        value, gradient = sweep(P, terms, wrt)
        assert value == pytest.approx(expected_value, rel=1e-12)
        np.testing.assert_allclose(gradient, expected, rtol=1e-10, atol=1e-11)


@pytest.mark.parametrize("sweep", [NumpySweep, NumbaSweep])
@pytest.mark.parametrize("sampled", [False, True])
@pytest.mark.parametrize("wrt", ["metric", "factor"])
def test_thread_count_does_not_change_a_bit(rng, sweep, wrt, sampled):
    X, codes, pairs, similar = problem(rng, n=300)
    sample = sample_of(rng, 300, codes, pairs, size=500) if sampled else Plan()
    terms = PairTerms(codes, pairs, similar, ETA, MU, plan=sample)
    P = rng.normal(size=(2, 5))
    with one_blas_thread():
        value, gradient = sweep(X, n_jobs=1, tile=16)(P, terms, wrt)
        value_3, gradient_3 = sweep(X, n_jobs=3, tile=16)(P, terms, wrt)
    assert value == value_3
    np.testing.assert_array_equal(gradient, gradient_3)


def test_float32_tiles_are_summed_to_float32_accuracy(rng, backend):
    X, codes, pairs, similar = problem(rng, n=600)
    P = rng.normal(size=(2, 5)) * 0.5
    for q in posteriors(rng).values():
        terms = PairTerms(codes, pairs, similar, ETA, MU, q)
        for wrt in ("metric", "factor"):
            value, gradient = NumpySweep(X)(P, terms, wrt)
            value_32, gradient_32 = backend(X.astype(np.float32))(P, terms, wrt)
            assert value_32 == pytest.approx(value, rel=1e-5)
            assert np.linalg.norm(gradient_32 - gradient) < 1e-5 * np.linalg.norm(gradient)


def test_without_unlabeled_weight_only_labeled_rows_matter(rng, backend):
    X, codes, _, _ = problem(rng)
    P = rng.normal(size=(2, 5))
    moved = X.copy()
    moved[len(codes) :] += 100.0
    for wrt in ("metric", "factor"):
        here, there = (backend(Z)(P, PairTerms(codes), wrt) for Z in (X, moved))
        assert here[0] == there[0]
        np.testing.assert_array_equal(here[1], there[1])


def test_no_labeled_row_and_no_listed_pair_make_an_empty_sum(rng, backend):
    value, gradient = backend(rng.normal(size=(4, 3)))(
        np.eye(3), PairTerms(np.empty(0, dtype=int)), "metric"
    )
    assert value == 0.0
    np.testing.assert_array_equal(gradient, np.zeros((3, 3)))


def test_a_sweep_has_the_attributes_of_the_protocol(rng, backend):
    sweep = backend(rng.normal(size=(9, 3)))
    sweep(np.eye(3), PairTerms(np.array([0, 1])), "factor")
    assert sweep.name == backend.keywords["backend"]
    assert sweep.device == backend.keywords["device"]
    assert sweep.shape[1] == 3
    assert sweep.n_sweeps == 1


def arithmetic_of_numba(t):
    from seraph._sweep._compiled import NumbaArithmetic

    return NumbaArithmetic(t.dtype), np.copy


def arithmetic_of_torch(t):
    import torch
    from seraph._sweep._torch import TorchArithmetic

    return TorchArithmetic(torch.tensor(t)), torch.tensor


@pytest.mark.parametrize("make", [arithmetic_of_numba, arithmetic_of_torch])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("with_scratch", [False, True])
def test_the_pair_terms_of_every_library_are_those_of_numpy(rng, make, dtype, with_scratch):
    tolerance = {np.float32: 4e-7, np.float64: 2e-15}[dtype]
    exact = np.concatenate([rng.normal(size=2000) * 10, [0.0, -0.0, 1e4, -1e4, 90.0, 800.0]])
    t = exact.reshape(17, -1).astype(dtype)
    q, weights = rng.uniform(size=(2, *t.shape)).astype(dtype)
    (arithmetic, convert), numpy = make(t), NumpyArithmetic()
    for name, arguments in [
        ("negative_entropy", {}),
        ("cross_entropy", {"q": q}),
        ("cross_entropy", {"q": 0.0}),
        ("cross_entropy", {"q": 1.0}),
        ("cross_entropy", {"q": q, "weights": weights}),
    ]:
        given = {a: b if isinstance(b, float) else convert(b) for a, b in arguments.items()}
        if with_scratch:
            given["scratch"] = convert(np.empty_like(t)), convert(np.empty_like(t))
        value, weight = getattr(arithmetic, name)(convert(t), **given)
        wide = {a: np.asarray(b, dtype=float)[()] for a, b in arguments.items()}
        expected_value, expected = getattr(numpy, name)(t.astype(float), **wide)
        assert float(value) == pytest.approx(expected_value, rel=tolerance)
        np.testing.assert_allclose(
            np.asarray(weight), expected, rtol=20 * tolerance, atol=tolerance
        )
    out = convert(np.empty_like(t)) if with_scratch else None
    np.testing.assert_allclose(
        np.asarray(arithmetic.e_step(convert(t), 0.3, out)),
        numpy.e_step(t.astype(float), 0.3),
        rtol=100 * tolerance,
        atol=tolerance,
    )
