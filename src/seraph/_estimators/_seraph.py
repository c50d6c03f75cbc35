"""The SERAPH estimator."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from .._engine import (
    FitState,
    Settings,
    check_checkpoint,
    fingerprint,
    learn,
    opened,
    read_labels,
    read_points,
    warn_of_scales,
)
from .._sweep import Backend
from ._posterior import PosteriorLearner


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
        settings = Settings.of(self)
        check_checkpoint(self.checkpoint)
        points, settings = read_points(X, settings)
        if self.n_components is not None and self.n_components > points.shape[1]:
            raise ValueError(
                f"n_components={self.n_components} is more than the rank can be: X has "
                f"{points.shape[1]} features."
            )
        labels = read_labels(len(points), y, pairs, pair_labels)
        warn_of_scales(points.std())
        start = getattr(self, "components_", None) if self.warm_start else None
        parameters = {**self.get_params(), "the metric to start from": start}
        with opened(
            self.checkpoint, lambda: fingerprint(parameters, points, labels, graph)
        ) as journal:
            if start is not None and start.shape[1] != points.shape[1]:
                start = None  # of other data
            fit = learn(points, labels, settings, graph=graph, start=start, journal=journal)
            fit.warn(settings)
            return self._learned(X, fit.components, **fit.attributes)
