"""The sum over blocks compiled by numba: the formulas of `_formulas`, in one pass over a tile."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit

from .._utils._typing import Array
from ._formulas import FAR, PADDING

# Sums may be computed in any order; infinities and NaN keep their meaning.
_OPTIONS: Any = {
    "fastmath": {"contract", "reassoc", "nsz"},
    "error_model": "numpy",
    "nogil": True,
}
_ENTROPY, _M_STEP, _CLASSES = range(3)
_KINDS = {"entropy": _ENTROPY, "m-step": _M_STEP, "classes": _CLASSES}


def _compile(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile on the first call; keep the result on disk, if a directory is writable."""
    try:
        compiled: Callable[..., Any] = njit(cache=True, **_OPTIONS)(function)
    except RuntimeError:
        compiled = njit(**_OPTIONS)(function)
    return compiled


@_compile
def _mask(t: Any, a: Any, b: Any, kind: int) -> None:
    """Move pairs without a term far apart; `a` and `b` are the codes of the rows."""
    for i in range(t.shape[0]):
        for j in range(t.shape[1]):
            both = a[i] >= 0 and b[j] >= 0
            if a[i] == PADDING or b[j] == PADDING or both != (kind == _CLASSES):
                t[i, j] = FAR


@_compile
def _entropy(t: Any) -> float:
    """Replace the t of a tile by derivatives; return the sum of the terms."""
    value = 0.0
    for i in range(t.shape[0]):
        product, total = 1.0, 0.0  # (one logarithm for a row: each factor is in (1, 2])
        for j in range(t.shape[1]):
            x = t[i, j]
            size = abs(x)
            e = math.exp(-size)
            inverse = 1.0 / (1.0 + e)
            share = e * inverse
            product *= 1.0 + e
            total += size * share
            t[i, j] = share * inverse * x
        value -= total + math.log(product)
    return value


@_compile
def _cross_entropy(t: Any, q: Any) -> float:
    """Do the same for pairs that are similar with the probabilities `q`."""
    value = 0.0
    for i in range(t.shape[0]):
        product, total = 1.0, 0.0
        for j in range(t.shape[1]):
            x = t[i, j]
            e = math.exp(-abs(x))
            product *= 1.0 + e
            total += min(x, 0.0) - q[i, j] * x
            t[i, j] = (e if x > 0.0 else 1.0) / (1.0 + e) - q[i, j]
        value += total - math.log(product)
    return value


@_compile
def _same_class(t: Any, a: Any, b: Any, is_diagonal: bool) -> Any:
    q = np.zeros_like(t)
    for i in range(t.shape[0]):
        for j in range(t.shape[1]):
            if a[i] == b[j] and a[i] >= 0 and not (is_diagonal and i == j):
                q[i, j] = 1.0
    return q


@_compile
def _e_step(t: Any, sharpness: float) -> Any:
    q = np.zeros_like(t)
    for i in range(t.shape[0]):
        for j in range(t.shape[1]):
            if t[i, j] < FAR:
                q[i, j] = 1.0 / (1.0 + math.exp(sharpness * t[i, j]))
    return q


@_compile
def _margins(Z: Any, halves: Any, codes: Any, a: int, b: int, kind: int, masked: bool) -> Any:
    """Return the t of the pairs of two blocks."""
    t = np.dot(Z[a], Z[b].T)
    for i in range(t.shape[0]):
        for j in range(t.shape[1]):
            t[i, j] = halves[a, i] + halves[b, j] - 2.0 * t[i, j]
        if a == b:
            t[i, i] = FAR
    if masked:
        _mask(t, codes[a], codes[b], kind)
    return t


@_compile
def _probabilities(
    t: Any, old: Any, halves: Any, codes: Any, a: int, b: int, kind: int, masked: bool, mu: float
) -> Any:
    """Return the q of the pairs of two blocks."""
    if kind == _CLASSES:
        return _same_class(t, codes[a], codes[b], a == b)
    if len(old):
        return _e_step(_margins(old, halves, codes, a, b, kind, masked), 1.0 + mu)
    return np.zeros_like(t)


@_compile
def _add(
    Z: Any,
    halves: Any,
    Y: Any,
    codes: Any,
    tiles: Any,
    weights: Any,
    kind: int,
    old: Any,
    old_halves: Any,
    mu: float,
    product: Any,
) -> Any:
    value, slope = 0.0, 0.0
    for k in range(len(tiles)):
        a, b, masked = tiles[k]
        t = _margins(Z, halves, codes, a, b, kind, masked)
        if kind == _ENTROPY:
            value += weights[k] * _entropy(t)
        else:
            q = _probabilities(t, old, old_halves, codes, a, b, kind, masked, mu)
            value += weights[k] * _cross_entropy(t, q)
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


def add_tasks(
    points: Any, Y: Array, pairs: Any, frozen: Any, tasks: Any
) -> tuple[float, float, Array]:
    """Add up some tasks: value, slope and ``Lap(W) Y`` in blocks."""
    tiles, weights = [], []
    for task in tasks:
        a = np.arange(task.a.start, task.a.stop)
        b = np.arange(task.b.start, task.b.stop) if isinstance(task.b, slice) else task.b
        tiles.append(np.column_stack([a, b, np.full(len(a), task.masked)]))
        weights.append(np.full(len(a), task.weight))
    if not tiles:
        return 0.0, 0.0, 0.0 * Y
    none = np.empty((0, 0, 0), Y.dtype), np.empty((0, 0), Y.dtype)
    Z, halves = (np.ascontiguousarray(a) for a in points)
    old, old_halves = none if frozen.points is None else map(np.ascontiguousarray, frozen.points)
    product = np.zeros_like(Y)
    value, slope = _add(
        Z,
        halves,
        np.ascontiguousarray(Y),
        pairs.codes,
        np.concatenate(tiles),
        np.concatenate(weights),
        _KINDS[pairs.kind],
        old,
        old_halves,
        frozen.mu,
        product,
    )
    return value, slope, product
