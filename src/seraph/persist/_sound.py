"""Smoke test of a model that was read from a file: its methods must work on a few rows."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.neighbors import KNeighborsClassifier
from sklearn.utils.validation import check_is_fitted

from .._base import MahalanobisLearner, MetricLearner
from .._estimators._classifier import MetricClassifier
from .._estimators._pair_classifier import PairClassifier
from .._estimators._rules import RULES
from .._utils._typing import Array
from .._utils._validation import check_choice
from ._trusted import parts_of

_ROWS = 4  # two pairs
_PAIRS = np.array([[0, 1], [2, 3]])
_OF_POINTS = ("transform", "predict", "predict_proba", "kneighbors")
_OF_PAIRS = ("pair_distance", "pair_proba")
_NUMBERS = ("eta_", "kappa_", "threshold_", "slope_", "intercept_")
# Errors of numpy and scikit-learn about arrays that do not fit together. Other errors about
# values may mean that our rows are not among those that a step accepts.
_SHAPES = re.compile(
    r"shape|dimension|broadcast|mismatch|features|length|size|axis|array|convert|type"
)


class _OtherRowsWanted(Exception):
    """A third-party step rejects our test rows, which proves nothing about the file."""


def check_sound(model: BaseEstimator) -> None:
    """Raise an error if a fitted model does not work on rows that it should take."""
    try:
        check_is_fitted(model)
    except NotFittedError:
        return
    for part in _estimators(model):
        _check_attributes(part)
        _check_arrays(part)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        with suppress(_OtherRowsWanted):
            _use(model, _rows_for(model))
        _check_names(model)


def _check_names(model: Any) -> None:
    """Check that the steps agree on how many features there are."""
    try:
        if hasattr(model, "get_feature_names_out"):
            model.get_feature_names_out()
    except AttributeError:  # a step does not name its features
        return
    except ValueError as error:
        if "length" in str(error):
            raise


def _estimators(value: Any) -> Iterator[BaseEstimator]:
    """Yield every estimator in a model."""
    if isinstance(value, BaseEstimator):
        yield value
    for _, inner in parts_of(value):
        yield from _estimators(inner)


def _check_arrays(part: BaseEstimator) -> None:
    """Check arrays that a few rows would not find out about."""
    has = vars(part)
    if isinstance(part, MahalanobisLearner):
        for name in {"components_", "learned_components_"} & {*has}:
            _check_numbers(name, has[name], (None, None))
    if isinstance(part, MahalanobisLearner) and "components_" in has:
        if not (isinstance(part.isotropic_, float) and 0.0 <= part.isotropic_ < np.inf):
            raise ValueError("its isotropic_ is not a number of at least 0")
        _agree("n_features_in_", part.n_features_in_, part.components_.shape[1])
    if isinstance(part, KNeighborsClassifier) and "classes_" in has:
        _check_numbers("neighbors", part._fit_X, (None, None))
        _agree("n_samples_fit_", part.n_samples_fit_, len(part._fit_X))
        if not 0 < part.n_neighbors <= len(part._fit_X):
            raise ValueError("it has fewer rows than n_neighbors")
        classes = np.asarray(part.classes_)
        if classes.dtype.kind == "O" and not all(isinstance(name, str) for name in classes):
            raise ValueError("its classes_ are of several types")
        codes = np.asarray(part._y)
        if not np.isin(codes, np.arange(len(part.classes_))).all():
            raise ValueError("its neighbors have classes that are not listed")
    if isinstance(part, MetricClassifier) and "classes_" in has:
        _check_rules(part)
    if "feature_names_in_" in has:
        _agree("feature_names_in_", np.shape(part.feature_names_in_), (part.n_features_in_,))


def _check_rules(part: MetricClassifier) -> None:
    """Check the labeled rows of a classifier, and the rules that decide by them."""
    check_choice("rule", part.rule, RULES)
    _check_numbers("points_", part.points_, (None, None))
    k, (n, width) = len(part.classes_), part.points_.shape
    _check_numbers("center_", part.center_, (width,))
    if part.rule not in ("vote", "nearest"):
        _check_numbers("coef_", part.coef_, (k, width))
        _check_numbers("intercept_", part.intercept_, (k,))
    codes = np.asarray(part.codes_)
    _agree("codes_", codes.shape, (n,))
    if n == 0 or codes.dtype.kind != "i" or not np.isin(codes, np.arange(k)).all():
        raise ValueError("its labeled rows have classes that are not listed")
    for name in ("scale_", "width_"):
        value = getattr(part, name)
        if type(value) is not float or not 0.0 < value < np.inf:
            raise ValueError(f"its {name} is not a positive number")


def _check_attributes(part: BaseEstimator) -> None:
    """Check that no parameter is missing, and that numbers are real ones."""
    part.get_params(deep=False)  # an AttributeError if one is missing
    ours = type(part).__module__.split(".")[0] == "seraph"  # others have arrays of that name
    for name, value in vars(part).items():
        if isinstance(value, np.ndarray | np.generic) and value.dtype.kind == "c":
            raise ValueError(f"its {name} has complex numbers")
        # (The rule of a MetricClassifier has one intercept for each class.)
        single = ours and name in _NUMBERS and not isinstance(part, MetricClassifier)
        if single and not isinstance(value, float | int):
            raise ValueError(f"its {name} is not a number")
    if isinstance(part, ColumnTransformer) and hasattr(part, "transformers_"):
        _check_columns(part)


def _check_columns(part: ColumnTransformer) -> None:
    """Check that each step reads the columns that it names."""
    names = list(getattr(part, "feature_names_in_", ()))
    for step, _, columns in part.transformers_:
        if isinstance(columns, list) and all(isinstance(name, str) for name in columns):
            found = list(part._transformer_to_input_indices.get(step, ()))
            if found != [names.index(name) for name in columns]:
                raise ValueError(f"the columns of its step {step!r} are not those it names")


def _check_numbers(name: str, values: Any, shape: tuple[int | None, ...]) -> None:
    """Check an array of finite numbers; None stands for any length."""
    if not isinstance(values, np.ndarray) or values.dtype.kind != "f":
        raise ValueError(f"its {name} is not an array of numbers")
    if not np.isfinite(values).all():
        raise ValueError(f"its {name} has numbers that are not finite")
    lengths = zip(values.shape, shape, strict=False)
    if values.ndim != len(shape) or any(wanted not in (None, n) for n, wanted in lengths):
        raise ValueError(f"its {name} does not fit its other attributes")


def _agree(name: str, value: Any, expected: Any) -> None:
    if isinstance(value, bool) or value != expected:
        raise ValueError(f"its {name} does not fit its other attributes")


def _rows_for(model: BaseEstimator) -> Any:
    """Make rows that a model should take: of positive numbers, or of categories it knows."""
    first = model
    while hasattr(first, "steps"):
        first = next(step for _, step in first.steps if isinstance(step, BaseEstimator))
    width = first.n_features_in_
    # (A wrong number must not take all memory.)
    if type(width) is not int or not 0 < width <= _n_values(model):
        raise ValueError("its n_features_in_ does not fit its other attributes")
    numbers = 1.0 + (np.arange(_ROWS * width).reshape(_ROWS, width) % 7) / 7.0
    names = getattr(first, "feature_names_in_", None)
    categories = dict(_categories(first))
    if names is None and not categories:
        return numbers
    import pandas as pd

    frame = pd.DataFrame(numbers, columns=names)
    for place, words in categories.items():
        name = place if isinstance(place, str) else frame.columns[place]
        frame[name] = [words[row % len(words)] for row in range(_ROWS)]
    return frame if names is not None else frame.to_numpy()


def _n_values(value: Any) -> int:
    """Count the numbers and texts in a model."""
    if isinstance(value, np.ndarray):
        return value.size
    return 1 + sum(_n_values(inner) for _, inner in parts_of(value))


def _categories(step: Any, columns: Any = None) -> Iterator[tuple[Any, Array]]:
    """Yield the columns that an encoder reads, each with the categories it knows."""
    for _, part, places in getattr(step, "transformers_", ()):
        if isinstance(places, list | np.ndarray):
            yield from _categories(part, places)
    for _, part in getattr(step, "steps", ()):
        yield from _categories(part, columns)
    known = getattr(step, "categories_", ())
    if len(known):
        yield from zip(range(len(known)) if columns is None else columns, known, strict=True)


def _use(part: Any, rows: Any) -> Any:
    """Ask a part of a model all that it offers; return what the next part gets."""
    if hasattr(part, "steps"):
        for _, step in part.steps:
            rows = _use(step, rows)
        return rows
    if part == "passthrough":
        return rows
    if not isinstance(part, BaseEstimator):
        raise ValueError(f"one of its steps is a {type(part).__name__}")
    if isinstance(part, PairClassifier | MetricClassifier):
        _use(part.estimator_, rows)
    ours = isinstance(part, MetricLearner | PairClassifier | MetricClassifier)
    try:
        answers = _answers(part, rows)
    except ValueError as error:
        if "Buffer dtype mismatch" in str(error):  # KMeans that was fitted on float32
            raise _OtherRowsWanted from None
        if ours or _SHAPES.search(str(error)):
            raise
        raise _OtherRowsWanted from None
    for name, answer in answers.items():
        of_pairs = name in _OF_PAIRS or isinstance(part, PairClassifier)
        _check_answer(name, answer, len(_PAIRS) if of_pairs else _ROWS, of_ours=ours)
    if "predict_proba" in answers:
        _agree("classes_", len(part.classes_), answers["predict_proba"].shape[1])
    return answers.get("transform", rows)


def _answers(part: Any, rows: Any) -> dict[str, Any]:
    """Return what the methods of a part answer."""
    decides = isinstance(part, PairClassifier)
    of_points = () if decides else _OF_POINTS
    answers = {name: getattr(part, name)(rows) for name in of_points if hasattr(type(part), name)}
    for name in (*_OF_PAIRS, *(_OF_POINTS if decides else ())):
        if hasattr(part, name):
            answers[name] = getattr(part, name)(_PAIRS, rows)
    if hasattr(part, "get_feature_names_out"):
        part.get_feature_names_out()
    return answers


def _check_answer(name: str, answer: Any, n: int, *, of_ours: bool) -> None:
    if name == "kneighbors" or hasattr(answer, "nnz"):  # two arrays; a sparse one
        return
    values = np.asarray(answer)  # of a data frame, too
    if values.shape[:1] != (n,):
        raise ValueError(f"its {name} does not answer once for each row or pair")
    if of_ours and name != "predict" and values.dtype.kind not in "fiub":
        raise ValueError(f"its {name} answers something else than numbers")
    if values.dtype.kind == "f" and np.isnan(values).any():
        raise ValueError(f"its {name} answers NaN")
