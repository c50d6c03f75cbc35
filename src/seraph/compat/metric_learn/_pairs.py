"""The learners of pairs: ITML, MMC and SDML."""

from __future__ import annotations

from abc import abstractmethod
from numbers import Real
from typing import Any, Self

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import pairwise_distances

from ... import classic
from ..._marks import Marks
from ..._utils._typing import Array
from ..._utils._validation import shown
from ..._utils._warnings import warn
from ...classic._definite import power
from ...classic._sdml import largest_weight, sparse_metric
from ._base_metric import MahalanobisMixin
from ._constraints import Constraints, default_number, known_codes, wrap_pairs
from ._documents import class_example, documented
from ._guesses import _PairsClassifierMixin
from ._quiet import quiet
from ._starts import metric_matrix

# Largest number of points whose distances give ITML's bounds: metric-learn takes all of them.
_POINTS_FOR_BOUNDS = 3000
_EXAMPLE = """\
>>> pairs = [[[0.0, 1.0], [0.1, 5.0]], [[0.0, 1.0], [3.0, 1.2]],
...          [[3.0, 4.0], [3.2, 0.0]], [[0.1, 2.0], [2.9, 2.5]]]
>>> learner = {name}({arguments}).fit(pairs, [1, -1, 1, -1])
>>> learner.predict(pairs).tolist()
[1, -1, 1, -1]"""


class _Pairs(MahalanobisMixin):
    """Base: learners that know pairs of points, and sample them from classes."""

    _tuple_size = 2

    @abstractmethod
    def _learn(self, pairs: Array, y: Array, *bounds: Any) -> Self:
        """Learn from pairs of points."""

    def _sampled(self, X: Any, y: Any) -> tuple[Array, Array]:
        """Return pairs of the points of the same and of different classes, and their labels."""
        points, y = self._points(X, y)
        n_constraints: int | None = vars(self)["n_constraints"]
        if n_constraints is None:
            n_constraints = default_number(y)
        constraints = Constraints(known_codes(y))
        with quiet(UserWarning, unless=vars(self)["verbose"]):
            chosen = constraints.positive_negative_pairs(
                n_constraints, random_state=vars(self)["random_state"]
            )
        return wrap_pairs(points, chosen)


class _PairsLearner(_PairsClassifierMixin, _Pairs):
    """Base: the same, which are given the pairs, and find a threshold."""

    def _fit_pairs(self, pairs: Any, y: Any, calibration: Any, *bounds: Any) -> Self:
        if y is None:
            raise ValueError(
                "y must be passed: +1 for pairs that are alike and -1 for those that are not."
            )
        calibration = calibration or {}
        self._validate_calibration_params(**calibration)
        formed, labels = self._tuples(pairs, y, size=2)
        self._learn(formed, labels, *bounds)
        return self.calibrate_threshold(formed, y, **calibration)


def _as_rows(pairs: Array, y: Array) -> dict[str, Any]:
    """Return arguments of `fit` of seraph's learners: every pair has two rows of its own."""
    rows = np.arange(2 * len(pairs)).reshape(-1, 2)
    points = pairs.reshape(-1, pairs.shape[2])
    return {"X": points, "marks": Marks(rows, y, rows=len(points))}


