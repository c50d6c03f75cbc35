"""The pair terms compiled by numba: the formulas of `Arithmetic`, each in one pass over a tile.

The exponential is a polynomial and a shift of the exponent, which the compiler vectorizes; it does
not vectorize a call of a library's function.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from math import factorial
from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic, overload
from numpy.polynomial import chebyshev

from .._utils._typing import Array
from ._formulas import FACTORS, NumpyArithmetic, Scratch

_logger = logging.getLogger("seraph")
# Sums may be computed in any order; infinities and NaN keep their meaning.
_MATH: Any = {"fastmath": {"contract", "reassoc", "nsz"}, "error_model": "numpy"}
# Compiling is announced if it takes longer than this many seconds.
_ANNOUNCE_AFTER = 0.7


def _compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile on the first call, and cache the result on disk if possible."""
    compiled: Callable[..., Any]
    try:
        compiled = njit(cache=True, nogil=True, **_MATH)(function)
    except RuntimeError:  # no directory is writable
        compiled = njit(nogil=True, **_MATH)(function)
    return compiled


def _power_of_two_of_type(context: Any, k: Any) -> Any:
    """``2^-k`` by the bits of the exponent, for an int32 (float32) or int64 (float64) k."""
    narrow = k == types.int32
    bias, shift = (127, 23) if narrow else (1023, 52)
    result = types.float32 if narrow else types.float64

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        (exponent,) = arguments
        word = exponent.type
        biased = builder.sub(ir.Constant(word, bias), exponent)
        bits = builder.shl(biased, ir.Constant(word, shift))
        return builder.bitcast(bits, ir.FloatType() if narrow else ir.DoubleType())

    return result(k), codegen


_power_of_two: Any = intrinsic(_power_of_two_of_type)


def _exp_minus(x: float) -> float:
    """``exp(-x)`` for x >= 0: ``2^-k exp(r)`` with ``r = k ln 2 - x``, ``|r| <= ln(2) / 2``."""
    raise NotImplementedError  # only inside compiled code


def _coefficients(degree: int) -> list[float]:
    """Coefficients of exp on ``|r| <= ln(2) / 2``, the highest power first.

    The series to twice the degree, economized: its Chebyshev polynomials of higher degree are left
    out, which are below ``2 (ln(2) / 4)^(degree + 1) / (degree + 1)!``: 4e-11 for a degree of 7,
    3e-18 for 11. The series cut off there would be off by 2^degree times as much.
    """
    half = np.log(2.0) / 2.0
    series = [half**k / factorial(k) for k in range(2 * degree)]
    lower = chebyshev.cheb2poly(chebyshev.poly2cheb(series)[: degree + 1])
    return [float(c / half**k) for k, c in enumerate(lower)][::-1]


_A7, _A6, _A5, _A4, _A3, _A2, _A1, _A0 = map(np.float32, _coefficients(7))
_LOG2E_32, _HALF_32 = np.float32(1.4426950408889634), np.float32(0.5)
# ln 2 in two parts. The first has few bits, so that its product with k is exact.
_LN2_HIGH_32, _LN2_LOW_32 = np.float32(0.693359375), np.float32(-2.12194440e-4)
_B11, _B10, _B9, _B8, _B7, _B6, _B5, _B4, _B3, _B2, _B1, _B0 = _coefficients(11)
_LOG2E = 1.4426950408889634
_LN2_HIGH, _LN2_LOW = 0.693145751953125, 1.42860682030941723212e-6
# exp(-x) is rounded to 0 from here on; beyond it, 2^-k would be subnormal.
_LARGEST_32, _LARGEST = np.float32(87.0), 708.0


@overload(_exp_minus, jit_options=_MATH, inline="always")
def _exp_minus_of_type(x: Any) -> Any:
    if x == types.float32:

        def single(x: Any) -> Any:
            x = min(x, _LARGEST_32)
            k = np.int32(x * _LOG2E_32 + _HALF_32)
            f = np.float32(k)
            r = (f * _LN2_HIGH_32 - x) + f * _LN2_LOW_32
            p = ((_A7 * r + _A6) * r + _A5) * r + _A4
            p = (((p * r + _A3) * r + _A2) * r + _A1) * r + _A0
            return p * _power_of_two(k)

        return single

    def double(x: Any) -> Any:
        x = min(x, _LARGEST)
        k = np.int32(x * _LOG2E + 0.5)
        f = np.float64(k)
        r = (f * _LN2_HIGH - x) + f * _LN2_LOW
        p = ((((_B11 * r + _B10) * r + _B9) * r + _B8) * r + _B7) * r + _B6
        p = (((((p * r + _B5) * r + _B4) * r + _B3) * r + _B2) * r + _B1) * r + _B0
        return p * _power_of_two(np.int64(k))

    return double


