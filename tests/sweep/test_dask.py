"""The backend for clusters finds the same metric, whatever the chunks and the workers."""

import gc
import os
import signal
import threading
import time
from collections import Counter
from dataclasses import replace
from itertools import product

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from distributed import Client, LocalCluster, default_client
from seraph._engine import Settings
from seraph._engine._problem import Problem
from seraph._engine._sampling_error import estimate_error
from seraph._sweep import (
    NumpySweep,
    PairList,
    PairTerms,
    Plan,
    PointsInMemory,
    Posterior,
    _choose,
    _dask,
)
from seraph._sweep._chunks import ChunkedPoints
from seraph._sweep._dask import DaskSweep, Limits

from seraph import SERAPH, SERAPHCV, KernelSERAPH, Marks, seraph_path
from seraph._marks import PairLabels
from seraph._utils._threads import one_blas_thread
from tests.helpers.em import em
from tests.helpers.quick import few

SAME = {"rtol": 1e-10, "atol": 1e-10}
NAMES = list("abcdef")
# A few steps are enough: they must be the same, and need not converge.
FEW = {"max_iter": 2, "shrinkage": 0}
pytestmark = pytest.mark.filterwarnings("ignore:.*not converged")
# Any free port, and no dashboard.
QUIET = {"dashboard_address": "127.0.0.1:0", "scheduler_kwargs": {"dashboard": False}}


@pytest.fixture(scope="module")
def local():
    with LocalCluster(n_workers=2, threads_per_worker=1, processes=False, **QUIET) as cluster:
        yield cluster


@pytest.fixture
def client(local):
    with Client(local) as client:
        yield client


@pytest.fixture(autouse=True)
def one_thread():
    with one_blas_thread():  # once for all tasks
        yield


# Parts of a few rows, so that a few points have many.
SMALL = Limits(min_parts=4, min_rows=9, block_rows=12)


@pytest.fixture(scope="module")
def data():
    """Three Gaussian classes, 30 of 200 points labeled, two labeled pairs."""
    rng = np.random.default_rng(0)
    classes = rng.integers(3, size=200)
    X = 1.5 * rng.normal(size=(3, 6))[classes] + rng.normal(size=(200, 6)) + 3.0
    y = np.where(rng.permutation(200) < 30, classes, -1)
    free = np.flatnonzero(y < 0)
    pairs = [[free[0], free[100]], [free[3], np.flatnonzero(y == 0)[5]]]
    return X, y, Marks(pairs, [1, -1], rows=X)


@pytest.fixture(scope="module")
def expected(data):
    X, y, marked = data
    return SERAPH(backend="numpy", **FEW).fit(X, y, marks=marked)


def frame(X, npartitions=4):
    return dd.from_pandas(pd.DataFrame(X, columns=NAMES), npartitions=npartitions)


def without_lengths(X):
    return frame(X).to_dask_array()


def wait_until(is_so, seconds=300):
    """Ask again and again, as long as a busy machine may need."""
    deadline = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.05)


# The sums


