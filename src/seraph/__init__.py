"""Semi-supervised metric learning, with the manners of scikit-learn."""

from ._version import __version__
from .seraph import SERAPH

__all__ = ["SERAPH", "__version__"]
