"""Public names say where users import them from, not in which private file they are written.

Pickles and saved models record a class by its module. Private files may move; the public
places may not.
"""

from __future__ import annotations

from typing import Any


def publish(namespace: dict[str, Any]) -> None:
    """Give every class and function of a public package the name of that package.

    Parameters
    ----------
    namespace : dict
        ``globals()`` of the package. The names in its ``__all__`` that come from private
        modules are relabelled; those that another public package has claimed are left alone.
    """
    package = namespace["__name__"]
    for name in namespace["__all__"]:
        value = namespace[name]
        home = getattr(value, "__module__", None)
        if home is not None and "._" in home and hasattr(value, "__qualname__"):
            value.__module__ = package
