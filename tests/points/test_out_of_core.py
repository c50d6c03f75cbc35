"""Fits take a share of the memory that their points take, and read each chunk once."""

import tracemalloc

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from distributed import Client, LocalCluster
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from seraph import (
    SERAPH,
    Marks,
    MeanMetric,
    MetricClassifier,
    PairClassifier,
    query_rows,
    query_screens,
)
from seraph._marks import _sample
from seraph.classic import GMML, ITML, LFDA, LMNN, LRML, RCA, RFD, Covariance
from tests.helpers.chunks import READS, counted

N, MOST = 400, 80
RNG = np.random.default_rng(0)
CLASSES = RNG.integers(3, size=N)
X = 2.0 * RNG.normal(size=(3, 4))[CLASSES] + RNG.normal(size=(N, 4))
Y = np.where(RNG.permutation(N) < 40, CLASSES, -1)
FREE = np.flatnonzero(Y < 0)
PAIRS = RNG.choice(FREE, size=(60, 2), replace=False)
MARKS = Marks(PAIRS, CLASSES[PAIRS[:, 0]] == CLASSES[PAIRS[:, 1]], rows=N)
NAMES = list("abcd")


@pytest.fixture
def points(monkeypatch):
    """Ten chunks that count how often they are read; samples are smaller than they are."""
    monkeypatch.setattr(_sample, "_MOST", MOST)
    monkeypatch.setattr(_sample.sample_rows, "__kwdefaults__", {"unlabeled": MOST})
    return counted(X, (40, 4))


def once(reads=1):
    return dict.fromkeys(range(10), reads)


FITS = {
    **{
        Learner.__name__: lambda Z, Learner=Learner: Learner().fit(Z, Y)
        for Learner in (ITML, GMML, LRML, LMNN, LFDA, RCA, RFD, Covariance)
    },
    "marks": lambda Z: ITML().fit(Z, marks=MARKS),
    "classifier": lambda Z: MetricClassifier(SERAPH()).fit(Z, Y),
    "pipeline": lambda Z: MetricClassifier(make_pipeline(StandardScaler(), ITML())).fit(Z, Y),
    "pairs": lambda Z: PairClassifier(ITML()).fit(Z, marks=MARKS),
    "classes of pairs": lambda Z: PairClassifier(ITML()).fit(Z, Y),
}


@pytest.mark.parametrize("name", FITS)
def test_a_fit_reads_each_chunk_once_and_learns_from_a_sample_with_all_that_is_known(name, points):
    model = FITS[name](points)
    assert once() == READS
    rows = _sample.choose_rows(N, MOST, seed=0)
    known = PAIRS.ravel() if name in ("marks", "pairs") else np.flatnonzero(Y >= 0)
    rows = np.union1d(rows, known)
    part = FITS[name].__defaults__
    if part and part[0] not in (Covariance, RFD):
        np.testing.assert_allclose(model.components_, part[0]().fit(X[rows], Y[rows]).components_)
    elif name == "marks":
        expected = ITML().fit(X[rows], marks=MARKS[rows]).components_
        np.testing.assert_allclose(model.components_, expected)


MODEL = MetricClassifier(SERAPH()).fit(X, Y)
PAIR_MODEL = PairClassifier(ITML()).fit(X, marks=MARKS)


@pytest.mark.parametrize("method", ["transform", "predict_proba", "predict"])
def test_a_classifier_maps_chunk_by_chunk_when_it_is_computed(method, points):
    mapped = getattr(MODEL, method)(points)
    assert isinstance(mapped, da.Array)
    assert not READS
    expected = getattr(MODEL, method)(X)
    assert mapped.shape == expected.shape
    np.testing.assert_allclose(mapped.compute(), expected)
    assert once() == READS


