"""Handwritten digits to try the page on, from the data that the package ships."""

from __future__ import annotations

import io
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from ..._utils._typing import Array
from ...datasets import load_task
from ._things import SIZES

_EACH = 120  # images of each digit
_SIDE = 14  # pixels


def demo_digits(seed: int = 0) -> tuple[Array, Array]:
    """Return 600 images of the digits 1, 3, 5, 7 and 8 as rows of 196 pixels, and the digits.

    Examples
    --------
    >>> X, y = demo_digits()
    >>> X.shape, sorted(set(y.tolist()))
    ((600, 196), [1, 3, 5, 7, 8])
    """
    tasks = [load_task("mnist-1-7"), load_task("mnist-3-5-8")]
    X, y = (np.concatenate([getattr(task, name) for task in tasks]) for name in "Xy")
    rng = np.random.default_rng(seed)
    rows = [rng.choice(np.flatnonzero(y == digit), _EACH, replace=False) for digit in np.unique(y)]
    order = rng.permutation(np.concatenate(rows))
    return X[order], y[order]


class DigitThings:
    """Images of digits, drawn from their pixels.

    Parameters
    ----------
    X : ndarray of shape (n, 196)
        Pixels in [0, 1].
    """

    def __init__(self, X: Array) -> None:
        self._X = X

    def shown(self, row: int) -> bool:
        """Return whether there is such a row."""
        return row < len(self._X)

    def card(self, row: int) -> dict[str, Any]:
        """Return what the page shows for a row, for JSON."""
        return {"row": row, "id": f"digit {row}", "kind": "image", "cells": []}

    def picture(self, row: int, size: str) -> tuple[bytes, str] | None:
        """Return the image of a row, enlarged."""
        return _drawn(self._X[row].tobytes(), min(SIZES[size], 448)), "image/png"

    def sound(self, row: int) -> tuple[Path, str] | None:  # noqa: ARG002
        """Return None: digits make no sound."""
        return None


@lru_cache(maxsize=256)
def _drawn(pixels: bytes, side: int) -> bytes:
    from PIL import Image

    ink = np.frombuffer(pixels).reshape(_SIDE, _SIDE)
    image = Image.fromarray(np.round(255.0 * (1.0 - ink)).astype(np.uint8))
    out = io.BytesIO()
    image.resize((side, side), Image.Resampling.BICUBIC).save(out, "PNG")
    return out.getvalue()
