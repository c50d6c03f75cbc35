"""What metric-learn's documentation promises, with one import changed."""

import importlib
import inspect
import pickle
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.utils.estimator_checks import check_estimator

from seraph import Marks, classic
from seraph.compat import metric_learn
from seraph.compat.metric_learn import Constraints
from seraph.compat.metric_learn._base import (
    MahalanobisMixin,
    NonPSDError,
    PreprocessorError,
)
from seraph.compat.metric_learn._starts import first_map

X, Y = load_iris(return_X_y=True)
ORDER = np.random.default_rng(0).permutation(len(X))[:60]
X, Y = X[ORDER], Y[ORDER]
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    A, B, C, D = Constraints(Y).positive_negative_pairs(40, same_length=True, random_state=0)
PAIRS = np.vstack([np.column_stack([A, B]), np.column_stack([C, D])])
SIGNS = np.repeat([1, -1], [len(A), len(C)])
QUADRUPLETS = np.column_stack([A, B, C, D])
TRIPLETS = Constraints(Y).generate_knntriplets(X, 2, 2)

CLASSES = {
    name: value
    for name in metric_learn.__all__
    if inspect.isclass(value := getattr(metric_learn, name)) and issubclass(value, BaseEstimator)
}
ARGUMENTS = {
    "LMNN": {"max_iter": 60},
    "RCA_Supervised": {"n_chunks": 10},
    "SDML": {"balance_param": 1e-4},
    "SDML_Supervised": {"balance_param": 1e-4},
    "SCML": {"n_basis": 20},
    "SCML_Supervised": {"n_basis": 20},
}
ROWS = {
    "ITML": (PAIRS, SIGNS),
    "MMC": (PAIRS, SIGNS),
    "SDML": (PAIRS, SIGNS),
    "LSML": (QUADRUPLETS,),
    "SCML": (TRIPLETS,),
    "Covariance": (np.arange(60),),
}
USED = np.unique(X[PAIRS].reshape(-1, 4), axis=0)
BOUNDS = tuple(np.percentile(cdist(USED, USED), (5, 95)).tolist())
EVERY = pytest.mark.parametrize("name", CLASSES)
OF_PAIRS = pytest.mark.parametrize("name", ["ITML", "MMC", "SDML"])


def make(name, **parameters):
    learner = CLASSES[name](**ARGUMENTS.get(name, {}) | parameters)
    return learner.set_params(random_state=0) if "random_state" in vars(learner) else learner


def rows_for(name):
    """The numbers of the rows that a learner is fitted on, and their labels."""
    return ROWS.get(name, (np.arange(60), Y))


def fitted(name, *, by_rows=False, **parameters):
    """A learner that was shown points, or row numbers for a preprocessor."""
    rows, *labels = rows_for(name)
    if by_rows:
        return make(name, preprocessor=X, **parameters).fit(rows, *labels)
    return make(name, **parameters).fit(X[rows], *labels)


# All learners


@EVERY
def test_a_fitted_learner_maps_points_so_that_all_its_distances_agree(name):
    learner = fitted(name)
    assert isinstance(learner, MahalanobisMixin)
    assert learner.components_.shape == (4, 4)
    Z = learner.transform(X)
    assert_allclose(Z, X @ learner.components_.T)
    distances = np.linalg.norm(Z[PAIRS[:, 0]] - Z[PAIRS[:, 1]], axis=1)
    assert distances.max() > 0.0
    assert_allclose(learner.pair_distance(X[PAIRS]), distances, atol=1e-9)
    assert_allclose(learner.pair_score(X[PAIRS]), -distances, atol=1e-9)
    matrix, metric = learner.get_mahalanobis_matrix(), learner.get_metric()
    gap = X[0] - X[1]
    assert metric(X[0], X[1]) == pytest.approx(np.sqrt(gap @ matrix @ gap), abs=1e-9)
    assert metric(X[0], X[1], squared=True) == pytest.approx(gap @ matrix @ gap, abs=1e-9)


@EVERY
def test_row_numbers_and_a_preprocessor_give_the_same_as_points(name):
    points, rows = fitted(name), fitted(name, by_rows=True)
    assert_allclose(rows.components_, points.components_, atol=1e-8)
    assert_allclose(rows.transform(np.arange(60)), points.transform(X), atol=1e-6)
    assert_allclose(rows.transform(X), points.transform(X), atol=1e-6)
    assert_allclose(rows.pair_distance(PAIRS), points.pair_distance(X[PAIRS]), atol=1e-6)


