"""The inverse covariance of the points as a metric."""

from __future__ import annotations

from typing import Any, Self

from sklearn.base import TransformerMixin

from ... import classic
from ._base_metric import MahalanobisMixin
from ._starts import components_from_metric

__all__ = ["Covariance"]


class Covariance(TransformerMixin, MahalanobisMixin):
    """The inverse covariance as a metric, by `seraph.classic.Covariance`.

    Parameters
    ----------
    preprocessor : array-like or callable, optional
        Table of points, or a function of an array of indicators that returns points.

    Examples
    --------
    >>> from seraph.compat.metric_learn import Covariance
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> Covariance().fit(X, y).transform(X).shape
    (150, 4)
    """

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002 (as scikit-learn has it)
        """Learn the metric.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or (n_samples,) with a preprocessor
            Points or indicators.
        y : None
            Not used; scikit-learn's pipelines pass it.
        """
        metric = classic.Covariance().fit(self._points(X)).get_mahalanobis_matrix()
        return self._adopt(components_from_metric(metric))
