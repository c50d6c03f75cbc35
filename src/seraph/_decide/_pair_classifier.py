"""PairClassifier: decide whether two points are alike, by a learned distance."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.metrics import roc_auc_score
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils.validation import _num_samples, check_is_fitted, validate_data

from .._learner import check_pairs
from .._marks import Marks, PairLabels, sample_rows, take_pairs
from .._utils._directions import check_directions
from .._utils._public import publish
from .._utils._typing import Array
from .._utils._validation import as_numbers, check_choice, check_number, shown
from ..metrics._pairs import pairs_to_score, score_of_pairs
from ._classifier import MetricClassifier
from ._folds import order_by_name
from ._held_out import View, grow_on, measure_held_out
from ._models import OfLearner, fit_model, forest_points, from_device
from ._threshold import STRATEGIES, WITH_TARGET, Aim, Decision, judge, warn_of_no_decision

# Trees of a forest beside the metric of a fold.
_FOLD_TREES = 25


class PairClassifier(OfLearner):
    """Decide whether two points are alike, with a distance that is learned for it.

    Fitted with marked pairs, it thresholds the learned distance, divided by a power of the odds
    that a random forest of pairs gives them. Fitted with classes alone, it
    thresholds the probability that the classes of two points differ, ``1 - p @ q``, by a
    :class:`seraph.MetricClassifier`. That answers "same class?" for classes that have labels; for
    any other question, fit with marks.

    Threshold and probabilities (Platt scaling) are chosen *out of fold*: the metric is learned
    again without each fold of points, and measures the pairs within the fold. So neither is biased
    by a metric that was fitted to the same pairs. Of a DataFrame, the rows are taken in the order
    of its index, so that a shuffled table gives the same decisions.

    Parameters
    ----------
    estimator : estimator, optional
        Learner of a metric, such as :class:`seraph.SERAPH`, or a pipeline that ends in one. It is
        cloned. None means ``MeanMetric()``, for features that are scaled already; for others, pass
        ``make_pipeline(StandardScaler(), MeanMetric())``. A :class:`seraph.MetricClassifier` is
        taken as it is, where classes are known.
    strategy : str, default="accuracy"
        What the threshold is chosen for. "accuracy": most pairs decided correctly.
        "equal_error_rate": as large a share of the similar pairs rejected as of the dissimilar
        ones accepted. "precision" or "recall" of at least `target`, or "false_accept_rate" of at
        most `target`: the threshold that reaches it and errs least otherwise.
    target : float, optional
        From 0 to 1, for the last three strategies.
    base_rate : float, optional
        Share of similar pairs among those to decide about, on which accuracy, precision and
        probabilities depend. None takes the share among the labeled pairs, which are seldom a
        random sample.
    cv : int, default=5
        Largest number of folds. They learn from at most 400 unlabeled points, or as many as are
        labeled (from all, if `mu` or `manifold` is a number). For a learner that is fitted
        already, pass ``FrozenEstimator(learner)`` of scikit-learn, and pairs of points that it
        has not seen.
    forest : bool, default=True
        Whether a forest of pairs decides, too: :class:`seraph.classic.RFD`, which learns where in
        the table a difference counts, as no distance of this kind can. Held-out pairs weigh the
        two. It has no part with classes alone, sparse features or kernel values.

    Attributes
    ----------
    estimator_ : estimator
        The fitted learner or pipeline; a :class:`seraph.MetricClassifier` with it, if fitted with
        classes alone.
    threshold_ : float
        The distance up to which two points are called alike.
    report_ : dict
        What to expect on pairs of other points: "accuracy", "precision", "recall" and
        "false_accept_rate" as (value, low, high), with a 95 % interval; the "brier_score" of the
        probabilities; the "base_rate" that all this holds for; "n_similar" and "n_dissimilar",
        the held-out pairs (a mark between 0 and 1 is in both). Each fold is judged by a threshold
        and probabilities chosen on the others. With a forest, also its "forest_share", and why:
        "auc_of_distance" and "auc_of_forest", what each alone is worth on held-out pairs.
    slope_, intercept_ : float
        The log-odds that two points at distance d are alike are ``intercept_ + slope_ d``, or
        ``intercept_ + slope_ ln(d)`` with a forest; but identical points have a probability of at
        least 0.5.
    forest_ : dict of ndarray, or None
        The forest of pairs; see :class:`seraph.classic.RFD`.
    forest_share_ : float
        Share of the forest in the decision, from 0 to 1; 0 without one.
    power_, floor_ : float
        With a forest, the distance of two points is the learned one (`floor_` if that is smaller)
        over the forest's odds that they are alike, to this power; 0 for identical points.
    classes_ : ndarray of shape (2,)
        -1 for different and 1 for alike.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X has them.

    References
    ----------
    J. C. Platt. Probabilistic outputs for support vector machines. 1999.

    C. Xiong, D. Johnson, R. Xu, J. J. Corso. Random forests for metric learning with implicit
    pairwise position dependence. KDD 2012.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from seraph import Marks, MeanMetric, PairClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> pairs = np.random.default_rng(0).integers(len(X), size=(100, 2))
    >>> marks = Marks(pairs, y[pairs[:, 0]] == y[pairs[:, 1]], rows=X)
    >>> model = PairClassifier(make_pipeline(StandardScaler(), MeanMetric())).fit(X, marks=marks)
    >>> model.predict([[0, 1], [0, 100]], X)
    array([ 1, -1])
    >>> accuracy, low, high = model.report_["accuracy"]
    >>> bool(0.6 < low < accuracy < high)
    True
    """

    _n_trees: ClassVar = 100  # fewer where only errors are counted
    # A pipeline passes its score a sample_weight of None, and wants it known.
    __metadata_request__score: ClassVar = {"marks": True, "sample_weight": None}

    def __init__(
        self,
        estimator: Any = None,
        *,
        strategy: str = "accuracy",
        target: float | None = None,
        base_rate: float | None = None,
        cv: int = 5,
        forest: bool = True,
    ) -> None:
        self.estimator = estimator
        self.strategy = strategy
        self.target = target
        self.base_rate = base_rate
        self.cv = cv
        self.forest = forest

    def fit(self, X: ArrayLike, y: ArrayLike | None = None, *, marks: Marks | None = None) -> Self:
        """Learn the metric, choose the threshold, and calibrate the probabilities.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            All points, labeled or not.
        y : array-like of shape (n_samples,), optional
            Class labels, -1 where unknown: points of one class are alike. Without marks, class
            probabilities decide.
        marks : Marks, optional
            Pairs of rows that you know to be alike or not. A mark counts as much as its weight,
            and one of 0.7 as a similar pair of weight 0.7 and a dissimilar one of weight 0.3.
            Triplets serve the metric only: they say nothing about single pairs.
        """
        self._check_parameters()
        blank, X, y, marks = self._begin_fit(X, y, marks)
        labels = PairLabels.of(X, _num_samples(X), y, marks)
        is_table = not get_tags(blank).input_tags.pairwise  # and not kernel values
        order = order_by_name(X, len(labels.codes))
        if is_table and (np.diff(order) != 1).any():  # so that the rows' order does not matter
            if marks is not None and marks.names is None:  # by name, they find their rows
                marks = marks[order]
            y = None if y is None else _safe_indexing(y, order)
            X, labels = _safe_indexing(X, order), labels.among(order)
        if y is not None and marks is None and not isinstance(blank, MetricClassifier):
            blank = MetricClassifier(blank)
        model = fit_model(clone(blank), X, y, marks)
        F = None
        if self.forest and is_table and not isinstance(model, MetricClassifier):
            F = forest_points(model, X) if labels.n_similar and labels.n_dissimilar else None
        n_features, n_trees = (0, 0) if F is None else (F.shape[1], _FOLD_TREES)
        with as_numbers("X"):
            refit = partial(_refit, blank)
            held = measure_held_out(model, X, labels, self.cv, refit, n_trees=n_trees)
        forest = grow_on(F, labels, self._n_trees)
        aim = Aim(self.strategy, self.target, self.base_rate, n_features)
        decision = Decision.choose(held, aim)
        report = judge(held, decision, aim)
        warn_of_no_decision(held, decision)
        if forest:
            report["forest_share"] = decision.share
            for name, column in zip(
                ("distance", "forest"), (held.features * [-1, 1]).T, strict=True
            ):
                auc = roc_auc_score(held.similar, column, sample_weight=held.counts)
                report[f"auc_of_{name}"] = float(auc)
        validate_data(self, X, skip_check_array=True)  # n_features_in_, feature_names_in_
        self.estimator_, self.report_, self.classes_ = model, report, np.array([-1, 1])
        self.forest_, self.forest_share_ = forest, decision.share
        for name in ("threshold", "slope", "intercept", "power", "floor"):
            setattr(self, f"{name}_", getattr(decision, name))
        return self

    def predict(self, pairs: ArrayLike, X: Any = None) -> Array:
        """Decide for each pair whether its points are alike: at most ``threshold_`` apart.

        With ``strategy="accuracy"``, such pairs have a probability of at least 0.5.

        Parameters
        ----------
        pairs, X
            Pairs of points, or of rows of `X`, as in ``pair_distance``.

        Returns
        -------
        ndarray of int of shape (n_pairs,)
            1 for alike, -1 for different.
        """
        features = self._measure(pairs, X)
        return np.where(self._decision.accepts(features), 1, -1)

    def predict_proba(self, pairs: ArrayLike, X: Any = None) -> Array:
        """Compute calibrated probabilities that the points of each pair are alike.

        They do not depend on `strategy`.

        Parameters
        ----------
        pairs, X
            Pairs of points, or of rows of `X`, as in ``pair_distance``.

        Returns
        -------
        ndarray of shape (n_pairs, 2)
            Probabilities of different and of alike, in the order of `classes_`.
        """
        features = self._measure(pairs, X)
        alike = self._decision.probabilities(features)
        return np.column_stack([1.0 - alike, alike])

    def pair_distance(self, pairs: ArrayLike, X: Any = None) -> Array:
        """Compute the learned distance between the two points of each pair.

        With a forest, it is divided by a power of the forest's odds (see ``power_``). Fitted with
        classes alone, this is the probability that their classes differ.

        Parameters
        ----------
        pairs : array-like of shape (n_pairs, 2, n_features), or (n_pairs, 2) with `X`
            Pairs of points as ``fit`` takes them, before any scaling; or, with `X`, pairs of its
            rows: labels of its index if it is a DataFrame, row numbers otherwise.
        X : array-like of shape (n_samples, n_features), optional
            Points.

        Returns
        -------
        ndarray of shape (n_pairs,)
            Learned distances.
        """
        return self._decision.distances(self._measure(pairs, X))

    @property
    def _decision(self) -> Decision:
        check_is_fitted(self)
        return Decision(self.threshold_, self.slope_, self.intercept_, self.power_, self.floor_)

    def _measure(self, pairs: ArrayLike, X: Any) -> Array:
        """Return the features of pairs, of shape (n_pairs, n_features)."""
        check_is_fitted(self)
        model, X, pairs = self.estimator_, from_device(X), from_device(pairs)
        if X is not None:
            X, rows = take_pairs(X, pairs)
            check_directions(model, X)
            used, rows = np.unique(rows, return_inverse=True)
            X = _safe_indexing(X, used)
            return View.of(model, X, self.forest_).measure(rows.reshape(-1, 2))
        points = np.asarray(pairs)
        check_pairs(points, self.n_features_in_)
        if len(points) == 0:
            return np.empty((0, 2 if self.forest_ else 1))
        table: Any = points.reshape(-1, points.shape[2])
        check_directions(model, table, "pairs")
        if hasattr(self, "feature_names_in_"):  # steps of a pipeline may go by these names
            import pandas as pd

            table = pd.DataFrame(table, columns=self.feature_names_in_)
        with as_numbers("pairs"):
            view = View.of(model, table, self.forest_, "pairs")
        return view.measure(np.arange(len(table)).reshape(-1, 2))

    def score(
        self, X: ArrayLike, y: ArrayLike | None = None, *, marks: Marks | None = None
    ) -> float:
        """Compute the AUC of the distance over the labeled pairs of `X`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points.
        y : array-like of shape (n_samples,), optional
            Class labels, as in ``fit``.
        marks : Marks, optional
            Marks of the rows of `X`.

        Returns
        -------
        float
            Probability that a similar pair is closer than a dissimilar one; 0.5, with a warning,
            without pairs of both kinds.
        """
        check_is_fitted(self)
        X, y, marks, _ = sample_rows(X, y, marks, unlabeled=0)
        labels = pairs_to_score(X, _num_samples(X), y, marks)
        view = View.of(self.estimator_, X, self.forest_)

        def distances(first: Array, second: Array) -> Array:
            return self._decision.distances(view.measure(np.hstack([first, second])))

        return score_of_pairs(np.arange(len(view.Z))[:, np.newaxis], distances, labels)

    def _check_parameters(self) -> None:
        check_choice("strategy", self.strategy, STRATEGIES)
        if (self.target is not None) != (self.strategy in WITH_TARGET):
            verb = "needs a" if self.strategy in WITH_TARGET else "takes no"
            raise ValueError(
                f'strategy="{self.strategy}" {verb} target; got {shown(self.target)}.'
            )
        for name in ("target", "base_rate"):
            check_number(name, getattr(self, name), low=0, high=1, instead=None)
        if self.base_rate in (0, 1):
            raise ValueError(f"base_rate must be between 0 and 1; got {shown(self.base_rate)}.")
        check_number("cv", self.cv, low=2, integer=True)
        if not isinstance(self.forest, bool | np.bool_):
            raise ValueError(f"forest must be True or False; got {shown(self.forest)}.")


def _refit(blank: Any, X: Any, known: PairLabels) -> Any:
    """Fit a copy of a learner to some of the rows."""
    codes = known.codes if (known.codes >= 0).any() else None
    has_marks = len(known.pairs) or len(known.triplets)
    return fit_model(clone(blank), X, codes, known.marks if has_marks else None)


publish(globals(), "seraph", ["PairClassifier"])
