"""ConvergenceDisplay: the way a solver went."""

import numpy as np
import pytest

from seraph import SERAPH, ConvergenceDisplay
from seraph.classic import LDM
from tests.helpers.pictures import some_axes


@pytest.mark.parametrize("solver", ["low-rank", "spg"])
def test_the_lines_are_what_the_learner_remembers(solver, wine):
    X, y_partial, _ = wine
    learner = SERAPH(solver=solver).fit(X, y_partial)
    display = ConvergenceDisplay.from_estimator(learner, ax=some_axes(2))
    left, right = (panel.get_lines()[0] for panel in display.axes_)
    np.testing.assert_array_equal(left.get_ydata(), learner.history_["objective"])
    np.testing.assert_array_equal(left.get_xdata(), np.arange(learner.n_iter_) + 1)
    away = np.abs(learner.history_["objective"] - learner.objective_)
    np.testing.assert_array_equal(right.get_ydata(), away[away > 0])
    assert display.axes_[1].get_yscale() == "log"


def test_the_rank_in_the_end_is_that_of_the_metric(wine):
    X, y_partial, _ = wine
    learner = SERAPH().fit(X, y_partial)
    told = learner.history_["rank"].copy()
    display = ConvergenceDisplay.from_estimator(learner, ax=some_axes(2))
    steps = display.rank_ax_.get_lines()[0].get_ydata()
    np.testing.assert_array_equal(steps[:-1], told[:-1])
    assert steps[-1] == len(learner.components_)
    np.testing.assert_array_equal(learner.history_["rank"], told)  # the learner's own is kept


def test_a_history_that_begins_before_the_first_iteration_begins_at_zero(wine):
    X, y_partial, _ = wine
    learner = LDM().fit(X, y_partial)
    display = ConvergenceDisplay.from_estimator(learner, ax=some_axes(2))
    numbers = display.axes_[0].get_lines()[0].get_xdata()
    assert (numbers[0], numbers[-1]) == (0, learner.n_iter_)
    assert display.rank_ax_ is None


@pytest.mark.parametrize(
    ("objective", "seen"), [([], 0), ([3.0], 0), ([1.0, 2.0, np.inf], 0), ([1.0, 2.0, 2.5], 2)]
)
def test_odd_histories_are_drawn_as_far_as_they_go(objective, seen):
    display = ConvergenceDisplay(objective=objective, rank=[1] * len(objective))
    right = display.plot(ax=some_axes(2)).axes_[1]
    assert sum(len(line.get_ydata()) for line in right.get_lines()) == seen
    assert bool(right.texts) == (seen == 0)
    display.figure_.draw_without_rendering()
