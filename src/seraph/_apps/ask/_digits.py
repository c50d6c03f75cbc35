"""Handwritten digits to try the page on, from the data that scikit-learn ships."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ..._utils._typing import FloatArray, IntArray

# With these digits and features, sixty answers show that the learned distance is better:
# `benchmarks.ask_sessions` counts how often.
_DIGITS = (0, 7)
_COMPONENTS = 3
_SIDE, _SHOWN = 8, 128  # pixels, of the data and of the pictures
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


def save_demo(folder: Path) -> tuple[Path, Path]:
    """Write the features, and a picture of each digit by its row number; return where."""
    from PIL import Image

    X, pixels, _ = demo_digits()
    table, pictures = folder / "digits.npy", folder / "pictures"
    pictures.mkdir(parents=True, exist_ok=True)
    np.save(table, X)
    for row, picture in enumerate(pixels):
        image = Image.fromarray(np.round(picture).astype(np.uint8))
        image.resize((_SHOWN, _SHOWN), Image.Resampling.BICUBIC).save(
            pictures / f"{row}.jpg", quality=90
        )
    return table, pictures
