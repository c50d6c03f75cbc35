"""The simulated person of the benchmark of questions."""

import re
from pathlib import Path

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


def test_pages_say_what_was_measured():
    root = Path(__file__).parents[2]
    measured = (root / "docs/results/asking.md").read_text()
    lines = re.findall(r"^judging tables (.+?) +5 sets, +(\w+) taps: AUC ([\d.]+)", measured, re.M)
    auc = {" ".join(way.split()): (taps, auc) for way, taps, auc in lines}
    ways = ("nothing 0", "pairs 0 30", "pairs 0 120", "screens 8 4 0 10", "sorted 8 4 5 30")
    nothing, few, many, ten, sorted_ = (auc[way] for way in ways)
    readme, page = (
        " ".join((root / name).read_text().split()) for name in ("README.md", "docs/ask.md")
    )
    assert (
        f"({ten[0]} taps) teach as much as 120 pairs (pair AUC {ten[1]} and {many[1]} %" in readme
    )
    assert f"not learning {nothing[1]} %" in readme
    said = (
        f"{sorted_[1]} % after 30 sorted screens with 5 % wrong taps, {ten[1]} % after ten screens"
    )
    assert (
        f"{said} ({ten[0]} taps), {many[1]} % after 120 true pairs, and {few[1]} % after" in page
    )
