"""The base of the learners of points that all have a label."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets

from ..._utils._typing import Array
from ._base_metric import MahalanobisMixin


class LabeledLearner(TransformerMixin, MahalanobisMixin):
    """Base: learners of points that all have a label."""

    def _labeled(self, X: Any, y: Any) -> tuple[Array, Array]:
        """Return checked points, and their classes numbered from 0; -1 is a class like others."""
        points, y = self._points(X, y)
        check_classification_targets(y)
        return points, np.unique(y, return_inverse=True)[1].reshape(-1)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags
