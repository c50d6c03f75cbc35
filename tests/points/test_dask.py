"""Dask collections: read once, in any chunks, with the metric of the array; mapped lazily."""

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import torch

from seraph import SERAPH, Marks, MeanMetric, _mean, _seraph
from seraph._points import read_points
from seraph.classic import ITML
from tests.helpers.chunks import READS, counted

N, MOST = 200, 60
NAMES = list("abcdef")
# Chunks that are empty, of one row, and cut between columns.
CHUNKS = [(33, 6), (200, 4), ((1, 0, 150, 49), 6), (7, 2)]


@pytest.fixture(scope="module")
def data():
    """Three Gaussian classes, 30 points labeled, and two marks."""
    rng = np.random.default_rng(0)
    classes = rng.integers(3, size=N)
    X = 1.5 * rng.normal(size=(3, 6))[classes] + rng.normal(size=(N, 6)) + 3.0
    y = np.where(rng.permutation(N) < 30, classes, -1)
    free = np.flatnonzero(y < 0)
    marks = Marks([[free[0], free[100]], [free[3], np.flatnonzero(y == 0)[5]]], [1, -1], rows=X)
    return X, y, marks


@pytest.fixture
def sampled(monkeypatch):
    """Fits sample some of these few rows, so that chunks are not just brought into memory."""
    monkeypatch.setattr(_seraph, "ROWS", MOST)
    return {"unlabeled_pairs": 6}


def frame(X, npartitions=4):
    return dd.from_pandas(pd.DataFrame(X, columns=NAMES), npartitions=npartitions)


COLLECTIONS = {
    **{str(chunks): lambda X, chunks=chunks: da.from_array(X, chunks=chunks) for chunks in CHUNKS},
    "persisted": lambda X: da.from_array(X, chunks=(60, 6)).persist(),
    "frame": frame,
    "unknown lengths": lambda X: frame(X).to_dask_array(),
}
EVERY = pytest.mark.parametrize("collection", COLLECTIONS)


def read(X, most=MOST):
    return read_points(X, "SERAPH", lambda n: np.array([3, 150]), most, seed=0)


@EVERY
@pytest.mark.parametrize("dtype", [np.float32, int])
def test_points_in_chunks_are_read_as_the_array_is(data, collection, dtype):
    X = (10 * data[0]).astype(dtype)
    here, there = read(X), read(COLLECTIONS[collection](X))
    assert there.shape == (N, 6)
    assert there.dtype == here.dtype
    np.testing.assert_array_equal(there.sampled, here.sampled)
    rows = np.union1d(here.sampled, [3, 150])
    np.testing.assert_array_equal(there.take(rows[::-1]), here.take(rows[::-1]))
    for name in ("mean", "unit", "covariance", "std"):
        np.testing.assert_allclose(
            getattr(there.frame, name), getattr(here.frame, name), rtol=1e-12, atol=1e-14
        )


@EVERY
def test_the_metric_is_that_of_the_array(data, collection, sampled):
    X, y, marks = data
    expected = SERAPH(**sampled).fit(X, y, marks=marks)
    learner = SERAPH(**sampled).fit(COLLECTIONS[collection](X), y, marks=marks)
    np.testing.assert_allclose(learner.components_, expected.components_, rtol=1e-9, atol=1e-9)
    for name in ("lam_", "mu_", "objective_", "n_unlabeled_"):
        assert getattr(learner, name) == pytest.approx(getattr(expected, name), rel=1e-10)
    assert learner.n_features_in_ == 6


@pytest.mark.parametrize(
    "learn",
    [
        lambda X, y: SERAPH(unlabeled_pairs="all").fit(X, y).components_,
        lambda X, y: SERAPH().fit(X[:12].repeat(4, axis=1), np.arange(12) % 2).components_,
    ],
    ids=["all pairs", "more features than rows"],
)
def test_what_needs_all_points_brings_them_into_memory(data, learn, sampled):
    X, y, _ = data
    A, B = (learn(Z, y) for Z in (X, da.from_array(X, chunks=(33, 6))))
    np.testing.assert_allclose(B.T @ B, A.T @ A, atol=1e-9 * np.abs(A.T @ A).max())


