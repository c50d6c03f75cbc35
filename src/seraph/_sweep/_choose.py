"""Choose the backend by the parameters of the user and the type of the points; make its sweep."""

from __future__ import annotations

import re
from contextlib import AbstractContextManager, nullcontext
from importlib.util import find_spec
from typing import Any

import numpy as np

from .._utils._typing import Array
from .._utils._validation import check_choice, shown
from ._numpy import COMPILED_FROM, NumbaSweep, NumpySweep
from ._points import is_chunked, is_tensor
from ._terms import Sweep

# The backends, which sum over the pairs.
BACKENDS = ("numpy", "numba", "torch", "dask")
# Values of the parameter `backend`, beside "cuda:1" and the like.
_CHOICES = ("auto", "cpu", *BACKENDS, "cuda", "mps")
_DEVICE = re.compile(r"(cuda|mps)(:\d+)?")
# A GPU pays off from this number of points on (`python -m benchmarks.gpu`).
_GPU_FROM = 10_000


def check_backend(backend: Any) -> None:
    """Refuse a parameter `backend` that is neither a backend nor a device."""
    if not (isinstance(backend, str) and _DEVICE.fullmatch(backend)):
        check_choice("backend", backend, _CHOICES)


def choose_backend(X: Any, n: int, backend: str) -> tuple[str, str | None]:
    """Choose a backend, and the device that it computes on.

    `backend` is the backend or device that the user asked for. For "auto", the type of the user's
    `n` points `X` decides: a tensor, a dask collection, or another.
    """
    if _DEVICE.fullmatch(backend):
        return "torch", _check_device(backend)
    if is_tensor(X) and backend in ("auto", "torch"):
        return "torch", _check_device(str(X.device))
    if backend == "torch":
        return "torch", "cuda" if _has_gpu() else "cpu"
    if backend not in ("auto", "cpu"):
        return backend, None
    if backend == "auto" and is_chunked(X):
        return "dask", None
    if backend == "auto" and n >= _GPU_FROM and _has_gpu():
        return "torch", "cuda"
    return ("numba" if n >= COMPILED_FROM and find_spec("numba") else "numpy"), None


def _check_device(device: str) -> str:
    """Refuse a device that this machine does not have."""
    _require("torch", "torch")
    import torch

    here = ["cpu", *(f"cuda:{number}" for number in range(torch.cuda.device_count()))]
    if torch.backends.mps.is_available():
        here.append("mps")
    # "cuda" alone is the current CUDA device.
    if any(device in (name, name.partition(":")[0]) for name in here):
        return device
    raise ValueError(
        f"backend={shown(device)} is not a device that torch has here: choose one of "
        f'{", ".join(map(repr, here))}, or "auto".'
    )


def _has_gpu() -> bool:
    if find_spec("torch") is None:
        return False
    import torch

    return bool(torch.cuda.is_available())


def make_sweep(
    X: Array, *, backend: str, device: str | None = None, n_jobs: int | None = None
) -> Sweep:
    """Make a sweep over the pairs of `X`, whose rows are in the order that `PairTerms` describes.

    `choose_backend` returns `backend` and `device`; `n_jobs` is for numpy and numba.
    """
    if backend == "torch":
        _require("torch", "torch")
        from ._torch import TorchSweep

        return TorchSweep(X, device or "cpu")
    if backend == "dask":
        _require("dask", "distributed")
        from ._dask import DaskSweep

        return DaskSweep(X)
    if len(X) < COMPILED_FROM:
        # With fewer points, single precision is hardly faster, and its rounding errors cost
        # iterations.
        X = X.astype(np.float64, copy=False)
    if backend == "numba":
        _require("numba", "numba")
        return NumbaSweep(X, n_jobs)
    return NumpySweep(X, n_jobs)


def workers(backend: str, n_jobs: int | None = None) -> AbstractContextManager[None]:
    """Start the workers that the backend needs during a fit: for dask, a cluster.

    It has `n_jobs` threads, or as many as there are cores, unless the user has started one.
    """
    if backend != "dask":
        return nullcontext()
    _require("dask", "distributed")
    from ._dask import cluster

    return cluster(n_jobs)


def _require(backend: str, package: str) -> None:
    if find_spec(package) is None:
        raise ImportError(
            f'backend="{backend}" needs {package}: pip install "seraph-learn[{backend}]".'
        )
