r"""
The regularization path
=======================

How does the metric change as the weight of the trace decreases? ``seraph_path`` starts where the
metric is zero,

.. math:: \lambda_{max} = \mathrm{eigmax} \Bigl( \sum_{ij} \phi'_{ij}(0)\,
          (x_i - x_j)(x_i - x_j)^T \Bigr),

and follows the solution from there. The directions of the metric appear one after the other: the
trace keeps the rank low. Each solution is predicted from the previous ones and then corrected, so
the path needs a quarter of the sweeps over the pairs that a hundred fits would need.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from seraph import seraph_path

X, y = load_digits(return_X_y=True)
X, y = X[:300] / 16.0, y[:300]
y_partial = np.where(np.arange(300) < 60, y, -1)

path = seraph_path(X, y_partial)
print(f"{len(path.lams)} metrics in {path.n_sweeps.sum()} sweeps, ranks up to {path.ranks.max()}")

# %%
# Eigenvalues and rank along the path, and the 1-NN error on the unlabeled digits, which you would
# not know in practice.

figure, (top, bottom) = plt.subplots(
    2, 1, figsize=(8, 6.4), sharex=True, layout="constrained", height_ratios=[3, 1]
)
top.semilogx(path.lams, path.eigenvalues)
top.set(ylabel="eigenvalues of the metric")
top.invert_xaxis()
steps = top.twinx()
steps.step(path.lams, path.ranks, where="post", color="0.7", zorder=0)
steps.set_ylabel("rank (gray)")

known = y_partial >= 0
errors = []
for P in path.components[1:]:
    Z = X @ P.T
    apart = np.linalg.norm(Z[~known, np.newaxis] - Z[known], axis=2)
    errors.append(100 * np.mean(y[known][apart.argmin(axis=1)] != y[~known]))
bottom.plot(path.lams[1:], errors, color="black")
bottom.axvline(path.auto_lam, color="black", linestyle=":", linewidth=1)
bottom.set(ylabel="1-NN error, %", xlabel="weight of the trace, lam (dotted: auto)")
plt.show()
