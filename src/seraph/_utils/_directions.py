"""Models that make rows of unit length, and rows without a direction."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import Normalizer


def needs_unit_length(model: Any) -> bool:
    """Return whether a model scales points to unit length before anything else."""
    while not isinstance(model, Normalizer):
        if isinstance(model, Pipeline):
            model = model.steps[0][1]
        elif hasattr(model, "estimator_") or hasattr(model, "encoder_"):  # a TablePreparer
            model = getattr(model, "estimator_", None) or model.encoder_
        else:
            return False
    return True


def check_directions(
    model: Any, X: Any, name: str = "X", place: Callable[[int], str] = "row {}".format
) -> None:
    """Refuse rows of zeros if the first step of a pipeline makes rows of unit length.

    scikit-learn leaves such rows at zero, which is equally far from every unit vector. The
    message calls the points `name`, and a row its `place`.
    """
    if not needs_unit_length(model):
        return
    points = np.asarray(X)
    zero = np.flatnonzero(~points.any(axis=1)) if points.ndim == 2 else np.empty(0, dtype=np.intp)
    if len(zero):
        more = f" and {len(zero) - 1} more" if len(zero) > 1 else ""
        first = place(int(zero[0])).capitalize()
        raise ValueError(
            f"{first}{more} of {name} has only zeros, and so no direction: it cannot be "
            "scaled to unit length. Drop such rows; often an empty text is the cause."
        )
