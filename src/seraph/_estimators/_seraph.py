"""The SERAPH estimator."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from .._base import Blend
from .._engine import (
    FitState,
    Settings,
    check_checkpoint,
    fingerprint,
    learn,
    open_journal,
    read_labels,
    read_points,
    warn_of_scales,
)
from .._marks import Marks
from .._utils._validation import check_flag
from ._posterior import PosteriorLearner, with_rules


class SERAPH(PosteriorLearner):
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
    shrinkage : float or "auto", default="auto"
        Share of `shrinkage_target` in the final metric, from 0, the learned metric alone, to 1. A
        learned metric of low rank ignores differences in most directions; the target keeps
        nearest neighbors from getting worse. The final metric is
        ``(1 - shrinkage) A + shrinkage v(A) / v(T) T``, with v the total variance of the
        points. "auto" has the odds ``shrinkage / (1 - shrinkage) = 0.18 sqrt(d)``, with d the
        effective dimension of the points under the target T (the participation ratio of the
        covariance's eigenvalues); with an automatic target they may be larger. With
        ``lam="auto"``, too, A is a mean, since few labels do not tell which weight is best: of the
        metrics for 0.1, 1 and 10 times `lam_` (the other two roughly solved), all with the same
        total variance. The first has the weight ``k / (k + d)``, the others 1: with few labeled
        rows k for the effective dimension d of the points, it would follow chance. With class
        labels of k rows, a share of ``20 / (20 + k)`` of this mean goes to a discriminant: the
        classes are spread over the neighbor graph, and the metric is ``W B W`` for their scatter
        B, and W the inverse of the scatter within them plus its mean variance. The paper has 0.
    shrinkage_target : "auto", matrix of shape (n_features, n_features) or None, default="auto"
        The metric T to shrink toward; None is the Euclidean one. "auto" mixes the Euclidean one
        with the metric of :class:`seraph.classic.LRML`, which keeps neighbors and similar pairs
        close, and dissimilar pairs apart, both with the same total variance. The share of LRML
        is half of ``k / (k + d)``. Labeled pairs that are already far apart speak for the
        Euclidean part: with ``f = max(1, c^2 d / 3)``, the odds above are multiplied by f and
        the share of LRML is divided by f squared, where c is 1 minus the ratio of the mean
        squared distances of similar and of dissimilar pairs (times ``N / (N + 2)`` for N pairs).
        (With `n_components`, or more than 2,048 features, "auto" is the Euclidean one.) A matrix
        may be the inverse of a covariance, or ``get_mahalanobis_matrix()`` of a metric learned
        before.
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
        "low-rank" runs L-BFGS on a low-rank factor of the metric and checks a certificate;
        "spg" runs spectral projected gradients; "projected-gradient" follows the paper's step
        rule, which seldom converges, to reproduce its figures. "auto" is "low-rank", the
        fastest at every size we tried. These maximize the objective above, (7) in the paper.
        "em" runs the paper's EM-like scheme (9)-(11), with "low-rank" for its M-steps. Its fixed
        point does not maximize (7): it weighs the unlabeled pairs less, by a factor of about mu.
    n_components : int, optional
        Largest rank of the metric; for "low-rank" and "em". A shrunk metric keeps its leading
        directions.
    max_iter : int, default=200
        Largest number of iterations; for "em", of M-steps, and of iterations in each. Iterations
        over a sample of the pairs (see ``history_``) are counted for each sample.
    tol : float, default=1e-3
        Stop when ``optimality_gap_`` is this small. For "projected-gradient", stop when the
        metric changes by less than this in the Frobenius norm, as in the paper. For "em", also
        continue until the metric's relative change between two M-steps is this small.
    unlabeled_pairs : "auto", "all", int or float, default="auto"
        The unlabeled pairs to sum over. "auto" sums over all pairs of up to 5,000 rows. Of more it
        takes a sample: all k rows with labels or marks and max(20,000, 100 k) others (at most
        100,000), and 64 pairs for each. This adds about 1 % to the variance that the labels leave
        in the metric, and ``sampling_error_`` estimates how much. The sample depends on the number
        and order of the rows alone, so that the same data give the same metric. (A GPU takes other
        pairs of the same rows.) Mean and covariance are those of all rows. (With `manifold`, the
        pairs are a sample, but not the rows.) "all" sums over all pairs. A number or a share of
        pairs is sampled at random with `random_state`. Sampled pairs are weighted so that the sum
        is right on average (an incomplete U-statistic).
    backend : str, default="auto"
        What sums over the pairs, or where. "cuda", "cuda:1" and "mps" are GPUs, used by torch in
        the precision of X, so pass float32 for speed. "cpu" is numba, the fastest on a CPU, if it
        is installed and X has at least 1,000 rows, and numpy otherwise. "numpy", "numba" and
        "torch" take that library; torch computes where X is if that is a tensor, or else on a
        CUDA device if there is one. "dask" spreads the sums over a cluster, for points that one
        machine cannot sweep or hold. "auto" goes by X: torch for a tensor, dask for a dask
        collection, "cuda" if torch finds such a device and X has at least 10,000 rows, and "cpu"
        for the rest.
    warm_start : bool, default=False
        Start from the metric of the last fit.
    checkpoint : path, optional
        File that keeps the state of the fit; it is written every few seconds and when an
        exception ends the fit. Run a fit that was killed again with the same data and
        parameters, and it resumes from there and learns the same metric, bit for bit on the
        same machine. The file is removed when the fit is complete, and refused if it belongs
        to another fit. You may change `max_iter`, `tol`, `verbose`, `n_jobs` and `backend` in
        between; the last one changes the last bits.
    callback : callable, optional
        Called after each iteration (not for the rough fits of other weights that "auto"
        averages) with a :class:`seraph.FitState`: ``iteration``,
        ``objective``, ``gap``, ``rank``, ``elapsed`` (seconds) and ``components``, a factor of
        the current metric. If it raises ``StopIteration``, the fit ends with that metric. With
        :class:`seraph.Interruptible`, so does Ctrl-C.
    verbose : int, default=0
        1 prints a line per iteration.
    n_jobs : int, optional
        Number of threads. None means 1 and -1 all cores. The result does not depend on it.
        (With dask, the threads of the cluster that a fit starts if there is no Client; None
        means all cores.)
    random_state : int, RandomState instance or None, default=None
        Seed for sampling a number or share of `unlabeled_pairs`; all else is deterministic.

    Attributes
    ----------
    components_ : ndarray of shape (rank, n_features)
        The map ``P`` of the final metric ``P'P``. Its rows are orthogonal, longest first.
    isotropic_ : float
        0, unless there are more than 2,048 features, a share of the Euclidean distance and no
        `n_components`. Then the metric is ``P'P + isotropic_**2 I``, which needs no square
        matrix; ``transform`` appends the features, times `isotropic_`.
    learned_components_ : ndarray of shape (learned_rank, n_features)
        The same for the metric that maximizes the objective with `lam_`, before shrinkage.
        ``objective_`` and ``optimality_gap_`` are about this one.
    shrinkage_ : float
        The share of the target that was used.
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
        Whether `callback` or Ctrl-C ended the fit. This gives no warning.
    n_iter_ : int
        Number of iterations, over all M-steps.
    history_ : dict of ndarray
        "objective", "rank" and "step" of each iteration, and "share": the share of the
        objective's pairs that it summed over. With many pairs most iterations sum over some, and
        their objective is an estimate; the last one sums over all pairs of the objective.
    n_similar_, n_dissimilar_, n_unlabeled_ : int
        Number of pairs of each kind. A pair with a label between 0 and 1 counts as what it
        leans to.
    n_triplets_ : int
        Number of triplets.
    n_absent_marks_ : int
        Number of marks that were left out because X does not have their rows.
    n_summed_pairs_ : int
        Number of pairs, labeled or not, that the objective sums over: all, or those of
        `unlabeled_pairs`, up to the rounding of a sample to whole tiles.
    sampling_error_ : float
        Estimated standard error that sampling adds to the metric, in units of the one that the
        choice of the labeled rows leaves: 0.1 adds 1 % to the variance, or 0.5 % to the error. 0
        if all pairs are summed; NaN if there are too few labeled pairs to estimate it.
    backend_, device_ : str
        What summed over the pairs, and where; `device_` is None except for torch. (A sample of
        the rows of a dask collection is summed in memory.)
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
    >>> some = np.full(len(y), -1)
    >>> some[::15] = y[::15]  # 12 labels, 166 unlabeled rows
    >>> learner = SERAPH().fit(X, some)
    >>> learner.transform(X).shape
    (178, 13)
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
        shrinkage: float | Literal["auto"] = "auto",
        shrinkage_target: ArrayLike | Literal["auto"] | None = "auto",
        gamma: float | None = None,
        manifold: float = 0.0,
        solver: str = "auto",
        n_components: int | None = None,
        max_iter: int = 200,
        tol: float = 1e-3,
        unlabeled_pairs: int | float | Literal["auto", "all"] = "auto",
        backend: str = "auto",
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
        self.shrinkage = shrinkage
        self.shrinkage_target = shrinkage_target
        self.gamma = gamma
        self.manifold = manifold
        self.solver = solver
        self.n_components = n_components
        self.max_iter = max_iter
        self.tol = tol
        self.unlabeled_pairs = unlabeled_pairs
        self.backend = backend
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
        marks: Marks | None = None,
        graph: Any = None,
    ) -> Self:
        """Learn the metric.

        Give class labels, marks, or both; they are merged.

        Parameters
        ----------
        X : array-like, or dask array or DataFrame, of shape (n_samples, n_features)
            All points, labeled or not. A torch tensor on any device works, too.
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
        settings = Settings.of(self)
        check_flag("warm_start", self.warm_start)
        check_checkpoint(self.checkpoint)
        points, settings = read_points(X, settings)
        if self.n_components is not None and self.n_components > points.shape[1]:
            raise ValueError(
                f"n_components={self.n_components} is more than the rank can be: X has "
                f"{points.shape[1]} features."
            )
        labels = read_labels(X, len(points), y, marks)
        blend = Blend.of(self, points.shape[1], has_rule=True, threshold=self.eta)
        warn_of_scales(points, getattr(X, "columns", None))
        start = getattr(self, "learned_components_", None) if self.warm_start else None
        parameters = {**self.get_params(), "the metric to start from": start}
        with open_journal(
            self.checkpoint, lambda: fingerprint(parameters, points, labels, graph)
        ) as journal:
            if start is not None and (len(start) == 0 or start.shape[1] != points.shape[1]):
                # No warm start from other features, or from the zero metric, a local maximum with
                # the entropy.
                start = None
            settings = with_rules(self, settings, points.shape[1])
            fit = learn(points, labels, settings, graph=graph, start=start, journal=journal)
            return self._take(X, fit, settings, blend)
