"""The learners without shrinkage: what they hand out is the optimum itself.

Tests of the model and its solvers import these names in place of the package's own.
"""

from functools import partial

import seraph

SERAPH = partial(seraph.SERAPH, shrinkage=0)
KernelSERAPH = partial(seraph.KernelSERAPH, shrinkage=0)
