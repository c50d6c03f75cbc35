"""Solvers that maximize over the cone of positive semi-definite matrices.

They know an objective and a first factor, and nothing of estimators or data. All take
``(objective, P, *, max_iter, tol, callback)`` and return a `Result`: they maximize a
`MatrixFunction` from the factor `P` of shape (r, m), take at most `max_iter` iterations, stop at
an `optimality_gap` of `tol`, and call `callback` with each `Step` and the factor it reached.
Arrays are of numpy, or of torch on any device. `SOLVERS` is the table of those that users can
choose.

=====================  ====================================================================
`low_rank`             L-BFGS on a low-rank factor, widened until the certificate holds
`spg`                  spectral projected gradient on the metric itself
`projected_gradient`   the step rule of Niu et al. (2012), to reproduce their figures
`em`                   the EM-like scheme (9)-(11) around any of them
`over_scale`           the scale kappa of the full model (6) around any of them
=====================  ====================================================================
"""

from ._em import em
from ._lbfgs import Curvature, backtrack
from ._low_rank import low_rank
from ._projected_gradient import projected_gradient
from ._psd import compress, optimality_gap, project_psd
from ._result import MatrixFunction, Result, Step
from ._scale import SCALES, over_scale
from ._spg import spg
from ._table import SOLVERS, Solver
