import io
import pickle
import re
import warnings
from contextlib import redirect_stdout

import numpy as np
import pytest
from scipy.spatial.distance import pdist
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.paper._protocol import sample_task
from seraph import Marks
from seraph.classic import Euclidean
from seraph.datasets import load_task
from tests.helpers.em import em
from tests.helpers.oracle import labeled_pairs, objective
from tests.helpers.plain import SERAPH
from tests.helpers.quick import few

SETTINGS = [
    {},
    pytest.param({"solver": "em"}, marks=pytest.mark.slow),
    {"solver": "spg"},
    {"mu": 0.0},
]


def distances(learner, X):
    return pdist(learner.transform(X))


# What is learned


@pytest.mark.parametrize("setting", [{}, {"solver": "spg"}, {"mu": 0.0}], ids=str)
def test_the_objective_is_that_of_equation_7_at_the_learned_metric(wine, setting):
    X, y_partial, _ = wine
    learner = SERAPH(**setting).fit(X, y_partial)
    known = labeled_pairs(y_partial[:15])
    A = learner.get_mahalanobis_matrix()
    expected = objective(X, A, known, mu=learner.mu_, lam=learner.lam_)
    assert learner.objective_ == pytest.approx(expected, rel=1e-9)


def m_step(X, y_partial, learner, before):
    """Objective (11) as a function of the metric, its ``q`` by (10) from the metric `before`."""
    mu, lam = learner.mu_, learner.lam_

    def q(d):
        return 0.0 if before is None else expit((1.0 + mu) * (1.0 - d @ before @ d))

    return lambda A: objective(X, A, labeled_pairs(y_partial[:15]), mu=mu, lam=lam, q=q)


@pytest.mark.parametrize("n_steps", [1, 2, 4])
@pytest.mark.filterwarnings("ignore:SERAPH has not converged")
def test_each_m_step_of_em_maximizes_equation_11(wine, n_steps):
    X, y_partial = wine[0][:40], wine[1][:40]
    strict = {"mu": 0.5, "tol": 1e-6}
    learner = SERAPH(solver=em(n_steps), **strict).fit(X, y_partial)
    A, before = learner.get_mahalanobis_matrix(), None  # q = 0 in the first M-step
    if n_steps > 1:
        last = SERAPH(solver=em(n_steps - 1), **strict).fit(X, y_partial)
        before = last.get_mahalanobis_matrix()
    value = m_step(X, y_partial, learner, before)
    assert learner.objective_ == pytest.approx(value(A), rel=1e-9)
    start = np.eye(13) if before is None else before
    for other in (start, 0.9 * A, 1.1 * A, A + 0.01 * np.eye(13)):
        assert value(other) < value(A)


@pytest.mark.slow
def test_em_ends_at_the_maximum_of_equation_11_for_its_own_metric(wine):
    X, y_partial = wine[0][:40], wine[1][:40]
    learner = SERAPH(solver="em", tol=1e-5).fit(X, y_partial)
    A = learner.get_mahalanobis_matrix()
    value = m_step(X, y_partial, learner, A)
    assert learner.objective_ == pytest.approx(value(A), rel=1e-3)
    for other in (0.9 * A, 1.1 * A, A + 0.01 * np.eye(13)):
        assert value(other) < value(A)


def test_attributes_after_fit(wine):
    X, y_partial, _ = wine
    learner = SERAPH().fit(X, y_partial)
    rank = len(learner.components_)
    assert learner.components_.shape == (rank, 13)
    assert rank == np.linalg.matrix_rank(learner.get_mahalanobis_matrix())
    assert learner.n_similar_ + learner.n_dissimilar_ == 15 * 14 // 2
    assert learner.n_unlabeled_ == 80 * 79 // 2 - 105
    assert learner.mu_ == 105 / learner.n_unlabeled_
    assert learner.converged_
    assert 0 <= learner.optimality_gap_ <= learner.tol
    assert learner.n_features_in_ == 13
    assert not hasattr(learner, "feature_names_in_")
    assert set(learner.history_) == {"objective", "rank", "share", "step"}
    assert all(len(values) == learner.n_iter_ for values in learner.history_.values())
    lengths = np.linalg.norm(learner.components_, axis=1)
    assert np.all(np.diff(lengths) <= 0)


