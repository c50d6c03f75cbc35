"""The learners of triplets and quadruplets: SCML and LSML."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils import check_array

from ..._utils._typing import Array
from ..._utils._validation import check_number, shown
from ...classic._definite import power
from ...classic._lsml import ComparisonObjective
from ...classic._scml import compose, in_mean_distances, local_directions
from ._base_metric import MahalanobisMixin
from ._constraints import Constraints, default_number, known_codes
from ._documents import class_example, documented
from ._guesses import _QuadrupletsClassifierMixin, _TripletsClassifierMixin
from ._quiet import quiet
from ._starts import metric_matrix


class _BaseLSML(MahalanobisMixin):
    _tuple_size = 4

    def __init__(
        self,
        tol: float = 1e-3,
        max_iter: int = 1000,
        prior: Any = "identity",
        verbose: bool = False,
        preprocessor: Any = None,
        random_state: Any = None,
    ) -> None:
        self.tol = tol
        self.max_iter = max_iter
        self.prior = prior
        self.verbose = verbose
        self.random_state = random_state
        super().__init__(preprocessor)

    def _learn(self, quadruplets: Array, weights: Any) -> Self:
        check_number("tol", self.tol, low=0.0)
        check_number("max_iter", self.max_iter, low=0, integer=True)
        points = quadruplets.reshape(-1, quadruplets.shape[2])
        prior = metric_matrix(self.prior, points, self.random_state, "prior", definite=True)
        root = power(prior, 0.5)
        near = (quadruplets[:, 0] - quadruplets[:, 1]) @ root
        far = (quadruplets[:, 2] - quadruplets[:, 3]) @ root
        if not (near.any() or far.any()):
            raise ValueError(
                f"The points of all {len(near)} quadruplets coincide: there is nothing to learn. "
                "Pass points that differ."
            )
        try:
            shares = np.ones(len(near)) if weights is None else np.array(weights, dtype=float)
        except (TypeError, ValueError, OverflowError):  # no numbers
            shares = np.empty(0)
        if shares.shape != (len(near),) or not 0.0 < shares.sum() < np.inf:
            raise ValueError(
                f"weights must be {len(near)} numbers, one for each quadruplet, with a positive "
                f"sum; got {shown(weights)}."
            )
        self.w_ = shares / shares.sum()
        objective = ComparisonObjective(near, far, 1.0, self.w_)
        L, _, _, n_iter = objective.minimize(self.max_iter, self.tol)
        return self._adopt(power(L @ L.T, 0.5) @ root, n_iter_=max(1, n_iter))


@documented(
    "Metric learning from quadruplets, by the solver of `seraph.classic.LSML`.",
    """\