class _BaseITML(_Pairs):
    def __init__(
        self,
        gamma: float = 1.0,
        max_iter: int = 1000,
        tol: float = 1e-3,
        prior: Any = "identity",
        verbose: bool = False,
        preprocessor: Any = None,
        random_state: Any = None,
    ) -> None:
        self.gamma = gamma
        self.max_iter = max_iter
        self.tol = tol
        self.prior = prior
        self.verbose = verbose
        self.random_state = random_state
        super().__init__(preprocessor)

    def _learn(self, pairs: Array, y: Array, bounds: Any = None) -> Self:
        known = _as_rows(pairs, y)
        prior = metric_matrix(self.prior, known["X"], self.random_state, "prior", definite=True)
        root = power(prior, 0.5)
        if len(pairs) == 0:
            raise ValueError(
                "ITML needs at least one pair; y has no two points of one class, nor of two. "
                "Label more points, or raise n_constraints."
            )
        if bounds is None:
            points = np.unique(known["X"], axis=0)
            if len(points) > _POINTS_FOR_BOUNDS:
                points = points[np.linspace(0, len(points) - 1, _POINTS_FOR_BOUNDS).astype(int)]
            bounds = np.percentile(pairwise_distances(points), (5, 95))
        bounds = np.array(bounds, dtype=float).ravel()
        if bounds.size != 2:
            raise ValueError(f"bounds must be two numbers; got {bounds.tolist()}.")
        bounds[bounds == 0.0] = 1e-9
        known["X"] = known["X"] @ root
        if not isinstance(self.gamma, Real):
            raise ValueError(f"gamma must be a number; got {shown(self.gamma)}.")
        with quiet(ConvergenceWarning, unless=self.verbose):
            found = classic.ITML(
                gamma=float(min(self.gamma, 1e6)),
                prior="identity",
                bounds=tuple(bounds.tolist()),
                n_constraints=None,
                shrinkage=0.0,
                max_iter=self.max_iter,
                tol=self.tol,
            ).fit(**known)
        return self._adopt(found.components_ @ root, bounds_=bounds, n_iter_=found.n_iter_)


@documented(
    "Information-theoretic metric learning from pairs, by `seraph.classic.ITML`.",
    _EXAMPLE.format(name="ITML", arguments=""),
)
class ITML(_PairsLearner, _BaseITML):
    def fit(self, pairs: Any, y: Any, bounds: Any = None, calibration_params: Any = None) -> Self:
        return self._fit_pairs(pairs, y, calibration_params, bounds)


@documented(
    "Information-theoretic metric learning from classes, by `seraph.classic.ITML`.",
    class_example("ITML_Supervised", "random_state=0"),
)
class ITML_Supervised(TransformerMixin, _BaseITML):  # noqa: N801
    def __init__(
        self,
        gamma: float = 1.0,
        max_iter: int = 1000,
        tol: float = 1e-3,
        n_constraints: int | None = None,
        prior: Any = "identity",
        verbose: bool = False,
        preprocessor: Any = None,
        random_state: Any = None,
    ) -> None:
        super().__init__(gamma, max_iter, tol, prior, verbose, preprocessor, random_state)
        self.n_constraints = n_constraints

    def fit(self, X: Any, y: Any, bounds: Any = None) -> Self:
        return self._learn(*self._sampled(X, y), bounds)


class _BaseMMC(_Pairs):
    def __init__(
        self,
        max_iter: int = 100,
        max_proj: int = 10000,
        tol: float = 1e-3,
        init: Any = "identity",
        diagonal: bool = False,
        diagonal_c: float = 1.0,
        verbose: bool = False,
        preprocessor: Any = None,
        random_state: Any = None,
    ) -> None:
        self.max_iter = max_iter
        self.max_proj = max_proj
        self.tol = tol
        self.init = init
        self.diagonal = diagonal
        self.diagonal_c = diagonal_c
        self.verbose = verbose
        self.random_state = random_state
        super().__init__(preprocessor)

    def _gdm(self) -> classic.GDM:
        """Return the learner: the paper's if diagonal.

        The best full matrix, which metric-learn comes close to, has a rank of 1 to 3 and is bad
        for neighbors: so it is spread out, and half of what is handed out is Euclidean.
        """
        return classic.GDM(
            diagonal=self.diagonal,
            ridge=1e-6 if self.diagonal else "auto",
            n_constraints=None,
            shrinkage=0.0 if self.diagonal else 0.5,
            max_iter=self.max_iter,
            tol=self.tol,
        )

    def _learn(self, pairs: Array, y: Array, *_: Any) -> Self:
        known = _as_rows(pairs, y)
        first = metric_matrix(self.init, known["X"], self.random_state, "init", definite=False)
        with quiet(ConvergenceWarning, unless=self.verbose):
            found = self._gdm().fit(**known)
        # GDM sets its own bound for the squared distances of alike pairs; metric-learn's is a
        # hundredth of what they are at the start, or, if diagonal, half of diagonal_c.
        alike = pairs[y == 1, 0] - pairs[y == 1, 1]
        bound = np.einsum("ki,ij,kj->", alike, first, alike) / 100.0
        own = float(np.sum((alike @ found.components_.T) ** 2)) or 1.0
        scale = (self.diagonal_c / 2.0 if self.diagonal else bound) / own
        return self._adopt(
            np.sqrt(scale) * found.components_, n_iter_=found.n_iter_, converged_=found.converged_
        )


