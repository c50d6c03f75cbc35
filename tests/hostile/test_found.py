"""What the generator has found, each as a test of its own."""

import numpy as np
import pandas as pd
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
from seraph.datasets import load_task
from seraph.metrics import map_at_r
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


def test_a_whole_number_beyond_all_floats_is_refused_in_words():
    X, y = [[1.0, 10**400], [2.0, 3.0], [0.0, 1.0]], [0, 0, 1]
    learner = Euclidean().fit(np.eye(2))
    model = SERAPH(mu=0.0).fit(np.eye(3)[:, :2], y)
    for act in (
        lambda: SERAPH().fit(X, y),
        lambda: Euclidean().fit(X),
        lambda: learner.transform(X),
        lambda: learner.pair_distance([X[:2]]),
        lambda: model.query_pairs(X, 1),
        lambda: map_at_r(X, y),
        lambda: PosteriorDisplay.from_estimator(model, X),
    ):
        with pytest.raises(ValueError, match="holds a whole number beyond the range"):
            act()


def test_a_mask_is_no_list_of_pairs_of_a_frame():
    frame = pd.DataFrame(np.arange(8.0).reshape(4, 2))
    mask = [[True, False], [False, True]]
    with pytest.raises(ValueError, match=r"pairs\[0\] names row True"):
        SERAPH().fit(frame, pairs=mask, pair_labels=[1, -1])
    flags = pd.DataFrame([[0.0], [1.0]], index=[True, False])
    assert SERAPH(mu=0.0).fit(flags, pairs=mask[:1], pair_labels=[-1]).n_dissimilar_ == 1


@pytest.mark.parametrize("name", [np.array([1.0, 2.0]), [], {}, 3, None])
def test_what_is_no_name_of_a_task_is_refused_in_words(name):
    with pytest.raises(ValueError, match="There is no task"):
        load_task(name)
