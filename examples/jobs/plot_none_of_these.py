r"""
Say "none of these classes", or nothing
=======================================

``MetricClassifier`` is a scikit-learn classifier, so scikit-learn's tools can make it abstain.
Predict the labeled rows out of fold, and take the lowest confidence at which at most 2 % of the
answers are wrong. A row may belong to no class if its nearest labeled row is farther than 95 % of
the labeled rows have theirs. Here 80 digits from 0 to 7 have a label, and 8 and 9 are new.

A threshold from 80 labels is rough. With a few hundred more, conformal prediction has guarantees:
`MAPIE <https://mapie.readthedocs.io>`_ and `crepes <https://crepes.readthedocs.io>`_ take the
fitted classifier.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import cross_val_predict
from sklearn.neighbors import NearestNeighbors

from seraph import MetricClassifier

images, digit = load_digits(return_X_y=True)
images = images / 16.0


def shares(seed):
    """Shares of known digits answered, of wrong answers, and of 8 and 9 called none of these."""
    order = np.random.default_rng(seed).permutation(len(images))
    X, y = images[order], digit[order]
    labeled = np.flatnonzero(y[:100] < 8)
    few = MetricClassifier().fit(X[labeled], y[labeled])
    held_out = cross_val_predict(few, X[labeled], y[labeled], method="predict_proba")
    surest = np.argsort(-held_out.max(axis=1))
    wrong = few.classes_[held_out.argmax(axis=1)] != y[labeled]
    error = np.cumsum(wrong[surest]) / np.arange(1, len(labeled) + 1)
    least = held_out.max(axis=1)[surest][np.flatnonzero(error <= 0.02)[-1]]

    near = NearestNeighbors(n_neighbors=1).fit(few.transform(X[labeled]))
    limit = np.quantile(near.kneighbors()[0], 0.95)
    new, truth = X[100:], y[100:]
    far = near.kneighbors(few.transform(new))[0][:, 0] > limit
    sure = few.predict_proba(new).max(axis=1) >= least
    answers = np.where(far, "none of these", np.where(sure, few.predict(new), "unsure"))
    known, given = truth < 8, sure & ~far
    errors = (answers != truth.astype(str))[known & given].mean()
    return given[known].mean(), errors, far[~known].mean(), given[~known].mean()


# %%
# Mean of five samplings, and the range.

names = ("known, answered", "known, wrong answers", "new, none of these", "new, answered")
found = 100 * np.array([shares(seed) for seed in range(5)])
for name, some in zip(names, found.T, strict=True):
    print(f"{name}: {some.mean():.0f} % ({some.min():.0f} to {some.max():.0f})")
figure, axes = plt.subplots(figsize=(6, 3), layout="constrained")
axes.barh(names[::-1], found.mean(axis=0)[::-1], color="tab:blue", alpha=0.6)
axes.plot(found[:, ::-1].T, range(4), "k.")
axes.set(xlabel="% of the digits; dots are samplings", title="Answers about known and new digits")
plt.show()
