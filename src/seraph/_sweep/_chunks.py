"""Points in the chunks of a dask array or data frame, checked and summarized in one pass.

The points stay on the workers; only their number, mean and covariance come back. dask is
imported inside the functions, since only users who pass a dask collection have it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial, reduce
from importlib.util import find_spec
from typing import Any, Self
from uuid import uuid4

import numpy as np

from .._utils._typing import Array
from ._moments import Frame, Moments, center, compute_moments, merge_moments
from ._points import FLOATS, Coordinates, Points, digest, squared_norms, to_memory

# Number of results merged by one task, which a worker must hold in memory. They are merged in
# order, so that the sum does not depend on which worker finishes first.
_FAN_IN = 16

Graph = dict[Any, Any]


def as_array(X: Any) -> Any:
    """Turn a dask collection into a dask array of floats with whole rows in each chunk.

    Parameters
    ----------
    X : dask array or dask DataFrame
        Points; float16 becomes float32, any other type than that and float64 becomes float64.

    Returns
    -------
    dask array of shape (n, m)
        The lengths of its chunks may be unknown.
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
    if array.dtype in FLOATS:
        return array
    return array.astype(np.float32 if array.dtype == np.float16 else np.float64)


def compute(graph: Graph, key: Any) -> Any:
    """Compute a key of a graph on the user's cluster, or with threads if there is none."""
    from dask.base import get_scheduler
    from dask.threaded import get as get_by_threads

    with _allow_large_graphs():
        return (get_scheduler() or get_by_threads)(graph, key)


def persist(*arrays: Any) -> tuple[Any, ...]:
    """Compute dask arrays together and keep the results on the workers."""
    import dask.base

    with _allow_large_graphs():
        return dask.base.persist(*arrays)


@contextmanager
def _allow_large_graphs() -> Iterator[None]:
    """Silence dask's warning about large graphs.

    These graphs contain the arrays that the workers need, so that dask can send them again if a
    worker dies.
    """
    import dask

    if find_spec("distributed"):
        import distributed  # noqa: F401 (importing it later would reset the one setting below)
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 PiB"}):
        yield


def find_tasks(array: Any) -> tuple[Graph, list[Any]]:
    """Return the optimized graph of a dask array, and the keys of its chunks."""
    import dask.base

    keys = [(array.name, number, 0) for number in range(array.numblocks[0])]
    graph = dict(dask.base.optimize(array)[0].dask)
    for key in keys:  # the optimized graph leaves out persisted chunks
        if key not in graph:
            graph[key] = array.dask[key]
    return graph, keys


