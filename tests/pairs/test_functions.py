"""Functions of a pair: the plain formulas, their derivatives, extreme distances, and a new one."""

from dataclasses import dataclass

import numpy as np
import pytest
import torch
from scipy.optimize import minimize_scalar
from scipy.special import expit

from seraph._pairs import (
    BlockPairs,
    LogLikelihood,
    MStep,
    NegativeEntropy,
    PairFunction,
    _blocks,
    probability,
    sum_over_blocks,
)
from seraph.classic._gdm import DissimilarDistance
from seraph.classic._itml import SlackCost
from tests.helpers.oracle import entropy, log_likelihood

T = np.array([[-900.0, -30.0, -3.0, -0.5, -1e-9], [0.0, 1e-3, 0.7, 12.0, 1e6]])
Q = np.array([0.0, 0.3, 1.0])


def likelihood(t, q):
    shares = ((q, True), (1 - q, False))
    return sum(share * log_likelihood(t, alike, 0.0) for share, alike in shares if share)


def slack_cost(ratio):
    return ratio - np.log(ratio) - 1


@dataclass(frozen=True)
class Hinge(PairFunction):
    """Pull similar pairs together, push others out of a margin: all of a new function."""

    margin: float

    @property
    def numbers(self):
        return (self.margin,)

    @staticmethod
    def formula(xp):
        where = xp.where

        def hinge(t, q, numbers):
            inside = where(t < numbers[0], 1.0 + 0.0 * t, 0.0)
            slope = (1.0 - q) * inside - q
            return slope * t - (1.0 - q) * inside * numbers[0], 1.0, slope

        return hinge


# Each function with its plain formula, and whether it is for squared distances, from 0 on.
FUNCTIONS = {
    "likelihood": (LogLikelihood(), likelihood, False),
    "entropy": (NegativeEntropy(), lambda t, q: -entropy(t), False),
    "m-step": (MStep(0.4), lambda t, s: likelihood(t, expit(-1.4 * s)), False),
    "hinge": (Hinge(2.0), lambda t, q: -q * t - (1 - q) * max(0.0, 2.0 - t), False),
    "distance": (DissimilarDistance(0.1), lambda d2, q: (q < 0.5) * d2**0.5, True),
    "slack": (
        SlackCost(1.5, 8.0),
        lambda d2, q: slack_cost(max(d2 / 1.5, 1.0) if q > 0.5 else min(d2 / 8.0, 1.0)),
        True,
    ),
}
EVERY = pytest.mark.parametrize("name", FUNCTIONS)


def margins(name):
    """Values of t, and the q that the function takes: of pairs that are alike or not, or any."""
    _, _, is_distance = FUNCTIONS[name]
    t = np.array([0.3, 1.2, 3.0, 7.9, 40.0, 900.0]) if is_distance else T.ravel()
    return t, Q[[0, -1]] if is_distance else Q


@EVERY
@pytest.mark.parametrize("library", [np.asarray, torch.as_tensor], ids=["numpy", "torch"])
def test_values_are_those_of_the_plain_formula(name, library):
    function, plain, _ = FUNCTIONS[name]
    t, every = margins(name)
    for q in every:
        expected = [plain(one, q) for one in t]
        both = library(t.copy()[np.newaxis]), library(np.full((1, len(t)), q))
        values, _ = function.of_each(*both)
        np.testing.assert_allclose(np.asarray(values)[0], expected, rtol=1e-12, atol=1e-15)
        assert float(function.sum(*both)[0]) == pytest.approx(sum(expected), rel=1e-13)


@EVERY
def test_derivatives_match_finite_differences(name):
    function, _, is_distance = FUNCTIONS[name]
    h = 1e-5
    for t in np.linspace(0.03 if is_distance else -6, 9.03, 25):
        for q in margins(name)[1]:
            ends = [function.of_each(np.array([t + step]), np.array([q]))[0] for step in (h, -h)]
            slope = function.of_each(np.array([t]), np.array([q]))[1]
            assert slope[0] == pytest.approx((ends[0] - ends[1])[0] / 2e-5, rel=1e-5, abs=1e-8)


