"""The regularization path."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from seraph import SERAPH, Marks, seraph_path
from tests.helpers.oracle import labeled_pairs, numeric_gradient, objective
from tests.helpers.quick import few


def metrics(components):
    return [P.T @ P for P in components]


def test_it_starts_at_the_top_eigenvalue_of_the_gradient_at_zero(wine):
    X, y_partial, _ = wine
    lams, components, _ = seraph_path(X, y_partial, learner=SERAPH(mu=0.0), n_lams=5, eps=0.01)
    p = 1 / (1 + np.exp(-1.0))  # of every pair under the zero metric, eta = 1
    G = sum(
        (p - similar) * np.outer(X[i] - X[j], X[i] - X[j])
        for (i, j), similar in labeled_pairs(y_partial[:15]).items()
    )
    top = np.linalg.eigvalsh(G)[-1]
    np.testing.assert_allclose(lams, np.geomspace(top, 0.01 * top, 5))
    assert [len(P) > 0 for P in components] == [False, True, True, True, True]


@pytest.mark.filterwarnings("ignore:.*rank 0")
@pytest.mark.parametrize("mu", few([0.0, "auto", 0.3], lambda mu: mu == 0.3))
def test_the_metric_is_zero_from_the_first_weight_on_and_not_far_below(wine, mu):
    """A heavy entropy can hold a metric where zero is a local maximum: the path starts above."""
    X, y_partial, _ = wine
    lams, components, _ = seraph_path(X, y_partial, n_lams=12, eps=0.1, learner=SERAPH(mu=mu))
    assert len(components[0]) == 0
    assert len(components[-1]) > 0
    for factor in (1.02, 2.0):
        learner = SERAPH(mu=mu, lam=factor * lams[0], tol=1e-6).fit(X, y_partial)
        assert len(learner.components_) == 0
    first = next(k for k, P in enumerate(components) if len(P))
    assert lams[first] > lams[0] / 2


def test_each_metric_is_that_of_seraph_where_there_is_one_maximum(wine):
    X, y_partial, _ = wine
    strict = {"mu": 0.0, "tol": 1e-5, "max_iter": 1000}
    lams, components, gaps = seraph_path(X, y_partial, n_lams=8, learner=SERAPH(**strict))
    assert np.all(gaps <= 1e-5)
    for lam, P in list(zip(lams, components, strict=True))[1:]:
        learner = SERAPH(lam=lam, **strict).fit(X, y_partial)
        assert len(P) == len(learner.components_)
        A = learner.get_mahalanobis_matrix()
        np.testing.assert_allclose(P.T @ P, A, atol=2e-3 * np.abs(A).max())


def test_the_gaps_are_those_of_the_metrics(wine):
    X, y = wine[0][:30, :3], wine[1][:30]
    lams, components, gaps = seraph_path(X, y, n_lams=4)
    mu = 105 / (30 * 29 / 2 - 105)
    for lam, P, gap in zip(lams, components, gaps, strict=True):
        A = P.T @ P

        def value(A, lam=lam):
            return objective(X, A, labeled_pairs(y[:15]), mu=mu, lam=lam)

        G = numeric_gradient(value, A, h=1e-5)
        along = abs(np.vdot(G, A)) / (np.trace(A) or 1.0)
        top = np.linalg.eigvalsh((G + G.T) / 2)[-1]
        assert gap == pytest.approx(max(top, along, 0.0) / lam, abs=1e-4)
        assert gap <= 1e-3


def test_units_do_not_matter(wine):
    X, y_partial, _ = wine
    (lams, one, _), (others, other, _) = (
        seraph_path(c * X, y_partial, n_lams=6) for c in (1.0, 1e5)
    )
    np.testing.assert_allclose(others, 1e10 * lams)
    for A, B in zip(metrics(one), metrics(other), strict=True):
        np.testing.assert_allclose(1e10 * B, A, atol=1e-6 * max(A.max(initial=0), 1e-3))


def test_marks_float32_capped_ranks_and_graphs(wine):
    X, y_partial, _ = wine
    i, j = np.triu_indices(15, k=1)
    marks = Marks(np.c_[i, j], y_partial[i] == y_partial[j], rows=X)
    exact = SERAPH(mu=0.0)
    lams, by_class, _ = seraph_path(X, y_partial, n_lams=6, learner=exact)
    _, by_marks, _ = seraph_path(X, marks=marks, n_lams=6, learner=exact)
    for A, B in zip(metrics(by_class), metrics(by_marks), strict=True):
        np.testing.assert_allclose(B, A, atol=1e-6 * max(A.max(initial=0), 1e-3))
    single = seraph_path(X.astype(np.float32), y_partial, n_lams=6, learner=exact)[1]
    assert single[-1].dtype == np.float32
    capped = seraph_path(X, y_partial, n_lams=20, eps=1e-4, learner=SERAPH(mu=0.0, n_components=1))
    assert max(len(P) for P in capped[1]) == 1
    smooth = seraph_path(X, y_partial, n_lams=6, learner=SERAPH(mu=0.0, manifold=0.05))
    assert smooth[0][0] < lams[0]


def test_weights_can_be_passed_in_any_order(wine):
    X, y_partial, _ = wine
    strict = {"mu": 0.0, "tol": 1e-5}
    lams, components, _ = seraph_path(
        X, y_partial, lams=[2.0, 30.0, 8.0, 8.0], learner=SERAPH(**strict)
    )
    np.testing.assert_array_equal(lams, [30.0, 8.0, 2.0])
    for lam, P in zip(lams, components, strict=True):
        A = SERAPH(lam=lam, **strict).fit(X, y_partial).get_mahalanobis_matrix()
        np.testing.assert_allclose(P.T @ P, A, atol=2e-3 * A.max())


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_lams": 0}, "n_lams must be a finite whole number of at least 1"),
        ({"eps": 1.0}, "eps must lie between 0 and 1"),
        ({"lams": ["far"]}, "lams must hold positive finite numbers"),
        ({"lams": [1.0, -1.0]}, "lams must hold positive finite numbers"),
        ({"lams": []}, "lams must hold positive finite numbers"),
        ({"learner": "SERAPH"}, "learner must be a SERAPH, or None; got 'SERAPH'"),
    ],
    ids=str,
)
def test_bad_parameters(wine, parameters, message):
    with pytest.raises(ValueError, match=message):
        seraph_path(*wine[:2], **parameters)


@pytest.mark.filterwarnings("ignore:All .* pairs are similar")
def test_bad_data(wine):
    X, y_partial, _ = wine
    for points, labels, message in [
        (np.full_like(X, np.nan), y_partial, "NaN"),
        (X, None, "nothing to learn from"),
        (X, np.where(y_partial >= 0, 0, -1), "zero whatever lam is"),
        (np.ones_like(X), y_partial, "zero whatever lam is"),
    ]:
        with pytest.raises(ValueError, match=message):
            seraph_path(points, labels)


def test_stopping_early_warns_once(wine):
    message = r"^seraph_path has not converged for \d of 5 values of lam.*Raise max_iter"
    with pytest.warns(ConvergenceWarning, match=message) as record:
        seraph_path(*wine[:2], n_lams=5, learner=SERAPH(max_iter=1, tol=1e-9))
    assert [warning.filename for warning in record] == [__file__]
