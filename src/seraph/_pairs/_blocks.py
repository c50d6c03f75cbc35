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
from typing import Any, Literal, NamedTuple

import numpy as np

from .._utils._threads import one_blas_thread
from .._utils._typing import Array
from ._formulas import (
    FAR,
    PADDING,
    UNKNOWN,
    AnyArray,
    cross_entropy,
    e_step,
    library,
    negative_entropy,
    wide,
)

# Which pairs are summed, with which term: all but the pairs of two known classes, with their
# entropy or with the q of a frozen metric; or only these, with q = 1 for equal classes.
Kind = Literal["entropy", "m-step", "classes"]

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

    `weight` is 1/2 where each pair occurs twice, and `masked` means that some have no term.
    """

    a: slice
    b: Any
    weight: float
    is_diagonal: bool
    masked: bool


@dataclass(frozen=True)
class BlockPairs:
    """The pairs of blocks that are summed.

    Parameters
    ----------
    codes : array of int of shape (n_blocks, side)
        Class of each row; `UNKNOWN`, or `PADDING`.
    shifts : tuple of int
        Which blocks meet.
    kind : {"entropy", "m-step", "classes"}
        Which pairs have a term, and which one.
    tasks : tuple of Task
        The blocks that are summed together.
    n_rows : int
        Number of rows without those that fill the last block.
    n_jobs : int
        Number of threads.
    """

    codes: AnyArray
    shifts: tuple[int, ...]
    kind: Kind
    tasks: tuple[Task, ...]
    n_rows: int
    n_jobs: int = 1

    @classmethod
    def make(
        cls,
        codes: Array,
        kind: Kind,
        partners: int | None,
        *,
        like: AnyArray,
        n_jobs: int = 1,
    ) -> BlockPairs:
        """Arrange rows of these classes in blocks, on the device of the points `like`.

        Each row meets `partners` rows after it, and as many before; None sums all pairs.
        """
        n, xp = len(codes), library(like)
        on_gpu = xp is not np and like.device.type != "cpu"
        if partners is not None and 2 * partners >= n - 1:
            partners = None  # there are no more pairs than these
        side = _SIDE_ON_GPU if on_gpu else _SMALL_SIDE if n <= _SMALL else _SIDE
        n_shifts = 1
        if partners is not None:
            n_shifts = -(-partners // _SMALL_SIDE)
            side = -(-partners // n_shifts)
        n_blocks = -(-n // side)
        if partners is None:
            side = -(-n // n_blocks)  # so that little is padded
        blocks: Any = np.full((n_blocks, side), PADDING, dtype=np.int64)
        blocks.reshape(-1)[:n] = codes
        every = tuple(range(n_blocks // 2 + 1))
        shifts = every if partners is None else every[1 : n_shifts + 1]
        at_once = _PAIRS_ON_GPU if on_gpu else _PAIRS_AT_ONCE
        tasks = _list_tasks(blocks, shifts, max(1, at_once // side**2), kind)
        if xp is not np:
            tasks = [
                task
                if isinstance(task.b, slice)
                else task._replace(b=xp.as_tensor(task.b, device=like.device))
                for task in tasks
            ]
            blocks = xp.as_tensor(blocks, device=like.device)
        return cls(blocks, shifts, kind, tuple(tasks), n, n_jobs)

    @property
    def n_pairs(self) -> float:
        """Number of pairs that have a term."""
        codes = np.asarray(self.codes.cpu() if hasattr(self.codes, "cpu") else self.codes)
        n_known, n_any = (codes >= 0).sum(axis=1), (codes >= UNKNOWN).sum(axis=1)
        total = 0.0
        for shift in self.shifts:
            known = float(n_known @ np.roll(n_known, -shift))
            every = float(n_any @ np.roll(n_any, -shift))
            if shift == 0:
                known, every = known - n_known.sum(), every - n_any.sum()
            pairs = known if self.kind == "classes" else every - known
            total += pairs * _weight(shift, len(codes))
        return total

    def to_blocks(self, rows: AnyArray) -> AnyArray:
        """Arrange the rows of an array in blocks, with zeros for the padding."""
        n_blocks, side = self.codes.shape
        pad = n_blocks * side - self.n_rows
        if pad:
            rows = library(rows).concatenate([rows, 0.0 * rows[:pad]])
        return rows.reshape(n_blocks, side, rows.shape[1])


def _weight(shift: int, n_blocks: int) -> float:
    """Return the weight of a shift: two of them have every pair twice."""
    return 0.5 if shift == 0 or 2 * shift == n_blocks else 1.0


def _list_tasks(blocks: Array, shifts: tuple[int, ...], size: int, kind: Kind) -> list[Task]:
    """List the blocks that meet, `size` of them at a time."""
    n_blocks, tasks = len(blocks), []
    for shift in shifts:
        for start in range(0, n_blocks, size):
            a = slice(start, min(start + size, n_blocks))
            partners = (np.arange(a.start, a.stop) + shift) % n_blocks
            first, last = int(partners[0]), int(partners[-1]) + 1
            b: Any = slice(first, last) if last - first == len(partners) else partners
            left, right = blocks[a], blocks[partners]
            known = (left >= 0).any(axis=1) & (right >= 0).any(axis=1)
            masked = bool(known.any() or (left == PADDING).any() or (right == PADDING).any())
            if kind == "classes":
                masked = bool((left < 0).any() or (right < 0).any())
            tasks.append(Task(a, b, _weight(shift, n_blocks), shift == 0, masked))
    return tasks


class Points(NamedTuple):
    """Points under a metric in blocks, and half of each t: ``t_ij = h_i + h_j - 2 z_i z_j``."""

    Z: AnyArray
    halves: AnyArray

    @classmethod
    def arrange(cls, Z: AnyArray, pairs: BlockPairs, eta: float) -> Points:
        """Arrange points in blocks, for the threshold `eta`."""
        blocks = pairs.to_blocks(Z)
        return cls(blocks, library(Z).einsum("bir,bir->bi", blocks, blocks) - 0.5 * eta)


class Frozen(NamedTuple):
    """The metric whose E-step gives q: its points, None for ``q = 0``, and mu."""

    points: Points | None
    mu: float


def sum_over_blocks(
    Z: AnyArray,
    Y: AnyArray,
    pairs: BlockPairs,
    eta: float,
    *,
    frozen: AnyArray | None = None,
    mu: float = 0.0,
) -> tuple[Any, Any, AnyArray]:
    """Sum the terms of the pairs of blocks.

    Parameters
    ----------
    Z : array of shape (n, r)
        Points under the metric.
    Y : array of shape (n, k)
        The array to multiply by the Laplacian.
    pairs : BlockPairs
        Which pairs, with which term.
    eta : float
        Threshold of the squared distances.
    frozen : array of shape (n, r') or None
        Points under the metric whose E-step gives the q of an M-step; None for ``q = 0``.
    mu : float
        Weight of the entropy in that E-step.

    Returns
    -------
    value, slope : float, or a tensor with one number
        Sums of the terms and of their derivatives.
    product : array of shape (n, k)
        ``Lap(W) Y``.
    """
    points = Points.arrange(Z, pairs, eta)
    old = Frozen(None if frozen is None else Points.arrange(frozen, pairs, eta), mu)
    n_pairs = len(pairs.shifts) * pairs.codes.shape[0] * pairs.codes.shape[1] ** 2
    add = _add_tasks
    if library(Z) is np and n_pairs >= _COMPILED_PAIRS and find_spec("numba"):
        from ._compiled import add_tasks as add
    work = partial(add, points, pairs.to_blocks(Y), pairs, old)
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


def _add_tasks(
    points: Points,
    Y: AnyArray,
    pairs: BlockPairs,
    frozen: Frozen,
    tasks: tuple[Task, ...],
) -> tuple[Any, Any, AnyArray]:
    """Add up some tasks: value, slope and ``Lap(W) Y`` in blocks."""
    value, slope, product = 0.0, 0.0, 0.0 * Y
    for task in tasks:
        part, W = _terms(points, pairs, frozen, task)
        value += task.weight * part
        slope += task.weight * W.sum()
        if task.is_diagonal:  # W is symmetric, and each pair is in it twice
            product[task.a] += W.sum(-1)[..., None] * Y[task.a] - W @ Y[task.a]
            continue
        if task.weight != 1.0:
            W *= task.weight
        product[task.a] += W.sum(-1)[..., None] * Y[task.a] - W @ Y[task.b]
        product[task.b] += W.sum(-2)[..., None] * Y[task.b] - W.swapaxes(-1, -2) @ Y[task.a]
    return value, slope, product


def _terms(points: Points, pairs: BlockPairs, frozen: Frozen, task: Task) -> tuple[Any, AnyArray]:
    """Return the sum of the terms of a task, and the derivative of each."""
    t = _margins(points, pairs, task)
    if pairs.kind == "entropy":
        return negative_entropy(t)
    if pairs.kind == "classes":
        q = pairs.codes[task.a][:, :, None] == pairs.codes[task.b][:, None, :]
        q = (q & (t < FAR)) * library(t).ones_like(t)
    elif frozen.points is None:
        q = 0.0 * t
    else:
        q = e_step(_margins(frozen.points, pairs, task), frozen.mu)
    terms, W = cross_entropy(t, q)
    return library(t).sum(terms, dtype=wide(t)), W


def _margins(points: Points, pairs: BlockPairs, task: Task) -> AnyArray:
    """Return the t of the pairs of a task; `FAR` for a pair without a term."""
    Z, halves = points
    t = Z[task.a] @ Z[task.b].swapaxes(-1, -2)
    t *= -2.0
    t += halves[task.a][:, :, None]
    t += halves[task.b][:, None, :]
    if task.is_diagonal:
        rows = range(t.shape[1])
        t[:, rows, rows] = FAR
    if task.masked:
        a, b = pairs.codes[task.a][:, :, None], pairs.codes[task.b][:, None, :]
        known = (a >= 0) & (b >= 0)
        has_term = known if pairs.kind == "classes" else ~known
        t[~has_term | (a == PADDING) | (b == PADDING)] = FAR
    return t
