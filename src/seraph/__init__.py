"""Semi-supervised metric learning, with the manners of scikit-learn."""

from ._version import __version__
from .kernel import KernelSERAPH
from .neighbors import MetricNeighborsClassifier
from .path import RegularizationPath, seraph_path
from .plot import RegularizationPathDisplay
from .selection import SERAPHCV
from .seraph import SERAPH

__all__ = [
    "SERAPH",
    "SERAPHCV",
    "KernelSERAPH",
    "MetricNeighborsClassifier",
    "RegularizationPath",
    "RegularizationPathDisplay",
    "__version__",
    "seraph_path",
]