@EVERY
def test_a_metric_stays_as_it_was_when_its_learner_changes(name):
    learner = fitted(name)
    metric = learner.get_metric()
    before = metric(X[0], X[1])
    learner.components_ = 2 * learner.components_
    assert metric(X[0], X[1]) == before == pickle.loads(pickle.dumps(metric))(X[0], X[1])
    neighbors = KNeighborsClassifier(1, metric=metric, algorithm="brute").fit(X, Y)
    assert_array_equal(neighbors.predict(X), Y)


@EVERY
def test_every_learner_tells_the_classes_apart(name):
    more = {"n_constraints": 200} if "n_constraints" in vars(CLASSES[name]()) else {}
    Z = fitted(name, **more).transform(X)
    assert KNeighborsClassifier(3).fit(Z[::2], Y[::2]).score(Z[1::2], Y[1::2]) >= 0.9


SMALL = {
    "RCA_Supervised": {"n_chunks": 2},
    "SCML_Supervised": {"n_basis": 10},
    "SDML_Supervised": {"balance_param": 1e-5},
}


# Fits of the small data sets of check_estimator take most of the time of this file.
@pytest.mark.parametrize(
    "learner",
    [
        metric_learn.Covariance(),
        *(
            pytest.param(CLASSES[name](**SMALL.get(name, {})), marks=pytest.mark.slow)
            for name in CLASSES
            if name in ("LFDA", "LMNN", "MLKR", "NCA") or name.endswith("_Supervised")
        ),
    ],
    ids=repr,
)
def test_check_estimator(learner):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_estimator(learner, on_skip=None)


STARTS = ("auto", "pca", "identity", "random", np.eye(2, 4))


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        *((name, {"init": init}) for name in ("NCA", "MLKR", "LMNN") for init in STARTS),
        *((name, {}) for name in ("LFDA", "RCA", "RCA_Supervised")),
    ],
)
def test_the_number_of_components_is_the_one_asked_for_from_any_start(name, parameters):
    assert fitted(name, n_components=2, **parameters).transform(X).shape == (60, 2)


def test_discriminants_have_the_scale_that_metric_learn_starts_from():
    # The numbers are metric-learn's with scikit-learn 1.7.2; scikit-learn 1.9 scales otherwise.
    points, y = load_iris(return_X_y=True)
    first = first_map("lda", points, y, 2, None)
    expected = [
        [0.82937764, 1.53447307, 2.20121166, 2.81046031],
        [0.02410215, 2.16452123, 0.93192121, 2.83918785],
    ]
    assert_allclose(np.abs(first), expected, rtol=1e-6)
    start = make("NCA", init="lda", n_components=2, max_iter=5).fit(points, y)
    same = make("NCA", init=first, n_components=2, max_iter=5).fit(points, y)
    assert_array_equal(start.components_, same.components_)


REFUSED = [
    ("MLKR", {"init": "lda"}, "init must"),
    ("NCA", {"init": "no such"}, "init must"),
    ("NCA", {"init": np.eye(3)}, "init must"),
    ("LMNN", {"init": np.eye(3)}, "init must"),
    ("NCA", {"preprocessor": 3}, "preprocessor must be None, a table"),
    ("LFDA", {"embedding_type": "heavy"}, "embedding_type must be"),
    ("SCML", {"basis": "lda"}, "basis"),
    ("SCML_Supervised", {"k_genuine": 1.5}, "k_genuine must be a finite whole number"),
    ("LMNN", {"n_components": 5}, "n_components"),
    *(
        (name, {parameter: "many"}, parameter)
        for name in CLASSES
        for parameter in ("max_iter", "n_components", "n_constraints", "n_chunks")
        if parameter in CLASSES[name]().get_params()
    ),
    *(
        (name, {"prior": prior}, message)
        for name in ("ITML", "SDML", "LSML", "ITML_Supervised")
        for prior, message in (
            ("no such", "prior must be"),
            (np.triu(np.ones((4, 4))), "not symmetric"),
            (np.diag([1.0, 1.0, 1.0, -1.0]), (NonPSDError, None)),
            (np.diag([1.0, 1.0, 1.0, 0.0]), (np.linalg.LinAlgError, "not positive definite")),
        )
    ),
]


@pytest.mark.parametrize(("name", "parameters", "said"), REFUSED)
def test_settings_that_cannot_be_meant_are_refused(name, parameters, said):
    error, message = said if isinstance(said, tuple) else (ValueError, said)
    with pytest.raises(error, match=message):
        fitted(name, **parameters)


@pytest.mark.parametrize("name", ["NCA", "LMNN", "LFDA", "RCA_Supervised"])
def test_classes_that_are_fractions_are_refused(name):
    with pytest.raises(ValueError, match="Unknown label type"):
        make(name).fit(X, Y + 0.5)


