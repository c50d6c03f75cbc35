"""What is learned is what the formula says is best, as far as the certificate goes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import pdist, squareform

from seraph import SERAPH
from tests.helpers.oracle import entropy, log_likelihood
from tests.helpers.strategies import examples, seeds, sound_cases
from tests.helpers.trial import attempt

# Those for which the objective is (7), or (6).
DIRECT = st.sampled_from(
    [
        {},
        {"mu": 0.0},
        {"lam": 0.1, "eta": 3.0},
        {"mu": 0.2, "solver": "spg"},
        {"solver": "projected-gradient", "max_iter": 20},
        {"gamma": 0.1},
        {"n_components": 1},
    ]
)


def fit(case, **parameters):
    learner = attempt(lambda: SERAPH(**parameters).fit(**case.arguments))
    assert not isinstance(learner, Exception), learner
    return learner


def signs(case):
    """+1, -1 or 0 of each pair, in the order of ``pdist``."""
    codes = case.classes.codes
    known = np.logical_and.outer(codes >= 0, codes >= 0)
    table = np.where(known, np.where(codes[:, np.newaxis] == codes, 1, -1), 0)
    if case.marked is not None:
        i, j = case.marked.rows.T
        table[i, j] = table[j, i] = np.where(case.marked.similar, 1, -1)
    np.fill_diagonal(table, 0)
    return squareform(table)


def value(case, P, *, mu, lam, eta=1.0, scale=1.0, gamma=0.0):
    """Objective (6) at the metric ``P'P`` and ``kappa = -scale``, written out; (7) at 1."""
    known, t = signs(case), scale * pdist(case.table.points @ P.T, "sqeuclidean")
    total = -lam * np.sum(P**2) - 0.5 * gamma * scale**2
    for sign in (1, -1):
        total += log_likelihood(t[known == sign], sign > 0, scale * eta).sum()
    return total - mu * entropy(t[known == 0] - scale * eta).sum()


@examples(2)
@given(case=sound_cases(), parameters=DIRECT)
def test_the_objective_is_what_the_formula_gives(case, parameters):
    learner = fit(case, **parameters)
    weights = {name: getattr(learner, f"{name}_") for name in ("mu", "lam", "eta")}
    gamma = parameters.get("gamma", 0.0)
    expected = value(case, learner.components_, scale=-learner.kappa_, gamma=gamma, **weights)
    assert learner.objective_ == pytest.approx(expected, rel=1e-6, abs=1e-6)


@examples(2)
@given(case=sound_cases(), seed=seeds(), factor=st.floats(0.1, 10.0))
def test_no_metric_is_better_than_the_certificate_allows(case, seed, factor):
    learner = fit(case, mu=0.0)
    rng = np.random.default_rng(seed)
    P = learner.components_
    for other in (
        factor * P,
        P + 0.1 * rng.normal(size=P.shape),
        P[1:],
        rng.normal(size=(2, case.table.m)),
    ):
        room = learner.optimality_gap_ * learner.lam_ * (np.sum(P**2) + np.sum(other**2))
        assert value(case, other, mu=0.0, lam=learner.lam_) <= learner.objective_ + room + 1e-9
