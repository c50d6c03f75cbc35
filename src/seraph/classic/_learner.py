"""Bases of the classic learners: the one `fit`, which checks the input and then learns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags

from .._learner import MahalanobisLearner
from .._marks import Marks, PairLabels, sample_rows
from .._utils._threads import one_blas_thread
from .._utils._typing import Array
from .._utils._validation import check_choice, check_flag, check_number, check_seed
from .._utils._warnings import warn
from ._points import row_order

# A fit that stops at a larger gap than this, as ITML and LMNN do by default, has stopped early.
CONVERGED_GAP = 0.01

# Returns the factor of the metric and the other fitted attributes.
Learn = Callable[[], tuple[Array, dict[str, Any]]]

# Arguments of `check_number` for a parameter.
Ranges = dict[str, dict[str, Any]]

# The parameters that several learners have, and their ranges.
_RANGES: Ranges = {
    "n_components": {"low": 1, "integer": True, "instead": None},
    "n_neighbors": {"low": 1, "integer": True},
    "max_iter": {"low": 1, "integer": True},
    "ridge": {"low": 0},
    "tol": {"low": 0},
}
_CHOICES = {"prior": ("identity", "covariance"), "init": ("pca", "identity", "random")}


class Learner(MahalanobisLearner):
    """Base of all learners of this package: checks parameters, and sets the fitted attributes."""

    _ranges: ClassVar[Ranges] = {}  # of a learner's own parameters; they replace common ones
    _choices: ClassVar[dict[str, tuple[str | None, ...]]] = {}

    def _check_parameters(self) -> None:
        """Raise a ValueError if a parameter is out of its range."""
        ranges, choices = _RANGES | self._ranges, _CHOICES | self._choices
        for name, value in self.get_params(deep=False).items():
            if name in choices and not (name == "init" and isinstance(value, np.ndarray)):
                check_choice(name, value, choices[name])
            elif name in ranges:
                check_number(name, value, **ranges[name])
            elif name == "diagonal":
                check_flag(name, value)
            elif name == "random_state":
                check_seed(value)

    def _fit_points(self, X: ArrayLike, points: Array, learn: Learn, **attributes: Any) -> Self:
        """Call `learn`, and set its attributes and the given ones."""
        # Matrices this small gain nothing from more threads. An underflow to zero is right,
        # whatever the user has set with `np.seterr`.
        with one_blas_thread(), np.errstate(under="ignore"):
            components, learned = learn()
            components = components.astype(points.dtype)
        return self._set_learned(X, components, **learned, **attributes)

    def _certified(
        self,
        value: float,
        n_iter: int,
        gap: float | None = None,
        *,
        converged: bool | None = None,
        stopped_early: bool | None = None,
    ) -> dict[str, Any]:
        """Return what a solver found, as attributes; warn if it stopped before it meant to.

        It has `converged` where the gap is within `tol`, if not told otherwise.
        """
        if converged is None:
            converged = gap is not None and gap <= self.tol
        if not (converged or stopped_early):
            certificate = "" if gap is None else f", optimality gap {gap:.1e}"
            warn(
                f"{type(self).__name__} has not converged ({n_iter} iterations{certificate}). "
                "Raise max_iter or tol.",
                ConvergenceWarning,
            )
        found = {
            "objective_": value,
            "optimality_gap_": gap,
            "converged_": converged,
            "n_iter_": max(1, n_iter),
            "stopped_early_": stopped_early,
        }
        return {name: value for name, value in found.items() if value is not None}


class ClassicLearner(Learner, ABC):
    """Base of the learners from labeled pairs: a subclass implements ``_learn``."""

    _needs_labels = True  # whether `fit` refuses input without a labeled pair
    _uses_triplets = False  # whether `fit` accepts triplets

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike | None = None,
        *,
        marks: Marks | None = None,
    ) -> Self:
        """Learn the metric from class labels, marked pairs, or both.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points, labeled or not. Of a dask collection, a sample of 20,000 rows and the labeled
            ones are read, chunk by chunk.
        y : array-like of shape (n_samples,), optional
            Class labels of any type; -1, NaN or None where :ref:`unknown <unlabeled>`.
        marks : Marks, optional
            Pairs of rows that are known to be alike or not: see :class:`seraph.Marks`. A learner
            that uses class labels alone accepts only pairs that follow from `y`.
        """
        self._check_parameters()
        X, y, marks, _ = sample_rows(X, y, marks)
        points = self._check_points(X)
        labels = PairLabels.of(X, len(points), y, marks, required=self._needs_labels)
        return self._fit_checked(X, points, labels)

    def _fit_checked(self, X: ArrayLike, points: Array, labels: PairLabels) -> Self:
        """Learn from checked points and labels; see `fit`."""
        self._check_marks(labels)
        n_absent = labels.n_absent_marks
        if self._needs_labels:  # samples and ties then do not depend on the order of the rows
            order = row_order(points, labels)
            points, labels = points[order], labels.among(order)
        learn = partial(self._learn, points, labels)
        return self._fit_points(X, points, learn, n_absent_marks_=n_absent)

    def _check_marks(self, labels: PairLabels) -> None:
        """Refuse marks that this learner cannot use, and warn of weights, which none uses."""
        name = type(self).__name__
        if len(labels.triplets) and not self._uses_triplets:
            raise ValueError(
                f"{name} does not learn from triplets, and marks has {len(labels.triplets)}: "
                "leave them out, or use SERAPH or SCML."
            )
        unsure = (labels.likeness != 0.0) & (labels.likeness != 1.0)
        if unsure.any():
            raise ValueError(
                f"{name} learns from marks that are sure: their labels must be +1 or -1; got "
                f"{labels.likeness[unsure][0]:g}. Leave such pairs out, or use SERAPH."
            )
        if np.any(labels.weights != 1.0):
            warn(
                f"{name} does not use the weights of marks: each marked pair counts once, also "
                "where it is marked twice."
            )

    def _check_both_kinds(self, labels: PairLabels) -> None:
        """Raise a ValueError if there are no similar pairs, or no dissimilar ones."""
        if labels.n_similar == 0 or labels.n_dissimilar == 0:
            raise ValueError(
                f"{type(self).__name__} needs similar pairs and dissimilar ones; got "
                f"{labels.n_similar} similar and {labels.n_dissimilar} dissimilar pair(s). Label "
                "at least two rows of one class and one of another."
            )

    @abstractmethod
    def _learn(self, points: Array, labels: PairLabels) -> tuple[Array, dict[str, Any]]:
        """Return the factor of the metric, and further fitted attributes by name.

        `points` are all points: finite, in single or double precision, of any unit (see
        `remove_unit`). Marks among their `labels` are sure, and their weights do not count.
        """


class ClassLabelLearner(ClassicLearner):
    """Base of the learners that use class labels alone."""

    def _check_marks(self, labels: PairLabels) -> None:
        """Refuse marks, except those that follow from the classes."""
        super()._check_marks(labels)
        name = type(self).__name__
        if not (labels.codes >= 0).any():
            raise ValueError(
                f"{name} learns from class labels, and only marked pairs were given: pass class "
                "labels as y (-1 where unknown), or use a learner of pairs, such as SERAPH or "
                "ITML."
            )
        if len(labels.pairs):
            raise ValueError(
                f"{name} learns from class labels alone, and {len(labels.pairs)} of the marked "
                "pairs do not follow from y: leave marks out, or use a learner of pairs, such as "
                "SERAPH or ITML."
            )

    def _labeled_points(self, points: Array, labels: PairLabels, rows: Array) -> Array:
        """Check that the classes will do, and return the labeled `rows` in double precision."""
        name = type(self).__name__
        sizes = np.bincount(labels.codes[rows])
        if len(sizes) < 2 or sizes.max() < 2:
            raise ValueError(
                f"{name} needs at least two classes, one of them with at least two members; got "
                f"{len(sizes)} class(es) with at most {sizes.max()} labeled row(s)."
            )
        labeled: Array = points[rows].astype(np.float64)
        if (labeled == labeled[0]).all():
            raise ValueError(
                f"The {len(labeled)} labeled rows of X are one and the same point: there is no "
                "distance to learn. Pass points that differ."
            )
        return labeled

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def check_components(n_components: int | None, n_features: int) -> None:
    """Raise a ValueError if more components are asked for than there are features."""
    if n_components is not None and n_components > n_features:
        raise ValueError(
            f"n_components={n_components} is too large: X has only {n_features} features."
        )
