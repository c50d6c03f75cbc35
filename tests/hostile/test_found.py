"""What the generator has found, each as a test of its own."""

import numpy as np
import pytest

from seraph import (
    SERAPH,
    DistanceDisplay,
    FeatureImportanceDisplay,
    PosteriorDisplay,
    load,
    save,
    to_onnx,
)
from seraph.classic import Euclidean
from seraph.persist import read_versions
from tests.hostile.dense import Dense, signs_of


@pytest.mark.parametrize("offset", [0.0, 1e3, 1e8, 1e11])
def test_points_far_from_the_origin_lose_no_digit(rng, offset):
    # Of numbers that are exact with and without the offset.
    X = offset + rng.integers(-500, 500, size=(20, 3)) / 2.0**6
    y = np.where(np.arange(20) < 10, np.arange(20) % 2, -1)
    learner = SERAPH(shrinkage=0).fit(X, y)
    dense = Dense(
        X - offset, learner.components_, signs_of(y), eta=1.0, mu=learner.mu_, lam=learner.lam_
    )
    assert learner.objective_ == pytest.approx(dense.value, rel=1e-12)
    near = SERAPH().fit(X - offset, y)
    assert learner.objective_ == pytest.approx(near.objective_, rel=1e-9)


@pytest.mark.parametrize(
    "path", [None, 3, True, [], b"m.skops", "a\0b", np.datetime64("NaT", "D")]
)
def test_what_is_no_path_is_refused_in_words(path):
    for act in (load, read_versions, lambda path: save(SERAPH(), path)):
        with pytest.raises(ValueError, match="path must be the name of a file"):
            act(path)
    if path is not None:
        X, y = np.eye(4), [0, 0, 1, -1]
        with pytest.raises(ValueError, match="checkpoint must be the path of a file"):
            SERAPH(checkpoint=path).fit(X, y)


def test_the_zero_metric_of_equal_points_is_blamed_on_the_points():
    with pytest.warns(UserWarning, match="all points are equal") as seen:
        SERAPH(lam=1.0).fit(np.ones((6, 2)), [0, 0, 1, 1, -1, -1])
    assert "give features that vary" in " ".join(str(warning.message) for warning in seen)


@pytest.mark.parametrize("dtype", [10**400, "word", {"a": 1}, [], "int8"])
def test_a_type_that_is_none_is_refused_in_words(dtype):
    model = Euclidean().fit(np.eye(3))
    with pytest.raises(ValueError, match="dtype must be float32 or float64; got"):
        to_onnx(model, dtype=dtype)
    with pytest.raises(ValueError, match="target_opset must be a whole number or None; got"):
        to_onnx(model, target_opset=dtype if not isinstance(dtype, int) else 1.5)


@pytest.mark.parametrize(
    ("Display", "name"),
    [
        (DistanceDisplay, "max_points"),
        (PosteriorDisplay, "max_pairs"),
        (FeatureImportanceDisplay, "max_features"),
    ],
)
def test_a_number_of_things_to_draw_is_checked(Display, name, wine):
    X, y_partial, _ = wine
    learner = SERAPH(mu=0.0).fit(X, y_partial)
    for value in (0, 2.5, "few", np.array([1.0, 2.0])):
        with pytest.raises(ValueError, match=f"{name} must be a finite whole number"):
            Display.from_estimator(learner, X, y_partial, **{name: value})
    if Display is FeatureImportanceDisplay:
        with pytest.raises(ValueError, match="feature_names must be a list of names"):
            Display.from_estimator(learner, X, feature_names=2.5)
