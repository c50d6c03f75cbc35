r"""
Learn from corrected clusters
=============================

A colleague answers about twenty pairs of patients, or finds fifteen of them in the wrong cluster
and moves them. ``Marks`` holds either. Pairs that were put together or taken apart are certain;
others may be right, or nobody looked at them: that is weak evidence. SERAPH learns from the marks,
and k-means looks for two clusters in the learned space. The adjusted Rand index compares them with
the diagnoses: 1 is perfect, 0 is chance.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

from seraph import SERAPH, Marks, constrained_k_means

X, illness = load_breast_cancer(return_X_y=True)
X = StandardScaler().fit_transform(X)
k_means = KMeans(2, random_state=0, n_init=5)
before = k_means.fit_predict(X)
wrong = (before == before[0]) != (illness == illness[0])


def marks_of(before, now, rng):
    """Mark pairs of each row with ten others by what has changed."""
    rows = np.repeat(np.arange(len(X)), 10)
    pairs = np.column_stack([rows, rng.integers(len(X), size=len(rows))])
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    was, same = (groups[pairs[:, 0]] == groups[pairs[:, 1]] for groups in (before, now))
    likely = np.where(was != same, same, np.where(same, 0.9, 0.1))
    return Marks(pairs, likely, weights=np.where(was != same, 1.0, 0.1), rows=X)


def scores(seed):
    """Adjusted Rand indices after twenty answers, and after fifteen moves."""
    rng = np.random.default_rng(seed)
    pairs = rng.permutation(len(X))[:40].reshape(20, 2)
    answers = Marks(pairs, illness[pairs[:, 0]] == illness[pairs[:, 1]], rows=X)
    kept = constrained_k_means(X, 2, marks=answers, random_state=0)
    Z = SERAPH().fit(X, marks=answers).transform(X)
    learned = constrained_k_means(Z, 2, marks=answers, random_state=0)

    moved = rng.permutation(np.flatnonzero(wrong))[:15]
    now = before.copy()
    now[moved] = 1 - before[moved]
    corrections = marks_of(before, now, rng)
    regrouped = k_means.fit_predict(SERAPH().fit(X, marks=corrections).transform(X))
    return [adjusted_rand_score(illness, groups) for groups in (kept, learned, now, regrouped)]


# %%
# Ten samplings. Twenty answers can mislead, as the lowest score shows.

found = np.array([scores(seed) for seed in range(10)])
names = ("keeps to 20 answers", "learns from them, too", "15 moved", "learns from the moves")
for name, some in zip(names, found.T, strict=True):
    print(f"{name}: mean {some.mean():.2f}, lowest {some.min():.2f}")
figure, axes = plt.subplots(figsize=(6, 3), layout="constrained")
axes.boxplot(found, orientation="horizontal", tick_labels=names, whis=(0, 100))
axes.axvline(adjusted_rand_score(illness, before), color="gray", label="k-means alone")
axes.set(xlabel="adjusted Rand index with the diagnoses", title="Clusters after corrections")
axes.legend()
plt.show()