@EVERY
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_nothing_overflows_at_extreme_distances(name, dtype):
    t, every = margins(name)
    for q in every:
        with np.errstate(over="raise", invalid="raise", divide="raise"):
            both = t.astype(dtype)[np.newaxis], np.full((1, len(t)), q, dtype=dtype)
            value, slopes = FUNCTIONS[name][0].sum(*both)
        assert np.isfinite(value)
        assert slopes.dtype == dtype
        assert np.isfinite(slopes).all()


def test_derivatives_keep_their_relative_precision_in_the_tails():
    slopes = LogLikelihood().of_each(np.array([40.0]), 0.0)[1]
    assert slopes[0] == pytest.approx(np.exp(-40.0), rel=1e-12)


@pytest.mark.parametrize(("dtype", "rows"), [(np.float32, 1000), (np.float64, 5000)])
def test_the_logarithm_of_a_long_product_does_not_overflow(dtype, rows):
    value, _ = NegativeEntropy().sum(np.zeros((rows, 3), dtype=dtype), 0.0)
    assert value == pytest.approx(-3 * rows * np.log(2), rel=1e-6)


# (Those of SERAPH are summed in test_sums.py.)
@pytest.mark.parametrize("name", ["hinge", "distance", "slack"])
@pytest.mark.parametrize("library", ["numpy", "numba", "torch"])
@pytest.mark.parametrize("labeled", [True, False])
def test_other_functions_are_summed_by_every_library(name, library, labeled, rng, monkeypatch):
    """Also one that is not 0 far away, and pairs of points that coincide up to rounding."""
    function, _, is_distance = FUNCTIONS[name]
    monkeypatch.setattr(_blocks, "_COMPILED_PAIRS", 0 if library == "numba" else np.inf)
    n, eta = 150, 0.0 if is_distance else 1.3
    Z, codes = rng.normal(size=(n, 3)), rng.integers(-1, 3, n)
    Z[-1] = Z[-2] + 1e-9
    i, j = np.triu_indices(n, 1)
    chosen = ((codes[i] >= 0) & (codes[j] >= 0)) == labeled
    i, j = i[chosen], j[chosen]
    t = np.sum((Z[i] - Z[j]) ** 2, axis=1) - eta
    phi, slopes = function.of_each(t, 1.0 * ((codes[i] == codes[j]) & (codes[i] >= 0)))
    W = np.zeros((n, n))
    W[i, j] = W[j, i] = slopes
    Z = torch.as_tensor(Z) if library == "torch" else Z
    found = sum_over_blocks(Z, Z, BlockPairs.make(codes, labeled=labeled, like=Z), function, eta)
    assert float(found[0]) == pytest.approx(phi.sum(), rel=1e-9)
    assert float(found[1]) == pytest.approx(slopes.sum(), rel=1e-7)
    expected = (np.diag(W.sum(axis=1)) - W) @ np.asarray(Z)
    np.testing.assert_allclose(np.asarray(found[2]), expected, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("mu", [0.0, 0.5, 3.0])
@pytest.mark.parametrize("t", [-2.0, -0.1, 3.0])
def test_theorem_3_solves_the_e_step(mu, t):
    p = float(probability(np.array(t)))

    def divergence_and_penalty(q):  # (9)
        kl = q * np.log(q / p) + (1 - q) * np.log((1 - q) / (1 - p))
        return kl - mu * (q * np.log(p) + (1 - q) * np.log(1 - p))

    best = minimize_scalar(
        divergence_and_penalty, bounds=(1e-9, 1 - 1e-9), method="bounded", options={"xatol": 1e-10}
    )
    assert float(probability((1.0 + mu) * np.array(t))) == pytest.approx(best.x, abs=1e-6)
    power = p ** (1 + mu) / (p ** (1 + mu) + (1 - p) ** (1 + mu))  # (10)
    assert float(probability((1.0 + mu) * np.array(t))) == pytest.approx(power, rel=1e-12)
