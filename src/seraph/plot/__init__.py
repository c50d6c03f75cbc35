"""Pictures in the manner of scikit-learn's displays: plain data in, axes out.

One display a file. Each has ``from_estimator(estimator, X, y)``, which asks a fitted learner
for what it needs, and ``plot(ax=...)``, which draws it, on axes of any figure.
"""

from .._public import publish as _publish
from ._convergence import ConvergenceDisplay
from ._distances import DistanceDisplay
from ._embedding import EmbeddingDisplay
from ._features import FeatureImportanceDisplay
from ._path import RegularizationPathDisplay
from ._posterior import PosteriorDisplay
from ._spectrum import SpectrumDisplay

__all__ = [
    "ConvergenceDisplay",
    "DistanceDisplay",
    "EmbeddingDisplay",
    "FeatureImportanceDisplay",
    "PosteriorDisplay",
    "RegularizationPathDisplay",
    "SpectrumDisplay",
]

_publish(globals())
