import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from seraph._sweep import NumpySweep, PairTerms, PointsInMemory, choose_backend, sample_points
from seraph._sweep._moments import compute_moments
from seraph._sweep._tiles import Margins
from seraph._sweep._torch import TorchArithmetic, TorchSweep, _compute_scatter, compute_moments_on

from seraph import SERAPH


def test_a_tensor_is_fitted_on_its_device(digits):
    X, y_partial, _ = digits
    array, tensor = SERAPH().fit(X, y_partial), SERAPH().fit(torch.tensor(X), y_partial)
    assert (tensor.backend_, tensor.device_) == ("torch", "cpu")
    np.testing.assert_allclose(
        tensor.get_mahalanobis_matrix(), array.get_mahalanobis_matrix(), rtol=1e-6, atol=1e-9
    )


def test_a_tensor_is_mapped_to_a_tensor(digits):
    X, y_partial, _ = digits
    learner = SERAPH().fit(X, y_partial)
    for dtype in (torch.float32, torch.float64):
        mapped = learner.transform(torch.tensor(X, dtype=dtype))
        assert mapped.dtype == dtype
        np.testing.assert_allclose(mapped.numpy(), learner.transform(X), atol=1e-5)
    with pytest.raises(ValueError, match="features"):
        learner.transform(torch.zeros((3, 5)))


def test_a_tensor_with_gradients_is_only_read(digits):
    X, y_partial, _ = digits
    points = torch.tensor(X, requires_grad=True)
    SERAPH().fit(points, y_partial)
    np.testing.assert_array_equal(points.detach().numpy(), X)


@pytest.mark.parametrize("rank", [0, 1, 3])
def test_a_factor_may_have_negative_strides(rng, rank):
    X, P = rng.normal(size=(20, 4)), rng.normal(size=(rank, 4))[::-1]
    terms = PairTerms(np.array([0, 1, 1]), mu=0.3)
    value, gradient = TorchSweep(X, "cpu")(P, terms, "metric")
    expected_value, expected = NumpySweep(X)(P, terms, "metric")
    assert value == pytest.approx(expected_value, rel=1e-12)
    np.testing.assert_allclose(gradient, expected, atol=1e-11)


def test_tiles_are_halved_until_they_fit(rng, monkeypatch):
    X = rng.normal(size=(1500, 4))
    terms, P = PairTerms(np.array([0, 1, 1]), mu=0.3), rng.normal(size=(2, 4))
    expected_value, expected = NumpySweep(X)(P, terms, "factor")
    real = Margins.tile

    def with_little_memory(self, rows, columns, out):
        if rows.stop - rows.start > 300:
            raise torch.OutOfMemoryError("no room")
        return real(self, rows, columns, out)

    monkeypatch.setattr(Margins, "tile", with_little_memory)
    sweep = TorchSweep(X, "cpu", tile=1024)
    value, gradient = sweep(P, terms, "factor")
    assert sweep.tile == 256
    assert value == pytest.approx(expected_value, rel=1e-12)
    np.testing.assert_allclose(gradient, expected, rtol=1e-10, atol=1e-11)


def test_an_error_is_raised_if_the_smallest_tiles_do_not_fit(monkeypatch):
    def without_memory(self, rows, columns, out):
        raise torch.OutOfMemoryError("no room")

    monkeypatch.setattr(Margins, "tile", without_memory)
    with pytest.raises(torch.OutOfMemoryError):
        TorchSweep(np.eye(3), "cpu")(np.eye(3), PairTerms(np.array([0, 1])), "factor")


@pytest.fixture
def medium_precision():
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("medium")
    yield
    torch.set_float32_matmul_precision(before)


def test_sweeps_at_once_run_at_full_precision_and_restore_the_users(
    rng, monkeypatch, medium_precision
):
    seen = []
    real = TorchArithmetic.cross_entropy

    def watched(*arguments):
        time.sleep(0.001)  # lets the sweeps overlap
        seen.append(torch.get_float32_matmul_precision())
        return real(*arguments)

    monkeypatch.setattr(TorchArithmetic, "cross_entropy", watched)
    X = rng.normal(size=(9, 2)).astype(np.float32)

    def sweep(_):
        for _ in range(5):
            TorchSweep(X, "cpu")(np.eye(2), PairTerms(np.array([0, 1])), "factor")

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(sweep, range(8)))
    assert set(seen) == {"highest"}
    assert torch.get_float32_matmul_precision() == "medium"


