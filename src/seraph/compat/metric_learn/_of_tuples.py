"""The learners of metric-learn that take pairs, triplets and quadruplets, or sample them."""

from __future__ import annotations

from typing import Any, Self
from warnings import catch_warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import pairwise_distances
from sklearn.utils import check_array, resample

from ... import classic
from ..._marks import Marks
from ..._utils._eigen import eigvalsh
from ..._utils._typing import Array
from ..._utils._validation import check_choice, check_number, shown
from ..._utils._warnings import warn
from ...classic._lsml import ComparisonObjective
from ...classic._scml import compose, in_mean_distances, local_directions
from ...classic._sdml import largest_weight, sparse_metric
from ._base import (
    MahalanobisMixin,
    _PairsClassifierMixin,
    _QuadrupletsClassifierMixin,
    _TripletsClassifierMixin,
)
from ._constraints import Constraints, known_codes, wrap_pairs
from ._of_points import LAST, PointLearner
from ._starts import components_from_metric, metric_matrix, prior_root

# Largest number of points whose distances give ITML's bounds: metric-learn takes all of them.
_POINTS_FOR_BOUNDS = 3000


class _SamplingLearner(PointLearner):
    """Base: learners that sample pairs of points of one class, and pairs of two."""

    n_constraints: int | None
    verbose: bool
    random_state: Any

    def _prepared(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Return sampled pairs of points, and their labels."""
        points, y = self._points(X, y)
        return wrap_pairs(points, self._sampled(y))

    def _sampled(self, y: Array, *, same_length: bool = False) -> tuple[Array, ...]:
        """Return the rows of sampled pairs, as `Constraints` does."""
        n = 20 * len(np.unique(y)) ** 2 if self.n_constraints is None else self.n_constraints
        with catch_warnings(action=None if self.verbose else "ignore", category=UserWarning):
            return Constraints(known_codes(y)).positive_negative_pairs(
                n, same_length=same_length, random_state=self.random_state
            )


class _PairLearner(_PairsClassifierMixin, MahalanobisMixin):
    """Base: learners that are given pairs, and find a threshold."""

    _example = """
>>> pairs = [[[0.0, 1.0], [0.1, 5.0]], [[0.0, 1.0], [3.0, 1.2]],
...          [[3.0, 4.0], [3.2, 0.0]], [[0.1, 2.0], [2.9, 2.5]]]
>>> {name}({arguments}).fit(pairs, [1, -1, 1, -1]).predict(pairs).tolist()
[1, -1, 1, -1]"""

    def fit(self, pairs: Any, y: Any, calibration_params: Any = None) -> Self:
        """Learn the metric."""
        return self._fit_pairs(pairs, y, calibration_params)

    def _fit_pairs(self, pairs: Any, y: Any, calibration_params: Any, *more: Any) -> Self:
        if y is None:
            raise ValueError(
                "y must be passed: +1 for pairs that are alike and -1 for those that are not."
            )
        calibration = calibration_params or {}
        self._validate_calibration_params(**calibration)
        formed, labels = self._tuples(pairs, y, size=2)
        return self._learn(formed, labels, *more).calibrate_threshold(formed, y, **calibration)


def _marks_of(y: Array) -> Marks:
    """Return labels of pairs as marks of the rows (0, 1), (2, 3), and so on."""
    n = 2 * len(y)
    return Marks(np.arange(n).reshape(-1, 2), y, rows=n)


class _BaseITML(MahalanobisMixin):
    def _learn(self, pairs: Array, y: Array, bounds: Any = None) -> Self:
        points = pairs.reshape(-1, pairs.shape[2])
        root = prior_root(self, points)
        if len(pairs) == 0:
            raise ValueError(
                "ITML needs at least one pair; y has no two points of one class, nor of two. "
                "Label more points, or raise n_constraints."
            )
        if bounds is None:
            unique = np.unique(points, axis=0)
            n = min(len(unique), _POINTS_FOR_BOUNDS)
            unique = resample(unique, replace=False, n_samples=n, random_state=0)
            bounds = np.percentile(pairwise_distances(unique), (5, 95))
        bounds = np.array(bounds, dtype=float).ravel()
        bounds[bounds == 0.0] = 1e-9
        settings = self._settings("gamma", "max_iter", "tol", bounds=tuple(bounds.tolist()))
        learner = classic.ITML(n_constraints=None, **settings)
        self._fit_quietly(learner, points @ root, marks=_marks_of(y))
        P = learner.components_ @ root
        return self._adopt(
            components_from_metric(P.T @ P), bounds_=bounds, n_iter_=learner.n_iter_
        )


class ITML(
    _BaseITML,
    _PairLearner,
    arguments=f"gamma=1.0, max_iter=1000, tol=1e-3, prior='identity', {LAST}",
):
    """Information-theoretic metric learning from pairs, by `seraph.classic.ITML`."""

    def fit(  # type: ignore[override]  # metric-learn has the arguments in this order
        self, pairs: Any, y: Any, bounds: Any = None, calibration_params: Any = None
    ) -> Self:
        """Learn the metric."""
        return self._fit_pairs(pairs, y, calibration_params, bounds)


class ITML_Supervised(  # noqa: N801
    _BaseITML,
    _SamplingLearner,
    arguments=f"gamma=1.0, max_iter=1000, tol=1e-3, n_constraints=None, prior='identity', {LAST}",
):
    """Information-theoretic metric learning from classes, by `seraph.classic.ITML`."""

    def fit(self, X: Any, y: Any, bounds: Any = None) -> Self:
        """Learn the metric."""
        return self._learn(*self._prepared(X, y), bounds)


class _BaseMMC(MahalanobisMixin):
    def _learn(self, pairs: Array, y: Array) -> Self:
        check_number("diagonal_c", self.diagonal_c, low=0.0)
        points = pairs.reshape(-1, pairs.shape[2])
        first = metric_matrix(self.init, points, self.random_state, "init", definite=False)
        alike = pairs[y == 1, 0] - pairs[y == 1, 1]
        if not alike.any():
            raise ValueError(
                f"MMC needs pairs of both kinds whose points differ; all {len(alike)} pairs that "
                "are alike (+1) are of equal points. Pass more pairs."
            )
        settings = self._settings("diagonal", "max_iter", "tol")
        learner = classic.GDM(n_constraints=None, **settings)
        self._fit_quietly(learner, points, marks=_marks_of(y))
        # The sum of the squared distances of alike pairs: in the full form, metric-learn bounds
        # it by a hundredth of that under `init`; in the diagonal form, this is its best value.
        bound = np.vdot(alike @ first, alike) / 100.0
        total = float(self.diagonal_c) / 2.0 if self.diagonal else bound
        A = learner.get_mahalanobis_matrix()
        A *= total / np.vdot(alike @ A, alike)
        solved = {"n_iter_": learner.n_iter_, "converged_": learner.converged_}
        return self._adopt(components_from_metric(A), A_=A, **solved)


_MMC = f"init='identity', diagonal=False, diagonal_c=1.0, {LAST}"


class MMC(_BaseMMC, _PairLearner, arguments=f"max_iter=100, max_proj=10000, tol=1e-3, {_MMC}"):
    """Mahalanobis metric for clustering from pairs, by `seraph.classic.GDM`."""


class MMC_Supervised(  # noqa: N801
    _BaseMMC,
    _SamplingLearner,
    arguments=f"max_iter=100, max_proj=10000, tol=1e-6, n_constraints=None, {_MMC}",
):
    """Mahalanobis metric for clustering from classes, by `seraph.classic.GDM`."""


class _BaseSDML(MahalanobisMixin):
    def _learn(self, pairs: Array, y: Array) -> Self:
        check_number("balance_param", self.balance_param, low=0.0)
        check_number("sparsity_param", self.sparsity_param, low=0.0)
        root = prior_root(self, pairs.reshape(-1, pairs.shape[2]))
        difference = pairs[:, 0] - pairs[:, 1]
        pull = (difference.T * y) @ difference
        largest, weight = largest_weight(pull, root), float(self.balance_param)
        if weight >= largest and eigvalsh(pull)[0] < 0.0:
            warn(
                f"balance_param={weight:g} is too large for these pairs: there is no minimum from "
                f"{largest:.2g} on, so {0.99 * largest:.2g} is used. Lower balance_param.",
                ConvergenceWarning,
            )
            weight = 0.99 * largest
        K = np.linalg.inv(root @ root) + weight * pull
        A = sparse_metric(K, float(self.sparsity_param), max_iter=100, tol=1e-4)[0]
        return self._adopt(components_from_metric(A))


_SDML = "balance_param=0.5, sparsity_param=0.01, prior='identity'"


class SDML(
    _BaseSDML,
    _PairLearner,
    arguments=f"{_SDML}, {LAST}",
    example="balance_param=0.02, sparsity_param=0.0",
):
    """Sparse metric learning from pairs, by the solver of `seraph.classic.SDML`."""


class SDML_Supervised(  # noqa: N801
    _BaseSDML,
    _SamplingLearner,
    arguments=f"{_SDML}, n_constraints=None, {LAST}",
    example="balance_param=1e-4",
):
    """Sparse metric learning from classes, by the solver of `seraph.classic.SDML`."""


# Learners of triplets and quadruplets, and of classes that they are made from


class _BaseLSML(MahalanobisMixin):
    def _learn(self, quadruplets: Array, weights: Any) -> Self:
        check_number("tol", self.tol, low=0.0)
        check_number("max_iter", self.max_iter, low=0, integer=True)
        root = prior_root(self, quadruplets.reshape(-1, quadruplets.shape[2]))
        near = (quadruplets[:, 0] - quadruplets[:, 1]) @ root
        far = (quadruplets[:, 2] - quadruplets[:, 3]) @ root
        n = len(near)
        if not (near.any() or far.any()):
            raise ValueError(
                f"LSML got {n} quadruplets, and none of points that differ: there is nothing to "
                "learn. Pass points that differ, of at least two classes."
            )
        shares = np.ones(n) if weights is None else np.array(weights, dtype=float)
        if shares.shape != (n,) or not 0.0 < shares.sum() < np.inf:
            raise ValueError(
                f"weights must be {n} numbers, one for each quadruplet, with a positive "
                f"sum; got {shown(weights)}."
            )
        shares /= shares.sum()
        pairs, number = np.vstack([near, far]), np.arange(n)
        objective = ComparisonObjective(pairs, number, n + number, 1.0, shares)
        L, _, _, n_iter = objective.minimize(self.max_iter, self.tol)
        components = components_from_metric(root @ L @ L.T @ root)
        return self._adopt(components, w_=shares, n_iter_=max(1, n_iter))


_LSML = "tol=1e-3, max_iter=1000, prior='identity'"


class LSML(_BaseLSML, _QuadrupletsClassifierMixin, arguments=f"{_LSML}, {LAST}"):
    """Metric learning from quadruplets, by the solver of `seraph.classic.LSML`."""

    _example = """
>>> quadruplets = [[[0.0, 0.0], [3.0, 0.0], [0.0, 0.0], [0.0, 1.0]]]
>>> learner = {name}({arguments}).fit(quadruplets)  # the first two are closer than the others
>>> bool(learner.decision_function(quadruplets)[0] > -2.0)
True"""

    def fit(self, quadruplets: Any, weights: Any = None) -> Self:
        """Learn the metric."""
        return self._learn(self._tuples(quadruplets, size=4), weights)


class LSML_Supervised(  # noqa: N801
    _BaseLSML,
    _SamplingLearner,
    arguments=f"{_LSML}, n_constraints=None, weights=None, {LAST}",
):
    """Metric learning from sampled quadruplets, by the solver of `seraph.classic.LSML`."""

    def _prepared(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Return sampled quadruplets, and their weights."""
        points, y = self._points(X, y)
        rows = self._sampled(y, same_length=True)
        return points[np.column_stack(rows)], self.weights


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
