"""Let public names carry the module that users import them from.

Pickles and saved models record a class by its module. Private modules may move; public ones may
not.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def publish(
    namespace: dict[str, Any], package: str | None = None, names: Iterable[str] | None = None
) -> None:
    """Give classes and functions the name of the public `package` that offers them.

    `namespace` is ``globals()`` of the module that defines or collects them: by default all of its
    ``__all__``, and itself the package. Names of another public package, or of another library,
    are left alone.
    """
    package = package or namespace["__name__"]
    for name in namespace["__all__"] if names is None else names:
        value = namespace[name]
        home = getattr(value, "__module__", None) or ""
        if home.startswith("seraph.") and "._" in home and hasattr(value, "__qualname__"):
            value.__module__ = package
