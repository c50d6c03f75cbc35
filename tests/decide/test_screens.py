"""Which rows a screen shows, and with what chance."""

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from seraph import PairClassifier, query_screens
from seraph._decide._queries import POOL, sample_screen
from seraph.classic import GMML


@pytest.mark.parametrize(("n", "size", "near"), [(60, 8, 4), (60, 6, 0), (60, 6, 4), (20, 8, 3)])
def test_rows_are_shown_as_often_as_their_chances_say(n, size, near):
    Z = np.random.default_rng(0).normal(size=(n, 2))
    rng = np.random.RandomState(1)
    shown, chances, draws = np.zeros(n), np.zeros(n), 6000
    for _ in range(draws):
        rows, chance = sample_screen(Z, 5, size, near, rng)
        assert rows[0] == 5
        assert len(set(rows.tolist())) == size
        shown[rows[1:]] += 1
        chances[rows[1:]] = chance
    assert (chances > 0).sum() == n - 1
    assert chances.sum() == pytest.approx(size - 1)
    error = np.sqrt(chances * (1 - chances) / draws)
    assert (np.abs(shown / draws - chances) <= 4.5 * error + 1e-12).all()


def test_near_rows_are_near_by_the_distance_of_the_model(wine):
    X, y, _ = wine
    model = make_pipeline(StandardScaler(), GMML()).fit(X, y)
    Z = model.transform(X)
    for given in (model, PairClassifier(model, cv=2).fit(X, y)):
        mapped = Z if given is model else given.estimator_.transform(X)
        rows, _ = query_screens(given, X, 5, size=5, near=3, random_state=0)
        for first, *others in rows.tolist():
            nearest = np.argsort(((mapped - mapped[first]) ** 2).sum(axis=1))[: POOL + 1]
            assert len(set(others) & set(nearest.tolist())) >= 3


def test_rows_of_a_data_frame_are_named_and_a_seed_asks_about_the_same_rows(wine):
    X, _, _ = wine
    frame = pd.DataFrame(X, index=[f"w{k}" for k in range(len(X))])
    rows, chances = query_screens(None, frame, 2, size=4, near=2, random_state=0)
    numbers, same = query_screens(None, X, 2, size=4, near=2, random_state=0)
    assert rows.tolist() == [[f"w{k}" for k in screen] for screen in numbers.tolist()]
    assert np.array_equal(chances, same)


def test_too_few_rows_are_refused():
    with pytest.raises(ValueError, match="shows 8 rows, and X has 3"):
        query_screens(None, np.eye(3))