@documented(
    "Mahalanobis metric for clustering from pairs, by `seraph.classic.GDM`.",
    _EXAMPLE.format(name="MMC", arguments=""),
)
class MMC(_PairsLearner, _BaseMMC):
    def fit(self, pairs: Any, y: Any, calibration_params: Any = None) -> Self:
        return self._fit_pairs(pairs, y, calibration_params)


@documented(
    "Mahalanobis metric for clustering from classes, by `seraph.classic.GDM`.",
    class_example("MMC_Supervised", "random_state=0"),
)
class MMC_Supervised(TransformerMixin, _BaseMMC):  # noqa: N801
    def __init__(
        self,
        max_iter: int = 100,
        max_proj: int = 10000,
        tol: float = 1e-6,
        n_constraints: int | None = None,
        init: Any = "identity",
        diagonal: bool = False,
        diagonal_c: float = 1.0,
        verbose: bool = False,
        preprocessor: Any = None,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            max_iter,
            max_proj,
            tol,
            init,
            diagonal,
            diagonal_c,
            verbose,
            preprocessor,
            random_state,
        )
        self.n_constraints = n_constraints

    def fit(self, X: Any, y: Any) -> Self:
        return self._learn(*self._sampled(X, y))


class _BaseSDML(_Pairs):
    def __init__(
        self,
        balance_param: float = 0.5,
        sparsity_param: float = 0.01,
        prior: Any = "identity",
        verbose: bool = False,
        preprocessor: Any = None,
        random_state: Any = None,
    ) -> None:
        self.balance_param = balance_param
        self.sparsity_param = sparsity_param
        self.prior = prior
        self.verbose = verbose
        self.random_state = random_state
        super().__init__(preprocessor)

    def _learn(self, pairs: Array, y: Array, *_: Any) -> Self:
        points = pairs.reshape(-1, pairs.shape[2])
        prior = metric_matrix(self.prior, points, self.random_state, "prior", definite=True)
        difference = pairs[:, 0] - pairs[:, 1]
        pull = (difference.T * y) @ difference
        largest = largest_weight(pull, power(prior, 0.5))
        weight = float(self.balance_param)
        if weight >= largest and np.linalg.eigvalsh(pull)[0] < 0.0:
            warn(
                f"balance_param={weight:g} is too large for these pairs: there is no minimum from "
                f"{largest:.2g} on, so {0.99 * largest:.2g} is used. Lower balance_param.",
                ConvergenceWarning,
            )
            weight = 0.99 * largest
        K = np.linalg.inv(prior) + weight * pull
        found = sparse_metric(K, float(self.sparsity_param), max_iter=100, tol=1e-4)
        return self._adopt(power(found["metric"], 0.5))


@documented(
    "Sparse metric learning from pairs, by the solver of `seraph.classic.SDML`.",
    _EXAMPLE.format(name="SDML", arguments="balance_param=0.02, sparsity_param=0.0"),
)
class SDML(_PairsLearner, _BaseSDML):
    def fit(self, pairs: Any, y: Any, calibration_params: Any = None) -> Self:
        return self._fit_pairs(pairs, y, calibration_params)


@documented(
    "Sparse metric learning from classes, by the solver of `seraph.classic.SDML`.",
    class_example("SDML_Supervised", "balance_param=1e-4, random_state=0"),
)
class SDML_Supervised(TransformerMixin, _BaseSDML):  # noqa: N801
    def __init__(
        self,
        balance_param: float = 0.5,
        sparsity_param: float = 0.01,
        prior: Any = "identity",
        n_constraints: int | None = None,
        verbose: bool = False,
        preprocessor: Any = None,
        random_state: Any = None,
    ) -> None:
        super().__init__(balance_param, sparsity_param, prior, verbose, preprocessor, random_state)
        self.n_constraints = n_constraints

    def fit(self, X: Any, y: Any) -> Self:
        return self._learn(*self._sampled(X, y))
