r"""
How a solver gets there
=======================

``ConvergenceDisplay`` draws the objective in each iteration, with the rank of the metric in grey,
and how far the end was. The distance falls along a straight line where a solver gains the same
share of what is left in every iteration.

Both solvers below have the paper's ``lam=1.0``. The default, "low-rank", climbs on a narrow factor
of the metric. The paper's own rule, "projected-gradient", takes steps of a length set beforehand;
it is stopped after 200 of them, before it is there, and ``fit`` warns of it.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.exceptions import ConvergenceWarning

from seraph import SERAPH, ConvergenceDisplay
from seraph.datasets import load_task

task = load_task("usps-1-5-40")
train = np.random.default_rng(0).permutation(len(task.X))[:200]
X, y_partial = task.X[train], np.where(np.arange(200) < 20, task.y[train], -1)

# %%
# The low-rank solver is done in less than a hundred iterations. It tells the width of its factor,
# which is the rank at most; the dot is the rank of the metric in the end.

learner = SERAPH(lam=1.0, tol=1e-5).fit(X, y_partial)
print(f"{learner.n_iter_} iterations, objective {learner.objective_:.4f}")
ConvergenceDisplay.from_estimator(learner)
plt.show()

# %%
# The paper's solver. Its own end is not the maximum: the distance is measured to the objective
# that the other one found.

with warnings.catch_warnings():
    warnings.simplefilter("ignore", ConvergenceWarning)
    paper = SERAPH(lam=1.0, solver="projected-gradient").fit(X, y_partial)
print(f"{paper.n_iter_} iterations, objective {paper.objective_:.4f}")
history = paper.history_
ConvergenceDisplay(
    objective=history["objective"], rank=history["rank"], final=learner.objective_
).plot()
plt.show()
