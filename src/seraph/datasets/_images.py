"""Halve the resolution of images, without rounding."""

from __future__ import annotations

import numpy as np

from .._utils._typing import Array


def halved(images: Array, side: int) -> Array:
    """Sum square images over blocks of 2 x 2 pixels.

    Images are rows of ``side**2`` pixels, and so are the sums, of ``side**2 / 4``: uint16 for
    uint8 images, which holds them exactly; otherwise of the type of the images.

    Examples
    --------
    >>> import numpy as np
    >>> halved(np.arange(16, dtype=np.uint8)[np.newaxis], side=4)
    array([[10, 18, 42, 50]], dtype=uint16)
    """
    kind = np.dtype(np.uint16) if images.dtype == np.uint8 else images.dtype
    blocks = images.reshape(len(images), side // 2, 2, side // 2, 2)
    sums: Array = blocks.sum(axis=(2, 4), dtype=kind)
    return sums.reshape(len(images), -1)


def pixel_names(n_pixels: int) -> tuple[str, ...]:
    """Return the names of the pixels of a square image, row by row.

    Examples
    --------
    >>> pixel_names(4)
    ('pixel_0_0', 'pixel_0_1', 'pixel_1_0', 'pixel_1_1')
    """
    side = round(n_pixels**0.5)
    return tuple(f"pixel_{row}_{column}" for row in range(side) for column in range(side))
