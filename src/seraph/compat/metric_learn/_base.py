"""What all stand-ins share: preprocessors, checks, distances, guesses, constructors and errors."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Self
from warnings import catch_warnings

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import roc_auc_score
from sklearn.utils import check_array
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from ..._marks import as_column
from ..._utils._typing import Array
from ..._utils._validation import (
    as_numbers,
    check_choice,
    check_number,
    check_seed,
    check_unmasked,
)

_IMPORT = ">>> from seraph.compat.metric_learn import {name}"
_FLOATS = (np.float64, np.float32)
_TUPLES = {2: "pairs", 3: "triplets", 4: "quadruplets"}


class PreprocessorError(Exception):
    """The preprocessor failed, with the error that is passed."""

    def __init__(self, original_error: Exception) -> None:
        super().__init__(f"The preprocessor raised {original_error!r}.")


class NonPSDError(np.linalg.LinAlgError):
    """A matrix that must be positive semi-definite is not."""

    def __init__(self, message: str = "The matrix is not positive semi-definite.") -> None:
        super().__init__(message)


def constructor(arguments: str) -> Callable[..., None]:
    """Return an ``__init__`` with the signature that `arguments` has in words."""
    call: Any = ast.parse(f"call({arguments})", mode="eval").body
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = [
        inspect.Parameter(keyword.arg, kind, default=ast.literal_eval(keyword.value))
        for keyword in call.keywords
    ]
    signature = inspect.Signature([inspect.Parameter("self", kind), *parameters])

    def __init__(*args: Any, **kwargs: Any) -> None:  # noqa: N807
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        vars(bound.arguments.pop("self")).update(bound.arguments)

    __init__.__signature__ = signature  # type: ignore[attr-defined]  # scikit-learn reads it
    return __init__


def document(function: Any) -> Any:
    """Add the names of its parameters to the docstring of a function or a class."""
    names = [name for name in inspect.signature(function).parameters if name != "self"]
    if names:
        listed = f"{', '.join(names)}\n    As in metric-learn 0.7."
        function.__doc__ = f"{function.__doc__}\n\nParameters\n----------\n{listed}"
    return function


class BaseMetricLearner(BaseEstimator):
    """Base of all learners: it knows the preprocessor."""

    pair_score: Callable[..., Array]  # of a subclass
    _example: ClassVar[str]  # for the docstrings of stand-ins

    def __init__(self, preprocessor: Any = None) -> None:
        self.preprocessor = preprocessor

    def __init_subclass__(cls, arguments: str = "", example: str = "", **settings: Any) -> None:
        """Document the methods; and give a stand-in its constructor from `arguments`.

        `example` has the arguments of the docstring's example.
        """
        super().__init_subclass__(**settings)
        if cls.__module__.startswith(__package__):  # and not a user's class
            for name, method in vars(cls).items():
                if not name.startswith("_") and inspect.isfunction(method):
                    document(method)
        if arguments:
            cls.__init__ = constructor(arguments)  # type: ignore[method-assign]
            document(cls)
            shown = f"\n\nExamples\n--------\n{_IMPORT}{cls._example}"
            cls.__doc__ = f"{cls.__doc__}{shown.format(name=cls.__name__, arguments=example)}"

    def _lookup(self) -> Callable[[Array], Any] | None:
        """Return the preprocessor as a function."""
        table = self.preprocessor
        if table is None or callable(table):
            return table
        if isinstance(table, str) or not hasattr(table, "__len__"):
            raise ValueError(
                "preprocessor must be None, a table of points or a function that returns points; "
                f"got {type(table)}."
            )
        return np.asarray(table).__getitem__

    def _formed(self, X: Any, ndim: int) -> Any:
        """Return points or tuples of points, looked up if `X` has indicators instead."""
        check_unmasked(X)
        lookup = self._lookup()
        if lookup is None:
            return X
        indicators = np.asarray(X)
        if indicators.ndim != ndim - 1:
            return X
        try:
            columns = indicators.T if ndim == 3 else [indicators]
            points = [np.asarray(lookup(column)) for column in columns]
        except Exception as error:  # whatever a user's function raises
            raise PreprocessorError(error) from error
        return np.stack(points, axis=1) if ndim == 3 else points[0]

    def _check_preprocessor(self) -> None:
        self.preprocessor_ = self._lookup()

    def _prepare_inputs(
        self, X: Any, y: Any = None, type_of_inputs: str = "classic", **checks: Any
    ) -> Any:
        """Check the input of a user's own learner; `checks` are passed to `check_array`."""
        check_choice("type_of_inputs", type_of_inputs, ("classic", "tuples"))
        self._check_preprocessor()
        if type_of_inputs == "tuples":
            return self._tuples(X, y, size=getattr(self, "_tuple_size", 2), **checks)
        return self._points(X, *(() if y is None else (y,)), **checks)

    def _points(self, X: Any, *y: Any, reset: bool = True, **checks: Any) -> Any:
        """Check points (and labels)."""
        # Rounding depends on the order in memory, and the path of a fit on rounding.
        checks = {"dtype": _FLOATS, "order": "C"} | checks
        if reset:
            checks = {"ensure_min_samples": 2} | checks
        check_seed(getattr(self, "random_state", None))
        y = tuple(as_column(labels) for labels in y)
        points = self._formed(X, 2)
        with as_numbers("X", points):
            return validate_data(self, points, *y, reset=reset, **checks)

    def _tuples(
        self, X: Any, y: Any = None, *, size: int, reset: bool = True, **checks: Any
    ) -> Any:
        """Check tuples of points (and labels of pairs)."""
        name = _TUPLES[size]
        check_seed(getattr(self, "random_state", None))
        points = self._formed(X, 3)
        checks = {"dtype": _FLOATS, "estimator": self, "input_name": name} | checks
        with as_numbers(name, points):
            tuples = check_array(points, **checks, allow_nd=True, ensure_2d=False)
        if tuples.ndim != 3 or tuples.shape[1] != size or tuples.shape[2] == 0:
            hint = "" if self.preprocessor is not None else " and a preprocessor"
            raise ValueError(
                f"{name} must be a 3D array of shape (n_{name}, {size}, n_features), or a 2D "
                f"array of indicators{hint}; got shape {tuples.shape}."
            )
        validate_data(self, tuples[:, 0], reset=reset, skip_check_array=True)  # the width alone
        if y is None:
            return tuples
        y = check_array(y, ensure_2d=False, dtype=None, input_name="y")
        check_consistent_length(tuples, y)
        if not np.isin(y, [-1, 1]).all():
            raise ValueError(
                "y must be +1 for pairs that are alike and -1 for those that are not; got "
                f"{np.unique(y)[:5].tolist()}."
            )
        return tuples, y


