"""The SERAPH estimator: validate, wire the rooms together, fit."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning

from . import model, solvers
from .base import MahalanobisLearner, check_choice, check_number
from .objective import Objective
from .pairs import PairLabels
from .progress import Progress
from .space import Space
from .sweep import NumpySweep, PairTerms, one_blas_thread

_SOLVERS = ("auto", "low-rank", "spg", "projected-gradient")
_ALGORITHMS = ("direct", "em")
# Rows of the first factor of the low-rank solver; it widens or narrows it from there.
_FIRST_RANK = 20
# Noise of the labelled gradient that the trace has to outweigh, in units of its own scale.
_NOISE = 0.08
# Features whose standard deviations differ by more deserve a word.
_SCALES_APART = 1e3


class SERAPH(MahalanobisLearner):
    r"""Semi-supervised metric learning with hyper-sparsity (Niu et al., 2012).

    Learns a Mahalanobis distance from a few labelled pairs and all the unlabelled ones.
    A pair at squared distance :math:`d^2` is similar with probability
    :math:`p = 1 / (1 + e^{d^2 - \eta})`; the metric :math:`A` maximises

    .. math:: \sum_{labelled} \ln p(y_{ij}) - \mu \sum_{unlabelled} H(p_{ij})
              - \lambda\, \mathrm{tr}(A).

    The entropy :math:`H` makes the model decide on the unlabelled pairs, the trace keeps
    the rank of the metric low.

    Parameters
    ----------
    mu : float or "auto", default="auto"
        Weight of the unlabelled pairs. "auto" is the paper's: the number of labelled pairs
        over the number of unlabelled ones, or 0 if nothing is unlabelled.
    lam : float or "auto", default="auto"
        Weight of the trace. "auto" follows the noise in the sum over the labelled pairs,
        ``0.08 N / sqrt(k) * 2 eigmax(Cov(X))`` for N labelled pairs made of k points; the
        fitted distances then don't depend on the units of X. The paper sets 1.0.
    eta : float, default=1.0
        Squared distance at which a pair is as likely similar as not.
    algorithm : {"direct", "em"}, default="direct"
        What is solved: "direct" maximises the objective above, (7) in the paper; "em" is
        its EM-like scheme (9)-(11). The fixed point of the latter is not a maximum of the
        former: it weighs the unlabelled pairs less, by a factor of about mu.
    solver : {"auto", "low-rank", "spg", "projected-gradient"}, default="auto"
        How it is solved: "low-rank" by L-BFGS on a narrow factor of the metric, with a
        certificate; "spg" by spectral projected gradients; "projected-gradient" by the
        paper's own rule, which seldom converges and is kept to reproduce its figures.
        "auto" is "low-rank", the fastest of them at every size that was tried.
    n_components : int, optional
        Largest rank the metric may have; for the low-rank solver.
    max_iter : int, default=200
        Iterations of the solver at most; in each M-step, for "em".
    tol : float, default=1e-3
        Where to stop: at this ``optimality_gap_``. For "projected-gradient", at this change
        of the metric in the Frobenius norm, as in the paper.
    em_max_iter : int, default=50
        M-steps at most, for "em".
    em_tol : float, default=1e-3
        Relative change of the metric from one M-step to the next at which "em" stops.
    warm_start : bool, default=False
        Whether to start from the metric of the last fit.
    verbose : int, default=0
        1 prints a line per iteration.
    n_jobs : int, optional
        Number of threads. None is 1, -1 all cores. The result does not depend on it.
    random_state : int, RandomState instance or None, default=None
        Not used: the fit is deterministic.

    Attributes
    ----------
    components_ : ndarray of shape (rank, n_features)
        The learned map ``P``; the metric is ``P'P``. Orthogonal rows, the longest first.
    mu_, lam_, eta_ : float
        The weights and the threshold that were used.
    objective_ : float
        Value of the objective (of the last M-step's, for "em").
    optimality_gap_ : float
        The certificate: ``max(eigmax(G), |<G, A>| / tr A)`` over `lam_`, for the gradient G
        at the metric A. Zero at a maximum. Where the objective is concave (``mu=0``, or an
        M-step) no metric is better by more than ``optimality_gap_ * lam_ * (tr A + tr A*)``.
        (Relative to at least a hundredth of the automatic `lam`.)
    converged_ : bool
        Whether the solver met its tolerance.
    n_iter_ : int
        Iterations of the solver, over all M-steps.
    history_ : dict of ndarray
        "objective", "rank" and "step" of each iteration.
    n_similar_, n_dissimilar_, n_unlabeled_ : int
        Number of pairs of each kind.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X has them.

    References
    ----------
    G. Niu, B. Dai, M. Yamada, M. Sugiyama. Information-theoretic semi-supervised metric
    learning via entropy regularization. ICML 2012.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import StandardScaler
    >>> from seraph import SERAPH
    >>> X, y = load_wine(return_X_y=True)
    >>> X = StandardScaler().fit_transform(X)
    >>> some = np.full(len(y), -1)
    >>> some[::15] = y[::15]  # 12 labels, 166 unlabelled rows
    >>> learner = SERAPH().fit(X, some)
    >>> learner.transform(X).shape
    (178, 2)
    >>> learner.pair_proba([[X[0], X[1]], [X[0], X[-1]]]).round(2)
    array([..., ...])
    """

    mu_: float
    lam_: float
    eta_: float

    def __init__(
        self,
        *,
        mu: float | Literal["auto"] = "auto",
        lam: float | Literal["auto"] = "auto",
        eta: float = 1.0,
        algorithm: Literal["direct", "em"] = "direct",
        solver: Literal["auto", "low-rank", "spg", "projected-gradient"] = "auto",
        n_components: int | None = None,
        max_iter: int = 200,
        tol: float = 1e-3,
        em_max_iter: int = 50,
        em_tol: float = 1e-3,
        warm_start: bool = False,
        verbose: int = 0,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.mu = mu
        self.lam = lam
        self.eta = eta
        self.algorithm = algorithm
        self.solver = solver
        self.n_components = n_components
        self.max_iter = max_iter
        self.tol = tol
        self.em_max_iter = em_max_iter
        self.em_tol = em_tol
        self.warm_start = warm_start
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike | None = None,
        *,
        pairs: ArrayLike | None = None,
        pair_labels: ArrayLike | None = None,
    ) -> Self:
        """Learn the metric.

        Class labels, marked pairs, or both can be given; they are merged.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            All points, labelled or not.
        y : array-like of shape (n_samples,), optional
            Class labels of any type; -1, NaN, None or pandas.NA where unknown.
        pairs : array-like of int of shape (n_pairs, 2), optional
            Row numbers of pairs of points that are known to be alike or not.
        pair_labels : array-like of shape (n_pairs,), optional
            +1 or True for pairs that are alike, -1 or False for those that are not.

        Returns
        -------
        SERAPH
            The fitted learner.
        """
        self._check_parameters()
        points = self._check_points(X)
        if self.n_components is not None and self.n_components > points.shape[1]:
            raise ValueError(
                f"n_components={self.n_components} is more than the rank can be: X has "
                f"{points.shape[1]} features."
            )
        labels = PairLabels.make(len(points), y, pairs, pair_labels)
        self._warn_of_data(points, labels)

        solver = "low-rank" if self.solver == "auto" else self.solver
        with one_blas_thread():
            space = Space.make(points, rescale=solver != "projected-gradient")
            mu, lam, auto_lam = self._weights(labels, space)
            order, terms = _ordered(labels, self.eta, mu)
            objective = Objective(
                NumpySweep(space.points[order], n_jobs=self.n_jobs),
                terms,
                lam=lam,
                scale=max(lam, 0.01 * auto_lam) or 1.0,
            )
            P = self._first_factor(space, solver, points.shape[1])
            found = self._solve(objective, P, solver)
        self._warn_of_result(found, solver, lam)
        return self._learned(
            X,
            space.to_features(found.P).astype(points.dtype),
            mu_=mu,
            lam_=lam * space.unit**2,
            eta_=float(self.eta),
            objective_=found.value,
            optimality_gap_=found.gap,
            converged_=found.converged,
            n_iter_=max(1, len(found.steps)),
            history_=found.history,
            n_similar_=labels.n_similar,
            n_dissimilar_=labels.n_dissimilar,
            n_unlabeled_=labels.n_unlabeled,
        )

    def pair_proba(self, pairs: ArrayLike) -> NDArray:
        """Probability (8) that the two points of a pair are alike.

        Parameters
        ----------
        pairs : array-like of shape (n_pairs, 2, n_features)
            Pairs of points.

        Returns
        -------
        ndarray of shape (n_pairs,)
            Probabilities of ``y = +1``.
        """
        squared = self._squared_distances(pairs)
        return model.posterior(squared - squared.dtype.type(self.eta_))

    def _check_parameters(self) -> None:
        check_number("mu", self.mu, low=0, instead="auto")
        check_number("lam", self.lam, low=0, instead="auto")
        check_number("eta", self.eta, low=0)
        check_choice("algorithm", self.algorithm, _ALGORITHMS)
        check_choice("solver", self.solver, _SOLVERS)
        check_number("n_components", self.n_components, low=1, integer=True)
        check_number("max_iter", self.max_iter, low=1, integer=True)
        check_number("tol", self.tol, low=0)
        check_number("em_max_iter", self.em_max_iter, low=1, integer=True)
        check_number("em_tol", self.em_tol, low=0)
        if self.n_components is not None and self.solver in ("spg", "projected-gradient"):
            raise ValueError(
                f"n_components={self.n_components} caps the rank, which solver={self.solver!r} "
                'cannot do: use solver="low-rank" or "auto".'
            )

    def _weights(self, labels: PairLabels, space: Space) -> tuple[float, float, float]:
        """Weights mu and lam, and what lam would be by itself; lam in the space's units."""
        auto_lam = (
            _NOISE * labels.n_labeled / np.sqrt(labels.n_labeled_rows) * 2.0 * space.top_variance
        )
        mu = labels.n_labeled / max(labels.n_unlabeled, 1) if self.mu == "auto" else self.mu
        lam = auto_lam if self.lam == "auto" else self.lam / space.unit**2
        return float(mu) if labels.n_unlabeled else 0.0, float(lam), float(auto_lam)

    def _first_factor(self, space: Space, solver: str, n_features: int) -> NDArray:
        rank = min(self.n_components or n_features, space.points.shape[1])
        if (
            self.warm_start
            and getattr(self, "components_", np.empty((0, 0))).shape[1] == n_features
        ):
            P = space.from_features(self.components_.astype(np.float64))
            return solvers.compress(P)[:rank]
        if solver == "projected-gradient":
            return np.sqrt(n_features / (n_features + 1.0)) * np.eye(n_features)
        if solver == "low-rank" and self.n_components is None:
            rank = min(rank, _FIRST_RANK)
        return space.first_factor(self.eta, rank)

    def _solve(self, objective: Objective, P: NDArray, solver: str) -> solvers.Result:
        settings = {"max_iter": self.max_iter, "tol": self.tol}
        methods: dict[str, Callable[..., solvers.Result]] = {
            "low-rank": partial(solvers.low_rank, max_rank=self.n_components),
            "spg": solvers.spg,
            "projected-gradient": solvers.projected_gradient,
        }

        def solve(objective: solvers.Objective, P: NDArray) -> solvers.Result:
            watch = Progress(type(self).__name__, self.max_iter) if self.verbose else _silent
            return methods[solver](objective, P, callback=watch, **settings)

        if self.algorithm == "direct":
            return solve(objective, P)
        return solvers.em(objective.m_step, solve, P, max_iter=self.em_max_iter, tol=self.em_tol)

    def _warn_of_data(self, points: NDArray, labels: PairLabels) -> None:
        if labels.n_dissimilar == 0:
            warnings.warn(
                f"All {labels.n_similar} labelled pairs are similar: nothing holds points apart, "
                "and the metric may collapse to zero. Add labels of another class, or "
                "dissimilar pairs.",
                stacklevel=3,
            )
        if labels.n_similar == 0:
            warnings.warn(
                f"All {labels.n_dissimilar} labelled pairs are dissimilar: nothing holds points "
                "together, and the metric may diverge, held back by lam alone. Add a second "
                "label of some class, or similar pairs.",
                stacklevel=3,
            )
        scales = points.std(axis=0, dtype=np.float64)
        varying = scales > 1e-12 * scales.max(initial=0.0)
        if varying.any():
            low, high = scales[varying].min(), scales[varying].max()
            if high > _SCALES_APART * low:
                warnings.warn(
                    f"The standard deviations of the features lie between {low:.3g} and "
                    f"{high:.3g}: the largest will rule the metric. Scale the features first, "
                    "for example with sklearn.preprocessing.StandardScaler.",
                    stacklevel=3,
                )

    def _warn_of_result(self, found: solvers.Result, solver: str, lam: float) -> None:
        if len(found.P) == 0:
            warnings.warn(
                "The learned metric is zero (rank 0): every distance is 0. lam is too large "
                "for these labels, or they ask for a collapse; lower lam or add dissimilar "
                "pairs.",
                stacklevel=3,
            )
        iterations = f"{len(found.steps)} iterations, optimality gap {found.gap:.1e}"
        if lam == 0.0 and self.lam != "auto" and solver != "projected-gradient":
            ending = "has come to rest all the same" if found.converged else "has not converged"
            warnings.warn(
                "With lam=0 the objective may have no maximum: pairs that can be separated "
                f"drive the metric to infinity. The solver {ending} ({iterations}). Set "
                'lam > 0 or lam="auto"; or solver="projected-gradient", whose 200 steps are '
                "what the paper reports for lam=0.",
                ConvergenceWarning,
                stacklevel=3,
            )
        elif not found.converged:
            remedy = "em_max_iter or max_iter" if self.algorithm == "em" else "max_iter"
            warnings.warn(
                f"SERAPH has not converged ({iterations}). Raise {remedy}, or tol, or lam.",
                ConvergenceWarning,
                stacklevel=3,
            )


def _silent(step: solvers.Step) -> None:
    pass


def _ordered(labels: PairLabels, eta: float, mu: float) -> tuple[NDArray, PairTerms]:
    """Order of the rows that the sweeps want, by class and unlabelled last; and the terms."""
    order = np.lexsort([labels.codes, labels.codes < 0])
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    codes = labels.codes[order]
    terms = PairTerms(
        codes=codes[codes >= 0],
        pairs=place[labels.pairs],
        similar=labels.similar,
        eta=float(eta),
        mu=mu,
    )
    return order, terms
