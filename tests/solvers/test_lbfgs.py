"""Curvature and the line search: exact on quadratics, and which shares of a step are tried."""

import numpy as np
import pytest
import torch

from seraph._solvers import Curvature, backtrack

SUFFICIENT = 1e-4


@pytest.mark.parametrize("library", [np.asarray, torch.as_tensor], ids=["numpy", "torch"])
def test_a_quadratic_function_is_maximized_in_as_many_steps_as_it_has_curvatures(rng, library):
    bend, top = np.linspace(1.0, 5.0, 4), rng.normal(size=(2, 2))
    x, curvature = library(np.zeros((2, 2))), Curvature()
    bend, top = library(bend.reshape(2, 2)), library(top)

    def slope(x):
        return bend * (top - x)

    for _ in range(6):
        move = curvature.step(slope(x), length=0.1)
        share = float((move * slope(x)).sum() / (bend * move * move).sum())  # an exact line search
        curvature.learn(share * move, slope(x) - slope(x + share * move))
        x = x + share * move
        if float(abs(slope(x)).max()) < 1e-12:
            break
    np.testing.assert_allclose(np.asarray(x), np.asarray(top), atol=1e-9)


def test_the_curvature_turns_with_the_factor(rng):
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    one, other = Curvature(), Curvature()
    for _ in range(5):
        move = rng.normal(size=(3, 2))
        change = move * [1.0, 2.0] + 0.1 * rng.normal(size=(3, 2))
        one.learn(move, change)
        other.learn(turn @ move, turn @ change)
    slope = rng.normal(size=(3, 2))
    one.turn(turn)
    np.testing.assert_allclose(one.step(turn @ slope, 1.0), other.step(turn @ slope, 1.0))


def test_a_step_along_which_the_slope_rises_is_not_learned():
    curvature = Curvature()
    curvature.learn(np.ones(2), -np.ones(2))
    curvature.learn(np.ones(2), np.zeros(2))
    curvature.learn(np.array([1.0, 0.0]), np.array([1e-12, 1.0]))
    assert not curvature.places


@pytest.mark.parametrize("cut", [0.1, 0.5])
@pytest.mark.parametrize("bend", [0.3, 4.0, 700.0, 1e6])
def test_the_accepted_share_rises_enough_and_the_one_before_did_not(bend, cut):
    tried = []

    def value(share):
        return share - 0.5 * bend * share**2  # its slope at 0 is 1

    def at(x):
        tried.append(float(x[0]))
        return value(x[0]), len(tried)

    share, there, n_trials = backtrack(
        at, np.zeros(1), np.ones(1), 0.0, 1.0, shortest=1e-9, least_cut=cut
    )
    assert there == value(share) >= SUFFICIENT * share
    assert n_trials == len(tried)
    assert all(value(before) < SUFFICIENT * before for before in tried[:-1])
    ratios = np.divide(tried[1:], tried[:-1])
    assert np.all((cut * (1 - 1e-12) <= ratios) & (ratios <= 0.5))
