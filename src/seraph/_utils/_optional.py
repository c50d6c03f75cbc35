"""Packages that only some features need."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any


def optional_module(name: str, needed_for: str, extra: str) -> ModuleType:
    """Import a module, or raise an error that names the extra that installs it."""
    try:
        return import_module(name)
    except ImportError as error:
        raise ImportError(f"{needed_for}: pip install 'seraph-learn[{extra}]'.") from error


class Late:
    """A module that is imported when it is first needed: an extra, or one that takes long."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self._name), name)
