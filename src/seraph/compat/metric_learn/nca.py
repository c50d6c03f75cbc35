"""Neighborhood components analysis."""

from __future__ import annotations

from ... import classic
from ._inputs import Descent, LabeledLearner
from ._parameters import LAST

__all__ = ["NCA"]


class NCA(
    Descent,
    LabeledLearner,
    arguments=f"init='auto', n_components=None, max_iter=100, tol=None, {LAST}",
):
    """Neighborhood components analysis, by `seraph.classic.NCA`."""

    _solver = classic.NCA
