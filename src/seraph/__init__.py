"""Semi-supervised metric learning, with the manners of scikit-learn."""

from ._version import __version__
from .kernel import KernelSERAPH
from .neighbors import MetricNeighborsClassifier
from .path import RegularizationPath, seraph_path
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
from .selection import SERAPHCV
from .seraph import SERAPH
from .versions import show_versions

__all__ = [
    "SERAPH",
    "SERAPHCV",
    "ConvergenceDisplay",
    "DistanceDisplay",
    "EmbeddingDisplay",
    "FeatureImportanceDisplay",
    "KernelSERAPH",
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
