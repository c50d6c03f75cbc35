"""Points in chunks: a dask array or data frame, checked and summed up in one reading.

Nothing here brings the points to where the fit runs; what comes back are their number, their
mean and their covariance. dask is imported by those who were given a dask collection.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce
from importlib.util import find_spec
from typing import Any, NamedTuple, Self
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

# Results are merged so many at a time, in their order: the sum does not depend on who is first.
_FAN_IN = 16
_FLOATS = (np.dtype(np.float64), np.dtype(np.float32))

Graph = dict[Any, Any]


def is_chunked(X: Any) -> bool:
    """Whether `X` is a dask collection."""
    return type(X).__module__.partition(".")[0].startswith("dask")


def header(X: Any) -> Any:
    """What says as much as `X` of the features: a data frame's columns without its rows.

    Examples
    --------
    >>> header([[1.0, 2.0]])
    [[1.0, 2.0]]
    """
    if not (is_chunked(X) and hasattr(X, "columns")):
        return X
    import pandas

    return pandas.DataFrame(columns=X.columns)


def as_array(X: Any) -> Any:
    """A dask collection as a dask array of floats, whole rows to a chunk.

    Parameters
    ----------
    X : dask array or dask DataFrame
        Points; what is neither float64 nor float32 becomes float64.

    Returns
    -------
    dask array of shape (n, m)
        Its chunks may be of unknown length.
    """
    array = X.to_dask_array() if hasattr(X, "to_dask_array") else X
    if array.ndim != 2:
        raise ValueError(
            f"Expected a table of points, of 2 dimensions; got a dask collection of {array.ndim}."
        )
    if array.dtype.kind == "c":
        raise ValueError("Complex data not supported: the points must be real numbers.")
    if array.numblocks[1] > 1:
        array = array.rechunk({1: -1})
    return array if array.dtype in _FLOATS else array.astype(_FLOATS[0])


def compute(graph: Graph, key: Any) -> Any:
    """Value of a key of a graph, by the scheduler in force: the user's cluster, or threads."""
    from dask.base import get_scheduler
    from dask.threaded import get as get_by_threads

    with _large_graphs():
        return (get_scheduler() or get_by_threads)(graph, key)


def persist(*arrays: Any) -> tuple[Any, ...]:
    """The same dask arrays, computed at once and held where they were computed."""
    import dask

    with _large_graphs():
        return dask.persist(*arrays)


@contextmanager
def _large_graphs() -> Iterator[None]:
    """No word about the size of graphs.

    Arrays that have to reach the workers are in them, to be sent again if a worker dies.
    """
    import dask

    if find_spec("distributed"):
        import distributed  # noqa: F401 (all its settings go with the one, if they come later)
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 PiB"}):
        yield


def tasks(array: Any) -> tuple[Graph, list[Any]]:
    """The graph of a dask array of whole rows, few tasks a chunk; and the keys of the chunks."""
    import dask

    keys = [(array.name, number, 0) for number in range(array.numblocks[0])]
    graph = dict(dask.optimize(array)[0].dask)
    for key in keys:  # what a cluster holds already is no task of the optimised graph
        if key not in graph:
            graph[key] = array.dask[key]
    return graph, keys


def tree(
    graph: Graph,
    keys: Sequence[Any],
    merge: Callable[[list[Any]], Any],
    name: str,
) -> Any:
    """Add tasks to a graph that merge the values of `keys`, in their order.

    Parameters
    ----------
    graph : dict
        The graph; tasks are added to it.
    keys : sequence of keys
        What to merge, at least one.
    merge : callable
        Takes a list of values and returns one.
    name : str
        Name of the tasks.

    Returns
    -------
    key
        That of the result.
    """
    level, keys = 0, list(keys)
    while True:
        groups = [keys[start : start + _FAN_IN] for start in range(0, len(keys), _FAN_IN)]
        for number, group in enumerate(groups):
            graph[name, level, number] = (merge, group)
        keys = [(name, level, number) for number in range(len(groups))]
        level += 1
        if len(keys) == 1:
            return keys[0]


