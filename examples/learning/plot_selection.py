"""
Choosing lam without test labels
================================

scikit-learn's ``GridSearchCV`` chooses ``lam`` by cross-validation. ``MarksKFold`` splits the
labeled points into folds, and a metric that has not seen a fold is scored by the AUC of the pairs
within it. The picture shows the score of each multiple of the automatic weight, fold by fold
(gray), and the score on new points, which you would not know in practice. Both say that a small
weight overfits, and that little is left to gain beyond the automatic one.
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

auto = SERAPH().fit(X[train], y_partial)
factors = 10.0 ** np.arange(-1.5, 1.1, 0.5)
search = GridSearchCV(SERAPH(), {"lam": factors * auto.lam_}, cv=MarksKFold(5))
search.fit(X[train], y_partial)
chosen = search.best_params_["lam"] / auto.lam_
print(f"chosen: {chosen:.2g} times the automatic lam")

# %%
# The score on new points, for comparison.

unseen = [
    SERAPH(lam=factor * auto.lam_).fit(X[train], y_partial).score(X[test], y[test])
    for factor in factors
]

figure, axes = plt.subplots(figsize=(7, 4.4), layout="constrained")
for k in range(search.n_splits_):
    axes.plot(factors, search.cv_results_[f"split{k}_test_score"], color="0.8", linewidth=1)
axes.plot(factors, search.cv_results_["mean_test_score"], "o-", label="cross-validated")
axes.plot(factors, unseen, "s--", label="on new points")
axes.axvline(chosen, color="black", linestyle=":", label="chosen")
axes.set(xscale="log", xlabel="lam, in multiples of the automatic one", ylabel="AUC of the pairs")
axes.set_title("Held-out pairs choose lam")
axes.legend()
plt.show()
