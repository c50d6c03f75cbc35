"""Solvers that maximize over the cone of positive semi-definite matrices.

They know an objective and a first factor, and nothing of estimators or data. All take
``(objective, P, *, max_iter, tol, callback)`` and return a `Result`: they maximize a
`MatrixFunction` from the factor `P` of shape (r, m), take at most `max_iter` iterations, stop at
an `optimality_gap` of `tol`, and call `callback` with each `Step` and the factor it reached.
`SOLVERS` is the table of those that users can choose.

=====================  ====================================================================
`low_rank`             L-BFGS on a narrow factor, widened until the certificate holds
`sampled_low_rank`     the same, with most iterations on samples of the objective's terms
`spg`                  spectral projected gradient on the metric itself
`projected_gradient`   the step rule of Niu et al. (2012), to reproduce their figures
`em`                   the EM-like scheme (9)-(11) around any of them
`over_scale`           the scale kappa of the full model (6) around any of them
`Follower`             predictor-corrector continuation along a path of objectives
=====================  ====================================================================
"""

from ._em import em
from ._follow import Follower
from ._low_rank import low_rank
from ._projected_gradient import projected_gradient
from ._psd import compress, optimality_gap, project_psd
from ._quasi_newton import Curvature, backtrack, lbfgs
from ._result import MatrixFunction, Result, Step
from ._sampled import RunAwayError, Surrogate, sampled_low_rank
from ._scale import SCALES, over_scale
from ._spg import spg
from ._table import SOLVERS, Solver

__all__ = [
    "SCALES",
    "SOLVERS",
    "Curvature",
    "Follower",
    "MatrixFunction",
    "Result",
    "RunAwayError",
    "Solver",
    "Step",
    "Surrogate",
    "backtrack",
    "compress",
    "em",
    "lbfgs",
    "low_rank",
    "optimality_gap",
    "over_scale",
    "project_psd",
    "projected_gradient",
    "sampled_low_rank",
    "spg",
]
