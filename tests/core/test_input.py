"""Bad input gets a ValueError that helps, doubtful input a warning, odd input just works."""

import warnings

import numpy as np
import pandas as pd
import pytest
import torch
from scipy import sparse
from sklearn.decomposition import TruncatedSVD
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import normalize

from seraph import SERAPH, Marks, MetricClassifier, classic
from tests.helpers.quick import few

X = np.random.default_rng(0).normal(size=(12, 3))
Y = np.array([0, 0, 1, 1, 2, 2] + [-1] * 6)

BAD_PARAMETERS = [
    ({"solver": "newton"}, "solver must be .*low-rank.*got 'newton'"),
    ({"n_components": 4}, "n_components=4 .*3 features"),
    ({"n_components": 2, "solver": "spg"}, "n_components=2 caps the rank.*auto"),
    ({"gamma": 1.0, "solver": "em"}, r"gamma=1.0 asks for the full model.*kappa .*'em'"),
    ({"gamma": 1.0, "solver": "projected-gradient"}, "full model.*use solver=.auto."),
    ({"unlabeled_pairs": "few"}, "unlabeled_pairs must be .* or 'auto' or 'all'; got 'few'"),
]


@pytest.mark.parametrize(("parameters", "message"), BAD_PARAMETERS, ids=str)
@pytest.mark.filterwarnings("error")
def test_bad_parameters_are_refused_by_name(parameters, message):
    learner = SERAPH(**parameters)
    with pytest.raises(ValueError, match=message):
        learner.fit(X, Y)
    assert not hasattr(learner, "components_")


BAD_DATA = [
    ((X[:1], Y[:1]), "minimum of 2 is required"),
    ((X[np.newaxis], Y), "dim 3"),
    ((np.where(X > 1, None, X.astype(object)), Y), "NaN|None"),
    (([[0.0] * (1 + k % 2) for k in range(12)], Y), "inhomogeneous|lengths|sequence"),
    ((X, 3), "y"),
    ((torch.full((12, 3), torch.nan), Y), "NaN"),
    ((torch.ones(12, 3, dtype=torch.complex64), Y), "real numbers"),
    ((torch.ones(12, 3, 1), Y), "2 dimensions"),
    ((torch.ones(1, 3), Y[:1]), "at least 2 rows"),
    ((torch.ones(12, 0), Y), "1 column"),
    ((np.ma.array(X, mask=X > 1.0), Y), "masked entries.*Fill"),
]


@pytest.mark.parametrize(("data", "message"), BAD_DATA, ids=[message for _, message in BAD_DATA])
def test_bad_data_are_refused_and_the_last_fit_stays(data, message):
    learner = SERAPH().fit(X, Y)
    before = dict(learner.__dict__)
    with pytest.raises(ValueError, match=message):
        learner.fit(*data)
    assert learner.__dict__ == before


@pytest.mark.parametrize("learner", [SERAPH(), classic.GMML(), MetricClassifier(SERAPH())])
def test_sparse_points_are_refused_with_what_to_do(learner):
    points = sparse.csr_array(X)
    with pytest.raises(TypeError, match=r"sparse matrix of shape \(12, 3\).*TruncatedSVD"):
        learner.fit(points, Y)
    make_pipeline(TruncatedSVD(2, random_state=0), learner).fit(points, Y)


# Doubtful input


def test_all_alike_warns_of_a_collapse():
    unknown = "rank 0.*Check whether a class means unknown"
    with pytest.warns(UserWarning, match=unknown), pytest.warns(match="similar.*collapse"):
        learner = SERAPH().fit(X, np.where(Y >= 0, 0, -1))
    assert learner.components_.shape == (0, 3)
    assert learner.transform(X).shape == (12, 0)
    np.testing.assert_array_equal(learner.pair_distance(X[None, :2]), [0.0])
    np.testing.assert_array_equal(learner.get_mahalanobis_matrix(), np.zeros((3, 3)))


@pytest.mark.parametrize(
    ("weights", "advice"),
    [
        ({"lam": 1e4}, "Either lam is .*Lower lam, add dissimilar"),
        ({"lam": 1e4, "manifold": 0.1}, "Either lam or manifold is .*Lower lam or manifold, add"),
    ],
    ids=str,
)
def test_a_large_weight_gives_rank_zero_and_is_blamed(weights, advice):
    with pytest.warns(UserWarning, match=f"rank 0.*{advice}"):
        learner = SERAPH(**weights).fit(X, Y)
    assert learner.components_.shape == (0, 3)
    assert learner.converged_