>>> quadruplets = [[[0.0, 0.0], [0.0, 3.0], [0.0, 0.0], [1.0, 0.0]]]
>>> learner = LSML().fit(quadruplets)  # the first two are closer than the others
>>> bool(learner.decision_function(quadruplets)[0] > -2.0)
True""",
)
class LSML(_QuadrupletsClassifierMixin, _BaseLSML):
    def fit(self, quadruplets: Any, weights: Any = None) -> Self:
        return self._learn(self._tuples(quadruplets, size=4), weights)


@documented(
    "Metric learning from sampled quadruplets, by the solver of `seraph.classic.LSML`.",
    class_example("LSML_Supervised", "random_state=0"),
)
class LSML_Supervised(TransformerMixin, _BaseLSML):  # noqa: N801
    def __init__(
        self,
        tol: float = 1e-3,
        max_iter: int = 1000,
        prior: Any = "identity",
        n_constraints: int | None = None,
        weights: Any = None,
        verbose: bool = False,
        preprocessor: Any = None,
        random_state: Any = None,
    ) -> None:
        super().__init__(tol, max_iter, prior, verbose, preprocessor, random_state)
        self.n_constraints = n_constraints
        self.weights = weights

    def fit(self, X: Any, y: Any) -> Self:
        points, y = self._points(X, y)
        n = default_number(y) if self.n_constraints is None else self.n_constraints
        with quiet(UserWarning, unless=self.verbose):
            rows = Constraints(known_codes(y)).positive_negative_pairs(
                n, same_length=True, random_state=self.random_state
            )
        if len(rows[0]) == 0:
            raise ValueError(
                "LSML needs at least two classes, one of them with at least two members, to "
                "sample quadruplets from; y has too few."
            )
        return self._learn(points[np.column_stack(rows)], self.weights)


class _BaseSCML(MahalanobisMixin):
    _tuple_size = 3
    _bases: tuple[str, ...] = ("triplet_diffs",)

    def __init__(
        self,
        beta: float = 1e-5,
        basis: Any = "triplet_diffs",
        n_basis: int | None = None,
        gamma: float = 5e-3,
        max_iter: int = 10000,
        output_iter: int = 500,
        batch_size: int = 10,
        verbose: bool = False,
        preprocessor: Any = None,
        random_state: Any = None,
    ) -> None:
        self.beta = beta
        self.basis = basis
        self.n_basis = n_basis
        self.gamma = gamma
        self.max_iter = max_iter
        self.output_iter = output_iter
        self.batch_size = batch_size
        self.verbose = verbose
        self.random_state = random_state
        super().__init__(preprocessor)

    def _check_numbers(self, *names: str) -> None:
        for name in (*names, "max_iter", "output_iter", "batch_size"):
            value = getattr(self, name)
            if not isinstance(value, int | np.integer):
                raise ValueError(f"{name} must be a whole number; got {shown(value)}.")
        if self.n_basis is not None and not isinstance(self.n_basis, int | np.integer):
            raise ValueError(f"n_basis must be a whole number or None; got {shown(self.n_basis)}.")
        if self.output_iter > self.max_iter:
            raise ValueError(
                f"output_iter={self.output_iter} must be no larger than max_iter={self.max_iter}."
            )

    def _learn(self, points: Array, rows: Array) -> Self:
        m = points.shape[1]
        near, far, unit = in_mean_distances(points.astype(float), rows)
        if isinstance(self.basis, str) and self.basis in self._bases:
            n_basis = min(20 * m, 500) if self.n_basis is None else int(self.n_basis)
            basis = local_directions(
                points / unit,
                rows[:, 0],
                near,
                far,
                n_basis=n_basis,
                random_state=self.random_state,
            )
        elif isinstance(self.basis, np.ndarray):
            basis = check_array(self.basis, input_name="basis")
            if basis.shape[1] != m:
                raise ValueError(
                    f"basis must have {m} columns, one for each feature; got shape {basis.shape}."
                )
        else:
            raise ValueError(
                f"basis must be one of {self._bases}, or an array of shape (n_basis, n_features); "
                f"got {shown(self.basis)}."
            )
        beta = float(self.beta) / unit**2  # of the weights in the unit of X
        P, found = compose(near, far, basis, beta, self.max_iter, 1e-3)
        return self._adopt(P / unit, n_iter_=found["n_iter_"])


@documented(
    "Sparse compositional metric learning from triplets, by the solver of `seraph.classic.SCML`.",
    """\
>>> triplets = [[[0.0, 0.0], [0.0, 3.0], [1.0, 0.0]], [[1.0, 0.0], [1.1, 4.0], [0.0, 0.1]]]
>>> SCML(n_basis=4).fit(triplets).predict(triplets).tolist()
[1, 1]""",
)
class SCML(_TripletsClassifierMixin, _BaseSCML):
    def fit(self, triplets: Any) -> Self:
        self._check_numbers()
        formed = self._tuples(triplets, size=3)
        points, rows = np.unique(formed.reshape(-1, formed.shape[2]), axis=0, return_inverse=True)
        return self._learn(points, rows.reshape(-1, 3))


@documented(
    "Sparse compositional metric learning from classes, by the solver of `seraph.classic.SCML`.",
    class_example("SCML_Supervised", "n_basis=40"),
)
class SCML_Supervised(TransformerMixin, _BaseSCML):  # noqa: N801
    _bases = ("triplet_diffs", "lda")

    def __init__(
        self,
        k_genuine: int = 3,
        k_impostor: int = 10,
        beta: float = 1e-5,
        basis: Any = "lda",
        n_basis: int | None = None,
        gamma: float = 5e-3,
        max_iter: int = 10000,
        output_iter: int = 500,
        batch_size: int = 10,
        verbose: bool = False,
        preprocessor: Any = None,
        random_state: Any = None,
    ) -> None:
        self.k_genuine = k_genuine
        self.k_impostor = k_impostor
        super().__init__(
            beta,
            basis,
            n_basis,
            gamma,
            max_iter,
            output_iter,
            batch_size,
            verbose,
            preprocessor,
            random_state,
        )

    def fit(self, X: Any, y: Any) -> Self:
        self._check_numbers("k_genuine", "k_impostor")
        points, y = self._points(X, y)
        rows = Constraints(known_codes(y)).generate_knntriplets(
            points, self.k_genuine, self.k_impostor
        )
        if len(rows) == 0:
            raise ValueError(
                "SCML needs at least two classes, one of them with at least two members, to make "
                "triplets from; y has too few."
            )
        return self._learn(points, rows)
