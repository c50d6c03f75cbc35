"""What all learners of metric-learn share: preprocessors, checks, and distances."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Self
from warnings import catch_warnings

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from ..._marks import as_column
from ..._utils._typing import Array
from ..._utils._unknown import is_unknown
from ..._utils._validation import as_numbers, check_choice, check_seed, check_unmasked
from ._parameters import constructor, document
from .exceptions import PreprocessorError

_IMPORT = ">>> from seraph.compat.metric_learn import {name}"
_FLOATS = (np.float64, np.float32)
_TUPLES = {2: "pairs", 3: "triplets", 4: "quadruplets"}


class BaseMetricLearner(BaseEstimator):
    """Base of all learners: it knows the preprocessor.

    Parameters
    ----------
    preprocessor : array-like or callable, optional
        Table of points, or a function of an array of indicators that returns points. With it,
        methods take row numbers or indicators in place of points.

    Examples
    --------
    >>> from seraph.compat.metric_learn import NCA
    >>> from seraph.compat.metric_learn.base_metric import BaseMetricLearner
    >>> issubclass(NCA, BaseMetricLearner)
    True
    """

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
            document(cls, cls.__name__.removesuffix("_Supervised"))
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
        for labels in y:
            _check_labels(labels)
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


def _check_labels(y: Any) -> None:
    """Refuse missing labels."""
    labels, mask = np.asarray(y), y.mask if isinstance(y, np.ma.MaskedArray) else False
    if labels.ndim == 1 and (missing := is_unknown(labels) | mask).any():
        raise ValueError(
            f"y contains NaN, None or masked entries, {int(missing.sum())} times: every point "
            "needs a class here. Number the classes, with -1 where one is unknown; or use the "
            "learners of seraph.classic, which take labels as they are."
        )


class MahalanobisMixin(BaseMetricLearner):
    """Base of the learners of a Mahalanobis distance ``||L x - L x'||``, with L `components_`.

    Parameters
    ----------
    preprocessor : array-like or callable, optional
        Table of points, or a function of an array of indicators that returns points.

    Examples
    --------
    >>> from seraph.compat.metric_learn import Covariance
    >>> from seraph.compat.metric_learn.base_metric import MahalanobisMixin
    >>> isinstance(Covariance(), MahalanobisMixin)
    True
    """

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