def unique(name: str) -> str:
    """A name that no other task has; a dashboard shows it without what makes it so."""
    return f"{name}-{uuid4().hex}"


@dataclass(frozen=True)
class ChunkedPoints:
    """Points in chunks, and what one reading of them told.

    Parameters
    ----------
    array : dask array of shape (n, m)
        The points; lengths of the chunks are known.
    size : float
        Largest magnitude, or 1 if all are zero.
    mean : ndarray of shape (m,)
        Mean of ``X / size``.
    covariance : ndarray of shape (m, m)
        Covariance of ``X / size``.

    Examples
    --------
    >>> import dask.array as da
    >>> points = ChunkedPoints.read(da.from_array([[1.0, 2.0], [3.0, 2.0]], chunks=(1, 2)))
    >>> len(points), points.std()
    (2, array([1., 0.]))
    """

    array: Any
    size: float
    mean: NDArray
    covariance: NDArray

    @classmethod
    def read(cls, X: Any) -> Self:
        """Read a dask array or data frame once, and refuse what cannot be learned from.

        Parameters
        ----------
        X : dask array or dask DataFrame
            Points.
        """
        array = as_array(X)
        graph, chunks = tasks(array)
        name = unique("seraph-moments")
        keys: list[Any] = [(name, number) for number in range(len(chunks))]
        graph.update({key: (_moments, chunk) for key, chunk in zip(keys, chunks, strict=True)})
        found: _Moments = compute(graph, tree(graph, keys, _merged, unique("seraph-merge")))
        n, m = sum(found.lengths), array.shape[1]
        if not np.isfinite(found.size):
            what = "NaN" if np.isnan(found.size) else "infinity"
            raise ValueError(
                f"Input X contains {what}: fill in or drop the rows with missing or infinite "
                "values first."
            )
        if n < 2 or m < 1:
            raise ValueError(
                f"Found a dask collection with {n} sample(s) and {m} feature(s), while a minimum "
                "of 2 samples and 1 feature is required."
            )
        return cls(
            _with_lengths(array, found.lengths),
            found.size or 1.0,
            found.mean,
            found.scatter / n,
        )

    @property
    def shape(self) -> tuple[int, int]:
        """Number of points, and of features."""
        return self.array.shape

    @property
    def dtype(self) -> np.dtype:
        """Type of the numbers."""
        return self.array.dtype

    def __len__(self) -> int:
        return self.shape[0]

    def std(self, axis: int = 0, dtype: Any = None) -> NDArray:
        """Standard deviation of each feature, as arrays have it."""
        return self.size * np.sqrt(np.diag(self.covariance))

    def scaled(self, unit: float) -> Any:
        """Centred points over ``size * unit``, as a dask array; nothing is computed."""
        kind = self.dtype.type
        mean = self.mean.astype(self.dtype)
        return each(self.array, "seraph-centre", _scaled, kind(self.size), mean, kind(unit))


def with_first(array: Any, first: NDArray) -> Any:
    """Some rows as a chunk of their own before all others, which stay where they are.

    Parameters
    ----------
    array : dask array of shape (n, m)
        Rows.
    first : ndarray of int of shape (k,)
        Row numbers, each once.

    Returns
    -------
    dask array of shape (n, m)
        Nothing is computed.
    """
    if len(first) == 0:
        return array
    (lengths, _), rows = array.chunks, np.sort(first)
    edges = np.cumsum([0, *lengths])
    bounds = np.searchsorted(rows, edges)
    name, taken = unique("seraph-order"), unique("seraph-rows")
    graph: Graph = {}
    pieces, rest = [], []
    for number, length in enumerate(lengths):
        here = rows[bounds[number] : bounds[number + 1]] - edges[number]
        chunk: Any = (array.name, number, 0)
        if len(here):
            graph[taken, number] = (np.take, chunk, here, 0)
            pieces.append((taken, number))
            chunk = (np.delete, chunk, here, 0)
        graph[name, number + 1, 0] = chunk
        rest.append(length - len(here))
    graph[name, 0, 0] = (_reordered, pieces, np.searchsorted(rows, first))
    return collection(name, graph, [array], ((len(first), *rest), array.chunks[1]), array.dtype)


