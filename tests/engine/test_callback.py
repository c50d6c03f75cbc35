"""Callbacks: what they are shown, and how they end a fit."""

import itertools
import pickle
import re
import sys
import time

import numpy as np
import pytest
from seraph._engine._callback import FitState

from seraph import SERAPHCV, Interruptible
from tests.helpers.em import em
from tests.helpers.plain import SERAPH

SETTINGS = [
    {},
    {"solver": "spg"},
    {"solver": "projected-gradient", "lam": 1.0, "max_iter": 12, "tol": 0.0},
    {"solver": em(3)},
    pytest.param({"solver": "em"}, marks=pytest.mark.slow),
    pytest.param({"solver": em(50, "spg")}, marks=pytest.mark.slow),
    {"gamma": 0.5},
    {"n_components": 1},
]
pytestmark = pytest.mark.filterwarnings("ignore:SERAPH has not converged")


def stop_at(iteration):
    def callback(state):
        if state.iteration == iteration:
            raise StopIteration

    return callback


def metric(components):
    return components.T @ components


def assert_close(A, B):
    np.testing.assert_allclose(A, B, atol=1e-9 * np.abs(A).max())


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_every_iteration_is_shown_and_none_is_changed_by_it(wine, setting):
    X, y, _ = wine
    states = []
    learner = SERAPH(**setting, callback=states.append).fit(X, y)
    plain = SERAPH(**setting).fit(X, y)
    np.testing.assert_array_equal(learner.components_, plain.components_)
    assert [state.iteration for state in states] == list(range(1, learner.n_iter_ + 1))
    np.testing.assert_array_equal(
        [state.objective for state in states], learner.history_["objective"]
    )
    np.testing.assert_array_equal([state.rank for state in states], learner.history_["rank"])
    assert all(state.components.shape == (state.rank, 13) for state in states)
    assert all(np.diff([state.elapsed for state in states]) >= 0)
    asked = setting.get("solver") != "projected-gradient"
    assert all((state.gap is not None) == asked for state in states)
    assert not learner.stopped_


@pytest.mark.parametrize("solver", ["spg", "projected-gradient"])
def test_the_last_metric_shown_is_the_learned_one(wine, solver):
    X, y, _ = wine
    states = []
    learner = SERAPH(solver=solver, tol=1e-5, max_iter=500, callback=states.append).fit(X, y)
    assert_close(metric(states[-1].components), learner.get_mahalanobis_matrix())


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_stop_iteration_ends_the_fit_with_the_metric_it_was_shown(wine, setting):
    X, y, _ = wine
    states = []

    def stop(state):
        states.append(state)
        if state.iteration == 4:
            raise StopIteration

    learner = SERAPH(**setting, callback=stop).fit(X, y)  # no warning, which would be an error
    assert learner.n_iter_ == len(states) == 4
    assert learner.stopped_
    assert not learner.converged_
    assert_close(learner.get_mahalanobis_matrix(), metric(states[-1].components))
    lengths = np.linalg.norm(learner.components_, axis=1)
    assert np.all(np.diff(lengths) <= 0)
    np.testing.assert_allclose(metric(learner.components_.T), np.diag(lengths**2), atol=1e-10)
    prior = 0.5 * setting.get("gamma", 0.0) * learner.kappa_**2
    assert learner.objective_ == pytest.approx(states[-1].objective - prior, rel=1e-9)
    assert np.isfinite(learner.optimality_gap_)
    assert all(len(values) == 4 for values in learner.history_.values())


def test_the_full_model_can_be_stopped_at_any_scale(wine):
    X, y, _ = wine
    states = []
    whole = SERAPH(gamma=0.5, callback=states.append).fit(X, y)
    late = whole.n_iter_ - 2
    stopped = SERAPH(gamma=0.5, callback=stop_at(late)).fit(X, y)
    assert stopped.kappa_ != -1.0
    assert stopped.kappa_ == pytest.approx(whole.kappa_, rel=0.1)
    assert_close(stopped.get_mahalanobis_matrix(), metric(states[late - 1].components))


def test_a_stopped_fit_can_be_taken_up_by_a_warm_start(wine):
    X, y, _ = wine
    learner = SERAPH(warm_start=True, callback=stop_at(10)).fit(X, y)
    whole = SERAPH().fit(X, y)
    learner.set_params(callback=None).fit(X, y)
    assert learner.converged_
    assert not learner.stopped_
    assert learner.n_iter_ < whole.n_iter_
    assert learner.objective_ == pytest.approx(whole.objective_, rel=1e-3)


