"""SpectrumDisplay: the eigenvalues of a metric."""

import numpy as np
import pytest

from seraph import SERAPH
from seraph.classic import ITML, NCA
from seraph.plot import SpectrumDisplay
from tests.helpers.pictures import some_axes


@pytest.mark.parametrize("learner", [SERAPH(), ITML(), NCA(n_components=3)], ids=str)
def test_eigenvalues_are_those_of_the_matrix(learner, wine):
    X, y_partial, _ = wine
    learner.fit(X, y_partial)
    display = SpectrumDisplay.from_estimator(learner, ax=some_axes())
    everything = np.linalg.eigvalsh(learner.get_mahalanobis_matrix())[::-1]
    rank = len(display.eigenvalues)
    np.testing.assert_allclose(display.eigenvalues, everything[:rank], rtol=1e-6)
    np.testing.assert_allclose(everything[rank:], 0.0, atol=1e-10 * everything[0])
    assert display.ax_.get_title() == f"rank {rank} of {X.shape[1]}"


def test_a_row_that_repeats_another_adds_no_eigenvalue(wine):
    X, y_partial, _ = wine
    learner = SERAPH().fit(X, y_partial)
    rank = len(learner.components_)
    learner.components_ = np.vstack([learner.components_, learner.components_[:1]])
    display = SpectrumDisplay.from_estimator(learner, ax=some_axes())
    assert len(display.eigenvalues) == rank


def test_shares_of_the_trace_add_up():
    display = SpectrumDisplay(eigenvalues=[6.0, 3.0, 1.0]).plot(ax=some_axes())
    (shares,) = display.share_ax_.get_lines()
    np.testing.assert_allclose(shares.get_ydata(), [60.0, 90.0, 100.0])
    assert display.ax_.get_title() == "rank 3"


@pytest.mark.parametrize(("smallest", "scale"), [(0.5, "linear"), (0.001, "log")])
def test_the_scale_is_logarithmic_for_eigenvalues_far_apart(smallest, scale):
    display = SpectrumDisplay(eigenvalues=[1.0, smallest]).plot(ax=some_axes())
    assert display.ax_.get_yscale() == scale
