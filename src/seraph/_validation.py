"""Checks of single parameters."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np


def check_number(
    name: str, value: Any, *, low: float, integer: bool = False, instead: object = ...
) -> None:
    """Refuse a value that is neither a finite number of at least `low` nor `instead`."""
    if value is instead or (isinstance(instead, str) and value == instead):
        return
    kind = Integral if integer else Real
    if isinstance(value, kind) and not isinstance(value, bool) and low <= float(value) < np.inf:
        return
    noun = "whole number" if integer else "number"
    other = "" if instead is ... else f", or {instead!r}"
    raise ValueError(f"{name} must be a finite {noun} of at least {low:g}{other}; got {value!r}.")


def check_choice(name: str, value: Any, choices: tuple[str, ...]) -> None:
    """Refuse a value that is not one of the `choices`."""
    if value not in choices:
        listed = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name} must be one of {listed}; got {value!r}.")
