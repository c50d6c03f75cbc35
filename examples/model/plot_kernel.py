r"""
Two rings: the metric in a kernel's feature space
=================================================

No linear map pulls one ring together and keeps the other away from it. After kernel PCA, SERAPH
learns the metric in the feature space of a kernel:

.. math:: d(x, x')^2 = (\phi(x) - \phi(x'))^T A\, (\phi(x) - \phi(x')), \qquad
          \langle \phi(x), \phi(x') \rangle = k(x, x').

Six points are labeled, three on each ring. The pictures color the plane by the nearest of the six
under each metric.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.spatial.distance import pdist
from sklearn.datasets import make_circles
from sklearn.decomposition import KernelPCA
from sklearn.pipeline import make_pipeline

from seraph import SERAPH, MetricClassifier

X, y = make_circles(200, factor=0.6, noise=0.05, random_state=0)
y_partial = np.full(len(y), -1)
for k in range(6):  # the labels of one ring lie between those of the other
    rows = np.flatnonzero(y == k % 2)
    spot = (0.6 if k % 2 else 1.0) * np.array([np.cos(k * np.pi / 3), np.sin(k * np.pi / 3)])
    y_partial[rows[np.argmin(np.linalg.norm(X[rows] - spot, axis=1))]] = k % 2
known = y_partial >= 0

# %%
# Both learners see the six labels and all the points.

grid = np.stack(np.meshgrid(*[np.linspace(-1.4, 1.4, 200)] * 2), axis=-1)
figure, panels = plt.subplots(1, 2, figsize=(9.6, 4.8), layout="constrained")
width = 1.0 / np.median(pdist(X, "sqeuclidean"))
kernel = make_pipeline(KernelPCA(kernel="rbf", gamma=width), SERAPH())
for axes, (name, learner) in zip(
    panels, {"SERAPH": SERAPH(), "kernel": kernel}.items(), strict=True
):
    classifier = MetricClassifier(learner, rule="nearest").fit(X, y_partial)
    error = 1 - classifier.score(X[~known], y[~known])
    print(f"{name}: {100 * error:.1f} % errors")
    plane = classifier.predict(grid.reshape(-1, 2)).reshape(200, 200)
    axes.contourf(grid[..., 0], grid[..., 1], plane, levels=[-0.5, 0.5, 1.5], alpha=0.25,
                  colors=["C0", "C1"])  # fmt: skip
    axes.scatter(*X.T, c=np.where(y == 0, "C0", "C1"), s=10)
    axes.scatter(*X[known].T, c=np.where(y[known] == 0, "C0", "C1"), s=130, edgecolors="black")
    axes.set(title=f"{name}: {100 * error:.1f} % errors", xticks=[], yticks=[], aspect="equal")
plt.show()
