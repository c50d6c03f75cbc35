r"""
Which pair to ask about next
============================

You can ask an expert whether two points are alike. ``query_pairs`` looks at all pairs, stores only
a few, and returns those that the model is least sure of, :math:`p \approx 1/2`, no point in two of
them.

This example starts from ten labels and adds 40 answers, five at a time. The picture shows how well
the distances between new points separate pairs of one class from the others, averaged over 20
samplings of the wine data.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.spatial.distance import pdist
from sklearn.datasets import load_digits, load_wine
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import StandardScaler

from seraph import SERAPH, Marks, MetricClassifier, query_pairs, query_rows

X, y = load_wine(return_X_y=True)
X = StandardScaler().fit_transform(X)


def auc(learner, X, y):
    """Area under the ROC curve of the distances between all pairs."""
    i, j = np.triu_indices(len(X), k=1)
    return roc_auc_score(y[i] == y[j], -pdist(learner.transform(X)))


def course(at_random, seed, n_rounds=8):
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
        if at_random:
            questions = rng.permutation(unknown)[:5]
        else:
            questions = query_pairs(learner, X[pool], 5, y=y_partial, marks=marks)
        pairs = np.unique(np.vstack([pairs, questions]), axis=0)
    return scores


# %%
# Random questions, and those of ``query_pairs``.

figure, axes = plt.subplots(figsize=(7, 4.4), layout="constrained")
for name, color in (("random", "0.5"), ("query_pairs", "C0")):
    scores = np.array([course(name == "random", seed) for seed in range(20)])
    mean, error = scores.mean(axis=0), scores.std(axis=0, ddof=1) / np.sqrt(20)
    asked = 5 * np.arange(len(mean))
    axes.plot(asked, mean, "o-", color=color, label=name)
    axes.fill_between(asked, mean - error, mean + error, color=color, alpha=0.15, linewidth=0)
    print(f"{name}: {mean[0]:.4f} at the start, {mean[-1]:.4f} at the end")
axes.set(xlabel="questions answered", ylabel="AUC of new pairs", title="Chosen and random pairs")
axes.legend()
plt.show()

# %%
# Rows instead of pairs: ``query_rows`` chooses rows to label, typical ones of regions without a
# label. Of 400 digits 20 have a label; 20 more are labeled, at random or as it asks. The error of
# the nearest labeled digit on new ones, mean of five samplings:

images, digit = load_digits(return_X_y=True)
errors = []
for seed in range(5):
    order = np.random.default_rng(seed).permutation(len(images))
    X, y = images[order[:400]] / 16.0, digit[order[:400]]
    X_new, y_new = images[order[400:]] / 16.0, digit[order[400:]]
    y_partial = np.where(np.arange(400) < 20, y, -1)
    first = MetricClassifier(rule="nearest").fit(X, y_partial)
    found = [1 - first.score(X_new, y_new)]
    for rows in (np.arange(20, 40), query_rows(first, X, 20, y=y_partial, random_state=0)):
        more = y_partial.copy()
        more[rows] = y[rows]
        found.append(1 - MetricClassifier(rule="nearest").fit(X, more).score(X_new, y_new))
    errors.append(found)
names = ("20 labels", "20 more at random", "20 more by query_rows")
for name, some in zip(names, 100 * np.transpose(errors), strict=True):
    print(f"{name}: {some.mean():.1f} % wrong")
