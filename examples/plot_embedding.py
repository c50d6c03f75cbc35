r"""
Points before and after
=======================

``EmbeddingDisplay`` shows the points as they came and as the learned distance sees them, on the
two leading principal components of each. Here 200 images of the digits 1 to 5 have 20 labels
among them (large, with an edge); the colours of the others are for us, the learners do not know
them.

``SERAPH`` asks to be decided about the unlabelled images, too, and they follow the labelled ones.
NCA learns from the 20 labels alone. It tells those apart, and the others follow less.
"""

import matplotlib.pyplot as plt
import numpy as np

from seraph import SERAPH, EmbeddingDisplay, MetricNeighborsClassifier
from seraph.classic import NCA
from seraph.datasets import load_task

task = load_task("usps-1-5-40")
order = np.random.default_rng(0).permutation(len(task.X))
train, test = order[:200], order[200:2700]
X, y = task.X[train], task.y[train]
y_partial = np.where(np.arange(200) < 20, y, -1)

# %%
# The metric of SERAPH.

learner = SERAPH().fit(X, y_partial)
EmbeddingDisplay.from_estimator(learner, X, y_partial, classes=y)
plt.show()

# %%
# That of NCA.

EmbeddingDisplay.from_estimator(NCA().fit(X, y_partial), X, y_partial, classes=y)
plt.show()

# %%
# What the pictures suggest holds for new images. The error of the nearest labelled one:

for learner in (SERAPH(), NCA()):
    classifier = MetricNeighborsClassifier(learner, n_neighbors=1).fit(X, y_partial)
    error = 1 - classifier.score(task.X[test], task.y[test])
    print(f"{learner}: {100 * error:.1f} % errors")
