"""RFD: a forest of pairs."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score
from sklearn.tree import DecisionTreeClassifier

from seraph import Marks, MeanMetric
from seraph._forest import class_shares, grow_forest, similar_shares
from seraph.classic import GMML, RFD


def region(n=300, m=2, seed=0):
    """Rows whose second feature counts where the first is positive, and does not elsewhere."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n, m))
    return X, np.where(X[:, 0] < 0, 0, 1 + (X[:, 1] > 0))


def marked(X, y, n=300, seed=1):
    pairs = np.random.default_rng(seed).integers(len(X), size=(n, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    return Marks(pairs, y[pairs[:, 0]] == y[pairs[:, 1]], rows=X)


def share_of_a_pair(forest, x, z):
    """Send one pair down every tree, node by node."""
    center, scale = forest["center"], forest["scale"]
    x, z = ((np.asarray(p) - center) / scale for p in (x, z))
    x, z = x.astype(np.float32), z.astype(np.float32)
    phi, shares, start = np.concatenate([np.abs(x - z), x + z]), [], 0
    for size in forest["sizes"]:
        at = 0
        while forest["left"][start + at] >= 0:
            goes_left = phi[forest["feature"][start + at]] <= forest["threshold"][start + at]
            at = forest["left" if goes_left else "right"][start + at]
        shares.append(forest["shares"][start + at, 1])
        start += size
    return np.mean(shares)


def test_the_distance_is_the_mean_over_the_leaves_of_all_trees():
    X, y = region()
    model = RFD(n_trees=7).fit(X, marks=marked(X, y))
    pairs = np.random.default_rng(2).integers(len(X), size=(40, 2))
    expected = [1.0 - share_of_a_pair(model.forest_, X[i], X[j]) for i, j in pairs]
    np.testing.assert_allclose(model.pair_distance(pairs, X), expected, atol=1e-12)
    np.testing.assert_array_equal(model.pair_distance(X[pairs]), model.pair_distance(pairs, X))
    np.testing.assert_allclose(model.pair_distance(pairs[:, ::-1], X), expected)
    similarities = model.transform(X[:3])
    by_hand = [[share_of_a_pair(model.forest_, a, b) for b in model.landmarks_] for a in X[:3]]
    np.testing.assert_allclose(similarities, by_hand, atol=1e-12)


def test_the_trees_are_those_of_scikit_learn():
    X, y = region(200)
    forest = grow_forest(X, y, n_trees=20)
    Z = ((X - forest["center"]) / forest["scale"]).astype(np.float32)
    order = np.lexsort((y, *Z.T))
    rng, expected = np.random.RandomState(0), np.zeros((len(X), 3))
    for _ in range(20):
        number = rng.randint(np.iinfo(np.int32).max)
        counts = np.bincount(np.random.RandomState(number).randint(0, 200, 200), minlength=200)
        tree = DecisionTreeClassifier(max_features="sqrt", random_state=number)
        tree.fit(Z[order], y[order], sample_weight=counts)
        expected += tree.predict_proba(Z) / 20
    np.testing.assert_allclose(class_shares(forest, X), expected, atol=1e-12)
    moved = np.random.default_rng(1).permutation(200)
    again = grow_forest(1e100 * X[moved], y[moved], n_trees=20)
    np.testing.assert_allclose(class_shares(again, 1e100 * X), expected, atol=1e-12)


def test_it_learns_where_a_difference_counts_and_a_matrix_cannot():
    X, y = region()
    test, z = region(seed=5)
    i, j = np.triu_indices(len(test), 1)
    marks = marked(X, y)
    aucs = [
        roc_auc_score(z[i] == z[j], -model.fit(X, marks=marks).pair_distance(np.c_[i, j], test))
        for model in (RFD(), MeanMetric(), GMML())
    ]
    assert aucs[0] > 0.95
    assert aucs[0] > max(aucs[1:]) + 0.1


def test_labels_and_the_pairs_they_imply_say_the_same():
    X, y = region(40)
    i, j = np.triu_indices(40, 1)
    order = np.random.default_rng(0).permutation(len(i))
    marks = Marks(np.c_[j, i][order], (y[i] == y[j])[order], rows=X)
    np.testing.assert_array_equal(
        RFD().fit(X, y).transform(X), RFD().fit(X, marks=marks).transform(X)
    )


def test_an_unsure_mark_counts_for_both_kinds():
    X, y = region(60)
    marks = marked(X, y, 60)
    even = Marks(marks.pairs, np.where(marks.labels == 1.0, 0.7, 0.3), rows=X)
    sure, unsure = (RFD().fit(X, marks=m).pair_proba(m.pairs, X) for m in (marks, even))
    assert np.abs(unsure - 0.5).mean() < np.abs(sure - 0.5).mean() - 0.05


def test_chunks_do_not_matter(monkeypatch):
    X, y = region(40)
    model = RFD(n_trees=5, n_landmarks=20).fit(X, y)
    whole = model.transform(X)
    monkeypatch.setattr("seraph._forest._AT_ONCE", 7)
    monkeypatch.setattr("seraph._forest._MOST_LISTED", 50)
    np.testing.assert_array_equal(model.transform(X), whole)


@pytest.mark.parametrize("wrong", [{"left": 10**6}, {"feature": 99}, {"left": 0}])
def test_a_damaged_forest_is_refused_before_it_is_followed(wrong):
    X, y = region(40)
    forest = RFD(n_trees=3).fit(X, y).forest_
    for name, value in wrong.items():
        forest[name] = np.where(forest["left"] >= 0, value, forest[name])
    with pytest.raises(ValueError, match="forest is damaged"):
        similar_shares(forest, X, np.array([[0, 1]]))
    forest["sizes"] = forest["sizes"][:-1]
    with pytest.raises(ValueError, match="forest is damaged"):
        similar_shares(forest, X, np.array([[0, 1]]))
