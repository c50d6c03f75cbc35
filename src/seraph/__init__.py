"""Semi-supervised metric learning that follows scikit-learn's conventions."""

from . import _interrupt  # noqa: F401 (first: what follows takes time)
from ._base import MahalanobisMetric
from ._engine import FitState
from ._estimators import (
    SERAPH,
    SERAPHCV,
    KernelMap,
    KernelMetric,
    KernelSERAPH,
    MetricNeighborsClassifier,
    RegularizationPath,
    seraph_path,
)
from ._public import publish as _publish
from ._version import __version__, show_versions
from .persist import load, save, to_onnx
from .plot import (
    ConvergenceDisplay,
    DistanceDisplay,
    EmbeddingDisplay,
    FeatureImportanceDisplay,
    PosteriorDisplay,
    RegularizationPathDisplay,
    SpectrumDisplay,
)

__all__ = [
    "SERAPH",
    "SERAPHCV",
    "ConvergenceDisplay",
    "DistanceDisplay",
    "EmbeddingDisplay",
    "FeatureImportanceDisplay",
    "FitState",
    "KernelMap",
    "KernelMetric",
    "KernelSERAPH",
    "MahalanobisMetric",
    "MetricNeighborsClassifier",
    "PosteriorDisplay",
    "RegularizationPath",
    "RegularizationPathDisplay",
    "SpectrumDisplay",
    "__version__",
    "load",
    "save",
    "seraph_path",
    "show_versions",
    "to_onnx",
]

_publish(globals())
