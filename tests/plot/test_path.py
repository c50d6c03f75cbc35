"""RegularizationPathDisplay: the metric along the regularization path."""

import numpy as np

from seraph import seraph_path
from seraph.plot import RegularizationPathDisplay
from tests.helpers.pictures import some_axes

DATA = {
    "lams": [8.0, 4.0, 2.0, 1.0],
    "eigenvalues": [[0, 0], [1.0, 0], [2.0, 0], [3.0, 0.5]],
    "ranks": [0, 1, 1, 2],
}


def test_eigenvalues_are_lines_and_the_rank_is_a_staircase():
    display = RegularizationPathDisplay(**DATA)
    assert not hasattr(display, "ax_")
    assert display.plot(ax=some_axes()) is display
    lines = display.ax_.get_lines()
    assert len(lines) == 2
    np.testing.assert_array_equal(lines[0].get_xdata(), [8.0, 4.0, 2.0, 1.0])
    np.testing.assert_array_equal(lines[0].get_ydata(), [0.0, 1.0, 2.0, 3.0])
    np.testing.assert_array_equal(lines[1].get_ydata(), [0.0, 0.5])  # from where it leaves zero
    (staircase,) = display.rank_ax_.get_lines()
    np.testing.assert_array_equal(staircase.get_ydata(), DATA["ranks"])
    assert display.ax_.get_xscale() == "log"
    assert display.ax_.xaxis_inverted()
    assert display.figure_ is display.ax_.figure


def test_axes_and_line_properties_can_be_given():
    ax = some_axes()
    display = RegularizationPathDisplay(**DATA).plot(ax=ax, color="red", linestyle="--")
    assert display.ax_ is ax
    assert display.figure_ is ax.figure
    assert {line.get_color() for line in ax.get_lines()} == {"red"}


def test_the_automatic_weight_is_marked_if_it_is_in_range():
    inside = RegularizationPathDisplay(**DATA, auto_lam=3.0).plot(ax=some_axes())
    outside = RegularizationPathDisplay(**DATA, auto_lam=30.0).plot(ax=some_axes())
    assert [t.get_text() for t in inside.ax_.texts] == ['lam="auto"']
    assert not outside.ax_.texts


def test_from_path(wine):
    path = seraph_path(*wine[:2], n_lams=10)
    display = RegularizationPathDisplay.from_path(path, ax=some_axes(), linewidth=3)
    np.testing.assert_array_equal(display.lams, path.lams)
    lines = [line for line in display.ax_.get_lines() if line.get_linestyle() == "-"]
    assert len(lines) == path.ranks.max()
    assert {line.get_linewidth() for line in lines} == {3}
