"""What the user has set for the process: numpy's errors, torch's default device and type."""

import inspect
import warnings

import numpy as np
import pytest
import torch
from seraph._sweep import BACKENDS

from seraph import SERAPH, KernelSERAPH, MahalanobisMetric, Marks, classic, metrics

RNG = np.random.default_rng(0)
Y = np.where(np.arange(60) < 45, np.arange(60) % 3, -1)
X = RNG.normal(size=(60, 4)) + (np.arange(60) % 3)[:, None]
CLASSIC = [
    getattr(classic, name)()
    for name in sorted(classic.__all__)
    if inspect.isclass(getattr(classic, name))
]


@pytest.mark.parametrize("learner", [SERAPH(), KernelSERAPH(), *CLASSIC], ids=str)
def test_numbers_that_become_zero_are_no_error(learner):
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("ignore")
        learner.fit(X, Y).transform(X)


@pytest.mark.parametrize("backend", BACKENDS)
def test_terms_of_pairs_that_become_zero_are_no_error(backend):
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("ignore")
        SERAPH(backend=backend, max_iter=5).fit(30.0 * X, Y)


def test_neighbors_at_no_distance_are_no_error():
    twice = np.repeat(X, 2, axis=0)
    with np.errstate(all="raise"):
        assert 0.0 <= metrics.map_at_r(twice, np.repeat(Y, 2)) <= 1.0


def test_a_distance_is_finite_if_the_points_are():
    with np.errstate(all="raise"):
        distance = MahalanobisMetric(np.eye(2))([0.0, 0.0], [3e200, 4e200])
    assert distance == pytest.approx(5e200, rel=1e-12)


@pytest.mark.parametrize("device", ["cpu", "meta"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16])
def test_torch_computes_where_the_points_are_and_in_their_type(device, dtype):
    options = {"max_iter": 5, "tol": 1.0}
    options |= {"unlabeled_pairs": 0.5, "random_state": 0}
    marks = Marks([[50, 51]], [1], rows=X)
    points = torch.tensor(X)
    expected = SERAPH(**options).fit(points, Y, marks=marks)
    before = torch.get_default_dtype()
    try:
        torch.set_default_device(device)
        torch.set_default_dtype(dtype)
        found = SERAPH(**options).fit(points, Y, marks=marks)
    finally:
        torch.set_default_device(None)
        torch.set_default_dtype(before)
    np.testing.assert_array_equal(found.components_, expected.components_)