def all_terms(rng):
    codes = np.repeat([0, 1, 2], [5, 4, 8])
    listed = np.array([[0, 60], [30, 20], [50, 3]]), np.array([True, False, True])
    sampled = Plan(
        listed=PairList.of(np.array([[0, 40], [16, 17], [17, 18], [40, 69]])), weight=7.5
    )
    posteriors = [None, Posterior(), Posterior(rng.normal(size=(3, 6)))]
    for q, mu, plan in product(posteriors, [0.0, 0.4], [Plan(), sampled]):
        yield PairTerms(codes, *listed, eta=1.3, mu=mu, q=q, plan=plan)
    yield PairTerms(codes[:0], mu=0.4)
    yield PairTerms(np.arange(70) // 9, mu=0.4)
    yield PairTerms(codes[:0])


SLOW_CHUNKS = [pytest.param(chunks, marks=pytest.mark.slow) for chunks in (None, (1, 2), (11, 6))]
CHUNKS = [((3, 0, 40, 27), 6), *SLOW_CHUNKS]


@pytest.mark.parametrize("chunks", CHUNKS)
def test_sums_do_not_depend_on_the_chunks(rng, chunks):
    X = 0.6 * rng.normal(size=(70, 6))
    points = X if chunks is None else da.from_array(X, chunks=chunks)
    for terms in all_terms(rng):
        sweep = DaskSweep(points, SMALL)
        for rank, wrt in [(0, "metric"), (2, "factor"), (5, "factor"), (2, "threshold")]:
            P = rng.normal(size=(rank, 6))
            value, gradient = sweep(P, terms, wrt)
            expected_value, expected_gradient = NumpySweep(X)(P, terms, wrt)
            assert value == pytest.approx(expected_value, rel=1e-11)
            np.testing.assert_allclose(gradient, expected_gradient, rtol=1e-10, atol=1e-11)
            assert np.shape(gradient) == np.shape(expected_gradient)
        assert sweep.n_sweeps == 4


def test_new_terms_of_the_same_points_have_new_sums(rng):
    X = rng.normal(size=(70, 6))
    sweep, P = DaskSweep(X, SMALL), rng.normal(size=(2, 6))
    for terms in [*all_terms(rng), *all_terms(rng)]:
        assert sweep(P, terms, "factor")[0] == pytest.approx(
            NumpySweep(X)(P, terms, "factor")[0], rel=1e-11
        )


def test_compiled_sums_are_those_of_numpy(rng):
    X = rng.normal(size=(2500, 6)).astype(np.float32)
    terms = PairTerms(np.zeros(30, dtype=int), mu=0.1)
    P = rng.normal(size=(2, 6))
    value, gradient = DaskSweep(X)(P, terms, "factor")
    expected_value, expected_gradient = NumpySweep(X)(P, terms, "factor")
    assert value == pytest.approx(expected_value, rel=1e-5)
    np.testing.assert_allclose(gradient, expected_gradient, rtol=1e-3, atol=1e-2)


@pytest.mark.parametrize(
    ("lengths", "rows", "parts"),
    [([10], 4, [3, 3, 4]), ([1, 1, 1, 9, 1], 4, [3, 3, 3, 3, 1]), ([2, 0, 3], 4, [2, 3])],
)
def test_small_chunks_are_joined_and_large_ones_cut(lengths, rows, parts):
    assert _dask._cut(lengths, rows) == parts


def test_the_number_of_parts_is_bounded():
    X = da.zeros((3_000_000, 4), chunks=(1000, 4), dtype=np.float32)
    parts = _dask._Parts(X, np.zeros(10, dtype=int))
    assert len(parts.other_lengths) <= 2 * _dask._MAX_PARTS
    assert max(parts.other_lengths) <= 3_000_000 // _dask._MAX_PARTS + 1


# Fits


COLLECTIONS = {
    "array": np.asarray,
    "rows": lambda X: da.from_array(X, chunks=(33, 6)),
    "columns": lambda X: da.from_array(X, chunks=(200, 4)),
    "persisted": lambda X: da.from_array(X, chunks=((1, 150, 49), 6)).persist(),
    "frame": frame,
    "unknown lengths": without_lengths,
}


@pytest.mark.parametrize("collection", few(COLLECTIONS, {"unknown lengths"}.__contains__))
def test_the_metric_is_that_of_numpy(client, data, expected, collection):
    X, y, marked = data
    learner = SERAPH(backend="dask", **FEW).fit(COLLECTIONS[collection](X), y, marks=marked)
    assert learner.backend_ == "dask"
    assert learner.device_ is None
    np.testing.assert_allclose(learner.components_, expected.components_, **SAME)
    for name in ("lam_", "mu_", "objective_", "n_unlabeled_", "n_iter_"):
        assert getattr(learner, name) == pytest.approx(getattr(expected, name), rel=1e-10)


@pytest.mark.parametrize(
    "parameters",
    few(
        [
            {"solver": em(2)},
            {"gamma": 0.1, "tol": 0.1},
            {"solver": "spg"},
            {"solver": "projected-gradient"},
            {"mu": 0},
            {"n_components": 1},
            {"unlabeled_pairs": 2000, "random_state": 0},
            {"unlabeled_pairs": 0.1, "random_state": 0, "solver": em(2)},
        ],
        lambda parameters: "mu" in parameters or parameters.get("unlabeled_pairs") == 2000,
    ),
    ids=str,
)
def test_the_metric_is_that_of_numpy_for_every_model(client, data, parameters):
    X, y, marked = data
    expected = SERAPH(backend="numpy", **FEW | parameters).fit(X, y, marks=marked)
    learner = SERAPH(**FEW | parameters).fit(da.from_array(X, chunks=(60, 6)), y, marks=marked)
    assert learner.backend_ == "dask"
    np.testing.assert_allclose(learner.components_, expected.components_, rtol=1e-9, atol=1e-9)
    assert learner.kappa_ == pytest.approx(expected.kappa_, rel=1e-9)


@pytest.mark.parametrize(
    "labels",
    [
        lambda y: da.from_array(y, chunks=50),
        lambda y: dd.from_pandas(pd.Series(y), npartitions=3),
        lambda y: dd.from_pandas(pd.Series(np.where(y < 0, None, y)), npartitions=3),
    ],
    ids=["array", "series", "series with gaps"],
)
def test_labels_may_be_in_chunks(client, data, expected, labels):
    X, y, marked = data
    learner = SERAPH(**FEW).fit(da.from_array(X, chunks=(60, 6)), labels(y), marks=marked)
    np.testing.assert_allclose(learner.components_, expected.components_, **SAME)


@pytest.mark.slow
def test_no_bit_depends_on_the_workers_or_the_run(client, data):
    points = da.from_array(data[0], chunks=(33, 6))
    terms, P = PairTerms(np.repeat([0, 1], 15), mu=0.3), np.eye(3, 6)

    def sums():
        return DaskSweep(points, SMALL)(P, terms, "factor")

    found = [sums() for _ in range(2)]
    with (
        LocalCluster(
            n_workers=1, threads_per_worker=3, processes=False, dashboard_address=None
        ) as other,
        Client(other),
    ):
        found.append(sums())
    for value, gradient in found[1:]:
        assert value == found[0][0]
        np.testing.assert_array_equal(gradient, found[0][1])


def test_single_precision_stays_single(client, data, expected):
    X, y, marked = data
    points = da.from_array(X.astype(np.float32), chunks=(60, 6))
    learner = SERAPH(**FEW).fit(points, y, marks=marked)
    assert learner.components_.dtype == np.float32
    np.testing.assert_allclose(learner.components_, expected.components_, rtol=1e-2, atol=1e-3)
    assert learner.transform(points).dtype == np.float32


@pytest.mark.slow
def test_points_on_disk(client, data, expected, tmp_path):
    X, y, marked = data
    points = da.from_array(X, chunks=(60, 6))
    da.to_npy_stack(tmp_path / "npy", points, axis=0)
    da.to_zarr(points, str(tmp_path / "zarr"))
    for stored in (
        da.from_npy_stack(tmp_path / "npy"),
        da.from_zarr(str(tmp_path / "zarr")),
    ):
        learner = SERAPH(**FEW).fit(stored, y, marks=marked)
        np.testing.assert_allclose(learner.components_, expected.components_, **SAME)


def test_fewer_points_than_features_are_loaded_into_memory(client, rng):
    X, y = rng.normal(size=(12, 20)), np.repeat([0, 1, -1], 4)
    learner = SERAPH(**FEW).fit(da.from_array(X, chunks=(5, 20)), y)
    expected = SERAPH(backend="numpy", **FEW).fit(X, y)
    # (Directions in which no point varies have no order of their own.)
    np.testing.assert_allclose(
        learner.get_mahalanobis_matrix(), expected.get_mahalanobis_matrix(), **SAME
    )


def test_another_backend_may_be_chosen(data, expected):
    X, y, marked = data
    for points in (da.from_array(X, chunks=(60, 6)), frame(X)):
        learner = SERAPH(backend="numpy", **FEW).fit(points, y, marks=marked)
        assert learner.backend_ == "numpy"
        np.testing.assert_allclose(learner.components_, expected.components_, **SAME)


@pytest.mark.parametrize(
    "learn",
    [
        pytest.param(
            lambda X, y, **s: (
                SERAPHCV(SERAPH(**s), cv=2, lam_factors=(0.5, 1)).fit(X, y).components_
            ),
            marks=pytest.mark.slow,
        ),
        pytest.param(
            lambda X, y, **s: KernelSERAPH(SERAPH(**s)).fit(X, y).learner_.components_,
            marks=pytest.mark.slow,
        ),
        lambda X, y, **s: seraph_path(X, y, n_lams=2, learner=SERAPH(**s)).components[-1],
    ],
    ids=["cross-validation", "kernel", "path"],
)
def test_the_other_learners_run_on_a_cluster(client, data, learn):
    X, y, _ = data
    here, there = (learn(X, y, backend=backend, max_iter=2) for backend in ("numpy", "dask"))
    np.testing.assert_allclose(
        there.T @ there, here.T @ here, rtol=1e-6, atol=1e-6 * np.abs(here.T @ here).max()
    )


# The cluster


def test_a_fit_without_a_client_starts_a_cluster_and_closes_it(data, expected):
    X, y, marked = data
    seen = []
    before = set(threading.enumerate())
    learner = SERAPH(
        backend="dask", n_jobs=2, callback=lambda state: seen.append(default_client()), **FEW
    )
    learner.fit(X, y, marks=marked)
    np.testing.assert_allclose(learner.components_, expected.components_, **SAME)
    assert len(set(seen)) == 1
    assert seen[0].status == "closed"
    assert seen[0].cluster.status.name == "closed"
    with pytest.raises(ValueError, match="No client"):
        default_client()
    for thread in set(threading.enumerate()) - before:
        if "Offload" not in thread.name:  # a pool that dask keeps for the whole process
            # dask's profiler notices only at its next tick that it may end
            thread.join(timeout=300)
            assert not thread.is_alive(), thread


def test_a_failed_fit_closes_its_cluster(data):
    def fail(state):
        raise RuntimeError("no sum today")

    with pytest.raises(RuntimeError, match="no sum today"):
        SERAPH(backend="dask", callback=fail).fit(*data[:2])
    with pytest.raises(ValueError, match="No client"):
        default_client()


@pytest.fixture(scope="module")
def processes():
    with LocalCluster(n_workers=2, threads_per_worker=1, **QUIET) as cluster:
        yield cluster


ARRAY = pytest.param(True, marks=pytest.mark.slow, id="array")


@pytest.mark.slow
@pytest.mark.parametrize("plain", [ARRAY, pytest.param(False, id="dask array")])
def test_sums_survive_the_death_of_a_worker(processes, data, plain):
    X = data[0]
    terms, P = PairTerms(np.repeat([0, 1], 15), mu=0.3), np.eye(3, 6)
    # Several parts, some of them on the worker that dies.
    sweep = DaskSweep(X if plain else da.from_array(X, chunks=(33, 6)), Limits(min_rows=60))
    with Client(processes) as client:
        client.wait_for_workers(2)
        doomed = next(iter(client.run(os.getpid).values()))
        found = [sweep(P, terms, "factor")]
        killer = threading.Timer(0.02, os.kill, [doomed, signal.SIGKILL])
        killer.start()  # while the tiles are being swept
        found.append(sweep(P, terms, "factor"))
        killer.join()  # on a busy machine the sweep may be the first to end
        wait_until(lambda: doomed not in client.run(os.getpid, on_error="ignore").values())
        found.append(sweep(P, terms, "factor"))
    expected, slope = NumpySweep(X)(P, terms, "factor")
    for value, gradient in found:
        assert value == pytest.approx(expected, rel=1e-11)
        np.testing.assert_allclose(gradient, slope, rtol=1e-9, atol=1e-9)


def test_nothing_is_left_on_the_cluster(client, data):
    X, y, _ = data

    def held(dask_scheduler):
        return [str(key) for key in dask_scheduler.tasks]

    SERAPH(**FEW).fit(da.from_array(X, chunks=(33, 6)), y)
    gc.collect()
    wait_until(lambda: not client.run_on_scheduler(held))


# How often the points are read


READS = Counter()


def read(chunk, block_info=None):
    READS[block_info[0]["chunk-location"][0]] += 1
    return chunk


def counted(X, chunks):
    """Make a dask array of `X` that counts in READS how often each of its chunks is read."""
    READS.clear()
    points = da.from_array(X, chunks=chunks)
    return points.map_blocks(read, dtype=X.dtype, meta=np.empty((0, 0), dtype=X.dtype))


@pytest.mark.slow
def test_points_are_read_once_for_their_moments_and_once_to_be_held(client, data):
    X, y, _ = data
    SERAPH(**FEW).fit(counted(X, (33, 6)), y)
    assert set(READS.values()) == {2}


def test_the_error_of_a_sample_takes_one_more_reading(data):
    X, y, _ = data
    with dask.config.set(scheduler="synchronous"):
        points = ChunkedPoints.read(counted(X, (33, 6)))
        settings = Settings(backend="dask", unlabeled_pairs=2000, random_state=0)
        labels = PairLabels.make(len(X), y)
        problem = Problem.make(points, labels, settings)
        READS.clear()
        found = estimate_error(problem, np.eye(2, 6), labels)
        assert set(READS.values()) == {1}
        here = replace(settings, backend="numpy")
        problem = Problem.make(PointsInMemory(X), labels, here)
        assert found == pytest.approx(estimate_error(problem, np.eye(2, 6), labels))


POSTERIORS = [Posterior(np.eye(3, 6)), None, Posterior()]


@pytest.mark.parametrize("wrt", ["factor", "threshold"])
@pytest.mark.parametrize("q", few(POSTERIORS, lambda q: q is POSTERIORS[0]))
def test_points_that_do_not_fit_are_read_twice_for_a_sum_by_the_factor(client, data, wrt, q):
    X = data[0]
    terms, P = PairTerms(np.repeat([0, 1], 10), mu=0.3, q=q), np.eye(2, 6)
    points = counted(X, (20, 6))
    value, gradient = DaskSweep(points, replace(SMALL, held_share=0.0))(P, terms, wrt)
    expected = NumpySweep(X)(P, terms, wrt)
    assert value == pytest.approx(expected[0], rel=1e-10)
    np.testing.assert_allclose(gradient, expected[1], rtol=1e-8, atol=1e-8)
    assert max(READS.values()) == (1 if wrt == "threshold" else 2)


def test_wide_points_are_projected_before_the_tiles(client, rng):
    X, P = rng.normal(size=(200, 90)) / 9.0, rng.normal(size=(5, 90))
    terms = PairTerms(np.repeat([0, 1], 10), mu=0.3)
    value, gradient = DaskSweep(da.from_array(X, chunks=(50, 90)), SMALL)(P, terms, "factor")
    expected = NumpySweep(X)(P, terms, "factor")
    assert value == pytest.approx(expected[0], rel=1e-10)
    np.testing.assert_allclose(gradient, expected[1], rtol=1e-8, atol=1e-8)


def test_pairs_are_gathered_in_rounds_that_fit(client, data):
    X = data[0]
    i, j = np.triu_indices(len(X), k=1)
    pairs = np.stack([i, j], axis=1)[::97]
    for free in (np.inf, 1.0):
        limits = replace(SMALL, shard_pairs=8, free_memory=lambda free=free: [free])
        parts = _dask._Parts(counted(X, (20, 6)), np.empty(0, dtype=int), limits)
        shards = _dask._Shards(parts, pairs)
        n_rounds = len(shards.arrays)
        assert n_rounds == (1 if free == np.inf else len(shards.shards))
        assert len(shards.shards) > 2
        D = np.vstack([array.compute() for array in shards.arrays])
        np.testing.assert_array_equal(D, X[pairs[:, 0]] - X[pairs[:, 1]])
        assert set(READS.values()) <= set(range(1, n_rounds + 1))


def test_a_share_of_a_list_is_the_same_on_a_cluster_as_in_memory(client, data):
    X = data[0]
    i, j = np.triu_indices(len(X), k=1)
    pairs = PairList.of(np.stack([i, j], axis=1)[::5])
    P = np.eye(3, 6)
    sweep = DaskSweep(da.from_array(X, chunks=(20, 6)), SMALL)
    for step in (4, 7):
        plan = Plan(listed=pairs, step=step, weight=5.0 * step)
        terms = PairTerms(np.empty(0, dtype=int), mu=0.5, plan=plan)
        value, gradient = sweep(P, terms, "factor")
        expected, slope = NumpySweep(X)(P, terms, "factor")
        assert value == pytest.approx(expected, rel=1e-11)
        np.testing.assert_allclose(gradient, slope, rtol=1e-9, atol=1e-10)


def test_pairs_are_swept_in_strips_that_fit():
    X = da.zeros((1000, 8), chunks=(100, 8))
    limits = Limits(min_rows=100, free_memory=lambda: [30_000.0])
    parts = _dask._Parts(X, np.zeros(20, dtype=int), limits)
    strips = list(parts.pair_other_parts())
    everything = [tile for strip in strips for tile in strip]
    n = len(parts.edges) - 1
    assert sorted(everything) == [(a, b) for a in range(n) for b in range(max(a, 1), n)]
    for strip in strips:
        rows = {a for a, _ in strip}
        assert sum(np.diff(parts.edges)[list(rows)]) * 64 <= 7500 or len(rows) == 1


def test_without_unlabeled_weight_only_labeled_rows_are_read(client, data):
    X = data[0]
    sweep = DaskSweep(counted(X, (20, 6)), SMALL)
    terms = PairTerms(np.repeat([0, 1], 10))
    value, _ = sweep(np.eye(6), terms, "factor")
    assert value == pytest.approx(NumpySweep(X)(np.eye(6), terms, "factor")[0])
    assert READS == {0: 1}


def test_sampled_pairs_are_gathered_once(client, data):
    X = data[0]
    sweep = DaskSweep(counted(X, (20, 6)), SMALL)
    sampled = Plan(
        listed=PairList.of(np.array([[3, 190], [25, 26], [26, 185], [27, 28]])), weight=2.0
    )
    terms = PairTerms(np.repeat([0, 1], 10), mu=0.5, plan=sampled)
    for _ in range(3):
        value, _ = sweep(np.eye(6), terms, "factor")
    assert value == pytest.approx(NumpySweep(X)(np.eye(6), terms, "factor")[0])
    assert set(READS.values()) == {1}
    assert {0, 1, 9} <= set(READS) <= {0, 1, 2, 8, 9}


# The moments of the points


@pytest.mark.parametrize(
    ("scale", "rescale"), [(1.0, True), (1.0, False), (1e-200, True), (1e200, True)]
)
def test_the_coordinates_are_those_of_numpy(rng, scale, rescale):
    X = scale * (rng.normal(size=(40, 4)) * [1, 2, 3, 4] + 5.0)
    X[:7] = 0.0
    whole = PointsInMemory(X).coordinates(rescale=rescale)
    points = ChunkedPoints.read(da.from_array(X, chunks=((5, 1, 30, 4), 3)))
    chunked = points.coordinates(rescale=rescale)
    assert chunked.unit == pytest.approx(whole.unit, rel=1e-13)
    assert chunked.n_features == 4
    np.testing.assert_allclose(chunked.array.compute(), whole.array, rtol=1e-12, atol=1e-13)
    assert chunked.principal_axes[0] == pytest.approx(whole.principal_axes[0], rel=1e-12)
    for rank in (2, 4):
        first, other = whole.start(1.5, rank), chunked.start(1.5, rank)
        np.testing.assert_allclose(other.T @ other, first.T @ first, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(points.std() / scale, (X / scale).std(axis=0), rtol=1e-12)
    rows = np.array([31, 3, 0])
    np.testing.assert_allclose(
        chunked.with_first(rows).compute(), whole.with_first(rows), atol=1e-13
    )


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda X: da.where(da.arange(200, chunks=60)[:, None] == 9, np.nan, X), "contains NaN"),
        (lambda X: da.where(X.max() == X, np.inf, X), "contains infinity"),
        (lambda X: X[:1], "minimum of 2 samples"),
        (lambda X: X[:, 0], "2 dimensions"),
        (lambda X: X * 1j, "Complex data"),
    ],
    ids=["NaN", "infinity", "one row", "one dimension", "complex"],
)
def test_bad_points_are_refused(data, spoil, message):
    X, y, _ = data
    with pytest.raises(ValueError, match=message):
        SERAPH().fit(spoil(da.from_array(X, chunks=(60, 6))), y)


