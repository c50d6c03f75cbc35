"""The rows of table 2: for each method a title, and a function that makes the learner."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from seraph import SERAPH
from seraph._solvers import SOLVERS
from seraph.classic import GDM, ITML, LMNN, NCA, Euclidean

from ._rivals import LDM, MFDA

# The paper's four settings, with projected gradient steps. With lam = 0 the objective may have no
# maximum, so the solver's 200 steps define the method.
_as_in_paper = partial(SERAPH, solver="projected-gradient")
# At most 50 M-steps of the EM-like scheme; and its first M-step, by the same steps.
SOLVERS["em-50"] = replace(SOLVERS["em"], m_steps=50)
SOLVERS["first-m-step"] = replace(SOLVERS["projected-gradient"], m_steps=1)


# The competing methods are solved to their optimum, as their papers define them. The defaults of
# the learners differ: they are chosen by the error of nearest neighbors.
METHODS: dict[str, tuple[str, Callable[[], Any]]] = {
    "euclidean": ("Euclidean", Euclidean),
    "gdm": ("GDM", partial(GDM, ridge=1e-6, n_constraints=None, tol=1e-4)),
    "nca": ("NCA", NCA),
    "lmnn": ("LMNN", partial(LMNN, tol=0.01)),
    "itml": ("ITML", partial(ITML, gamma=1.0, n_constraints=None, tol=1e-6)),
    "ldm": ("LDM", LDM),
    "mfda": ("MFDA", MFDA),
    "none": ("SERAPH none: mu=0, lam=0", partial(_as_in_paper, mu=0.0, lam=0.0)),
    "post": ("SERAPH post: lam=0", partial(_as_in_paper, lam=0.0)),
    "proj": ("SERAPH proj: mu=0, lam=1", partial(_as_in_paper, mu=0.0, lam=1.0)),
    "hyper": ("SERAPH hyper: lam=1", partial(_as_in_paper, lam=1.0)),
    "hyper-em": ("hyper by EM, 50 M-steps", partial(SERAPH, lam=1.0, solver="em-50")),
    "hyper-em1": ("hyper by EM, 1 M-step", partial(SERAPH, lam=1.0, solver="first-m-step")),
    "hyper-exact": ("SERAPH(lam=1), converged", partial(SERAPH, lam=1.0, max_iter=2000)),
    "seraph": ("SERAPH()", SERAPH),
}

# The row of the paper's table that our extra rows are compared with.
COUNTERPART = dict.fromkeys(("hyper-em", "hyper-em1", "hyper-exact", "seraph"), "hyper")
