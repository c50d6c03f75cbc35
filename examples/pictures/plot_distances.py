r"""
All distances at once
=====================

The matrix of all distances, with the points ordered by class, before and after learning. Each
matrix is divided by its mean. A good distance has dark blocks on the diagonal.

Here 60 of 400 images of ten digits are labeled. The Euclidean distances between classes are all
about the same; the learned distances separate more of the classes. Digits that look alike, such
as 2 and 8, stay close. A stripe across the picture is an image that is far from everything.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import pairwise_distances

from seraph import SERAPH

X, y = load_digits(return_X_y=True)
X, y = X[:400] / 16.0, y[:400]
learner = SERAPH().fit(X, np.where(np.arange(400) < 60, y, -1))
order = np.argsort(y, kind="stable")

figure, axes = plt.subplots(1, 2, figsize=(9.6, 4.4), layout="constrained")
for ax, points, title in zip(axes, (X, learner.transform(X)), ("Before", "After"), strict=True):
    distances = pairwise_distances(points[order])
    distances /= distances.mean()
    image = ax.imshow(distances, vmin=0.0, vmax=1.8)
    ax.set(title=title, xticks=[], yticks=np.searchsorted(y[order], range(10)))
    ax.set_yticklabels(range(10))
figure.colorbar(image, ax=axes, label="distance / mean distance")
plt.show()

# %%
# The pairs of digits that are closest after learning, on average, in multiples of the mean
# distance:

digit = y[order]
between = {
    (a, b): distances[np.ix_(digit == a, digit == b)].mean()
    for a in range(10)
    for b in range(a + 1, 10)
}
for (a, b), mean in sorted(between.items(), key=lambda item: item[1])[:3]:
    print(f"{a} and {b}: {mean:.2f}")
