"""What messages about tables are made of: names, cells, and settings that would help."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any, NamedTuple

# Columns and names that a message lists; the rest are counted.
_LISTED, _NAMES = 5, 12


class Setting(NamedTuple):
    """A parameter of `TablePreparer` that a message advises, for programs to phrase anew."""

    name: str
    values: list[Any]

    def __str__(self) -> str:
        return f"{self.name}={self.values}"


class _Advice(Exception):
    """A message whose `parts` are texts and settings."""

    def __init__(self, *parts: object) -> None:
        self.parts = parts
        super().__init__("".join(map(str, parts)))


class ColumnError(_Advice, ValueError):
    """Columns that cannot be used as they are."""


class ColumnWarning(_Advice, UserWarning):
    """Columns that may mean something else than they seem to."""


def advice(name: str, names: Sequence[str]) -> str:
    """Suggest the most similar name, or list all names if there are few."""
    folded = {known.casefold(): known for known in reversed(names)}
    near = get_close_matches(name.casefold(), list(folded), n=1)
    if near:
        return f" Did you mean {folded[near[0]]!r}?"
    return f" It has {', '.join(map(repr, names))}." if len(names) <= _NAMES else ""


def and_more(texts: Sequence[str], n: int) -> str:
    """Join the first of `n` texts, and count the others."""
    return ", ".join(texts) + (f" and {n - len(texts)} more" if n > len(texts) else "")


def listed(details: Mapping[str, str]) -> str:
    """Name a few columns, each with a detail about it, and count the others."""
    texts = [f"{name!r} ({detail})" for name, detail in list(details.items())[:_LISTED]]
    return f"{'column' if len(details) == 1 else 'columns'} {and_more(texts, len(details))}"


def quoted(text: str) -> str:
    """Return text as an argument of a command, in quotation marks if it needs any."""
    return text if re.fullmatch(r"\w+", text) else f'"{text}"'
