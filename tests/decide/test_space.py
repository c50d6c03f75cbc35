"""ForestSpace: learned coordinates, and what a forest knows beside them."""

import dask.array as da
import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.cluster import HDBSCAN
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import NearestNeighbors
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from seraph import ForestSpace, MetricClassifier, PairClassifier, load, save
from seraph._forest import similar_shares
from seraph.classic import Euclidean
from tests.classic.test_rfd import marked, region
from tests.decide.test_stack import Dense

X, Y = region()
MARKS = marked(X, Y)


def test_from_marks_it_is_the_metric_beside_similarities_to_rows_by_the_share_of_the_forest():
    space = ForestSpace(Euclidean(), n_landmarks=30).fit(X, marks=MARKS)
    pairs = PairClassifier(Euclidean()).fit(X, marks=MARKS)
    landmarks = X[::10]
    rows = np.array([(i, len(X) + k) for i in range(len(X)) for k in range(30)])
    S = similar_shares(pairs.forest_, np.vstack([X, landmarks]), rows).reshape(len(X), 30)
    expected = [
        X / np.sqrt(X.var(axis=0).sum()),
        3.0 * pairs.forest_share_ * S / np.sqrt(S.var(axis=0).sum()),
    ]
    np.testing.assert_allclose(space.transform(X), np.hstack(expected), atol=1e-10)
    assert space.n_coordinates_ == 2


def test_from_classes_it_is_the_metric_beside_roots_of_their_probabilities():
    y = np.where(np.arange(len(Y)) < 60, Y, -1)
    space = ForestSpace(Euclidean()).fit(X, y)
    S = np.sqrt(MetricClassifier(Euclidean()).fit(X, y).predict_proba(X))
    expected = X / np.sqrt(X.var(axis=0).sum()), S / np.sqrt(S.var(axis=0).sum())
    np.testing.assert_allclose(space.transform(X), np.hstack(expected), atol=1e-10)
    assert space.landmarks_ is None


def test_new_rows_of_a_region_are_nearer_there_than_under_the_metric():
    test, z = region(seed=5)
    i, j = np.triu_indices(len(z), 1)
    for known in ({"marks": MARKS}, {"y": np.where(np.arange(len(Y)) < 60, Y, -1)}):
        Z = ForestSpace().fit(X, **known).transform(test)
        aucs = [
            roc_auc_score(z[i] == z[j], -np.linalg.norm(one[i] - one[j], axis=1))
            for one in (Z[:, :2], Z)
        ]
        assert aucs[1] > aucs[0] + 0.05


def test_without_a_forest_it_is_the_metric():
    space = ForestSpace(Dense()).fit(csr_matrix(X), marks=MARKS)
    assert space.landmarks_ is None
    expected = X / np.sqrt(X.var(axis=0).sum())
    np.testing.assert_allclose(space.transform(csr_matrix(X)), expected)


def test_a_pipeline_inside_scales_and_outside_ends_in_it(tmp_path):
    frame = pd.DataFrame(100.0 * X, columns=["a", "b"])
    space = ForestSpace(make_pipeline(StandardScaler(), Euclidean())).fit(frame, marks=MARKS)
    assert np.abs(space.landmarks_).max() < 3.0
    again = load(save(space, tmp_path / "space.skops"))
    np.testing.assert_array_equal(again.transform(frame), space.transform(frame))
    outside = make_pipeline(StandardScaler(), ForestSpace(Euclidean()))
    Z = outside.fit_transform(frame, forestspace__marks=MARKS)
    np.testing.assert_allclose(Z, space.transform(frame), atol=1e-4)  # folds are scaled anew
    assert NearestNeighbors().fit(Z).kneighbors(Z[:3])[1][:, 0].tolist() == [0, 1, 2]
    assert len(HDBSCAN(copy=True).fit_predict(Z)) == len(X)


def test_chunks_are_mapped_when_they_are_computed():
    chunks = da.from_array(X, chunks=(60, 2))
    space = ForestSpace(Euclidean()).fit(chunks, marks=MARKS)
    np.testing.assert_allclose(space.transform(chunks).compute(), space.transform(X))


def test_without_answers_it_says_what_to_pass():
    with pytest.raises(ValueError, match="y is None"):
        ForestSpace().fit(X)
    with pytest.raises(ValueError, match="n_landmarks must be"):
        ForestSpace(n_landmarks=1).fit(X, marks=MARKS)