@_compiled
def _negative_entropy(t: Any, weight: Any, product: Any, limit: int) -> Any:
    one = t.dtype.type(1)
    value = 0.0
    for start in range(0, t.shape[0], limit):
        product[:] = one
        for i in range(start, min(t.shape[0], start + limit)):
            total = one - one
            for j in range(t.shape[1]):
                x = t[i, j]
                e = _exp_minus(abs(x))
                factor = one + e
                product[j] *= factor
                inverse = one / factor
                share = e * inverse
                total += abs(x) * share
                weight[i, j] = share * inverse * x
            value -= total
        for j in range(t.shape[1]):
            value -= np.log(np.float64(product[j]))
    return value


@_compiled
def _cross_entropy(t: Any, q: Any, weight: Any, product: Any, limit: int) -> Any:
    one = t.dtype.type(1)
    zero = one - one
    value = 0.0
    for start in range(0, t.shape[0], limit):
        product[:] = one
        for i in range(start, min(t.shape[0], start + limit)):
            total = zero
            for j in range(t.shape[1]):
                x = t[i, j]
                e = _exp_minus(abs(x))
                factor = one + e
                product[j] *= factor
                total += min(x, zero) - q[i, j] * x
                weight[i, j] = (e if x > zero else one) / factor - q[i, j]
            value += total
        for j in range(t.shape[1]):
            value -= np.log(np.float64(product[j]))
    return value


@_compiled
def _e_step(t: Any, slope: Any, out: Any) -> None:
    one = t.dtype.type(1)
    for i in range(t.shape[0]):
        for j in range(t.shape[1]):
            x = slope * t[i, j]
            e = _exp_minus(abs(x))
            out[i, j] = (e if x > one - one else one) / (one + e)


@_compiled
def _squared_distances(Z: Any, i: Any, j: Any, out: Any) -> None:
    for k in range(len(i)):
        total = out.dtype.type(0)
        for column in range(Z.shape[1]):
            difference = Z[i[k], column] - Z[j[k], column]
            total += difference * difference
        out[k] = total


class NumbaArithmetic(NumpyArithmetic):
    """The pair terms for ndarrays, each in one pass. `t` is kept."""

    def negative_entropy(self, t: Array, scratch: Scratch = (None, None)) -> tuple[float, Array]:
        """Sum and weights of the term of (7)."""
        weight = np.empty_like(t) if scratch[1] is None else scratch[1]
        product = np.empty(t.shape[1], dtype=t.dtype)
        return _call(_negative_entropy, t, weight, product, FACTORS[t.dtype]), weight

    def cross_entropy(
        self,
        t: Array,
        q: Array | float,
        scratch: Scratch = (None, None),
        weights: Array | None = None,
    ) -> tuple[float, Array]:
        """Sum and weights of (11)."""
        if weights is not None:
            return super().cross_entropy(t, q, scratch, weights)  # marked pairs, which are few
        filled, weight = (np.empty_like(t) if a is None else a for a in scratch)
        if not isinstance(q, np.ndarray):
            # An array, so that numba compiles for one type of q.
            filled[...] = q
            q = filled
        product = np.empty(t.shape[1], dtype=t.dtype)
        return _call(_cross_entropy, t, q, weight, product, FACTORS[t.dtype]), weight

    def e_step(self, t: Array, mu: float, out: Array | None = None) -> Array:
        """Solution (10) of the E-step."""
        out = np.empty_like(t) if out is None else out
        _call(_e_step, t, t.dtype.type(1.0 + mu), out)
        return out

    def squared_distances(self, Z: Array, i: Array, j: Array) -> Array:
        """Compute the squared distances of the rows `i` of `Z` from the rows `j`."""
        out = np.empty(len(i), dtype=Z.dtype)
        _call(_squared_distances, Z, np.ascontiguousarray(i), np.ascontiguousarray(j), out)
        return out


def _call(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a compiled function; print a note if it has to be compiled first."""
    if getattr(function, "overloads", True):
        return function(*arguments)
    message = "compiling the sweep over the pairs, or loading it: only a first fit waits for this"
    timer = threading.Timer(_ANNOUNCE_AFTER, _logger.warning, [message])
    timer.start()
    try:
        return function(*arguments)
    finally:
        timer.cancel()
