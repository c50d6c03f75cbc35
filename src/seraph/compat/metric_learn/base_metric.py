"""The bases of metric-learn's learners, where its users look for them."""

from ..._utils._public import publish as _publish
from ._base_metric import BaseMetricLearner, MahalanobisMixin
from ._guesses import (
    _PairsClassifierMixin,  # noqa: F401 (their name, which some import)
    _QuadrupletsClassifierMixin,  # noqa: F401
    _TripletsClassifierMixin,  # noqa: F401
)

__all__ = ["BaseMetricLearner", "MahalanobisMixin"]

_publish(globals())
