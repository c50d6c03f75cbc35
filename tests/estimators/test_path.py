"""The regularization path."""

import io
import re
import warnings
from contextlib import redirect_stdout

import numpy as np
import pytest
from seraph._engine import Settings
from seraph._engine._problem import Problem
from seraph._sweep import PointsInMemory
from sklearn.exceptions import ConvergenceWarning

from seraph import Marks, seraph_path
from seraph._marks import PairLabels
from seraph._solvers import Follower, low_rank, optimality_gap
from tests.helpers.oracle import labeled_pairs, objective
from tests.helpers.plain import SERAPH


def rank_of(X, y, **parameters):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*rank 0")
        return len(SERAPH(**parameters).fit(X, y).components_)


# Where it starts


def test_lam_max_is_the_top_eigenvalue_of_the_gradient_at_zero(wine):
    X, y_partial, _ = wine
    path = seraph_path(X, y_partial, lams=[1.0], learner=SERAPH(mu=0.0))
    known = labeled_pairs(y_partial[:15])
    p = 1 / (1 + np.exp(-1.0))  # of every pair under the zero metric, eta = 1
    G = sum(
        (p - similar) * np.outer(X[i] - X[j], X[i] - X[j]) for (i, j), similar in known.items()
    )
    assert path.lam_max == pytest.approx(np.linalg.eigvalsh(G)[-1])


@pytest.mark.parametrize("mu", [0.0, "auto"])
@pytest.mark.parametrize("data", ["wine", pytest.param("digits", marks=pytest.mark.slow)])
def test_the_metric_is_zero_from_lam_max_on_and_not_below(request, data, mu):
    X, y_partial, _ = request.getfixturevalue(data)
    path = seraph_path(X, y_partial, n_lams=10, learner=SERAPH(mu=mu))
    assert path.lams[0] == path.lam_max
    assert path.ranks[0] == 0
    assert np.all(path.ranks[1:] > 0)
    for factor in (1.02, 2.0):
        assert rank_of(X, y_partial, mu=mu, lam=factor * path.lam_max, tol=1e-6) == 0
    assert rank_of(X, y_partial, mu=mu, lam=0.9 * path.lam_max) > 0


@pytest.mark.slow
def test_a_heavy_entropy_can_hold_a_metric_above_lam_max_and_the_path_starts_above_it(wine):
    X, y_partial, _ = wine
    labels = PairLabels.make(len(X), y_partial)
    learner = SERAPH(mu=10 * labels.n_labeled / labels.n_unlabeled)
    path = seraph_path(X, y_partial, n_lams=30, learner=learner)
    assert path.lams[0] > path.lam_max
    assert path.ranks[0] == 0
    first = np.flatnonzero(path.ranks)[0]
    assert path.lams[first] > path.lam_max
    zero = objective(X, np.zeros((13, 13)), labeled_pairs(y_partial[:15]), mu=path.mu)
    assert path.objectives[first] > zero


# What is found


@pytest.mark.parametrize("data", ["wine", pytest.param("digits", marks=pytest.mark.slow)])
def test_each_solution_is_that_of_seraph_where_there_is_one_maximum(request, data):
    X, y_partial, _ = request.getfixturevalue(data)
    strict = {"mu": 0.0, "tol": 1e-5, "max_iter": 1000}
    path = seraph_path(X, y_partial, n_lams=12, learner=SERAPH(**strict))
    for lam, P, value in list(zip(path.lams, path.components, path.objectives, strict=True))[1:]:
        learner = SERAPH(lam=lam, **strict).fit(X, y_partial)
        assert value == pytest.approx(learner.objective_, rel=1e-7)
        assert len(P) == len(learner.components_)
        A = learner.get_mahalanobis_matrix()
        np.testing.assert_allclose(P.T @ P, A, atol=2e-3 * np.abs(A).max())


