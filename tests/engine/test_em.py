"""The EM-like scheme (9)-(11) beside a dense one: every step, the fixed point, symmetries."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform
from scipy.special import expit

from tests.helpers.em import em
from tests.helpers.oracle import labeled_pairs, numeric_gradient, objective
from tests.helpers.plain import SERAPH

STRICT = {"solver": "em", "tol": 1e-6, "max_iter": 1000}
SETTINGS = [{}, {"mu": 0.7}, {"mu": 0.2, "eta": 2.5}, {"around": "spg"}]


def some_points(seed, n=11, m=2):
    rng = np.random.default_rng(seed)
    codes = np.arange(n) % 2
    X = rng.normal(size=(n, m)) + 1.5 * rng.normal(size=(2, m))[codes]
    return X, np.where(np.arange(n) < 6, codes, -1)


def e_step(A, learner):
    """The probability (10) of a difference of points; that of the start without a metric."""
    if A is None:
        return lambda d: 0.0
    return lambda d: expit(-(1.0 + learner.mu_) * (d @ A @ d - learner.eta_))


def m_step(X, y, learner, A, before):
    """The objective (11) at the metric A, with the q of the metric before."""
    return objective(
        X,
        A,
        labeled_pairs(y[y >= 0]),
        eta=learner.eta_,
        mu=learner.mu_,
        lam=learner.lam_,
        q=e_step(before, learner),
    )


def gap(X, y, learner, A, before):
    """The optimality gap of that, by differences."""
    G = numeric_gradient(lambda M: m_step(X, y, learner, M, before), A, h=1e-5)
    trace = np.trace(A)
    along = abs(np.vdot(G, A)) / trace if trace else 0.0
    return max(np.linalg.eigvalsh((G + G.T) / 2)[-1], along) / learner.lam_


@pytest.mark.filterwarnings("ignore:SERAPH has not converged")
@pytest.mark.parametrize("parameters", SETTINGS, ids=str)
def test_each_m_step_maximizes_the_dense_objective_and_rises(parameters):
    X, y = some_points(0)
    before = None
    for n_steps in (1, 2, 3):
        solver = em(n_steps, parameters.get("around", "em"))
        others = {name: value for name, value in parameters.items() if name != "around"}
        learner = SERAPH(**STRICT | others | {"solver": solver}).fit(X, y)
        A = learner.get_mahalanobis_matrix()
        value = m_step(X, y, learner, A, before)
        assert learner.objective_ == pytest.approx(value, rel=1e-9)
        assert gap(X, y, learner, A, before) <= learner.optimality_gap_ + 1e-4
        if before is not None:
            assert value >= m_step(X, y, learner, before, before) - 1e-9
        before = A


@pytest.mark.parametrize("parameters", SETTINGS[:3], ids=str)
def test_where_it_has_converged_the_metric_is_the_best_for_its_own_q(parameters):
    X, y = some_points(1)
    learner = SERAPH(**STRICT | parameters).fit(X, y)
    assert learner.converged_
    A = learner.get_mahalanobis_matrix()
    assert gap(X, y, learner, A, A) <= 1e-3
    assert learner.objective_ == pytest.approx(m_step(X, y, learner, A, A), rel=1e-4)


def test_distances_do_not_depend_on_order_axes_origin_or_units(rng):
    X, y = some_points(2)
    order = rng.permutation(len(X))
    turn = np.linalg.qr(rng.normal(size=(2, 2)))[0]
    settings = STRICT | {"tol": 1e-5}
    expected = squareform(pdist(SERAPH(**settings).fit(X, y).transform(X)))
    for other, rows in [
        (X[order], order),
        (1024.0 * X @ turn + 50.0, ...),
        (np.c_[X, np.zeros(len(X))], ...),
    ]:
        found = pdist(SERAPH(**settings).fit(other, y[rows]).transform(other))
        np.testing.assert_allclose(
            squareform(found), expected[rows][:, rows], rtol=0, atol=1e-3 * expected.max()
        )
