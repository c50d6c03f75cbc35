"""The SERAPH estimator."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from ._advice import warn_of_fit, warn_of_labels, warn_of_scales
from ._fit import FitState, maximize, to_components
from ._learner import MahalanobisLearner
from ._marks import Marks, PairLabels
from ._objective import ROWS, Problem
from ._pairs import probability
from ._points import Frame, PointSet, is_chunked, read_points
from ._solvers import SOLVERS
from ._utils._public import publish
from ._utils._threads import one_blas_thread
from ._utils._typing import Array
from ._utils._validation import (
    check_choice,
    check_flag,
    check_n_jobs,
    check_number,
    check_seed,
    shown,
)


class SERAPH(MahalanobisLearner):
    r"""Semi-supervised metric learning with hyper-sparsity (Niu et al., 2012).

    SERAPH learns a Mahalanobis distance from a few labeled pairs and all the unlabeled ones.
    A pair at squared distance :math:`d^2` is similar with probability
    :math:`p = 1 / (1 + e^{d^2 - \eta})`, and the metric :math:`A` maximizes

    .. math:: \sum_{labeled} \ln p(y_{ij}) - \mu \sum_{unlabeled} H(p_{ij})
              - \lambda\, \mathrm{tr}(A).

    The entropy :math:`H` penalizes uncertainty about the unlabeled pairs; the trace keeps the
    rank of the metric low.

    Parameters
    ----------
    mu : float or "auto", default="auto"
        Weight of the unlabeled pairs. "auto" is the paper's choice: the number of labeled
        pairs over the number of unlabeled ones, or 0 if nothing is unlabeled. Marks count by
        their weight, and a triplet as one labeled pair.
    lam : float or "auto", default="auto"
        Weight of the trace. "auto" follows the noise in the sum over the labeled pairs,
        ``0.08 * 2 sqrt(#S #D) / sqrt(k) * 2 eigmax(Cov(X))`` for #S similar and #D
        dissimilar pairs made of k points; the fitted distances then do not depend on the
        units of X. The paper sets 1.0.
    eta : float, default=1.0
        Squared distance at which a pair is as likely similar as not.
    gamma : float, optional
        None fits the simplified model (7) above. A number fits the full model (6), where
        the probability is :math:`1 / (1 + e^{-\kappa (d^2 - \eta)})`, the objective loses
        :math:`\gamma \kappa^2 / 2`, and kappa is learned as well. By the paper's Theorem 2
        this equals (7) with ``-kappa eta`` for `eta` and ``lam / -kappa`` for `lam`.
    manifold : float, default=0.0
        Weight :math:`\nu` of the manifold extension, which subtracts
        :math:`\nu\, \mathrm{tr}(X^T L X A)` from the objective. L is the Laplacian of a graph that
        joins two points if either is among the ten nearest neighbors of the other; pass another
        as ``fit(graph=...)``. The penalty is the sum of :math:`\nu d^2` over the edges, whatever
        the units of X; an edge pulls its ends together like a labeled similar pair of weight
        `manifold`. A weight of (labeled pairs) / (edges) makes the graph count as much as the
        labels.
    solver : {"auto", "low-rank", "spg", "projected-gradient", "em"}, default="auto"
        "low-rank" runs L-BFGS on a low-rank factor of the metric and checks a certificate; "spg"
        runs spectral projected gradients; "projected-gradient" follows the paper's step rule, to
        reproduce its figures. "auto" is "low-rank". These maximize the objective above, (7) in the
        paper. "em" runs the paper's EM-like scheme (9)-(11), with "low-rank" for its M-steps. Its
        fixed point does not maximize (7): it weighs the unlabeled pairs less, by a factor of about
        mu.
    n_components : int, optional
        Largest rank of the metric; for "low-rank" and "em".
    max_iter : int, default=200
        Largest number of iterations; for "em", of M-steps, and of iterations in each.
    tol : float, default=1e-3
        Stop when ``optimality_gap_`` is this small. For "projected-gradient", stop when the
        metric changes by less than this in the Frobenius norm, as in the paper. For "em", also
        continue until the metric's relative change between two M-steps is this small.
    unlabeled_pairs : "auto", "all" or int, default="auto"
        The unlabeled pairs to sum over. "auto" sums over all pairs below 1,000 rows. Above, it
        samples about 128,000 pairs, in which each row has equally many partners, but at least 16
        before and 16 after it in a random order. Above 20,000 rows, these are pairs of 20,000
        rows chosen at random; mean and covariance are those of all rows, and all labeled pairs
        count. Sampled pairs are weighted so that the sum is right on average (an incomplete
        U-statistic). "all" sums over all pairs, and a number is that of partners after each row.
    warm_start : bool, default=False
        Start from the metric of the last fit.
    callback : callable, optional
        Called after each iteration with a :class:`seraph.FitState`: ``iteration``,
        ``objective``, ``gap``, ``rank``, ``elapsed`` (seconds) and ``components``, a factor of
        the current metric. If it raises ``StopIteration``, the fit ends with that metric.
    verbose : int, default=0
        1 prints a line per iteration.
    n_jobs : int, optional
        Number of threads. None means 1 and -1 all cores. The result depends on it by rounding
        errors alone.
    random_state : int, RandomState instance or None, default=0
        Seed of the sample of pairs. All else is deterministic.

    Attributes
    ----------
    components_ : ndarray of shape (rank, n_features)
        The map ``P`` of the metric ``P'P``: a maximum of the objective with ``mu=0``, else a
        stationary point. Its rows are orthogonal, longest first.
    mu_, lam_, eta_ : float
        The weights and the threshold that were used.
    kappa_ : float
        The factor in the exponent of the probability: -1 in the simplified model, learned in
        the full one. It is negative; or 0, with a warning, if no metric gains more than it
        costs.
    objective_ : float
        Value of the objective (of the last M-step, for "em").
    optimality_gap_ : float
        The certificate: ``max(eigmax(G), |<G, A>| / tr A)`` over `lam_`, for the gradient G
        at the metric A. It is zero at a maximum. If the objective is concave (``mu=0``, or an
        M-step) no metric is better by more than ``optimality_gap_ * lam_ * (tr A + tr A*)``.
        (Relative to at least a hundredth of the automatic `lam`.)
    converged_ : bool
        Whether the solver met its tolerance, up to the rounding error of `optimality_gap_`. A
        metric whose rank is at the limit `n_components` counts as converged when no metric of
        that rank nearby is better; its `optimality_gap_`, which looks at all ranks, can be
        larger than `tol`.
    stopped_ : bool
        Whether `callback` ended the fit. This gives no warning.
    n_iter_ : int
        Number of iterations, over all M-steps.
    history_ : dict of ndarray
        "objective", "rank" and "step" of each iteration.
    n_similar_, n_dissimilar_, n_unlabeled_ : int
        Number of pairs of each kind. A pair with a label between 0 and 1 counts as what it
        leans to.
    n_triplets_ : int
        Number of triplets.
    n_absent_marks_ : int
        Number of marks that were left out because X does not have their rows.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X has them.

    References
    ----------
    G. Niu, B. Dai, M. Yamada, M. Sugiyama. Information-theoretic semi-supervised metric
    learning via entropy regularization. ICML 2012; extended in Neural Computation 26,
    1717-1762, 2014.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import StandardScaler
    >>> from seraph import SERAPH
    >>> X, y = load_wine(return_X_y=True)
    >>> X = StandardScaler().fit_transform(X)
    >>> labels = np.full(len(y), -1)
    >>> labels[::15] = y[::15]  # 12 labels, 166 unlabeled rows
    >>> learner = SERAPH().fit(X, labels)
    >>> learner.transform(X).shape
    (178, 2)
    >>> p = learner.pair_proba([[X[0], X[1]], [X[0], X[-1]]])
    >>> bool(p[0] > 0.5 > p[1])
    True
    """

    _needs_labels = True
    mu_: float
    lam_: float
    eta_: float
    kappa_: float

    def __init__(
        self,
        *,
        mu: float | Literal["auto"] = "auto",
        lam: float | Literal["auto"] = "auto",
        eta: float = 1.0,
        gamma: float | None = None,
        manifold: float = 0.0,
        solver: str = "auto",
        n_components: int | None = None,
        max_iter: int = 200,
        tol: float = 1e-3,
        unlabeled_pairs: int | Literal["auto", "all"] = "auto",
        warm_start: bool = False,
        callback: Callable[[FitState], object] | None = None,
        verbose: int = 0,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.mu = mu
        self.lam = lam
        self.eta = eta
        self.gamma = gamma
        self.manifold = manifold
        self.solver = solver
        self.n_components = n_components
        self.max_iter = max_iter
        self.tol = tol
        self.unlabeled_pairs = unlabeled_pairs
        self.warm_start = warm_start
        self.callback = callback
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike | None = None,
        *,
        marks: Marks | None = None,
        graph: Any = None,
    ) -> Self:
        """Learn the metric.

        Give class labels, marks, or both; they are merged.

        Parameters
        ----------
        X : array-like, or dask array or DataFrame, of shape (n_samples, n_features)
            All points, labeled or not. Computation happens where they are: a torch tensor is
            summed on its device, and a dask collection is read once, chunk by chunk.
        y : array-like, or dask array or Series, of shape (n_samples,), optional
            Class labels of any type; -1, NaN or None where :ref:`unknown <unlabeled>`. Whole
            numbers of any size keep all their digits.
        marks : Marks, optional
            Pairs of rows that you know to be alike or not, and triplets: see
            :class:`seraph.Marks`. A pair with a label q adds ``q ln p + (1 - q) ln(1 - p)``,
            times its weight, to the objective, and a triplet (a, b, c)
            ``-ln(1 + exp(d2(a, b) - d2(a, c)))``. A pair whose rows both have a class is settled
            by `y`, whatever its marks.
        graph : sparse matrix of shape (n_samples, n_samples), optional
            Symmetric weights for the manifold extension, instead of nearest neighbors.

        Returns
        -------
        SERAPH
            The fitted learner.

        Examples
        --------
        Marks of several weights, one of them unsure, and an odd one out:

        >>> import numpy as np
        >>> from seraph import SERAPH, Marks
        >>> X = np.random.default_rng(0).normal(size=(30, 3))
        >>> marks = Marks(
        ...     [[0, 1], [2, 3], [4, 5], [6, 7]],
        ...     [1.0, 0.2, 0.9, np.nan],
        ...     weights=[2.0, 1.0, 0.5, 1.0],
        ...     triplets=[[8, 9, 10], [9, 8, 10]],
        ...     rows=X,
        ... )
        >>> learner = SERAPH().fit(X, marks=marks)
        >>> learner.n_similar_, learner.n_dissimilar_, learner.n_triplets_
        (2, 1, 2)
        """
        return self._learn(X, *self._read(X, y, marks), graph)

    def _read(self, X: Any, y: Any, marks: Marks | None) -> tuple[PointSet, PairLabels]:
        """Check the parameters and the input."""
        self._check_parameters(X)
        read_labels = cache(lambda n: PairLabels.of(X, n, y, marks))
        points = read_points(
            X,
            type(self).__name__,
            labeled=lambda n: np.flatnonzero(read_labels(n).is_labeled),
            most=np.inf if self.unlabeled_pairs == "all" else ROWS,
            seed=self.random_state,
        )
        return points, read_labels(points.shape[0])

    def _fit_checked(self, X: Any, points: PointSet, labels: PairLabels) -> Self:
        """Learn from points that were read, and their labels; see `fit`."""
        self._check_parameters(X)
        return self._learn(X, points, labels)

    def _learn(self, X: Any, points: PointSet, labels: PairLabels, graph: Any = None) -> Self:
        """Choose the pairs to sum, run the solver, and set all attributes."""
        warn_of_labels(labels)
        warn_of_scales(points.frame, getattr(X, "columns", None))
        problem = self._pose(points, labels, graph)
        start = self._previous(problem.frame) if self.warm_start else None
        result, s = maximize(self, problem, labels, start)
        components = to_components(problem.frame, result, s, points.dtype)
        attributes = {
            "mu_": problem.mu,
            "lam_": problem.lam * problem.frame.unit**2,
            "eta_": float(self.eta),
            "kappa_": -s if s else 0.0,
            "objective_": float(result.value),
            "optimality_gap_": float(result.gap),
            "converged_": bool(result.converged),
            "stopped_": result.stopped,
            "n_iter_": max(1, len(result.steps)),
            "history_": {
                name: np.array([getattr(step, name) for step in result.steps])
                for name in ("objective", "rank", "step")
            },
            "n_similar_": labels.n_similar,
            "n_dissimilar_": labels.n_dissimilar,
            "n_unlabeled_": labels.n_unlabeled,
            "n_triplets_": len(labels.triplets),
            "n_absent_marks_": labels.n_absent_marks,
        }
        warn_of_fit(self, result, attributes)
        return self._set_learned(X, components, **attributes)

    def _pose(self, points: PointSet, labels: PairLabels, graph: Any = None) -> Problem:
        """Choose the pairs to sum, and weigh them."""
        if self.n_components is not None and self.n_components > points.shape[1]:
            raise ValueError(
                f"n_components={self.n_components} is more than the rank can be: X has "
                f"{points.shape[1]} features."
            )
        rescales = SOLVERS[self.solver].rescales
        frame = points.frame if rescales else points.frame.without_unit()
        with one_blas_thread():
            return Problem.make(points, labels, self, frame=frame, graph=graph)

    def _previous(self, frame: Frame) -> Array | None:
        """Return the factor of the last fit to start from, if there is one.

        There is no warm start from other features, or from the zero metric, a local maximum with
        the entropy.
        """
        start: Array | None = getattr(self, "components_", None)
        if start is None or len(start) == 0 or start.shape[1] != len(frame.mean):
            return None
        return np.sqrt(-self.kappa_) * start if self.gamma is None else start

    def pair_proba(self, pairs: ArrayLike, X: Any = None) -> Array:
        """Compute the probability (5) that the two points of each pair are alike.

        ``p = 1 / (1 + exp(-kappa (d^2 - eta)))``, with ``kappa = -1`` in the simplified model.

        Parameters
        ----------
        pairs, X
            Pairs of points, or of rows of `X`, as in ``pair_distance``.

        Returns
        -------
        ndarray of shape (n_pairs,)
            Probabilities of ``y = +1``.
        """
        squared = self._squared_distances(pairs, X)
        kind = squared.dtype.type
        return probability(kind(-self.kappa_) * (squared - kind(self.eta_)))

    def _check_parameters(self, X: Any) -> None:
        """Refuse parameters that are wrong or do not go together."""
        for name in ("mu", "lam"):
            check_number(name, getattr(self, name), low=0, instead="auto")
        for name in ("eta", "manifold", "tol"):
            check_number(name, getattr(self, name), low=0)
        check_number("max_iter", self.max_iter, low=1, integer=True)
        pairs = self.unlabeled_pairs
        check_number("unlabeled_pairs", pairs, low=1, integer=True, instead=("auto", "all"))
        check_number("gamma", self.gamma, low=0, instead=None)
        check_number("n_components", self.n_components, low=1, integer=True, instead=None)
        check_choice("solver", self.solver, tuple(SOLVERS))
        check_flag("warm_start", self.warm_start)
        if not isinstance(self.verbose, bool | np.bool_):
            check_number("verbose", self.verbose, low=0, integer=True)
        check_n_jobs(self.n_jobs)
        check_seed(self.random_state)
        if self.callback is not None and not callable(self.callback):
            raise ValueError(
                "callback must be a function of one argument, or None; got "
                f"{shown(self.callback)}."
            )
        solver = SOLVERS[self.solver]
        if self.n_components is not None and not solver.adapts_rank:
            raise ValueError(
                f"n_components={self.n_components} caps the rank, which solver={self.solver!r} "
                'cannot do: use solver="auto".'
            )
        if self.gamma is not None and not solver.finds_scale:
            raise ValueError(
                f"gamma={self.gamma} asks for the full model (6), whose kappa "
                f'solver={self.solver!r} cannot find: use solver="auto", or gamma=None.'
            )
        if self.manifold > 0.0 and is_chunked(X):
            raise ValueError(
                f"manifold={self.manifold:g} needs the nearest neighbors of each point, which "
                "cannot be found across the chunks of a dask collection: set manifold=0, or pass "
                "X.compute() if it fits in memory."
            )


publish(globals(), "seraph", ["SERAPH"])
