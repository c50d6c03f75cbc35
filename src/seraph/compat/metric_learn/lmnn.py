"""Large margin nearest neighbors."""

from __future__ import annotations

from typing import Self

import numpy as np

from ... import classic
from ..._utils._typing import Array
from ..._utils._validation import check_number
from ._inputs import LabeledLearner
from ._starts import first_map

__all__ = ["LMNN"]


class LMNN(
    LabeledLearner,
    arguments="init='auto', n_neighbors=3, min_iter=50, max_iter=1000, learn_rate=1e-7, "
    "regularization=0.5, convergence_tol=0.001, verbose=False, preprocessor=None, "
    "n_components=None, random_state=None",
):
    """Large margin nearest neighbors, by `seraph.classic.LMNN`."""

    def _learn(self, points: Array, codes: Array) -> Self:
        check_number("regularization", self.regularization, low=0.0, high=1.0)
        first = first_map(self.init, points, codes, self.n_components, self.random_state)
        settings = self._settings("n_neighbors", "max_iter", n_components=len(first))
        learner = classic.LMNN(push_weight=1.0 - self.regularization, **settings)
        return self._adopt_fit(learner, points, codes, labels_=np.unique(codes))
