"""Sparse compositional metric learning, from triplets and from classes."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils import check_array

from ..._utils._typing import Array
from ..._utils._validation import check_choice, check_number
from ...classic._scml import compose, in_mean_distances, local_directions
from ._inputs import PointLearner
from ._parameters import LAST
from .base_metric import MahalanobisMixin, _TripletsClassifierMixin
from .constraints import Constraints, known_codes

__all__ = ["SCML", "SCML_Supervised"]


class _BaseSCML(MahalanobisMixin):
    _bases: tuple[str, ...] = ("triplet_diffs",)

    def _learn(self, points: Array, rows: Array) -> Self:
        check_number("max_iter", self.max_iter, low=1, integer=True)
        check_number("n_basis", self.n_basis, low=1, integer=True, instead=None)
        m = points.shape[1]
        near, far, unit = in_mean_distances(points.astype(float), rows)
        if isinstance(self.basis, np.ndarray):
            basis = check_array(self.basis, input_name="basis")
            if basis.shape[1] != m:
                raise ValueError(
                    f"basis must have {m} columns, one for each feature; got shape {basis.shape}."
                )
        else:
            check_choice("basis", self.basis, self._bases)
            n_basis = min(20 * m, 500) if self.n_basis is None else int(self.n_basis)
            choice = {"n_basis": n_basis, "random_state": self.random_state}
            basis = local_directions(points / unit, rows[:, 0], near, far, **choice)
        beta = float(self.beta) / unit**2  # of the weights in the unit of X
        P, *_, n_iter = compose(near, far, basis, beta, self.max_iter, 1e-3)
        components = np.zeros((m, m))  # as many rows as features, whatever the rank
        components[: len(P)] = P / unit
        return self._adopt(components, n_iter_=max(1, n_iter))


_SCML = f"n_basis=None, gamma=5e-3, max_iter=10000, output_iter=500, batch_size=10, {LAST}"


class SCML(
    _BaseSCML, _TripletsClassifierMixin, arguments=f"beta=1e-5, basis='triplet_diffs', {_SCML}"
):
    """Sparse compositional metric learning from triplets, by `seraph.classic.SCML`."""

    _example = """
>>> triplets = [[[0.0, 0.0], [0.0, 3.0], [1.0, 0.0]], [[1.0, 0.0], [1.1, 4.0], [0.0, 0.1]]]
>>> {name}({arguments}).fit(triplets).predict(triplets).tolist()
[1, 1]"""

    def fit(self, triplets: Any) -> Self:
        """Learn the metric."""
        formed = self._tuples(triplets, size=3)
        points, rows = np.unique(formed.reshape(-1, formed.shape[2]), axis=0, return_inverse=True)
        return self._learn(points, rows.reshape(-1, 3))


class SCML_Supervised(  # noqa: N801
    _BaseSCML,
    PointLearner,
    arguments=f"k_genuine=3, k_impostor=10, beta=1e-5, basis='lda', {_SCML}",
):
    """Sparse compositional metric learning from classes, by `seraph.classic.SCML`."""

    _bases = ("triplet_diffs", "lda")

    def _prepared(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Return points, and the rows of triplets of neighbors."""
        points, y = self._points(X, y)
        near, far = self.k_genuine, self.k_impostor
        check_number("k_genuine", near, low=1, integer=True)
        check_number("k_impostor", far, low=1, integer=True)
        triplets = Constraints(known_codes(y)).generate_knntriplets(points, near, far)
        if len(triplets) == 0:
            raise ValueError(
                "SCML needs at least two classes, one of them with at least two members, to make "
                "triplets from; y has too few."
            )
        return points, triplets