def test_automatic_lam_is_the_rule_of_the_documentation(wine):
    X, y_partial, _ = wine
    learner = SERAPH().fit(X, y_partial)
    top = np.linalg.eigvalsh(np.cov(X.T, bias=True))[-1]
    balanced = 2 * np.sqrt(learner.n_similar_ * learner.n_dissimilar_)
    assert learner.lam_ == pytest.approx(0.08 * balanced / np.sqrt(15) * 2 * top)


def test_automatic_mu_is_zero_where_nothing_is_unlabeled(wine):
    X, _, y = wine
    assert SERAPH().fit(X, y).mu_ == 0.0


@pytest.mark.parametrize(("mu", "lam"), [(0.0, 0.0), ("auto", 0.0), (0.0, 1.0), ("auto", 1.0)])
def test_the_papers_four_settings_run_with_its_solver(wine, mu, lam):
    X, y_partial, _ = wine
    learner = SERAPH(mu=mu, lam=lam, solver="projected-gradient")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        learner.fit(X, y_partial)
    assert learner.n_iter_ <= 200
    assert (learner.mu_ > 0) == (mu == "auto")
    assert learner.lam_ == lam


def test_direct_and_em_agree_without_unlabeled_pairs_and_differ_with_them(wine):
    X, y_partial, _ = wine
    X, y_partial = X[:40], y_partial[:40]
    strict = {"tol": 1e-6, "max_iter": 500}
    apart = []
    for mu in (0.0, 0.3):
        direct = SERAPH(mu=mu, **strict).fit(X, y_partial)
        by_em = SERAPH(mu=mu, solver="em", **strict).fit(X, y_partial)
        apart.append(np.abs(distances(direct, X) - distances(by_em, X)).max())
    assert apart[0] < 1e-4
    assert apart[1] > 1e-2


def test_n_components_caps_the_rank(digits):
    X, y_partial, _ = digits
    free = SERAPH().fit(X, y_partial)
    assert len(free.components_) > 2
    capped = SERAPH(n_components=2).fit(X, y_partial)
    assert capped.components_.shape == (2, 64)
    assert capped.converged_
    assert capped.objective_ < free.objective_


def test_learned_metric_beats_the_euclidean_one_on_digits_with_20_labels():
    task = load_task("usps-1-5-40")
    errors = []
    for number in range(4):
        sampling = sample_task(task, seed=0, number=number)
        learners = [
            learner.fit(sampling.X, sampling.y_partial) for learner in (Euclidean(), SERAPH())
        ]
        errors.append([sampling.nearest_neighbor_error(learner) for learner in learners])
    euclidean, learned = np.mean(errors, axis=0)
    assert learned < euclidean - 2.0


# What it does not depend on


@pytest.mark.parametrize("c", few([1e-6, 0.1, 30.0, 1e6], {1e-6, 30.0}.__contains__))
@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_a_common_factor_with_its_square_on_lam_leaves_the_distances(wine, c, setting):
    X, y_partial, _ = wine
    one = SERAPH(lam=2.0, **setting).fit(X, y_partial)
    other = SERAPH(lam=2.0 * c**2, **setting).fit(c * X, y_partial)
    np.testing.assert_allclose(distances(other, c * X), distances(one, X), rtol=1e-6)


def test_thread_count_does_not_matter(digits):
    X, y_partial, _ = digits
    one, other = (SERAPH(n_jobs=n).fit(X, y_partial) for n in (None, 2))
    np.testing.assert_array_equal(one.components_, other.components_)


# How it is used


