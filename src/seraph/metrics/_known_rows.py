"""Scorers of scikit-learn for partly labeled data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics import get_scorer
from sklearn.utils import _safe_indexing
from sklearn.utils.metadata_routing import get_routing_for_object
from sklearn.utils.validation import _num_samples

from .._marks import read_classes
from .._utils._typing import Array
from .._utils._validation import check_rows_by_number, shown

Scorer = Callable[..., float]


def known_rows_scorer(scoring: str | Scorer) -> Scorer:
    """Make a scorer skip the rows whose class is unknown.

    The scorers of scikit-learn take -1 for a class. The new scorer sees only the labeled rows, so
    every splitter works on partly labeled data.

    Parameters
    ----------
    scoring : str or callable
        Name of a scorer, such as "accuracy"; or a scorer, called with an estimator, X and y.

    Returns
    -------
    callable
        A scorer, for the argument `scoring` of scikit-learn's functions. It raises a ValueError
        if none of the rows is labeled.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from seraph import SERAPH, MetricClassifier
    >>> from seraph.metrics import known_rows_scorer
    >>> X, y = load_wine(return_X_y=True)
    >>> y[::2] = -1
    >>> model = MetricClassifier(make_pipeline(StandardScaler(), SERAPH()))
    >>> scores = cross_val_score(model, X, y, cv=5, scoring=known_rows_scorer("accuracy"))
    >>> bool(scores.mean() > 0.9)
    True
    """
    try:
        return _KnownRowsScorer(get_scorer(scoring))
    except ValueError:  # InvalidParameterError is one
        raise ValueError(
            'scoring must be a scorer, or the name of one, such as "accuracy"; got '
            f"{shown(scoring)}. sklearn.metrics.get_scorer_names() lists the names."
        ) from None


def labels_to_score(y: ArrayLike, n: int) -> tuple[Array, Array]:
    """Return the labels of `n` rows, and which are known; refuse them if none is."""
    labels, known = read_classes(y, n)
    if not known.any():
        raise ValueError(
            f"None of the {n} rows has a label (-1, NaN and None mean unlabeled): there is "
            "nothing to score. For cross-validation, pass cv=seraph.MarksKFold(), whose test sets "
            "have labeled rows."
        )
    return labels, known


@dataclass(frozen=True)
class _KnownRowsScorer:
    """A class and not a closure, so that other processes can be sent one."""

    scorer: Scorer

    def __call__(self, estimator: Any, X: Any, y: ArrayLike, **params: Any) -> float:
        check_rows_by_number(X)
        labels, is_known = labels_to_score(y, _num_samples(X))
        known = np.flatnonzero(is_known)
        truth = labels[known]
        if truth.dtype.kind == "O":  # perhaps only because some labels are missing
            truth = np.array(truth.tolist())
        cut = {
            name: _safe_indexing(value, known)
            if hasattr(value, "__len__") and _num_samples(value) == len(labels)
            else value
            for name, value in params.items()
        }
        return float(self.scorer(estimator, _safe_indexing(X, known), truth, **cut))

    def get_metadata_routing(self) -> Any:
        """Return the metadata that the scorer requests, for scikit-learn's routing."""
        return get_routing_for_object(self.scorer)
