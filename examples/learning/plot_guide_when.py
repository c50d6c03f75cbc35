r"""
When learning does not help
===========================

A learned metric of low rank trades detail for robustness. Whether that pays depends more on the
data than on the method. Of 300 rows, 20 to 150 are labeled. The picture shows how often the
nearest labeled row gives a new row the wrong class.

On the tumors learning pays at every number of labels. The digits are ten classes of clean images:
the Euclidean distance is good, SERAPH ignores directions that it needs and is worse, and
MeanMetric, which keeps all directions, gains or loses little.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.preprocessing import StandardScaler

from seraph import SERAPH, MeanMetric, MetricClassifier
from seraph.classic import Euclidean

tumors, digits = load_breast_cancer(), load_digits()
sets = {
    "breast cancer": (StandardScaler().fit_transform(tumors.data), tumors.target),
    "digits": (digits.data / 16.0, digits.target),
}
numbers = (20, 40, 80, 150)
learners = (Euclidean(), SERAPH(), MeanMetric())


def errors(X, y, n_labels, seed):
    """Error on new rows in %, for each learner."""
    order = np.random.default_rng(seed).permutation(len(X))
    seen, new = order[:300], order[300:]
    y_partial = np.where(np.arange(300) < n_labels, y[seen], -1)
    fitted = (MetricClassifier(one, rule="nearest").fit(X[seen], y_partial) for one in learners)
    return [100 * (1 - classifier.score(X[new], y[new])) for classifier in fitted]


# %%
# Eight samplings each; bars are standard errors.

figure, panels = plt.subplots(1, 2, figsize=(9.6, 4.2), layout="constrained")
for axes, (name, (X, y)) in zip(panels, sets.items(), strict=True):
    results = np.array([[errors(X, y, n, seed) for n in numbers] for seed in range(8)])
    for learner, style, course in zip(
        learners, ("k:", "C0o-", "C1s--"), results.transpose(2, 1, 0), strict=True
    ):
        spread = course.std(axis=1, ddof=1) / np.sqrt(course.shape[1])
        axes.errorbar(numbers, course.mean(axis=1), spread, fmt=style, capsize=3, label=learner)
        print(f"{name}, {learner}:", *(f"{value:.1f}" for value in course.mean(axis=1)))
    axes.set(title=name, xscale="log", xlabel="labels", ylim=(0, None))
    axes.set_xticks(numbers, [str(n) for n in numbers])
    axes.minorticks_off()
panels[0].set_ylabel("error of the nearest labeled row, %")
panels[1].legend()
plt.show()
