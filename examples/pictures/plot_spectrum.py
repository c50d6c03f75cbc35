r"""
The spectrum of a metric
========================

The eigenvalues of a metric show how many directions it uses, and how evenly. Of 200 images of ten
digits, 40 are labeled. ``SERAPH`` keeps a few of 64 directions: the weight of the trace drops the
others entirely. ITML stays near the Euclidean metric that it starts from, and keeps all 64.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from seraph import SERAPH
from seraph.classic import ITML

X, y = load_digits(return_X_y=True)
X, y_partial = X[:200] / 16.0, np.where(np.arange(200) < 40, y[:200], -1)

figure, axes = plt.subplots(1, 2, figsize=(9.6, 4.2), layout="constrained")
for ax, learner in zip(axes, (SERAPH(), ITML()), strict=True):
    learner.fit(X, y_partial)
    eigenvalues = np.linalg.svd(learner.components_, compute_uv=False) ** 2
    ax.semilogy(1 + np.arange(len(eigenvalues)), eigenvalues, "o")
    title = f"{learner}: rank {len(eigenvalues)} of {X.shape[1]}"
    ax.set(title=title, xlabel="eigenvalue number", ylabel="eigenvalue of the metric")
    half = 1 + np.searchsorted(np.cumsum(eigenvalues), 0.5 * sum(eigenvalues))
    print(f"{learner}: half of the trace is in {half} directions")
plt.show()
