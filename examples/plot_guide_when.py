r"""
When learning does not help
===========================

A learned metric of low rank trades detail for robustness. Whether that pays depends more on the
data than on the method. This example uses two sets of handwritten digits of 8 x 8 pixels: USPS,
and the digits that come with scikit-learn. Of 400 images, 20 to 200 are labeled. The picture
shows how often the nearest labeled image gives a new image the wrong class.

On USPS the learned distances are better at every number of labels. The scikit-learn images are
cleaner: the Euclidean distance makes half as many errors to begin with, and SERAPH makes more at
every number of labels. MeanMetric keeps all directions. It gains as much on USPS, and loses less
than a point on the other images.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from seraph import SERAPH, MeanMetric, MetricClassifier
from seraph.classic import Euclidean
from seraph.datasets import load_task

usps, digits = load_task("usps-1-10-40"), load_digits()
sets = {"USPS": (usps.X, usps.y), "scikit-learn's digits": (digits.data / 16.0, digits.target)}
numbers = (20, 40, 100, 200)


def errors(X, y, learners, n_labels, seed):
    """Error on new images in %, for each learner; each digit has as many images and labels."""
    rng = np.random.default_rng(seed)
    rows = [rng.permutation(np.flatnonzero(y == digit)) for digit in range(10)]
    train = np.concatenate([some[:40] for some in rows])
    test = np.concatenate([some[40:140] for some in rows])
    y_partial = np.where(np.arange(400) % 40 < n_labels // 10, y[train], -1)
    fitted = (MetricClassifier(one, rule="nearest").fit(X[train], y_partial) for one in learners)
    return [100 * (1 - classifier.score(X[test], y[test])) for classifier in fitted]


# %%
# Five samplings each.

learners = (Euclidean(), SERAPH(), MeanMetric())
figure, panels = plt.subplots(1, 2, figsize=(9.6, 4.2), layout="constrained")
for axes, (name, (X, y)) in zip(panels, sets.items(), strict=True):
    results = np.array(
        [[errors(X, y, learners, n, seed) for n in numbers] for seed in range(5)]
    ).transpose(2, 1, 0)
    for learner, style, course in zip(learners, ("k:", "C0o-", "C1s--"), results, strict=True):
        spread = course.std(axis=1, ddof=1) / np.sqrt(course.shape[1])
        axes.errorbar(numbers, course.mean(axis=1), spread, fmt=style, capsize=3, label=learner)
    axes.set(title=name, xscale="log", xlabel="labels", ylim=(0, None))
    axes.set_xticks(numbers, [str(n) for n in numbers])
    axes.minorticks_off()
panels[0].set_ylabel("error of the nearest labeled image, %")
panels[1].legend()
plt.show()
