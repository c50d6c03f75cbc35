"""MetricClassifier: a scikit-learn classifier in which the labeled rows decide."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy.special import softmax
from sklearn.base import clone
from sklearn.feature_selection import SelectFromModel
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from seraph import SERAPH, Marks, MeanMetric, MetricClassifier
from seraph._decide._classifier import WIDTHS, C
from seraph._forest import class_shares, grow_forest
from seraph.classic import LMNN, MLKR, Euclidean
from tests.helpers.quick import few


def literal_probabilities(Z, Z_seen, y_seen, rule):
    """The formulas of the rules, a row at a time; `Z_seen` are all rows seen."""
    known = y_seen >= 0
    classes = np.unique(y_seen[known])
    scale = np.sqrt(Z_seen.var(axis=0).mean())
    Z, Z_seen = Z / scale, Z_seen / scale
    labeled, codes = Z_seen[known], y_seen[known]
    nearest = [((z - labeled) ** 2).sum(axis=1).min() for z in Z_seen[~known]]
    doubt = 1.0 / (len(codes) + 1.0)

    def shares(z, voters, width):
        weights = np.exp(-((z - labeled[voters]) ** 2).sum(axis=1) / width)
        votes = np.array([weights[codes[voters] == c].sum() for c in classes]) / weights.sum()
        return (1.0 - doubt) * votes + doubt / len(classes)

    def likelihood(width):
        every = np.arange(len(codes))
        return sum(
            np.log(shares(labeled[i], every != i, width)[classes == codes[i]][0]) for i in every
        )

    widths = [w * np.median(nearest) for w in WIDTHS]
    width = max(widths, key=lambda w: round(likelihood(w), 9))
    votes = [shares(z, slice(None), width) for z in Z]
    choices = [1.0 * (classes == codes[((z - labeled) ** 2).sum(axis=1).argmin()]) for z in Z]
    linear = LogisticRegression(C=C, max_iter=1000, tol=1e-6).fit(labeled, codes).predict_proba(Z)
    return {
        "vote": np.array(votes),
        "linear": linear,
        "mean": (np.array(votes) + linear) / 2.0,
        "nearest": np.array(choices),
    }[rule]


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "learner", few([Euclidean(), SERAPH()], lambda made: isinstance(made, Euclidean)), ids=repr
)
@pytest.mark.parametrize("rule", ["mean", "vote", "linear", "nearest"])
def test_probabilities_are_those_of_the_formulas(wine, learner, rule, n_classes):
    X, y_partial, y = wine
    X, y_partial = X[y < n_classes], y_partial[y < n_classes]
    classifier = MetricClassifier(learner, rule=rule).fit(X, y_partial)
    Z = clone(learner).fit(X, y_partial).transform(X)
    expected = literal_probabilities(Z, Z, y_partial, rule)
    found = classifier.predict_proba(X)
    np.testing.assert_allclose(found, expected, atol=1e-4 if rule != "vote" else 1e-9)
    np.testing.assert_array_equal(classifier.classes_, np.arange(n_classes))
    np.testing.assert_array_equal(classifier.predict(X), found.argmax(axis=1))


def test_all_voices_are_the_mean_and_a_forest_by_the_number_of_features(wine):
    X, y_partial, _ = wine
    known, m = y_partial >= 0, X.shape[1]
    votes = class_shares(grow_forest(X[known], y_partial[known], n_trees=200), X)
    mean = MetricClassifier(Euclidean(), rule="mean").fit(X, y_partial).predict_proba(X)
    share = 0.5 / (1.0 + m / 30.0)
    for learner in (Euclidean(), make_pipeline(FunctionTransformer(), Euclidean())):
        classifier = MetricClassifier(learner).fit(X, y_partial)
        assert classifier.forest_share_ == pytest.approx(share)
        expected = (1.0 - share) * mean + share * votes
        np.testing.assert_allclose(classifier.predict_proba(X), expected, atol=1e-9)
    one_class = MetricClassifier(Euclidean()).fit(X, np.where(known, 0, -1))
    assert one_class.forest_ is None
    assert MetricClassifier(Euclidean(), rule="mean").fit(X, y_partial).forest_ is None


def test_the_unit_of_the_points_does_not_matter(wine):
    X, y_partial, _ = wine
    expected = MetricClassifier(Euclidean()).fit(X, y_partial).predict_proba(X)
    for factor, offset in ((1e-100, 0.0), (1e100, 0.0), (1.0, 1e6)):
        moved = factor * X + offset
        found = MetricClassifier(Euclidean()).fit(moved, y_partial).predict_proba(moved)
        np.testing.assert_allclose(found, expected, atol=1e-5)


def test_one_class_is_certain():
    X = np.array([[0.0], [1.0], [0.1]])
    for rule in ("all", "mean", "linear", "nearest"):
        classifier = MetricClassifier(Euclidean(), rule=rule).fit(X, ["a", "a", None])
        np.testing.assert_allclose(classifier.predict_proba(X), 1.0)


def test_unlabeled_rows_never_vote_but_the_learner_sees_them():
    X = np.array([[0.0], [1.0], [0.4], [0.45], [0.5], [-0.1]])
    y = np.array([7, 8, -1, -1, -1, 7])
    classifier = MetricClassifier(Euclidean()).fit(X, y)
    np.testing.assert_array_equal(classifier.classes_, [7, 8])
    np.testing.assert_array_equal(classifier.predict([[0.42], [0.58]]), [7, 8])
    assert len(classifier.codes_) == 3
    assert MetricClassifier(SERAPH()).fit(X, y).estimator_.n_unlabeled_ == 12


@pytest.mark.parametrize(
    ("y", "classes"),
    [
        (["b", None, "a", "b", -1], np.array(["a", "b"])),
        (np.array(["b", "-1", "a", "b", "-1"]), np.array(["a", "b"], dtype="<U2")),
        (np.array(["b", None, "a", "b", None], dtype=object), np.array(["a", "b"], dtype=object)),
        ([3.0, np.nan, 2.0, 3.0, np.nan], np.array([2.0, 3.0])),
        ([3, None, 2, 3, None], np.array([2, 3])),
        (np.array([3, -1, 2, 3, -1], dtype=np.int8), np.array([2, 3], dtype=np.int8)),
        (pd.Series([3, pd.NA, 2, 3, pd.NA], dtype="Int64"), np.array([2, 3])),
        (np.array([True, False, False, True, False]), np.array([False, True])),
        (pd.cut([2, np.nan, 1, 2, 1], [0, 1, 2]), np.array(list(pd.interval_range(0, 2)))),
        (pa.array(["b", None, "a", "b", "a"]), np.array(["a", "b"])),
        ([2**64, None, 2**63, 2**64, 2**63], np.array([2**63, 2**64])),
    ],
    ids=[
        "text and None", "text array", "objects", "floats", "integers and None", "int8",
        "pandas integers", "booleans", "intervals", "pyarrow", "long integers",
    ],
)  # fmt: skip
def test_classes_keep_their_names_and_type(y, classes):
    X = np.array([[1.0], [0.1], [0.0], [1.1], [0.9]])
    classifier = MetricClassifier(Euclidean()).fit(X, y)
    np.testing.assert_array_equal(classifier.classes_, classes)
    assert classifier.classes_.dtype == classes.dtype
    np.testing.assert_array_equal(classifier.predict([[-1.0], [2.0]]), classes)
    assert classifier.predict(X).dtype == classes.dtype
    assert classifier.score(X, y) == 1.0


def test_score_leaves_unlabeled_rows_out(wine):
    X, y_partial, y = wine
    classifier = MetricClassifier(Euclidean()).fit(X, y_partial)
    some = np.where(np.arange(len(y)) % 2, y, -1)
    right = classifier.predict(X) == y
    assert classifier.score(X, y) == pytest.approx(right.mean())
    assert classifier.score(X, some) == pytest.approx(right[1::2].mean())
    weights = np.arange(1.0, len(y) + 1.0)
    expected = np.average(right[1::2], weights=weights[1::2])
    assert classifier.score(X, some, sample_weight=weights) == pytest.approx(expected)
    with pytest.raises(ValueError, match="nothing to score"):
        classifier.score(X, np.full(len(y), -1))


def test_no_tool_takes_the_linear_rule_for_weights_of_the_features(wine):
    """It is in the learned space, where columns are not those of X."""
    X, y_partial, _ = wine
    with pytest.raises(ValueError, match="coef_"):
        SelectFromModel(MetricClassifier(MeanMetric())).fit(X, y_partial).get_support()
    classifier = MetricClassifier(Euclidean(), rule="linear").fit(X, y_partial)
    np.testing.assert_array_equal(classifier.transform(X), classifier.estimator_.transform(X))
    Z = (classifier.transform(X) - classifier.center_) / classifier.scale_
    odds = Z @ classifier.linear_coef_.T + classifier.linear_intercept_
    np.testing.assert_allclose(softmax(odds, axis=1), classifier.predict_proba(X))


def test_marks_reach_the_learner(wine):
    X, y_partial, _ = wine
    marks = Marks([[0, 70], [1, 71]], [1, -1], rows=X)
    classifier = MetricClassifier(SERAPH()).fit(X, y_partial, marks=marks)
    expected = SERAPH().fit(X, y_partial, marks=marks)
    np.testing.assert_array_equal(classifier.estimator_.components_, expected.components_)
    with pytest.raises(ValueError, match=r"LMNN learns from class labels alone.*leave marks out"):
        MetricClassifier(LMNN()).fit(X, y_partial, marks=marks)
    with pytest.raises(ValueError, match="about 80 rows, but X has 40"):
        MetricClassifier(SERAPH()).fit(X[:40], y_partial[:40], marks=marks)


@pytest.mark.filterwarnings("ignore:The learned metric is zero")
@pytest.mark.parametrize("rule", ["mean", "nearest"])
def test_a_metric_of_rank_0_makes_all_rows_alike(rng, rule):
    X, y = rng.normal(size=(12, 2)), np.arange(12) % 3
    classifier = MetricClassifier(SERAPH(lam=1e6), rule=rule).fit(X, y)
    assert classifier.estimator_.components_.shape == (0, 2)
    shares = classifier.predict_proba(X)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    assert (shares == shares[0]).all()  # no point is nearer to some rows than to others
    assert len(set(classifier.predict(X))) == 1


@pytest.mark.parametrize(
    ("learner", "y", "message"),
    [
        (Euclidean(), [0.5, 1.25, 0.75, 2.0], "Unknown label type"),
        (Euclidean(), [0.0, np.inf, 1.0, 0.0], "infinity"),
        (Euclidean(), [0, "a", 0, "a"], "uniformly strings or numbers"),
        (MLKR(), [0, 1, 0, 1], "MLKR learns from numbers, not from classes"),
    ],
    ids=["decimals", "infinite", "two types", "a learner of numbers"],
)
def test_bad_labels_are_refused_with_a_reason(learner, y, message):
    X = np.array([[0.0], [1.0], [0.1], [1.1]])
    with pytest.raises((TypeError, ValueError), match=message):
        MetricClassifier(learner).fit(X, y)


def test_a_quantity_is_noticed_in_the_words_of_scikit_learn(rng):
    X, y = rng.normal(size=(60, 2)), 3 * np.arange(60)
    with pytest.warns(UserWarning, match="unique classes is greater than 50%"):
        MetricClassifier(Euclidean()).fit(X, y)


def test_the_linear_rule_of_float32_rows_is_fitted_in_float64(rng):
    # scikit-learn 1.9 fits a logistic regression of float32 rows in float32.
    X = rng.integers(-9, 10, size=(60, 4)).astype(np.float32)  # both dtypes hold these exactly
    y = np.digitize(X[:, 0] + X[:, 1] + rng.normal(size=60), [-4, 4])
    short, long = (
        MetricClassifier(Euclidean(), rule="linear").fit(rows, y).predict_proba(rows)
        for rows in (X, X.astype(np.float64))
    )
    assert short.dtype == np.float64
    np.testing.assert_allclose(short, long, rtol=1e-10)
