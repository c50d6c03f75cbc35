"""Notice a pipeline that would take unlabeled rows for a class."""

from __future__ import annotations

import inspect

from numpy.typing import ArrayLike
from sklearn.base import is_classifier
from sklearn.pipeline import Pipeline

from .._pairs import as_labels, is_missing
from .._warnings import warn


def refuse_unlabeled_classes(y: ArrayLike | None) -> None:
    """Raise an error if a classifier after the learner would take -1 in `y` for a class.

    ``make_pipeline(StandardScaler(), SERAPH(), KNeighborsClassifier())`` gives the same y to the
    learner, for which -1 means unknown, and to the classifier, for which it is a class: it would
    predict -1 for most rows, and score itself by it.
    """
    if y is None or not is_missing(as_labels(y)).any():
        return
    frame = inspect.currentframe()
    while frame is not None:
        pipeline = frame.f_locals.get("self")
        if isinstance(pipeline, Pipeline):
            break
        frame = frame.f_back
    else:
        return
    last = pipeline.steps[-1][1]
    module = type(last).__module__
    if not is_classifier(last) or module.startswith(("sklearn.semi_supervised", "seraph")):
        return
    name = type(last).__name__
    message = (
        f"y has rows without a label (-1), which {name} at the end of this pipeline takes for a "
        "class of their own. Use MetricNeighborsClassifier(MetricPipeline(StandardScaler(), "
        "SERAPH())), which learns from all rows and lets only the labeled ones vote."
    )
    if module.startswith("sklearn."):
        raise ValueError(message)
    warn(message)  # a classifier that we do not know may do better
