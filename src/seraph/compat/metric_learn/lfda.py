"""Local Fisher discriminant analysis."""

from __future__ import annotations

from typing import Self

import numpy as np
from scipy.linalg import eigh

from ..._utils._typing import Array
from ..._utils._validation import check_choice, check_number
from ..._utils._warnings import warn
from ...classic._lfda import local_scatters
from ._inputs import LabeledLearner
from ._starts import RIDGE, checked_components

__all__ = ["LFDA"]


class LFDA(
    LabeledLearner,
    arguments="n_components=None, k=None, embedding_type='weighted', preprocessor=None",
):
    """Local Fisher discriminant analysis, with the scatters of `seraph.classic.LFDA`."""

    def _learn(self, points: Array, codes: Array) -> Self:
        kinds = ("weighted", "orthonormalized", "plain")
        check_choice("embedding_type", self.embedding_type, kinds)
        m = points.shape[1]
        d = checked_components(self.n_components, m)
        check_number("k", self.k, low=1, integer=True, instead=None)
        if self.k is not None and self.k >= m:
            warn(f"k={self.k} is too large for {m} features: {m - 1} is used.")
        k = max(1, min(7 if self.k is None else self.k, m - 1))
        order = np.argsort(codes, kind="stable")
        centered = points[order].astype(float) - points.mean(axis=0)
        between, within = local_scatters(centered, codes[order], k)
        try:
            values, vectors = eigh(between, within)
        except np.linalg.LinAlgError:
            # Where no class has any spread, a share of that of all points keeps the map in bounds.
            spread = max(np.trace(within), RIDGE * np.trace(between)) / m
            values, vectors = eigh(between, within + (RIDGE * spread or 1.0) * np.eye(m))
        values, vectors = values[::-1][:d], vectors[:, ::-1][:, :d]
        if self.embedding_type == "weighted":
            vectors = vectors * np.sqrt(np.maximum(values, 0.0))
        elif self.embedding_type == "orthonormalized":
            vectors = np.linalg.qr(vectors)[0]
        return self._adopt(vectors.T)
