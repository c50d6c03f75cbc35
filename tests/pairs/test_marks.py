"""Marked pairs never land on the wrong rows: names are matched, row numbers refused where cut."""

from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import BaseEstimator
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    ShuffleSplit,
    cross_val_predict,
    cross_val_score,
    cross_validate,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from seraph import (
    SERAPH,
    SERAPHCV,
    KernelSERAPH,
    MetricNeighborsClassifier,
    MetricPipeline,
    PairKFold,
    PairScorer,
    seraph_path,
)
from seraph._pairs import PairLabels, RowNames
from seraph.classic import ITML, Euclidean

N = 60
RNG = np.random.default_rng(0)
Y = np.arange(N) % 3
X = RNG.normal(size=(N, 4)) + 2.0 * np.eye(3, 4)[Y]
NAMES = np.array([f"row {k}" for k in RNG.permutation(N)])
FRAME = pd.DataFrame(X, columns=list("abcd"), index=NAMES)
ROWS = np.array([[k, (k + step) % N] for step in (7, 9) for k in range(0, N, 2)][:-5])
MARKS = np.where(Y[ROWS[:, 0]] == Y[ROWS[:, 1]], 1, -1)
PAIRS = NAMES[ROWS]
LEARNERS = [SERAPH(), KernelSERAPH(), SERAPHCV(cv=2), ITML()]
EVERY = pytest.mark.parametrize("learner", LEARNERS, ids=lambda one: type(one).__name__)


class Watcher(BaseEstimator):
    """A learner that keeps the points of the pairs it is given, with their marks."""

    seen: ClassVar = []

    def fit(self, X, y=None, *, pairs=None, pair_labels=None, ids=None):
        names = RowNames.of(X, ids, pairs, "warn")
        labels = PairLabels.make(len(X), None, pairs, pair_labels, names=names)
        points = np.asarray(X)
        ends = [points[labels.pairs[:, side]] for side in (0, 1)]
        Watcher.seen.append((ends, labels.similar, labels.n_absent_pairs))
        return self

    def predict(self, X):
        return np.zeros(len(X))

    def score(self, X, y=None):
        return 0.0


TRUE_MARKS = {
    frozenset([X[i].tobytes(), X[j].tobytes()]): mark == 1
    for (i, j), mark in zip(ROWS, MARKS, strict=True)
}


def assert_marks_are_right(n_fits):
    assert len(Watcher.seen) == n_fits
    for (first, second), similar, n_absent in Watcher.seen:
        assert len(similar) + n_absent == len(MARKS)
        assert 0 < len(similar) <= len(MARKS)
        for one, other, alike in zip(first, second, similar, strict=True):
            key = frozenset([np.ascontiguousarray(one).tobytes(), other.tobytes()])
            assert TRUE_MARKS[key] == alike


@pytest.fixture(autouse=True)
def fresh_watcher():
    Watcher.seen.clear()


# What the issue saw: cross-validation with marks

SPLITS = [KFold(3), KFold(3, shuffle=True, random_state=0), ShuffleSplit(3, random_state=0)]


@pytest.mark.parametrize("cv", SPLITS, ids=["in order", "shuffled", "sampled"])
@pytest.mark.parametrize("given", ["index", "ids"])
def test_cross_validation_gives_each_fold_its_own_marks(cv, given):
    params = {"pairs": PAIRS, "pair_labels": MARKS}
    points = FRAME
    if given == "ids":
        points, params["ids"] = X, NAMES
    cross_val_score(Watcher(), points, Y, cv=cv, params=params, error_score="raise")
    assert_marks_are_right(3)
    assert any(n_absent for *_, n_absent in Watcher.seen)


def test_a_plain_frame_is_cut_by_its_index():
    points = pd.DataFrame(X)
    params = {"pairs": ROWS, "pair_labels": MARKS}
    cross_val_score(Watcher(), points, Y, cv=SPLITS[1], params=params, error_score="raise")
    assert_marks_are_right(3)


@pytest.mark.parametrize("in_pipeline", [False, True])
def test_row_numbers_are_refused_where_scikit_learn_cuts_the_points(in_pipeline):
    classifier = MetricNeighborsClassifier(SERAPH())
    params = {"pairs": ROWS, "pair_labels": MARKS}
    if in_pipeline:
        classifier = make_pipeline(StandardScaler(), SERAPH())
        params = {f"seraph__{name}": value for name, value in params.items()}
    with pytest.raises(ValueError, match="row numbers of the whole X, but sklearn's _fit_and_sc"):
        cross_val_score(classifier, X, Y, cv=3, params=params, error_score="raise")
    with pytest.raises(ValueError, match="All the 3 fits failed"):
        cross_val_score(classifier, X, Y, cv=3, params=params)


