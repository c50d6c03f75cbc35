"""Steps of a pipeline that scale numbers and fill in missing ones."""

from __future__ import annotations

from typing import Any

_NEIGHBORS = 5  # from which knn fills in


def number_steps(scale: str, impute: str | None) -> list[tuple[str, Any]]:
    """Return the steps.

    Parameters
    ----------
    scale : {"standard", "minmax", "unit", "none"}
        How to scale.
    impute : {"median", "knn"} or None
        How to fill in missing numbers; None if there are none.
    """
    from sklearn.impute import KNNImputer, SimpleImputer
    from sklearn.preprocessing import MinMaxScaler, Normalizer, StandardScaler

    steps: list[tuple[str, Any]] = []
    if scale in ("standard", "minmax"):
        steps.append(("scale", MinMaxScaler() if scale == "minmax" else StandardScaler()))
    if impute == "median":
        steps.append(("impute", SimpleImputer(strategy="median")))
    if impute == "knn":
        steps.append(("impute", KNNImputer(n_neighbors=_NEIGHBORS)))
    if scale == "unit":  # a length needs all of the numbers
        steps.append(("scale", Normalizer()))
    return steps
