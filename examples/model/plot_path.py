r"""
The regularization path
=======================

How does the metric change as the weight of the trace decreases? The path starts where, without
entropy, the metric is zero,

.. math:: \lambda_{max} = \mathrm{eigmax} \Bigl( \sum_{ij} \phi'_{ij}(0)\,
          (x_i - x_j)(x_i - x_j)^T \Bigr),

and each fit starts from the metric before. The directions of the
metric appear one after the other, because the trace keeps the rank low.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from seraph import SERAPH

X, y = load_digits(return_X_y=True)
X, y = X[:300] / 16.0, y[:300]
y_partial = np.where(np.arange(300) < 60, y, -1)

i, j = np.triu_indices(60, 1)
same = y[i] == y[j]
at_zero = (X[i] - X[j]).T * (1 / (1 + np.exp(-1.0)) - same) @ (X[i] - X[j])
lams = np.linalg.eigvalsh(at_zero)[-1] * np.geomspace(0.8, 1e-3, 100)
learner, components = SERAPH(warm_start=True), []
for lam in lams:
    components.append(learner.set_params(lam=lam).fit(X, y_partial).components_)
ranks = [len(P) for P in components]
print(f"{len(lams)} metrics, ranks up to {max(ranks)}")

# %%
# Eigenvalues and rank along the path, and the 1-NN error on the unlabeled digits, which you would
# not know in practice.

figure, (top, bottom) = plt.subplots(
    2, 1, figsize=(8, 6.4), sharex=True, layout="constrained", height_ratios=[3, 1]
)
eigenvalues = np.zeros((len(lams), X.shape[1]))
for row, P in zip(eigenvalues, components, strict=True):
    row[: len(P)] = np.sum(P**2, axis=1)  # its rows are orthogonal
top.semilogx(lams, eigenvalues[:, : max(ranks)])
top.set(ylabel="eigenvalues of the metric", title="The path of the weight of the trace")
top.invert_xaxis()
steps = top.twinx()
steps.step(lams, ranks, where="post", color="0.7", zorder=0)
steps.set_ylabel("rank (gray)")

known = y_partial >= 0
errors = []
for P in components:
    Z = X @ P.T
    apart = np.linalg.norm(Z[~known, np.newaxis] - Z[known], axis=2)
    errors.append(100 * np.mean(y[known][apart.argmin(axis=1)] != y[~known]))
bottom.plot(lams, errors, color="black")
auto = SERAPH().fit(X, y_partial)
bottom.axvline(auto.lam_, color="black", linestyle=":", linewidth=1)
bottom.set(ylabel="1-NN error, %", xlabel="weight of the trace, lam (dotted: auto)")
plt.show()
