"""The SERAPH estimator: validate, wire the rooms together, fit."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from numbers import Integral, Real
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from .. import _solvers as solvers
from .._engine import _checkpoint as checkpoint
from .._engine import _warnings as advice
from .._engine._callback import FitState, Stopped, Watch, check_callback
from .._engine._objective import FullModel, Objective
from .._engine._problem import Problem
from .._engine._progress import Progress
from .._pairs import PairLabels
from .._sweep import BACKENDS, Backend, choose_backend, make_sweep, one_blas_thread, workers
from .._sweep._chunks import ChunkedPoints, is_chunked
from .._validation import check_choice, check_number
from ._posterior import PosteriorLearner

_SOLVERS = ("auto", "low-rank", "spg", "projected-gradient")
_ALGORITHMS = ("direct", "em")


class SERAPH(PosteriorLearner):
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
        ``0.08 * 2 sqrt(#S #D) / sqrt(k) * 2 eigmax(Cov(X))`` for #S similar and #D
        dissimilar pairs made of k points; the fitted distances then don't depend on the
        units of X. The paper sets 1.0.
    eta : float, default=1.0
        Squared distance at which a pair is as likely similar as not.
    gamma : float, optional
        None is the simplified model (7) above. A number is the full one, (6): the
        probability is :math:`1 / (1 + e^{-\kappa (d^2 - \eta)})`, and
        :math:`\gamma \kappa^2 / 2` is taken from the objective, which is maximised over
        kappa, too. By the paper's Theorem 2 this is (7) with ``-kappa eta`` and
        ``lam / -kappa`` in the places of `eta` and `lam`.
    manifold : float, default=0.0
        Weight :math:`\nu` of the manifold extension: :math:`\nu\, \mathrm{tr}(X^T L X A)` is
        taken from the objective, with L the Laplacian of the nearest-neighbour graph. That is
        the sum of :math:`\nu d^2` over the edges of the graph, whatever the units of X; an
        edge pulls its ends together like a labelled similar pair of weight `manifold`. A weight
        of (labelled pairs) / (edges) makes the graph count as much as the labels.
    n_neighbors : int, default=10
        Neighbours of each point in that graph; two points are joined if either is among the
        nearest of the other.
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
    unlabeled_pairs : "all", int or float, default="all"
        How many of the unlabelled pairs to sum over: all; or so many of them, or such a
        share, drawn once at random, each with a greater weight so that the sum is the same on
        average (an incomplete U-statistic). For when all are too many.
    backend : {"auto", "numpy", "numba", "torch", "dask"}, default="auto"
        What sums over the pairs. "numba" is the fastest on a CPU. "torch" computes on
        `device`; on a GPU in the precision of X, so give it float32 for speed. "dask" spreads
        the sums over a cluster, for points that are more than one machine can sweep or hold.
        "auto" goes by X: torch for a tensor, dask for a dask collection; else a CUDA device
        where torch finds one and X has 10,000 rows or more, numba where it is installed and X
        has 1,000 rows or more, and numpy for the rest.
    device : str or torch.device, optional
        Where torch computes: "cpu", "cuda", "cuda:1", "mps". By default where X is, or else on
        a CUDA device if there is one.
    warm_start : bool, default=False
        Whether to start from the metric of the last fit.
    checkpoint : path, optional
        File in which the state of the fit is kept, written whole every 30 seconds and when an
        exception ends the fit. A fit that was killed, started again with the same data and
        parameters, goes on from there to the same metric, bit for bit on the same machine.
        The file is removed when the fit is complete, and refused if it is of another fit.
        May change: `max_iter`, `tol`, `em_max_iter`, `em_tol`, `verbose`, `n_jobs`, and
        `backend` and `device`, on which the last bits of the result depend.
    callback : callable, optional
        Called after each iteration with an object that tells ``iteration``, ``objective``,
        ``gap``, ``rank``, ``elapsed`` (seconds) and ``components``, a factor of the metric so
        far. If it raises ``StopIteration`` the fit ends with that metric.
    verbose : int, default=0
        1 prints a line per iteration.
    n_jobs : int, optional
        Number of threads. None is 1, -1 all cores. The result does not depend on it. (With
        dask, those of the cluster that a fit starts where there is no Client; None is all.)
    random_state : int, RandomState instance or None, default=None
        Seed of the draw of `unlabeled_pairs`; without such a draw the fit is deterministic.

    Attributes
    ----------
    components_ : ndarray of shape (rank, n_features)
        The learned map ``P``; the metric is ``P'P``. Orthogonal rows, the longest first.
    mu_, lam_, eta_ : float
        The weights and the threshold that were used.
    kappa_ : float
        The factor in the exponent of the probability: -1 in the simplified model, learned in
        the full one. It is negative; or 0, with a warning, where no metric is worth its price.
    objective_ : float
        Value of the objective (of the last M-step's, for "em").
    optimality_gap_ : float
        The certificate: ``max(eigmax(G), |<G, A>| / tr A)`` over `lam_`, for the gradient G
        at the metric A. Zero at a maximum. Where the objective is concave (``mu=0``, or an
        M-step) no metric is better by more than ``optimality_gap_ * lam_ * (tr A + tr A*)``.
        (Relative to at least a hundredth of the automatic `lam`.)
    converged_ : bool
        Whether the solver met its tolerance.
    stopped_ : bool
        Whether `callback` has ended the fit; no warning tells of it.
    n_iter_ : int
        Iterations of the solver, over all M-steps.
    history_ : dict of ndarray
        "objective", "rank" and "step" of each iteration.
    n_similar_, n_dissimilar_, n_unlabeled_ : int
        Number of pairs of each kind.
    backend_, device_ : str
        What summed over the pairs, and where; `device_` is None but for torch.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features,)
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
    >>> p = learner.pair_proba([[X[0], X[1]], [X[0], X[-1]]])
    >>> bool(p[0] > 0.5 > p[1])
    True
    """

    mu_: float
    lam_: float

    def __init__(
        self,
        *,
        mu: float | Literal["auto"] = "auto",
        lam: float | Literal["auto"] = "auto",
        eta: float = 1.0,
        gamma: float | None = None,
        manifold: float = 0.0,
        n_neighbors: int = 10,
        algorithm: Literal["direct", "em"] = "direct",
        solver: Literal["auto", "low-rank", "spg", "projected-gradient"] = "auto",
        n_components: int | None = None,
        max_iter: int = 200,
        tol: float = 1e-3,
        em_max_iter: int = 50,
        em_tol: float = 1e-3,
        unlabeled_pairs: int | float | Literal["all"] = "all",
        backend: Backend = "auto",
        device: Any = None,
        warm_start: bool = False,
        checkpoint: str | os.PathLike[str] | None = None,
        callback: Callable[[FitState], object] | None = None,
        verbose: int = 0,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.mu = mu
        self.lam = lam
        self.eta = eta
        self.gamma = gamma
        self.manifold = manifold
        self.n_neighbors = n_neighbors
        self.algorithm = algorithm
        self.solver = solver
        self.n_components = n_components
        self.max_iter = max_iter
        self.tol = tol
        self.em_max_iter = em_max_iter
        self.em_tol = em_tol
        self.unlabeled_pairs = unlabeled_pairs
        self.backend = backend
        self.device = device
        self.warm_start = warm_start
        self.checkpoint = checkpoint
        self.callback = callback
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
        graph: Any = None,
    ) -> Self:
        """Learn the metric.

        Class labels, marked pairs, or both can be given; they are merged.

        Parameters
        ----------
        X : array-like, or dask array or DataFrame, of shape (n_samples, n_features)
            All points, labelled or not; also a tensor of torch, on any device.
        y : array-like, or dask array or Series, of shape (n_samples,), optional
            Class labels of any type; -1, NaN, None or pandas.NA where unknown.
        pairs : array-like of int of shape (n_pairs, 2), optional
            Row numbers of pairs of points that are known to be alike or not.
        pair_labels : array-like of shape (n_pairs,), optional
            +1 or True for pairs that are alike, -1 or False for those that are not.
        graph : sparse matrix of shape (n_samples, n_samples), optional
            Symmetric weights of the manifold extension, in place of those of the
            nearest neighbours.

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
        advice.warn_of_labels(labels)
        advice.warn_of_scales(points)
        parameters = self.get_params()
        if self.warm_start:
            parameters["the metric to start from"] = getattr(self, "components_", None)
        with checkpoint.opened(self.checkpoint, parameters, points, labels, graph) as journal:
            learned = self._learn(points, labels, graph, journal, like=X)
            self._warn_of_result(learned)
            return self._learned(X, **learned)

    def _check_points(self, X: Any) -> Any:
        """Points to learn from; for dask they stay in chunks, if they are more than features."""
        if not is_chunked(X) or choose_backend(X, 0, self.backend, self.device)[0] != "dask":
            return super()._check_points(X)
        points = ChunkedPoints.read(X)
        if points.shape[0] > points.shape[1]:
            return points
        return super()._check_points(points.array.compute())

    def _learn(
        self,
        points: NDArray | ChunkedPoints,
        labels: PairLabels,
        graph: Any = None,
        journal: checkpoint.Journal | None = None,
        like: Any = None,
    ) -> dict[str, Any]:
        """What there is to learn, as attributes; nothing is written and nobody is warned.

        `like` is what the user passed for the points: it says where they are.
        """
        solver = "low-rank" if self.solver == "auto" else self.solver
        backend, device = choose_backend(like, len(points), self.backend, self.device)
        with one_blas_thread(), workers(backend, self.n_jobs):
            problem = Problem.make(
                points,
                labels,
                partial(make_sweep, backend=backend, device=device, n_jobs=self.n_jobs),
                eta=self.eta,
                mu=self.mu,
                manifold=self.manifold,
                n_neighbors=self.n_neighbors,
                graph=graph,
                rescale=solver != "projected-gradient",
                budget=self._budget(labels.n_unlabeled),
                rng=check_random_state(self.random_state),
            )
            if journal is not None:
                if problem.terms.sample is not None:
                    checkpoint.check_repeatable("unlabelled pairs", self.random_state)
                data = points if isinstance(points, ChunkedPoints) else problem.space.points
                sweep = journal.recorded(problem.sweep, data, problem.terms)
                problem = replace(problem, sweep=sweep)
            objective = problem.objective(self.lam)
            start = partial(self._start, problem, solver)
            found, s = self._solve(objective, start, solver, problem.space.to_features)
        P = found.P / np.sqrt(s) if s > 0.0 else found.P
        return {
            "components": problem.space.to_features(P).astype(points.dtype),
            "mu_": objective.terms.mu,
            "lam_": objective.lam * problem.space.unit**2,
            "eta_": float(self.eta),
            "kappa_": -s if s > 0.0 else 0.0,
            "objective_": found.value,
            "optimality_gap_": found.gap,
            "converged_": found.converged,
            "stopped_": found.stopped,
            "n_iter_": max(1, len(found.steps)),
            "history_": found.history,
            "n_similar_": labels.n_similar,
            "n_dissimilar_": labels.n_dissimilar,
            "n_unlabeled_": labels.n_unlabeled,
            "backend_": problem.sweep.name,
            "device_": problem.sweep.device,
        }

    def _budget(self, n_unlabeled: int) -> int | None:
        """Number of unlabelled pairs to draw; None for all."""
        if isinstance(self.unlabeled_pairs, str):
            return None
        if isinstance(self.unlabeled_pairs, Integral):
            return int(self.unlabeled_pairs)
        return max(1, round(self.unlabeled_pairs * n_unlabeled))

    def _check_parameters(self) -> None:
        check_number("mu", self.mu, low=0, instead="auto")
        check_number("lam", self.lam, low=0, instead="auto")
        check_number("eta", self.eta, low=0)
        check_number("gamma", self.gamma, low=0, instead=None)
        check_number("manifold", self.manifold, low=0)
        check_number("n_neighbors", self.n_neighbors, low=1, integer=True)
        check_choice("algorithm", self.algorithm, _ALGORITHMS)
        check_choice("solver", self.solver, _SOLVERS)
        check_number("n_components", self.n_components, low=1, integer=True, instead=None)
        check_number("max_iter", self.max_iter, low=1, integer=True)
        check_number("tol", self.tol, low=0)
        check_number("em_max_iter", self.em_max_iter, low=1, integer=True)
        check_number("em_tol", self.em_tol, low=0)
        check_choice("backend", self.backend, BACKENDS)
        some = self.unlabeled_pairs
        if some != "all" and not (
            isinstance(some, Real)
            and not isinstance(some, bool)
            and (some >= 1 if isinstance(some, Integral) else 0.0 < some <= 1.0)
        ):
            raise ValueError(
                'unlabeled_pairs must be "all", a number of pairs (a whole number of at least 1) '
                f"or a share of them (above 0 and up to 1.0); got {some!r}."
            )
        checkpoint.check_checkpoint(self.checkpoint)
        check_callback(self.callback)
        if self.n_components is not None and self.solver in ("spg", "projected-gradient"):
            raise ValueError(
                f"n_components={self.n_components} caps the rank, which solver={self.solver!r} "
                'cannot do: use solver="low-rank" or "auto".'
            )
        if self.gamma is not None and self.algorithm == "em":
            raise ValueError(
                f"gamma={self.gamma} asks for the full model (6), and the EM-like scheme is one "
                'for the simplified model (7): use algorithm="direct", or gamma=None.'
            )
        if self.gamma is not None and self.solver == "projected-gradient":
            raise ValueError(
                f"gamma={self.gamma} asks for the full model (6), whose kappa is found between "
                'converged metrics, and solver="projected-gradient" seldom converges: use '
                '"low-rank", "spg" or "auto".'
            )

    def _start(self, problem: Problem, solver: str, s: float) -> NDArray:
        """Factor to start from on the solver's coordinates, at the scale `s` = -kappa."""
        n_features = problem.space.n_features
        before = getattr(self, "components_", np.empty((0, 0)))
        if self.warm_start and before.shape[1] == n_features:
            P = problem.space.from_features(before.astype(np.float64)) * np.sqrt(s)
            return solvers.compress(P)[: self.n_components]
        if solver == "projected-gradient":
            return np.sqrt(n_features / (n_features + 1.0)) * np.eye(n_features)
        return problem.first_factor(
            self.n_components, narrow=solver == "low-rank", eta=s * self.eta
        )

    def _solve(
        self,
        objective: Objective,
        start: Callable[[float], NDArray],
        solver: str,
        to_features: Callable[[NDArray], NDArray],
    ) -> tuple[solvers.Result, float]:
        """The best metric, times the scale `s` = -kappa; and the scale."""
        settings = {"max_iter": self.max_iter, "tol": self.tol}
        methods: dict[str, Callable[..., solvers.Result]] = {
            "low-rank": partial(solvers.low_rank, max_rank=self.n_components),
            "spg": solvers.spg,
            "projected-gradient": solvers.projected_gradient,
        }
        watch = Watch(self.callback, to_features, objective.scale)

        def solve(objective: solvers.Objective, P: NDArray) -> solvers.Result:
            progress: Callable[..., None] | None = None
            if self.verbose:
                progress = Progress(type(self).__name__, self.max_iter)

            def after_iteration(step: solvers.Step, P: NDArray) -> None:
                if progress is not None:
                    progress(step)
                watch(objective, step, P)

            return methods[solver](objective, P, callback=after_iteration, **settings)

        model = FullModel(objective, float(self.gamma or 0.0))  # (7) has no prior: weight 0
        try:
            if self.gamma is not None:
                return solvers.over_scale(model, solve, start, tol=self.tol)
            if self.algorithm == "direct":
                return solve(objective, start(1.0)), 1.0
            found = solvers.em(
                objective.m_step, solve, start(1.0), max_iter=self.em_max_iter, tol=self.em_tol
            )
            return found, 1.0
        except Stopped as stopped:
            found, s = stopped.result, stopped.s
            return replace(found, value=found.value - model.prior(s)), s

    def _warn_of_result(self, learned: dict[str, Any]) -> None:
        if learned["kappa_"] == 0.0:
            advice.warn_of_kappa_zero(float(self.gamma or 0.0))
        elif len(learned["components"]) == 0:
            advice.warn_of_rank_zero()
        if learned["stopped_"]:
            return
        n_iter, gap = len(learned["history_"]["step"]), learned["optimality_gap_"]
        iterations = f"{n_iter} iterations, optimality gap {gap:.1e}"
        if learned["lam_"] == 0.0 and self.lam != "auto" and self.solver != "projected-gradient":
            advice.warn_of_no_maximum(converged=learned["converged_"], iterations=iterations)
        elif not learned["converged_"] and self.gamma == 0.0:
            advice.warn_of_no_prior(kappa=learned["kappa_"], iterations=iterations)
        elif not learned["converged_"]:
            remedy = "em_max_iter or max_iter" if self.algorithm == "em" else "max_iter"
            advice.warn_of_early_stop(iterations=iterations, remedy=remedy)