def add_tree(
    graph: Graph,
    keys: Sequence[Any],
    merge: Callable[[list[Any]], Any],
    name: str,
) -> Any:
    """Add tasks to a graph that merge the values of `keys` in order.

    Parameters
    ----------
    graph : dict
        The graph; tasks are added to it.
    keys : sequence of keys
        The values to merge; at least one.
    merge : callable
        Takes a list of values and returns one.
    name : str
        Name of the tasks.

    Returns
    -------
    key
        Key of the result.
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


def make_unique(name: str) -> str:
    """Make a task name unique by a suffix that the dashboard does not show."""
    return f"{name}-{uuid4().hex}"


@dataclass(frozen=True)
class ChunkedPoints(Points):
    """Points in chunks, with their moments.

    Parameters
    ----------
    array : dask array of shape (n, m)
        The points; the lengths of the chunks are known.
    frame : Frame
        Their mean, unit and covariance.

    Examples
    --------
    >>> import dask.array as da
    >>> points = ChunkedPoints.read(da.from_array([[1.0, 2.0], [3.0, 2.0]], chunks=(1, 2)))
    >>> len(points), points.std()
    (2, array([1., 0.]))
    """

    array: Any
    frame: Frame

    @classmethod
    def read(cls, X: Any) -> Self:
        """Read a dask array or data frame once, and check its numbers.

        Parameters
        ----------
        X : dask array or dask DataFrame
            Points.
        """
        array = as_array(X)
        graph, chunks = find_tasks(array)
        name = make_unique("seraph-moments")
        keys: list[Any] = [(name, number) for number in range(len(chunks))]
        graph.update(
            {key: (compute_moments, chunk) for key, chunk in zip(keys, chunks, strict=True)}
        )
        merge = partial(reduce, merge_moments)
        found: Moments = compute(graph, add_tree(graph, keys, merge, make_unique("seraph-merge")))
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
        return cls(_set_lengths(array, found.lengths), found.frame())

    def std(self) -> Array:
        """Compute the standard deviation of each feature."""
        return self.frame.std()

    def coordinates(self, *, rescale: bool = True) -> Coordinates:
        """Find the coordinates for the solvers; unless `rescale`, only center the points."""
        shift = self.frame.shift(self.dtype, rescale=rescale)
        array = map_chunks(self.array, "seraph-center", center, **shift)
        unit, covariance = self.frame.unit(rescale=rescale)
        return _ChunkedCoordinates(array, None, unit, covariance)

    def digest(self) -> str:
        """Summarize the points by their moments: the numbers may not fit in memory."""
        form = f"{self.shape} {self.dtype} {self.array.chunks}"
        return digest(form, *self.frame.parts)


@dataclass(frozen=True)
class _ChunkedCoordinates(Coordinates):
    """Coordinates of points that stay in chunks."""

    def squared_norms(self) -> Array:
        """Compute the squared norm of each point, in one pass over the chunks."""
        norms = map_chunks(
            self.array, "seraph-norms", squared_norms, chunks=self.array.chunks[:1], drop_axis=1
        )
        return to_memory(norms)

    def take(self, rows: Array) -> Array:
        """Return some of the points; only chunks that have them are read."""
        return take_rows(self.array, rows)

    def with_first(self, rows: Array) -> Any:
        """Return the points with some rows in a chunk of their own at the front.

        The others keep their order. Nothing is computed.
        """
        return move_to_front(self.array, rows)


def take_rows(array: Any, rows: Array) -> Array:
    """Bring some rows of a dask array into memory; only chunks that have them are read."""
    return to_memory(move_to_front(array, rows).blocks[0])


def move_to_front(array: Any, rows: Array) -> Any:
    """Return a dask array with some rows in a chunk of their own at the front.

    The others keep their order. Nothing is computed.
    """
    if len(rows) == 0:
        return array
    (lengths, _), ordered = array.chunks, np.sort(rows)
    edges = np.cumsum([0, *lengths])
    bounds = np.searchsorted(ordered, edges)
    name, taken = make_unique("seraph-order"), make_unique("seraph-rows")
    graph: Graph = {}
    pieces, rest = [], []
    for number, length in enumerate(lengths):
        here = ordered[bounds[number] : bounds[number + 1]] - edges[number]
        chunk: Any = (array.name, number, 0)
        if len(here):
            graph[taken, number] = (np.take, chunk, here, 0)
            pieces.append((taken, number))
            chunk = (np.delete, chunk, here, 0)
        graph[name, number + 1, 0] = chunk
        rest.append(length - len(here))
    graph[name, 0, 0] = (_reorder, pieces, np.searchsorted(ordered, rows))
    return make_array(name, graph, [array], ((len(rows), *rest), array.chunks[1]), array.dtype)


def map_rows(X: Any, function: Callable[..., Array], width: int) -> Any:
    """Apply a function of rows to each chunk of a dask collection, when it is computed.

    Parameters
    ----------
    X : dask array or dask DataFrame of shape (n, m)
        Points.
    function : callable
        Turns rows into the same number of rows, of `width` columns.
    width : int
        Number of columns of the result.

    Returns
    -------
    dask array of shape (n, width)
    """
    array = as_array(X)
    return map_chunks(array, "seraph-transform", function, chunks=(array.chunks[0], (width,)))


def map_chunks(array: Any, name: str, function: Callable[..., Array], **options: Any) -> Any:
    """Apply a function of rows to each chunk of a dask array, when the result is computed.

    `options` are passed on to dask's ``map_blocks``, which passes others to the function.
    """
    # With a name, and an array like the result, dask neither hashes the arguments nor tries the
    # function on an empty array.
    like = np.empty((0, 0), dtype=array.dtype)
    return array.map_blocks(function, name=make_unique(name), meta=like, **options)


def make_array(
    name: str, graph: Graph, parents: list[Any], chunks: tuple[Any, ...], dtype: Any
) -> Any:
    """Make the dask array whose chunks are ``(name, number, 0)`` in a graph over `parents`."""
    import dask.array as da
    from dask.highlevelgraph import HighLevelGraph

    layers = HighLevelGraph.from_collections(name, graph, dependencies=parents)
    return da.Array(layers, name, chunks, dtype=dtype)


def _reorder(pieces: list[Array], order: Array) -> Array:
    return np.concatenate(pieces)[order]


def _set_lengths(array: Any, lengths: tuple[int, ...]) -> Any:
    """Set the lengths of the chunks of a dask array."""
    import dask.array as da

    chunks = (lengths, array.chunks[1])
    return da.Array(array.dask, array.name, chunks, dtype=array.dtype)
