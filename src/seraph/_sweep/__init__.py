r"""Sums over the pairs of points, with their gradients: the one operation of every solver.

Write ``A = P'P`` and ``d2_ij = ||P x_i - P x_j||^2``. For pair terms ``phi(d2)`` with
derivatives ``w``, the entries of a symmetric matrix ``W``, a sweep computes over pairs i < j::

    value       sum phi(d2_ij)
    d / dA      X' Lap(W) X             Lap(W) = diag(W 1) - W
    d / dP      2 (Lap(W) Z)' X         Z = X P'
    d / d eta   -1/2 1' W 1

A backend holds the points. It is called with a factor ``P``, and returns the sum and an m x m or
r x m matrix. It sweeps the pairs in tiles, in O(n m + tile^2) memory. Code outside this package
does not know which backend runs. ::

              L          U            Rows are ordered, class-labeled ones first (L).
         +---------+-----------+
       L | labeled |           |      The triangle L x L has the labeled pairs of the classes,
         |   `.    | unlabeled |      all other tiles have unlabeled pairs.
         +---------+           |
       U |         |   `.      |      Marked pairs lie outside L x L. Their points are gathered,
         +---------+-----------+      and their unlabeled term, which a tile added, is subtracted.

A sweep visits the tiles on and above the diagonal; if ``mu = 0``, only those of L x L. ::

    _choose    picks a backend and makes its sweep
    _terms     the arguments of a sweep: which term each pair has
    _plan      cuts the pairs into weighted tiles: all of them, or a share
    _lists     lists of pairs, with their weights, and samples of the unlabeled ones
    _formulas  the pair terms, for numpy and torch; _compiled has them for numba
    _tiles     sums over tiles and lists, and their gradients, for all backends in memory
    _numpy     backends "numpy" and "numba": threads, and lists as sparse matrices
    _torch     backend "torch": tensors; on CUDA, the kernels in _kernels, launched by _triton,
               or at once by _cuda_graphs
    _dask      backend "dask": parts of the points on a cluster, swept by the tasks in _tasks
    _points    points in memory, their coordinates and checks; _chunks has those in dask
    _moments   mean and covariance of all points in one pass
    _samples   some of the points, in the coordinates of all
"""

from ._choose import BACKENDS, check_backend, choose_backend, make_sweep, workers
from ._chunks import ChunkedPoints, map_rows
from ._formulas import posterior
from ._lists import PairList
from ._moments import exact_size
from ._numpy import NumbaSweep, NumpySweep
from ._plan import Plan, SampleSizes
from ._points import (
    CONSTANT_FEATURE,
    FLOATS,
    Coordinates,
    Points,
    PointsInMemory,
    check_range,
    check_unit,
    digest,
    header,
    is_chunked,
    is_tensor,
    magnitude,
    principal_directions,
    subtract_mean,
    to_memory,
)
from ._samples import SampledPoints, sample_points
from ._terms import PairTerms, Posterior, Sweep

__all__ = [
    "BACKENDS",
    "CONSTANT_FEATURE",
    "FLOATS",
    "ChunkedPoints",
    "Coordinates",
    "NumbaSweep",
    "NumpySweep",
    "PairList",
    "PairTerms",
    "Plan",
    "Points",
    "PointsInMemory",
    "Posterior",
    "SampleSizes",
    "SampledPoints",
    "Sweep",
    "check_backend",
    "check_range",
    "check_unit",
    "choose_backend",
    "digest",
    "exact_size",
    "header",
    "is_chunked",
    "is_tensor",
    "magnitude",
    "make_sweep",
    "map_rows",
    "posterior",
    "principal_directions",
    "sample_points",
    "subtract_mean",
    "to_memory",
    "workers",
]
