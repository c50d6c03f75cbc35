"""What holds of every learner; a new one is tested as soon as a package exports it."""

import inspect
import re
import warnings
from contextlib import suppress

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.spatial.distance import pdist
from sklearn.base import clone, is_classifier
from sklearn.cluster import HDBSCAN, OPTICS
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_classifiers_classes, check_estimator

from seraph import SERAPH, MeanMetric, MetricClassifier, PairClassifier
from seraph.classic import GDM, ITML, LFDA, LMNN, LSML, MLKR, NCA, RCA, SCML, SDML, Euclidean
from tests.helpers.everyone import (
    ESTIMATORS,
    EVERY,
    NEW,
    SAMPLE,
    SOME,
    UNSUPERVISED,
    Y_ALL,
    M,
    N,
    X,
    Y,
    assert_untouched,
    expected_outcome,
    fitted,
    make,
    outcome,
)
from tests.helpers.quick import few

# What scikit-learn asks of an estimator

SETTINGS = [
    *map(make, ESTIMATORS),
    SERAPH(solver="em"),
    SERAPH(n_components=1),
    SERAPH(n_jobs=2),
    SERAPH(gamma=2.0),
    SERAPH(manifold=0.1),
    MeanMetric(weights=[2, 1, 1], n_components=2),
    MetricClassifier(Euclidean()),
    GDM(diagonal=True),
    ITML(prior="covariance"),
    LMNN(n_components=1),
    NCA(n_components=1),
    RCA(n_components=1),
    LFDA(n_components=1),
    LSML(prior="covariance"),
    MLKR(n_components=1),
    SDML(prior="covariance"),
]
# How the warnings begin that scikit-learn's odd data sets deserve; no others are allowed.
MAY_WARN = {
    GDM: "GDM has not converged",
    ITML: "ITML has not converged",
    MeanMetric: "",
    SERAPH: "",
}


# These call predict with points, and that of PairClassifier takes pairs of points.
WITH_PAIRS = (
    "check_n_features_in_after_fitting",
    "check_estimators_dtypes",
    "check_dtype_object",
    "check_estimators_nan_inf",
    "check_estimators_pickle",
    "check_f_contiguous_array_estimator",
    "check_methods_sample_order_invariance",
    "check_methods_subset_invariance",
    "check_fit2d_1sample",  # one row has no pair, which the message says
    "check_dict_unchanged",
    "check_fit_idempotent",
    "check_fit2d_predict1d",
)


@pytest.mark.parametrize(
    "estimator",
    few(SETTINGS, lambda made: type(made) in SAMPLE and repr(made) == repr(make(type(made)))),
    ids=repr,
)
def test_check_estimator(estimator):
    learner = getattr(estimator, "learner", None) or getattr(estimator, "estimator", estimator)
    with warnings.catch_warnings():
        if type(learner) in MAY_WARN:
            warnings.filterwarnings("ignore", MAY_WARN[type(learner)])
        other = WITH_PAIRS if isinstance(estimator, PairClassifier) else ()
        expected = dict.fromkeys(other, "takes pairs")
        if isinstance(estimator, MetricClassifier):
            warnings.filterwarnings("ignore", "1 and -1 are the only labels")
            expected = {"check_classifiers_classes": "-1 is a class there"}
            # scikit-learn knows its own semi-supervised classifiers by name.
            check_classifiers_classes("LabelPropagation", estimator)
        results = check_estimator(estimator, on_skip=None, expected_failed_checks=expected)
    skipped = {result["check_name"] for result in results if result["status"] == "skipped"}
    assert skipped <= {"check_array_api_input"}  # needs an environment variable of scipy
    assert sum(result["status"] == "passed" for result in results) > (20 if other else 30)
    for result in results:
        if result["status"] == "xfail" and result["check_name"] in set(other) - {
            "check_fit2d_1sample"
        }:
            assert re.search("pairs must have shape|predict", str(result["exception"]))


# Parameters


def numbers(low, *, whole=False, optional=False):
    """Values to refuse where a number of at least `low` is due."""
    bad = [low - 1, np.nan, np.inf, "word", [3], True, 3j]
    return [*bad, *[low + 0.5] * whole, *[None] * (not optional)]


