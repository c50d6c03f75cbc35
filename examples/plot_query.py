r"""
Which pair to ask about next
============================

You can ask an expert whether two points are alike. ``query_pairs`` looks at all pairs, stores only
a few, and returns those whose answer is worth most, no point in two of them:

- ``"entropy"``: the model is least sure, :math:`p \approx 1/2`;
- ``"gradient"``: the answer should move the metric most,
  :math:`p (1 - p) \|x - x'\|^2` is largest.

This example starts from ten labels and adds 40 answers, five at a time. The picture shows how well
the distances between new points separate pairs of one class from the others, averaged over 20
samplings of the wine data.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.spatial.distance import pdist
from sklearn.datasets import load_wine
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import StandardScaler

from seraph import SERAPH, Marks, query_pairs

X, y = load_wine(return_X_y=True)
X = StandardScaler().fit_transform(X)


def auc(learner, X, y):
    """Area under the ROC curve of the distances between all pairs."""
    i, j = np.triu_indices(len(X), k=1)
    return roc_auc_score(y[i] == y[j], -pdist(learner.transform(X)))


def course(strategy, seed, n_rounds=8):
    """AUC on new points after each round of five questions."""
    rng = np.random.default_rng(seed)
    pool, test = np.split(rng.permutation(len(X)), [100])
    y_partial = np.where(np.arange(100) < 10, y[pool], -1)
    everything = np.array(np.triu_indices(100, k=1)).T
    unknown = everything[everything[:, 1] >= 10]
    pairs = np.empty((0, 2), dtype=int)
    scores = []
    for _ in range(n_rounds + 1):
        alike = y[pool][pairs[:, 0]] == y[pool][pairs[:, 1]]
        marks = Marks(pairs, alike, rows=X[pool])
        learner = SERAPH().fit(X[pool], y_partial, marks=marks)
        scores.append(auc(learner, X[test], y[test]))
        if strategy == "random":
            questions = rng.permutation(unknown)[:5]
        else:
            known = {"y": y_partial, "marks": marks}
            questions = query_pairs(learner, X[pool], 5, strategy=strategy, **known)
        pairs = np.unique(np.vstack([pairs, questions]), axis=0)
    return scores


# %%
# Random questions, and the questions of the two strategies.

figure, axes = plt.subplots(figsize=(7, 4.4), layout="constrained")
for strategy, color in (("random", "0.5"), ("entropy", "C0"), ("gradient", "C1")):
    scores = np.array([course(strategy, seed) for seed in range(20)])
    mean, error = scores.mean(axis=0), scores.std(axis=0, ddof=1) / np.sqrt(20)
    asked = 5 * np.arange(len(mean))
    axes.plot(asked, mean, "o-", color=color, label=strategy)
    axes.fill_between(asked, mean - error, mean + error, color=color, alpha=0.15, linewidth=0)
    print(f"{strategy}: {mean[0]:.4f} at the start, {mean[-1]:.4f} at the end")
axes.set(xlabel="questions answered", ylabel="AUC of new pairs")
axes.legend()
plt.show()
