"""The objective of a fit: a sum of terms with gradients, for solvers that know nothing of data.

===============  ====================================================================
`_term`          the interface of a term, and the trace
`_pair_terms`    the unlabeled pairs, the pairs of classes and the marked pairs
`_triplets`      "a is nearer to b than to c"
`_manifold`      roughness on a neighbor graph
`_objective`     their sum, (7); the full model (6)
`_problem`       the objective of points, labels and parameters
===============  ====================================================================
"""

from ._objective import FullModel, Objective
from ._problem import ROWS, Problem, to_solver
from ._term import Term, Trace
from ._triplets import Triplets

__all__ = ["ROWS", "FullModel", "Objective", "Problem", "Term", "Trace", "Triplets", "to_solver"]
