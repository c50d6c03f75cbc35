r"""
How a solver converges
======================

``ConvergenceDisplay`` draws the objective at each iteration, the rank of the metric (gray), and
how far the objective is from its final value. That distance falls along a straight line when a
solver gains the same share of what is left in every iteration.

Both solvers below use the paper's ``lam=1.0``. The default, "low-rank", climbs on a narrow factor
of the metric. The paper's rule, "projected-gradient", takes steps of a length set in advance. It
stops after 200 of them, before it has converged, and ``fit`` warns.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.exceptions import ConvergenceWarning

from seraph import SERAPH
from seraph.datasets import load_task
from seraph.plot import ConvergenceDisplay

task = load_task("usps-1-5-40")
train = np.random.default_rng(0).permutation(len(task.X))[:200]
X, y_partial = task.X[train], np.where(np.arange(200) < 20, task.y[train], -1)

# %%
# The low-rank solver converges in fewer than a hundred iterations. The gray line is the width of
# its factor, an upper bound on the rank; the dot is the rank of the final metric.

learner = SERAPH(shrinkage=0, lam=1.0, tol=1e-5).fit(X, y_partial)
print(f"{learner.n_iter_} iterations, objective {learner.objective_:.4f}")
ConvergenceDisplay.from_estimator(learner)
plt.show()

# %%
# The paper's solver stops short of the maximum, so the distance is measured to the objective that
# the low-rank solver found.

with warnings.catch_warnings():
    warnings.simplefilter("ignore", ConvergenceWarning)
    paper = SERAPH(shrinkage=0, lam=1.0, solver="projected-gradient").fit(X, y_partial)
print(f"{paper.n_iter_} iterations, objective {paper.objective_:.4f}")
history = paper.history_
ConvergenceDisplay(
    objective=history["objective"], rank=history["rank"], final=learner.objective_
).plot()
plt.show()
