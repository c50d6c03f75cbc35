"""What a learner of a distance can decide about pairs."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import check_is_fitted

from .._pairs import PairLabels, RowNames, as_labels, is_missing, row_numbers
from .._sweep import in_memory
from .._typing import Array
from .._validation import as_numbers, check_choice, check_number, check_seed, shown
from .._warnings import warn
from ..metrics import pair_auc
from ._calibrate import METHODS, calibrated, probabilities
from ._held_out import Given, held_out
from ._pipelines import refuse_unlabeled_classes
from ._query_rows import typical_rows
from ._threshold import STRATEGIES, WITH_TARGET, choose_threshold, judged

_MARKS: dict[str, bool] = {"pairs": True, "pair_labels": True, "ids": True}


def pair_points(pairs: ArrayLike, X: Any, ids: ArrayLike | None) -> Any:
    """Return pairs of points: `pairs` itself, or the rows of `X` that it names."""
    if X is None:
        if ids is not None:
            raise ValueError("ids was passed without X: it names the rows of X.")
        return pairs
    with as_numbers("X", X):
        table = check_array(in_memory(X), dtype=None, ensure_all_finite=False, input_name="X")
    rows = row_numbers(RowNames.of(X, ids, pairs).rows(pairs)[0], len(table))
    return table[rows]


class PairDecisions:
    """Mixin: a learner with ``fit``, ``transform`` and ``pair_distance`` decides about pairs."""

    # With metadata routing, marks go to the learner without being asked for.
    __metadata_request__fit: ClassVar = _MARKS
    __metadata_request__score: ClassVar = _MARKS

    threshold_: float
    threshold_report_: dict[str, Any]
    calibration_: dict[str, Any]

    def score(
        self,
        X: ArrayLike,
        y: ArrayLike | None = None,
        *,
        pairs: ArrayLike | None = None,
        pair_labels: ArrayLike | None = None,
        ids: ArrayLike | None = None,
    ) -> float:
        """Compute the AUC of the distance over the labeled pairs of `X`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points.
        y : array-like of shape (n_samples,), optional
            Class labels, as in ``fit``.
        pairs, pair_labels, ids : array-like, optional
            Marked pairs, as in ``fit``. Pairs whose rows are not both in X are left out.

        Returns
        -------
        float
            Probability that a similar pair is closer than a dissimilar one; see
            :func:`seraph.metrics.pair_auc`.
        """
        Z = np.asarray(self.transform(X))  # type: ignore[attr-defined]
        names = None if pairs is None else RowNames.of(X, ids, pairs, "drop")
        labels = PairLabels.make(len(Z), y, pairs, pair_labels, names=names)
        codes = labels.codes if (labels.codes >= 0).any() else None
        return pair_auc(Z, codes, pairs=labels.pairs, pair_labels=labels.similar)

    def pair_predict(
        self, pairs: ArrayLike, X: Any = None, *, ids: ArrayLike | None = None
    ) -> Array:
        """Decide for each pair whether its points are alike: at most ``threshold_`` apart.

        Choose the threshold first, with ``calibrate_threshold`` or ``set_threshold``.

        Parameters
        ----------
        pairs, X, ids
            Pairs of points, or of rows of `X`, as in ``pair_distance``.

        Returns
        -------
        ndarray of int of shape (n_pairs,)
            +1 for alike, -1 for different.
        """
        d = self.pair_distance(pairs, X, ids=ids)  # type: ignore[attr-defined]
        if not hasattr(self, "threshold_"):
            raise ValueError(
                f"This {type(self).__name__} has no threshold to decide at: call "
                "calibrate_threshold with the data it was fitted with, or set_threshold."
            )
        return np.where(d <= self.threshold_, 1, -1)

    def set_threshold(self, threshold: float) -> Self:
        """Set the distance up to which ``pair_predict`` calls two points alike.

        Parameters
        ----------
        threshold : float
            The distance.

        Returns
        -------
        self
            The learner.
        """
        check_is_fitted(self)
        check_number("threshold", threshold)
        self.__dict__.pop("threshold_report_", None)
        self.threshold_ = float(threshold)
        return self

    def calibrate_threshold(
        self,
        X: ArrayLike,
        y: ArrayLike | None = None,
        *,
        pairs: ArrayLike | None = None,
        pair_labels: ArrayLike | None = None,
        pair_weights: ArrayLike | None = None,
        triplets: ArrayLike | None = None,
        ids: ArrayLike | None = None,
        graph: Any = None,
        strategy: Literal[
            "accuracy", "equal_error_rate", "precision", "recall", "false_accept_rate"
        ] = "accuracy",
        target: float | None = None,
        base_rate: float | None = None,
        cv: int | Literal["prefit"] = 5,
    ) -> Self:
        """Choose ``threshold_`` from labeled pairs, out of fold, and say what it reaches.

        The learner is fitted again without each fold of points, and the pairs within the fold
        are measured by that metric. So the threshold does not profit from a metric that has
        seen the pairs. This sets

        - ``threshold_``, the distance at which ``pair_predict`` decides;
        - ``threshold_report_``, a dict: "accuracy", "precision", "recall" and
          "false_accept_rate" as (value, low, high), with a 95 % interval; the "base_rate" that
          accuracy and precision hold for; "n_similar" and "n_dissimilar", the held-out pairs
          (a mark between 0 and 1 is in both). Each fold is judged by a threshold chosen on the
          others.

        Parameters
        ----------
        X, y, pairs, pair_labels, pair_weights, triplets, ids, graph
            What the learner was fitted with, all of it; with ``cv="prefit"``, data that it has
            not seen. A mark counts as much as its weight, and one of 0.7 as a similar pair of
            weight 0.7 and a dissimilar one of weight 0.3. Triplets and the graph only serve
            the fits: they say nothing about single pairs.
        strategy : str, default="accuracy"
            "accuracy": most pairs decided correctly. "equal_error_rate": as large a share of
            the similar pairs rejected as of the dissimilar ones accepted. "precision", "recall"
            or "false_accept_rate": reach `target` (at least, at least, at most), and among such
            thresholds accept the most similar pairs, reject the most dissimilar ones, accept
            the most similar ones.
        target : float, optional
            From 0 to 1, for the last three strategies.
        base_rate : float, optional
            Share of similar pairs among those to decide about. Marked pairs are seldom a random
            sample, and accuracy and precision depend on it. None takes the share among the
            labeled pairs.
        cv : int or "prefit", default=5
            Largest number of folds; or "prefit" to measure by the metric that there is.

        Returns
        -------
        self
            The learner.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn.datasets import load_wine
        >>> from sklearn.preprocessing import StandardScaler
        >>> from seraph import SERAPH
        >>> X, y = load_wine(return_X_y=True)
        >>> X = StandardScaler().fit_transform(X)
        >>> some = np.where(np.arange(len(y)) % 5 == 0, y, -1)
        >>> learner = SERAPH().fit(X, some).calibrate_threshold(X, some)
        >>> learner.pair_predict([[0, 1], [0, 100]], X)
        array([ 1, -1])
        >>> accuracy, low, high = learner.threshold_report_["accuracy"]
        >>> bool(0.6 < low < accuracy < high)
        True
        """
        check_is_fitted(self)
        check_choice("strategy", strategy, STRATEGIES)
        if (target is not None) != (strategy in WITH_TARGET):
            verb = "needs a" if strategy in WITH_TARGET else "takes no"
            raise ValueError(f'strategy="{strategy}" {verb} target; got {shown(target)}.')
        _check_share("target", target)
        _check_base_rate(base_rate)
        _check_cv(cv)
        given = Given(y, pairs, pair_labels, pair_weights, triplets, ids, graph)
        held = held_out(self, X, given, cv)
        weights = held.weights(base_rate)
        threshold = choose_threshold(held.distances, held.similar, weights, strategy, target)
        report = judged(held, threshold, strategy, target, base_rate)
        self.threshold_, self.threshold_report_ = threshold, report
        return self

    def calibrate_proba(
        self,
        X: ArrayLike,
        y: ArrayLike | None = None,
        *,
        pairs: ArrayLike | None = None,
        pair_labels: ArrayLike | None = None,
        pair_weights: ArrayLike | None = None,
        triplets: ArrayLike | None = None,
        ids: ArrayLike | None = None,
        graph: Any = None,
        method: Literal["sigmoid", "isotonic"] = "sigmoid",
        base_rate: float | None = None,
        cv: int | Literal["prefit"] = 5,
    ) -> Self:
        """Fit probabilities to labeled pairs, out of fold, for ``calibrated_pair_proba``.

        Distances are measured out of fold, as in ``calibrate_threshold``. This sets
        ``calibration_``, a dict with the fitted map; its "brier_score" and "calibration_error"
        (:func:`seraph.metrics.expected_calibration_error`) on pairs of points that neither the
        metric nor the map has seen; the "base_rate"; and the number of held-out pairs.

        Parameters
        ----------
        X, y, pairs, pair_labels, pair_weights, triplets, ids, graph
            What the learner was fitted with, all of it; with ``cv="prefit"``, data that it has
            not seen. A mark counts as much as its weight, and one of 0.7 as a similar pair of
            weight 0.7 and a dissimilar one of weight 0.3. Triplets and the graph only serve
            the fits: they say nothing about single pairs.
        method : {"sigmoid", "isotonic"}, default="sigmoid"
            "sigmoid" fits two numbers: log-odds that fall linearly with the distance (Platt).
            "isotonic" fits any probability that falls with it, and needs hundreds of pairs.
        base_rate : float, optional
            Share of similar pairs among those that the probabilities are for. Marked pairs are
            seldom a random sample; without this, probabilities are right for pairs that are
            chosen like the labeled ones.
        cv : int or "prefit", default=5
            Largest number of folds; or "prefit" to measure by the metric that there is.

        Returns
        -------
        self
            The learner.

        References
        ----------
        J. C. Platt. Probabilistic outputs for support vector machines. 1999.

        B. Zadrozny, C. Elkan. Transforming classifier scores into accurate multiclass
        probability estimates. KDD 2002. (Isotonic regression.)

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn.datasets import load_wine
        >>> from sklearn.preprocessing import StandardScaler
        >>> from seraph import SERAPH
        >>> X, y = load_wine(return_X_y=True)
        >>> X = StandardScaler().fit_transform(X)
        >>> some = np.where(np.arange(len(y)) % 5 == 0, y, -1)
        >>> learner = SERAPH().fit(X, some).calibrate_proba(X, some)
        >>> p = learner.calibrated_pair_proba([[0, 1], [0, 100]], X)
        >>> bool(p[0] > 0.5 > p[1])
        True
        """
        check_is_fitted(self)
        check_choice("method", method, METHODS)
        _check_base_rate(base_rate)
        _check_cv(cv)
        given = Given(y, pairs, pair_labels, pair_weights, triplets, ids, graph)
        held = held_out(self, X, given, cv)
        self.calibration_ = calibrated(held, method, base_rate)
        return self

    def calibrated_pair_proba(
        self, pairs: ArrayLike, X: Any = None, *, ids: ArrayLike | None = None
    ) -> Array:
        """Compute calibrated probabilities that the points of each pair are alike.

        Call ``calibrate_proba`` first.

        Parameters
        ----------
        pairs, X, ids
            Pairs of points, or of rows of `X`, as in ``pair_distance``.

        Returns
        -------
        ndarray of shape (n_pairs,)
            Probabilities, from 0 to 1.
        """
        d = self.pair_distance(pairs, X, ids=ids)  # type: ignore[attr-defined]
        if not hasattr(self, "calibration_"):
            raise ValueError(
                f"The probabilities of this {type(self).__name__} are not calibrated: call "
                "calibrate_proba with the data it was fitted with."
            )
        return probabilities(self.calibration_, np.asarray(d, dtype=np.float64))

    def query_rows(
        self,
        X: ArrayLike,
        n: int = 10,
        *,
        y: ArrayLike | None = None,
        ids: ArrayLike | None = None,
        random_state: int | np.random.RandomState | None = 0,
    ) -> Array:
        """Choose rows of `X` whose class to ask an expert for next.

        A class label says more than a pair: it labels a pair with every labeled row. The rows
        are typical ones from regions of the learned space without a label, as in TypiClust:
        k-means makes as many clusters as there are labeled and wanted rows, and the largest
        clusters without a label give the row whose neighbors are nearest. With few labels, such
        rows teach more than those that the model is least sure of.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points.
        n : int, default=10
            Number of rows.
        y : array-like of shape (n_samples,), optional
            Class labels as in ``fit``; rows with a label are not asked about.
        ids : array-like of shape (n_samples,), optional
            Names of the rows, each once; the index of a DataFrame names them without this.
        random_state : int, RandomState instance or None, default=0
            Seed of k-means.

        Returns
        -------
        ndarray of shape (n,)
            Row numbers; or names, if X is a DataFrame or `ids` are given. Rows of large clusters
            come first.

        References
        ----------
        G. Hacohen, A. Dekel, D. Weinshall. Active learning on a budget: opposite strategies suit
        high and low budgets. ICML 2022.

        Examples
        --------
        >>> import numpy as np
        >>> from seraph import SERAPH
        >>> X = np.random.default_rng(0).normal(size=(30, 3))
        >>> y = np.where(np.arange(30) < 8, X[:, 0] > 0, -1)
        >>> rows = SERAPH().fit(X, y).query_rows(X, 3, y=y)
        >>> bool((y[rows] == -1).all())
        True
        """
        check_is_fitted(self)
        check_number("n", n, low=1, integer=True)
        check_seed(random_state)
        Z = np.asarray(self.transform(X), dtype=np.float64)  # type: ignore[attr-defined]
        labeled = np.zeros(len(Z), dtype=bool)
        if y is not None:
            labels = as_labels(y)
            if len(labels) != len(Z):
                raise ValueError(
                    f"y has {len(labels)} labels and X has {len(Z)} rows: give one label per "
                    "row, and -1 where the class is unknown."
                )
            labeled = ~is_missing(labels)
        names = RowNames.of(X, ids, np.empty((0, 2)))
        free = int((~labeled).sum())
        if free < n:
            warn(f"Only {free} of {n} rows are left to ask about: the others have a label.")
        if free == 0:
            return names.names(np.empty(0, dtype=np.intp))
        rng = check_random_state(random_state)
        return names.names(typical_rows(Z, labeled, min(n, free), rng))

    def fit_transform(self, X: ArrayLike, y: ArrayLike | None = None, **fit_params: Any) -> Any:
        """Fit the learner, then map the points.

        Before a classifier in a pipeline of scikit-learn, labels of -1 are refused: the
        classifier would take them for a class. :class:`seraph.MetricNeighborsClassifier` does
        not.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points.
        y : array-like of shape (n_samples,), optional
            Class labels, -1 where unknown.
        **fit_params : dict
            Further arguments of ``fit``.

        Returns
        -------
        ndarray of shape (n_samples, rank)
            The mapped points.
        """
        refuse_unlabeled_classes(y)
        return super().fit_transform(X, y, **fit_params)  # type: ignore[misc]

    def _forget_decisions(self) -> None:
        """Drop what was chosen for an earlier metric."""
        for name in ("threshold_", "threshold_report_", "calibration_"):
            self.__dict__.pop(name, None)


def _check_share(name: str, value: float | None) -> None:
    check_number(name, value, low=0, instead=None)
    if value is not None and value > 1:
        raise ValueError(f"{name} must be at most 1; got {shown(value)}.")


def _check_base_rate(value: float | None) -> None:
    _check_share("base_rate", value)
    if value in (0, 1):
        raise ValueError(f"base_rate must be between 0 and 1; got {shown(value)}.")


def _check_cv(value: Any) -> None:
    if not (isinstance(value, str) and value == "prefit"):
        check_number("cv", value, low=2, integer=True, instead="prefit")
