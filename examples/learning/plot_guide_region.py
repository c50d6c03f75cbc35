"""
When a matrix is not enough
===========================

A learned matrix measures a difference in the same way everywhere: the dark curves around three
stars, circles of the learned distance, are all alike. That is enough where a line divides the
classes, or two. On the right, the vertical difference counts in one half of the table alone. No
matrix can say so, but a forest of pairs knows where the two rows are: in the colored areas
:class:`seraph.PairClassifier` calls a row alike to the one at the star.
"""

import matplotlib.pyplot as plt
import numpy as np

from seraph import Marks, MeanMetric, PairClassifier

rng = np.random.default_rng(0)
X = rng.uniform(-1, 1, size=(400, 2))
classes = {
    "a line: one direction counts": lambda left, low: low * 1,
    "two lines: both count": lambda left, low: left * 2 + low,
    "a region: one counts in one half": lambda left, low: np.where(left, 2, low),
}
pairs = rng.choice(400, size=(400, 2))
pairs = pairs[pairs[:, 0] != pairs[:, 1]]
stars = np.array([[-0.5, 0.5], [0.5, 0.5], [0.5, -0.5]])
grid = np.stack(np.meshgrid(*[np.linspace(-1, 1, 121)] * 2), axis=-1)
new = rng.uniform(-1, 1, size=(200, 2))

figure, panels = plt.subplots(1, 3, figsize=(10.5, 4.1), layout="constrained")
for axes, (name, classify) in zip(panels, classes.items(), strict=True):
    y, truth = classify(*(X < 0).T), classify(*(new < 0).T)
    marks = Marks(pairs, y[pairs[:, 0]] == y[pairs[:, 1]], rows=X)
    matrix, both = MeanMetric().fit(X, marks=marks), PairClassifier().fit(X, marks=marks)
    for star, color in zip(stars, ("C0", "C1", "C2"), strict=True):
        against = np.stack([np.broadcast_to(star, (121 * 121, 2)), grid.reshape(-1, 2)], axis=1)
        alike = both.predict(against).reshape(121, 121)
        axes.contourf(grid[..., 0], grid[..., 1], alike, levels=[0, 1], colors=[color], alpha=0.3)
        d = matrix.pair_distance(against).reshape(121, 121)
        axes.contour(grid[..., 0], grid[..., 1], d, levels=[np.quantile(d, 0.04)], colors="0.2")
        axes.plot(*star, "*", color=color, markeredgecolor="k", markersize=14)
    for k, marker in enumerate(".x+v"[: y.max() + 1]):
        axes.scatter(*X[y == k].T, marker=marker, s=14, color="0.35", linewidths=0.7)
    axes.set(title=name, xticks=[], yticks=[], aspect="equal", xlim=(-1, 1), ylim=(-1, 1))
    aucs = [one.score(new, truth) for one in (matrix, both)]
    axes.set_xlabel("AUC {:.2f}, with the forest {:.2f}".format(*aucs))
plt.show()
