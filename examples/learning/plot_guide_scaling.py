"""
Scale the features first
========================

A distance adds up differences, so the features must share a unit. The wine features are
percentages, degrees and milligrams: their standard deviations lie between 0.12 and 315. Unscaled,
the one large feature dominates the distance, before learning and after. In standard deviations,
or in [0, 1], every feature counts, and the labels can show which ones matter.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, StandardScaler

from seraph import SERAPH, MetricClassifier
from seraph.classic import Euclidean

X, y = load_wine(return_X_y=True)
scalers = {
    "unscaled": FunctionTransformer(),
    "StandardScaler": StandardScaler(),
    "MinMaxScaler": MinMaxScaler(),
}


def error(learner, seed):
    """1-NN error in % on 78 new wines, after learning from 100 wines, 15 of them labeled."""
    order = np.random.default_rng(seed).permutation(len(X))
    train, test = order[:100], order[100:]
    y_partial = np.where(np.arange(100) < 15, y[train], -1)
    classifier = MetricClassifier(learner, rule="nearest").fit(X[train], y_partial)
    return 100 * (1 - classifier.score(X[test], y[test]))


# %%
# ``fit`` warns when the scales of the features differ widely. Put the scaler in the pipeline, so
# that new points are scaled in the same way.

learner = SERAPH()
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    error(learner, 0)
print(caught[0].message)

figure, axes = plt.subplots(figsize=(7, 4.2), layout="constrained")
for shift, learner in ((-0.2, Euclidean()), (0.2, SERAPH())):
    means, spreads = [], []
    for scaler in scalers.values():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # about the scales, printed above
            errors = [error(make_pipeline(scaler, learner), seed) for seed in range(20)]
        means.append(np.mean(errors))
        spreads.append(np.std(errors, ddof=1) / np.sqrt(len(errors)))
    places = np.arange(len(scalers)) + shift
    bars = axes.bar(places, means, width=0.38, yerr=spreads, capsize=4, label=str(learner))
    axes.bar_label(bars, [f"{mean:.1f} %" for mean in means], padding=4)
axes.set_xticks(range(len(scalers)), list(scalers))
axes.set(
    ylabel="error of the nearest labeled wine, %", ylim=(0, 42), title="With and without scaling"
)
axes.legend()
plt.show()
