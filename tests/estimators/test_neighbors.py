"""MetricNeighborsClassifier: a scikit-learn classifier in which only labeled rows vote."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from seraph import SERAPH, Marks
from seraph._base import MahalanobisLearner
from seraph._estimators._neighbors import MetricNeighborsClassifier
from seraph.classic import LMNN, MLKR, Euclidean


class Collapse(MahalanobisLearner):
    """A metric of rank 0."""

    def fit(self, X, y=None):
        points = self._check_points(X)
        return self._learned(X, np.empty((0, points.shape[1])))


@pytest.mark.parametrize("learner", [Euclidean(), SERAPH()], ids=repr)
@pytest.mark.parametrize("settings", [{}, {"n_neighbors": 3, "weights": "distance"}], ids=str)
def test_equals_nearest_neighbors_on_the_labeled_rows(wine, learner, settings):
    X, y_partial, _ = wine
    known = y_partial >= 0
    classifier = MetricNeighborsClassifier(learner, **settings).fit(X, y_partial)
    metric = clone(learner).fit(X, y_partial).get_metric()
    expected = KNeighborsClassifier(metric=metric, **{"n_neighbors": 1, **settings})
    expected.fit(X[known], y_partial[known])
    np.testing.assert_array_equal(classifier.predict(X), expected.predict(X))
    np.testing.assert_allclose(classifier.predict_proba(X), expected.predict_proba(X), atol=1e-9)
    np.testing.assert_array_equal(classifier.classes_, [0, 1, 2])


def test_unlabeled_rows_never_vote_but_the_learner_sees_them():
    X = np.array([[0.0], [1.0], [0.4], [0.45], [0.5], [-0.1]])
    y = np.array([7, 8, -1, -1, -1, 7])
    classifier = MetricNeighborsClassifier(Euclidean()).fit(X, y)
    np.testing.assert_array_equal(classifier.classes_, [7, 8])
    np.testing.assert_array_equal(classifier.predict([[0.42], [0.58]]), [7, 8])
    assert classifier.neighbors_.n_samples_fit_ == 3
    assert MetricNeighborsClassifier(SERAPH()).fit(X, y).learner_.n_unlabeled_ == 12


@pytest.mark.parametrize(
    ("y", "classes"),
    [
        (["b", None, "a", "b", -1], np.array(["a", "b"])),
        (("b", None, "a", "b", None), np.array(["a", "b"])),
        (np.array(["b", "-1", "a", "b", "-1"]), np.array(["a", "b"], dtype="<U2")),
        (np.array(["b", None, "a", "b", None], dtype=object), np.array(["a", "b"], dtype=object)),
        ([3.0, np.nan, 2.0, 3.0, np.nan], np.array([2.0, 3.0])),
        ([3, None, 2, 3, None], np.array([2, 3])),
        (np.array([3, -1, 2, 3, -1], dtype=np.int8), np.array([2, 3], dtype=np.int8)),
        (pd.Series([3, pd.NA, 2, 3, pd.NA], dtype="Int64"), np.array([2.0, 3.0])),
        (pd.Series([3, None, 2, 3, None], dtype=object), np.array([2, 3])),
        (np.array([True, False, False, True, False]), np.array([False, True])),
    ],
    ids=repr,
)
def test_classes_keep_their_names_and_type(y, classes):
    X = np.array([[1.0], [0.1], [0.0], [1.1], [0.9]])
    classifier = MetricNeighborsClassifier(Euclidean()).fit(X, y)
    np.testing.assert_array_equal(classifier.classes_, classes)
    assert classifier.classes_.dtype == classes.dtype
    np.testing.assert_array_equal(classifier.predict([[-1.0], [2.0]]), classes)
    assert classifier.predict(X).dtype == classes.dtype
    assert classifier.score(X, y) == 1.0


@pytest.mark.parametrize(
    "y", [[-1, 1, 1, -1], [-1.0, 1.0, 1.0, -1.0], np.array([-1, 1, 1, -1])], ids=repr
)
def test_signs_alone_are_two_classes(y):
    X = np.array([[0.0], [1.0], [1.1], [0.1]])
    classifier = MetricNeighborsClassifier(SERAPH()).fit(X, y)
    np.testing.assert_array_equal(classifier.classes_, [-1, 1])
    np.testing.assert_array_equal(classifier.predict(X), y)
    assert classifier.score(X, [-1, 1, 1, 1]) == 0.75
    assert classifier.learner_.n_dissimilar_ == 4


def test_signs_beside_other_missing_marks_are_two_classes_too():
    X = np.array([[0.0], [1.0], [0.2], [0.1]])
    classifier = MetricNeighborsClassifier(Euclidean()).fit(X, [-1.0, 1.0, np.nan, -1.0])
    np.testing.assert_array_equal(classifier.classes_, [-1, 1])
    assert classifier.neighbors_.n_samples_fit_ == 3


def test_score_leaves_unlabeled_rows_out(wine):
    X, y_partial, y = wine
    classifier = MetricNeighborsClassifier(Euclidean()).fit(X, y_partial)
    some = np.where(np.arange(len(y)) % 2, y, -1)
    right = classifier.predict(X) == y
    assert classifier.score(X, y) == pytest.approx(right.mean())
    assert classifier.score(X, some) == pytest.approx(right[1::2].mean())
    weights = np.arange(1.0, len(y) + 1.0)
    expected = np.average(right[1::2], weights=weights[1::2])
    assert classifier.score(X, some, sample_weight=weights) == pytest.approx(expected)
    with pytest.raises(ValueError, match="nothing to score"):
        classifier.score(X, np.full(len(y), -1))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        classifier.score(X, y[:5])


def test_probabilities_sum_to_one_and_agree_with_the_predictions(digits):
    X, y_partial, _ = digits
    classifier = MetricNeighborsClassifier(Euclidean(), n_neighbors=4).fit(X, y_partial)
    shares = classifier.predict_proba(X)
    assert shares.shape == (len(X), len(classifier.classes_))
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    np.testing.assert_array_equal(
        classifier.classes_[shares.argmax(axis=1)], classifier.predict(X)
    )


def test_grid_search_reaches_the_learners_parameters(wine):
    X, _, y = wine
    partly = np.where(np.arange(len(y)) % 2, y, -1)
    search = GridSearchCV(
        MetricNeighborsClassifier(SERAPH()),
        {"learner__lam": [1.0, 30.0], "n_neighbors": [1, 3]},
        cv=3,
        error_score="raise",
    )
    search.fit(X, partly)
    assert set(search.best_params_) == {"learner__lam", "n_neighbors"}
    assert search.best_estimator_.learner_.lam_ == search.best_params_["learner__lam"]
    assert search.best_score_ > 0.8
    np.testing.assert_array_equal(search.classes_, [0, 1, 2])


def test_works_in_pipelines_and_around_them(wine):
    X, y_partial, y = wine
    inside = make_pipeline(StandardScaler(), MetricNeighborsClassifier(Euclidean()))
    around = MetricNeighborsClassifier(make_pipeline(StandardScaler(), Euclidean()))
    np.testing.assert_array_equal(
        inside.fit(X, y_partial).predict(X), around.fit(X, y_partial).predict(X)
    )
    assert cross_val_score(inside, X, y, cv=3).min() > 0.8


def test_marks_reach_the_learner(wine):
    X, y_partial, _ = wine
    marks = Marks([[0, 70], [1, 71]], [1, -1], rows=X)
    classifier = MetricNeighborsClassifier(SERAPH()).fit(X, y_partial, marks=marks)
    expected = SERAPH().fit(X, y_partial, marks=marks)
    np.testing.assert_array_equal(classifier.learner_.components_, expected.components_)
    with pytest.raises(ValueError, match=r"LMNN learns from class labels alone.*leave marks out"):
        MetricNeighborsClassifier(LMNN()).fit(X, y_partial, marks=marks)
    with pytest.raises(ValueError, match="about 80 rows, but X has 40"):
        MetricNeighborsClassifier(SERAPH()).fit(X[:40], y_partial[:40], marks=marks)


@pytest.mark.parametrize("settings", [{}, {"n_neighbors": 3, "weights": "distance"}], ids=str)
def test_a_metric_of_rank_0_makes_all_rows_neighbors(rng, settings):
    X, y = rng.normal(size=(12, 2)), np.arange(12) % 3
    classifier = MetricNeighborsClassifier(Collapse(), **settings).fit(X, y)
    assert classifier.learner_.components_.shape == (0, 2)
    shares = classifier.predict_proba(X)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    assert (shares == shares[0]).all()  # no point is nearer to some rows than to others
    assert len(set(classifier.predict(X))) == 1


def test_the_learner_itself_is_left_alone(wine):
    X, y_partial, _ = wine
    learner = SERAPH()
    classifier = MetricNeighborsClassifier(learner).fit(X, y_partial)
    assert classifier.learner is learner
    assert not hasattr(learner, "components_")
    copy = clone(classifier)
    assert not hasattr(copy, "learner_")
    np.testing.assert_array_equal(copy.fit(X, y_partial).predict(X), classifier.predict(X))


@pytest.mark.parametrize(
    ("settings", "y", "message"),
    [
        ({}, None, "target y is None"),
        ({}, [-1, -1, -1, -1], "0 of n_samples = 4 have a label"),
        ({"n_neighbors": 3}, [0, 1, -1, -1], "2 of n_samples = 4 have a label"),
        ({}, [0, 1], "inconsistent numbers of samples"),
        ({}, [0.5, 1.25, 0.75, 2.0], "Unknown label type"),
        ({}, [0.0, np.inf, 1.0, 0.0], "infinity"),
        ({}, [0, "a", 0, "a"], "several types"),
    ],
    ids=str,
)
def test_bad_labels_are_refused_with_a_reason(settings, y, message):
    X = np.array([[0.0], [1.0], [0.1], [1.1]])
    with pytest.raises(ValueError, match=message):
        MetricNeighborsClassifier(Euclidean(), **settings).fit(X, y)


def test_a_learner_of_numbers_is_refused():
    X = np.random.default_rng(0).normal(size=(20, 3))
    with pytest.raises(ValueError, match="MLKR learns from numbers, not from classes"):
        MetricNeighborsClassifier(MLKR()).fit(X, (X[:, 0] > 0).astype(int))
