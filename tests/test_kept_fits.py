"""A fit of the same data gives the same distances from release to release."""

from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.distance import pdist
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from seraph import SERAPH
from tests.data.keep_models import MODELS, answer_of, fit_all

KEPT = (Path(__file__).parent / "data").glob("models-*")
LAST = max(KEPT, key=lambda folder: [int(part) for part in folder.name[7:].split(".")])
# What docs/stability.md says.
TOLERANCE = 0.05


@pytest.fixture(scope="module")
def answers():
    return {name: answer_of(model, asked) for name, model, asked in fit_all()}


def apart(model, now, then):
    """Return how far two answers are apart, as docs/stability.md measures it."""
    if not hasattr(model, "predict"):  # vectors may be turned; their distances may not change
        now, then = pdist(now), pdist(then)
        return np.sqrt(np.mean((now - then) ** 2) / np.mean(then**2))
    return np.abs(now - then).max()


@pytest.mark.parametrize("name", MODELS)
def test_a_fit_answers_as_in_the_last_release(name, answers):
    then = np.load(LAST / f"{name}.npz")["answer"]
    assert apart(MODELS[name], answers[name], then) <= TOLERANCE, (
        f"fits differ from those in {LAST.name} by more than docs/stability.md allows. If you "
        "mean it: say so in CHANGELOG.md, and keep new ones with python tests/data/keep_models.py"
    )


@pytest.mark.parametrize(("shrinkage", "allowed"), [("auto", TOLERANCE), (0.0, 0.001)])
def test_the_default_tol_leaves_no_more_open_than_that(shrinkage, allowed):
    X, y = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    y = np.where(np.arange(len(X)) % 6 == 0, y, -1)
    usual = SERAPH(shrinkage=shrinkage).fit(X, y)
    strict = SERAPH(shrinkage=shrinkage, tol=1e-7, max_iter=2000).fit(X, y)
    assert strict.optimality_gap_ < 0.01 * usual.optimality_gap_
    assert 0.0 < apart(usual, usual.transform(X), strict.transform(X)) <= allowed


def test_turned_vectors_are_the_same_and_longer_ones_are_not():
    Z = np.random.default_rng(0).normal(size=(9, 2))
    turn = np.array([[0.6, -0.8], [0.8, 0.6]])
    vectors = MODELS["pipeline"]
    assert apart(vectors, Z @ turn, Z) < 1e-12
    assert apart(vectors, Z * 1.06, Z) > TOLERANCE
