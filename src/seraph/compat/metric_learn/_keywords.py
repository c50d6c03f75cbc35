"""Keywords that metric-learn has renamed, and still takes with a warning."""

from __future__ import annotations

from typing import Any

from ..._utils._warnings import warn

DEPRECATED = "deprecated"  # the default of an old keyword, as in metric-learn


def renamed(old_name: str, old: Any, name: str, value: Any) -> tuple[Any, Any]:
    """Return the value of a keyword, and what the attribute of its old name holds.

    A value that is passed by the old name is taken, with a warning. The attribute of the old name
    never holds it; it holds the default, as the very object that was passed, for which `clone`
    looks.

    Examples
    --------
    >>> renamed("k", DEPRECATED, "n_neighbors", 3)
    (3, 'deprecated')
    """
    if isinstance(old, str) and old == DEPRECATED:
        return value, old
    warn(f"{old_name} has been renamed: pass {name}={old!r} instead.", FutureWarning)
    return old, DEPRECATED
