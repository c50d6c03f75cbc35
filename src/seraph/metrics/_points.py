"""Mapped points, as every figure of merit takes them."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_array

from .._points import to_memory
from .._utils._typing import Array
from .._utils._validation import as_numbers


def check_mapped(Z: Any, name: str = "Z") -> Array:
    """Check mapped points; a metric of rank 0 maps to no column at all."""
    with as_numbers(name, Z):
        points: Array = check_array(
            to_memory(Z), dtype=np.float64, ensure_min_features=0, input_name=name
        )
    return points
