"""EmbeddingDisplay: the points in the plane, before and after."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist

from seraph import SERAPH, Marks
from seraph.plot import EmbeddingDisplay
from tests.helpers.pictures import some_axes


def drawn_points(panel):
    """Offsets and sizes of all points of a panel."""
    parts = [part for part in panel.collections if len(part.get_offsets())]
    offsets = np.concatenate([part.get_offsets() for part in parts])
    sizes = np.concatenate([np.full(len(p.get_offsets()), p.get_sizes()[0]) for p in parts])
    return offsets, sizes


def test_the_plane_keeps_the_learned_distances_of_a_metric_of_rank_two(wine):
    X, y_partial, _ = wine
    learner = SERAPH(n_components=2).fit(X, y_partial)
    assert len(learner.components_) == 2
    display = EmbeddingDisplay.from_estimator(learner, X, y_partial, ax=some_axes(2))
    np.testing.assert_allclose(pdist(display.after), pdist(learner.transform(X)), atol=1e-12)
    np.testing.assert_allclose(display.after_shares.sum(), 1.0)
    offsets, _ = drawn_points(display.axes_[1])
    np.testing.assert_allclose(np.sort(offsets[:, 0]), np.sort(display.after[:, 0]))


def test_labeled_points_are_larger_and_every_point_is_drawn_once(wine):
    X, y_partial, y = wine
    learner = SERAPH().fit(X, y_partial)
    display = EmbeddingDisplay.from_estimator(learner, X, y_partial, classes=y, ax=some_axes(2))
    for panel in display.axes_:
        _, sizes = drawn_points(panel)
        assert len(sizes) == len(X)
        assert np.sum(sizes == sizes.max()) == np.sum(y_partial >= 0)
    texts = [text.get_text() for text in display.axes_[1].get_legend().get_texts()]
    assert texts == ["0", "1", "2", "labeled", "unlabeled"]


@pytest.mark.parametrize("names", [["left", "right"], None])
def test_one_direction_gives_each_class_a_line(names):
    x = np.arange(6.0)
    classes = None if names is None else np.repeat(names, 3)
    display = EmbeddingDisplay(before=x[:, np.newaxis], after=x[:, np.newaxis], classes=classes)
    panel = display.plot(ax=some_axes(2)).axes_[1]
    offsets, _ = drawn_points(panel)
    np.testing.assert_array_equal(np.sort(offsets[:, 0]), x)
    if names is None:
        assert len(panel.get_yticks()) == 0
    else:
        assert [tick.get_text() for tick in panel.get_yticklabels()] == names
        np.testing.assert_array_equal(np.round(offsets[:, 1]), [0, 0, 0, 1, 1, 1])


def test_lines_join_the_marked_pairs(wine):
    X, marks = wine[0], Marks([[0, 1], [2, 70], [3, 4]], [True, False, True], rows=wine[0])
    display = EmbeddingDisplay.from_estimator(
        SERAPH().fit(X, marks=marks), X, marks=marks, ax=some_axes(2)
    )
    for panel, points in zip(display.axes_, (display.before, display.after), strict=True):
        similar, dissimilar = (line.get_xydata() for line in panel.lines)
        np.testing.assert_array_equal(similar[[0, 1, 3, 4], 0], points[[0, 1, 3, 4], 0])
        np.testing.assert_array_equal(dissimilar[:2, 0], points[[2, 70], 0])
        assert np.isnan(similar[2]).all()
    texts = [text.get_text() for text in display.axes_[1].get_legend().get_texts()]
    assert texts == ["similar", "dissimilar"]


def test_coinciding_points_get_a_message():
    display = EmbeddingDisplay(before=np.eye(2), after=np.empty((2, 0)))
    (text,) = display.plot(ax=some_axes(2)).axes_[1].texts
    assert "every distance is zero" in text.get_text()
