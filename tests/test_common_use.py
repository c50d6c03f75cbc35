"""What holds of every fitted learner: frames, methods, warnings."""

import re
import warnings
from contextlib import suppress

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.spatial.distance import pdist
from sklearn.cluster import HDBSCAN, OPTICS
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from seraph import (
    SERAPH,
    MetricClassifier,
    PairClassifier,
)
from seraph.classic import (
    MLKR,
)
from tests.helpers.everyone import (
    ESTIMATORS,
    EVERY,
    NEW,
    SOME,
    Y_ALL,
    M,
    N,
    X,
    Y,
    expected_outcome,
    fitted,
    make,
    outcome,
)

# Data frames

NAMES = [f"feature {k}" for k in range(M)]
FRAMES = {
    "pandas": lambda points, names=NAMES: pd.DataFrame(points, columns=names),
    "polars": lambda points, names=NAMES: pl.DataFrame(points, schema=names),
}
COLUMNS = {"pandas": pd.Series, "polars": pl.Series}


@SOME
@pytest.mark.parametrize("library", FRAMES)
def test_a_frame_gives_the_names_of_its_columns_and_the_same_result(Estimator, library):
    frame = FRAMES[library]
    estimator = fitted(Estimator, frame(X), COLUMNS[library](Y))
    assert list(estimator.feature_names_in_) == NAMES
    assert estimator.n_features_in_ == M
    found, expected = outcome(estimator, frame(NEW)), expected_outcome(Estimator)
    if hasattr(estimator, "transform"):  # directions of equal weight may be turned
        found, expected = pdist(found), pdist(expected)
    np.testing.assert_allclose(found, expected, atol=1e-6)
    with pytest.raises(ValueError, match="feature names should match"):
        outcome(estimator, frame(NEW, NAMES[::-1]))
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        outcome(estimator, NEW)


@EVERY
@pytest.mark.parametrize("method", ["pair_distance", "pair_proba", "predict", "predict_proba"])
def test_pairs_of_rows_of_a_frame_with_other_columns_are_refused(Estimator, method):
    if not hasattr(Estimator, method) or (Estimator is MetricClassifier):
        return  # takes no pairs of rows
    estimator, frame = fitted(Estimator, FRAMES["pandas"](X), Y), FRAMES["pandas"](NEW)
    expected = getattr(estimator, method)([[0, 1], [2, 3]], frame)
    assert len(expected) == 2
    with pytest.raises(ValueError, match="feature names should match"):
        getattr(estimator, method)([[0, 1], [2, 3]], frame[NAMES[::-1]])


@EVERY
def test_a_metric_as_a_function_has_a_hash_and_clusters(Estimator):
    """scikit-learn looks metrics up in sets, and compares them with names."""
    if not hasattr(Estimator, "get_metric"):
        return
    metric = fitted(Estimator).get_metric()
    assert metric == metric  # noqa: PLR0124 (an array of components would not say)
    assert metric != "euclidean"
    assert len({metric}) == 1
    for cluster in (HDBSCAN(metric=metric, copy=True), OPTICS(metric=metric)):
        assert len(cluster.fit_predict(X[:20])) == 20


@EVERY
def test_the_mapped_features_are_named_after_the_class(Estimator):
    if not hasattr(Estimator, "transform"):
        return  # maps to classes
    frames = {"pandas": pd.DataFrame, "polars": pl.DataFrame}
    estimator = fitted(Estimator)
    names = [f"{Estimator.__name__.lower()}{k}" for k in range(estimator.transform(X).shape[1])]
    assert list(estimator.get_feature_names_out()) == names
    expected = estimator.transform(NEW)
    for library, frame in frames.items():
        mapped = estimator.set_output(transform=library).transform(NEW)
        assert isinstance(mapped, frame)
        assert list(mapped.columns) == names
        np.testing.assert_array_equal(mapped.to_numpy(), expected)


# Methods

PAIRS = NEW[:2][np.newaxis]
METHODS = {
    "get_feature_names_out": (),
    "get_mahalanobis_matrix": (),
    "get_metric": (),
    "pair_distance": (PAIRS,),
    "pair_proba": (PAIRS,),
    "predict": (NEW,),
    "predict_proba": (NEW,),
    "score": (NEW, Y_ALL[:7]),
    "transform": (NEW,),
}
# Of these estimators, the methods with a name from above take pairs.
OF_PAIRS = {PairClassifier: ("predict", "predict_proba")}
# Methods that need no fit.
NOT_ASKED = {"fit", "fit_transform", "get_metadata_routing", "get_params"}


def methods(Estimator):
    """Public methods that answer from what was learned."""
    names = {name for name in dir(Estimator) if not name.startswith(("_", "set_"))}
    return [name for name in sorted(names - NOT_ASKED) if callable(getattr(Estimator, name))]


