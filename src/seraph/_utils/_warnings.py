"""Warnings that point to the user's line."""

from __future__ import annotations

import inspect
import warnings

# Packages that may stand between the user's line and the place that warns. Solvers run inside
# scipy's loops; a decorator or a `with` block passes through contextlib.
_IN_BETWEEN = {"seraph", "sklearn", "joblib", "scipy", "contextlib"}


class LabelWarning(UserWarning):
    """A class whose name may mean that the class is unknown."""


def warn(message: str | Warning, category: type[Warning] = UserWarning) -> None:
    """Issue a warning that points to the line of the user's code that led here.

    That is the innermost line outside seraph, scikit-learn and the packages that call them.
    """
    frame = inspect.currentframe()
    level = 1
    while frame is not None and frame.f_back is not None:
        if frame.f_globals.get("__name__", "").partition(".")[0] not in _IN_BETWEEN:
            break
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