CHOICES = ["no such choice", 3, None]
FLAGS = ["yes", 2, None]
# Values that each parameter must refuse, whatever the estimator; or for one estimator alone.
BAD = {
    "base_rate": [0, 1, *numbers(0, optional=True)],
    "balance": [-0.1, 1.0, 10**400, np.nan, "half", None, True, [0.5]],
    "beta": numbers(0),
    (LFDA, "beta"): [-0.1, 1.0, 10**400, np.nan, "half", None, True, [0.5]],
    "bounds": [3.0, (1.0,), (1.0, -2.0), (0.0, 2.0), (1.0, np.nan), "ul"],
    "callback": [3, [print], "print"],
    "cv": numbers(2, whole=True),
    "diagonal": FLAGS,
    "dissimilar_weight": numbers(0),
    "estimator": ["SERAPH", SERAPH, 3, KNeighborsClassifier()],
    "eta": numbers(0),
    "forest": FLAGS,
    "floor": [-0.1, 1.1, np.nan, "low", None, True, [0.5]],
    "gamma": numbers(0, optional=True),
    (ITML, "gamma"): numbers(0),
    (LSML, "gamma"): numbers(0),
    "init": CHOICES,
    "lam": numbers(0),
    "learner": ["SERAPH", SERAPH, 3],
    "learners": [
        [],
        "SERAPH",
        SERAPH(),
        [SERAPH()],
        [("a", SERAPH)],
        [("a", 3)],
        [("a", None)],
        [("a", Euclidean()), ("a", Euclidean())],
        [("weights", Euclidean())],
        [("a__b", Euclidean())],
        [("a", make_pipeline(Euclidean()))],
        [("a", PairClassifier())],
        [("a", StandardScaler())],
    ],
    "rule": ["knn", 1, None],
    "manifold": numbers(0),
    "n_trees": numbers(1, whole=True),
    "min_samples_leaf": numbers(1, whole=True),
    "max_iter": numbers(1, whole=True),
    "mu": numbers(0),
    "n_basis": numbers(1, whole=True, optional=True),
    "n_components": numbers(1, whole=True, optional=True),
    "n_constraints": numbers(1, whole=True, optional=True),
    (GDM, "n_constraints"): ["all", 3, True, [None]],
    (LSML, "n_constraints"): numbers(1, whole=True),
    (SCML, "n_constraints"): numbers(1, whole=True),
    "n_impostors": numbers(1, whole=True),
    "n_jobs": [0, 1.5, "all"],
    "n_landmarks": numbers(2, whole=True),
    "n_neighbors": numbers(1, whole=True),
    "prior": CHOICES,
    "push_weight": [0.0, 1.0, "half", None, np.nan, [0.5]],
    "random_state": ["seed", 1.5, -1, [None]],
    "ridge": numbers(0),
    "similar_weight": numbers(0),
    "solver": CHOICES,
    "sparsity": numbers(0),
    "strategy": [*CHOICES, "recall"],
    "t": [-0.1, 1.1, np.nan, "half", None, True, [0.5]],
    "target": [0.5],
    "tol": numbers(0),
    "unlabeled_pairs": [0, -1, 0.0, -0.5, 1.5, np.nan, np.inf, True, False, "some", None, [5]],
    "verbose": ["loud", -1, None],
    "warm_start": FLAGS,
    "weights": ["auto", 3, [1, 1], [1, -1, 1], [0, 0, 0], [np.nan, 1, 1], [1, "a", 1]],
}


@pytest.mark.parametrize(
    ("Estimator", "name"),
    [(E, name) for E in ESTIMATORS for name in inspect.signature(E).parameters],
    ids=lambda value: value if isinstance(value, str) else value.__name__,
)
def test_a_bad_parameter_is_refused_by_its_name_and_nothing_is_written(Estimator, name):
    values = BAD.get((Estimator, name), BAD.get(name))
    assert values is not None, f"say in BAD which values of {name} must be refused"
    for value in values:
        estimator = make(Estimator, **{name: value})
        before = dict(vars(estimator))
        with pytest.raises((ValueError, TypeError), match=rf"\b{name}\b"):
            pytest.fail(f"{estimator.fit(X, Y)} takes {name}={value!r}")
        assert_untouched(estimator, before)


@EVERY
def test_repr_is_the_call_that_makes_it(Estimator):
    estimator = make(Estimator)
    names = {E.__name__: E for E in [*ESTIMATORS, StandardScaler]}
    again = eval(repr(estimator), names)
    assert repr(again) == repr(estimator)
    assert type(again) is Estimator


# Copies


@EVERY
def test_a_clone_is_not_fitted_and_each_of_its_fits_gives_the_same_bits(Estimator):
    other = clone(fitted(Estimator))
    assert set(vars(other)) == set(inspect.signature(Estimator).parameters)
    for _ in range(2):
        assert other.fit(X, Y) is other
        np.testing.assert_array_equal(outcome(other, NEW), expected_outcome(Estimator))


# Fitting


