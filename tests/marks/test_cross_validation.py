"""Every search and cross-validation of scikit-learn gives each fold its own marks."""

import itertools
from typing import ClassVar

import dask.array as da
import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    ShuffleSplit,
    cross_val_score,
    cross_validate,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.fixes import parse_version

from seraph import SERAPH, Marks, MarksKFold, PairClassifier
from seraph._marks import PairLabels

N = 45  # odd, and the number of pairs, which must not be taken for one pair per row
RNG = np.random.default_rng(0)
# The first feature of a row is its number, so that a spy knows which rows it was given.
X = np.column_stack([np.arange(float(N)), RNG.normal(size=(N, 2))])
NAMES = np.array([f"row {k}" for k in RNG.permutation(N)])
ALL_PAIRS = np.array(list(itertools.combinations(range(N), 2)))
ROWS = RNG.permutation(ALL_PAIRS)[:N]
LABELS = np.where(ROWS.sum(axis=1) % 2 == 0, 1.0, 0.0)
WEIGHTS = 0.5 + np.arange(N) % 3
TRIPLETS = RNG.permutation(N).reshape(-1, 3)
MARKS = Marks(ROWS, LABELS, weights=WEIGHTS, triplets=TRIPLETS, rows=N)
NAMED = Marks(NAMES[ROWS], LABELS, weights=WEIGHTS, triplets=NAMES[TRIPLETS], rows=NAMES)
TABLE_OF = {
    "numpy": lambda: X,
    "pandas": lambda: pd.DataFrame(X, index=NAMES),
    "polars": lambda: pl.DataFrame(X, schema=list("abc")),
    "dask": lambda: da.from_array(X, chunks=(7, 3)),
}


class Spy(TransformerMixin, BaseEstimator):
    """A learner that keeps what it was given: which rows, and which of their marks."""

    __metadata_request__fit: ClassVar = {"marks": True}
    __metadata_request__score: ClassVar = {"marks": True, "sample_weight": None}
    seen: ClassVar = []

    def __init__(self, lam=1.0):
        self.lam = lam

    def fit(self, X, y=None, *, marks=None):
        self._keep("fit", X, y, marks)
        self.fitted_ = True
        return self

    def transform(self, X):
        return np.asarray(X)

    def predict(self, X):
        return np.asarray(X)[:, 0]

    def score(self, X, y=None, *, marks=None):
        self._keep("score", X, y, marks)
        return self.lam

    @staticmethod
    def _keep(what, X, y, marks):
        rows = np.asarray(X)[:, 0].astype(int).tolist()
        Spy.seen.append((what, rows, PairLabels.of(X, len(rows), y, marks, required=False)))


def expected(rows):
    """The marks among some rows, by looking at every pair of them."""
    told = {frozenset(p): t for p, *t in zip(ROWS.tolist(), LABELS, WEIGHTS, strict=True)}
    pairs = {
        (i, j): told[frozenset([a, b])]
        for (i, a), (j, b) in itertools.combinations(enumerate(rows), 2)
        if frozenset([a, b]) in told
    }
    place = {row: k for k, row in enumerate(rows)}
    triplets = [[place[r] for r in t] for t in TRIPLETS.tolist() if set(t) <= set(rows)]
    return pairs, sorted(triplets)


# scikit-learn 1.7 does not route to the score of an estimator inside another one.
ROUTED = (
    ["fit", "score"] if parse_version(sklearn.__version__) >= parse_version("1.8") else ["fit"]
)


def assert_each_got_its_own(what=("fit", "score"), n=None):
    seen = [one for one in Spy.seen if one[0] in what]
    assert seen
    assert n is None or len(seen) == n
    assert any(len(labels.pairs) for _, _, labels in seen)
    for _, rows, labels in seen:
        values = zip(labels.likeness.tolist(), labels.weights.tolist(), strict=True)
        found = dict(zip(map(tuple, labels.pairs.tolist()), map(list, values), strict=True))
        assert (found, sorted(labels.triplets.tolist())) == expected(rows)
        assert labels.n_absent_marks == 0


@pytest.fixture(autouse=True)
def fresh_spy():
    Spy.seen.clear()


