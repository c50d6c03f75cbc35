r"""
What to ask about next
======================

A person who knows the rows can say which of them are the same. ``query_screens`` shows a few rows
at a time: a random one, some that are near to it by the distance learned so far, and random ones.
The person taps those that are like the first; each screen answers many pairs.

The picture shows how well the distances between new points separate pairs of one class from the
others, by the number of taps; means of ten samplings of the wine data.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits, load_wine
from sklearn.preprocessing import StandardScaler

from seraph import Marks, MeanMetric, MetricClassifier, query_rows, query_screens
from seraph.metrics import pair_auc

X, y = load_wine(return_X_y=True)
X = StandardScaler().fit_transform(X)


def course(seed, by_screens, n_rounds=5):
    """Taps, and AUC on new points, after each round: two screens, or twelve random pairs."""
    rng = np.random.default_rng(seed)
    pool, test = np.split(rng.permutation(len(X)), [100])
    Z, z, model = X[pool], y[pool], None
    rows, pairs, scores = np.empty((0, 8), dtype=int), np.empty((0, 2), dtype=int), []
    for turn in range(n_rounds):
        if by_screens:
            more, _ = query_screens(model, Z, 2, random_state=turn)
            rows = np.vstack([rows, more])
            like_first = (z[rows[:, 1:]] == z[rows[:, :1]]).astype(int)
            marks = Marks.from_screens(rows, like_first, rows=Z)
            taps = like_first.sum() + len(rows)
        else:
            pairs = np.vstack(
                [pairs, rng.permuted(np.tile(np.arange(100), (12, 1)), axis=1)[:, :2]]
            )
            marks = Marks(pairs, z[pairs[:, 0]] == z[pairs[:, 1]], rows=Z)
            taps = len(pairs)
        model = MeanMetric().fit(Z, marks=marks)
        scores.append((taps, pair_auc(model.transform(X[test]), y[test])))
    return scores


# %%
# Random pairs, and screens of eight rows.

figure, axes = plt.subplots(figsize=(7, 4.4), layout="constrained")
for name, color in (("random pairs", "0.5"), ("screens", "C0")):
    courses = np.mean([course(seed, name == "screens") for seed in range(10)], axis=0)
    axes.plot(*courses.T, "o-", color=color, label=name)
    print(f"{name}: AUC {courses[-1, 1]:.3f} after {courses[-1, 0]:.0f} taps")
axes.set(xlabel="taps", ylabel="AUC of new pairs", title="Screens and random pairs")
axes.legend()
plt.show()

# %%
# Classes instead: ``query_rows`` chooses rows to label, typical ones of regions without a
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
