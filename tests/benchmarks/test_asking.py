"""The simulated person of the benchmark of questions."""

import numpy as np
import pytest

from benchmarks import asking

RNG = np.random.default_rng(0)
Y = RNG.integers(3, size=90)
X = RNG.normal(size=(90, 3)) + 3.0 * np.eye(3)[Y]


@pytest.mark.parametrize("sort", [False, True])
def test_a_person_who_never_errs_tells_the_classes(sort):
    rng = np.random.default_rng(1)
    found = list(asking.ask_screens(X, Y, 5, rng, sort=sort, at=(2, 5)))
    assert [count for count, *_ in found] == [2, 5]
    for count, taps, marks, (rows, answers, chances) in found:
        assert (rows.shape, chances.shape) == ((count, 8), (count, 7))
        assert (marks.similar == (Y[marks.pairs[:, 0]] == Y[marks.pairs[:, 1]])).all()
        assert taps == count + (7 * count if sort else answers.sum())


def test_a_rare_class_is_a_twentieth_of_the_rows(monkeypatch):
    monkeypatch.setattr(
        asking._data, "load", lambda _: (np.tile(X, (9, 1)), np.tile(Y, 9), "table")
    )
    _, y, _, z, _ = asking.halves("", "rare class", 0)
    assert np.mean(np.append(y, z)) == pytest.approx(0.05, abs=0.015)


def test_wrong_taps_are_wrong_pairs_at_their_rate():
    marks = asking.ask_pairs(X, Y, 1000, np.random.default_rng(0), 0.1)
    true = Y[marks.pairs[:, 0]] == Y[marks.pairs[:, 1]]
    assert np.mean(marks.similar != true) == pytest.approx(0.1, abs=0.03)
