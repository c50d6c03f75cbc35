"""Which backend sweeps: the one asked for, or the one that suits the points."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from importlib.util import find_spec
from typing import Any, Literal

from numpy.typing import NDArray

from ._terms import Sweep
from ._tiles import NumbaSweep, NumpySweep

Backend = Literal["auto", "numpy", "numba", "torch", "dask"]
BACKENDS = ("auto", "numpy", "numba", "torch", "dask")
# From so many points on, loading compiled code pays.
_SOME = 1000
# From so many points on, so does a GPU.
_MANY = 10_000


def choose_backend(
    X: Any, n: int, backend: Backend, device: Any = None
) -> tuple[Backend, str | None]:
    """Settle on a backend, and on a device for it.

    Parameters
    ----------
    X : array-like
        What the user has: a tensor or a dask collection says where to compute.
    n : int
        Number of points.
    backend : {"auto", "numpy", "numba", "torch", "dask"}
        What was asked for.
    device : str or torch.device, optional
        Where torch is to compute.

    Returns
    -------
    backend : {"numpy", "numba", "torch", "dask"}
    device : str or None
    """
    library = type(X).__module__.partition(".")[0]
    if library == "torch" and device is None and backend in ("auto", "torch"):
        device = X.device
    if device is not None:
        if backend not in ("auto", "torch"):
            raise ValueError(
                f'device={device!r} is for backend="torch", and backend={backend!r}: leave one '
                "of the two out."
            )
        return "torch", str(device)
    if backend == "torch":
        return "torch", "cuda" if _has_gpu() else "cpu"
    if backend != "auto":
        return backend, None
    if library.startswith("dask"):
        return "dask", None
    if n >= _MANY and _has_gpu():
        return "torch", "cuda"
    return ("numba" if n >= _SOME and find_spec("numba") else "numpy"), None


def _has_gpu() -> bool:
    if find_spec("torch") is None:
        return False
    import torch

    return torch.cuda.is_available()


def make_sweep(
    X: NDArray, *, backend: Backend, device: str | None = None, n_jobs: int | None = None
) -> Sweep:
    """A sweep over the pairs of `X` by the backend that `choose_backend` settled on.

    Parameters
    ----------
    X : ndarray of shape (n, m)
        Points, ordered as `PairTerms` wants them.
    backend : {"numpy", "numba", "torch", "dask"}
        The backend.
    device : str, optional
        Where torch is to compute.
    n_jobs : int, optional
        Number of threads, for numpy and numba.

    Returns
    -------
    Sweep
    """
    if backend == "torch":
        _require("torch", "torch", "torch")
        from ._torch import TorchSweep

        return TorchSweep(X, device or "cpu")
    if backend == "dask":
        _require("distributed", "dask", "dask")
        from ._dask import DaskSweep

        return DaskSweep(X)
    if backend == "numba":
        _require("numba", "numba", "numba")
        return NumbaSweep(X, n_jobs)
    return NumpySweep(X, n_jobs)


def workers(backend: Backend, n_jobs: int | None = None) -> AbstractContextManager[None]:
    """What the backend needs for the time of a fit: for dask, a cluster.

    Parameters
    ----------
    backend : {"numpy", "numba", "torch", "dask"}
        The backend.
    n_jobs : int, optional
        Number of threads of a cluster of our own, where the user has none. None is all cores.
    """
    if backend != "dask":
        return nullcontext()
    _require("distributed", "dask", "dask")
    from ._dask import cluster

    return cluster(n_jobs)


def _require(package: str, name: str, extra: str) -> None:
    if find_spec(package) is None:
        raise ImportError(
            f'backend="{name}" needs {package}: pip install "seraph-learn[{extra}]".'
        )
