"""Semi-supervised metric learning that follows scikit-learn's conventions.

Names are loaded when they are first used, so that ``import seraph`` takes no time.
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING

from ._version import __version__

if TYPE_CHECKING:  # for type checkers and editors; a test compares it with the table below
    from . import classic, compat, datasets, metrics, persist, plot  # noqa: F401
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
        DuplicateFinder,
        Duplicates,
        KernelMap,
        KernelMetric,
        KernelSERAPH,
        MetricNeighborsClassifier,
        MetricPipeline,
        PreparedMetric,
        RegularizationPath,
        seraph_path,
    )
    from ._version import show_versions
    from .persist import export, load, save, to_matrix, to_onnx
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
    "DuplicateFinder",
    "Duplicates",
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
    "export",
    "load",
    "save",
    "seraph_path",
    "show_versions",
    "to_matrix",
    "to_onnx",
]

# Where each name lives.
_HOMES = {
    "_base": ("MahalanobisMetric",),
    "_decisions": (
        "PairKFold",
        "PairScorer",
        "constrained_agglomerative",
        "constrained_k_means",
    ),
    "_engine": ("FitState", "Interruptible"),
    "_estimators": (
        "SERAPH",
        "SERAPHCV",
        "DuplicateFinder",
        "Duplicates",
        "KernelMap",
        "KernelMetric",
        "KernelSERAPH",
        "MetricNeighborsClassifier",
        "MetricPipeline",
        "PreparedMetric",
        "RegularizationPath",
        "seraph_path",
    ),
    "_version": ("show_versions",),
    "persist": ("export", "load", "save", "to_matrix", "to_onnx"),
    "plot": (
        "ConvergenceDisplay",
        "DistanceDisplay",
        "EmbeddingDisplay",
        "FeatureImportanceDisplay",
        "PosteriorDisplay",
        "RegularizationPathDisplay",
        "ReliabilityDisplay",
        "SpectrumDisplay",
    ),
}
_PACKAGES = ("classic", "compat", "datasets", "metrics", "persist", "plot")
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> object:
    if name in _PACKAGES:
        return _import_module(f".{name}", __name__)
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(_import_module(f".{_HOME_OF[name]}", __name__), name)
    globals()[name] = value  # the next use finds it without this function
    return value


def __dir__() -> list[str]:
    special = [name for name in globals() if name.startswith("_")]
    return sorted({*special, *__all__, *_PACKAGES})
