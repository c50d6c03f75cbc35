"""Many labeled pairs: as exact as a few."""

import numpy as np
import pytest
from seraph._sweep import NumbaSweep, NumpySweep, PairTerms, Plan

from tests.helpers.oracle import labeled_pairs, objective
from tests.helpers.sweeps import ETA, MU, posteriors, q_function, sample_of


def many_pairs(rng, n, size, first=0):
    """Distinct pairs, sorted by the first row; no row is among the `first` ones."""
    i, j = np.triu_indices(n - first, k=1)
    chosen = np.sort(rng.permutation(len(i))[:size])
    return first + np.column_stack([i, j])[chosen]


@pytest.mark.parametrize("kind", ["entropy", "all dissimilar", "frozen metric"])
@pytest.mark.parametrize("mu", [0.0, MU])
@pytest.mark.parametrize("Sweep", [NumpySweep, NumbaSweep])
def test_many_listed_pairs_give_the_sums_of_the_oracle_and_of_pairs_one_by_one(
    rng, kind, mu, Sweep
):
    n, m = 23, 5
    X, P = 0.6 * rng.normal(size=(n, m)), rng.normal(size=(2, m))
    codes = np.array([0, 0, 1, 2])
    pairs = many_pairs(rng, n, 100, first=len(codes))
    similar = rng.uniform(size=len(pairs)) < 0.5
    source = posteriors(rng)[kind]
    for plan in (Plan(), sample_of(rng, n, codes, pairs)):
        terms = PairTerms(codes, pairs, similar, ETA, mu, source, plan)
        shuffled = rng.permutation(len(pairs))
        gathered = PairTerms(codes, pairs[shuffled], similar[shuffled], ETA, mu, source, plan)
        for wrt in ("metric", "factor", "threshold"):
            value, gradient = Sweep(X)(P, terms, wrt)
            expected_value, expected = Sweep(X)(P, gathered, wrt)
            assert value == pytest.approx(expected_value, rel=1e-12)
            np.testing.assert_allclose(gradient, expected, rtol=1e-10, atol=1e-11)
        if plan.listed is None:
            known = labeled_pairs(codes, pairs, similar)
            written_out = objective(X, P.T @ P, known, eta=ETA, mu=mu, q=q_function(source))
            assert value == pytest.approx(written_out, rel=1e-10)


@pytest.mark.parametrize("codes", [np.repeat(np.arange(3), 20), np.arange(60) % 3, np.arange(60)])
def test_tiles_of_one_kind_give_the_sums_of_the_oracle(rng, codes):
    X, P = 0.6 * rng.normal(size=(70, 3)), rng.normal(size=(2, 3))
    terms = PairTerms(codes, eta=ETA, mu=MU)
    expected = objective(X, P.T @ P, labeled_pairs(codes), eta=ETA, mu=MU)
    for Sweep in (NumpySweep, NumbaSweep):
        assert Sweep(X, tile=6)(P, terms, "metric")[0] == pytest.approx(expected, rel=1e-10)
