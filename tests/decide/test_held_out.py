"""Held-out distances come from fits that know all but the fold they are for."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from seraph import SERAPH, Marks, PairClassifier
from seraph._decide._held_out import measure_held_out
from seraph._decide._threshold import Aim, Decision, judge
from seraph._marks import PairLabels
from seraph.classic import GMML, Euclidean
from tests.helpers.quick import few

WINE, Y = load_wine(return_X_y=True)
X = StandardScaler().fit_transform(WINE)[::2]
Y = Y[::2]
RNG = np.random.default_rng(0)
PAIRS = np.unique(
    np.sort([RNG.choice(len(X), 2, replace=False) for _ in range(90)], axis=1), axis=0
)
ALIKE = Y[PAIRS[:, 0]] == Y[PAIRS[:, 1]]
MARKS = Marks(PAIRS, ALIKE, rows=X)
LABELS = PairLabels.make(len(X), None, MARKS)


def refit_of(learner):
    return lambda points, labels: clone(learner).fit(points, labels.marks)


@pytest.mark.parametrize("learner", [GMML(), make_pipeline(StandardScaler(), GMML())])
def test_no_metric_measures_points_that_it_has_seen(learner):
    row_of = {point.tobytes(): row for row, point in enumerate(X)}
    seen = []

    def refit(points, labels):
        rows = [row_of[point.tobytes()] for point in points]
        seen.append(set(rows))
        assert labels.marks == MARKS[rows]
        return refit_of(learner)(points, labels)

    held = measure_held_out(clone(learner).fit(X, MARKS), X, LABELS, 5, refit)
    assert len(seen) == 5
    folds = [set(held.rows[held.fold == k].ravel().tolist()) for k in range(5)]
    assert all(not inside & outside for inside, outside in zip(folds, seen, strict=True))
    assert all(not folds[a] & folds[b] for a in range(5) for b in range(a))
    true = {tuple(row): alike for row, alike in zip(PAIRS.tolist(), ALIKE, strict=True)}
    measured = np.sort(held.rows, axis=1).tolist()
    assert all(true[tuple(row)] == s for row, s in zip(measured, held.similar, strict=True))


@pytest.mark.filterwarnings("ignore")  # of few iterations
@pytest.mark.parametrize("weights", few([{}, {"mu": 0.1}, {"manifold": 0.1}], {}.__eq__))
def test_folds_learn_from_some_of_many_unlabeled_points(weights, rng):
    points = rng.normal(size=(600, 2))
    pairs = rng.permutation(600)[:60].reshape(-1, 2)
    sizes = []

    class Spy(SERAPH):
        def fit(self, X, y=None, *, marks=None):
            sizes.append(len(X))
            return super().fit(X, y, marks=marks)

    marks = Marks(pairs, np.arange(30) % 2 == 0, rows=600)
    PairClassifier(make_pipeline(Spy(max_iter=2, **weights))).fit(points, marks=marks)
    # All points, then 48 marked ones and 400 of the others; a weight that the user chose counts by
    # the number of points, so there all stay.
    assert sizes == [600] + 5 * [588 if weights else 448]


def test_distances_of_folds_are_on_the_scale_of_the_metric():
    class Doubtful(Euclidean):
        """A learner whose fits differ in scale."""

        def _learn(self, points, labels):
            return np.eye(points.shape[1]) * len(points), {}

    learner = Doubtful().fit(X)
    held = measure_held_out(learner, X, LABELS, 5, refit_of(Doubtful()))
    np.testing.assert_allclose(held.features[:, 0], learner.pair_distance(held.rows, X))


def test_pairs_of_screens_choose_as_they_are_and_judge_as_what_they_represent():
    represents = np.where(np.arange(len(PAIRS)) % 3, np.linspace(0.5, 2.0, len(PAIRS)), 0.0)
    marks = Marks(PAIRS, ALIKE, represents=represents, rows=X)
    labels = PairLabels.make(len(X), None, marks)
    held = measure_held_out(GMML().fit(X, MARKS), X, labels, 5, refit_of(GMML()))
    stands = dict(zip(map(tuple, PAIRS.tolist()), represents.tolist(), strict=True))
    expected = [stands[tuple(sorted(pair))] for pair in held.rows.tolist()]
    assert held.represents.tolist() == expected
    assert (held.counts == 1.0).all()
    random = held.as_random()
    assert random.counts.tolist() == [number for number in expected if number]
    report = judge(held, Decision.choose(held, Aim()), Aim())
    assert report["n_similar"] == random.similar.sum()
    assert report["base_rate"] == pytest.approx(random.share)