def test_row_numbers_are_refused_by_a_search_by_predictions_and_in_other_processes():
    search = GridSearchCV(MetricNeighborsClassifier(SERAPH()), {"n_neighbors": [1]}, cv=3)
    with pytest.raises(ValueError, match="pass ids, one name per row"):
        search.set_params(error_score="raise").fit(X, Y, pairs=ROWS, pair_labels=MARKS)
    params = {"pairs": ROWS, "pair_labels": MARKS}
    with pytest.raises(ValueError, match="_fit_and_predict has passed only some"):
        cross_val_predict(MetricNeighborsClassifier(SERAPH()), X, Y, cv=3, params=params)


@pytest.mark.slow
def test_row_numbers_are_refused_in_other_processes():
    params = {"pairs": ROWS, "pair_labels": MARKS}
    with pytest.raises(ValueError, match="row numbers of the whole X"):
        cross_val_score(
            SERAPH(), X, Y, cv=2, params=params, error_score="raise", n_jobs=2, scoring=len
        )


def test_a_search_with_names_is_refitted_on_all_rows():
    search = GridSearchCV(MetricNeighborsClassifier(SERAPH()), {"n_neighbors": [1, 3]}, cv=3)
    search.set_params(error_score="raise").fit(FRAME, Y, pairs=PAIRS, pair_labels=MARKS)
    plain = MetricNeighborsClassifier(SERAPH(), **search.best_params_)
    plain.fit(X, Y, pairs=ROWS, pair_labels=MARKS)
    np.testing.assert_array_equal(
        search.best_estimator_.learner_.components_, plain.learner_.components_
    )


def test_a_pipeline_that_drops_the_names_is_refused():
    pipeline = make_pipeline(StandardScaler(), SERAPH())
    with pytest.raises(ValueError, match="without the names in the index of X"):
        pipeline.fit(FRAME, Y, seraph__pairs=ROWS, seraph__pair_labels=MARKS)
    plain = pd.DataFrame(X)
    pipeline.fit(plain, Y, seraph__pairs=ROWS, seraph__pair_labels=MARKS)


def test_a_warning_tells_if_there_are_as_many_marks_as_rows():
    pairs = np.array([[NAMES[k], NAMES[(k + 3) % N]] for k in range(N)])
    params = {"pairs": pairs, "pair_labels": np.ones(N), "ids": NAMES}
    with pytest.warns(UserWarning, match="may have dropped marked pairs"):
        cross_val_score(Watcher(), X, Y, cv=3, params=params, error_score="raise")


# Order and subsets


@EVERY
def test_reordering_a_frame_changes_nothing(learner):
    order = np.random.default_rng(1).permutation(N)
    first = sklearn.clone(learner).fit(FRAME, pairs=PAIRS, pair_labels=MARKS)
    again = sklearn.clone(learner).fit(FRAME.iloc[order], pairs=PAIRS, pair_labels=MARKS)
    by_number = sklearn.clone(learner).fit(X, pairs=ROWS, pair_labels=MARKS)
    d = by_number.pair_distance(ROWS, X)
    np.testing.assert_allclose(first.pair_distance(PAIRS, FRAME), d, rtol=1e-9)
    if not isinstance(learner, SERAPHCV):  # the order of the rows decides about its folds
        np.testing.assert_allclose(again.pair_distance(PAIRS, FRAME), d, rtol=0.05)


@EVERY
def test_marks_of_absent_rows_are_left_out_and_counted(learner):
    part = np.flatnonzero(np.arange(N) % 4 != 0)
    inside = np.isin(ROWS, part).all(axis=1)
    place = np.full(N, -1)
    place[part] = np.arange(len(part))
    with pytest.warns(
        UserWarning, match=f"{(~inside).sum()} of {len(ROWS)} marked pairs are left"
    ):
        by_name = sklearn.clone(learner).fit(FRAME.iloc[part], pairs=PAIRS, pair_labels=MARKS)
    assert by_name.n_absent_pairs_ == (~inside).sum()
    by_number = sklearn.clone(learner).fit(
        X[part], pairs=place[ROWS[inside]], pair_labels=MARKS[inside]
    )
    assert by_number.n_absent_pairs_ == 0
    d = by_number.pair_distance(ROWS, X)
    np.testing.assert_allclose(by_name.pair_distance(PAIRS, FRAME), d, rtol=1e-9)


