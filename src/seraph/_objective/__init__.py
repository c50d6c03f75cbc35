"""The objective of a fit: a sum of terms with gradients, for solvers that know nothing of data.

===============  ====================================================================
`_pair_terms`    the unlabeled pairs, the pairs of classes and the marked pairs
`_triplets`      "a is nearer to b than to c"
`_manifold`      roughness on a neighbor graph
`_objective`     the interface of a term, the trace, and the sum of terms, (7)
`_full_model`    (6), with the scale kappa
`_problem`       the objective of points, labels and parameters
===============  ====================================================================
"""

from ._full_model import FullModel
from ._objective import Objective, Term, Trace
from ._problem import ROWS, Problem, to_solver
from ._triplets import Triplets

__all__ = ["ROWS", "FullModel", "Objective", "Problem", "Term", "Trace", "Triplets", "to_solver"]
