"""Whether stated probabilities come true."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from seraph import SERAPH, Marks, PairClassifier
from seraph.classic import Euclidean
from seraph.plot import ReliabilityDisplay

RNG = np.random.default_rng(0)
Y = np.arange(80) % 2
X = RNG.normal(size=(80, 3)) + 2 * np.eye(2, 3)[Y]
SOME = np.where(np.arange(80) < 40, Y, -1)


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def test_bins_of_equal_size_are_drawn_as_mean_and_share():
    p = np.array([0.1, 0.9, 0.2, 0.8])
    display = ReliabilityDisplay(probabilities=p, similar=[0, 1, 1, 1], n_bins=2, name="p").plot()
    _, line = display.ax_.lines[:2]
    np.testing.assert_allclose(line.get_xdata(), [0.15, 0.85])
    np.testing.assert_allclose(line.get_ydata(), [0.5, 1.0])
    assert [text.get_text() for text in display.ax_.get_legend().get_texts()] == ["p"]


def test_several_share_axes_and_one_diagonal():
    _, ax = plt.subplots()
    for color in ("C0", "C1"):
        shown = ReliabilityDisplay(probabilities=[0.1, 0.9], similar=[0, 1]).plot(
            ax=ax, color=color
        )
        assert shown.figure_ is ax.figure
    diagonals = [line for line in ax.lines if line.get_linestyle() == ":"]
    assert len(diagonals) == 1


def test_a_learner_shows_its_own_probabilities_and_a_classifier_the_calibrated_ones():
    learner = SERAPH().fit(X, SOME)
    own = ReliabilityDisplay.from_estimator(learner, X, Y)
    rows = np.column_stack(np.triu_indices(80, k=1))
    np.testing.assert_array_equal(own.probabilities, learner.pair_proba(rows, X))
    np.testing.assert_array_equal(own.similar, Y[rows[:, 0]] == Y[rows[:, 1]])
    assert own.name == "SERAPH"
    model = PairClassifier(SERAPH(), cv=2).fit(X, SOME)
    other = ReliabilityDisplay.from_estimator(model, X, Y)
    assert other.name == "PairClassifier"
    np.testing.assert_array_equal(other.probabilities, model.predict_proba(rows, X)[:, 1])
    assert len(ReliabilityDisplay.from_estimator(model, X, Y, max_pairs=50).probabilities) == 50


def test_marked_pairs_and_pipelines_are_shown():
    table = pd.DataFrame(X, index=[f"r{k}" for k in range(80)])
    model = PairClassifier(make_pipeline(StandardScaler(), SERAPH()), cv=2).fit(table, SOME)
    pairs = table.index.to_numpy()[[[0, 2], [0, 1], [3, 5]]]
    marks = Marks(pairs, [1, -1, 1], rows=table)
    shown = ReliabilityDisplay.from_estimator(model, table, marks=marks)
    np.testing.assert_array_equal(sorted(shown.similar), [False, True, True])
    expected = model.predict_proba(pairs, table)[:, 1]
    np.testing.assert_array_equal(sorted(shown.probabilities), sorted(expected))


def test_a_learner_without_probabilities_is_told_how_to_get_them():
    with pytest.raises(TypeError, match="`pair_proba`, which Euclidean does not have: pass a"):
        ReliabilityDisplay.from_estimator(Euclidean().fit(X), X, Y)
