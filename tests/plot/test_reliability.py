"""Whether stated probabilities come true."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler

from seraph import SERAPH, MetricPipeline, ReliabilityDisplay
from seraph.classic import Euclidean

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


def test_a_calibrated_learner_shows_its_calibrated_probabilities():
    learner = SERAPH().fit(X, SOME)
    own = ReliabilityDisplay.from_estimator(learner, X, Y)
    rows = np.column_stack(np.triu_indices(80, k=1))
    np.testing.assert_array_equal(own.probabilities, learner.pair_proba(rows, X))
    np.testing.assert_array_equal(own.similar, Y[rows[:, 0]] == Y[rows[:, 1]])
    assert own.name == "SERAPH"
    learner.calibrate_proba(X, SOME)
    other = ReliabilityDisplay.from_estimator(learner, X, Y, max_pairs=50)
    assert other.name == "SERAPH, calibrated"
    assert len(other.probabilities) == 50


def test_marked_pairs_and_pipelines_are_shown():
    names = [f"r{k}" for k in range(80)]
    model = MetricPipeline(StandardScaler(), SERAPH()).fit(X, SOME).calibrate_proba(X, SOME)
    pairs = np.array(names)[[[0, 2], [0, 1], [3, 5]]]
    given = {"pairs": pairs, "pair_labels": [1, -1, 1], "ids": names}
    shown = ReliabilityDisplay.from_estimator(model, X, **given)
    np.testing.assert_array_equal(sorted(shown.similar), [False, True, True])
    expected = model.calibrated_pair_proba(pairs, X, ids=names)
    np.testing.assert_array_equal(sorted(shown.probabilities), sorted(expected))


def test_a_learner_without_probabilities_is_told_how_to_get_them():
    with pytest.raises(TypeError, match="`pair_proba`, which Euclidean does not have: call its"):
        ReliabilityDisplay.from_estimator(Euclidean().fit(X), X, Y)
