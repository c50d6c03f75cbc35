r"""
Two moons: keeping neighbors together
=====================================

The manifold extension subtracts

.. math:: \nu\, \mathrm{tr}(X^T L X A) = \nu \sum_{edges} \|x_i - x_j\|_A^2

from the objective, where L is the Laplacian of the nearest-neighbor graph. This penalizes a metric
that moves neighbors apart. A weight of (labeled pairs) / (edges) makes the graph count as much as
the labels.

With a linear map this helps against noisy features, which move neighbors apart. It helps most with
a kernel, whose map can follow the graph around its bends: from six labels the graph carries the
classes along the moons.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons
from sklearn.decomposition import KernelPCA
from sklearn.neighbors import kneighbors_graph
from sklearn.pipeline import make_pipeline

from seraph import SERAPH, MetricClassifier

rng = np.random.default_rng(11)
X, y = make_moons(200, noise=0.1, random_state=11)
y_partial = np.full(len(y), -1)
for moon in (0, 1):
    y_partial[rng.permutation(np.flatnonzero(y == moon))[:3]] = moon
known = y_partial >= 0

graph = kneighbors_graph(X, 10)
graph = graph.maximum(graph.T)
balance = 15 / (graph.nnz / 2)  # 6 labels are 15 labeled pairs

# %%
# Without the graph, and with a graph that counts three times as much as the labels.

grid = np.stack(np.meshgrid(np.linspace(-1.5, 2.5, 200), np.linspace(-1, 1.5, 200)), axis=-1)
figure, panels = plt.subplots(1, 2, figsize=(9.6, 3.6), layout="constrained")
for axes, weight in zip(panels, (0.0, 3.0), strict=True):
    kernel = KernelPCA(kernel="rbf", gamma=3.0)
    learner = make_pipeline(kernel, SERAPH(manifold=weight * balance))
    classifier = MetricClassifier(learner, rule="nearest").fit(X, y_partial)
    error = 1 - classifier.score(X[~known], y[~known])
    plane = classifier.predict(grid.reshape(-1, 2)).reshape(200, 200)
    axes.contourf(grid[..., 0], grid[..., 1], plane, levels=[-0.5, 0.5, 1.5], alpha=0.25,
                  colors=["C0", "C1"])  # fmt: skip
    if weight:
        for i, j in zip(*graph.nonzero(), strict=True):
            axes.plot(*X[[i, j]].T, color="0.6", linewidth=0.3, zorder=0)
    axes.scatter(*X.T, c=np.where(y == 0, "C0", "C1"), s=8)
    axes.scatter(*X[known].T, c=np.where(y[known] == 0, "C0", "C1"), s=110, edgecolors="black")
    title = "With the graph" if weight else "Labels and entropy alone"
    axes.set(title=f"{title}: {100 * error:.1f} % errors", xticks=[], yticks=[], aspect="equal")
plt.show()
