"""
Probabilities that come true
============================

The model's own probability of a pair never exceeds 0.73 (with ``eta=1``), and it is fitted to the
marks it has seen. ``calibrate_proba`` measures the marked pairs by metrics that have not seen
their points, and fits probabilities to these distances. ``ReliabilityDisplay`` compares both on
new points: of the pairs that are given a probability of 0.8, eight in ten should be similar. Here
the learner gets 200 marked pairs, half of them similar, so the new pairs are balanced as well.
"""

import matplotlib.pyplot as plt
import numpy as np

from seraph import SERAPH, Marks, ReliabilityDisplay
from seraph.datasets import load_task

task = load_task("usps-1-5-40")
rng = np.random.default_rng(0)
order = rng.permutation(len(task.X))
(X, y), (X_new, y_new) = ((task.X[rows], task.y[rows]) for rows in (order[:300], order[300:800]))


def balanced_pairs(y, n):
    """Sample pairs of rows, half of them similar."""
    i, j = np.triu_indices(len(y), k=1)
    same = y[i] == y[j]
    chosen = [rng.choice(np.flatnonzero(same == kind), n // 2, replace=False) for kind in (1, 0)]
    return np.column_stack([i, j])[np.concatenate(chosen)], np.repeat([1, -1], n // 2)


pairs, marks = balanced_pairs(y, 200)
new_pairs, new_marks = balanced_pairs(y_new, 2000)
learner = SERAPH().fit(X, marks=Marks(pairs, marks, rows=X))
given = {"pairs": new_pairs, "pair_labels": new_marks}
figure, ax = plt.subplots(layout="constrained")
for name, color in (("the model's own", "C1"), ("calibrated", "C0")):
    if name == "calibrated":
        learner.calibrate_proba(X, marks=Marks(pairs, marks, rows=X))
    ask = learner.calibrated_pair_proba if name == "calibrated" else learner.pair_proba
    p, similar = ask(new_pairs, X_new), new_marks == 1
    ReliabilityDisplay(probabilities=p, similar=similar, name=name).plot(ax=ax, color=color)
    print(f"{name}: Brier score {np.mean((p - similar) ** 2):.3f}")
plt.show()