@pytest.mark.parametrize("named", ["index", "ids"])
def test_triplets_find_their_rows_behind_a_scaler(named):
    triplets = np.random.default_rng(0).permutation(N)[:30].reshape(10, 3)
    plain = MetricPipeline(StandardScaler(), SERAPH()).fit(X, triplets=triplets)
    order = np.random.default_rng(1).permutation(N)
    ids = {"ids": NAMES[order]} if named == "ids" else {}
    points = X[order] if named == "ids" else FRAME.iloc[order]
    moved = MetricPipeline(StandardScaler(), SERAPH()).fit(points, triplets=NAMES[triplets], **ids)
    np.testing.assert_allclose(
        moved.get_mahalanobis_matrix(), plain.get_mahalanobis_matrix(), rtol=1e-4, atol=1e-6
    )


def test_the_path_matches_names_too():
    by_name = seraph_path(FRAME, pairs=PAIRS, pair_labels=MARKS, n_lams=3)
    by_number = seraph_path(X, pairs=ROWS, pair_labels=MARKS, n_lams=3)
    np.testing.assert_array_equal(by_name.components[-1], by_number.components[-1])
    with_ids = seraph_path(X, pairs=PAIRS, pair_labels=MARKS, ids=NAMES, n_lams=3)
    np.testing.assert_array_equal(with_ids.components[-1], by_number.components[-1])


def test_ids_come_before_the_index_and_may_be_numbers():
    numbers = 1000 - np.arange(N)
    learner = SERAPH().fit(FRAME, pairs=numbers[ROWS], pair_labels=MARKS, ids=numbers)
    expected = SERAPH().fit(X, pairs=ROWS, pair_labels=MARKS)
    np.testing.assert_array_equal(learner.components_, expected.components_)
    d = learner.pair_distance(numbers[ROWS], FRAME, ids=numbers)
    np.testing.assert_array_equal(d, expected.pair_distance(ROWS, X))


# Names out


def test_queries_speak_of_rows_as_they_were_named():
    learner = SERAPH().fit(X, pairs=ROWS, pair_labels=MARKS)
    frame_learner = SERAPH().fit(FRAME, pairs=PAIRS, pair_labels=MARKS)
    chosen = learner.query_pairs(X, 4, pairs=ROWS)
    named = frame_learner.query_pairs(FRAME, 4, pairs=PAIRS)
    np.testing.assert_array_equal(named, NAMES[chosen])
    np.testing.assert_array_equal(learner.query_pairs(X, 4, pairs=PAIRS, ids=NAMES), named)
    rows = learner.query_rows(X, 3)
    np.testing.assert_array_equal(frame_learner.query_rows(FRAME, 3), NAMES[rows])
    assert learner.query_pairs(X, 2, ids=list(range(N))).dtype.kind == "i"
    mixed = [k if k % 2 else f"r{k}" for k in range(N)]
    assert set(learner.query_rows(X, 4, ids=mixed)) <= set(mixed)


def test_answers_to_queries_can_be_passed_back():
    learner = SERAPH().fit(FRAME, pairs=PAIRS, pair_labels=MARKS)
    more = learner.query_pairs(FRAME, 3, pairs=PAIRS)
    true = dict(zip(NAMES, Y, strict=True))
    marks = [1 if true[a] == true[b] else -1 for a, b in more]
    shuffled = FRAME.sample(frac=1, random_state=0)
    SERAPH().fit(shuffled, pairs=np.r_[PAIRS, more], pair_labels=np.r_[MARKS, marks])


# Metadata routing, splitter, scorer


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.mark.parametrize("given", ["index", "ids"])
@pytest.mark.usefixtures("routing")
def test_routing_takes_marks_to_the_splitter_the_learner_and_its_score(given):
    params = {"pairs": PAIRS, "pair_labels": MARKS}
    points = FRAME
    if given == "ids":
        points, params["ids"] = X, NAMES
    model = MetricPipeline(StandardScaler(), SERAPH())
    done = cross_validate(
        model,
        points,
        cv=PairKFold(3),
        params=params,
        error_score="raise",
        return_estimator=True,
        return_indices=True,
    )
    for estimator, train, test, score in zip(
        done["estimator"],
        done["indices"]["train"],
        done["indices"]["test"],
        done["test_score"],
        strict=True,
    ):
        in_train, in_test = (np.isin(ROWS, part).all(axis=1) for part in (train, test))
        assert estimator.learner_.n_absent_pairs_ == (~in_train).sum()
        Z = estimator.transform(X if given == "ids" else FRAME)
        d = np.linalg.norm(Z[ROWS[:, 0]] - Z[ROWS[:, 1]], axis=1)[in_test]
        near, far = d[MARKS[in_test] > 0], d[MARKS[in_test] < 0]
        assert score == pytest.approx(np.mean(near[:, None] < far))
        assert len(near)
        assert len(far)


