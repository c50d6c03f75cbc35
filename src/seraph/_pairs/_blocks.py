"""Sums over the pairs of blocks of rows, for arrays of numpy and torch.

Blocks of equally many rows are arranged on a circle, and block a meets the blocks a + s for some
shifts s. All shifts give all pairs. A few shifts of rows in random order are a balanced sample, in
which each row has as many partners::

    block   0    1    2    3    4         shift 0: the pairs within each block
            o--->o--->o--->o--->o--.      shift 1: 0-1, 1-2, 2-3, 3-4, 4-0
            ^______________________|      shift 2: 0-2, 1-3, 2-4, 3-0, 4-1     (all pairs so far)
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np

from .._utils._threads import one_blas_thread
from .._utils._typing import AnyArray, Array
from ._functions import (
    FAR,
    PADDING,
    UNKNOWN,
    PairFunction,
    library,
    like,
    sums_less_products,
    with_short_ones,
)

# Rows of a block where all pairs are summed; fewer where the points are few, more on a GPU.
_SIDE, _SMALL_SIDE, _SMALL, _SIDE_ON_GPU = 128, 64, 600, 1024
# Pairs in memory at once: few enough for a CPU's cache, many enough for a GPU.
_PAIRS_AT_ONCE, _PAIRS_ON_GPU = 1 << 14, 1 << 24
# numba, if it is installed, takes over from this number of pairs: compiling takes six seconds.
_COMPILED_PAIRS = 1_000_000
# From this number of pairs on, several threads are worth their start.
_THREADED_PAIRS = 1 << 18


class Task(NamedTuple):
    """Blocks `a` that meet the blocks `b`, pairwise: slices, or an array of numbers for `b`.

    `weight` is 1/2 where each pair occurs twice, and `masked` means that some are left out.
    """

    a: slice
    b: Any
    weight: float
    is_diagonal: bool
    masked: bool


@dataclass(frozen=True)
class BlockPairs:
    """The pairs of blocks that are summed.

    `codes`, of shape (n_blocks, side), has the class of each row; `UNKNOWN`, or `PADDING`. If
    `labeled`, the pairs of two rows of known class are summed, otherwise all others. The `tasks`
    are blocks that are summed together, `n_tiles` pairs of blocks in all. `n_rows` is the number
    of rows without those that fill the last block.
    """

    codes: AnyArray
    labeled: bool
    tasks: tuple[Task, ...]
    n_tiles: int
    n_rows: int
    n_jobs: int = 1

    @classmethod
    def make(
        cls,
        codes: Array,
        partners: int | None = None,
        *,
        labeled: bool,
        like: AnyArray,
        n_jobs: int = 1,
    ) -> BlockPairs:
        """Arrange rows of these classes in blocks, on the device of the points `like`.

        Each row meets `partners` rows after it, and as many before; None sums all pairs.
        """
        n, on_gpu = len(codes), library(like) is not np and like.device.type != "cpu"
        if partners is not None and 2 * partners >= n - 1:
            partners = None  # there are no more pairs than these
        side = _SIDE_ON_GPU if on_gpu else _SMALL_SIDE if n <= _SMALL else _SIDE
        n_shifts = 1
        if partners is not None:
            n_shifts = -(-partners // _SMALL_SIDE)
            side = -(-partners // n_shifts)
        n_blocks = -(-n // side)
        if partners is None:
            side = -(-n // n_blocks) if n else 1  # so that little is padded
        every = range(n_blocks // 2 + 1)
        numbers = np.arange(n_blocks)
        meetings = [
            # Half of the circle further on, each pair occurs twice: of four blocks, 0 meets 2 and
            # 2 meets 0. So it does within a block, as (i, j) and (j, i).
            (numbers, (numbers + s) % n_blocks, 0.5 if 2 * s in (0, n_blocks) else 1.0)
            for s in (every if partners is None else every[1 : n_shifts + 1])
        ]
        return cls._of_meetings(codes, side, meetings, labeled, like, n_jobs)

    @classmethod
    def of_groups(cls, codes: Array, side: int) -> BlockPairs:
        """Pair groups of `side` rows of known class with the next group, as on a circle.

        Rows left over after cutting all into groups are paired with the first group.
        """
        whole = np.arange(len(codes) // side)
        meetings = [(whole, np.roll(whole, -1), 1.0)]
        if len(codes) % side:
            meetings.append((whole[-1:] + 1, whole[:1], 1.0))
        return cls._of_meetings(codes, side, meetings, labeled=True, like=np.empty(0))

    @classmethod
    def _of_meetings(
        cls,
        codes: Array,
        side: int,
        meetings: list[tuple[Array, Array, float]],
        labeled: bool,
        like: AnyArray,
        n_jobs: int = 1,
    ) -> BlockPairs:
        """Cut the rows into blocks; list which meet which, with a weight, in tasks of some."""
        xp, n_blocks = library(like), -(-len(codes) // side)
        blocks: Any = np.full((n_blocks, side), PADDING, dtype=np.int64)
        blocks.reshape(-1)[: len(codes)] = codes
        on_gpu = xp is not np and like.device.type != "cpu"
        size = max(1, (_PAIRS_ON_GPU if on_gpu else _PAIRS_AT_ONCE) // side**2)
        tasks = []
        for rows, partners, weight in meetings:
            for start in range(0, len(rows), size):
                part = slice(start, start + size)
                tasks.append(_task(blocks, rows[part], partners[part], weight, labeled))
        if xp is not np:
            place = partial(xp.as_tensor, device=like.device)
            blocks = place(blocks)
            tasks = [t if isinstance(t.b, slice) else t._replace(b=place(t.b)) for t in tasks]
        n_tiles = sum(len(rows) for rows, _, _ in meetings)
        return cls(blocks, labeled, tuple(tasks), n_tiles, len(codes), n_jobs)

    @property
    def n_pairs(self) -> float:
        """Number of pairs that are summed."""
        codes = np.asarray(self.codes.cpu() if hasattr(self.codes, "cpu") else self.codes)
        n_known, n_any = (codes >= 0).sum(axis=1), (codes >= UNKNOWN).sum(axis=1)
        total = 0.0
        for task in self.tasks:
            b = task.b if isinstance(task.b, slice) else np.asarray(task.b.tolist())
            known, every = (float(n[task.a] @ n[b]) for n in (n_known, n_any))
            if task.is_diagonal:
                known, every = known - n_known[task.a].sum(), every - n_any[task.a].sum()
            total += task.weight * (known if self.labeled else every - known)
        return total

    def to_blocks(self, rows: AnyArray) -> AnyArray:
        """Arrange the rows of an array in blocks, with zeros for the padding."""
        n_blocks, side = self.codes.shape
        pad = n_blocks * side - self.n_rows
        if pad:
            rows = library(rows).concatenate([rows, 0.0 * rows[:pad]])
        return rows.reshape(n_blocks, side, rows.shape[1])


def _task(blocks: Array, rows: Array, partners: Array, weight: float, labeled: bool) -> Task:
    """Return the task of blocks that follow each other, and of their partners."""
    a, left, right = slice(int(rows[0]), int(rows[-1]) + 1), blocks[rows], blocks[partners]
    first, last = int(partners[0]), int(partners[-1]) + 1
    b: Any = slice(first, last) if last - first == len(partners) else partners
    known = (left >= 0).any(axis=1) & (right >= 0).any(axis=1)
    masked = bool(known.any() or (left == PADDING).any() or (right == PADDING).any())
    if labeled:
        masked = bool((left < 0).any() or (right < 0).any())
    return Task(a, b, weight, bool((rows == partners).all()), masked)


class Points(NamedTuple):
    """Points under a metric in blocks, and half of each t: ``t_ij = h_i + h_j - 2 z_i z_j``."""

    Z: AnyArray
    halves: AnyArray
    eta: float

    @classmethod
    def arrange(cls, Z: AnyArray, pairs: BlockPairs, eta: float) -> Points:
        """Arrange points in blocks, for the threshold `eta`."""
        blocks = pairs.to_blocks(Z)
        return cls(blocks, library(Z).einsum("bir,bir->bi", blocks, blocks) - 0.5 * eta, eta)

    def margins(self, task: Task, left_out: Any, *, is_sharp: bool = False) -> AnyArray:
        """Return the t of the pairs of a task; `FAR` for those without a term."""
        A, B = self.Z[task.a], self.Z[task.b]
        t = sums_less_products(self.halves[task.a], self.halves[task.b], A, B)
        if left_out is not None:
            t[left_out] = FAR
        return with_short_ones(t, self.eta, A, B, self.largest) if is_sharp else t

    @property
    def largest(self) -> float:
        """The largest squared norm."""
        return float(self.halves.max()) + 0.5 * self.eta


class Sum(NamedTuple):
    """What is summed: a function of pairs, under the frozen metric of an M-step if any."""

    points: Points
    pairs: BlockPairs
    function: PairFunction
    frozen: Points | None


def sum_over_blocks(
    Z: AnyArray,
    Y: AnyArray,
    pairs: BlockPairs,
    function: PairFunction,
    eta: float = 0.0,
    *,
    frozen: AnyArray | None = None,
) -> tuple[Any, Any, AnyArray]:
    """Sum a function of the pairs of blocks; return also the sum of its derivatives, ``Lap(W) Y``.

    `Z`, of shape (n, r), are the points under the metric, and `Y`, of shape (n, k), the array to
    multiply by the Laplacian. The function is of ``t = d2 - eta`` and of q: 1 for rows of the same
    known class, else 0; or in an M-step the pair's t for the points `frozen`, those under the
    metric of the last E-step.
    """
    old = None if frozen is None else Points.arrange(frozen, pairs, eta)
    total = Sum(Points.arrange(Z, pairs, eta), pairs, function, old)
    n_pairs = pairs.n_tiles * pairs.codes.shape[1] ** 2
    add = _add_tasks
    if library(Z) is np and n_pairs >= _COMPILED_PAIRS and find_spec("numba"):
        from ._compiled import add_tasks as add
    work = partial(add, total, total.points.Z if Y is Z else pairs.to_blocks(Y))
    n_parts = pairs.n_jobs if library(Z) is np and n_pairs >= _THREADED_PAIRS else 1
    parts = [pairs.tasks[k::n_parts] for k in range(n_parts)]
    results = [work(pairs.tasks)] if n_parts == 1 else _map(work, parts)
    value, slope, product = results[0]
    for other in results[1:]:
        value, slope = value + other[0], slope + other[1]
        product += other[2]
    rows = product.shape[0] * product.shape[1]
    return value, slope, product.reshape(rows, Y.shape[1])[: len(Y)]


def _map(work: Any, parts: list[Any]) -> list[Any]:
    """Apply a function to some parts, each in a thread of its own."""

    def alone(part: Any) -> Any:
        with one_blas_thread():
            return work(part)

    with ThreadPoolExecutor(len(parts)) as pool:
        return list(pool.map(alone, parts))


def _add_tasks(total: Sum, Y: AnyArray, tasks: tuple[Task, ...]) -> tuple[Any, Any, AnyArray]:
    """Add up some tasks: value, slope and ``Lap(W) Y`` in blocks."""
    value, slope, product = 0.0, 0.0, 0.0 * Y
    for task in tasks:
        part, W = _terms(total, task)
        value += task.weight * part
        degrees, A, B = W.sum(-1), Y[task.a], Y[task.b]
        slope += task.weight * degrees.sum()
        # W is symmetric if the task is diagonal, and each pair is in it twice.
        weight = 1.0 if task.is_diagonal else task.weight
        product[task.a] += weight * (degrees[..., None] * A - W @ B)
        if not task.is_diagonal:
            of_partners = W.sum(-2)[..., None] * B - W.swapaxes(-1, -2) @ A
            product[task.b] += weight * of_partners
    return value, slope, product


def _terms(total: Sum, task: Task) -> tuple[Any, AnyArray]:
    """Return the sum of the function over a task, and the derivative for each pair."""
    points, pairs, function, frozen = total
    left_out = _left_out(pairs, task)
    t = points.margins(task, left_out, is_sharp=function.is_sharp)
    if frozen is not None:
        return function.sum(t, frozen.margins(task, left_out), left_out)
    if not pairs.labeled:
        return function.sum(t, 0.0, left_out)
    same = pairs.codes[task.a][:, :, None] == pairs.codes[task.b][:, None, :]
    if left_out is not None:
        same &= t < FAR
    return function.sum(t, like(same, t), left_out)


def _left_out(pairs: BlockPairs, task: Task) -> Any:
    """Return an index of the pairs of a task that have no term; None if all have one."""
    rows = np.arange(pairs.codes.shape[1])
    diagonal = slice(None), rows, rows
    if not task.masked:
        return diagonal if task.is_diagonal else None
    a, b = pairs.codes[task.a][:, :, None], pairs.codes[task.b][:, None, :]
    both = (a >= 0) & (b >= 0)
    left_out = ~both if pairs.labeled else both | (a == PADDING) | (b == PADDING)
    if task.is_diagonal:
        left_out[diagonal] = True
    return left_out