def test_a_device_is_a_backend_and_one_that_is_not_there_is_refused(digits):
    X, y_partial, _ = digits
    with pytest.raises(ValueError, match="backend='cuda:99' is not a device that torch has"):
        SERAPH(backend="cuda:99").fit(X, y_partial)


def test_cpu_is_the_fastest_backend_without_a_device_even_if_there_is_one(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert choose_backend(None, 20_000, "auto") == ("torch", "cuda")
    assert choose_backend(None, 20_000, "cpu") == ("numba", None)
    assert choose_backend(torch.ones(2, 2), 2, "cpu") == ("numpy", None)


@pytest.mark.parametrize(
    ("n", "installed", "expected"),
    [
        (500, ("numba",), "numpy"),
        (5000, ("numba",), "numba"),
        (5000, (), "numpy"),
        (50_000, ("numba",), "numba"),
    ],
)
def test_auto_depends_on_the_size_and_on_the_installed_packages(
    monkeypatch, n, installed, expected
):
    monkeypatch.setattr(
        "seraph._sweep._choose.find_spec", lambda name: name if name in installed else None
    )
    assert choose_backend(None, n, "auto") == (expected, None)


def test_auto_uses_a_gpu_for_many_points(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert choose_backend(None, 9_999, "auto")[0] != "torch"
    assert choose_backend(None, 10_000, "auto") == ("torch", "cuda")


@pytest.mark.parametrize("name", ["numba", "torch", "dask"])
def test_a_missing_package_is_named_with_its_extra(digits, monkeypatch, name):
    X, y_partial, _ = digits
    monkeypatch.setattr("seraph._sweep._choose.find_spec", lambda name: None)
    with pytest.raises(ImportError, match=rf"pip install .seraph-learn\[{name}\]"):
        SERAPH(backend=name).fit(X, y_partial)


def test_the_scatter_of_a_device_is_that_of_numpy(rng):
    X = rng.normal(size=(50, 4)).astype(np.float32)
    wide = X.astype(np.float64)
    np.testing.assert_allclose(_compute_scatter(torch.tensor(X)), wide.T @ wide, rtol=1e-12)
    assert TorchSweep(X, "cpu").scatter() is None  # numpy is as fast there


@pytest.mark.parametrize("far", [0.0, 1e6])
@pytest.mark.parametrize("size", [1e-150, 1.0, 1e150])
def test_a_device_finds_the_moments_that_numpy_finds(rng, far, size):
    X = size * (rng.normal(size=(9000, 3)) + far)
    found, expected = compute_moments_on(X, "cpu"), compute_moments(X)
    assert found.lengths == expected.lengths
    assert found.size == expected.size
    np.testing.assert_allclose(found.mean, expected.mean, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(found.scatter, expected.scatter, rtol=1e-6 if far else 1e-10)


def test_a_device_finds_that_zeros_have_no_moments():
    found = compute_moments_on(np.zeros((5, 2), dtype=np.float32), "cpu")
    assert found.size == 0.0
    assert not found.scatter.any()


@pytest.mark.parametrize("size", [1e-150, 1.0, 1e150])
def test_a_device_finds_the_standard_deviations_that_numpy_finds(rng, size):
    X = size * (rng.normal(size=(3000, 4)) * [1.0, 100.0, 1e-3, 0.0] + [0.0, 7.0, 1.0, 5.0])
    found = PointsInMemory(X, gpu="cpu").std()  # (any device of torch has the same code)
    np.testing.assert_allclose(found, PointsInMemory(X).std(), rtol=1e-9, atol=1e-13 * size)


def test_a_sample_has_the_frame_of_all_points_wherever_that_is_computed(rng):
    X, rows = rng.normal(size=(500, 3)), np.arange(0, 500, 9)
    found, expected = (
        sample_points(PointsInMemory(X, gpu), rows).coordinates() for gpu in ("cpu", None)
    )
    assert found.unit == pytest.approx(expected.unit, rel=1e-12)
    np.testing.assert_allclose(found.array, expected.array, atol=1e-12)
    np.testing.assert_allclose(found.covariance, expected.covariance, atol=1e-12)
