"""Held-out distances come from fits that know all that the learner was told."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.neighbors import kneighbors_graph
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from seraph import SERAPH, KernelSERAPH, MetricPipeline
from seraph._decisions._held_out import Given, HeldOut, held_out
from seraph.classic import ITML, Euclidean

WINE, Y = load_wine(return_X_y=True)
X = StandardScaler().fit_transform(WINE)[::2]
Y = Y[::2]
RNG = np.random.default_rng(0)
PAIRS = np.unique(
    np.sort([RNG.choice(len(X), 2, replace=False) for _ in range(90)], axis=1), axis=0
)
ALIKE = Y[PAIRS[:, 0]] == Y[PAIRS[:, 1]]
MARKS = {"pairs": PAIRS, "pair_labels": ALIKE}
FAST = {"tol": 0.01}


def decided(**given):
    """What a learner decides that was fitted and calibrated with the same marks."""
    learner = SERAPH(**FAST).fit(X, **given)
    learner.calibrate_threshold(X, **given, cv=3).calibrate_proba(X, **given, cv=3)
    calibration = [learner.calibration_[name] for name in ("slope", "intercept", "brier_score")]
    reached = [
        value for name in ("accuracy", "recall") for value in learner.threshold_report_[name]
    ]
    return np.array([learner.threshold_, *calibration, *reached])


def test_a_weight_of_two_is_a_mark_given_twice_and_one_of_zero_is_none():
    weights = np.ones(len(PAIRS))
    weights[:30], weights[-5:] = 2.0, 0.0
    order = np.repeat(np.arange(len(PAIRS)), weights.astype(int))
    twice = decided(pairs=PAIRS[order], pair_labels=ALIKE[order])
    np.testing.assert_allclose(decided(**MARKS, pair_weights=weights), twice, rtol=1e-9)
    assert not np.allclose(decided(**MARKS), twice, rtol=1e-3)


def test_only_the_ratios_of_the_weights_matter():
    weights = 1.0 + np.arange(len(PAIRS)) % 3
    given = [decided(**MARKS, pair_weights=factor * weights) for factor in (1.0, 4.0)]
    np.testing.assert_allclose(given[1], given[0], rtol=1e-4)


def test_an_unsure_mark_is_a_similar_and_a_dissimilar_one_in_parts():
    likeness = np.where(ALIKE, 0.8, 0.1)
    held = HeldOut.of_marks(
        np.arange(len(PAIRS)), likeness, np.full(len(PAIRS), 2.0), PAIRS, np.zeros(len(PAIRS))
    )
    assert len(held.distances) == 2 * len(PAIRS)
    for k in range(len(PAIRS)):
        parts = {
            bool(held.similar[at]): held.counts[at] for at in np.flatnonzero(held.distances == k)
        }
        assert parts == pytest.approx({True: 2 * likeness[k], False: 2 * (1 - likeness[k])})
    soft = decided(pairs=PAIRS, pair_labels=likeness)
    nearly = np.repeat([1.0 - 1e-12, 1e-12], len(PAIRS))
    parts = decided(
        pairs=np.vstack([PAIRS, PAIRS]),
        pair_labels=nearly,
        pair_weights=np.concatenate([likeness, 1.0 - likeness]),
    )
    np.testing.assert_allclose(soft, parts, rtol=1e-6)


TOLD = {
    "pairs": PAIRS,
    "pair_labels": np.where(ALIKE, 0.9, 0.0),
    "pair_weights": np.linspace(0.5, 2.0, len(PAIRS)),
    "triplets": np.column_stack([PAIRS[ALIKE][:8], (PAIRS[ALIKE][:8, 0] + 31) % len(X)]),
}


@pytest.mark.parametrize("wrapped", [False, True])
def test_the_fits_without_a_fold_get_all_that_the_learner_got(monkeypatch, wrapped):
    near = kneighbors_graph(X, 4)
    graph = near.maximum(near.T)
    learner = SERAPH(manifold=0.1, **FAST)
    if wrapped:
        learner = MetricPipeline(FunctionTransformer(), learner)
    learner.fit(X, **TOLD, graph=graph)
    told = []
    plain = SERAPH.fit

    def watched(self, points, y=None, **more):
        told.append((points, more))
        return plain(self, points, y, **more)

    monkeypatch.setattr(SERAPH, "fit", watched)
    held_out(learner, X, Given(**TOLD, graph=graph), 3)
    assert len(told) == 3
    row_of = {point.tobytes(): row for row, point in enumerate(X)}
    weight_of = dict(zip(map(tuple, PAIRS.tolist()), TOLD["pair_weights"], strict=True))
    triplets = set(map(tuple, TOLD["triplets"].tolist()))
    for points, more in told:
        rows = np.array([row_of[point.tobytes()] for point in points])
        assert (more["graph"] != graph[rows][:, rows]).nnz == 0
        marked = map(tuple, np.sort(rows[more["pairs"]], axis=1).tolist())
        assert more["pair_weights"] == pytest.approx([weight_of[pair] for pair in marked])
        assert set(np.round(more["pair_labels"], 9)) == {0.0, 0.9}
        assert set(map(tuple, rows[more["triplets"]].tolist())) < triplets
        assert len(more["triplets"]) > 0


def test_learners_that_know_no_weights_are_not_told_of_any():
    for learner in (ITML(), Euclidean()):
        learner.fit(X, **MARKS).calibrate_threshold(X, **MARKS, pair_weights=np.ones(len(PAIRS)))
        assert learner.threshold_report_["n_similar"] > 0


def test_kernel_values_are_cut_on_both_sides():
    kernel = rbf_kernel(X, gamma=0.05)
    by_values = KernelSERAPH(kernel="precomputed").fit(kernel, **MARKS)
    by_points = KernelSERAPH(kernel="rbf", kernel_gamma=0.05).fit(X, **MARKS)
    found = held_out(by_values, kernel, Given(**MARKS), 3)
    expected = held_out(by_points, X, Given(**MARKS), 3)
    np.testing.assert_array_equal(found.rows, expected.rows)
    np.testing.assert_allclose(found.distances, expected.distances, rtol=1e-6)


def test_triplets_go_by_names_too():
    names = [f"bottle {k}" for k in range(len(X))]
    frame = pd.DataFrame(X, index=names)
    given = {
        key: np.array(names)[value] if key in ("pairs", "triplets") else value
        for key, value in TOLD.items()
    }
    learner = SERAPH(**FAST).fit(X, **TOLD)
    expected = held_out(learner, X, Given(**TOLD), 3)
    found = held_out(learner, frame.to_numpy(), Given(**given, ids=names), 3)
    np.testing.assert_allclose(found.distances, expected.distances)


def test_triplets_alone_say_nothing_about_a_threshold():
    learner = SERAPH(**FAST).fit(X, triplets=TOLD["triplets"])
    with pytest.raises(ValueError, match="at least 2 held-out pairs of each kind"):
        learner.calibrate_threshold(X, triplets=TOLD["triplets"])


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"pair_weights": [1.0]}, "one weight per pair"),
        ({"pair_weights": np.full(len(PAIRS), -1.0)}, "of at least 0"),
        ({"triplets": [[0, 1, 1]]}, "triplets"),
        ({"graph": np.eye(3)}, r"graph must have one row and one column per row of X"),
    ],
)
def test_bad_marks_are_refused(wrong, message):
    learner = SERAPH(**FAST).fit(X, **MARKS)
    with pytest.raises(ValueError, match=message):
        learner.calibrate_threshold(X, **MARKS, **wrong)
    assert not hasattr(learner, "threshold_")