class MahalanobisMixin(BaseMetricLearner):
    """Base of the learners of a Mahalanobis distance ``||L x - L x'||``, with L `components_`."""

    _example = """
>>> from sklearn.datasets import load_iris
>>> X, y = load_iris(return_X_y=True)
>>> {name}({arguments}).fit(X, y).transform(X).shape
(150, 4)"""
    components_: Array
    n_features_in_: int
    _learn: Callable[..., Self]  # from checked input; ends with `_adopt`

    def _adopt(self, components: Array, **attributes: Any) -> Self:
        """Set what was learned."""
        self._check_preprocessor()
        self.components_ = np.array(components, dtype=float)
        self.__dict__.update(attributes)
        return self

    def _settings(self, *names: str, **others: Any) -> dict[str, Any]:
        """Return the parameters that a learner of `seraph.classic` has, too, and others."""
        return {name: getattr(self, name) for name in names} | others

    def _fit_quietly(self, learner: Any, X: Array, y: Any = None, **marks: Any) -> None:
        """Fit a learner of `seraph.classic`, silent about an early stop unless `verbose`."""
        verbose = getattr(self, "verbose", False)
        with catch_warnings(action=None if verbose else "ignore", category=ConvergenceWarning):
            learner.fit(X, y, **marks)

    def _adopt_fit(self, learner: Any, X: Array, y: Array, **attributes: Any) -> Self:
        """Fit a learner of `seraph.classic`, and set what it learned, with rows of zeros below."""
        self._fit_quietly(learner, X, y)
        components = np.zeros((learner.n_components, X.shape[1]))
        components[: len(learner.components_)] = learner.components_
        return self._adopt(components, n_iter_=learner.n_iter_, **attributes)

    def transform(self, X: ArrayLike) -> Array:
        """Map points to a space where the learned distance is the Euclidean one."""
        check_is_fitted(self, "components_")
        points = self._points(X, reset=False, accept_sparse=True)
        return np.asarray(points @ self.components_.T)

    def pair_distance(self, pairs: ArrayLike) -> Array:
        """Compute the learned distance between the two points of each pair."""
        check_is_fitted(self, "components_")
        points = self._tuples(pairs, size=2, reset=False)
        gaps = (points[:, 1] - points[:, 0]) @ self.components_.T
        return np.asarray(np.linalg.norm(gaps, axis=1))

    def pair_score(self, pairs: ArrayLike) -> Array:
        """Score how alike the points of each pair are: the negative distance."""
        return -self.pair_distance(pairs)

    def get_metric(self) -> Callable[..., float]:
        """Return the learned distance as a function of two points, for ``metric=``."""
        check_is_fitted(self, "components_")
        return _Distance(np.array(self.components_))

    def get_mahalanobis_matrix(self) -> Array:
        """Return the matrix of the learned squared distance."""
        check_is_fitted(self, "components_")
        return self.components_.T @ self.components_


@dataclass(frozen=True, eq=False)  # so that scikit-learn can look it up
class _Distance:
    """The learned distance as a function."""

    components: Array

    def __call__(self, u: ArrayLike, v: ArrayLike, squared: bool = False) -> float:
        mapped = self.components @ (np.ravel(u).astype(float) - np.ravel(v).astype(float))
        value = np.dot(mapped, mapped)
        return float(value if squared else np.sqrt(value))