# How often the points are read


def test_a_fit_reads_each_chunk_once(data, sampled):
    X, y, marks = data
    SERAPH(**sampled).fit(counted(X, (20, 6)), y, marks=marks)
    assert dict.fromkeys(range(10), 1) == READS


def test_points_in_chunks_are_mapped_when_they_are_computed(data, sampled):
    X, y, _ = data
    learner = SERAPH(**sampled).fit(X, y)
    expected = learner.transform(X)
    mapped = learner.transform(counted(X, (33, 3)))
    assert isinstance(mapped, da.Array)
    assert mapped.shape == expected.shape
    assert not READS
    np.testing.assert_allclose(mapped.compute(), expected)
    np.testing.assert_allclose(learner.transform(frame(X).to_dask_array()).compute(), expected)
    integers = learner.transform(da.from_array(np.eye(6, dtype=int), chunks=(4, 6)))
    np.testing.assert_allclose(integers.compute(), learner.components_.T)
    assert learner.transform(da.from_array(X.astype("f4"), chunks=(60, 6))).dtype == np.float32


BAD = {
    "NaN": (lambda X: da.where(da.arange(N, chunks=60)[:, None] == 9, np.nan, X), "NaN"),
    "infinity": (lambda X: da.where(X.max() == X, np.inf, X), "infinity"),
    "one row": (lambda X: X[:1], "minimum of 2"),
    "one dimension": (lambda X: X[:, 0], "2 dimensions"),
    "complex": (lambda X: X * 1j, "Complex data"),
    "too large": (lambda X: X * 1e200, "overflow"),
    "too few": (lambda X: X[:-1], "y has 200 labels and X has 199 rows"),
    "unknown number": (lambda X: frame(X.compute()[:-1]).to_dask_array(), "X has 199 rows"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_points_are_refused(data, name, sampled):
    X, y, _ = data
    spoil, message = BAD[name]
    with pytest.raises(ValueError, match=message):
        SERAPH(**sampled).fit(spoil(da.from_array(X, chunks=(60, 6))), y)


def test_the_manifold_extension_needs_points_in_memory(data):
    X, y, _ = data
    with pytest.raises(ValueError, match=r"manifold=0.1 needs .* pass X.compute\(\)"):
        SERAPH(manifold=0.1).fit(da.from_array(X, chunks=(60, 6)), y)


class Own(SERAPH):
    """A user's learner, which reads X itself."""


def test_a_mean_of_metrics_reads_each_chunk_once_and_is_that_of_the_array(data, monkeypatch):
    """Members that read X themselves get the same rows, with their labels and marks."""
    monkeypatch.setattr(_mean, "ROWS", MOST)
    X, y, marks = data
    learners = [("seraph", SERAPH(unlabeled_pairs=6)), ("itml", ITML()), ("own", Own())]
    expected = MeanMetric(learners).fit(X, y, marks=marks)
    assert expected.named_learners_.own.n_unlabeled_ < MOST * (MOST + 40) / 2
    for points in (counted(X, (20, 6)), torch.tensor(X)):
        learner = MeanMetric(learners).fit(points, y, marks=marks)
        np.testing.assert_allclose(
            learner.get_mahalanobis_matrix(), expected.get_mahalanobis_matrix(), rtol=1e-7
        )
    assert dict.fromkeys(range(10), 1) == READS


def test_labels_may_be_in_chunks(data, sampled):
    X, y, _ = data
    with_gaps = pd.Series(np.where(y < 0, None, y))
    for labels in (da.from_array(y, chunks=50), dd.from_pandas(with_gaps, npartitions=3)):
        learner = SERAPH(**sampled).fit(da.from_array(X, chunks=(60, 6)), labels)
        np.testing.assert_allclose(learner.components_, SERAPH(**sampled).fit(X, y).components_)
