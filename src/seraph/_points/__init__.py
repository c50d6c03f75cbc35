"""The points of a fit: what users pass, its mean and covariance, and the rows that are summed.

===========  ======================================================================
`_arrays`    what `X` is, and simple properties of arrays of points
`_frame`     check `X`; center, unit and span of the points, and access to rows
`_dask`      the same for a dask collection, in one pass
===========  ======================================================================
"""

from ._arrays import (
    CONSTANT_FEATURE,
    FLOATS,
    as_points,
    check_range,
    check_tensor,
    exact_size,
    header,
    is_chunked,
    is_tensor,
    magnitude,
    principal_directions,
    subtract_mean,
    to_memory,
)
from ._dask import count_rows, map_rows, take_rows
from ._frame import Frame, PointSet, choose_rows, read_points
