"""DistanceDisplay: the matrix of all distances, before and after."""

import numpy as np
import pytest
from sklearn.metrics import pairwise_distances

from seraph import SERAPH
from seraph.plot import DistanceDisplay
from tests.helpers.pictures import some_axes


def test_the_matrices_are_the_distances_with_the_points_in_order_of_class(wine):
    X, y_partial, y = wine
    learner = SERAPH().fit(X, y_partial)
    display = DistanceDisplay.from_estimator(learner, X, y, ax=some_axes(2))
    np.testing.assert_allclose(display.before, pairwise_distances(X), atol=1e-6)
    np.testing.assert_allclose(display.after, pairwise_distances(learner.transform(X)), atol=1e-6)
    order = np.argsort(y, kind="stable")
    for panel, matrix in zip(display.axes_, (display.before, display.after), strict=True):
        shown = panel.images[0].get_array()
        mean = matrix[np.triu_indices(len(X), k=1)].mean()
        np.testing.assert_allclose(shown, matrix[np.ix_(order, order)] / mean)


def test_both_sides_share_one_scale():
    matrix = np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 3.0], [2.0, 3.0, 0.0]])
    display = DistanceDisplay(before=matrix, after=1000.0 * matrix).plot(ax=some_axes(2))
    left, right = (panel.images[0] for panel in display.axes_)
    assert left.get_clim() == right.get_clim()
    np.testing.assert_allclose(left.get_array(), right.get_array())


def test_points_of_unknown_class_are_left_out_unless_all_are(wine):
    X, y_partial, _ = wine
    learner = SERAPH().fit(X, y_partial)
    some = DistanceDisplay.from_estimator(learner, X, y_partial, ax=some_axes(2))
    known = X[y_partial >= 0]
    np.testing.assert_allclose(some.before, pairwise_distances(known), atol=1e-6)
    none = DistanceDisplay.from_estimator(learner, X, ax=some_axes(2))
    assert none.before.shape == (len(X), len(X))


@pytest.mark.parametrize("classes", [[10, 9, 2, 9], [2, None, 10, 9]])
def test_classes_are_sorted_and_the_unknown_come_last(classes):
    matrix = 1.0 - np.eye(4)
    display = DistanceDisplay(before=matrix, after=matrix, classes=classes)
    panel = display.plot(ax=some_axes(2)).axes_[0]
    labels = [tick.get_text() for tick in panel.get_yticklabels()]
    known = [str(label) for label in sorted({c for c in classes if c is not None})]
    assert labels == known + ["unknown"] * (None in classes)
