"""The learned distance and a forest of pairs, weighed by pairs that neither has met."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.sparse import csr_matrix
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from seraph import Marks, MeanMetric, PairClassifier
from seraph._decide._held_out import HeldOut
from seraph._decide._threshold import fit_weights, weigh_forest
from seraph._forest import log_odds, similar_shares
from seraph.classic import Euclidean
from tests.classic.test_rfd import marked, region


def held_out(n=200, tells=(1.0, 1.0), seed=0, counts=None):
    """Held-out pairs whose distance and forest tell similar ones, as far as `tells` says."""
    rng = np.random.default_rng(seed)
    similar = rng.random(n) < 0.3
    noise = rng.normal(size=(n, 2))
    near, odds = (noise + np.where(similar[:, None], 1.0, -1.0) * tells).T
    counts = np.ones(n) if counts is None else counts
    rows = np.arange(2 * n).reshape(-1, 2)
    features, fold = np.column_stack([np.exp(-near), odds]), np.arange(n) % 5
    return HeldOut(features, similar, rows, fold, counts, np.ones(n))


def test_the_weights_maximize_the_objective():
    held = held_out(counts=np.random.default_rng(1).uniform(0.5, 2.0, size=200))
    V, prior = np.column_stack([-np.log(held.features[:, 0]), held.features[:, 1]]), [0.7, 0.3]

    def loss(x):
        """The sum of the docstring, pair by pair."""
        total = 10.0 * ((x[0] - prior[0]) ** 2 + (x[1] - prior[1]) ** 2)
        n = held.counts.sum() ** 2 / (held.counts**2).sum()
        for v, similar, count in zip(V, held.similar, held.counts, strict=True):
            kind = held.counts[held.similar == similar].sum()
            sign = 1.0 if similar else -1.0
            total += n / 2 * count / kind * np.log1p(np.exp(-sign * (v @ x[:2] + x[2])))
        return total

    found = fit_weights(V, held, np.array(prior))
    slow = minimize(loss, [0.5, 0.5, 0.0], method="Nelder-Mead", options={"xatol": 1e-5}).x
    np.testing.assert_allclose(found, slow[:2], atol=1e-3)


@pytest.mark.parametrize(
    ("tells", "n", "low", "high"),
    [((1.0, 0.0), 500, 0.0, 0.1), ((0.0, 1.0), 500, 0.8, 1.0), ((1.0, 1.0), 500, 0.4, 0.6)],
)
def test_what_tells_no_pair_gets_no_share(tells, n, low, high):
    assert low <= weigh_forest(held_out(n, tells), 10)[2] <= high


def test_few_pairs_leave_the_share_of_many_features_small():
    shares = [weigh_forest(held_out(12, (0.5, 0.5)), m)[2] for m in (3, 30, 300)]
    assert shares[0] > shares[1] > shares[2]
    assert shares[0] > 0.3
    assert shares[2] < 0.2


def test_the_distance_is_the_learned_one_over_a_power_of_the_odds():
    X, y = region()
    model = PairClassifier(Euclidean()).fit(X, marks=marked(X, y))
    pairs = np.random.default_rng(3).integers(len(X), size=(500, 2))
    pairs[:5, 1] = pairs[:5, 0]
    d = np.linalg.norm(X[pairs[:, 0]] - X[pairs[:, 1]], axis=1)
    odds = np.exp(log_odds(similar_shares(model.forest_, X, pairs)))
    expected = np.where(d == 0.0, 0.0, np.maximum(d, model.floor_) * odds**-model.power_)
    np.testing.assert_allclose(model.pair_distance(pairs, X), expected, rtol=1e-6)
    np.testing.assert_array_equal(
        model.predict(pairs, X) == 1, model.pair_distance(pairs, X) <= model.threshold_
    )
    p = model.predict_proba(pairs, X)[:, 1]
    assert p[:5].min() >= 0.5
    clear = np.abs(p - 0.5) > 1e-9
    np.testing.assert_array_equal(p[clear] > 0.5, model.predict(pairs, X)[clear] == 1)


def test_a_forest_decides_where_the_place_of_a_pair_counts_and_says_so():
    X, y = region()
    test, z = region(seed=5)
    scores = {}
    for forest in (True, False):
        model = PairClassifier(forest=forest).fit(X, marks=marked(X, y))
        scores[forest] = model.score(test, z)
        if forest:
            i, j = np.triu_indices(len(test), 1)
            d = model.pair_distance(np.column_stack([i, j]), test)
            assert scores[True] == pytest.approx(roc_auc_score(z[i] == z[j], -d))
            assert model.report_["forest_share"] == model.forest_share_ > 0.4
            assert model.report_["auc_of_forest"] > model.report_["auc_of_distance"] + 0.1
        else:
            assert (model.forest_, model.forest_share_) == (None, 0.0)
            assert "forest_share" not in model.report_
    assert scores[True] > scores[False] + 0.1


def test_where_many_features_matter_a_little_the_distance_decides():
    rng = np.random.default_rng(0)
    y = rng.integers(4, size=300)
    X = rng.normal(size=(300, 100)) + 0.5 * rng.normal(size=(4, 100))[y]
    marks = marked(X, y, 120)
    aucs = [PairClassifier(forest=f).fit(X, marks=marks).score(X, y) for f in (True, False)]
    assert aucs[0] > aucs[1] - 0.01


@pytest.mark.filterwarnings("ignore:The learned distance does not tell")
def test_the_forest_is_judged_on_rows_that_it_has_not_seen():
    rng = np.random.default_rng(0)
    X, pairs = rng.normal(size=(240, 4)), rng.permutation(240).reshape(-1, 2)
    marks = Marks(pairs, rng.random(120) < 0.5, rows=X)
    model = PairClassifier(Euclidean()).fit(X, marks=marks)
    inside = similar_shares(model.forest_, X, marks.pairs)
    assert roc_auc_score(marks.similar, inside) > 0.95
    assert abs(model.report_["auc_of_forest"] - 0.5) < 0.15


class Dense(Euclidean):
    """A learner that takes sparse rows."""

    def fit(self, X, y=None, *, marks=None):
        return super().fit(X.toarray(), y)

    def transform(self, X):
        return super().transform(X.toarray())


def test_a_pipeline_feeds_the_forest_and_sparse_rows_do_without():
    X, y = region()
    marks = marked(X, y)
    scaled = make_pipeline(StandardScaler(), MeanMetric())
    scaled = PairClassifier(scaled).fit(100.0 * X, marks=marks)
    assert scaled.forest_share_ > 0.4
    assert np.abs(scaled.forest_["center"]).max() < 0.1
    assert PairClassifier(Dense()).fit(csr_matrix(X), marks=marks).forest_ is None
    with pytest.raises(ValueError, match="forest must be True or False; got 'yes'"):
        PairClassifier(forest="yes").fit(X, marks=marks)
