"""The objective of a fit: a sum of terms with gradients, for solvers that know nothing of data.

===============  ====================================================================
`_triplets`      "a is nearer to b than to c"
`_manifold`      roughness on a neighbor graph
`_objective`     a term, those of pairs, the trace, and their sum, (7)
`_full_model`    (6), with the scale kappa
`_problem`       the objective of points, labels and parameters
===============  ====================================================================
"""

from ._full_model import FullModel
from ._objective import Objective, Term, Trace
from ._problem import ROWS, Problem, to_solver
from ._triplets import Triplets
