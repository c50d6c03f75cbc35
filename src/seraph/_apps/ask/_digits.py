"""Handwritten digits to try the page on, from the data that scikit-learn ships."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np

from ..._utils._typing import Array, FloatArray, IntArray
from ._things import SIZES

# With these digits and features, sixty answers show that the learned distance is better:
# `benchmarks.ask_sessions` counts how often.
_DIGITS = (0, 7)
_COMPONENTS = 3
_SIDE = 8  # pixels
# Papers are between these two colors.
_WARM, _COOL = (255.0, 206.0, 140.0), (150.0, 200.0, 255.0)


def demo_digits() -> tuple[FloatArray, FloatArray, IntArray]:
    """Return handwritten digits on colored paper: their features, their pixels, and the digits.

    The features are the three leading principal components of the ink, and the red, green and
    blue of the paper, which has nothing to do with the digit.

    Examples
    --------
    >>> X, pixels, y = demo_digits()
    >>> X.shape, pixels.shape, sorted(set(y.tolist()))
    ((357, 6), (357, 8, 8, 3), [0, 7])
    """
    from sklearn.datasets import load_digits
    from sklearn.decomposition import PCA

    ink, y = load_digits(return_X_y=True)
    kept = np.isin(y, _DIGITS)
    ink, y = ink[kept] / 16.0, y[kept]
    share = np.random.default_rng(0).random(len(y))[:, np.newaxis]
    paper = (1.0 - share) * np.array(_WARM) + share * np.array(_COOL)
    X = np.hstack([PCA(_COMPONENTS, svd_solver="full").fit_transform(ink), paper])
    blank = 1.0 - ink.reshape(-1, _SIDE, _SIDE, 1)
    return X, blank * paper[:, np.newaxis, np.newaxis, :], y


class DigitThings:
    """Images of digits, drawn from their pixels.

    Parameters
    ----------
    pixels : ndarray of shape (n, 8, 8, 3)
        Red, green and blue, from 0 to 255.
    """

    def __init__(self, pixels: Array) -> None:
        self._pixels = pixels

    def shown(self, row: int) -> bool:
        """Return whether there is such a row."""
        return row < len(self._pixels)

    def card(self, row: int) -> dict[str, Any]:
        """Return what the page shows for a row, for JSON."""
        return {"row": row, "id": f"digit {row}", "kind": "image", "cells": []}

    def picture(self, row: int, size: str) -> tuple[bytes, str] | None:
        """Return the image of a row, enlarged."""
        from PIL import Image

        image = Image.fromarray(np.round(self._pixels[row]).astype(np.uint8))
        side = min(SIZES[size], 448)
        out = io.BytesIO()
        image.resize((side, side), Image.Resampling.BICUBIC).save(out, "PNG")
        return out.getvalue(), "image/png"

    def sound(self, row: int) -> tuple[Path, str] | None:  # noqa: ARG002
        """Return None: digits make no sound."""
        return None
