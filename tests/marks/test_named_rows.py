"""Marks never land on the wrong rows, whatever the learner and the order of the table."""

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from seraph import SERAPH, Marks, MetricClassifier, PairClassifier, query_rows, query_screens
from seraph.classic import ITML

N = 60
RNG = np.random.default_rng(0)
Y = np.arange(N) % 3
X = RNG.normal(size=(N, 4)) + 2.0 * np.eye(3, 4)[Y]
NAMES = np.array([f"row {k}" for k in RNG.permutation(N)])
FRAME = pd.DataFrame(X, columns=list("abcd"), index=NAMES)
ROWS = np.array([[k, (k + step) % N] for step in (7, 9) for k in range(0, N, 2)][:-5])
ALIKE = Y[ROWS[:, 0]] == Y[ROWS[:, 1]]
PAIRS = NAMES[ROWS]
BY_NUMBER = Marks(ROWS, ALIKE, rows=N)
BY_NAME = Marks(PAIRS, ALIKE, rows=FRAME)
LEARNERS = [SERAPH(), ITML()]
EVERY = pytest.mark.parametrize("learner", LEARNERS, ids=lambda one: type(one).__name__)


@EVERY
def test_dask_sorts_a_frame_and_marks_find_their_rows(learner):
    """``dd.from_pandas`` sorts the index, so that rows change their numbers."""
    chunked = dd.from_pandas(FRAME, npartitions=3)
    in_order = chunked.compute()
    assert in_order.index.tolist() != NAMES.tolist()
    expected = sklearn.clone(learner).fit(in_order, marks=BY_NAME)
    fitted = sklearn.clone(learner).fit(chunked, marks=BY_NAME)
    d = expected.pair_distance(PAIRS, FRAME)
    np.testing.assert_allclose(fitted.pair_distance(PAIRS, FRAME), d, rtol=1e-6)
    np.testing.assert_allclose(fitted.pair_distance(PAIRS, chunked), d, rtol=1e-6)
    assert fitted.score(chunked, marks=BY_NAME) == expected.score(FRAME, marks=BY_NAME)


@EVERY
def test_marks_of_absent_rows_are_left_out_and_counted(learner):
    part = np.flatnonzero(np.arange(N) % 4 != 0)
    n_absent = (~np.isin(ROWS, part).all(axis=1)).sum()
    with pytest.warns(UserWarning, match=f"the rows of {n_absent} of {len(ROWS)} marks") as seen:
        by_name = sklearn.clone(learner).fit(FRAME.iloc[part], marks=BY_NAME)
    assert {warning.filename for warning in seen} == {__file__}
    assert getattr(by_name, "learner_", by_name).n_absent_marks_ == n_absent
    by_number = sklearn.clone(learner).fit(X[part], marks=BY_NUMBER[part])
    assert getattr(by_number, "learner_", by_number).n_absent_marks_ == 0
    d = by_number.pair_distance(ROWS, X)
    np.testing.assert_allclose(by_name.pair_distance(PAIRS, FRAME), d, rtol=1e-9)


@pytest.mark.parametrize("Wrapper", [MetricClassifier, PairClassifier])
def test_names_are_read_before_the_features_are_prepared(Wrapper):
    """A scaler would lose the names, and with them the rows."""
    order = np.random.default_rng(1).permutation(N)
    model = Wrapper(make_pipeline(StandardScaler(), SERAPH()))
    if Wrapper is PairClassifier:
        model.set_params(cv=2, forest=False)
    moved, plain = (
        sklearn.clone(model).fit(FRAME.iloc[rows], Y[rows], marks=BY_NAME)
        for rows in (order, np.arange(N))
    )
    one, other = (model.estimator_[-1].components_ for model in (moved, plain))
    np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-5)


def test_an_index_with_repeated_names_is_refused_only_if_marks_need_it():
    frame = FRAME.set_axis(["same"] * N)
    SERAPH().fit(frame, Y)
    SERAPH().fit(frame, marks=BY_NUMBER)
    with pytest.raises(ValueError, match="The index must name each row differently"):
        SERAPH().fit(frame, marks=BY_NAME)


def test_queries_name_rows_as_the_index_does_and_take_their_answers_back():
    learner, frame_learner = SERAPH().fit(X, marks=BY_NUMBER), SERAPH().fit(FRAME, marks=BY_NAME)
    rows = query_rows(frame_learner, FRAME, 3, random_state=0)
    np.testing.assert_array_equal(rows, NAMES[query_rows(learner, X, 3, random_state=0)])
    named, _ = query_screens(None, FRAME, 2, size=4, near=2, random_state=0)
    true = dict(zip(NAMES, Y, strict=True))
    answers = [[true[name] for name in screen] for screen in named]
    marks = Marks.from_screens(named, answers, rows=FRAME)
    assert (
        marks.align(FRAME.sample(frac=1, random_state=0), N).similar.sum() == marks.similar.sum()
    )