@pytest.mark.parametrize("mu", [0.0, "auto"])
def test_objectives_and_certificates_are_those_of_the_metrics(wine, mu):
    X, y_partial, _ = wine
    path = seraph_path(X, y_partial, n_lams=8, learner=SERAPH(mu=mu))
    known = labeled_pairs(y_partial[:15])
    for lam, P, value in zip(path.lams, path.components, path.objectives, strict=True):
        expected = objective(X, P.T @ P, known, mu=path.mu, lam=lam)
        assert value == pytest.approx(expected, rel=1e-9)
    assert np.all(path.optimality_gaps <= 1e-3)
    assert path.converged.all()
    assert np.all(np.diff(path.objectives) > 0)


@pytest.mark.slow
def test_eigenvalues_and_ranks_are_those_of_the_metrics(digits):
    X, y_partial, _ = digits
    path = seraph_path(X, y_partial, n_lams=15)
    assert path.eigenvalues.shape == (15, path.ranks.max())
    for P, rank, values in zip(path.components, path.ranks, path.eigenvalues, strict=True):
        assert P.shape == (rank, 64)
        np.testing.assert_allclose(
            np.linalg.eigvalsh(P.T @ P)[::-1][: len(values)], values, atol=1e-9
        )
        assert np.all(np.diff(np.linalg.norm(P, axis=1)) <= 1e-12)
    assert np.all(np.diff(path.eigenvalues.sum(axis=1)) > 0)


def test_units_do_not_matter(wine):
    X, y_partial, _ = wine
    one, other = (seraph_path(c * X, y_partial, n_lams=6) for c in (1.0, 1e5))
    np.testing.assert_allclose(other.lams, 1e10 * one.lams)
    np.testing.assert_allclose(1e10 * other.eigenvalues, one.eigenvalues, rtol=1e-3, atol=1e-8)


def test_pairs_float32_capped_ranks_and_graphs(wine):
    X, y_partial, _ = wine
    i, j = np.triu_indices(15, k=1)
    marks = y_partial[i] == y_partial[j]
    exact = SERAPH(mu=0.0)
    by_class = seraph_path(X, y_partial, n_lams=6, learner=exact)
    by_pairs = seraph_path(X, n_lams=6, learner=exact, marks=Marks(np.c_[i, j], marks, rows=X))
    np.testing.assert_allclose(by_pairs.objectives, by_class.objectives, rtol=1e-5)
    single = seraph_path(X.astype(np.float32), y_partial, n_lams=6, learner=exact)
    assert single.components[-1].dtype == np.float32
    np.testing.assert_allclose(single.objectives, by_class.objectives, rtol=1e-3)
    capped = seraph_path(X, y_partial, n_lams=20, eps=1e-4, learner=SERAPH(mu=0.0, n_components=1))
    assert capped.ranks.max() == 1
    assert capped.converged.all()
    smooth = seraph_path(X, y_partial, n_lams=6, learner=SERAPH(mu=0.0, manifold=0.05))
    assert smooth.lam_max < by_class.lam_max


# What it costs


def posed(X, y, mu):
    settings = Settings(mu=mu, backend="numpy")
    return Problem.make(PointsInMemory(X), PairLabels.make(len(X), y), settings)


