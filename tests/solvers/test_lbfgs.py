"""L-BFGS with our settings: shapes, stopping and bounds."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from seraph._solvers import lbfgs


def valley(P):
    """The function of Rosenbrock for each row of two numbers: minimum 0 at 1."""
    x, y = P.T
    value = np.sum((1.0 - x) ** 2 + 100.0 * (y - x**2) ** 2)
    gradient = [-2.0 * (1.0 - x) - 400.0 * x * (y - x**2), 200.0 * (y - x**2)]
    return float(value), np.transpose(gradient)


def never(P, value):
    return False


def test_the_minimum_has_the_shape_of_the_start():
    found = lbfgs(valley, np.zeros((3, 2)), max_iter=500, is_done=never)
    assert_allclose(found.x, np.ones((3, 2)), atol=1e-6)


def test_it_stops_where_it_is_told_to():
    values = []

    def below_one_half(P, value):
        assert P.shape == (1, 2)
        assert value == valley(P)[0]
        values.append(value)
        return value < 0.5

    found = lbfgs(valley, np.array([[-1.0, 1.0]]), max_iter=500, is_done=below_one_half)
    assert found.nit == len(values)
    assert min(values[:-1]) >= 0.5 > values[-1] > 1e-3


def test_it_stops_after_max_iter_iterations():
    assert lbfgs(valley, np.zeros((1, 2)), max_iter=3, is_done=never).nit == 3


@pytest.mark.parametrize(("ftol", "success"), [(0.0, False), (0.1, True)])
def test_a_small_fall_of_the_value_counts_as_success_if_asked_for(ftol, success):
    found = lbfgs(valley, np.array([[-1.0, 1.0]]), max_iter=5, is_done=never, ftol=ftol)
    assert found.success == success


def test_numbers_stay_at_least_zero():
    bottom = np.array([-1.0, 2.0])

    def bowl(x):
        return float(np.sum((x - bottom) ** 2)), 2.0 * (x - bottom)

    found = lbfgs(bowl, np.ones(2), max_iter=50, is_done=never, nonnegative=True)
    assert_allclose(found.x, [0.0, 2.0])
