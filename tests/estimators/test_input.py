"""Bad input gets a ValueError that helps, doubtful input a warning, odd input just works."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from seraph import SERAPH

X = np.random.default_rng(0).normal(size=(12, 3))
Y = np.array([0, 0, 1, 1, 2, 2] + [-1] * 6)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"mu": -1}, "mu must be a finite number of at least 0, or 'auto'; got -1"),
        ({"mu": "some"}, "mu must be .*got 'some'"),
        ({"mu": np.nan}, "mu must be .*got nan"),
        ({"lam": -0.1}, "lam must be a finite number of at least 0, or 'auto'; got -0.1"),
        ({"lam": np.inf}, "lam must be a finite number.*got inf"),
        ({"lam": None}, "lam must be .*got None"),
        ({"eta": -1.0}, "eta must be a finite number.*got -1.0"),
        ({"solver": "newton"}, "solver must be one of 'auto', 'low-rank', .*got 'newton'"),
        ({"algorithm": "mcmc"}, "algorithm must be one of 'direct', 'em'; got 'mcmc'"),
        (
            {"n_components": 0},
            "n_components must be a finite whole number of at least 1, or None; got 0",
        ),
        ({"n_components": 2.0}, "n_components must be a finite whole number.*got 2.0"),
        ({"n_components": 4}, "n_components=4 .*3 features"),
        ({"n_components": 2, "solver": "spg"}, "n_components=2 caps the rank.*low-rank"),
        ({"max_iter": 0}, "max_iter must be a finite whole number of at least 1; got 0"),
        ({"max_iter": None}, "max_iter must be a finite whole number of at least 1; got None"),
        ({"tol": -1e-3}, "tol must be"),
        ({"em_max_iter": 1.5}, "em_max_iter must be"),
        ({"em_tol": "small"}, "em_tol must be"),
    ],
    ids=str,
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        SERAPH(**parameters).fit(X, Y)


@pytest.mark.parametrize(
    ("points", "labels", "message"),
    [
        (np.where(X > 2, np.nan, X) if (X > 2).any() else X * np.nan, Y, "NaN"),
        (np.full((12, 3), np.inf), Y, "infinity"),
        (X[:1], Y[:1], "minimum of 2 is required"),
        (X[:0], Y[:0], "minimum of 2 is required"),
        (X[:, :0], Y, "0 feature"),
        (X[:, 0], Y, "2D array"),
        (X, None, "nothing to learn from"),
        (X, np.full(12, -1), "No labelled pair"),
        (X, Y[:5], "y has 5 labels and X has 12 rows"),
        ([["a", "b"]] * 12, Y, "could not convert string to float"),
    ],
)
def test_bad_data(points, labels, message):
    with pytest.raises(ValueError, match=message):
        SERAPH().fit(points, labels)


def test_a_failed_fit_leaves_the_learner_as_it_was():
    learner = SERAPH().fit(X, Y)
    before = learner.components_
    with pytest.raises(ValueError, match="No labelled pair"):
        learner.fit(X[:, :2], np.full(12, -1))
    assert learner.components_ is before
    assert learner.n_features_in_ == 3


def test_all_alike_warns_of_a_collapse():
    with pytest.warns(UserWarning, match="rank 0"), pytest.warns(match="similar.*collapse"):
        learner = SERAPH().fit(X, np.where(Y >= 0, 0, -1))
    assert learner.components_.shape == (0, 3)
    assert learner.transform(X).shape == (12, 0)
    np.testing.assert_array_equal(learner.pair_distance(X[None, :2]), [0.0])
    np.testing.assert_array_equal(learner.get_mahalanobis_matrix(), np.zeros((3, 3)))


def test_all_different_warns_of_a_divergence():
    with pytest.warns(UserWarning, match="pairs are dissimilar.*diverge"):
        SERAPH().fit(X, np.where(Y >= 0, np.arange(12), -1))


def test_a_large_lam_gives_rank_zero_and_says_so():
    with pytest.warns(UserWarning, match="rank 0.*Lower lam"):
        learner = SERAPH(lam=1e4).fit(X, Y)
    assert learner.components_.shape == (0, 3)
    assert learner.converged_


@pytest.mark.parametrize("solver", ["auto", "low-rank", "spg"])
def test_lam_zero_with_a_converging_solver_warns_once(solver):
    with pytest.warns(ConvergenceWarning, match="With lam=0 the objective may have no") as record:
        SERAPH(lam=0, solver=solver, max_iter=30).fit(X, Y)
    assert len(record) == 1


@pytest.mark.parametrize("solver", ["low-rank", "spg", "projected-gradient"])
def test_stopping_early_warns(solver):
    with pytest.warns(ConvergenceWarning, match="has not converged.*Raise max_iter"):
        learner = SERAPH(lam=1.0, solver=solver, max_iter=2, tol=1e-9).fit(X, Y)
    assert not learner.converged_
    assert learner.n_iter_ == 2


def test_em_that_stops_early_warns():
    with pytest.warns(ConvergenceWarning, match="em_max_iter"):
        SERAPH(algorithm="em", em_max_iter=1).fit(X, Y)


def test_features_of_very_different_scales_are_worth_a_word():
    with pytest.warns(UserWarning, match=r"range from .* to .*Scale the features"):
        SERAPH().fit(X * [1.0, 1.0, 1e4], Y)


CASES = {
    "duplicated points": (np.repeat(X[:6], 2, axis=0), np.repeat([0, 1, 2, -1, -1, -1], 2)),
    "a constant feature": (np.c_[X, np.full(12, 3.0)], Y),
    "more features than points": (np.random.default_rng(1).normal(size=(12, 40)), Y),
    "one feature": (X[:, :1] + 5.0 * np.maximum(Y, 0)[:, None], Y),
    "huge numbers": (X * 1e150, Y),
    "tiny numbers": (X * 1e-150, Y),
    "far from the origin": (X + 1e6, Y),
    "whole numbers": (np.round(X * 10).astype(int), Y),
    "everything labelled": (X, np.arange(12) % 3),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize(
    "setting", [{}, {"algorithm": "em", "em_max_iter": 200}, {"solver": "spg"}], ids=str
)
def test_odd_data_just_works(case, setting):
    points, labels = CASES[case]
    learner = SERAPH(**setting).fit(points, labels)
    assert np.all(np.isfinite(learner.components_))
    assert np.all(np.isfinite(learner.transform(points)))
    assert np.isfinite(learner.objective_)


@pytest.mark.parametrize("similar", [True, False])
def test_two_points_are_enough(similar):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        learner = SERAPH().fit(X[:2], pairs=[[0, 1]], pair_labels=[similar])
    assert any("labeled pairs are" in str(w.message) for w in caught)
    proba = learner.pair_proba(X[None, :2])[0]
    assert (proba > 0.5) == similar


def test_points_that_are_all_alike_do_not_break_anything():
    learner = SERAPH().fit(np.ones((6, 2)), [0, 0, 1, 1, -1, -1])
    assert np.all(np.isfinite(learner.components_))


def test_a_metric_that_shrinks_to_nothing_is_zero_and_not_a_division_by_zero():
    points = [[0, 1], [0, -1], [1, 0], [-1, 1], [0, 0], [0, 1], [-1, 0]]
    with pytest.warns(match="rank 0"), pytest.warns(match="similar.*collapse"):
        learner = SERAPH(eta=1e6).fit(points, [-1, 0, 0, -1, 0, -1, -1])
    assert learner.components_.shape == (0, 2)
