"""ConvergenceDisplay: the progress of a solver."""

import numpy as np
import pytest

from seraph import SERAPH
from seraph.classic import LDM
from seraph.plot import ConvergenceDisplay
from tests.helpers.pictures import some_axes


@pytest.mark.parametrize("solver", ["low-rank", "spg"])
def test_the_lines_show_the_history_of_the_learner(solver, wine):
    X, y_partial, _ = wine
    learner = SERAPH(solver=solver).fit(X, y_partial)
    display = ConvergenceDisplay.from_estimator(learner, ax=some_axes(2))
    left, right = (panel.get_lines()[0] for panel in display.axes_)
    np.testing.assert_array_equal(left.get_ydata(), learner.history_["objective"])
    np.testing.assert_array_equal(left.get_xdata(), np.arange(learner.n_iter_) + 1)
    gap = np.abs(learner.history_["objective"] - learner.objective_)
    np.testing.assert_array_equal(right.get_ydata(), gap[gap > 0])
    assert display.axes_[1].get_yscale() == "log"


def test_the_last_rank_is_that_of_the_metric(wine):
    X, y_partial, _ = wine
    learner = SERAPH().fit(X, y_partial)
    recorded = learner.history_["rank"].copy()
    display = ConvergenceDisplay.from_estimator(learner, ax=some_axes(2))
    steps = display.rank_ax_.get_lines()[0].get_ydata()
    np.testing.assert_array_equal(steps[:-1], recorded[:-1])
    assert steps[-1] == len(learner.learned_components_)
    np.testing.assert_array_equal(learner.history_["rank"], recorded)  # still unchanged


def test_a_history_with_the_initial_objective_starts_at_zero(wine):
    X, y_partial, _ = wine
    learner = LDM().fit(X, y_partial)
    display = ConvergenceDisplay.from_estimator(learner, ax=some_axes(2))
    numbers = display.axes_[0].get_lines()[0].get_xdata()
    assert (numbers[0], numbers[-1]) == (0, learner.n_iter_)
    assert display.rank_ax_ is None


@pytest.mark.parametrize(
    ("objective", "seen"), [([], 0), ([3.0], 0), ([1.0, 2.0, np.inf], 0), ([1.0, 2.0, 2.5], 2)]
)
def test_unusual_histories_are_drawn(objective, seen):
    display = ConvergenceDisplay(objective=objective, rank=[1] * len(objective))
    right = display.plot(ax=some_axes(2)).axes_[1]
    assert sum(len(line.get_ydata()) for line in right.get_lines()) == seen
    assert bool(right.texts) == (seen == 0)
    display.figure_.draw_without_rendering()
