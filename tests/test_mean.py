"""The mean of metrics: its formula, what must not matter, and how it composes."""

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import BaseEstimator, clone
from sklearn.decomposition import PCA
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import NeighborhoodComponentsAnalysis
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from seraph import SERAPH, Marks, MarksKFold, MeanMetric
from seraph.classic import ITML, LRML, RCA, RFD, Euclidean

N, M = 60, 4
Y_ALL = np.arange(N) % 3
X = np.random.default_rng(0).normal(size=(N, M)) * [1, 2, 3, 4] + 3.0 * np.eye(3, M)[Y_ALL]
Y = np.where(np.arange(N) < 24, Y_ALL, -1)
PAIRS = np.random.default_rng(1).integers(N, size=(40, 2))
PAIRS = PAIRS[PAIRS[:, 0] != PAIRS[:, 1]]
MARKS = Marks(PAIRS, Y_ALL[PAIRS[:, 0]] == Y_ALL[PAIRS[:, 1]], rows=N)


class Fixed(BaseEstimator):
    """A user's learner, which has a matrix and no components."""

    def __init__(self, A=None):
        self.A = A

    def fit(self, X, y=None):
        self.n_features_in_ = np.shape(X)[1]
        return self

    def get_mahalanobis_matrix(self):
        return self.A


def matrix_of(learners, points=X, y=Y, **parameters):
    return MeanMetric(learners, **parameters).fit(points, y).get_mahalanobis_matrix()


def three():
    return [("seraph", SERAPH()), ("rca", RCA()), ("plain", Euclidean())]


