r"""
What lam and mu do
==================

``lam`` weights the trace of the metric, ``mu`` the entropy of the unlabeled pairs. Both default to
``"auto"``; here they are set to multiples of the automatic values. The data are 100 wines of
three cultivars, four of each labeled.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

from seraph import SERAPH, MetricClassifier

wines, cultivar = load_wine(return_X_y=True)
wines = StandardScaler().fit_transform(wines)


def sampling(seed):
    """100 wines, four of each cultivar labeled, and 78 others to test on."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(wines))
    train, test = order[:100], order[100:]
    y_partial = np.full(100, -1)
    for one in range(3):
        rows = np.flatnonzero(cultivar[train] == one)[:4]
        y_partial[rows] = one
    return wines[train], cultivar[train], y_partial, wines[test], cultivar[test]


# %%
# The points under nine metrics, on their two leading principal components. Labeled points are
# larger; the colors of the others are for you. With a small ``lam`` (left) the labeled wines of a
# cultivar collapse while the others stay behind: the metric has memorized the 12 labels. With a
# large ``lam`` (right) the labels count for little. The entropy (``mu``, growing downward) works
# against the trace: the more of it, the more directions remain.

X, y, y_partial, X_test, y_test = sampling(0)
auto = SERAPH().fit(X, y_partial)
known = y_partial >= 0

figure, panels = plt.subplots(3, 3, figsize=(9.6, 9.6), layout="constrained")
for row, mu in zip(panels, (0.0, 1.0, 10.0), strict=True):
    for axes, lam in zip(row, (0.1, 1.0, 10.0), strict=True):
        learner = SERAPH(lam=lam * auto.lam_, mu=mu * auto.mu_, max_iter=1000).fit(X, y_partial)
        Z = learner.transform(X)
        Z = PCA(2).fit_transform(Z) if Z.shape[1] > 1 else np.c_[Z, np.zeros(len(Z))]
        colors = np.array([f"C{one}" for one in y])
        axes.scatter(*Z.T, c=colors, s=12, alpha=0.7)
        axes.scatter(*Z[known].T, c=colors[known], s=70, edgecolors="black")
        axes.set_title(f"lam x {lam:g}, mu x {mu:g}: rank {len(learner.components_)}")
        axes.set(xticks=[], yticks=[])
plt.show()

# %%
# The error of the nearest labeled wine, averaged over ten samplings. The valley is wide and
# contains the automatic weights. It runs along the diagonal: more entropy needs more trace.

steps = (0.1, 0.3, 1.0, 3.0, 10.0)
mus = (0.0, *steps)
errors = np.zeros((len(mus), len(steps)))
euclidean = 0.0
for seed in range(10):
    X, y, y_partial, X_test, y_test = sampling(seed)
    auto = SERAPH().fit(X, y_partial)
    known = y_partial >= 0
    apart = np.linalg.norm(X_test[:, np.newaxis] - X[known], axis=2)
    euclidean += 10 * np.mean(y[known][apart.argmin(axis=1)] != y_test)
    for i, mu in enumerate(mus):
        for j, lam in enumerate(steps):
            learner = SERAPH(lam=lam * auto.lam_, mu=mu * auto.mu_, max_iter=1000)
            classifier = MetricClassifier(learner, rule="nearest").fit(X, y_partial)
            errors[i, j] += 10 * (1 - classifier.score(X_test, y_test))
print(f"Euclidean: {euclidean:.1f} % errors; automatic weights: {errors[3, 2]:.1f} %")

figure, axes = plt.subplots(figsize=(7, 5), layout="constrained")
picture = axes.imshow(errors, cmap="viridis_r", origin="lower", aspect="auto")
for i in range(len(mus)):
    for j in range(len(steps)):
        dark = errors[i, j] > (errors.min() + errors.max()) / 2
        axes.text(j, i, f"{errors[i, j]:.1f}", ha="center", va="center",
                  color="white" if dark else "black")  # fmt: skip
axes.set(xlabel="lam, in multiples of the automatic one")
axes.set(ylabel="mu, in multiples of the automatic one", title="Error by lam and mu")
axes.set_xticks(range(len(steps)), [f"{lam:g}" for lam in steps])
axes.set_yticks(range(len(mus)), [f"{mu:g}" for mu in mus])
figure.colorbar(picture, label="error of the nearest labeled neighbor, %")
plt.show()