@EVERY
def test_fit_writes_no_parameter_and_only_names_that_end_in_an_underscore(Estimator):
    estimator = make(Estimator)
    before = dict(vars(estimator))
    estimator.fit(X, Y)
    assert all(vars(estimator)[name] is value for name, value in before.items())
    learned = set(vars(estimator)) - set(before)
    assert learned
    assert all(name.endswith("_") and not name.startswith("_") for name in learned)
    assert estimator.n_features_in_ == M
    assert not hasattr(estimator, "feature_names_in_")


BAD_DATA = {
    "NaN": (np.where(X > 2.0, np.nan, X), Y, "contains NaN"),
    "infinity": (np.where(X > 2.0, np.inf, X), Y, "contains infinity"),
    "text": (X.astype(str).astype(object) + "?", Y, "could not convert string to float"),
    "complex numbers": (X + 1j, Y, "[Cc]omplex data not supported"),
    "one dimension": (X[:, 0], Y, "2D array"),
    "no row": (X[:0], Y[:0], "minimum of .* required|0 row|n_samples = 0"),
    "no feature": (X[:, :0], Y, r"0 feature\(s\)"),
    "too few labels": (X, Y[:-1], f"{N - 1}.*{N}|{N}.*{N - 1}"),
    "labels in two columns": (X, np.c_[Y, Y], "1d array|shape"),
}


@EVERY
@pytest.mark.parametrize("flaw", BAD_DATA)
def test_bad_data_are_refused_and_the_last_fit_stays(Estimator, flaw):
    points, y, message = BAD_DATA[flaw]
    fresh, old = make(Estimator), fitted(Estimator)
    for estimator in (fresh, old):
        before = dict(vars(estimator))
        with pytest.raises(ValueError, match=message):
            estimator.fit(points, y)
        assert_untouched(estimator, before)


@EVERY
def test_labels_that_say_nothing_are_refused_and_the_last_fit_stays(Estimator):
    if Estimator in UNSUPERVISED:
        return  # learns nothing from them
    estimator = fitted(Estimator)
    before = dict(vars(estimator))
    for y in (None, np.full(N, -1)):
        with pytest.raises(ValueError, match=r"\by\b.*None|label"):
            estimator.fit(X[:, :2], y)
        assert_untouched(estimator, before)


@EVERY
def test_the_input_is_left_as_it_was(Estimator):
    points, y = X.copy(), Y.copy()
    outcome(make(Estimator).fit(points, y), points)
    np.testing.assert_array_equal(points, X)
    np.testing.assert_array_equal(y, Y)


@SOME
def test_whole_numbers_are_taken_as_floats(Estimator):
    whole = np.round(10 * X).astype(int)
    np.testing.assert_array_equal(
        outcome(fitted(Estimator, whole), whole),
        outcome(fitted(Estimator, whole.astype(float)), whole.astype(float)),
    )


@EVERY
def test_float32_comes_in_and_goes_out(Estimator):
    single, double = fitted(Estimator, X.astype(np.float32)), fitted(Estimator)
    if isinstance(single, PairClassifier):
        return  # probabilities are in double precision
    if is_classifier(single):
        np.testing.assert_array_equal(single.predict(NEW.astype(np.float32)), double.predict(NEW))
        return
    mapped = single.transform(NEW.astype(np.float32))
    assert mapped.dtype == np.float32
    assert single.transform(NEW).dtype == np.float64
    assert double.transform(NEW.astype(np.float32)).dtype == np.float32
    expected = pdist(double.transform(NEW))
    np.testing.assert_allclose(pdist(mapped), expected, atol=0.02 * expected.max())


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
    estimator = fitted(Estimator)
    names = [f"{Estimator.__name__.lower()}{k}" for k in range(estimator.transform(X).shape[1])]
    assert list(estimator.get_feature_names_out()) == names
    expected = estimator.transform(NEW)
    for library, frame in (("pandas", pd.DataFrame), ("polars", pl.DataFrame)):
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


def ending_in(points, value):
    """Points whose last number is another one."""
    spoiled = points.copy()
    spoiled[-1, ..., -1] = value
    return spoiled


@EVERY
def test_points_of_another_width_or_that_are_not_finite_are_refused(Estimator):
    estimator = fitted(Estimator)
    for name in methods(Estimator):
        if METHODS[name]:
            points, *others = arguments(Estimator, name)
            for spoiled, message in (
                (points[..., :-1], rf"{M} features|\(n_pairs, 2, {M}\)"),
                (ending_in(points, np.nan), "NaN"),
                (ending_in(points, np.inf), "infinity"),
            ):
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
    assert not getattr(estimator, "converged_", False)
    assert getattr(estimator, "n_iter_", 1) == 1


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
