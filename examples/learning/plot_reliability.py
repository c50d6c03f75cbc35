"""
Probabilities that come true
============================

The model's own probability of a pair never exceeds 0.73 (with ``eta=1``), and it is fitted to the
marks it has seen. A ``PairClassifier`` measures the marked pairs by metrics that have not seen
their points, and fits probabilities to these distances. scikit-learn's ``CalibrationDisplay``
compares both on new points: of the pairs that are given a probability of 0.8, eight in ten should
be similar. Here the learner gets 200 marked pairs, half of them similar, so the new pairs are
balanced as well.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.calibration import CalibrationDisplay
from sklearn.datasets import load_digits

from seraph import SERAPH, Marks, PairClassifier

images, digit = load_digits(return_X_y=True)
few = (digit >= 1) & (digit <= 5)
images, digit = images[few] / 16.0, digit[few]
rng = np.random.default_rng(0)
order = rng.permutation(len(images))
(X, y), (X_new, y_new) = ((images[rows], digit[rows]) for rows in (order[:300], order[300:800]))


def balanced_pairs(y, n):
    """Sample pairs of rows, half of them similar."""
    i, j = np.triu_indices(len(y), k=1)
    same = y[i] == y[j]
    chosen = [rng.choice(np.flatnonzero(same == kind), n // 2, replace=False) for kind in (1, 0)]
    rows = np.column_stack([i, j])[np.concatenate(chosen)]
    return Marks(rows, y[rows[:, 0]] == y[rows[:, 1]], rows=len(y))


marks, new = balanced_pairs(y, 200), balanced_pairs(y_new, 2000)
model = PairClassifier(SERAPH()).fit(X, marks=marks)
figure, ax = plt.subplots(layout="constrained")
own = model.estimator_.pair_proba(new.pairs, X_new)
calibrated = model.predict_proba(new.pairs, X_new)[:, 1]
for name, p, color in (("the model's own", own, "C1"), ("calibrated", calibrated, "C0")):
    CalibrationDisplay.from_predictions(
        new.similar, p, n_bins=10, strategy="quantile", name=name, ax=ax, color=color
    )
    print(f"{name}: Brier score {np.mean((p - new.similar) ** 2):.3f}")
ax.set(xlabel="stated probability that the pair is similar", ylabel="share of similar pairs")
ax.set_title("Stated probabilities, and what came true")
plt.show()
