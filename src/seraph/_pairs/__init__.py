"""Sums over pairs of points, with their gradients: the one operation of every solver.

Write ``A = P'P``, ``Z = X P'`` and ``t_ij = ||z_i - z_j||^2 - eta``. For a pair term ``phi(t)``
with derivatives ``w``, the entries of a symmetric matrix ``W``, a sum over pairs i < j returns::

    value       sum phi(t_ij)
    slope       sum w_ij                  minus the derivative by eta
    product     Lap(W) Y                  Lap(W) = diag(W 1) - W

from which follow the gradients ``X' Lap(W) X`` by A (with ``Y = X``) and ``2 (Lap(W) Z)' X`` by P
(with ``Y = Z``). No n x n array is stored.

=============  =====================================================================
`_formulas`    the terms of a pair, for arrays of numpy and torch
`_blocks`      sums over blocks of rows that meet each other, for both
`_compiled`    the same loop compiled by numba, for numpy arrays
`_lists`       sums over listed pairs: marks, and samples of the pairs of many classes
=============  =====================================================================
"""

from ._blocks import BlockPairs, sum_over_blocks
from ._formulas import library, like, probability, wide
from ._lists import ListedPairs, sample_class_pairs, sum_over_list

__all__ = [
    "BlockPairs",
    "ListedPairs",
    "library",
    "like",
    "probability",
    "sample_class_pairs",
    "sum_over_blocks",
    "sum_over_list",
    "wide",
]
