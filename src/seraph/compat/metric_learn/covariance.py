"""The inverse covariance of the points as a metric."""

from __future__ import annotations

from typing import Any, Self

from sklearn.base import TransformerMixin

from ... import classic
from ._starts import components_from_metric
from .base_metric import MahalanobisMixin

__all__ = ["Covariance"]


class Covariance(TransformerMixin, MahalanobisMixin, arguments="preprocessor=None"):
    """The inverse covariance as a metric, by `seraph.classic.Covariance`."""

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002 (as scikit-learn has it)
        """Learn the metric."""
        metric = classic.Covariance().fit(self._points(X)).get_mahalanobis_matrix()
        return self._adopt(components_from_metric(metric))
