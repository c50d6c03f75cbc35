"""Thresholds: chosen as asked, out of fold, and judged honestly."""

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.metrics import accuracy_score, precision_score, recall_score, roc_auc_score
from sklearn.preprocessing import StandardScaler

from seraph import SERAPH, KernelSERAPH, MetricPipeline
from seraph._decisions import _held_out
from seraph._decisions._held_out import Given, held_out
from seraph._decisions._threshold import choose_threshold, judged
from seraph.classic import ITML, LMNN, Euclidean
from tests.helpers.held import equal_pairs

WINE, Y = load_wine(return_X_y=True)
X = StandardScaler().fit_transform(WINE)
RNG = np.random.default_rng(0)
ORDER = RNG.permutation(len(X))
TRAIN, TEST = ORDER[:120], ORDER[120:]
ROWS = np.array([RNG.choice(120, 2, replace=False) for _ in range(110)])
ROWS = np.unique(np.sort(ROWS, axis=1), axis=0)
MARKS = np.where(Y[TRAIN][ROWS[:, 0]] == Y[TRAIN][ROWS[:, 1]], 1, -1)
GIVEN = {"pairs": ROWS, "pair_labels": MARKS}


def sample(seed=0, n=50, ties=False):
    rng = np.random.default_rng(seed)
    similar = rng.random(n) < 0.3
    d = rng.gamma(3.0, np.where(similar, 0.5, 1.0))
    return (np.round(d, 1) if ties else d), similar


def plain_candidates(d, similar, weights):
    """What every possible threshold reaches, by scikit-learn's definitions."""
    values = np.unique(d)
    between = [values[0] / 2, *(values[:-1] + values[1:]) / 2, values[-1]]
    for t in between:
        called = d <= t
        yield {
            "threshold": t,
            "accuracy": accuracy_score(similar, called, sample_weight=weights),
            "precision": precision_score(
                similar, called, sample_weight=weights, zero_division=np.nan
            ),
            "recall": recall_score(similar, called),
            "false_accept_rate": called[~similar].mean(),
        }


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("base_rate", [None, 0.05])
@pytest.mark.parametrize(
    ("strategy", "target"),
    [
        ("accuracy", None),
        ("equal_error_rate", None),
        ("precision", 0.6),
        ("recall", 0.9),
        ("false_accept_rate", 0.1),
    ],
)
def test_a_threshold_reaches_what_the_best_of_all_does(strategy, target, base_rate, ties):
    d, similar = sample(n=25, ties=ties)
    held = equal_pairs(d, similar, np.zeros((len(d), 2), dtype=int), np.zeros(len(d), dtype=int))
    weights = held.weights(base_rate)
    all_of_them = list(plain_candidates(d, similar, weights))
    if strategy == "precision" and base_rate is not None:
        target = np.nanmax([c["precision"] for c in all_of_them])
    found = choose_threshold(d, similar, weights, strategy, target)
    best = {
        "accuracy": lambda c: -c["accuracy"],
        "equal_error_rate": lambda c: abs(c["false_accept_rate"] - (1 - c["recall"])),
        "precision": lambda c: (not c["precision"] >= target - 1e-9, -c["recall"]),
        "recall": lambda c: (c["recall"] < target - 1e-9, c["false_accept_rate"]),
        "false_accept_rate": lambda c: (c["false_accept_rate"] > target + 1e-9, -c["recall"]),
    }[strategy]
    expected = min(map(best, all_of_them))
    (reached,) = [c for c in all_of_them if c["threshold"] == pytest.approx(found)]
    assert best(reached) == pytest.approx(expected)


def test_base_rate_is_the_weighted_share():
    d, similar = sample()
    held = equal_pairs(d, similar, np.zeros((len(d), 2)), np.zeros(len(d)))
    weights = held.weights(0.02)
    assert np.average(similar, weights=weights) == pytest.approx(0.02)
    assert weights.mean() == pytest.approx(1.0)


def test_a_precision_out_of_reach_is_refused_with_the_best():
    d, similar = np.array([1.0, 2.0, 3.0]), np.array([False, True, True])
    with pytest.raises(ValueError, match=r"precision of 0.9 on these pairs; the best has 0.667"):
        choose_threshold(d, similar, np.ones(3), "precision", 0.9)


