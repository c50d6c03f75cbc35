"""Sampled pairs in chunks: the sums over exactly these pairs, whatever the chunks."""

from dataclasses import replace

import dask
import dask.array as da
import numpy as np
import pytest
from scipy.special import expit
from seraph._engine import Settings
from seraph._engine._problem import Problem
from seraph._sweep import ChunkedPoints, PointsInMemory, Posterior
from seraph._sweep._dask import DaskSweep, Limits

from seraph._marks import Marks, PairLabels
from tests.helpers.oracle import entropy, log_likelihood

N, M = 40, 3
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, M)) + 3.0 * (np.arange(N) < 15)[:, np.newaxis]  # chunks differ
Y = np.full(N, -1)
Y[[3, 9, 30, 31, 39]] = [0, 0, 1, 1, 2]
MARKS = Marks([[0, 1], [5, 35], [20, 39]], [1.0, 0.0, 0.25], weights=[2.0, 1.0, 5.0], rows=N)
LABELS = PairLabels.make(N, Y, MARKS)
P = RNG.normal(size=(2, M))
SOURCES = {"entropy": None, "first M-step": Posterior(), "M-step": Posterior(0.7 * P[:1])}


@pytest.fixture(autouse=True)
def one_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


def problem(rows, size, seed=0):
    points = PointsInMemory(X) if rows is None else ChunkedPoints.read(da.from_array(X, (rows, M)))
    backend = "numpy" if rows is None else "dask"
    settings = Settings(mu=0.3, eta=1.5, unlabeled_pairs=size, backend=backend, random_state=seed)
    made = Problem.make(points, LABELS, settings)
    if rows is None:
        return made
    tiny_parts = DaskSweep(made.pairs.sweep.X, Limits(min_rows=4, shard_pairs=17))
    return replace(made, pairs=replace(made.pairs, sweep=tiny_parts))


def dense(Z, terms, pairs, weight, wrt):
    """The sum over the labeled pairs and `weight` times that over some others, one by one."""
    k = len(terms.codes)
    listed = [(i, j, float(terms.codes[i] == terms.codes[j]), 1.0)
              for i in range(k) for j in range(i + 1, k)]  # fmt: skip
    listed += zip(*terms.pairs.T, terms.similar, terms.weights, strict=True)
    listed += [(i, j, None, weight * terms.mu) for i, j in pairs]
    total, by_metric, by_threshold = 0.0, np.zeros((M, M)), 0.0
    for i, j, share, w in listed:
        d = Z[i] - Z[j]
        d2 = np.sum((P @ d) ** 2)
        t = d2 - terms.eta
        if share is None and terms.q is None:
            value, slope = -entropy(t), expit(-t) * expit(t) * t
        else:
            if share is None:
                Q = terms.q.P
                frozen = np.inf if Q is None else np.sum((Q @ d) ** 2) - terms.eta
                share = expit(-(1.0 + terms.mu) * frozen)  # noqa: PLW2901
            value = sum(
                part * log_likelihood(d2, similar, terms.eta)
                for part, similar in ((share, True), (1.0 - share, False))
            )
            slope = expit(-t) - share
        total += w * value
        by_metric += w * slope * np.outer(d, d)
        by_threshold -= w * slope
    return total, {"metric": by_metric, "factor": 2.0 * P @ by_metric, "threshold": by_threshold}[
        wrt
    ]


@pytest.mark.parametrize("wrt", ["metric", "factor", "threshold"])
@pytest.mark.parametrize("source", SOURCES)
def test_the_sum_is_over_exactly_the_sampled_pairs(source, wrt):
    made = problem(13, 200)
    Z, terms = made.pairs.sweep.X.compute(), replace(made.pairs.terms, q=SOURCES[source])
    pairs = terms.plan.listed[:]
    assert len(np.unique(np.sort(pairs, axis=1), axis=0)) == 200
    for step in (1, 2):
        taken = pairs[::step]
        weight = LABELS.n_unlabeled / len(taken)
        some = replace(terms, plan=replace(terms.plan, step=step, weight=weight))
        value, gradient = made.pairs.sweep(P, some, wrt)
        expected, slope = dense(Z, terms, taken, weight, wrt)
        assert value == pytest.approx(expected, rel=1e-11)
        np.testing.assert_allclose(gradient, slope, rtol=1e-9, atol=1e-10 * np.abs(slope).max())


@pytest.mark.parametrize("source", SOURCES)
def test_neither_the_sample_nor_its_sums_depend_on_the_chunks(source):
    expected = problem(None, 300)
    sums = expected.pairs.sweep(P, replace(expected.pairs.terms, q=SOURCES[source]), "metric")
    for rows in (1, 7, 40):
        made = problem(rows, 300)
        np.testing.assert_array_equal(
            made.pairs.terms.plan.listed[:], expected.pairs.terms.plan.listed[:]
        )
        value, gradient = made.pairs.sweep(
            P, replace(made.pairs.terms, q=SOURCES[source]), "metric"
        )
        assert value == pytest.approx(sums[0], rel=1e-11)
        np.testing.assert_allclose(gradient, sums[1], rtol=1e-9)
