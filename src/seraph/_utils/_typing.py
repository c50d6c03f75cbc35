"""Type aliases of arrays and intervals."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]
# An ndarray, or a Tensor of torch.
AnyArray: TypeAlias = Any
FloatArray: TypeAlias = NDArray[np.floating[Any]]
IntArray: TypeAlias = NDArray[np.integer[Any]]
BoolArray: TypeAlias = NDArray[np.bool_]
# A value, and the ends of its 95 % interval.
Interval: TypeAlias = tuple[float, float, float]
