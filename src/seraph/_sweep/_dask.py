"""Sweeps on a cluster: the points stay on the workers in parts, and sums come back.

A task sweeps the pairs of one part, or of two. It gets a factor ``P`` and a few numbers, and
returns a value and a gradient. The workers add these up in a fixed order, so that the result does
not depend on the scheduling.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import dask.array as da
import numpy as np
from dask.optimization import cull
from distributed import Client, LocalCluster, default_client, wait
from joblib import effective_n_jobs

from .._utils._typing import Array, computed_once
from . import _chunks as chunks
from . import _tasks
from ._lists import Listed, PairList
from ._plan import cut_rows
from ._points import is_chunked
from ._terms import ROUNDING, PairTerms, Sweep, Variable

# A part has at most this number of rows, so that a task takes some tenths of a second, and at
# most this number of bytes.
_MAX_ROWS, _MAX_BYTES = _tasks.ROWS, 1 << 25
# It has more rows if there would be more parts than this: each pair of parts is a task, and a
# scheduler handles 33 thousand tasks well.
_MAX_PARTS = 256
# Points that are not held are swept in strips, whose rows need at most this share of a worker's
# memory.
_STRIP_SHARE = 0.25
# Points are projected once for all tiles if rank times features exceeds this multiple of the rows
# of a part: then a tile would spend more time on its projections than on its pairs.
_WIDE = 2
# Number of tasks of a sweep of projections, enough for the cores of a few machines. Each returns
# an array with all rows, so that more tasks would move more data.
_N_GROUPS = 32
# Differences of pairs are persisted in shards of at most this number of bytes.
_SHARD_BYTES = 1 << 27
# The points of pairs are gathered in rounds, each of which needs this share of the free memory of
# all workers, and reads the points again.
_GATHERED_SHARE = 0.05


def _find_client() -> Client | None:
    try:
        client: Client = default_client()
    except ValueError:
        return None
    return client


def _free_memory() -> list[float]:
    """Return the free memory of each worker in bytes; infinity without a limit, or a cluster."""
    client = _find_client()
    return (client and client.run_on_scheduler(_free_memory_of)) or [np.inf]


def _free_memory_of(dask_scheduler: Any) -> list[float]:
    return [
        max(0.0, worker.memory_limit - worker.memory.process) if worker.memory_limit else np.inf
        for worker in dask_scheduler.workers.values()
    ]


@dataclass(frozen=True)
class Limits:
    """How finely points and pairs are cut, and how much memory there is for them.

    Parameters
    ----------
    min_parts, min_rows : int
        A part has fewer rows, down to `min_rows`, if there would be fewer than `min_parts` parts,
        too few to balance the load of the workers.
    block_rows : int
        Rows of the blocks in which a task sweeps its parts.
    shard_pairs : int
        A shard of pairs is smaller, down to this number, if there would be fewer than `min_parts`.
    held_share : float
        The workers hold the points if these need at most this share of the free memory of all.
    free_memory : function
        Returns the free memory of each worker in bytes.
    """

    min_parts: int = 8
    min_rows: int = 1024
    block_rows: int = _tasks.ROWS
    shard_pairs: int = 1 << 14
    held_share: float = 0.5
    free_memory: Callable[[], list[float]] = _free_memory


_LIMITS = Limits()


@contextmanager
def cluster(n_jobs: int | None = None) -> Iterator[None]:
    """Use the cluster of the user's Client, or start a local one with threads.

    Threads share the points without a copy, and tiles release the GIL. There are `n_jobs` of them,
    or as many as there are cores.
    """
    if _find_client() is not None:
        yield
        return
    threads = effective_n_jobs(-1 if n_jobs is None else n_jobs)
    with (
        LocalCluster(
            n_workers=1,
            threads_per_worker=threads,
            processes=False,
            dashboard_address="127.0.0.1:0",
            scheduler_kwargs={"dashboard": False},
        ) as local,
        Client(local),
    ):
        yield


class DaskSweep(Sweep):
    """Sums over the pairs of `X`, in parts that the workers of a cluster hold and sweep.

    Runs on the current ``distributed.Client``, or else on dask's threads. The workers hold the
    points from the first sweep on, if they fit in memory. A dask array that does not fit is read
    again in each sweep, a strip of its pairs at a time.

    Parameters
    ----------
    X : ndarray or dask array of shape (n, m), float32 or float64
        Points, in the order that `PairTerms` describes. Tiles are computed in their precision
        and summed in double precision.
    limits : Limits, optional
        How finely to cut the points.
    """

    name = "dask"

    def __init__(self, X: Any, limits: Limits = _LIMITS) -> None:
        self.X, self.limits = X, limits
        self.rounding = ROUNDING[X.dtype.name]
        self._parts: _Parts | None = None
        self._shards: dict[int, _Shards] = {}

    @property
    def shape(self) -> tuple[int, int]:
        """Number of points and of their features."""
        n, m = self.X.shape
        return int(n), int(m)

    def scatter(self) -> None:
        """Return None: `ChunkedPoints` computes ``X'X``."""

    def __call__(self, P: Array, terms: PairTerms, wrt: Variable) -> _tasks.Sums:
        """Sum the pair terms, and differentiate the sum: see `Sweep`."""
        self.n_sweeps += 1
        parts = self._parts
        if parts is None or parts.codes is not terms.codes:
            parts = self._parts = _Parts(self.X, terms.codes, self.limits)
            self._shards = {}
        tiled = terms.tiles_unlabeled
        parts.hold(others=tiled)
        # The tasks get their own codes and pairs.
        plan = replace(terms.plan, listed=None)
        bare = PairTerms(terms.codes[:0], eta=terms.eta, mu=terms.mu, q=terms.q, plan=plan)
        request = _tasks.Request(P, bare, wrt, self.limits.block_rows)
        # The sum over no points has the shape of the gradient.
        found = [request.sum_pairs(np.empty((0, self.shape[1])), bare)]

        job = _Job(request)
        parts.add_tiles(job, parts.pair_labeled_parts())
        for number, listed in enumerate(terms.lists()):
            self._hold(number, parts, listed).add_pairs(job, listed)
        if tiled and wrt != "metric" and parts.prefer_projections(request):
            found.append(parts.sum_projections(request))
        elif tiled:
            for tiles in parts.pair_other_parts():
                if not parts.fits:
                    found += job.run()
                    job = _Job(request)
                parts.add_tiles(job, tiles)
        found += job.run()
        return _tasks.add(found)

    def _hold(self, number: int, parts: _Parts, listed: Listed) -> _Shards:
        """Gather the differences of a list, unless the last sweep had the same list."""
        shards, pairs = self._shards.get(number), listed[:3]
        if shards is None or not all(map(operator.is_, shards.pairs, pairs)):
            shards = self._shards[number] = _Shards(parts, *pairs)
        return shards


