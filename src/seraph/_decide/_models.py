"""Check and fit a learner, or a pipeline that ends in one."""

from __future__ import annotations

from inspect import signature
from typing import Any

from numpy.typing import ArrayLike
from sklearn import get_config
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import _num_samples

from .._marks import Marks, aligned_marks
from .._points import is_tensor, to_memory
from .._utils._directions import check_directions
from .._utils._validation import as_numbers, shown


def check_estimator(estimator: Any) -> None:
    """Refuse anything but a learner of a metric, or a pipeline that ends in one."""
    fits = hasattr(estimator, "fit") and hasattr(estimator, "transform")
    if isinstance(estimator, type) or not fits:
        raise ValueError(
            "estimator must be an estimator with fit and transform, such as SERAPH() or "
            f"make_pipeline(StandardScaler(), SERAPH()); got {shown(estimator)}."
        )


def count_rows(X: Any) -> int:
    """Return the number of rows; refuse what has none."""
    try:
        return int(_num_samples(X))
    except TypeError:
        raise TypeError(f"X must be a table of points, one in each row; got {shown(X)}.") from None


def from_device(X: Any) -> Any:
    """Copy a tensor to an ndarray, for the steps of a pipeline; return the rest as it is."""
    return to_memory(X) if is_tensor(X) else X


def last_step(estimator: Any) -> Any:
    """Return the last step of a pipeline, or the estimator itself."""
    while isinstance(estimator, Pipeline):
        estimator = estimator.steps[-1][1]
    return estimator


def fit_model(estimator: Any, X: Any, y: ArrayLike | None, marks: Marks | None) -> Any:
    """Fit a learner, or a pipeline whose last step is one, in place.

    Marks are matched to rows here, because a scaler drops the index of a data frame.
    """
    arguments = {}
    if marks is not None:
        learner = last_step(estimator)
        taken = signature(learner.fit).parameters
        if "marks" not in taken and not any(p.kind is p.VAR_KEYWORD for p in taken.values()):
            raise ValueError(
                f"{type(learner).__name__} does not learn from marks: leave marks out, or use "
                "SERAPH, which does."
            )
        name, step = "marks", estimator
        while isinstance(step, Pipeline) and not get_config()["enable_metadata_routing"]:
            name, step = f"{step.steps[-1][0]}__{name}", step.steps[-1][1]
        arguments[name] = aligned_marks(X, _num_samples(X), None, marks)[1]
    check_directions(estimator, X)
    with as_numbers("X"):  # a step of a pipeline may be the first to look at X
        return estimator.fit(X, y, **arguments)