def test_the_modules_of_metric_learn_have_their_names():
    for module, name in (("itml", "ITML"), ("covariance", "Covariance"), ("sdml", "_BaseSDML")):
        home = importlib.import_module(f"seraph.compat.metric_learn.{module}")
        assert getattr(home, name).__name__ == name
    home = importlib.import_module("seraph.compat.metric_learn.exceptions")
    assert home.NonPSDError is NonPSDError


# Preprocessors


def test_a_preprocessor_may_be_a_function_of_any_indicators():
    table = {f"point {row}": x for row, x in enumerate(X)}
    calls = []

    def load(names):
        calls.append(len(names))
        return np.stack([table[name] for name in names])

    names = np.array(list(table))
    learner = make("ITML", preprocessor=load).fit(names[PAIRS], SIGNS)
    assert_allclose(learner.components_, fitted("ITML").components_)
    assert calls
    assert_array_equal(learner.predict(names[PAIRS]), fitted("ITML").predict(X[PAIRS]))
    with pytest.raises(PreprocessorError, match="KeyError"):
        learner.transform(["no such point"])


# Pairs


@OF_PAIRS
def test_pairs_are_told_apart_by_a_threshold(name):
    learner = fitted(name)
    distances = learner.pair_distance(X[PAIRS])
    assert_allclose(learner.decision_function(X[PAIRS]), -distances)
    assert_array_equal(learner.predict(X[PAIRS]), np.where(distances <= learner.threshold_, 1, -1))
    assert learner.score(X[PAIRS], SIGNS) == pytest.approx(roc_auc_score(SIGNS, -distances))
    assert np.mean(learner.predict(X[PAIRS]) == SIGNS) > 0.6
    assert learner.set_threshold(distances.max() + 1) is learner
    assert (learner.predict(X[PAIRS]) == 1).all()
    for threshold in ("far", None, [1, 2]):
        with pytest.raises(ValueError, match="threshold must be a finite number"):
            learner.set_threshold(threshold)


@OF_PAIRS
def test_calibration_can_be_part_of_the_fit(name):
    strict = {"strategy": "max_tpr", "min_rate": 1.0}
    learner = make(name).fit(X[PAIRS], SIGNS, calibration_params=strict)
    assert not (learner.predict(X[PAIRS])[SIGNS == -1] == 1).any()
    for bad in ({"strategy": "luck"}, {"strategy": "max_tpr"}):
        with pytest.raises(ValueError, match=r"strategy|min_rate"):
            make(name).fit(X[PAIRS], SIGNS, calibration_params=bad)


@OF_PAIRS
def test_bad_pairs_are_refused(name):
    learner = make(name)
    for pairs, signs, message in (
        (X[PAIRS], (SIGNS > 0).astype(int), r"\+1 for pairs"),
        (PAIRS, SIGNS, "3D array"),
        (X[TRIPLETS][: len(SIGNS)], SIGNS, r"\(n_pairs, 2, n_features\)"),
        (X[PAIRS], SIGNS[:-1], "inconsistent numbers of samples"),
    ):
        with pytest.raises(ValueError, match=message):
            learner.fit(pairs, signs)
    with pytest.raises(NotFittedError):
        learner.predict(X[PAIRS])
    learner.fit(X[PAIRS], SIGNS)
    with pytest.raises(ValueError, match="3 features"):
        learner.predict(X[PAIRS][:, :, :3])
    del learner.threshold_
    with pytest.raises(AttributeError, match="has no threshold yet"):
        learner.predict(X[PAIRS])


# Each learner is one of seraph.classic


ALL_PAIRS = {"n_constraints": None}
SOLVER = {"max_iter": 100, "tol": 1e-3}
TRANSLATED = [
    ("Covariance", {}, classic.Covariance()),
    ("ITML", {"tol": 1e-6}, classic.ITML(gamma=1.0, bounds=BOUNDS, tol=1e-6, **ALL_PAIRS)),
    ("LFDA", {"k": 3}, classic.LFDA(n_neighbors=3, beta=0.0)),
    ("LMNN", {}, classic.LMNN(max_iter=60)),
    ("LSML", {}, classic.LSML(gamma=1.0)),
    ("MLKR", {"tol": 1e-5}, classic.MLKR()),
    ("MMC", {}, classic.GDM(**ALL_PAIRS, **SOLVER)),
    ("MMC", {"diagonal": True}, classic.GDM(diagonal=True, **ALL_PAIRS, **SOLVER)),
    ("NCA", {"tol": 1e-5}, classic.NCA(max_iter=100)),
    ("RCA", {}, classic.RCA(ridge=0.0)),
]


