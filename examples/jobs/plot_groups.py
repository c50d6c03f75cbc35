r"""
Groups: rows of one photo, visit or customer
============================================

Faces in one photo are nearly always two people, rows of one visit nearly always one. That is
knowledge about pairs that nobody has to be asked for. ``Marks.from_groups`` takes the probability
that two rows of a group are alike: 0.05 rather than -1 for faces, since there are mirrors and
collages. Groups make many marks, so give them a low weight beside what somebody has told you.

Here 50 photos show four digits each, in place of faces; one photo in ten shows a digit twice.
Twenty pairs are known to be the same. Alone they are not enough: nothing keeps rows apart.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from seraph import SERAPH, Marks
from seraph.metrics import pair_auc

images, who = load_digits(return_X_y=True)
images = images / 16.0


def sample(seed):
    """400 images with their photos, and the twenty known pairs; 400 new images."""
    rng = np.random.default_rng(seed)
    some = rng.permutation(len(images))[:800]
    X, y = images[some], who[some]
    photo = np.full(400, -1)
    for number in range(50):
        people = rng.permutation(10)[:4]
        if number % 10 == 0:
            people[1] = people[0]
        for person in people:
            photo[rng.choice(np.flatnonzero((y[:400] == person) & (photo == -1)))] = number
    same = [rng.choice(np.flatnonzero(y[:400] == person), 2, replace=False) for person in y[:20]]
    return X, y, photo, Marks(same, np.ones(20), rows=400)


# %%
# The AUC of new pairs, mean and standard error of ten samplings.

scores = []
for seed in range(10):
    X, y, photo, told = sample(seed)
    marks = told + Marks.from_groups(photo, 0.05, weight=0.2, rows=400)
    learner = SERAPH().fit(X[:400], marks=marks)
    scores.append((pair_auc(X[400:], y[400:]), pair_auc(learner.transform(X[400:]), y[400:])))
mean, error = np.mean(scores, axis=0), np.std(scores, axis=0, ddof=1) / np.sqrt(10)
for name, value, spread in zip(("Euclidean", "with photos"), mean, error, strict=True):
    print(f"{name}: {value:.3f} ± {spread:.3f}")
figure, axes = plt.subplots(figsize=(6, 3.4), layout="constrained")
axes.plot([0, 1], np.transpose(scores), "o-", color="gray")
axes.set_xticks([0, 1], ["Euclidean", "learned with photos"])
axes.set(
    ylabel="AUC of new pairs", title="What fifty photos teach, ten samplings", xlim=(-0.3, 1.3)
)
plt.show()
