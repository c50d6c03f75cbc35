"""The learned map as a matrix: it gives the learned distances, whole or cut."""

import json
import struct

import numpy as np
import onnxruntime
import pandas as pd
import pytest
import safetensors
from scipy.spatial.distance import pdist
from sklearn.decomposition import PCA, KernelPCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MinMaxScaler,
    Normalizer,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)

from seraph import SERAPH, ForestSpace, MeanMetric, MetricClassifier, PairClassifier
from seraph.classic import Euclidean
from seraph.persist import export, to_matrix

RNG = np.random.default_rng(0)
Y = RNG.integers(3, size=60)
X = RNG.normal(size=(3, 6))[Y] + RNG.normal(size=(60, 6)) * np.geomspace(0.3, 3.0, 6) + 5.0
SOME = np.where(np.arange(60) < 20, Y, -1)


def unit(points):
    return points / np.linalg.norm(points, axis=1, keepdims=True)


@pytest.mark.parametrize(
    "prepare",
    [
        StandardScaler(),
        MinMaxScaler(),
        RobustScaler(),
        PCA(4, whiten=True),
        make_pipeline(StandardScaler(), PCA(3)),
        FunctionTransformer(),
    ],
    ids=lambda step: type(step).__name__,
)
def test_distances_after_the_matrix_are_the_learned_ones(prepare):
    model = make_pipeline(prepare, SERAPH()).fit(X, SOME)
    W = to_matrix(model, dtype=np.float64)
    np.testing.assert_allclose(pdist(X @ W), pdist(model.transform(X)), rtol=1e-9)


def test_a_classifier_gives_the_map_of_its_learner():
    learner = make_pipeline(StandardScaler(), SERAPH())
    for model in (MetricClassifier(learner), PairClassifier(learner, cv=2)):
        model.fit(X, SOME)
        np.testing.assert_array_equal(to_matrix(model), to_matrix(model.estimator_))


@pytest.mark.parametrize("unit_length", [False, True])
def test_a_cut_matrix_loses_as_little_of_the_squared_distances_as_any(unit_length):
    model = MeanMetric().fit(X, SOME)
    points = X
    if unit_length:
        model, points = make_pipeline(Normalizer(), MeanMetric()).fit(X, SOME), unit(X)
    Z = points @ to_matrix(model, dtype=np.float64)
    values = np.linalg.eigvalsh(np.cov(Z.T, bias=True))[::-1]
    for k in (1, 3, 6):
        W = to_matrix(model, n_components=k, X=X, dtype=np.float64)
        assert W.shape == (6, k)
        kept = np.sum(pdist(points @ W) ** 2)
        np.testing.assert_allclose(kept, len(X) ** 2 * values[:k].sum(), rtol=1e-9)
        random = np.linalg.qr(RNG.normal(size=(6, k)))[0]
        assert kept >= np.sum(pdist(Z @ random) ** 2) * (1 - 1e-9)
    np.testing.assert_allclose(pdist(points @ W), pdist(Z), rtol=1e-9)
    assert to_matrix(model, n_components=1, X=X[:2]).shape == (6, 1)  # the fewest that differ


def test_what_is_no_linear_map_is_refused():
    for words, *steps in (
        ("PowerTransformer is not a linear map", PowerTransformer(), Euclidean()),
        ("QuantileTransformer is not a", QuantileTransformer(n_quantiles=20), Euclidean()),
        ("KernelPCA is not a linear map", KernelPCA(kernel="rbf"), SERAPH()),
        ("Normalizer is not a linear map", StandardScaler(), Normalizer(), SERAPH()),
        ("does not give vectors of unit length", Normalizer(norm="max"), SERAPH()),
        ("contains no learned metric", PCA(2)),
        ("ForestSpace is not a linear map", ForestSpace(Euclidean())),
    ):
        with pytest.raises(ValueError, match=words):
            to_matrix(make_pipeline(*steps).fit(X, SOME))


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"n_components": 2}, "n_components needs X"),
        ({"n_components": 7, "X": X}, "at least 1 and of at most 6"),
        ({"n_components": 0, "X": X}, "at least 1 and of at most 6"),
        ({"n_components": 2, "X": X[:1]}, "minimum of 2 is required"),
        ({"n_components": 2, "X": X[:, :5]}, "X has 5 features, but .* expecting 6"),
        ({"n_components": 2, "X": np.full_like(X, np.nan)}, "contains NaN"),
    ],
)
def test_bad_arguments_are_refused(settings, reason):
    with pytest.raises(ValueError, match=reason):
        to_matrix(MeanMetric().fit(X, SOME), **settings)


def test_a_frame_with_other_columns_is_refused():
    frame = pd.DataFrame(X, columns=list("abcdef"))
    for model in (SERAPH(), make_pipeline(StandardScaler(), SERAPH())):
        model.fit(frame, SOME)
        assert to_matrix(model, n_components=2, X=frame).shape == (6, 2)
        with pytest.raises(ValueError, match="feature names should match"):
            to_matrix(model, n_components=2, X=frame[list("fedcba")])


@pytest.mark.parametrize("n_components", [None, 2])
@pytest.mark.parametrize("unit_length", [False, True])
def test_every_kind_of_file_holds_the_same_map(n_components, unit_length, tmp_path):
    model = SERAPH().fit(X, SOME)
    points = X.astype(np.float32)
    if unit_length:
        model = make_pipeline(Normalizer(), SERAPH()).fit(X, SOME)
    cut = {} if n_components is None else {"n_components": n_components, "X": X}
    W = to_matrix(model, **cut)
    expected = pdist((unit(points) if unit_length else points) @ W)

    path = export(model, tmp_path / "W.npy", **cut)
    np.testing.assert_array_equal(np.load(path), W)

    path = export(model, str(tmp_path / "W.safetensors"), **cut)
    with safetensors.safe_open(path, "numpy") as file:
        np.testing.assert_array_equal(file.get_tensor("W"), W)
        assert file.metadata()["unit_length"] == str(unit_length).lower()
    length = struct.unpack("<Q", path.read_bytes()[:8])[0]
    assert json.loads(path.read_bytes()[8 : 8 + length])["W"]["shape"] == list(W.shape)

    if n_components is not None:
        with pytest.raises(ValueError, match="cuts a matrix, not a graph"):
            export(model, tmp_path / "W.onnx", **cut)
        return
    path = export(model, tmp_path / "W.onnx", X=X)
    session = onnxruntime.InferenceSession(str(path))
    np.testing.assert_allclose(pdist(session.run(None, {"X": points})[0]), expected, rtol=1e-4)


def test_a_file_that_cannot_be_written_is_refused_and_nothing_is_left(tmp_path):
    model = SERAPH().fit(X, SOME)
    with pytest.raises(ValueError, match=r"must end in \.npy, \.safetensors or \.onnx"):
        export(model, tmp_path / "W.pt")
    with pytest.raises(ValueError, match="A graph needs X: rows on which it is compared"):
        export(model, tmp_path / "W.onnx")
    with pytest.raises(ValueError, match="is not a linear map"):
        export(make_pipeline(KernelPCA(kernel="rbf"), SERAPH()).fit(X, SOME), tmp_path / "W.npy")
    assert not list(tmp_path.iterdir())
