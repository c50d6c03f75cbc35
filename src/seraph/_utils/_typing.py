"""Type aliases of arrays and intervals, and a cached property without a lock."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]
FloatArray: TypeAlias = NDArray[np.floating[Any]]
IntArray: TypeAlias = NDArray[np.integer[Any]]
BoolArray: TypeAlias = NDArray[np.bool_]
# A value, and the ends of its 95 % interval.
Interval: TypeAlias = tuple[float, float, float]

Value = TypeVar("Value")


class computed_once(Generic[Value]):  # noqa: N801 (used like `property`)
    """A property that is computed when it is first read, and kept.

    `functools.cached_property` does the same, but in Python 3.11 it holds one lock for all
    instances of a class while it computes. Fits in several threads would wait for each other, and
    a process forked meanwhile would wait forever.

    Examples
    --------
    >>> class Circle:
    ...     @computed_once
    ...     def area(self):
    ...         print("computing")
    ...         return 3.14
    >>> circle = Circle()
    >>> circle.area, circle.area
    computing
    (3.14, 3.14)
    """

    def __init__(self, compute: Callable[[Any], Value]) -> None:
        self.compute = compute
        self.__doc__ = compute.__doc__

    def __get__(self, instance: Any, owner: type | None = None) -> Value:
        value = self.compute(instance)
        # From now on, the instance has an attribute of this name, and it comes first.
        instance.__dict__[self.compute.__name__] = value
        return value