@pytest.fixture(params=[False, True], ids=["plain", "routing"])
def routing(request):
    with sklearn.config_context(enable_metadata_routing=request.param):
        yield request.param


GRID = {"lam": [1.0, 2.0]}
STRICT = {"cv": KFold(3, shuffle=True, random_state=0), "error_score": "raise"}


@pytest.mark.parametrize("marks", [MARKS, NAMED], ids=["numbers", "names"])
def test_searches_cut_marks_in_the_place_of_y_or_as_a_parameter(marks, routing):
    search = GridSearchCV(Spy(), GRID, **STRICT).fit(X, marks)
    assert search.best_params_ == {"lam": 2.0}
    assert_each_got_its_own()
    assert sorted(Spy.seen[-1][1]) == list(range(N))  # the last fit is on all rows
    Spy.seen.clear()
    GridSearchCV(Spy(), GRID, **STRICT).fit(X, marks=marks)
    assert_each_got_its_own(ROUTED if routing else ["fit"])


@pytest.mark.parametrize("form", TABLE_OF)
@pytest.mark.parametrize("marks", [MARKS, NAMED], ids=["numbers", "names"])
def test_points_of_every_form_are_cut_with_their_marks(form, marks, routing):
    table = TABLE_OF[form]()
    cross_validate(Spy(), table, marks, **STRICT)
    cross_validate(Spy(), table, params={"marks": marks}, **STRICT)
    assert_each_got_its_own(ROUTED if routing else ["fit"])


@pytest.mark.parametrize(
    "cv",
    [
        ShuffleSplit(3, random_state=0),
        MarksKFold(3, shuffle=True, random_state=0),
        [(np.arange(0, N, 2), np.arange(1, N, 2)), (np.arange(20)[::-1], np.arange(20, N))],
    ],
    ids=["sampled", "marks, shuffled", "list"],
)
def test_every_splitter(cv, routing):
    cross_val_score(Spy(), X, NAMED, cv=cv, error_score="raise")
    assert_each_got_its_own()


@pytest.mark.parametrize("form", ["numpy", "pandas"])
def test_inside_a_pipeline(form, routing):
    pipeline = make_pipeline(FunctionTransformer(), Spy())
    table = TABLE_OF[form]()
    cross_val_score(pipeline, table, NAMED, **STRICT)
    search = GridSearchCV(pipeline, {"spy__lam": [1.0, 2.0]}, **STRICT)
    search.fit(table, NAMED)
    assert_each_got_its_own()
    assert search.best_params_ == {"spy__lam": 2.0}
    Spy.seen.clear()
    name = "marks" if routing else "spy__marks"
    cross_validate(pipeline, table, params={name: MARKS}, **STRICT)
    assert_each_got_its_own(ROUTED if routing else ["fit"])


def test_marks_about_another_number_of_rows_are_refused_in_every_fold():
    other = Marks(ROWS, LABELS, rows=N + 1)
    for argument in ({"y": other}, {"params": {"marks": other}}):
        with pytest.raises(ValueError, match=r"about 46 rows, but X has 30|inconsistent numbers"):
            cross_val_score(Spy(), X, **argument, **STRICT)


# Folds that keep marks whole


def test_folds_split_points_and_share_both_kinds():
    pairs = np.arange(40).reshape(20, 2)
    labels = np.where(np.arange(20) < 10, 1, -1)
    marks = Marks(pairs, labels, rows=50)
    points = np.zeros((50, 1))
    splits = list(MarksKFold(5).split(points, marks=marks))
    assert len(splits) == MarksKFold(5).get_n_splits() == 5
    for train, test in splits:
        assert not set(train) & set(test)
        assert set(range(40, 50)) <= set(train)
        inside = np.isin(pairs, test).all(axis=1)
        assert (labels[inside] > 0).sum() == (labels[inside] < 0).sum() == 2
        assert (inside | np.isin(pairs, train).all(axis=1)).all()
    shuffled = MarksKFold(5, shuffle=True, random_state=0)
    first, again = ([test.tolist() for _, test in shuffled.split(points, marks)] for _ in range(2))
    assert first == again != [test.tolist() for _, test in splits]


