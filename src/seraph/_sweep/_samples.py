"""A sample of the rows, in the frame of all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from .._utils._typing import Array
from ._chunks import ChunkedPoints, take_rows
from ._moments import Frame, center
from ._points import Coordinates, Points, PointsInMemory, digest


@dataclass(frozen=True)
class SampledPoints(Points):
    """Some points, in the frame of all.

    Parameters
    ----------
    array : ndarray of shape (k, m), float32 or float64
        The points.
    frame : Frame
        Mean, unit and covariance of all points.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [2.0]])
    >>> points = SampledPoints(X[:1], Frame.of(X))
    >>> len(points), points.coordinates(rescale=False).array
    (1, array([[-1.]]))
    """

    array: Array
    frame: Frame

    def std(self) -> Array:
        """Compute the standard deviation of each feature over all points."""
        return self.frame.std()

    def coordinates(self, *, rescale: bool = True) -> Coordinates:
        """Find the coordinates for the solvers; unless `rescale`, only center the points."""
        array = center(self.array, **self.frame.shift(self.dtype, rescale=rescale))
        unit, covariance = self.frame.unit(rescale=rescale)
        return Coordinates(array, None, unit, covariance)

    def digest(self) -> str:
        """Return a digest of these points and of the frame."""
        return digest(self.array, *self.frame.parts)


def sample_points(points: Points, rows: Array) -> SampledPoints:
    """Take some rows into memory; they keep the mean, unit and covariance of all."""
    own = cast("PointsInMemory | ChunkedPoints", points)
    array = take_rows(own.array, rows) if isinstance(own, ChunkedPoints) else own.array[rows]
    return SampledPoints(array, own.frame)
