import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from seraph._sweep._formulas import NumpyArithmetic, posterior

from tests.helpers.oracle import entropy, log_likelihood

NUMPY = NumpyArithmetic()
T = np.array([[-900.0, -30.0, -3.0, -0.5, -1e-9], [0.0, 1e-3, 0.7, 12.0, 1e4]])
TERMS = {
    "similar": (lambda t: NUMPY.cross_entropy(t, 1.0), lambda t: log_likelihood(t, True, 0.0)),
    "dissimilar": (
        lambda t: NUMPY.cross_entropy(t, 0.0),
        lambda t: log_likelihood(t, False, 0.0),
    ),
    "m-step": (
        lambda t: NUMPY.cross_entropy(t, np.full_like(t, 0.3)),
        lambda t: 0.3 * log_likelihood(t, True, 0.0) + 0.7 * log_likelihood(t, False, 0.0),
    ),
    "weighted": (
        lambda t: NUMPY.cross_entropy(t, 0.3, weights=np.full_like(t, 2.5)),
        lambda t: 0.75 * log_likelihood(t, True, 0.0) + 1.75 * log_likelihood(t, False, 0.0),
    ),
    "entropy": (NUMPY.negative_entropy, lambda t: -entropy(t)),
}


@pytest.mark.parametrize("name", TERMS)
def test_values_agree_with_the_plain_formula(name):
    term, plain = TERMS[name]
    for t in T.ravel():
        value, _ = term(np.array([[t]]))
        assert value == pytest.approx(plain(t), rel=1e-12, abs=1e-15)
    total, _ = term(T.copy())
    assert total == pytest.approx(sum(plain(t) for t in T.ravel()), rel=1e-13)


@pytest.mark.parametrize("name", TERMS)
def test_weights_are_derivatives_by_finite_differences(name):
    term, _ = TERMS[name]
    h = 1e-5
    for t in np.linspace(-6, 6, 25):
        numeric = (term(np.array([[t + h]]))[0] - term(np.array([[t - h]]))[0]) / (2 * h)
        assert term(np.array([[t]]))[1][0, 0] == pytest.approx(numeric, abs=1e-9)


@pytest.mark.parametrize("name", TERMS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_nothing_overflows_at_extreme_distances(name, dtype):
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        value, weight = TERMS[name][0](T.astype(dtype))
    assert np.isfinite(value)
    assert weight.dtype == dtype
    assert np.all(np.isfinite(weight))


def test_weights_keep_their_relative_precision_in_the_tails():
    _, weight = NUMPY.cross_entropy(np.array([[40.0]]), 0.0)
    assert weight[0, 0] == pytest.approx(np.exp(-40.0), rel=1e-12)


@pytest.mark.parametrize(("dtype", "rows"), [(np.float32, 1000), (np.float64, 5000)])
def test_the_logarithm_of_a_long_product_does_not_overflow(dtype, rows):
    value, _ = NUMPY.negative_entropy(np.zeros((rows, 3), dtype=dtype))
    assert value == pytest.approx(-3 * rows * np.log(2), rel=1e-6)


@pytest.mark.parametrize("mu", [0.0, 0.01, 0.5, 3.0])
@pytest.mark.parametrize("t", [-2.0, -0.1, 0.4, 3.0])
def test_theorem_3_solves_the_e_step(mu, t):
    p = float(posterior(np.array(t)))

    def kl_and_penalty(q):  # (9)
        kl = q * np.log(q / p) + (1 - q) * np.log((1 - q) / (1 - p))
        return kl - mu * (q * np.log(p) + (1 - q) * np.log(1 - p))

    best = minimize_scalar(
        kl_and_penalty, bounds=(1e-9, 1 - 1e-9), method="bounded", options={"xatol": 1e-10}
    )
    assert float(NUMPY.e_step(np.array(t), mu)) == pytest.approx(best.x, abs=1e-6)


def test_e_step_is_the_power_of_the_posterior(rng):
    t, mu = rng.normal(size=10), 0.7
    p = posterior(t)
    expected = p ** (1 + mu) / (p ** (1 + mu) + (1 - p) ** (1 + mu))  # (10)
    np.testing.assert_allclose(NUMPY.e_step(t, mu), expected, rtol=1e-12)
