r"""
Posterior sparsity
==================

A metric gives the probability that two points are alike,

.. math:: p = \frac{1}{1 + e^{d^2 - \eta}},

and SERAPH subtracts :math:`\mu` times the entropy of the unlabeled pairs from its objective: it
prefers probabilities near 0 or near their maximum. A histogram shows the effect. Both
learners get the same 20 labels. Without the entropy (left), many unlabeled pairs stay in the
middle. With it (right), most move to one side: usually to "different digits", which four in five
of them are. No probability exceeds the one at distance zero, :math:`1 / (1 + e^{-\eta})`.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from seraph import SERAPH

images, digit = load_digits(return_X_y=True)
few = (digit >= 1) & (digit <= 5)
images, digit = images[few] / 16.0, digit[few]
X, y_partial = images[:200], np.where(np.arange(200) < 20, digit[:200], -1)

unlabeled = np.array([(i, j) for i in range(200) for j in range(max(i + 1, 20), 200)])

figure, axes = plt.subplots(1, 2, figsize=(9.6, 4.2), layout="constrained", sharey=True)
for ax, learner in zip(axes, (SERAPH(mu=0.0), SERAPH()), strict=True):
    p = learner.fit(X, y_partial).pair_proba(X[unlabeled]).clip(1e-12, 1.0)
    entropy = -np.mean(p * np.log(p) + (1 - p) * np.log1p(-p))
    ax.hist(p, bins=20, range=(0, 1), weights=np.full(len(p), 100 / len(p)))
    ax.axvline(1 / (1 + np.exp(-1.0)), color="black", linestyle=":")  # a pair at distance 0
    ax.set(title=f"{learner}: mean entropy {entropy:.2f}", xlabel="probability that it is similar")
    middle = np.mean((p > 0.1) & (p < 0.6))
    print(f"{learner}: {100 * middle:.0f} % of the unlabeled pairs have 0.1 < p < 0.6")
axes[0].set_ylabel("share of the unlabeled pairs, %")
plt.show()