@pytest.mark.parametrize(
    "model",
    [
        SERAPH(tol=0.01),
        MetricPipeline(StandardScaler(), SERAPH(tol=0.01)),
        MetricNeighborsClassifier(SERAPH(tol=0.01)),
    ],
)
@pytest.mark.usefixtures("routing")
def test_routing_takes_weights_and_triplets_to_the_learner(model, monkeypatch):
    seen = []
    plain = SERAPH.fit

    def watched(self, points, y=None, **more):
        seen.append(more)
        return plain(self, points, y, **more)

    monkeypatch.setattr(SERAPH, "fit", watched)
    weights, triplets = np.linspace(1.0, 2.0, len(PAIRS)), NAMES[np.arange(N).reshape(-1, 3)]
    params = {"pairs": PAIRS, "pair_labels": MARKS, "pair_weights": weights, "triplets": triplets}
    cross_val_score(model, FRAME, Y, cv=2, params=params, error_score="raise")
    assert len(seen) == 2
    for more in seen:
        assert more["pair_weights"] is weights
        assert more["triplets"] is triplets


@pytest.mark.usefixtures("routing")
def test_routing_refuses_row_numbers_too():
    params = {"pairs": ROWS, "pair_labels": MARKS}
    with pytest.raises(ValueError, match="row numbers of the whole X"):
        cross_val_score(SERAPH(), X, cv=PairKFold(3), params=params, error_score="raise")


@pytest.mark.usefixtures("routing")
def test_routing_reaches_the_learner_of_a_classifier():
    params = {"pairs": PAIRS, "pair_labels": MARKS}
    for learner in (
        SERAPH(),
        MetricPipeline(StandardScaler(), SERAPH()),
        make_pipeline(StandardScaler(), SERAPH()),
    ):
        classifier = MetricNeighborsClassifier(learner)
        scores = cross_val_score(classifier, FRAME, Y, cv=3, params=params, error_score="raise")
        assert scores.mean() > 0.5


def test_without_routing_there_are_the_scorer_and_a_list_of_splits():
    splits = list(PairKFold(3).split(FRAME, pairs=PAIRS, pair_labels=MARKS))
    scores = cross_val_score(
        SERAPH(),
        FRAME,
        cv=splits,
        params={"pairs": PAIRS, "pair_labels": MARKS},
        scoring=PairScorer(PAIRS, MARKS),
        error_score="raise",
    )
    assert len(scores) == 3
    assert np.all((scores >= 0) & (scores <= 1))
    rate = PairScorer(PAIRS, MARKS, "equal_error_rate")(Euclidean().fit(FRAME), FRAME)
    assert -0.5 <= rate <= 0
    with pytest.raises(ValueError, match=r"PairScorer finds the rows .* X is a ndarray"):
        PairScorer(ROWS, MARKS)(Euclidean().fit(X), X)
    with pytest.raises(ValueError, match="figure must be"):
        PairScorer(PAIRS, MARKS, "luck")(Euclidean().fit(FRAME), FRAME)
    with pytest.raises(ValueError, match="figure must be"):
        PairScorer(PAIRS, MARKS, ["auc"])(Euclidean().fit(FRAME), FRAME)


def test_folds_split_points_and_share_both_kinds():
    pairs = np.arange(40).reshape(20, 2)
    marks = np.where(np.arange(20) < 10, 1, -1)
    splits = list(PairKFold(5).split(np.zeros((50, 1)), pairs=pairs, pair_labels=marks))
    assert len(splits) == PairKFold(5).get_n_splits() == 5
    for train, test in splits:
        assert not set(train) & set(test)
        assert set(range(40, 50)) <= set(train)
        inside = np.isin(pairs, test).all(axis=1)
        assert (marks[inside] > 0).sum() == (marks[inside] < 0).sum() == 2
        assert (inside | np.isin(pairs, train).all(axis=1)).all()
    shuffled = PairKFold(5, shuffle=True, random_state=0)
    first, again = (
        [
            test.tolist()
            for _, test in shuffled.split(np.zeros((50, 1)), pairs=pairs, pair_labels=marks)
        ]
        for _ in range(2)
    )
    assert first == again != [test.tolist() for _, test in splits]