@pytest.mark.parametrize("solver", ["auto", "low-rank", "spg"])
def test_lam_zero_with_a_converging_solver_warns_once(solver):
    with pytest.warns(ConvergenceWarning, match="With lam=0 the objective may have no") as record:
        SERAPH(lam=0, solver=solver, max_iter=30).fit(X, Y)
    assert len(record) == 1


def test_features_of_very_different_scales_give_a_warning():
    wide = X / X.std(axis=0) * [1.0, 2.0, 25.0]
    column = r"range from 1 \(column 0\) to 25 \(column 2\).*StandardScaler.*Normalizer"
    for solver in ("auto", "projected-gradient"):
        with pytest.warns(UserWarning, match=column):
            SERAPH(solver=solver, lam=1.0, max_iter=500, tol=0.1).fit(wide, Y)
    table = pd.DataFrame(wide, columns=["length", "depth", "mass"])
    with pytest.warns(UserWarning, match=r"from 1 \('length'\) to 25 \('mass'\)"):
        SERAPH().fit(table, Y)


@pytest.mark.filterwarnings("error")
def test_unit_rows_pixels_that_hardly_vary_and_principal_components_give_no_warning():
    outlier = np.hstack([X, 30.0 * X[:, :1], 1e-4 * X])  # a network's loud and quiet features
    with pytest.warns(UserWarning, match="Normalizer"):
        SERAPH().fit(outlier, Y)
    SERAPH().fit(normalize(outlier).astype("float32"), Y)
    pixels = np.hstack([X / X.std(axis=0)] * 2)
    pixels[:, 0] /= 500.0
    SERAPH().fit(pixels, Y)
    pixels[:, 0] = 0.05 + 1e-9 * pixels[:, 0]  # constant but for rounding, as in embeddings
    SERAPH().fit(pixels, Y)
    left = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)[0]
    SERAPH().fit(left * [1.0, 0.1, 1e-4], Y)


# Odd input

CASES = {
    "duplicated points": (np.repeat(X[:6], 2, axis=0), np.repeat([0, 1, 2, -1, -1, -1], 2)),
    "a constant feature": (np.c_[X, np.full(12, 3.0)], Y),
    "more features than points": (np.random.default_rng(1).normal(size=(12, 40)), Y),
    "one feature": (X[:, :1] + 5.0 * np.maximum(Y, 0)[:, None], Y),
    "huge numbers": (X * 1e150, Y),
    "tiny numbers": (X * 1e-150, Y),
    "far from the origin": (X + 1e6, Y),
    "whole numbers": (np.round(X * 10).astype(int), Y),
    "everything labeled": (X, np.arange(12) % 3),
    "a labeled row of each class": (X, np.r_[0, 1, 2, 2, np.full(8, -1)]),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize(
    "setting", few([{}, {"solver": "spg"}, {"solver": "em"}], {}.__eq__), ids=str
)
def test_odd_data_just_work(case, setting):
    points, labels = CASES[case]
    learner = SERAPH(**setting).fit(points, labels)
    assert np.all(np.isfinite(learner.components_))
    assert np.all(np.isfinite(learner.transform(points)))
    assert np.isfinite(learner.objective_)


@pytest.mark.parametrize(("n", "value"), [(12, 0.0), (12, 1e100), (1600, 3.0)])
def test_equal_points_have_the_zero_metric(n, value):
    y = np.where(np.arange(n) < 6, np.arange(n) % 2, -1)
    with pytest.warns(UserWarning, match="rank 0.*all points are equal"):
        learner = SERAPH().fit(np.full((n, 3), value), y)
    assert learner.components_.shape == (0, 3)


@pytest.mark.parametrize("similar", [True, False])
def test_two_points_are_enough(similar):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        learner = SERAPH().fit(X[:2], marks=Marks([[0, 1]], [similar], rows=2))
    assert any("pairs are" in str(w.message) for w in caught)
    assert (learner.pair_proba(X[None, :2])[0] > 0.5) == similar
