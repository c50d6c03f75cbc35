r"""The one operation everything rests on: a sum over pairs, and its gradient.

Write ``A = P'P`` and ``d2_ij = ||P x_i - P x_j||^2``. For pair terms ``phi(d2)`` with
derivatives ``w``, gathered in the symmetric matrix ``W``, a sweep computes over pairs i < j::

    value       sum phi(d2_ij)
    d / dA      X' Lap(W) X             Lap(W) = diag(W 1) - W
    d / dP      2 (Lap(W) Z)' X         Z = X P'
    d / d eta   -1/2 1' W 1

A backend holds the points and is called with a factor ``P``; what comes back are sums, an
m x m or an r x m matrix. No n x n array exists: the pairs are swept in tiles, and memory is
O(n m + tile^2). Which backend ran is not known outside of this package. ::

              L          U            rows are ordered: class-labelled ones first (L)
         +---------+-----------+
       L | labelled|           |      the triangle L x L   labelled pairs, from the classes
         |   `.    | unlabelled|      all other tiles      unlabelled pairs
         +---------+           |
       U |         |   `.      |      listed pairs outside of L x L are gathered in chunks:
         +---------+-----------+      their labelled term, less the unlabelled one

Only tiles on or above the diagonal are visited; of ``mu = 0`` only L x L.
"""

from ._choose import BACKENDS, Backend, choose_backend, make_sweep, workers
from ._numpy import NumbaSweep, NumpySweep
from ._terms import PairTerms, Posterior, Sample, Sweep
from ._threads import one_blas_thread

__all__ = [
    "BACKENDS",
    "Backend",
    "NumbaSweep",
    "NumpySweep",
    "PairTerms",
    "Posterior",
    "Sample",
    "Sweep",
    "choose_backend",
    "make_sweep",
    "one_blas_thread",
    "workers",
]
