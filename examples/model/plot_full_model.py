r"""
The full model, and what it adds
================================

The paper's full model (6) learns how steep the probability of a pair is,

.. math:: p(y \mid x, x') = \frac{1}{1 + \exp(-\kappa\, y\, (d^2 - \eta))},
          \qquad \kappa < 0,

and subtracts a Gaussian prior :math:`\frac{\gamma}{2} \kappa^2` from the objective.
``SERAPH(gamma=...)`` maximizes over the metric and :math:`\kappa` together. By Theorem 2 the
result equals that of the simplified model (7) with the threshold :math:`-\kappa \eta` and the
weight :math:`\lambda / {-\kappa}`.

The left picture shows the best value for each :math:`\kappa`. A stronger prior lowers and moves
the maximum, until nothing is better than :math:`\kappa = 0`, where every pair is as likely similar
as not. The right picture shows that both models give every pair the same probability.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from seraph import SERAPH

X, y = load_wine(return_X_y=True)
X = StandardScaler().fit_transform(X)
y_partial = np.where(np.arange(len(y)) % 10 == 0, y, -1)  # 18 labels

# %%
# One fit finds the metric and kappa. The curve comes from fits of (7), for comparison.

full = SERAPH(gamma=10.0, mu=0.0, tol=1e-5).fit(X, y_partial)
print(f"kappa {full.kappa_:.3f}, objective {full.objective_:.2f}")

scales = np.geomspace(0.2, 6, 25)
simplified = [
    SERAPH(mu=0.0, eta=s, lam=full.lam_ / s, max_iter=1000).fit(X, y_partial).objective_
    for s in scales
]

# %%
# Theorem 2: fit (7) with the threshold and the weight that follow from the full model.

s = -full.kappa_
same = SERAPH(mu=0.0, eta=s * full.eta_, lam=full.lam_ / s, tol=1e-5).fit(X, y_partial)
pairs = X[np.random.default_rng(0).integers(len(X), size=(500, 2))]

figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 4.2), layout="constrained")
for gamma in (2.0, 10.0, 50.0):
    values = np.array(simplified) - gamma / 2 * scales**2
    left.plot(scales, values, label=f"gamma = {gamma:g}")
    found = SERAPH(gamma=gamma, mu=0.0).fit(X, y_partial)
    left.plot(-found.kappa_, found.objective_, "k*", markersize=10)
zero = -np.log(2) * (full.n_similar_ + full.n_dissimilar_)
left.axhline(zero, color="0.6", linestyle=":", label="kappa = 0")
left.set(xscale="log", ylim=(1.5 * zero, 0), xlabel="-kappa", ylabel="best value of (6)")
left.set_xticks([0.25, 0.5, 1, 2, 4], labels=["0.25", "0.5", "1", "2", "4"])
left.minorticks_off()
left.set_title("The maximum that fit finds (stars)")
left.legend()

right.plot([0, 1], [0, 1], color="0.7", linewidth=1)
right.scatter(full.pair_proba(pairs), same.pair_proba(pairs), s=8)
right.set(xlabel="full model", ylabel="simplified model", aspect="equal")
right.set_title("Probability that a pair is similar")
plt.show()
