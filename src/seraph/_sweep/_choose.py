"""Choose the backend by the parameters of the user and the type of the points; make its sweep."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from importlib.util import find_spec
from typing import Any, Literal, get_args

import numpy as np

from .._utils._typing import Array
from .._utils._validation import shown
from ._numpy import COMPILED_FROM, NumbaSweep, NumpySweep
from ._points import is_chunked, is_tensor
from ._terms import Sweep

Backend = Literal["auto", "numpy", "numba", "torch", "dask"]
BACKENDS: tuple[str, ...] = get_args(Backend)
# A GPU pays off from this number of points on (`python -m benchmarks.gpu`).
_GPU_FROM = 10_000


def choose_backend(
    X: Any, n: int, backend: Backend, device: Any = None
) -> tuple[Backend, str | None]:
    """Choose a backend, and the device that it computes on.

    Parameters
    ----------
    X : array-like
        Points as the user passed them. A tensor or a dask collection decides for "auto".
    n : int
        Number of points.
    backend : {"auto", "numpy", "numba", "torch", "dask"}
        Backend that the user asked for.
    device : str or torch.device, optional
        Device for torch.

    Returns
    -------
    backend : {"numpy", "numba", "torch", "dask"}
    device : str or None
    """
    if is_tensor(X) and device is None and backend in ("auto", "torch"):
        device = X.device
    if device is not None:
        if backend not in ("auto", "torch"):
            raise ValueError(
                f'device={shown(device)} is for backend="torch", but backend={backend!r}: leave '
                "one of the two out."
            )
        return "torch", _checked_device(device)
    if backend == "torch":
        return "torch", "cuda" if _has_gpu() else "cpu"
    if backend != "auto":
        return backend, None
    if is_chunked(X):
        return "dask", None
    if n >= _GPU_FROM and _has_gpu():
        return "torch", "cuda"
    return ("numba" if n >= COMPILED_FROM and find_spec("numba") else "numpy"), None


def _checked_device(device: Any) -> str:
    """Refuse a device that torch does not know or that this machine does not have."""
    _require("torch", "torch")
    import torch

    here = ["cpu", *(f"cuda:{number}" for number in range(torch.cuda.device_count()))]
    if torch.backends.mps.is_available():
        here.append("mps")
    try:
        found = torch.device(device)
    except (RuntimeError, TypeError, ValueError):
        found = None
    # "cuda" alone is the current CUDA device.
    if found is not None and any(str(found) in (name, name.partition(":")[0]) for name in here):
        return str(found)
    raise ValueError(
        f"device={shown(device)} is not a device that torch has here: choose one of "
        f"{', '.join(map(repr, here))}, or leave it out."
    )


def _has_gpu() -> bool:
    if find_spec("torch") is None:
        return False
    import torch

    return bool(torch.cuda.is_available())


def make_sweep(
    X: Array, *, backend: Backend, device: str | None = None, n_jobs: int | None = None
) -> Sweep:
    """Make a sweep over the pairs of `X`.

    Parameters
    ----------
    X : ndarray of shape (n, m)
        Points, in the order that `PairTerms` describes.
    backend : {"numpy", "numba", "torch", "dask"}
        Backend, as `choose_backend` returns it.
    device : str, optional
        Device for torch.
    n_jobs : int, optional
        Number of threads, for numpy and numba.

    Returns
    -------
    Sweep
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


def workers(backend: Backend, n_jobs: int | None = None) -> AbstractContextManager[None]:
    """Start what the backend needs during a fit: for dask, a cluster.

    Parameters
    ----------
    backend : {"numpy", "numba", "torch", "dask"}
        Backend, as `choose_backend` returns it.
    n_jobs : int, optional
        Number of threads of the cluster, if the user has not started one. None is all cores.
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
