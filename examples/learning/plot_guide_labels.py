r"""
Class labels or pairs
=====================

You can ask an expert for the class of a wine, or whether two wines belong to the same class. The
first answer says more: :math:`k` classes imply the labels of all :math:`k(k-1)/2` pairs among
them. This example asks both kinds of question about wines chosen at random. It scores the
distances by how well they separate pairs of one class from the others among new wines (the area
under the ROC curve), averaged over 20 samplings.

Use pairs when the classes are unknown, or too many to name: is this the same person, the same
product, the same song? ``fit`` also takes both together.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.spatial.distance import pdist
from sklearn.datasets import load_wine
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import StandardScaler

from seraph import SERAPH, Marks

X, y = load_wine(return_X_y=True)
X = StandardScaler().fit_transform(X)
answers = (10, 20, 40, 80)


def auc(learner, points, classes):
    """Area under the ROC curve of the learned distances between all pairs."""
    i, j = np.triu_indices(len(points), k=1)
    return roc_auc_score(classes[i] == classes[j], -pdist(learner.transform(points)))


def courses(seed):
    """AUC on new wines after each number of answers, for both kinds of question."""
    rng = np.random.default_rng(seed)
    train, test = np.split(rng.permutation(len(X)), [100])
    all_pairs = rng.permutation(np.array(np.triu_indices(100, k=1)).T)
    scores = []
    for k in answers:
        by_class = SERAPH().fit(X[train], np.where(np.arange(100) < k, y[train], -1))
        pairs = all_pairs[:k]
        alike = y[train][pairs[:, 0]] == y[train][pairs[:, 1]]
        by_pairs = SERAPH().fit(X[train], marks=Marks(pairs, alike, rows=X[train]))
        scores.append([auc(learner, X[test], y[test]) for learner in (by_class, by_pairs)])
    return scores


# %%
# Ten answers give ten labeled pairs, or 45 if they are class labels. The Euclidean distance needs
# no answers.

results = np.array([courses(seed) for seed in range(20)])
means, errors = results.mean(axis=0), results.std(axis=0, ddof=1) / np.sqrt(len(results))
i, j = np.triu_indices(len(X), k=1)
euclidean = roc_auc_score(y[i] == y[j], -pdist(X))

figure, axes = plt.subplots(figsize=(7, 4.2), layout="constrained")
for k, (label, style) in enumerate((("class labels", "o-"), ("marked pairs", "s--"))):
    axes.errorbar(answers, means[:, k], errors[:, k], fmt=style, capsize=3, label=label)
axes.axhline(euclidean, color="0.5", linestyle=":", label="Euclidean distance")
axes.set(xscale="log", xlabel="expert's answers", ylabel="AUC of the distances between new wines")
axes.set_title("Class labels and marked pairs")
axes.set_xticks(answers, [str(k) for k in answers])
axes.minorticks_off()
axes.legend(loc="center right")
plt.show()