def test_a_complete_fit_and_a_stopped_one_leave_no_checkpoint(wine, tmp_path):
    X, y, _ = wine
    SERAPH(callback=stop_at(4), checkpoint=tmp_path / "fit.ckpt").fit(X, y)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_any_other_exception_ends_the_fit_and_leaves_the_learner_as_it_was(wine, setting):
    X, y, _ = wine

    def fail(state):
        if state.iteration == 3:
            raise RuntimeError("out of paper")

    learner = SERAPH(**setting, callback=fail)
    with pytest.raises(RuntimeError, match="out of paper"):
        learner.fit(X, y)
    assert not hasattr(learner, "components_")


def test_a_search_calls_back_in_every_fit(wine):
    X, _, y_all = wine
    y = np.where(np.arange(len(y_all)) < 40, y_all, -1)
    states = []
    learner = SERAPHCV(SERAPH(callback=states.append), lam_factors=(0.5, 1.0), cv=3).fit(X, y)
    assert sum(state.iteration == 1 for state in states) == 2 * learner.n_splits_ + 1
    stopped = SERAPHCV(SERAPH(callback=stop_at(2)), lam_factors=(0.5, 1.0), cv=3).fit(X, y)
    assert stopped.stopped_
    assert stopped.n_iter_ == 2


def test_verbose_lines_and_callbacks_go_together(wine, capsys):
    X, y, _ = wine
    learner = SERAPH(verbose=1, callback=stop_at(3)).fit(X, y)
    assert learner.n_iter_ == len(capsys.readouterr().out.splitlines()) == 3


def test_a_state_is_plain_data_that_nobody_can_change(wine):
    X, y, _ = wine
    states = []
    SERAPH(callback=states.append).fit(X, y)
    again = pickle.loads(pickle.dumps(states[0]))
    assert isinstance(again, FitState)
    np.testing.assert_array_equal(again.components, states[0].components)
    with pytest.raises(AttributeError):
        states[0].objective = 0.0


def press_ctrl_c(at):
    def callback(state):
        if state.iteration == at:
            raise KeyboardInterrupt

    return callback


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_ctrl_c_keeps_the_best_metric_if_the_user_asked_for_it(wine, setting, tmp_path):
    X, y, _ = wine
    states = []
    SERAPH(**setting, callback=states.append).fit(X, y)
    file = tmp_path / "fit.ckpt"
    callback = Interruptible(press_ctrl_c(at=4))
    learner = SERAPH(**setting, callback=callback, checkpoint=file).fit(X, y)
    assert learner.stopped_
    assert not learner.converged_
    assert learner.n_iter_ == 4
    best = max(states[:4], key=lambda state: state.objective)
    assert_close(learner.get_mahalanobis_matrix(), metric(best.components))
    assert file.exists()  # and the fit can be resumed
    resumed = SERAPH(**setting, checkpoint=file).fit(X, y)
    plain = SERAPH(**setting).fit(X, y)
    np.testing.assert_array_equal(resumed.components_, plain.components_)
    assert not file.exists()


def test_ctrl_c_raises_by_default_in_a_search_and_before_the_first_iteration(wine, tmp_path):
    X, _, y_all = wine
    y = np.where(np.arange(len(y_all)) < 40, y_all, -1)
    learner = SERAPH(callback=press_ctrl_c(at=3), checkpoint=tmp_path / "fit.ckpt")
    with pytest.raises(KeyboardInterrupt):
        learner.fit(X, y)
    assert not hasattr(learner, "components_")
    assert (tmp_path / "fit.ckpt").exists()
    with pytest.raises(KeyboardInterrupt):
        SERAPHCV(SERAPH(callback=Interruptible(press_ctrl_c(at=3))), cv=3).fit(X, y)


def test_a_long_fit_is_announced_once_with_what_would_shorten_it(wine, monkeypatch, caplog):
    X, y, _ = wine
    SERAPH().fit(X, y)
    assert not caplog.records
    monkeypatch.setattr(time, "perf_counter", itertools.count(step=100.0).__next__)
    SERAPH(backend="numpy").fit(X, y)
    (record,) = caplog.records
    left = r"SERAPH: about [\d.]+ (h|min) left, for 80 points. Shorter: X in float32"
    assert re.match(left, record.message)
    assert "unlabeled_pairs" not in record.message  # there are too few pairs to sample
    assert "numba" not in record.message  # which is installed
    caplog.clear()
    SERAPHCV(SERAPH(), lam_factors=(1.0,), cv=2).fit(X, y)
    assert len(caplog.records) == 1  # of the last fit
    caplog.clear()
    monkeypatch.setitem(sys.modules, "numba", None)  # as if it were not
    SERAPH(backend="numpy").fit(X, y)
    assert 'numba (pip install "seraph-learn[numba]")' in caplog.records[0].message
