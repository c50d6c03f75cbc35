"""SERAPHCV: SERAPH with its weights chosen by cross-validation on the labeled pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from importlib import import_module
from itertools import product
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from .._base import Blend
from .._engine import (
    Journal,
    Settings,
    check_checkpoint,
    check_graph,
    check_repeatable,
    fingerprint,
    learn,
    mean_log_likelihood,
    open_journal,
    read_array,
    read_labels,
    set_up_sweeps,
    warn_of_scales,
)
from .._marks import Marks, PairLabels
from .._sweep import PointsInMemory
from .._utils._folds import choose_shared_points
from .._utils._typing import Array
from .._utils._validation import check_number, check_seed, shown
from .._utils._warnings import warn
from ._posterior import PosteriorLearner, with_rules
from ._seraph import SERAPH

# Tolerance of the fits of folds, in units of the learner's: it changes a score by less than 0.001,
# and the scores of the weights differ by 0.007 and more ("Selection" in benchmarks/RESULTS.md).
_ROUGHER = 10.0
# Held-out pairs of each kind, or triplets, that a choice needs.
_ENOUGH_PAIRS = 5


class SERAPHCV(PosteriorLearner):
    r"""SERAPH with its weights chosen by cross-validation, without any test labels.

    The labeled *points* are assigned to folds, so that no point is on both sides of a split.
    Each fold is left out in turn, and the metric learned from the rest is judged by the mean
    log-likelihood of the pairs within the fold,

    .. math:: \frac{1}{\#\,pairs} \sum_{held\ out} \ln p(y_{ij}).

    Every training set has unlabeled points, too: at most 400, chosen at random, or as many as are
    labeled if that is more. A multiple of the learner's own weight is chosen: with ``lam="auto"``,
    the weight adapts to the number of labels in each training set and in the whole. Few labels
    make noisy scores, so by the one-standard-error rule, the multiple nearest to 1 is chosen among
    those within a standard error of the best.

    Parameters
    ----------
    learner : SERAPH, optional
        The learner whose weights are chosen, with all its other settings. None means
        ``SERAPH()``. The fits of a fold are warm-started from each other, and stop at 10 times its
        `tol`; the final metric is learned afresh. Its `checkpoint` is for the whole search, which
        resumes after the last complete fold; its `callback` is called in each fit, and can end
        that one.
    lam_factors : sequence of float, default=(0.1, 0.2, 0.5, 1, 2, 5, 10)
        Multiples of the learner's `lam` to choose from.
    mu_factors : sequence of float, default=(1,)
        Multiples of the learner's `mu` to choose from. (The likelihood of labeled pairs says
        little about the use of unlabeled ones: on wine, digits and breast cancer, errors were
        larger when mu was chosen as well.)
    shrinkage : float, "auto" or None, default=None
        Share of the target in the final metric, as in `SERAPH`. None means the
        learner's own, which is "auto" unless it says otherwise. The folds are scored without
        it, because the search chooses the weight of the learned metric. With "auto", and if the
        learner's `lam` is "auto", too, the final metric is a mean around the chosen `lam_`. So
        ``SERAPHCV(lam_factors=(1.0,))`` learns the metric of ``SERAPH()``.
    cv : int, default=5
        Largest number of folds. Small classes allow fewer, since a fold should hold two
        points of one class.
    random_state : int, RandomState instance or None, default=None
        Seed for shuffling the points first. None keeps them in order.

    Attributes
    ----------
    best_params_ : dict
        The chosen "lam" and "mu", on the whole data.
    best_score_ : float
        Their cross-validated mean log-likelihood of a pair; NaN if nothing was chosen.
    cv_results_ : dict of ndarray
        "lam_factor", "mu_factor", "mean_test_score", "std_test_score" and
        "split0_test_score", ...: one entry per pair of multiples.
    n_splits_ : int
        Number of folds; 0, with a warning, if there were too few labels to choose by.
    components_, learned_components_, isotropic_, shrinkage_, mu_, lam_, eta_, kappa_
        As in `SERAPH`, for the metric learned from all data with the chosen weights.
    objective_, optimality_gap_, converged_, stopped_, n_iter_, history_, backend_, device_
        As in `SERAPH`, for that metric.
    n_similar_, n_dissimilar_, n_unlabeled_, n_absent_marks_, n_triplets_ : int
        Number of pairs of each kind and of triplets, as in `SERAPH`.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X has them.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import StandardScaler
    >>> from seraph import SERAPHCV
    >>> X, y = load_wine(return_X_y=True)
    >>> X = StandardScaler().fit_transform(X)
    >>> some = np.where(np.arange(len(y)) % 6 == 0, y, -1)  # 30 labels
    >>> learner = SERAPHCV().fit(X, some)
    >>> sorted(learner.best_params_)
    ['lam', 'mu']
    >>> len(learner.cv_results_["mean_test_score"])
    7
    """

    mu_: float
    lam_: float

    def __init__(
        self,
        learner: SERAPH | None = None,
        *,
        lam_factors: Sequence[float] = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0),
        mu_factors: Sequence[float] = (1.0,),
        shrinkage: float | Literal["auto"] | None = None,
        cv: int = 5,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.learner = learner
        self.lam_factors = lam_factors
        self.mu_factors = mu_factors
        self.shrinkage = shrinkage
        self.cv = cv
        self.random_state = random_state

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike | None = None,
        *,
        marks: Marks | None = None,
        graph: Any = None,
    ) -> Self:
        """Choose the weights, then learn the metric with them.

        Parameters
        ----------
        X, y, marks, graph
            The data, as in ``SERAPH.fit``.

        Returns
        -------
        SERAPHCV
            The fitted learner.
        """
        learner = self._check_parameters()
        points, settings = read_array(X, Settings.of(learner, name=type(self).__name__))
        labels = read_labels(X, len(points), y, marks)
        blend = Blend.of(learner, points.shape[1], has_rule=True, threshold=learner.eta)
        warn_of_scales(points, getattr(X, "columns", None))
        graph = None if graph is None else check_graph(graph, len(points))
        parameters = {**learner.get_params(), "the search": "SERAPHCV"}
        with (
            set_up_sweeps(settings),
            open_journal(
                learner.checkpoint, lambda: fingerprint(parameters, points, labels, graph)
            ) as journal,
        ):
            grid = np.array(list(product(self.lam_factors, self.mu_factors)), dtype=np.float64)
            scores = self._score_folds(grid, points, labels, settings, graph, journal)
            best = _choose(grid, scores) if len(scores) else None
            lam_factor, mu_factor = (1.0, 1.0) if best is None else grid[best].tolist()
            settings = replace(settings, lam_factor=lam_factor, mu_factor=mu_factor)
            settings = with_rules(learner, settings, points.shape[1])
            fit = learn(points, labels, settings, graph=graph, journal=journal)
            return self._take(
                X,
                fit,
                settings,
                blend,
                best_params_={"lam": fit.lam, "mu": fit.mu},
                best_score_=float("nan") if best is None else float(scores.mean(axis=0)[best]),
                cv_results_=_make_table(grid, scores),
                n_splits_=len(scores),
            )

    def _check_parameters(self) -> SERAPH:
        """Check the parameters, and return the learner whose weights are chosen."""
        if self.learner is not None and not isinstance(self.learner, SERAPH):
            raise ValueError(
                f"learner must be a SERAPH, whose weights are chosen; got {shown(self.learner)}."
            )
        learner = SERAPH() if self.learner is None else self.learner
        if self.shrinkage is not None:
            parameters = learner.get_params(deep=False)
            learner = type(learner)(**{**parameters, "shrinkage": self.shrinkage})
        for name, low in (("lam_factors", 1e-12), ("mu_factors", 0.0)):
            factors = getattr(self, name)
            # Not a generator, which can be iterated over only once.
            sized = np.iterable(factors) and hasattr(factors, "__len__")
            if not sized or isinstance(factors, str) or not len(factors):
                raise ValueError(f"{name} must be a sequence of numbers; got {shown(factors)}.")
            for factor in factors:
                check_number(f"each of {name}", factor, low=low)
        check_number("cv", self.cv, low=2, integer=True)
        check_seed(self.random_state)
        check_checkpoint(learner.checkpoint)
        if learner.checkpoint is not None and self.random_state is not None:
            check_repeatable("folds", self.random_state)
        return learner

    def _score_folds(
        self,
        grid: Array,
        points: PointsInMemory,
        labels: PairLabels,
        settings: Settings,
        graph: Any,
        journal: Journal | None,
    ) -> Array:
        """Mean log-likelihood of a held-out pair: one row per fold, one column per choice."""
        rng = None if self.random_state is None else check_random_state(self.random_state)
        # The room of decisions is above this one: its default learner has a SERAPH.
        assign_folds = import_module("seraph._decide._folds").assign_folds
        fold = assign_folds(labels, self.cv, rng)
        # A weight or a graph of the user's own counts by the number of points: then all stay.
        is_scaled = settings.mu == "auto" and settings.manifold == 0.0
        shared = choose_shared_points(fold) if is_scaled else np.arange(len(points))
        splits = []
        for number in range(fold.max() + 1):
            inside, outside = np.flatnonzero(fold == number), shared[fold[shared] != number]
            test, train = labels.among(inside), labels.among(outside)
            if test is None or train is None:
                continue
            if train.similar_weight and train.dissimilar_weight:
                splits.append(_Split(inside, test, outside, train))
        n_triplets = sum(len(split.test.triplets) for split in splits)
        n_similar = sum(split.test.n_similar for split in splits)
        n_dissimilar = sum(split.test.n_dissimilar for split in splits)
        if len(splits) < 2 or min(n_similar, n_dissimilar) + n_triplets < _ENOUGH_PAIRS:
            warn(
                f"SERAPHCV has too few labels to choose lam by cross-validation: {len(splits)} "
                f"folds would hold out {n_similar} similar and {n_dissimilar} dissimilar pairs "
                f"and {n_triplets} triplets, and at least {_ENOUGH_PAIRS} pairs of each kind or "
                f"{_ENOUGH_PAIRS} triplets are needed. The weights stay as the "
                "learner has them. Label more points (start with four of each class), or mark "
                "more pairs."
            )
            return np.empty((0, 0))
        scores = []
        for split in splits:
            compute = partial(_score_fold, split, grid, points, settings, graph, journal)
            found = compute() if journal is None else journal.scores(split.inside, grid, compute)
            scores.append(found)
        return np.array(scores)


class _Split(NamedTuple):
    """The rows inside and outside of a fold, with the labels of their pairs."""

    inside: Array
    test: PairLabels
    outside: Array
    train: PairLabels


def _score_fold(
    split: _Split,
    grid: Array,
    points: PointsInMemory,
    settings: Settings,
    graph: Any,
    journal: Journal | None,
) -> Array:
    """Mean log-likelihood of a pair within one fold, for each choice of the weights."""
    train, test = points[split.outside], points[split.inside]
    part = None if graph is None else graph[split.outside][:, split.outside]
    scores = []
    start = None
    for lam_factor, mu_factor in grid.tolist():
        trial = replace(
            settings,
            lam_factor=lam_factor,
            mu_factor=mu_factor,
            tol=_ROUGHER * settings.tol,
        )
        fit = learn(
            train,
            split.train,
            trial,
            graph=part,
            start=start,
            journal=journal,
            is_trial=True,
        )
        scores.append(mean_log_likelihood(fit, test, split.test))
        # Warm starts within a fold: the metric of another fold has seen the pairs that
        # are held out here.
        start = fit.components if len(fit.components) else None
    return np.array(scores)


def _choose(grid: Array, scores: Array) -> int:
    """Pick the choice nearest to the learner's own within a standard error of the best."""
    means = scores.mean(axis=0)
    best = int(np.argmax(means))
    behind = scores[:, [best]] - scores
    error = behind.std(axis=0, ddof=1) / np.sqrt(len(scores))
    away = np.abs(np.log(np.maximum(grid, 1e-3))).sum(axis=1)
    away[behind.mean(axis=0) > error] = np.inf
    return int(np.lexsort([-means, away])[0])


def _make_table(grid: Array, scores: Array) -> dict[str, Array]:
    """Make the table of scores, with scikit-learn's names."""
    if len(scores) == 0:
        return {}
    return {
        "lam_factor": grid[:, 0],
        "mu_factor": grid[:, 1],
        "mean_test_score": scores.mean(axis=0),
        "std_test_score": scores.std(axis=0),
        **{f"split{k}_test_score": row for k, row in enumerate(scores)},
    }
