"""The estimators of the paper's model."""

from .._engine import RegularizationPath
from .._utils._public import publish as _publish
from ._cv import SERAPHCV
from ._kernel import KernelMap, KernelMetric, KernelSERAPH
from ._path import seraph_path
from ._seraph import SERAPH

__all__ = [
    "SERAPH",
    "SERAPHCV",
    "KernelMap",
    "KernelMetric",
    "KernelSERAPH",
    "RegularizationPath",
    "seraph_path",
]

_publish(globals(), "seraph", __all__)