def test_there_must_be_as_many_labels_as_points(data):
    X, y, _ = data
    with pytest.raises(ValueError, match="y has 199 labels and X has 200 rows"):
        SERAPH().fit(without_lengths(X), y[:-1])


def test_the_manifold_extension_needs_points_in_memory(client, data):
    X, y, _ = data
    with pytest.raises(ValueError, match=r"manifold=0.1 needs .* pass X.compute\(\)"):
        SERAPH(manifold=0.1).fit(da.from_array(X, chunks=(60, 6)), y)


def test_a_cluster_without_dask_names_the_extra(data, monkeypatch):
    X, y, _ = data
    monkeypatch.setattr(_choose, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"needs distributed: .*seraph-learn\[dask\]"):
        SERAPH(backend="dask").fit(X, y)
    with pytest.raises(ImportError, match=r"seraph-learn\[dask\]"):
        _choose.make_sweep(X, backend="dask")


# Transform


def test_columns_keep_their_names(client, data):
    X, y, _ = data
    learner = SERAPH(**FEW).fit(frame(X), y)
    assert learner.feature_names_in_.tolist() == NAMES
    assert learner.n_features_in_ == 6
    with pytest.raises(ValueError, match="feature names"):
        learner.transform(frame(X).rename(columns={"a": "z"}))