def test_pair_methods_agree_on_the_distance(wine):
    X, y_partial, _ = wine
    learner = SERAPH().fit(X, y_partial)
    pairs = X[np.array([[0, 1], [5, 60], [3, 3]])]
    d = learner.pair_distance(pairs)
    Z = learner.transform(X)
    np.testing.assert_allclose(d, np.linalg.norm(Z[[0, 5, 3]] - Z[[1, 60, 3]], axis=1))
    np.testing.assert_allclose(learner.pair_proba(pairs), 1 / (1 + np.exp(d**2 - 1)))
    metric = learner.get_metric()
    np.testing.assert_allclose([metric(a, b) for a, b in pairs], d)
    A, gap = learner.get_mahalanobis_matrix(), pairs[1, 0] - pairs[1, 1]
    assert gap @ A @ gap == pytest.approx(d[1] ** 2)
    assert learner.pair_distance(np.empty((0, 2, 13))).shape == (0,)


def test_get_metric_works_in_scikit_learn_and_survives_a_pickle(wine):
    X, y_partial, y = wine
    learner = SERAPH().fit(X, y_partial)
    metric = pickle.loads(pickle.dumps(learner.get_metric()))
    neighbors = KNeighborsClassifier(3, metric=metric).fit(X, y)
    mapped = KNeighborsClassifier(3).fit(learner.transform(X), y)
    np.testing.assert_array_equal(neighbors.predict(X), mapped.predict(learner.transform(X)))


def test_pair_proba_keeps_the_threshold_of_the_fit(wine):
    X, y_partial, _ = wine
    learner = SERAPH(eta=2.0).fit(X, y_partial)
    before = learner.pair_proba(X[None, :2])
    learner.set_params(eta=5.0)
    assert learner.pair_proba(X[None, :2]) == before


def test_pair_methods_refuse_other_shapes(wine):
    X, y_partial, _ = wine
    learner = SERAPH().fit(X, y_partial)
    with pytest.raises(ValueError, match=r"\(n_pairs, 2, 13\).*got \(1, 2\)"):
        learner.pair_distance([[0, 1]])


def test_pipeline_and_grid_search(wine):
    X, _, y = wine
    pipeline = make_pipeline(StandardScaler(), SERAPH(), KNeighborsClassifier(1))
    search = GridSearchCV(pipeline, {"seraph__lam": ["auto", 30.0], "seraph__mu": [0.0]}, cv=3)
    search.fit(X, y)
    assert search.best_score_ > 0.8
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_pairs_reach_the_learner_through_a_pipeline(wine):
    X, _, y = wine
    pairs = [[0, 1], [2, 3], [0, np.flatnonzero(y == y[0])[1]]]
    marks = [y[i] == y[j] for i, j in pairs]
    pipeline = make_pipeline(StandardScaler(), SERAPH())
    pipeline.fit(X, seraph__marks=Marks(pairs, marks, rows=X))
    assert pipeline[-1].n_similar_ + pipeline[-1].n_dissimilar_ == 3


def test_warm_start_goes_on_from_the_last_metric(digits):
    X, y_partial, _ = digits
    cold = SERAPH(tol=1e-5).fit(X, y_partial)
    warm = SERAPH(tol=1e-5, warm_start=True).fit(X, y_partial)
    first = warm.n_iter_
    assert warm.fit(X, y_partial).n_iter_ < first / 3
    assert warm.objective_ == pytest.approx(cold.objective_, rel=1e-6)
    warm.fit(X[:, :40], y_partial)  # another number of features: a new start
    assert warm.n_features_in_ == 40


def test_verbose_prints_a_line_per_iteration(wine):
    X, y_partial, _ = wine
    out = io.StringIO()
    with redirect_stdout(out):
        learner = SERAPH(verbose=1).fit(X, y_partial)
    lines = out.getvalue().splitlines()
    assert len(lines) == learner.n_iter_
    assert re.fullmatch(
        r"\[SERAPH\] 1/200  objective -[\d.]+  rank \d+  gap \S+  [\d.]+ s, at most [\d.]+ s left",
        lines[0],
    )
    assert f"{learner.objective_:.4g}"[:5] in lines[-1]
