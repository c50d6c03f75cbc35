"""The sum over blocks compiled by numba: a function of pairs, in one pass over a tile."""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable
from functools import cache
from types import CellType, FunctionType, SimpleNamespace
from typing import Any

import numpy as np
from numba import njit

from .._utils._typing import Array
from ._functions import CLOSE, FAR, PADDING, PairFunction

# Sums may be computed in any order; infinities and NaN keep their meaning.
_OPTIONS: Any = {
    "fastmath": {"contract", "reassoc", "nsz"},
    "error_model": "numpy",
    "nogil": True,
}


def _compile(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile on the first call; keep the result on disk, if a directory is writable."""
    try:
        compiled: Callable[..., Any] = njit(cache=True, **_OPTIONS)(function)
    except RuntimeError:
        compiled = njit(**_OPTIONS)(function)
    return compiled


@njit(**_OPTIONS)
def _where(condition: bool, a: float, b: float) -> float:
    return a if condition else b


# What a formula may use, for single numbers.
_NUMBERS = SimpleNamespace(exp=math.exp, log=math.log, sqrt=math.sqrt, where=_where)


@cache
def _sweep_of(kind: type[PairFunction]) -> Callable[..., Any]:
    """Compile the sweep for a function of pairs.

    `_sweep` is a template: its copy has the compiled formula for the global `_phi`, so that it is
    compiled into the inner loop. The name of the copy, under which numba keeps the result on disk,
    has a checksum of the formula: another formula is compiled again.
    """
    formula = kind.formula(_NUMBERS)
    apply = FunctionType(_apply.__code__, {**globals(), "_phi": _with_helpers(formula)})
    sweep = FunctionType(_sweep.__code__, {**globals(), "_apply": njit(**_OPTIONS)(apply)})
    sweep.__module__ = __name__
    sweep.__qualname__ = f"sweep_{kind.__name__}_{_checksum(formula):08x}"
    return _compile(sweep)


def _surroundings(formula: Any) -> list[Any]:
    """Return what a function has from the one that it was defined in."""
    return [cell.cell_contents for cell in formula.__closure__ or ()]


def _with_helpers(formula: Any) -> Any:
    """Compile a formula, and the Python functions in its surroundings that it calls."""
    inner = [
        _with_helpers(f) if isinstance(f, FunctionType) else f for f in _surroundings(formula)
    ]
    cells = tuple(CellType(f) for f in inner)
    code, name = formula.__code__, formula.__name__
    return njit(**_OPTIONS)(FunctionType(code, formula.__globals__, name, None, cells))


def _checksum(formula: Any, start: int = 0) -> int:
    code = formula.__code__
    total = zlib.crc32(code.co_code + repr((code.co_consts, code.co_names)).encode(), start)
    for other in _surroundings(formula):
        total = _checksum(other, total) if isinstance(other, FunctionType) else total
    return total


def _phi(t: float, q: float, numbers: tuple[float, ...]) -> tuple[float, float, float]:
    """Stand for the formula in `_apply`."""
    raise NotImplementedError


def _apply(t: Any, q: Any, numbers: tuple[float, ...], check: bool) -> float:
    """Replace the t of a tile by derivatives; return the sum of the function.

    `q` is empty if all are 0. If `check`, pairs at `FAR` are left out.
    """
    value, has_q = 0.0, len(q) > 0
    for i in range(t.shape[0]):
        product, total = 1.0, 0.0  # (one logarithm for a row: each factor is in (1, 2])
        for j in range(t.shape[1]):
            part, factor, slope = _phi(t[i, j], q[i, j] if has_q else 0.0, numbers)
            inside = not check or t[i, j] < FAR
            product *= factor if inside else 1.0
            total += part if inside else 0.0
            t[i, j] = slope if inside else 0.0
        value += total - math.log(product)
    return value


@_compile
def _margins(Z: Any, halves: Any, a: int, b: int) -> Any:
    """Return the t of the pairs of two blocks."""
    t = np.dot(Z[a], Z[b].T)
    for i in range(t.shape[0]):
        for j in range(t.shape[1]):
            t[i, j] = halves[a, i] + halves[b, j] - 2.0 * t[i, j]
    return t


@_compile
def _sharpen(t: Any, A: Any, B: Any, eta: float, closest: float) -> None:
    """Compute t from differences where it is at most `closest`."""
    for i in range(t.shape[0]):
        for j in range(t.shape[1]):
            if t[i, j] <= closest:
                t[i, j] = ((A[i] - B[j]) ** 2).sum() - eta


@_compile
def _move_far(t: Any, a: Any, b: Any, labeled: bool, is_diagonal: bool) -> None:
    """Move pairs without a term to `FAR`; `a` and `b` are the codes of the rows."""
    for i in range(t.shape[0]):
        for j in range(t.shape[1]):
            both = a[i] >= 0 and b[j] >= 0
            if a[i] == PADDING or b[j] == PADDING or both != labeled or (is_diagonal and i == j):
                t[i, j] = FAR


@_compile
def _same_class(t: Any, a: Any, b: Any) -> Any:
    q = np.zeros_like(t)
    for i in range(t.shape[0]):
        for j in range(t.shape[1]):
            if a[i] == b[j] and t[i, j] < FAR:
                q[i, j] = 1.0
    return q


def _sweep(
    Z: Any,
    halves: Any,
    eta: float,
    closest: float,
    Y: Any,
    codes: Any,
    labeled: bool,
    tiles: Any,
    weights: Any,
    old: Any,
    old_halves: Any,
    numbers: tuple[float, ...],
    vanishes: bool,
    product: Any,
) -> Any:
    """Add up tiles: each is block a, block b, and whether some pairs are left out."""
    value, slope = 0.0, 0.0
    q = np.empty((0, 0), Z.dtype)
    for k in range(len(tiles)):
        a, b, masked = tiles[k]
        masked = masked or a == b
        t = _margins(Z, halves, a, b)
        if closest > -np.inf:
            _sharpen(t, Z[a], Z[b], eta, closest)
        if masked:
            _move_far(t, codes[a], codes[b], labeled, a == b)
        if len(old):
            q = _margins(old, old_halves, a, b)
            if masked:
                _move_far(q, codes[a], codes[b], labeled, a == b)
        elif labeled:
            q = _same_class(t, codes[a], codes[b])
        value += weights[k] * _apply(t, q, numbers, masked and not vanishes)
        # (Lap(W) Y)_i = sum_j w_ij (y_i - y_j): t now has the w of rows i of a and j of b, which
        # both get their share. In a tile of a block with itself each pair is there twice, w_ij and
        # w_ji: the rows of a are all, with the whole weight, and sums have half of it.
        WY = np.dot(t, Y[b])
        weight = 1.0 if a == b else weights[k]
        for i in range(t.shape[0]):
            degree = t[i].sum()
            slope += weights[k] * degree
            for c in range(Y.shape[2]):
                product[a, i, c] += weight * (degree * Y[a, i, c] - WY[i, c])
        if a != b:
            WY = np.dot(t.T, Y[a])
            for j in range(t.shape[1]):
                degree = t[:, j].sum()
                for c in range(Y.shape[2]):
                    product[b, j, c] += weight * (degree * Y[b, j, c] - WY[j, c])
    return value, slope


def add_tasks(total: Any, Y: Array, tasks: tuple[Any, ...]) -> tuple[float, float, Array]:
    """Add up some tasks: value, slope and ``Lap(W) Y`` in blocks."""
    points, pairs, function, frozen = total
    tiles, weights = [], []
    for task in tasks:
        a = np.arange(task.a.start, task.a.stop)
        b = np.arange(task.b.start, task.b.stop) if isinstance(task.b, slice) else task.b
        tiles.append(np.column_stack([a, b, np.full(len(a), task.masked)]))
        weights.append(np.full(len(a), task.weight))
    if not tiles:
        return 0.0, 0.0, 0.0 * Y
    none = np.empty((0, 0, 0), Y.dtype), np.empty((0, 0), Y.dtype)
    old, old_halves = none if frozen is None else map(np.ascontiguousarray, frozen[:2])
    product = np.zeros_like(Y)
    kind: Any = type(function)
    value, slope = _sweep_of(kind)(
        np.ascontiguousarray(points.Z),
        np.ascontiguousarray(points.halves),
        points.eta,
        CLOSE * points.largest - points.eta if function.is_sharp else -np.inf,
        np.ascontiguousarray(Y),
        pairs.codes,
        pairs.labeled,
        np.concatenate(tiles),
        np.concatenate(weights),
        old,
        old_halves,
        function.numbers,
        function.vanishes,
        product,
    )
    return value, slope, product