def test_points_in_chunks_are_mapped_when_they_are_computed(data, expected):
    X = data[0]
    mapped = expected.transform(counted(X, (33, 3)))
    assert isinstance(mapped, da.Array)
    assert mapped.shape == (200, len(expected.components_))
    assert not READS
    np.testing.assert_allclose(mapped.compute(), expected.transform(X), **SAME)
    table = expected.transform(frame(X).to_dask_array())
    np.testing.assert_allclose(table.compute(), expected.transform(X), **SAME)
    integers = expected.transform(da.from_array(np.eye(6, dtype=int), chunks=(4, 6)))
    np.testing.assert_allclose(integers.compute(), expected.components_.T, **SAME)


def test_bad_points_are_not_mapped(data, expected):
    points = da.from_array(data[0], chunks=(60, 6))
    with pytest.raises(ValueError, match="X has 5 features"):
        expected.transform(points[:, :5])
    with pytest.raises(ValueError, match="contains NaN"):
        expected.transform(da.where(points > 4.0, np.nan, points)).compute()


# A share of the pairs, in tiles


@pytest.mark.parametrize("wrt", ["factor", "metric", "threshold"])
@pytest.mark.parametrize("labeled_share", [1.0, 0.4])
@pytest.mark.slow
def test_a_share_of_the_pairs_is_unbiased_whatever_their_order(rng, wrt, labeled_share):
    X = rng.normal(size=(40, 3))
    X = X[np.argsort(X[:, 0])]  # the order that misleads a sample the most
    P = rng.normal(size=(2, 3))
    terms = PairTerms(np.repeat([0, 1], 10), np.array([[3, 35]]), np.array([True]), mu=0.4)
    sweep = DaskSweep(X, SMALL)
    value, gradient = sweep(P, terms, wrt)
    exact = np.append(gradient, value)
    found = []
    for seed in range(40):
        plan = Plan(share=0.4, labeled_share=labeled_share, seed=seed)
        value, gradient = sweep(P, replace(terms, plan=plan), wrt)
        found.append(np.append(gradient, value))
    noise = np.std(found, axis=0, ddof=1) / np.sqrt(len(found))
    assert np.all(noise[-1] > 0.0)
    assert noise[-1] < 0.03 * abs(exact[-1])
    assert np.max(np.abs(np.mean(found, axis=0) - exact) / noise) < 4.0