def test_accepting_nothing_is_possible():
    d, similar = np.array([0.0, 1.0]), np.array([False, True])
    t = choose_threshold(d, similar, np.ones(2), "false_accept_rate", 0.0)
    assert not (d <= t).any()


# Held out


@pytest.mark.parametrize("learner", [SERAPH(), ITML(), MetricPipeline(StandardScaler(), SERAPH())])
def test_no_metric_measures_points_that_it_has_seen(learner, monkeypatch):
    learner.fit(X[TRAIN], **GIVEN)
    seen = []
    refit = _held_out._refitted

    def watched(learner, points, labels, graph):
        fitted = refit(learner, points, labels, graph)
        distance = fitted.pair_distance

        def pair_distance(pairs, X=None, *, ids=None):
            rows = {row.tobytes() for row in np.asarray(X)[np.unique(pairs)]}
            seen.append((rows, {row.tobytes() for row in points}))
            return distance(pairs, X, ids=ids)

        monkeypatch.setattr(fitted, "pair_distance", pair_distance, raising=False)
        return fitted

    monkeypatch.setattr(_held_out, "_refitted", watched)
    held = held_out(learner, X[TRAIN], Given(**GIVEN), 5)
    assert len(seen) == 5
    assert all(not inside & outside for inside, outside in seen)
    folds = [set(held.rows[held.fold == k].ravel()) for k in range(5)]
    assert all(not folds[a] & folds[b] for a in range(5) for b in range(a))
    true = {tuple(row): mark == 1 for row, mark in zip(ROWS.tolist(), MARKS, strict=True)}
    found = np.sort(held.rows, axis=1).tolist()
    assert all(true[tuple(row)] == s for row, s in zip(found, held.similar, strict=True))


def test_distances_of_folds_are_on_the_scale_of_the_metric():
    class Doubtful(Euclidean):
        """A learner whose fits differ in scale."""

        def _learn(self, points, labels):
            return np.eye(points.shape[1]) * len(points), {}

    learner = Doubtful().fit(X[TRAIN], **GIVEN)
    held = held_out(learner, X[TRAIN], Given(**GIVEN), 5)
    expected = learner.pair_distance(held.rows, X[TRAIN])
    np.testing.assert_allclose(held.distances, expected)


def test_marks_a_metric_has_not_seen_need_no_refit():
    learner = SERAPH().fit(X[TRAIN], Y[TRAIN])
    held = held_out(learner, X[TRAIN], Given(**GIVEN), "prefit")
    assert len(held.distances) == len(ROWS)
    np.testing.assert_allclose(held.distances, learner.pair_distance(held.rows, X[TRAIN]))


# Learners


@pytest.mark.parametrize("learner", [SERAPH(), ITML(), KernelSERAPH(), Euclidean()])
def test_decisions_are_better_than_the_base_rate_on_new_points(learner):
    learner.fit(X[TRAIN], **GIVEN).calibrate_threshold(X[TRAIN], **GIVEN)
    i, j = np.triu_indices(len(TEST), k=1)
    rows = np.column_stack([i, j])
    same = Y[TEST][i] == Y[TEST][j]
    predicted = learner.pair_predict(rows, X[TEST])
    assert set(predicted) == {-1, 1}
    d = learner.pair_distance(rows, X[TEST])
    np.testing.assert_array_equal(predicted == 1, d <= learner.threshold_)
    assert np.mean((predicted == 1) == same) > max(same.mean(), 1 - same.mean()) + 0.03


def test_classes_are_marks_too():
    some = np.where(np.arange(len(TRAIN)) < 60, Y[TRAIN], -1)
    learner = LMNN().fit(X[TRAIN], some)
    learner.calibrate_threshold(X[TRAIN], some, strategy="equal_error_rate")
    report = learner.threshold_report_
    assert report["recall"][0] == pytest.approx(1 - report["false_accept_rate"][0], abs=0.15)


def test_the_report_has_intervals_that_hold_the_values():
    learner = SERAPH().fit(X[TRAIN], **GIVEN)
    learner.calibrate_threshold(X[TRAIN], **GIVEN, base_rate=0.01)
    report = learner.threshold_report_
    assert report["base_rate"] == 0.01
    assert report["n_similar"] + report["n_dissimilar"] <= len(ROWS)
    for name in ("accuracy", "precision", "recall", "false_accept_rate"):
        value, low, high = report[name]
        assert 0 <= low <= value <= high <= 1
        assert low < high


