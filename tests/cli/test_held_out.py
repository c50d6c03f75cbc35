"""The check against the Euclidean distance: what is held out stays unseen."""

import re
from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from seraph import Marks
from seraph._apps.cli._errors import HeldOutErrors
from seraph._apps.cli._held_out import folds, held_out_errors, held_out_pair_errors
from seraph.classic import Euclidean

SEEN = []


class Witness(BaseEstimator):
    """Learns nothing, and remembers what it was shown."""

    def fit(self, X, y, *, marks):
        SEEN.append((y.copy(), marks.pairs, marks.similar))
        return self

    def transform(self, X):
        return X


@pytest.fixture(autouse=True)
def _forget():
    SEEN.clear()


def hold_out(X, codes, pairs=(), similar=(), seed=0):
    marks = Marks(np.array(pairs, dtype=int).reshape(-1, 2), similar, rows=len(X))
    return held_out_errors(Witness(), X, codes, marks, seed=seed, after_fold=lambda: None)


def test_every_label_is_held_out_once_and_hidden_then(rng):
    codes = np.array([0] * 7 + [1] * 5 + [-1] * 12)
    found = hold_out(rng.normal(size=(24, 2)), codes)
    assert found.n == 12
    assert found.n_folds == len(SEEN) == 5
    hidden = [(codes >= 0) & (y == -1) for y, _, _ in SEEN]
    np.testing.assert_array_equal(np.sum(hidden, axis=0), codes >= 0)
    for (y, _, _), held in zip(SEEN, hidden, strict=True):
        np.testing.assert_array_equal(y[~held], codes[~held])


def test_marked_pairs_of_held_out_rows_are_held_out_with_them(rng):
    codes = np.array([0, 0, 0, 1, 1, 1, -1, -1, *[-1] * 4])
    pairs = [[0, 6], [6, 7], [3, 7]]
    hold_out(rng.normal(size=(12, 2)), codes, pairs, [True, False, False])
    for y, seen, similar in SEEN:
        hidden = np.flatnonzero((codes >= 0) & (y == -1))
        assert not np.isin(seen, hidden).any()
        assert [6, 7] in seen.tolist()
        assert len(seen) == len(similar)


def test_folds_have_their_share_of_every_class():
    codes = np.repeat([0, 1, 2, -1], [10, 15, 5, 20])
    dealt = folds(codes, seed=3)
    assert len(dealt) == 5
    for held in dealt:
        assert codes[held].tolist() == [0, 0, 1, 1, 1, 2]
    assert not np.array_equal(dealt, folds(codes, seed=4))


def test_two_labels_of_each_class_are_held_out_in_more_than_two_folds(rng):
    found = hold_out(rng.normal(size=(9, 2)), np.array([0, 0, 1, 1, 2, 2, -1, -1, -1]))
    assert (found.n, found.n_folds) == (6, 5)


def test_a_metric_of_rank_zero_is_judged_like_any_other(rng):
    class Nowhere(Witness):
        def transform(self, X):
            return X[:, :0]

    codes = np.array([0] * 6 + [1] * 6)
    X = rng.normal(size=(12, 2)) + 9 * codes[:, np.newaxis]
    none = Marks(rows=12)
    found = held_out_errors(Nowhere(), X, codes, none, seed=0, after_fold=lambda: None)
    assert found.wrong_euclidean == 0
    assert 0 < found.wrong < 12


def test_a_row_alone_in_its_class_is_not_asked_about(rng):
    found = hold_out(rng.normal(size=(6, 2)), np.array([0, 0, 1, 1, 2, -1]))
    assert found.n == 4


def test_nothing_is_found_where_nothing_can_be_held_out(rng):
    X = rng.normal(size=(4, 2))
    assert hold_out(X, np.array([0, 1, -1, -1])) is None
    assert hold_out(X, np.array([0, 0, -1, -1]), [[0, 2]], [False]) is None


def test_labels_without_any_relation_to_the_points_are_wrong_half_the_time(rng):
    found = hold_out(rng.normal(size=(400, 3)), rng.integers(0, 2, size=400))
    assert 0.4 < found.wrong / found.n < 0.6
    assert found.wrong == found.wrong_euclidean
    assert found.p_value == 1.0


def errors(n, wrong, euclidean, p_value, guessed=None, p_guess=0.001, **more):
    """Errors beside a guess that is clearly worse, unless it is given."""
    guessed = n if guessed is None else guessed
    return HeldOutErrors(n, wrong, euclidean, p_value, 5, "a", guessed, p_guess, **more)


def test_none_wrong_is_not_called_certain():
    rows = errors(10, 0, 5, 0.06, guessed=6).rows()
    assert rows[1] == ["MeanMetric", "0 of 10", "0.0 ± 8.7 %"]
    assert rows[3][:2] == ["always 'a'", "6 of 10"]


