"""Sums over pairs of points, with their gradients: the one operation of every learner of pairs.

Write ``A = P'P``, ``Z = X P'`` and ``t_ij = ||z_i - z_j||^2 - eta``. For a function ``phi(t)`` of
pairs with derivatives ``w``, the entries of a symmetric matrix ``W``, a sum over pairs i < j
returns::

    value       sum phi(t_ij)
    slope       sum w_ij                  minus the derivative with respect to eta
    product     Lap(W) Y                  Lap(W) = diag(W 1) - W

from which follow the gradients ``X' Lap(W) X`` by A (with ``Y = X``) and ``2 (Lap(W) Z)' X`` by P
(with ``Y = Z``). No n x n array is stored.

=============  =====================================================================
`_functions`   squared distances, functions of them, and those of SERAPH
`_blocks`      sums over blocks of rows that meet each other, for numpy and torch
`_compiled`    the same loop compiled by numba, for numpy arrays
`_lists`       sums over listed pairs: marks, and samples of the pairs of many classes
`_numbers`     the pairs that classes imply, by number, and samples of them
=============  =====================================================================
"""

from ._blocks import BlockPairs, sum_over_blocks
from ._functions import (
    CHUNK,
    Formula,
    LogLikelihood,
    MStep,
    NegativeEntropy,
    PairFunction,
    library,
    like,
    probability,
    squared_distances,
    wide,
)
from ._lists import ListedPairs, sum_over_list
from ._numbers import class_pairs, sample_class_pairs
