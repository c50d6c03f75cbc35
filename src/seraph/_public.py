"""Let public names carry the module that users import them from.

Pickles and saved models record a class by its module. Private modules may move; public ones may
not.
"""

from __future__ import annotations

from typing import Any


def publish(namespace: dict[str, Any]) -> None:
    """Give every class and function of a public package the name of that package.

    Parameters
    ----------
    namespace : dict
        ``globals()`` of the package. Names in its ``__all__`` that come from our private modules
        are changed; names of another public package, or of another library, are left alone.
    """
    package = namespace["__name__"]
    private = ("seraph._", f"{package}._", f"{package.rpartition('.')[0]}._")
    for name in namespace["__all__"]:
        value = namespace[name]
        home = getattr(value, "__module__", None) or ""
        if home.startswith(private) and hasattr(value, "__qualname__"):
            value.__module__ = package
