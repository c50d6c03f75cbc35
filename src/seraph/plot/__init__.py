"""Pictures of learned metrics, as scikit-learn displays: plain data in, axes out.

Each file holds one display. ``from_estimator(estimator, X, y)`` computes its data with a fitted
learner, and ``plot(ax=...)`` draws it on the axes of any figure.
"""

from .._utils._public import publish as _publish
from ._embedding import EmbeddingDisplay
from ._features import FeatureImportanceDisplay

__all__ = ["EmbeddingDisplay", "FeatureImportanceDisplay"]

_publish(globals())