@pytest.mark.parametrize("mu", [0.0, pytest.param("auto", marks=pytest.mark.slow)])
@pytest.mark.parametrize("data", ["wine", pytest.param("digits", marks=pytest.mark.slow)])
def test_the_path_takes_three_times_fewer_sweeps_than_cold_starts(request, data, mu):
    X, y_partial, _ = request.getfixturevalue(data)
    path = seraph_path(X, y_partial, learner=SERAPH(mu=mu))
    assert len(path.lams) == 100
    problem = posed(X, y_partial, mu)
    sample = 5  # every fifth weight stands for five
    for lam in path.lams[sample // 2 :: sample]:
        found = low_rank(
            problem.objective(lam),
            problem.first_factor(None, narrow=True, eta=1.0),
            max_iter=200,
            tol=1e-3,
            callback=lambda step, P: None,
        )
        assert found.value > -np.inf
    assert path.n_sweeps.sum() * 3 <= sample * problem.pairs.sweep.n_sweeps


def test_a_follower_meets_its_tolerance_through_changes_of_rank(digits):
    X, y_partial, _ = digits
    problem = posed(X, y_partial, mu=0.0)
    follow = Follower(max_iter=500, tol=1e-6)
    start, ranks = np.zeros((0, 64)), []
    for lam in np.geomspace(700, 5, 25):
        F = problem.objective(lam)
        found = follow(F, np.log(lam), start)
        start = None
        ranks.append(len(found.P))
        value, gradient = F.by_metric(found.P)
        assert optimality_gap(found.P, gradient, F.scale) <= 1e-6
        assert found.value == pytest.approx(value, rel=1e-12)
    assert ranks[0] <= 1
    assert len(set(ranks)) >= 5


# How it is used


def test_weights_can_be_given_in_any_order(wine):
    X, y_partial, _ = wine
    path = seraph_path(X, y_partial, lams=[2.0, 30.0, 8.0], learner=SERAPH(mu=0.0, tol=1e-5))
    np.testing.assert_array_equal(path.lams, [30.0, 8.0, 2.0])
    alone = [SERAPH(lam=lam, mu=0.0, tol=1e-5).fit(X, y_partial) for lam in path.lams]
    np.testing.assert_allclose(path.objectives, [a.objective_ for a in alone], rtol=1e-7)
    assert path.auto_lam == pytest.approx(SERAPH().fit(X, y_partial).lam_)


def test_verbose_prints_a_line_per_weight(wine):
    out = io.StringIO()
    with redirect_stdout(out):
        seraph_path(*wine[:2], n_lams=4, learner=SERAPH(verbose=1))
    lines = out.getvalue().splitlines()
    assert len(lines) == 4
    assert re.match(r"\[seraph_path\] 2/4  objective -[\d.]+  rank \d+  gap ", lines[1])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_lams": 0}, "n_lams must be a finite whole number of at least 1"),
        ({"eps": 1.0}, "eps must lie between 0 and 1"),
        ({"lams": ["far"]}, "lams must hold numbers"),
        ({"eps": np.array([0.1, 0.2])}, "eps must be a finite number"),
        ({"lams": [1.0, -1.0]}, "lams must hold positive finite weights"),
        ({"lams": []}, "lams must hold positive finite weights"),
        ({"learner": SERAPH(mu="some")}, "mu must be"),
        ({"learner": SERAPH(solver="spg")}, "with solver='auto' only; got .* solver='spg'"),
        ({"learner": SERAPH(gamma=1.0)}, "with gamma=None only"),
        ({"learner": "SERAPH"}, "learner must be a SERAPH, or None; got 'SERAPH'"),
    ],
    ids=str,
)
def test_bad_parameters(wine, parameters, message):
    with pytest.raises(ValueError, match=message):
        seraph_path(*wine[:2], **parameters)


def test_bad_data(wine):
    X, y_partial, _ = wine
    with pytest.raises(ValueError, match="NaN"):
        seraph_path(np.full_like(X, np.nan), y_partial)
    with pytest.raises(ValueError, match="nothing to learn from"):
        seraph_path(X)
    alike = np.where(y_partial >= 0, 0, -1)
    with (
        pytest.warns(UserWarning, match="pairs are similar"),
        pytest.raises(ValueError, match="zero whatever lam is"),
    ):
        seraph_path(X, alike)


def test_stopping_early_warns_once(wine):
    message = r"^seraph_path has not converged \(\d of 5 values of lam.*Raise max_iter"
    with pytest.warns(ConvergenceWarning, match=message) as record:
        path = seraph_path(*wine[:2], n_lams=5, learner=SERAPH(max_iter=1, tol=1e-9))
    assert [warning.filename for warning in record] == [__file__]
    assert not path.converged.all()


@pytest.mark.parametrize("n", [3, pytest.param(4, marks=pytest.mark.slow)])
@pytest.mark.filterwarnings("ignore:All .* pairs are dissimilar")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_path_ends_where_no_step_helps_for_rounding(rng, n):
    path = seraph_path(
        rng.normal(size=(n, 2)), np.arange(n), n_lams=5, learner=SERAPH(eta=1e12, mu=0.0)
    )
    assert np.all(np.isfinite(path.objectives))