def test_a_distance_must_beat_the_most_frequent_class():
    said = errors(30, 15, 15, 1.0, guessed=14).verdict()
    assert said.startswith("Neither distance is better than to guess 'a' for each, which is wrong")
    assert (
        "for 14 of 30. Try more labels (seraph query says which pairs to ask about) or other"
        in said
    )
    assert "as good as the Euclidean" not in said
    said = errors(30, 14, 12, 0.7, guessed=13, p_guess=1.0).verdict()
    assert "Euclidean distance of the scaled features looks better" in said
    assert said.endswith("The learned one is no better than to guess 'a' for each.")
    said = errors(30, 10, 15, 0.2, guessed=14, p_guess=0.4).verdict()
    assert said.endswith("not clearly better than to guess 'a' for each (14 of 30 wrong; sign "
                         "test, p = 0.4).")  # fmt: skip
    assert "guess" not in errors(30, 2, 2, 1.0, guessed=14).verdict()


def test_the_guess_is_the_most_frequent_class(rng):
    codes = np.array([0] * 4 + [1] * 9 + [-1] * 3)
    found = hold_out(rng.normal(size=(16, 2)), codes)
    assert (found.guess, found.wrong_guess, found.n) == ("1", 4, 13)


def test_labels_that_are_not_held_out_are_explained(rng):
    found = hold_out(rng.normal(size=(6, 2)), np.array([0, 0, 1, 1, 2, -1]))
    assert found.verdict().endswith("(1 of 5 labels is not held out: alone in its class.)")
    two = hold_out(rng.normal(size=(7, 2)), np.array([0, 0, 1, 1, 2, 3, -1]))
    assert two.verdict().endswith("(2 of 6 labels are not held out: alone in their classes.)")


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (errors(100, 5, 20, 0.001), "The learned distance is better than"),
        (
            errors(100, 5, 8, 0.4),
            "looks better, but that may be chance (sign test, p = 0.4)",
        ),
        (errors(12, 0, 3, 0.25), "looks better, but 12 labels are too few to tell"),
        (
            errors(12, 3, 0, 0.25),
            "Euclidean .* looks better, though 12 labels are too few",
        ),
        (
            errors(100, 20, 5, 0.001),
            "Euclidean distance of the scaled features is better",
        ),
        (errors(100, 9, 8, 1.0), "Euclidean .* looks better, though that may be chance"),
        (errors(100, 9, 9, 1.0), "as good as the Euclidean one."),
        (
            errors(9, 1, 1, 1.0),
            "as good as .*, and 9 labels are too few to tell them apart",
        ),
    ],
)
def test_the_verdict_says_no_more_than_the_figures_do(found, words):
    pattern = words.replace("(", r"\(").replace(")", r"\)")
    assert re.search(pattern, found.verdict())
    worse = found.wrong > found.wrong_euclidean
    assert ("Try more labels" in found.verdict()) == worse
    assert ("Try another --scale" in replace(found, all_labeled=True).verdict()) == worse


@pytest.mark.parametrize("n_labeled", [1000, 900, 600, 500, 30])
def test_the_fits_of_all_folds_take_no_more_time_than_two_fits(n_labeled, rng):
    codes = np.where(np.arange(1000) < n_labeled, np.arange(1000) % 3, -1)
    hold_out(rng.normal(size=(1000, 2)), codes, [[998, 999]], [True])
    # A fit takes time by the square of its rows.
    assert sum((len(y) / 1000) ** 2 for y, _, _ in SEEN) <= 2.0
    assert len(SEEN) == (5 if n_labeled == 30 else 2)
    for y, _, _ in SEEN:
        assert abs(np.sum(y >= 0) - (1 - 1 / len(SEEN)) * n_labeled) <= 2


def test_folds_of_pairs_learn_from_all_pairs_and_fewer_other_rows(rng):
    pairs = rng.permutation(600)[:80].reshape(-1, 2)
    similar = np.arange(40) % 2 == 0
    X = rng.normal(size=(600, 2))
    seen = []

    class Learner(Euclidean):
        def fit(self, X, y=None, *, marks=None):
            seen.append((X, marks))
            return super().fit(X, y, marks=marks)

    marked = Marks(pairs, similar, rows=600)
    held_out_pair_errors(Learner(), X, marked, seed=0, after_fold=lambda: None)
    assert len(seen) == 5
    for some, marks in seen:
        assert len(some) == 300
        known = {tuple(sorted(map(tuple, X[pair].round(9)))) for pair in pairs}
        assert {tuple(sorted(map(tuple, some[p].round(9)))) for p in marks.pairs} <= known