@pytest.mark.parametrize("shuffle", [False, True])
def test_folds_follow_names_not_places(shuffle):
    frame, splitter = TABLE_OF["pandas"](), MarksKFold(3, shuffle=shuffle, random_state=0)
    first, again = (
        [set(table.index[test]) for _, test in splitter.split(table, marks=NAMED)]
        for table in (frame, frame.sample(frac=1, random_state=0))
    )
    assert first == again


def test_marks_that_hang_together_are_split_if_there_are_enough():
    rng = np.random.default_rng(0)
    pairs = np.array([rng.choice(30, 2, replace=False) for _ in range(100)])
    alike = pairs.sum(axis=1) % 2 == 0
    splits = list(MarksKFold(4).split(np.zeros((30, 1)), Marks(pairs, alike, rows=30)))
    assert len(splits) >= 3  # as many as have both kinds in each
    for _, test in splits:
        assert set(alike[np.isin(pairs, test).all(axis=1)]) == {True, False}


def test_what_cannot_be_split_is_refused():
    with pytest.raises(ValueError, match="1 labeled pairs of 2 rows cannot be split"):
        list(MarksKFold(2).split(X, marks=Marks([[0, 1]], [1], rows=X)))
    with pytest.raises(ValueError, match="nothing to learn from"):
        list(MarksKFold(2).split(X))
    with pytest.raises(ValueError, match="n_splits"):
        MarksKFold(1)


FEW_LABELS = {
    "classes": (np.r_[[0, 0, 0, 0, 1, 1, 1, 1], np.full(N - 8, -1)], None),
    "marks": (None, Marks([[0, 1], [2, 3], [4, 5], [6, 7]], [1, -1, 1, -1], rows=N)),
}


@pytest.mark.parametrize("kind", FEW_LABELS)
def test_a_search_makes_fewer_folds_of_few_labels(kind, routing):
    y, marks = FEW_LABELS[kind]
    search = GridSearchCV(Spy(), GRID, cv=MarksKFold(5), error_score="raise")
    given = [(marks if y is None else y, {})]
    if routing and marks is not None:
        given.append((None, {"marks": marks}))
    for target, more in given:
        search.fit(X, target, **more)
        assert search.n_splits_ == 2
        assert MarksKFold(5).get_n_splits(X, y, marks=marks) == 2
        tested = [set(rows) for what, rows, _ in Spy.seen if what == "score"]
        assert set().union(*tested) == set(range(8))


# Folds that tear marks apart


def few_marks():
    """Fifteen marks of 90 rows: most folds of scikit-learn's lack a kind of pairs."""
    rng = np.random.default_rng(0)
    y = np.arange(90) % 2
    points = rng.normal(size=(90, 3)) + 3.0 * y[:, np.newaxis]
    pairs = rng.permutation(90)[:30].reshape(-1, 2)
    return points, Marks(pairs, y[pairs[:, 0]] == y[pairs[:, 1]], rows=90)


def test_a_fold_without_a_kind_of_pairs_scores_as_chance_does_and_says_so():
    points, marks = few_marks()
    model, parameter = make_pipeline(FunctionTransformer(), SERAPH()), "seraph__max_iter"
    has_both = [
        set(marks[test].similar.tolist()) == {True, False} for _, test in KFold(5).split(points)
    ]
    assert not all(has_both)
    search = GridSearchCV(model, {parameter: [100, 101]}, error_score="raise")
    with pytest.warns(UserWarning, match="they score 0.5") as caught:
        search.fit(points, marks)
    messages = {str(warning.message) for warning in caught}
    (message,) = [text for text in messages if "score" in text]
    assert "they score 0.5, as chance does" in message
    assert "pass cv=seraph.MarksKFold()" in message
    for fold, scored in enumerate(has_both):
        scores = search.cv_results_[f"split{fold}_test_score"]
        assert np.isfinite(scores).all()
        assert scored or (scores == 0.5).all()


def test_a_score_without_any_labels_is_refused():
    points, marks = few_marks()
    for model in (SERAPH(), PairClassifier(SERAPH(), cv=2)):
        with pytest.raises(ValueError, match="pass marks in the place of y"):
            model.fit(points, marks=marks).score(points)