class _Job:
    """Tasks that serve one request, and the sum of their results."""

    def __init__(self, request: _tasks.Request) -> None:
        self.request = chunks.make_unique("seraph-factor")
        self.graph: chunks.Graph = {self.request: request}
        self.keys: list[Any] = []
        self.token = chunks.make_unique("")

    def add(self, name: str, function: Callable[..., Any], *arguments: Any) -> None:
        """Add a task."""
        key = (name + self.token, len(self.keys))
        self.graph[key] = (function, self.request, *arguments)
        self.keys.append(key)

    def run(self) -> list[_tasks.Sums]:
        """Compute the sum of all tasks, in their order, if there are any."""
        if not self.keys:
            return []
        root = chunks.add_tree(self.graph, self.keys, _tasks.add, "seraph-sum" + self.token)
        return [chunks.compute(self.graph, root)]


class _Parts:
    """The points in parts: first the class-labeled rows, then the others."""

    def __init__(self, X: Any, codes: Array, limits: Limits = _LIMITS) -> None:
        self.X, self.codes, self.limits = X, codes, limits
        (n, m), k = X.shape, len(codes)
        rows = min(
            _MAX_ROWS,
            max(limits.min_rows, -(-n // limits.min_parts)),
            max(1, _MAX_BYTES // (m * X.dtype.itemsize)),
        )
        rows = max(rows, -(-n // _MAX_PARTS))
        ends = np.cumsum(X.chunks[0]) if is_chunked(X) else [n]
        self.labeled_lengths = _cut([k], rows)
        self.other_lengths = _cut(np.diff(np.maximum(ends, k), prepend=k).tolist(), rows)
        self.n_labeled = len(self.labeled_lengths)
        self.edges = np.cumsum([0, *self.labeled_lengths, *self.other_lengths])
        free = limits.free_memory()
        # A numpy array would be sent again in each sweep.
        self.fits = not is_chunked(X) or X[k:].nbytes <= limits.held_share * sum(free)
        self.room, self.rows = _STRIP_SHARE * min(free), rows
        self._held: set[str] = set()

    @computed_once
    def labeled(self) -> Any:
        """Class-labeled points."""
        return self._cut_array(slice(0, len(self.codes)), self.labeled_lengths)

    @computed_once
    def labels(self) -> Any:
        """Their class codes."""
        return _make_array(self.codes, self.labeled_lengths)

    @computed_once
    def others(self) -> Any:
        """All other points."""
        return self._cut_array(slice(len(self.codes), None), self.other_lengths)

    def hold(self, *, others: bool) -> None:
        """Have the workers hold the class-labeled points, and the others if they fit."""
        wanted = {"labeled", "labels"} if self.n_labeled else set()
        if others and self.other_lengths and self.fits:
            wanted.add("others")
        new = sorted(wanted - self._held)
        if new:
            # In one call, so that chunks with rows of both kinds are read once.
            arrays = chunks.persist(*(getattr(self, name) for name in new))
            self.__dict__.update(zip(new, arrays, strict=True))
            self._held.update(new)

    @computed_once
    def _tasks_of_others(self) -> chunks.Graph:
        return chunks.find_tasks(self.others)[0]

    def _cut_array(self, rows: slice, lengths: Sequence[int]) -> Any:
        X = self.X[rows]
        if is_chunked(X):
            array = X.rechunk((tuple(lengths), (X.shape[1],)))
        else:
            array = _make_array(X, lengths)
        return chunks.map_chunks(array, "seraph-points", np.ascontiguousarray)

    def persist(self, name: str, graph: chunks.Graph, lengths: Sequence[int], width: int) -> Any:
        """Persist the array whose chunks, of these lengths, are ``(name, number, 0)`` in a graph.

        The graph may refer to the keys of parts.
        """
        arrays = [self.labeled] if self.n_labeled else []
        arrays += [self.others] if self.other_lengths else []
        shape = (tuple(lengths), (width,))
        (array,) = chunks.persist(chunks.make_array(name, graph, arrays, shape, self.X.dtype))
        return array

    def key(self, part: int) -> Any:
        """Key of the points of a part."""
        if part < self.n_labeled:
            return self.labeled.name, part, 0
        return self.others.name, part - self.n_labeled, 0

    def _codes_key(self, part: int) -> Any:
        return (self.labels.name, part) if part < self.n_labeled else None

    def add_tiles(self, job: _Job, tiles: list[tuple[int, int]]) -> None:
        """Add a task for each of some pairs of parts."""
        for a, b in tiles:
            arguments = [self.key(a), self._codes_key(a)]
            if b != a:
                arguments += [self.key(b), self._codes_key(b)]
            job.add("seraph-tile", _tasks.sum_tile, a * len(self.edges) + b, *arguments)
        self._add_points(job, {part for tile in tiles for part in tile})

    def _add_points(self, job: _Job, needed: Iterable[int]) -> None:
        """Add the tasks that read some parts, or the chunks that workers hold."""
        if any(part < self.n_labeled for part in needed):
            job.graph.update(self.labeled.dask)
            job.graph.update(self.labels.dask)
        others = [self.key(part) for part in needed if part >= self.n_labeled]
        if others and self.fits:
            job.graph.update(self.others.dask)
        elif others:
            job.graph.update(cull(self._tasks_of_others, others)[0])

    def prefer_projections(self, request: _tasks.Request) -> bool:
        """Whether to sweep projections: of points that do not fit, or that are wide.

        A tile projects its own points. With many features, that takes longer than the pairs.
        """
        if request.terms.plan.share < 1.0:
            return False
        n, m = self.X.shape
        size = (
            3 * n * (len(_tasks.stack_factors(request)) + 1) * 8
        )  # projections and sums of all rows
        is_wide = len(request.P) * m > _WIDE * self.rows
        return size <= self.room and (is_wide or not self.fits)

    def sum_projections(self, request: _tasks.Request) -> _tasks.Sums:
        """Sweep the unlabeled pairs by a factor, in two passes over the points.

        The pair terms and their weights need the points ``Z = X P'`` alone, which are narrow; only
        then does ``2 (Lap(W) Z)' X`` need the points again.
        """
        # In three jobs, so that parts are released between the passes.
        lengths, name = np.diff(self.edges).tolist(), chunks.make_unique("seraph-projected")
        key = chunks.make_unique("seraph-factor")
        graph: chunks.Graph = {key: request}
        for part in range(len(lengths)):
            graph[name, part, 0] = (_tasks.project, key, self.key(part))
        Z = self.persist(name, graph, lengths, len(_tasks.stack_factors(request)))
        points = [(name, part, 0) for part in range(len(lengths))]
        job = _Job(request)
        job.graph.update(Z.dask)
        for group in range(_N_GROUPS):
            some = len(self.codes), slice(group, None, _N_GROUPS)
            job.add("seraph-tile", _tasks.sum_projected, points, *some)
        ((value, found),) = job.run()
        del Z
        if request.wrt == "threshold":
            return value, found
        job = _Job(request)
        for part, rows in enumerate(pairwise(self.edges.tolist())):
            job.add("seraph-gradient", _tasks.project_back, self.key(part), found[slice(*rows)])
        self._add_points(job, range(len(lengths)))
        ((_, gradient),) = job.run()
        return value, gradient

    def pair_labeled_parts(self) -> list[tuple[int, int]]:
        """Pairs of parts whose rows are all class-labeled."""
        k = self.n_labeled
        return [(a, b) for a in range(k) for b in range(a, k)]

    def pair_other_parts(self) -> Iterator[list[tuple[int, int]]]:
        """All other pairs of parts, a strip of rows at a time."""
        k, n = self.n_labeled, len(self.edges) - 1
        size = np.diff(self.edges) * self.X.dtype.itemsize * self.X.shape[1]
        room = np.inf if self.fits else self.room
        start = 0
        while start < n:
            stop = start + 1
            while stop < n and size[start : stop + 1].sum() <= room:
                stop += 1
            # Ordered by b: a part is read once for all rows of the strip, and then released.
            yield [(a, b) for b in range(max(start, k), n) for a in range(start, min(stop, b + 1))]
            start = stop


class _Shards:
    """Differences of pairs of points, held by the workers.

    Parameters
    ----------
    parts : _Parts
        The points.
    pairs : ndarray of shape (l, 2) or PairList
        The pairs.
    similar, weights : ndarray of shape (l,), optional
        Of marked pairs: see `PairTerms`.
    """

    def __init__(
        self,
        parts: _Parts,
        pairs: Array | PairList,
        similar: Array | None = None,
        weights: Array | None = None,
    ) -> None:
        self.pairs = pairs, similar, weights
        bytes_each = parts.X.dtype.itemsize * parts.X.shape[1]
        limits = parts.limits
        length = max(limits.shard_pairs, -(-len(pairs) // limits.min_parts))
        length = min(length, _SHARD_BYTES // bytes_each)
        self.shards = cut_rows(0, len(pairs), max(1, length))
        # A round has the points of its pairs in memory, two for each, besides the differences.
        room = _GATHERED_SHARE * sum(limits.free_memory()) / (2 * bytes_each)
        self.arrays: list[Any] = []
        first = 0
        while first < len(self.shards):
            fitting = [s for s in self.shards if s.stop - self.shards[first].start <= room]
            stop = max(first + 1, len(fitting))
            self.arrays.append(_gather(parts, pairs, self.shards[first:stop]))
            first = stop
        self.marks = None
        if similar is not None:
            both = np.column_stack([similar, np.ones(len(pairs)) if weights is None else weights])
            lengths = [shard.stop - shard.start for shard in self.shards]
            (self.marks,) = chunks.persist(_make_array(both, lengths))

    def add_pairs(self, job: _Job, listed: Listed) -> None:
        """Add tasks that sum over the pairs, with the weights of the list."""
        for array in [*self.arrays, *([] if self.marks is None else [self.marks])]:
            job.graph.update(array.dask)
        held = [(array.name, k, 0) for array in self.arrays for k in range(array.numblocks[0])]
        for number, (D, shard) in enumerate(zip(held, self.shards, strict=True)):
            marks = None if self.marks is None else (self.marks.name, number, 0)
            some = shard.start, listed.step, listed.unlabeled
            job.add("seraph-pairs", _tasks.sum_differences, D, *some, marks)


def _gather(parts: _Parts, pairs: Array | PairList, shards: list[slice]) -> Any:
    """Persist the differences of some pairs: a dask array with one chunk for each shard.

    One task for each part takes the rows that any of the shards needs, so that a part is read
    once and then released; only these rows are sent between workers.
    """
    start, stop = shards[0].start, shards[-1].stop
    rows = pairs[start:stop].ravel()
    of = np.searchsorted(parts.edges, rows, side="right") - 1
    order = np.argsort(of, kind="stable").astype(np.int32 if rows.size < 2**31 else np.int64)
    bounds = np.searchsorted(of[order], np.arange(len(parts.edges)))
    del of
    name, taken = chunks.make_unique("seraph-differences"), chunks.make_unique("seraph-rows")
    graph: chunks.Graph = {}
    needed: list[list[Any]] = [[] for _ in shards]
    places: list[list[Array]] = [[] for _ in shards]
    edges = [2 * (shard.start - start) for shard in shards] + [rows.size]
    for part in np.flatnonzero(np.diff(bounds)).tolist():
        here = order[bounds[part] : bounds[part + 1]]
        cuts = np.searchsorted(here, edges)
        wanted: list[Array] = []
        for shard, (low, high) in enumerate(pairwise(cuts.tolist())):
            if low == high:
                continue
            some = here[low:high]
            graph[taken, part, shard] = (operator.getitem, (taken, part), len(wanted))
            wanted.append((rows[some] - parts.edges[part]).astype(np.int32))
            needed[shard].append((taken, part, shard))
            places[shard].append(some - edges[shard])
        graph[taken, part] = (_tasks.take_rows, parts.key(part), wanted)
    lengths = [shard.stop - shard.start for shard in shards]
    for shard, length in enumerate(lengths):
        graph[name, shard, 0] = (_tasks.subtract_rows, length, needed[shard], places[shard])
    array = parts.persist(name, graph, lengths, parts.X.shape[1])
    if _find_client() is not None:
        wait(array)  # before the next round needs the memory
    return array


def _cut(lengths: Sequence[int], rows: int) -> list[int]:
    """Lengths of parts: join small chunks and cut large ones, to at most `rows` rows."""
    parts, waiting = [], 0
    for length in lengths:
        if waiting + length > rows:
            parts += _cut_evenly(waiting, rows)
            waiting = 0
        waiting += length
    return parts + _cut_evenly(waiting, rows)


def _cut_evenly(length: int, rows: int) -> list[int]:
    return [block.stop - block.start for block in cut_rows(0, length, rows)]


def _make_array(array: Array, lengths: Sequence[int]) -> Any:
    """Make a dask array with chunks of the given lengths."""
    shape = (tuple(lengths), *((n,) for n in array.shape[1:]))
    return da.from_array(array, chunks=shape, name=False)
