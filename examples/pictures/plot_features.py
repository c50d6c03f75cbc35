r"""
Which features matter
=====================

``FeatureImportanceDisplay`` shows :math:`2 A_{ff} \mathrm{Var}(x_f)` for each feature: the mean
squared distance that the feature contributes by itself. It also shows how far one standard
deviation of the feature moves a point along the leading components.

Can you trust it? To find out, this example adds a shuffled copy of each of the 13 wine features:
the same values, assigned to the wines at random. To the Euclidean distance all 26 features count
the same. From 30 labels and the unlabeled wines, SERAPH finds out which ones are useful.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from seraph import SERAPH
from seraph.classic import ITML, Euclidean
from seraph.plot import FeatureImportanceDisplay

data = load_wine()
rng = np.random.default_rng(1)
X = StandardScaler().fit_transform(data.data)
X = np.hstack([X, rng.permuted(X, axis=0)])
names = [*data.feature_names, *(f"{name} (shuffled)" for name in data.feature_names)]
known = np.isin(np.arange(len(X)), rng.permutation(len(X))[:30])
y_partial = np.where(known, data.target, -1)

FeatureImportanceDisplay.from_estimator(
    SERAPH().fit(X, y_partial), X, feature_names=names, max_features=16
)
plt.show()

# %%
# The shuffled half's share of the importance, under three metrics. All features have variance 1
# here, so the diagonal of the matrix is enough.

for learner in (Euclidean(), ITML(), SERAPH()):
    diagonal = np.diag(learner.fit(X, y_partial).get_mahalanobis_matrix())
    print(f"{learner}: {100 * diagonal[13:].sum() / diagonal.sum():.0f} %")