def test_pairs_that_share_points_have_wider_intervals():
    rng = np.random.default_rng(0)
    n = 300
    apart = np.arange(2 * n).reshape(n, 2)
    shared = np.column_stack([rng.integers(6, size=n), 6 + rng.integers(20, size=n)])
    wrong = rng.random(26) < 0.3
    width = []
    for rows in (apart, shared):
        similar = np.arange(n) % 2 == 0
        error = wrong[shared[:, 0]] & (rng.random(n) < 0.9)
        d = np.where(similar ^ error, 1.0, 3.0)
        report = judged(
            equal_pairs(d, similar, rows, np.arange(n) % 5), 2.0, "accuracy", None, None
        )
        width.append(report["accuracy"][2] - report["accuracy"][1])
    assert width[1] > 1.5 * width[0]


def test_a_new_fit_forgets_the_threshold():
    learner = SERAPH().fit(X[TRAIN], **GIVEN).set_threshold(1.0)
    learner.calibrate_proba(X[TRAIN], **GIVEN)
    learner.fit(X[TRAIN], **GIVEN)
    assert not {"threshold_", "threshold_report_", "calibration_"} & set(vars(learner))
    with pytest.raises(ValueError, match="SERAPH has no threshold to decide at: call calibrate"):
        learner.pair_predict([[0, 1]], X)
    with pytest.raises(ValueError, match="not calibrated: call calibrate_proba"):
        learner.calibrated_pair_proba([[0, 1]], X)


def test_a_threshold_can_be_set():
    learner = Euclidean().fit(X)
    assert learner.set_threshold(2) is learner
    np.testing.assert_array_equal(learner.pair_predict([[0, 0], [0, 100]], X), [1, -1])


def test_score_is_the_auc_of_marks_and_classes():
    learner = SERAPH().fit(X[TRAIN], **GIVEN)
    d = learner.pair_distance(ROWS, X[TRAIN])
    assert learner.score(X[TRAIN], **GIVEN) == pytest.approx(roc_auc_score(MARKS, -d))
    i, j = np.triu_indices(len(TEST), k=1)
    d = learner.pair_distance(np.column_stack([i, j]), X[TEST])
    same = Y[TEST][i] == Y[TEST][j]
    assert learner.score(X[TEST], Y[TEST]) == pytest.approx(roc_auc_score(same, -d))


# Bad input

BAD = [
    ({"strategy": "luck"}, "strategy must be one of"),
    ({"strategy": "precision"}, 'strategy="precision" needs a target; got None'),
    ({"strategy": "accuracy", "target": 0.5}, 'strategy="accuracy" takes no target; got 0.5'),
    ({"strategy": "recall", "target": 1.5}, "target must be at most 1; got 1.5"),
    ({"strategy": "recall", "target": -1}, "target must be a finite number"),
    ({"base_rate": 0}, "base_rate must be between 0 and 1; got 0"),
    ({"base_rate": "half"}, "base_rate must be a finite number"),
    ({"cv": 1}, "cv must be a finite whole number of at least 2, or 'prefit'"),
    ({"cv": "fast"}, "cv must be a finite whole number"),
]


@pytest.mark.parametrize(("options", "message"), BAD)
def test_what_cannot_be_asked_for_is_refused(options, message):
    learner = SERAPH().fit(X[TRAIN], **GIVEN)
    with pytest.raises(ValueError, match=message):
        learner.calibrate_threshold(X[TRAIN], **GIVEN, **options)
    assert not hasattr(learner, "threshold_")


@pytest.mark.parametrize("kind", [1, -1])
@pytest.mark.parametrize("method", ["calibrate_threshold", "calibrate_proba"])
def test_marks_of_one_kind_are_refused(kind, method):
    learner = Euclidean().fit(X[TRAIN])
    pairs = ROWS[kind == MARKS]
    counts = (len(pairs), 0) if kind == 1 else (0, len(pairs))
    with pytest.raises(ValueError, match="of {} and {} labeled pairs".format(*counts)):
        getattr(learner, method)(
            X[TRAIN], pairs=pairs, pair_labels=np.full(len(pairs), kind), cv="prefit"
        )
