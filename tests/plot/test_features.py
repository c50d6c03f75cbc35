"""FeatureImportanceDisplay: how much each feature contributes to a metric."""

import numpy as np
import pytest

from seraph import SERAPH
from seraph.plot import EmbeddingDisplay, FeatureImportanceDisplay
from tests.helpers.pictures import some_axes


def test_the_importance_is_how_far_a_random_value_moves_a_point(wine):
    X, y_partial, _ = wine
    learner = SERAPH().fit(X, y_partial)
    display = FeatureImportanceDisplay.from_estimator(learner, X, ax=some_axes(2))
    rows, others = np.indices((len(X), len(X))).reshape(2, -1)
    for feature in range(X.shape[1]):
        moved = X[rows]
        moved[:, feature] = X[others, feature]
        distances = learner.pair_distance(np.stack([X[rows], moved], axis=1))
        assert display.importances[feature] == pytest.approx(np.mean(distances**2))


def test_loadings_make_the_axes_of_the_embedding(wine):
    X, y_partial, _ = wine
    learner = SERAPH().fit(X, y_partial)
    display = FeatureImportanceDisplay.from_estimator(learner, X, ax=some_axes(2))
    plane = EmbeddingDisplay.from_estimator(learner, X, ax=some_axes(2)).after
    scores = (X - X.mean(axis=0)) / X.std(axis=0)
    np.testing.assert_allclose(scores @ display.loadings[:2].T, plane, atol=1e-10)


def test_the_most_important_features_come_first_with_their_names():
    display = FeatureImportanceDisplay(
        importances=[1.0, 3.0, 2.0, 0.5],
        loadings=[[0.1, 0.3, -0.2, 0.0], [0.0, -0.001, 0.4, 0.0]],
        feature_names=["a", "b", "c", "d"],
    ).plot(max_features=3, ax=some_axes(2))
    left, right = display.axes_
    assert [tick.get_text() for tick in left.get_yticklabels()] == ["b", "c", "a"]
    assert [bar.get_width() for bar in left.patches] == [3.0, 2.0, 1.0]
    assert left.yaxis_inverted()
    assert [text.get_text() for text in right.texts] == [
        "0.30", "0.00", "-0.20", "0.40", "0.10", "0.00"
    ]  # fmt: skip
    assert left.get_ylim() == right.get_ylim()
