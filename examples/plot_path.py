r"""
The regularization path
=======================

How does the metric change as the weight of the trace decreases? ``seraph_path`` starts where the
metric is zero, and follows the solution from there: each fit starts from the metric of the weight
before. The directions of the metric appear one after the other: the trace keeps the rank low.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from seraph import SERAPH, seraph_path

X, y = load_digits(return_X_y=True)
X, y = X[:300] / 16.0, y[:300]
y_partial = np.where(np.arange(300) < 60, y, -1)

lams, components, gaps = seraph_path(X, y_partial, learner=SERAPH(max_iter=1000))
ranks = [len(P) for P in components]
print(f"{len(lams)} metrics, ranks up to {max(ranks)}, gaps up to {gaps.max():.1e}")

# %%
# Eigenvalues and rank along the path, and the 1-NN error on the unlabeled digits, which you would
# not know in practice.

eigenvalues = np.zeros((len(lams), max(ranks)))
for row, P in zip(eigenvalues, components, strict=True):
    row[: len(P)] = (P**2).sum(axis=1)  # the rows of P are orthogonal

figure, (top, bottom) = plt.subplots(
    2, 1, figsize=(8, 6.4), sharex=True, layout="constrained", height_ratios=[3, 1]
)
top.semilogx(lams, eigenvalues)
top.set(ylabel="eigenvalues of the metric")
top.invert_xaxis()
steps = top.twinx()
steps.step(lams, ranks, where="post", color="0.7", zorder=0)
steps.set_ylabel("rank (gray)")

known = y_partial >= 0
errors = []
for P in components[1:]:
    Z = X @ P.T
    apart = np.linalg.norm(Z[~known, np.newaxis] - Z[known], axis=2)
    errors.append(100 * np.mean(y[known][apart.argmin(axis=1)] != y[~known]))
bottom.plot(lams[1:], errors, color="black")
bottom.axvline(SERAPH().fit(X, y_partial).lam_, color="black", linestyle=":", linewidth=1)
bottom.set(ylabel="1-NN error, %", xlabel="weight of the trace, lam (dotted: auto)")
plt.show()