def test_a_frame_keeps_its_names_in_fits_and_chunks():
    table = pd.DataFrame(X, columns=NAMES, index=[f"row {k}" for k in range(N)])
    frame = dd.from_pandas(table, npartitions=4, sort=False)
    model = MetricClassifier(make_pipeline(StandardScaler(), SERAPH())).fit(frame, Y)
    assert model.feature_names_in_.tolist() == NAMES
    np.testing.assert_array_equal(model.predict(frame).compute(), model.predict(table))
    named = Marks(table.index.to_numpy()[MARKS.pairs], MARKS.labels, rows=table)
    pairs = PairClassifier(ITML()).fit(frame, marks=named)
    ask = table.index.to_numpy()[PAIRS]
    np.testing.assert_allclose(
        pairs.pair_distance(ask, frame), pairs.pair_distance(ask, table), rtol=1e-12
    )
    assert set(query_rows(model, frame, 3, y=Y, random_state=0)) <= set(table.index)


def test_scores_and_pairs_read_the_rows_that_they_need(points):
    assert MODEL.score(points, Y) == MODEL.score(X, Y)
    learner = MODEL.estimator_
    assert learner.score(points, Y) == pytest.approx(learner.score(X, Y))
    assert PAIR_MODEL.score(points, marks=MARKS) == PAIR_MODEL.score(X, marks=MARKS)
    READS.clear()
    for model in (learner, PAIR_MODEL):
        np.testing.assert_allclose(
            model.pair_distance([[1, 0], [3, 1]], points), model.pair_distance([[1, 0], [3, 1]], X)
        )
    assert READS == {0: 2}


def test_questions_are_about_rows_of_the_collection(points):
    rows = query_rows(MODEL, points, 4, y=Y, random_state=0)
    assert (Y[rows] == -1).all()
    screens, _ = query_screens(MODEL, points, 2, random_state=0)
    assert once(2) == READS
    sample = np.union1d(_sample.choose_rows(N, MOST, seed=0), np.flatnonzero(Y >= 0))
    assert np.isin(rows, sample).all()
    assert max(rows.max(), screens.max()) >= len(sample)


def test_many_labeled_rows_are_sampled_with_a_warning(points):
    with pytest.warns(UserWarning, match=f"Of {N} labeled rows of the dask collection, {MOST}"):
        ITML().fit(points, CLASSES)


@pytest.mark.slow
def test_workers_of_400_mb_learn_from_1_gb():
    n, m = 1_000_000, 128
    noise = da.random.default_rng(0).normal(size=(n, m), chunks=(10_000, m))
    y = np.full(n, -1)
    y[:300] = np.arange(300) % 2
    points = noise + 3.0 * (da.arange(n, chunks=10_000) % 2)[:, np.newaxis]
    quiet = {"dashboard_address": None, "n_workers": 2, "threads_per_worker": 1}
    with LocalCluster(**quiet, memory_limit="400MB") as cluster, Client(cluster):
        model = MetricClassifier(SERAPH()).fit(points, y)
        assert float(model.predict(points).mean().compute()) == pytest.approx(0.5, abs=1e-3)
        ITML().fit(points, y)
        assert len(query_rows(model, points, 3, y=y, random_state=0)) == 3
        assert model.estimator_.score(points, y) > 0.9


@pytest.mark.slow
@pytest.mark.parametrize("learner", [SERAPH(), MeanMetric()], ids=repr)
def test_a_file_is_not_copied(learner, tmp_path):
    n, m = 1_000_000, 64
    X = np.memmap(tmp_path / "points", dtype=np.float64, mode="w+", shape=(n, m))
    rng = np.random.default_rng(0)
    for start in range(0, n, 50_000):
        X[start : start + 50_000] = rng.normal(size=(50_000, m))
    y = np.full(n, -1)
    y[:200] = rng.integers(5, size=200)
    learner.fit(X[:500], y[:500])  # imports
    tracemalloc.start()
    learner.fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak <= 0.3 * 8 * n * m


@pytest.mark.parametrize("model", [SERAPH().fit(X, Y), MetricClassifier(SERAPH()).fit(X, Y)])
def test_a_collection_becomes_no_table_in_memory(model, points):
    model.set_output(transform="pandas")
    with pytest.raises(ValueError, match="which would be loaded as a whole: call set_output"):
        model.transform(points)
    assert not READS