class _PairsClassifierMixin(ClassifierMixin, BaseMetricLearner):
    """What learners of pairs can do: tell alike from different, by a threshold."""

    classes_ = np.array([-1, 1])
    _tuple_size = 2

    def predict(self, pairs: ArrayLike) -> Array:
        """Guess which pairs are alike: those no farther apart than the threshold."""
        check_is_fitted(self, "components_")
        if "threshold_" not in vars(self):
            raise AttributeError(
                f"This {type(self).__name__} has no threshold yet: call calibrate_threshold or "
                "set_threshold first."
            )
        return np.where(-self.decision_function(pairs) <= self.threshold_, 1, -1)

    def decision_function(self, pairs: ArrayLike) -> Array:
        """Return the negative distance of each pair."""
        return self.pair_score(pairs)

    def score(self, pairs: ArrayLike, y: ArrayLike) -> float:
        """Return how well distances tell alike pairs from others: the area under the ROC curve."""
        return float(roc_auc_score(y, self.decision_function(pairs)))

    def set_threshold(self, threshold: float) -> Self:
        """Set the distance up to which `predict` calls a pair alike."""
        check_is_fitted(self, "components_")
        check_number("threshold", threshold)
        self.threshold_ = float(threshold)
        return self

    def calibrate_threshold(
        self,
        pairs_valid: ArrayLike,
        y_valid: ArrayLike,
        strategy: str = "accuracy",
        min_rate: float | None = None,
        beta: float = 1.0,
    ) -> Self:
        """Choose the threshold of `predict` that serves best on some labeled pairs."""
        check_is_fitted(self, "components_")
        self._validate_calibration_params(strategy, min_rate, beta)
        pairs, y = self._tuples(pairs_valid, y_valid, size=2, reset=False)
        distances, place = np.unique(-self.decision_function(pairs), return_inverse=True)
        # Of the pairs up to no, the first, the second distance: how many are alike, how many not.
        alike, others = (
            np.append(0, np.cumsum(np.bincount(place[y == sign], minlength=len(distances))))
            for sign in (1, -1)
        )
        tpr = alike / max(1, alike[-1])
        tnr = (others[-1] - others) / max(1, others[-1])
        worth = {
            "accuracy": alike - others,
            "f_beta": alike / np.maximum(1.0, beta**2 * alike[-1] + alike + others),
            "max_tpr": np.where(tnr >= (min_rate or 0.0), tpr, -1.0),
            "max_tnr": np.where(tpr >= (min_rate or 0.0), tnr, -1.0),
        }[strategy]
        best = np.flatnonzero(worth == worth.max())
        # Of equals, metric-learn takes the largest threshold in two cases, and else the smallest.
        at = best[-1 if strategy in ("f_beta", "max_tnr") else 0]
        self.threshold_ = float(distances[at - 1] if at else distances[0] - 1.0)
        return self

    @staticmethod
    def _validate_calibration_params(
        strategy: str = "accuracy", min_rate: float | None = None, beta: float = 1.0
    ) -> None:
        check_choice("strategy", strategy, ("accuracy", "f_beta", "max_tpr", "max_tnr"))
        if strategy in ("max_tpr", "max_tnr"):
            check_number("min_rate", min_rate, low=0.0, high=1.0)
        if strategy == "f_beta":
            check_number("beta", beta)


class _ComparisonMixin(ClassifierMixin, BaseMetricLearner):
    """What learners of comparisons can do: tell which of two distances is the smaller."""

    classes_ = np.array([-1, 1])
    _tuple_size: int
    _far: tuple[int, int]  # which two points should be farther apart than the first two
    _equal: int  # what to predict where the distances are equal

    def predict(self, tuples: ArrayLike) -> Array:
        """Guess whether the first two points are closer than the others."""
        margins = self.decision_function(tuples)
        return np.where(margins == 0.0, self._equal, np.sign(margins)).astype(int)

    def decision_function(self, tuples: ArrayLike) -> Array:
        """Return how much farther apart the other points are than the first two."""
        check_is_fitted(self, "components_")
        points = self._tuples(tuples, size=self._tuple_size, reset=False)
        return self.pair_score(points[:, :2]) - self.pair_score(points[:, self._far])

    def score(self, tuples: ArrayLike) -> float:
        """Return the share of tuples whose first two points are closer than the others."""
        return float(np.mean(self.predict(tuples)) / 2.0 + 0.5)


class _TripletsClassifierMixin(_ComparisonMixin):
    """What learners of triplets can do: the first point is closer to the second."""

    _tuple_size, _far, _equal = 3, (0, 2), -1


class _QuadrupletsClassifierMixin(_ComparisonMixin):
    """What learners of quadruplets can do: the first two points are closer than the last two."""

    _tuple_size, _far, _equal = 4, (2, 3), 0
