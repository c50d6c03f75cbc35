"""The rows of Table 2: what each method's name stands for."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from .._base import MahalanobisLearner
from .._estimators._seraph import SERAPH
from ..classic import GDM, ITML, LDM, LMNN, MFDA, NCA, Euclidean

# The four settings of the paper, solved as it solves them. With lam = 0 there is no maximum to
# converge to, so there these 200 steps are the definition of the method.
_papers = partial(SERAPH, solver="projected-gradient")

METHODS: dict[str, tuple[str, Callable[[], MahalanobisLearner]]] = {
    "euclidean": ("Euclidean", Euclidean),
    "gdm": ("GDM", GDM),
    "nca": ("NCA", NCA),
    "lmnn": ("LMNN", LMNN),
    "itml": ("ITML", ITML),
    "ldm": ("LDM", partial(LDM, lam=0.0)),  # as in its paper
    "mfda": ("MFDA", MFDA),
    "none": ("SERAPH none", partial(_papers, mu=0.0, lam=0.0)),
    "post": ("SERAPH post", partial(_papers, lam=0.0)),
    "proj": ("SERAPH proj", partial(_papers, mu=0.0, lam=1.0)),
    "hyper": ("SERAPH hyper", partial(_papers, lam=1.0)),
    "hyper-em": ("hyper, EM to its end", partial(SERAPH, lam=1.0, algorithm="em")),
    "hyper-em1": (
        "hyper, first M-step",
        partial(_papers, lam=1.0, algorithm="em", em_max_iter=1),
    ),
    "hyper-exact": ("hyper, to convergence", partial(SERAPH, lam=1.0, max_iter=2000)),
    "auto": ('SERAPH, lam="auto"', SERAPH),
}

# Which row of the paper's table a row of ours is held against.
COUNTERPART = dict.fromkeys(("hyper-em", "hyper-em1", "hyper-exact", "auto"), "hyper")
