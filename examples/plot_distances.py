r"""
All distances at once
=====================

``DistanceDisplay`` draws the matrix of all distances, with the points ordered by class, before
and after learning. Each matrix is divided by its mean, so both share one color scale. A good
distance has dark blocks on the diagonal.

Here 60 of 400 images of ten digits are labeled. The Euclidean distances between classes are all
about the same; the learned distances separate more of the classes. Digits that look alike, such
as 2 and 8, stay close. A stripe across the picture is an image that is far from everything.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from seraph import SERAPH
from seraph.plot import DistanceDisplay

X, y = load_digits(return_X_y=True)
X, y = X[:400] / 16.0, y[:400]
y_partial = np.where(np.arange(400) < 60, y, -1)

learner = SERAPH().fit(X, y_partial)
display = DistanceDisplay.from_estimator(learner, X, y)
plt.show()

# %%
# The pairs of digits that are closest after learning, on average, in multiples of the mean
# distance:

after = display.after / display.after.mean()
between = {
    (a, b): after[np.ix_(y == a, y == b)].mean() for a in range(10) for b in range(a + 1, 10)
}
for (a, b), mean in sorted(between.items(), key=lambda item: item[1])[:3]:
    print(f"{a} and {b}: {mean:.2f}")
