"""The learners without shrinkage: what they hand out is the optimum itself.

Tests of the model and its solvers import these names in place of the package's own.
"""

from functools import partial
from inspect import signature

import seraph

SERAPH = partial(seraph.SERAPH, shrinkage=0)
OF_KERNEL = set(signature(seraph.KernelSERAPH).parameters)


def KernelSERAPH(**parameters):
    """Make a KernelSERAPH; parameters that it does not have are those of its learner."""
    own = {name: parameters.pop(name) for name in OF_KERNEL & set(parameters)}
    return seraph.KernelSERAPH(**{"learner": SERAPH(**parameters), **own})
