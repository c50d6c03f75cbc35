"""The terms of a pair: the plain formulas, their derivatives, and extreme distances."""

import numpy as np
import pytest
import torch
from scipy.optimize import minimize_scalar

from seraph._pairs._formulas import cross_entropy, e_step, negative_entropy, probability
from tests.helpers.oracle import entropy, log_likelihood

T = np.array([[-900.0, -30.0, -3.0, -0.5, -1e-9], [0.0, 1e-3, 0.7, 12.0, 1e6]])
# Each term with its plain formula.
TERMS = {
    f"similar with {q}": (
        lambda t, q=q: cross_entropy(t, q),
        lambda t, q=q: sum(
            share * log_likelihood(t, similar, 0.0)
            for share, similar in ((q, True), (1 - q, False))
            if share
        ),
    )
    for q in (1.0, 0.0, 0.3)
}
TERMS["entropy"] = negative_entropy, lambda t: -entropy(t)
EVERY = pytest.mark.parametrize("name", TERMS)


def total(values):
    return float(values.sum()) if getattr(values, "ndim", 0) else float(values)


@EVERY
@pytest.mark.parametrize("library", [np.asarray, torch.as_tensor], ids=["numpy", "torch"])
def test_values_are_those_of_the_plain_formula(name, library):
    term, plain = TERMS[name]
    for t in T.ravel():
        value, _ = term(library(np.array([[t]])))
        assert total(value) == pytest.approx(plain(t), rel=1e-12, abs=1e-15)
    expected = sum(plain(t) for t in T.ravel())
    assert total(term(library(T.copy()))[0]) == pytest.approx(expected, rel=1e-13)


@EVERY
def test_derivatives_match_finite_differences(name):
    term, _ = TERMS[name]
    h = 1e-5
    for t in np.linspace(-6, 6, 25):
        ends = [total(term(np.array([[t + step]]))[0]) for step in (h, -h)]
        assert term(np.array([[t]]))[1][0, 0] == pytest.approx(np.diff(ends)[0] / -2e-5, abs=1e-9)


@EVERY
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_nothing_overflows_at_extreme_distances(name, dtype):
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        value, derivative = TERMS[name][0](T.astype(dtype))
    assert np.isfinite(value).all()
    assert derivative.dtype == dtype
    assert np.isfinite(derivative).all()


def test_derivatives_keep_their_relative_precision_in_the_tails():
    derivative = cross_entropy(np.array([40.0]), 0.0)[1]
    assert derivative[0] == pytest.approx(np.exp(-40.0), rel=1e-12)


@pytest.mark.parametrize(("dtype", "rows"), [(np.float32, 1000), (np.float64, 5000)])
def test_the_logarithm_of_a_long_product_does_not_overflow(dtype, rows):
    value, _ = negative_entropy(np.zeros((rows, 3), dtype=dtype))
    assert value == pytest.approx(-3 * rows * np.log(2), rel=1e-6)


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
    assert float(e_step(np.array(t), mu)) == pytest.approx(best.x, abs=1e-6)
    power = p ** (1 + mu) / (p ** (1 + mu) + (1 - p) ** (1 + mu))  # (10)
    assert float(e_step(np.array(t), mu)) == pytest.approx(power, rel=1e-12)
