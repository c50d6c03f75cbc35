r"""
Points before and after
=======================

``EmbeddingDisplay`` shows the points under the Euclidean distance and under the learned one, each
on its two leading principal components. Of these 200 images of the digits 1 to 5, 20 are labeled
(large, with an edge). The colors of the others are for you: the learners do not see them.

``SERAPH`` also learns from the unlabeled images, and they follow the labeled ones. NCA learns from
the 20 labels alone. It separates those, but the other images follow less.
"""

import matplotlib.pyplot as plt
import numpy as np

from seraph import SERAPH, MetricClassifier
from seraph.classic import NCA
from seraph.datasets import load_task
from seraph.plot import EmbeddingDisplay

task = load_task("usps-1-5-40")
order = np.random.default_rng(0).permutation(len(task.X))
train, test = order[:200], order[200:2700]
X, y = task.X[train], task.y[train]
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
# New images confirm what the pictures suggest. The error of the nearest labeled image:

for learner in (SERAPH(), NCA()):
    classifier = MetricClassifier(learner, rule="nearest").fit(X, y_partial)
    error = 1 - classifier.score(task.X[test], task.y[test])
    print(f"{learner}: {100 * error:.1f} % errors")