def arguments(Estimator, name):
    """What a method takes."""
    assert name in METHODS, f"say in METHODS what {name} takes"
    return (PAIRS,) if name in OF_PAIRS.get(Estimator, ()) else METHODS[name]


@EVERY
def test_what_is_not_fitted_says_so(Estimator):
    assert methods(Estimator)
    for name in methods(Estimator):
        with pytest.raises(NotFittedError, match=f"This {Estimator.__name__} instance"):
            getattr(make(Estimator), name)(*arguments(Estimator, name))


@EVERY
def test_points_of_another_width_are_refused(Estimator):
    estimator = fitted(Estimator)
    for name in methods(Estimator):
        if METHODS[name]:
            points, *others = arguments(Estimator, name)
            with pytest.raises(ValueError, match=rf"{M} features|\(n_pairs, 2, {M}\)"):
                getattr(estimator, name)(points[..., :-1], *others)


@EVERY
def test_points_that_are_not_finite_are_refused(Estimator):
    estimator = fitted(Estimator)
    for name in methods(Estimator):
        if METHODS[name]:
            points, *others = arguments(Estimator, name)
            for value, message in ((np.nan, "NaN"), (np.inf, "infinity")):
                spoiled = points.copy()
                spoiled[-1, ..., -1] = value
                with pytest.raises(ValueError, match=message):
                    getattr(estimator, name)(spoiled, *others)


# Warnings

MODEL = {SERAPH}


def fit_here(estimator, points, y):
    return estimator.fit(points, y)


HERE = (__file__, fit_here.__code__.co_firstlineno + 1)


def warnings_of(estimator, points=X, y=Y, caught=None):
    """Return the warnings of a fit; also add them to `caught`, should the fit fail."""
    with warnings.catch_warnings(record=True) as own:
        warnings.simplefilter("always")
        warnings.filterwarnings("ignore", "The number of unique classes is greater than 50%")
        try:
            fit_here(estimator, points, y)
        finally:
            if caught is not None:
                caught += own
    return own


@EVERY
def test_stopping_early_warns_once_at_the_line_of_the_caller_by_the_name_of_the_class(Estimator):
    estimator = make(Estimator)
    if hasattr(estimator, "learner"):
        estimator.set_params(learner=SERAPH(max_iter=1, tol=0))
    elif Estimator is MetricClassifier:
        estimator.set_params(estimator=SERAPH(max_iter=1, tol=0))
    elif Estimator is PairClassifier:
        return  # warns of each of its fits
    elif hasattr(estimator, "max_iter"):
        estimator.set_params(max_iter=1, tol=0)
    else:
        return  # does not search
    (warning,) = warnings_of(estimator)
    assert warning.category is ConvergenceWarning
    # Of a learner inside, it is the learner that has not converged.
    name = "SERAPH" if Estimator is MetricClassifier else Estimator.__name__
    assert re.match(rf"{name} has not converged", str(warning.message))
    assert (warning.filename, warning.lineno) == HERE


# What deserves a warning, and of which estimators; a classifier warns like its learner.
DOUBTFUL = {
    "similar pairs alone": (X, np.where(Y >= 0, 0, -1), MODEL),
    "dissimilar pairs alone": (X, np.where(Y >= 0, np.arange(N), -1), MODEL),
    "scales far apart": (X * np.logspace(0, 6, M), Y, MODEL),
    "a word for unknown": (
        X,
        np.where(Y < 0, "?", Y.astype(str)),
        set(ESTIMATORS) - {MLKR},  # which learns from numbers
    ),
}


@EVERY
def test_minus_one_is_no_class_for_any_estimator(Estimator):
    """Nor do two classes of these names become one in silence."""
    estimator = make(Estimator)
    if Estimator is MLKR:
        return  # learns from numbers
    caught = []
    with suppress(ValueError):  # most learners need two classes
        warnings_of(estimator, y=np.where(Y == 0, -1, 1), caught=caught)
        assert -1 not in getattr(estimator, "classes_", [])
    messages = [str(warning.message) for warning in caught]
    assert any("If -1 is a class, name the classes 0 and 1" in text for text in messages)


@pytest.mark.parametrize(
    ("Estimator", "doubt"),
    [
        (E, doubt)
        for E in ESTIMATORS
        for doubt, (_, _, warn) in DOUBTFUL.items()
        if {E, SERAPH if E is MetricClassifier else type(getattr(make(E), "learner", None))} & warn
    ],
    ids=lambda value: value if isinstance(value, str) else value.__name__,
)
def test_every_warning_points_to_the_line_of_the_caller(Estimator, doubt):
    points, y, warn = DOUBTFUL[doubt]
    caught = warnings_of(make(Estimator), points, y)
    assert {(warning.filename, warning.lineno) for warning in caught} <= {HERE}
    assert caught or Estimator not in warn
