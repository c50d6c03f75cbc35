"""Keywords that metric-learn has renamed, and still takes with a warning."""

from __future__ import annotations

from typing import Any

from ..._utils._warnings import warn

DEPRECATED = "deprecated"  # the default of an old keyword, as in metric-learn


def is_given(old: Any) -> bool:
    """Whether a user passed an old keyword."""
    return not (isinstance(old, str) and old == DEPRECATED)


def renamed(old_name: str, old: Any, name: str, value: Any) -> Any:
    """Return what was passed by the old name, with a warning, or else by the new one.

    Examples
    --------
    >>> renamed("k", DEPRECATED, "n_neighbors", 3)
    3
    """
    if not is_given(old):
        return value
    warn(f"{old_name} has been renamed: pass {name}={old!r} instead.", FutureWarning)
    return old


def kept(old: Any) -> Any:
    """Return what the attribute of an old keyword holds: never a value that counts.

    (A clone must hold the very object that it was given.)
    """
    return DEPRECATED if is_given(old) else old
