"""PosteriorDisplay: how certain the model is about the pairs."""

import numpy as np
import pytest
from scipy.stats import ks_2samp

from seraph import SERAPH, Marks
from seraph.plot import PosteriorDisplay
from tests.helpers.pictures import some_axes


def test_every_pair_counts_once_with_its_kind(wine):
    X, y_partial, _ = wine
    learner = SERAPH().fit(X, y_partial)
    display = PosteriorDisplay.from_estimator(learner, X, y_partial, ax=some_axes())
    i, j = np.triu_indices(len(X), k=1)
    p = learner.pair_proba(X[np.column_stack([i, j])])
    known = (y_partial[i] >= 0) & (y_partial[j] >= 0)
    same = y_partial[i] == y_partial[j]
    for name, mask in (
        ("similar", known & same),
        ("dissimilar", known & ~same),
        ("unlabeled", ~known),
    ):
        np.testing.assert_allclose(np.sort(getattr(display, name)), np.sort(p[mask]))
    assert display.largest == pytest.approx(1 / (1 + np.exp(-1.0)))


def test_a_pair_that_is_known_twice_counts_once(wine):
    X, y_partial, y = wine
    pairs = np.array([[0, 1], [50, 60], [60, 50], [2, 70]])  # rows 0 to 14 have labels
    alike = y[pairs[:, 0]] == y[pairs[:, 1]]
    learner = SERAPH().fit(X, y_partial, marks=Marks(pairs, alike, rows=X))
    display = PosteriorDisplay.from_estimator(
        learner, X, y_partial, marks=Marks(pairs, alike, rows=X), ax=some_axes()
    )
    counts = learner.n_similar_, learner.n_dissimilar_, learner.n_unlabeled_
    found = display.similar, display.dissimilar, display.unlabeled
    assert tuple(map(len, found)) == counts


def test_a_sample_of_many_pairs_is_seeded_and_fair(digits):
    X, y_partial, _ = digits
    learner = SERAPH().fit(X, y_partial)

    def sampled(max_pairs, seed=0):
        display = PosteriorDisplay.from_estimator(
            learner, X, y_partial, max_pairs=max_pairs, random_state=seed, ax=some_axes()
        )
        return display.unlabeled

    few, everything = sampled(2000), sampled(20_000)
    assert len(everything) == learner.n_unlabeled_
    assert 1800 < len(few) <= 2000
    assert ks_2samp(few, everything).pvalue > 0.01
    np.testing.assert_array_equal(few, sampled(2000))
    assert not np.array_equal(few, sampled(2000, seed=1))


def test_bars_are_shares_of_each_kind():
    display = PosteriorDisplay(
        similar=[0.99, 1.0], dissimilar=[], unlabeled=[0.0, 0.01, 0.02, 0.62]
    )
    display.plot(ax=some_axes())
    assert not display.ax_.lines  # the largest probability was not given
    unlabeled, similar = (patch.get_data().values for patch in display.ax_.patches)
    assert (unlabeled[0], unlabeled[12], unlabeled.sum()) == (75.0, 25.0, 100.0)
    assert (similar[-1], similar.sum()) == (100.0, 100.0)
