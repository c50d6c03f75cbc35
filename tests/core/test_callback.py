"""Callbacks: what they are shown, and how they end a fit."""

import re

import numpy as np
import pytest

from seraph import SERAPH
from tests.helpers.em import em

SETTINGS = [
    {},
    {"solver": "spg"},
    {"solver": "projected-gradient", "lam": 1.0, "max_iter": 12, "tol": 0.0},
    {"solver": em(3)},
    {"gamma": 0.5},
]
EVERY = pytest.mark.parametrize("setting", SETTINGS, ids=str)
pytestmark = pytest.mark.filterwarnings("ignore:SERAPH has not converged")


def stop_at(iteration, states=None):
    def callback(state):
        if states is not None:
            states.append(state)
        if state.iteration == iteration:
            raise StopIteration

    return callback


@EVERY
def test_every_iteration_is_shown_and_none_is_changed_by_it(wine, setting):
    X, y, _ = wine
    states = []
    learner = SERAPH(**setting, callback=states.append).fit(X, y)
    np.testing.assert_array_equal(learner.components_, SERAPH(**setting).fit(X, y).components_)
    assert [state.iteration for state in states] == list(range(1, learner.n_iter_ + 1))
    values = [state.objective for state in states]
    np.testing.assert_array_equal(values, learner.history_["objective"])
    assert set(learner.history_) == {"objective", "rank", "step"}
    assert all(len(column) == learner.n_iter_ for column in learner.history_.values())
    assert all(state.components.shape == (state.rank, 13) for state in states)
    assert all(np.diff([state.elapsed for state in states]) >= 0)
    has_gap = setting.get("solver") != "projected-gradient"
    assert all((state.gap is not None) == has_gap for state in states)
    assert not learner.stopped_


@EVERY
def test_stop_iteration_ends_the_fit_with_the_metric_it_was_shown(wine, setting):
    states = []
    learner = SERAPH(**setting, callback=stop_at(4, states)).fit(*wine[:2])  # without a warning
    assert learner.n_iter_ == len(states) == 4
    assert learner.stopped_
    assert not learner.converged_
    A, Q = learner.get_mahalanobis_matrix(), states[-1].components
    np.testing.assert_allclose(A, Q.T @ Q, atol=1e-9 * np.abs(A).max())
    lengths = np.linalg.norm(learner.components_, axis=1)
    assert np.all(np.diff(lengths) <= 0)
    P = learner.components_
    np.testing.assert_allclose(P @ P.T, np.diag(lengths**2), atol=1e-10)
    prior = 0.5 * setting.get("gamma", 0.0) * learner.kappa_**2
    assert learner.objective_ == pytest.approx(states[-1].objective - prior, rel=1e-9)
    assert np.isfinite(learner.optimality_gap_)


@EVERY
def test_any_other_exception_ends_the_fit_and_leaves_the_learner_as_it_was(wine, setting):
    def fail(state):
        if state.iteration == 3:
            raise KeyboardInterrupt("out of paper")

    learner = SERAPH(**setting, callback=fail)
    with pytest.raises(KeyboardInterrupt, match="out of paper"):
        learner.fit(*wine[:2])
    assert not hasattr(learner, "components_")


def test_verbose_prints_a_line_per_iteration_also_beside_a_callback(wine, capsys):
    learner = SERAPH(verbose=1, callback=stop_at(3)).fit(*wine[:2])
    lines = capsys.readouterr().out.splitlines()
    assert learner.n_iter_ == len(lines) == 3
    line = r"\[SERAPH\] 1/200  objective -[\d.]+  rank \d+  gap \S+  [\d.]+ s"
    assert re.fullmatch(line, lines[0])