@pytest.mark.parametrize(("name", "parameters", "ours"), TRANSLATED)
def test_a_stand_in_learns_the_metric_of_the_classic_learner(name, parameters, ours):
    rows, *labels = rows_for(name)
    if name in ("ITML", "MMC"):
        marks = Marks(np.arange(2 * len(rows)).reshape(-1, 2), labels[0], rows=2 * len(rows))
        ours.fit(X[rows.ravel()], marks=marks)
    elif name == "LSML":
        ours.fit(X, quadruplets=rows)
    else:
        ours.fit(X[rows], *labels)
    expected = ours.get_mahalanobis_matrix()
    matrix = fitted(name, **parameters).get_mahalanobis_matrix()
    if name == "MMC":  # in another unit
        expected *= np.trace(matrix) / np.trace(expected)
    assert_allclose(matrix, expected, rtol=1e-2, atol=1e-3 * np.abs(expected).max())


def test_itml_takes_its_bounds_from_distances():
    learner = fitted("ITML")
    assert_allclose(learner.bounds_, BOUNDS)
    assert_allclose(make("ITML").fit(X[PAIRS], SIGNS, bounds=[1, 2]).bounds_, [1, 2])
    with pytest.raises(ValueError, match="bounds must be two numbers"):
        make("ITML").fit(X[PAIRS], SIGNS, bounds=[1, 2, 3])


def test_mmc_has_the_scale_of_metric_learn():
    gaps = X[A] - X[B]
    total = np.sum(gaps**2) / 100
    for parameters, expected in (
        ({}, total),
        ({"init": 4.0 * np.eye(4)}, 4.0 * total),
        ({"diagonal": True, "diagonal_c": 3.0}, 1.5),
    ):
        matrix = fitted("MMC", **parameters).get_mahalanobis_matrix()
        assert np.einsum("ki,ij,kj->", gaps, matrix, gaps) == pytest.approx(expected)


def test_singular_scatters_have_a_metric():
    wide, chunks = np.column_stack([X, X[:, 0]]), np.arange(60) % 10
    with pytest.warns(UserWarning, match="has no inverse"):
        learner = metric_learn.RCA().fit(wide, chunks)
    assert np.isfinite(learner.components_).all()
    for points in (np.eye(3), np.diag([1e-3, 2e-3, 0.0]), np.zeros((3, 3))):
        for kind in ("weighted", "orthonormalized", "plain"):
            points12 = np.repeat(points, 4, axis=0)
            learner = metric_learn.LFDA(embedding_type=kind).fit(points12, np.arange(12) // 4)
            assert np.abs(learner.transform(points12)).max() < 1e13


def test_lfda_scales_its_eigenvectors_as_asked():
    weighted, plain, unit = (
        fitted("LFDA", embedding_type=kind, n_components=2).components_
        for kind in ("weighted", "plain", "orthonormalized")
    )
    lengths = np.linalg.norm(weighted, axis=1) * np.linalg.norm(plain, axis=1)
    assert_allclose(np.sum(weighted * plain, axis=1), lengths)
    assert_allclose(unit @ unit.T, np.eye(2), atol=1e-9)
    with pytest.warns(UserWarning, match="k=9 is too large"):
        fitted("LFDA", k=9)


def test_sdml_says_when_its_weight_is_too_large_and_takes_a_smaller_one():
    with pytest.warns(ConvergenceWarning, match="balance_param=0.5 is too large"):
        learner = metric_learn.SDML().fit(X[PAIRS], SIGNS)
    assert np.isfinite(learner.components_).all()


# Triplets and quadruplets


@pytest.mark.parametrize(("name", "tuples"), [("SCML", TRIPLETS), ("LSML", QUADRUPLETS)])
def test_triplets_and_quadruplets_are_ordered_by_distance(name, tuples):
    learner = fitted(name)
    near, far = tuples[:, :2], tuples[:, [0, 2]] if name == "SCML" else tuples[:, 2:]
    margins = learner.pair_distance(X[far]) - learner.pair_distance(X[near])
    assert_allclose(learner.decision_function(X[tuples]), margins, atol=1e-9)
    assert_array_equal(learner.predict(X[tuples]), np.where(margins > 0, 1, -1))
    assert learner.score(X[tuples]) == pytest.approx(np.mean(margins > 0), abs=0.02)
    assert learner.score(X[tuples]) > 0.8
    by_rows = fitted(name, by_rows=True)
    assert_array_equal(by_rows.predict(tuples), learner.predict(X[tuples]))
    assert cross_val_score(by_rows, tuples, cv=3).mean() > 0.7


def test_scml_takes_a_basis():
    learner = make("SCML", basis=np.eye(4)).fit(X[TRIPLETS])
    off = learner.get_mahalanobis_matrix()[~np.eye(4, dtype=bool)]
    assert_allclose(off, 0.0, atol=1e-9)
