"""Semi-supervised metric learning that follows scikit-learn's conventions."""

from . import _interrupt  # noqa: F401 (first: what follows takes time)
from ._base import MahalanobisMetric
from ._decisions import (
    PairKFold,
    PairScorer,
    constrained_agglomerative,
    constrained_k_means,
)
from ._engine import FitState, Interruptible
from ._estimators import (
    SERAPH,
    SERAPHCV,
    KernelMap,
    KernelMetric,
    KernelSERAPH,
    MetricNeighborsClassifier,
    MetricPipeline,
    PreparedMetric,
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
    ReliabilityDisplay,
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
    "Interruptible",
    "KernelMap",
    "KernelMetric",
    "KernelSERAPH",
    "MahalanobisMetric",
    "MetricNeighborsClassifier",
    "MetricPipeline",
    "PairKFold",
    "PairScorer",
    "PosteriorDisplay",
    "PreparedMetric",
    "RegularizationPath",
    "RegularizationPathDisplay",
    "ReliabilityDisplay",
    "SpectrumDisplay",
    "__version__",
    "constrained_agglomerative",
    "constrained_k_means",
    "load",
    "save",
    "seraph_path",
    "show_versions",
    "to_onnx",
]

_publish(globals())
