r"""
Points before and after
=======================

``EmbeddingDisplay`` shows the points under the Euclidean distance and under the learned one, each
on its two leading principal components. Of these 200 images of the digits 1 to 5, 20 are labeled
(large, with an edge). The colors of the others are for you: the learners do not see them.

``SERAPH`` also learns from the unlabeled images, and they follow the labeled ones into few
directions. NCA learns from the 20 labels alone and keeps more directions: the picture is less
clear, but on these clean images the nearest labeled one errs less.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from seraph import SERAPH, MetricClassifier
from seraph.classic import NCA
from seraph.plot import EmbeddingDisplay

images, digit = load_digits(return_X_y=True)
few = (digit >= 1) & (digit <= 5)
images, digit = images[few] / 16.0, digit[few]
X, y = images[:200], digit[:200]
y_partial = np.where(np.arange(200) < 20, y, -1)

# %%
# The metric that SERAPH learns:

learner = SERAPH().fit(X, y_partial)
EmbeddingDisplay.from_estimator(learner, X, y_partial, classes=y)
plt.show()

# %%
# The metric that NCA learns:

EmbeddingDisplay.from_estimator(NCA().fit(X, y_partial), X, y_partial, classes=y)
plt.show()

# %%
# The error of the nearest labeled image:

for learner in (SERAPH(), NCA()):
    classifier = MetricClassifier(learner, rule="nearest").fit(X, y_partial)
    error = 1 - classifier.score(images[200:], digit[200:])
    print(f"{learner}: {100 * error:.1f} % errors")
