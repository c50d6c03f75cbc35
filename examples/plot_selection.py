r"""
Choosing lam without test labels
================================

``SERAPHCV`` splits the labeled points into folds, learns without one fold at a time, and scores
the metric by the log-likelihood of the pairs within that fold,

.. math:: \frac{1}{\#\,pairs} \sum_{held\ out} \ln p(y_{ij}).

No point is on both sides. ``SERAPHCV`` tries multiples of the automatic weight, and keeps 1 unless
another multiple is better by more than the standard error. The picture shows the score of each
multiple, fold by fold (gray), and its score on new points. Both say that a small weight overfits,
and that little is left to gain beyond the automatic one.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from seraph import SERAPH, SERAPHCV

X, y = load_breast_cancer(return_X_y=True)
X = StandardScaler().fit_transform(X)
order = np.random.default_rng(0).permutation(len(X))
X, y = X[order], y[order]
train, test = slice(0, 200), slice(200, 400)
y_partial = np.where(np.arange(200) < 60, y[train], -1)

learner = SERAPHCV().fit(X[train], y_partial)
auto = SERAPH().fit(X[train], y_partial)
print(f"chosen: {learner.lam_ / auto.lam_:.2g} times the automatic lam")

# %%
# Score on new points, for comparison.

i, j = np.triu_indices(200, k=1)
similar, pairs = y[test][i] == y[test][j], X[test][np.c_[i, j]]
factors = learner.cv_results_["lam_factor"]
unseen = []
for factor in factors:
    p = SERAPH(lam=factor * auto.lam_).fit(X[train], y_partial).pair_proba(pairs)
    unseen.append(np.mean(np.log(np.clip(np.where(similar, p, 1 - p), 1e-300, 1))))

figure, axes = plt.subplots(figsize=(7, 4.4), layout="constrained")
for k in range(learner.n_splits_):
    axes.plot(factors, learner.cv_results_[f"split{k}_test_score"], color="0.8", linewidth=1)
axes.plot(factors, learner.cv_results_["mean_test_score"], "o-", label="cross-validated")
axes.plot(factors, unseen, "s--", label="on new points")
axes.axvline(learner.lam_ / auto.lam_, color="black", linestyle=":", label="chosen")
axes.set(xscale="log", xlabel="lam, in multiples of the automatic one")
axes.set_ylabel("mean log-likelihood per pair")
axes.legend()
plt.show()