def each(
    array: Any,
    name: str,
    function: Callable[..., NDArray],
    *arguments: Any,
    width: int | None = None,
) -> Any:
    """A function of rows applied to each chunk, when the result is computed.

    Parameters
    ----------
    array : dask array of shape (n, m)
        Rows, whole ones to a chunk.
    name : str
        Name of the tasks.
    function : callable
        Takes an array of rows and the further arguments, and returns as many rows.
    *arguments
        Further arguments.
    width : int, optional
        Number of columns that it returns, if not m.

    Returns
    -------
    dask array of shape (n, width)
    """
    name = unique(name)
    graph: Graph = {
        (name, number, 0): (function, (array.name, number, 0), *arguments)
        for number in range(array.numblocks[0])
    }
    columns = array.chunks[1] if width is None else (width,)
    return collection(name, graph, [array], (array.chunks[0], columns), array.dtype)


def collection(
    name: str, graph: Graph, parents: list[Any], chunks: tuple[Any, ...], dtype: Any
) -> Any:
    """The dask array whose chunks are ``(name, number, 0)`` in a graph over some `parents`."""
    import dask.array as da
    from dask.highlevelgraph import HighLevelGraph

    layers = HighLevelGraph.from_collections(name, graph, dependencies=parents)
    return da.Array(layers, name, chunks, dtype=dtype)


class _Moments(NamedTuple):
    """What some chunks have to tell: lengths; and the moments of their rows over `size`."""

    lengths: tuple[int, ...]
    size: float
    mean: NDArray
    scatter: NDArray


def _moments(chunk: Any) -> _Moments:
    points = np.asarray(chunk, dtype=np.float64)
    size = float(np.max(np.abs(points), initial=0.0))
    n, m = points.shape
    if n == 0 or not np.isfinite(size):
        return _Moments((n,), size, np.zeros(m), np.zeros((m, m)))
    points = points / (size or 1.0)
    mean = points.mean(axis=0)
    points -= mean
    return _Moments((n,), size, mean, points.T @ points)


def _merged(found: list[_Moments]) -> _Moments:
    return reduce(_merge, found)


def _merge(a: _Moments, b: _Moments) -> _Moments:
    """Moments of two sets of rows together, by the rule of Chan, Golub and LeVeque (1979)."""
    lengths, size = a.lengths + b.lengths, float(np.maximum(a.size, b.size))
    n_a, n_b = sum(a.lengths), sum(b.lengths)
    if n_a + n_b == 0 or size == 0.0 or not np.isfinite(size):
        return a._replace(lengths=lengths, size=size)
    of_a, of_b = a.size / size, b.size / size
    apart = of_b * b.mean - of_a * a.mean
    share = n_b / (n_a + n_b)
    scatter = of_a**2 * a.scatter + of_b**2 * b.scatter
    return _Moments(
        lengths,
        size,
        of_a * a.mean + share * apart,
        scatter + n_a * share * np.outer(apart, apart),
    )


def _scaled(chunk: NDArray, size: Any, mean: NDArray, unit: Any) -> NDArray:
    points = chunk / size
    points -= mean
    points /= unit
    return points


def _reordered(pieces: list[NDArray], order: NDArray) -> NDArray:
    return np.concatenate(pieces)[order]


def _with_lengths(array: Any, lengths: tuple[int, ...]) -> Any:
    """The same dask array, lengths of its chunks known."""
    import dask.array as da

    chunks = (lengths, array.chunks[1])
    return da.Array(array.dask, array.name, chunks, dtype=array.dtype)
