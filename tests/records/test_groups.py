"""Groups of what was accepted, without chains, and pairs of them."""

import numpy as np

from seraph import Marks
from seraph.records._groups import best_partners, grouped, pairs_within

NONE = Marks(rows=6)


def by_place(places, scale=1.0):
    """Probabilities that fall with the distance of places on a line."""
    places = np.asarray(places, dtype=float)
    return lambda pairs: np.exp(-np.abs(places[pairs[:, 0]] - places[pairs[:, 1]]) / scale)


def groups_of(places, pairs, least, labels=NONE):
    p = by_place(places)
    pairs = np.asarray(pairs).reshape(-1, 2)
    return grouped(len(places), pairs, p(pairs), least, labels, p)


def test_a_chain_is_parted():
    chain = np.column_stack([np.arange(5), np.arange(1, 6)])
    groups = groups_of(np.arange(6.0), chain, np.exp(-1.2))
    assert np.bincount(groups).tolist() == [2, 2, 2]


def test_groups_keep_to_the_answers():
    labels = Marks([[0, 3], [0, 2]], [1, -1], rows=6)
    pairs = [[0, 3], [0, 1], [1, 2], [4, 5]]
    groups = groups_of([0.0, 0.1, 0.2, 5.0, 9.0, 9.1], pairs, np.exp(-3.0), labels)
    assert groups[0] == groups[3]
    assert groups[0] != groups[2]
    assert groups[4] == groups[5]


def test_rows_that_hang_together_by_too_many_are_parted():
    chain = np.column_stack([np.arange(599), np.arange(1, 600)])
    places, none = np.r_[np.linspace(0.0, 0.2, 300), np.linspace(1.0, 1.2, 300)], Marks(rows=600)
    assert groups_of(places, chain, 0.4, none).tolist() == [0] * 300 + [1] * 300
    assert groups_of(np.zeros(600), chain, 0.4, none).tolist() == [0] * 600
    far = np.r_[np.zeros(300), np.arange(1.0, 301.0)]
    assert groups_of(far, chain, 0.3, none).tolist() == [0] * 300 + [-1] * 300


def test_pairs_within_groups_are_all_of_them_once():
    group = np.random.default_rng(0).integers(-1, 4, 20)
    plain = {
        (i, j)
        for i in range(20)
        for j in range(i + 1, 20)
        if group[i] == group[j] and group[i] >= 0
    }
    found = pairs_within(group).tolist()
    assert len(found) == len(plain)
    assert set(map(tuple, found)) == plain


def test_the_best_partner_is_kept():
    pairs = np.array([[0, 5], [0, 6], [1, 5], [2, 7]])
    kept = best_partners(pairs, np.array([0.8, 0.9, 0.7, 0.6]))
    assert kept.tolist() == [False, True, True, True]