def test_marks_that_hang_together_are_split_if_there_are_enough():
    rng = np.random.default_rng(0)
    pairs = np.array([rng.choice(30, 2, replace=False) for _ in range(100)])
    marks = np.where((pairs % 2)[:, 0] == (pairs % 2)[:, 1], 1, -1)
    splits = list(PairKFold(4).split(np.zeros((30, 1)), pairs=pairs, pair_labels=marks))
    assert len(splits) == 4
    assert all(np.isin(pairs, test).all(axis=1).sum() > 1 for _, test in splits)


def test_what_cannot_be_split_is_refused():
    with pytest.raises(ValueError, match="1 labeled pairs of 2 points cannot be split"):
        list(PairKFold(2).split(X, pairs=[[0, 1]], pair_labels=[1]))
    with pytest.raises(ValueError, match="n_splits"):
        PairKFold(1)


# Bad names

BAD_IDS = {
    "twice": (
        [*NAMES[:-1].tolist(), NAMES[0].item()],
        "name of row 59 'row .*' is that of row 0, too",
    ),
    "missing": ([*NAMES[:-1], None], "name of row 59 is missing"),
    "nan": ([*range(N - 1), np.nan], "name of row 59 is missing"),
    "few": (NAMES[:-1], "ids has 59 names for 60 rows"),
    "columns": (np.c_[NAMES, NAMES], r"one name per row; got shape \(60, 2\)"),
    "no names": ([[k] for k in range(N)], r"row 0 has \[0\]"),
}


@pytest.mark.parametrize("flaw", BAD_IDS)
def test_bad_ids_are_refused(flaw):
    ids, message = BAD_IDS[flaw]
    with pytest.raises(ValueError, match=message):
        SERAPH().fit(X, pairs=PAIRS, pair_labels=MARKS, ids=ids)


def test_an_index_with_repeated_names_is_refused_only_if_pairs_need_it():
    frame = FRAME.set_axis(["same"] * N)
    SERAPH().fit(frame, Y)
    with pytest.raises(ValueError, match="The index of X must name each row differently"):
        SERAPH().fit(frame, pairs=PAIRS, pair_labels=MARKS)


def test_names_that_are_unknown_are_refused():
    learner = SERAPH().fit(FRAME, pairs=PAIRS, pair_labels=MARKS)
    for pairs, message in (
        ([["row 1", "row 99"]], r"pairs\[0\] names row 'row 99', which is not in the index of X"),
        (ROWS, "for row numbers, pass X.index"),
        ([[["row 1"], "row 2"]], "shape|names row"),
        ([["row 1"]], r"two names of rows each; got shape \(1, 1\)"),
    ):
        with pytest.raises(ValueError, match=message):
            learner.pair_distance(pairs, FRAME)
        with pytest.raises(ValueError, match=message):
            SERAPH().fit(FRAME, pairs=pairs, pair_labels=np.ones(len(pairs)))
    with pytest.raises(ValueError, match="ids was passed without X"):
        learner.pair_distance(X[ROWS], ids=NAMES)
    with pytest.raises(ValueError, match="but X has rows 0 to 59"):
        SERAPH().fit(X, Y).pair_distance([[0, 60]], X)
    with pytest.raises(ValueError, match="pass ids as well, or X as a DataFrame"):
        SERAPH().fit(X, pairs=PAIRS, pair_labels=MARKS)


# Row numbers after fit


@EVERY
def test_rows_and_points_say_the_same(learner):
    learner = sklearn.clone(learner).fit(X, pairs=ROWS, pair_labels=MARKS)
    asked = ["pair_distance", "pair_score"] + ["pair_proba"] * hasattr(learner, "pair_proba")
    for method in asked:
        ask = getattr(learner, method)
        np.testing.assert_array_equal(ask(ROWS, X), ask(X[ROWS]))
        np.testing.assert_array_equal(ask(pairs=PAIRS, X=X, ids=NAMES), ask(X[ROWS]))
        np.testing.assert_array_equal(ask([[3, 3]], X), ask(X[[[3, 3]]]))
