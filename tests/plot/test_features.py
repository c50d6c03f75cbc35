"""FeatureImportanceDisplay: how much each feature contributes to a metric."""

import numpy as np
import pytest

from seraph import SERAPH
from seraph.classic import Euclidean
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


def test_names_come_from_the_user_the_learner_or_are_made_up(wine):
    pandas = pytest.importorskip("pandas")
    X = wine[0][:, :3]
    frame = pandas.DataFrame(X, columns=["u", "v", "w"])
    named, plain = Euclidean().fit(frame), Euclidean().fit(X)

    def names(learner, X, **kw):
        display = FeatureImportanceDisplay.from_estimator(learner, X, ax=some_axes(2), **kw)
        return sorted(tick.get_text() for tick in display.axes_[0].get_yticklabels())

    assert names(named, frame) == ["u", "v", "w"]
    assert names(plain, X) == ["x0", "x1", "x2"]
    assert names(named, frame, feature_names=["p", "q", "r"]) == ["p", "q", "r"]
    with pytest.raises(ValueError, match="2 names, but there are 3 features"):
        names(plain, X, feature_names=["p", "q"])
