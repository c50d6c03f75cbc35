r"""
Choosing lam without test labels
================================

``GridSearchCV`` with ``MarksKFold`` splits the labeled points into folds, learns without one fold
at a time, and scores the metric by the AUC of the pairs within that fold. No point is on both
sides. The picture shows the score of each multiple of the automatic weight, fold by fold (gray),
and its score on new points.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import StandardScaler

from seraph import SERAPH, MarksKFold

X, y = load_breast_cancer(return_X_y=True)
X = StandardScaler().fit_transform(X)
order = np.random.default_rng(0).permutation(len(X))
X, y = X[order], y[order]
train, test = slice(0, 200), slice(200, 400)
y_partial = np.where(np.arange(200) < 60, y[train], -1)

factors = np.geomspace(0.03, 10, 11)
lam = SERAPH().fit(X[train], y_partial).lam_
folds = MarksKFold(5, shuffle=True, random_state=0)
search = GridSearchCV(SERAPH(max_iter=1000), {"lam": lam * factors}, cv=folds)
search.fit(X[train], y_partial)
print(f"chosen: {search.best_params_['lam'] / lam:.2g} times the automatic lam")

# %%
# Score on new points, for comparison.

unseen = [
    SERAPH(lam=lam * factor, max_iter=1000).fit(X[train], y_partial).score(X[test], y[test])
    for factor in factors
]

figure, axes = plt.subplots(figsize=(7, 4.4), layout="constrained")
for k in range(search.n_splits_):
    axes.plot(factors, search.cv_results_[f"split{k}_test_score"], color="0.8", linewidth=1)
axes.plot(factors, search.cv_results_["mean_test_score"], "o-", label="cross-validated")
axes.plot(factors, unseen, "s--", label="on new points")
axes.axvline(search.best_params_["lam"] / lam, color="black", linestyle=":", label="chosen")
axes.set(xscale="log", xlabel="lam, in multiples of the automatic one", ylabel="pair AUC")
axes.legend()
plt.show()
