"""Where the points are: numpy, numba, torch and dask find one metric."""

import dask.array as da
import numpy as np
import pytest
import torch

from seraph import SERAPH, Marks
from seraph._pairs import _blocks
from tests.helpers.quick import few

PLACES = {
    "numba": np.asarray,
    "torch": torch.as_tensor,
    "dask": lambda X: da.from_array(X, chunks=(len(X) // 7 + 1, 3)),
}


def table(n, m=5, n_labels=40):
    """Four classes, sorted by class, with a few labels."""
    rng = np.random.default_rng(0)
    classes = np.sort(rng.integers(4, size=n))
    X = 1.5 * rng.normal(size=(4, m))[classes] + rng.normal(size=(n, m)) + 3.0
    y = np.full(n, -1)
    known = np.linspace(0, n - 1, n_labels).astype(int)
    y[known] = classes[known]
    return X, y


def assert_same_metric(learner, expected, close=1e-10):
    assert learner.objective_ == pytest.approx(expected.objective_, rel=close)
    A, B = (one.get_mahalanobis_matrix() for one in (expected, learner))
    np.testing.assert_allclose(B, A, rtol=0, atol=close * np.abs(A).max())
    assert learner.components_.dtype == expected.components_.dtype


@pytest.mark.parametrize(
    ("n", "n_labels"),
    few(
        [(500, 40), (1_999, 40), (6_000, 40), (30_000, 40), (3_500, 3_200)],
        ((500, 40), (6_000, 40)).__contains__,
    ),
)
def test_the_metric_does_not_depend_on_the_place(n, n_labels, monkeypatch):
    X, y = table(n, n_labels=n_labels)
    monkeypatch.setattr(_blocks, "_COMPILED_PAIRS", np.inf)
    expected = SERAPH().fit(X, y)
    assert expected.converged_
    for place, convert in PLACES.items():
        monkeypatch.setattr(_blocks, "_COMPILED_PAIRS", 0 if place == "numba" else np.inf)
        learner = SERAPH().fit(convert(X), y)
        assert_same_metric(learner, expected)
        assert learner.n_iter_ == expected.n_iter_


SETTINGS = [
    {},
    {"solver": "em"},
    {"gamma": 0.5},
    {"solver": "spg"},
    {"solver": "projected-gradient", "max_iter": 20},
    {"n_components": 1},
    {"manifold": 0.01},
    {"unlabeled_pairs": 5},
]


@pytest.mark.parametrize("setting", few(SETTINGS, {"solver": "em"}.__ne__), ids=str)
@pytest.mark.parametrize("m", few([3, 70], (3).__eq__))
@pytest.mark.filterwarnings("ignore:SERAPH has not converged")
def test_tensors_give_the_metric_of_arrays_for_every_model(setting, m):
    X, y = table(60, m, n_labels=15)
    marks = Marks(
        [[1, 2], [3, 50], [7, 9]], [1, 0.2, 0], weights=[1, 2, 0.5],
        triplets=[[5, 6, 40], [11, 12, 55]], rows=60,
    )  # fmt: skip
    expected = SERAPH(**setting).fit(X, y, marks=marks)
    learner = SERAPH(**setting).fit(torch.as_tensor(X), y, marks=marks)
    assert_same_metric(learner, expected, close=1e-7)
    assert learner.kappa_ == pytest.approx(expected.kappa_, rel=1e-7)


def test_a_tensor_is_mapped_to_a_tensor_of_its_type():
    X, y = table(80)
    learner = SERAPH().fit(X, y)
    for dtype in (torch.float32, torch.float64, torch.int64):
        points = torch.as_tensor(X).to(dtype)
        mapped = learner.transform(points)
        assert mapped.dtype == (torch.float64 if dtype == torch.int64 else dtype)
        np.testing.assert_allclose(mapped, learner.transform(points.numpy()), rtol=1e-4, atol=1e-4)
    with pytest.raises(ValueError, match="features"):
        learner.transform(torch.zeros((3, 3)))