@pytest.mark.parametrize("weights", [None, [3, 1, 0.5], [0, 1, 1]])
def test_the_metric_is_the_formula(weights):
    C = np.cov(X.T, bias=True)
    A = np.zeros((M, M))
    shares = np.ones(3) if weights is None else np.array(weights)
    for (_, learner), share in zip(three(), shares / shares.sum(), strict=True):
        A_k = learner.fit(X, Y).get_mahalanobis_matrix()
        A += share * np.trace(C) / np.trace(A_k @ C) * A_k
    mean = MeanMetric(three(), weights=weights).fit(X, Y)
    np.testing.assert_allclose(mean.get_mahalanobis_matrix(), A, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(mean.weights_, shares / shares.sum())


def test_neither_units_of_a_metric_nor_the_order_of_learners_matter():
    A = np.diag([4.0, 0.0, 1.0, 1.0])
    expected = matrix_of([("a", Fixed(A)), ("b", RCA())])
    for learners in (
        [("a", Fixed(100.0 * A)), ("b", RCA())],
        [("b", RCA()), ("a", Fixed(A))],
    ):
        np.testing.assert_allclose(matrix_of(learners), expected, rtol=1e-9, atol=1e-12)


def test_rows_are_orthogonal_longest_first_and_n_components_keeps_the_first():
    whole, few = (MeanMetric(n_components=n).fit(X, Y).components_ for n in (None, 2))
    gram = whole @ whole.T
    np.testing.assert_allclose(gram, np.diag(np.diag(gram)), atol=1e-12 * gram.max())
    assert np.all(np.diff(np.diag(gram)) <= 0.0)
    np.testing.assert_array_equal(few, whole[:2])
    with pytest.raises(ValueError, match="n_components=5 is too large: X has only 4"):
        MeanMetric(n_components=5).fit(X, Y)


# Learners


@pytest.mark.parametrize(
    "learner", [Fixed(np.eye(M)), PCA(2), NeighborhoodComponentsAnalysis(random_state=0)], ids=repr
)
def test_learners_of_others_take_part(learner):
    mean = MeanMetric([("theirs", learner), ("plain", Euclidean())]).fit(X, Y_ALL)
    assert list(mean.named_learners_) == ["theirs", "plain"]
    assert "n_features_in_" in vars(mean.named_learners_.theirs)
    assert not hasattr(learner, "n_features_in_")


@pytest.mark.parametrize(
    ("learner", "message"),
    [
        (make_pipeline(PCA(), SERAPH()), "'odd', a Pipeline, has no matrix.*before the mean"),
        (StandardScaler(), "'odd', a StandardScaler, has no matrix"),
        (RFD(n_trees=3), "'odd', a RFD, has no matrix"),
    ],
)
def test_what_has_no_matrix_is_refused_by_name(learner, message):
    with pytest.raises(ValueError, match=message):
        MeanMetric([("plain", Euclidean()), ("odd", learner)]).fit(X, Y)


def test_a_learner_that_learned_nothing_is_left_out_with_a_warning():
    learners = [("none", Fixed(np.zeros((M, M)))), ("plain", Euclidean()), ("rca", RCA())]
    with pytest.warns(UserWarning, match="'none' learned nothing: MeanMetric leaves it out"):
        mean = MeanMetric(learners, weights=[5, 3, 1]).fit(X, Y)
    assert [name for name, _ in mean.learners_] == ["plain", "rca"]
    np.testing.assert_allclose(mean.weights_, [0.75, 0.25])
    np.testing.assert_allclose(
        mean.get_mahalanobis_matrix(), matrix_of(learners[1:], weights=[3, 1])
    )
    with pytest.warns(UserWarning, match="every distance is 0"):
        mean = MeanMetric(learners[:1]).fit(X, Y)
    assert mean.components_.shape == (0, M)
    np.testing.assert_array_equal(mean.pair_distance([[0, 1]], X), 0.0)


# Composition


@pytest.mark.parametrize("dropped", [None, "drop"])
def test_a_learner_is_dropped_by_its_name(dropped):
    mean = MeanMetric(three(), weights=[1, 2, 3]).set_params(rca=dropped).fit(X, Y)
    np.testing.assert_allclose(mean.weights_, [0.25, 0.75])
    kept = [three()[0], three()[2]]
    np.testing.assert_array_equal(mean.get_mahalanobis_matrix(), matrix_of(kept, weights=[1, 3]))


def test_parameters_of_learners_are_reached_by_name_also_of_the_default_ones():
    mean = MeanMetric().set_params(seraph__lam=2.0, itml=None)
    assert mean.get_params()["seraph__lam"] == 2.0
    assert mean.get_params()["itml"] is None
    assert MeanMetric().get_params()["seraph__lam"] == "auto"
    assert MeanMetric().set_params(weights=[1, 1, 2]).learners is None
    copied = clone(mean)
    assert copied.learners[0][1] is not mean.learners[0][1]
    assert copied.get_params()["seraph__lam"] == 2.0
    with pytest.raises(ValueError, match="Invalid parameter 'lmnn'"):
        mean.set_params(lmnn=None)


# Marks


def test_marks_reach_the_learners_with_and_without_metadata_routing():
    pipeline = make_pipeline(StandardScaler(), MeanMetric())
    plain = clone(pipeline).fit(X, meanmetric__marks=MARKS)
    assert plain[-1].named_learners_.seraph.n_similar_ == MARKS.similar.sum()
    with config_context(enable_metadata_routing=True):
        routed = clone(pipeline).fit(X, marks=MARKS)
        np.testing.assert_array_equal(routed[-1].components_, plain[-1].components_)
        scores = cross_val_score(MeanMetric(), X, cv=MarksKFold(2), params={"marks": MARKS})
        deaf = MeanMetric(
            [("pairs", SERAPH()), ("deaf", Euclidean().set_fit_request(marks=False))]
        )
        assert deaf.fit(X, marks=MARKS).named_learners_.pairs.n_similar_ > 0
    assert np.all(scores > 0.5)


def test_each_learner_gets_the_marks_that_it_can_use():
    more = Marks([[0, 1], [2, 5]], [0.7, 1.0], weights=[2.0, 3.0], triplets=[[0, 3, 1]], rows=N)
    mean = MeanMetric().fit(X, marks=MARKS + more)
    alone = SERAPH().fit(X, marks=MARKS + more)
    sure = MARKS + Marks([[2, 5]], [1.0], rows=N)
    np.testing.assert_array_equal(mean.named_learners_.seraph.components_, alone.components_)
    for name, Learner in (("lrml", LRML), ("itml", ITML)):
        expected = Learner().fit(X, marks=sure).components_
        np.testing.assert_array_equal(mean.named_learners_[name].components_, expected)
    with pytest.warns(UserWarning, match="'lrml' and 'itml' learned nothing"):
        mean = MeanMetric().fit(X, marks=Marks(triplets=[[0, 3, 1], [1, 4, 2]], rows=N))
    assert list(mean.named_learners_) == ["seraph"]


# Few rows


def test_more_features_than_rows_give_the_formula():
    wide = np.random.default_rng(0).normal(size=(20, 50))
    y = np.arange(20) % 2
    learners = [("seraph", SERAPH(n_components=2)), ("pca", PCA(3))]
    C = np.cov(wide.T, bias=True)
    expected = 0.0
    for _, learner in learners:
        P = learner.fit(wide, y).components_
        expected = expected + 0.5 * np.trace(C) / np.trace(P.T @ P @ C) * P.T @ P
    mean = MeanMetric(learners).fit(wide, y)
    np.testing.assert_allclose(mean.get_mahalanobis_matrix(), expected, rtol=1e-9, atol=1e-12)
    assert len(mean.components_) == 3 + len(learners[0][1].components_)
