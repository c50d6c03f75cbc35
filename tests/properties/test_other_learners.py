"""What holds of SERAPH holds of the others: a sound result, or an error that helps."""

import inspect
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import pdist

from seraph import SERAPH, SERAPHCV, KernelSERAPH, MetricClassifier, classic, seraph_path
from seraph.classic import (
    GDM,
    GMML,
    ITML,
    LDM,
    LFDA,
    LMNN,
    LRML,
    LSML,
    MFDA,
    NCA,
    RCA,
    SCML,
    SDML,
    Euclidean,
)
from tests.helpers.em import em
from tests.helpers.strategies import cases, examples, seeds, some_of, sound_cases, weights
from tests.helpers.trial import attempt, check_distances, check_metric

STEPS = {"max_iter": st.sampled_from([1, 5, 50]), "tol": st.sampled_from([0, 1e-6, 0.1])}
COMPONENTS = st.sampled_from([None, 1, 3, 20])
# Values of the parameters to try; a learner that is not here is tried with its defaults.
CLASSIC = {
    GDM: {"diagonal": st.booleans(), "ridge": weights(), **STEPS},
    GMML: {"t": st.sampled_from([0, 0.3, 1]), "ridge": weights()},
    ITML: {
        "gamma": weights(),
        "prior": st.sampled_from(["identity", "covariance"]),
        "bounds": st.sampled_from([None, (1, 2), (2.0, 1.0), (1e-8, 1e8)]),
        "n_constraints": st.sampled_from([None, 1, 5]),
        **STEPS,
    },
    LDM: {
        "n_components": st.sampled_from([None, 1, 3, 0.5, 1.0]),
        "lam": weights("auto"),
        **STEPS,
    },
    LFDA: {
        "n_components": COMPONENTS,
        "n_neighbors": st.sampled_from([1, 7]),
        "beta": st.sampled_from([0, 1e-6, 0.9]),
    },
    LRML: {
        "n_neighbors": st.sampled_from([1, 3, 50]),
        "similar_weight": weights(),
        "dissimilar_weight": weights(),
        "floor": st.sampled_from([0, 1e-9, 0.02, 1]),
    },
    LSML: {
        "gamma": weights(),
        "prior": st.sampled_from(["identity", "covariance"]),
        "n_constraints": st.sampled_from([1, 100]),
        **STEPS,
    },
    SCML: {
        "beta": weights(),
        "n_basis": st.sampled_from([None, 1, 30]),
        "n_neighbors": st.sampled_from([1, 5]),
        "n_impostors": st.sampled_from([1, 5]),
        "n_constraints": st.sampled_from([1, 100]),
        **STEPS,
    },
    SDML: {
        "balance": st.sampled_from([0, 0.5, 0.999]),
        "sparsity": weights(),
        "prior": st.sampled_from(["identity", "covariance"]),
        **STEPS,
    },
    LMNN: {
        "n_neighbors": st.sampled_from([1, 2, 10]),
        "push_weight": st.sampled_from([1e-9, 0.1, 0.99]),
        "n_components": COMPONENTS,
        **STEPS,
    },
    MFDA: {
        "n_components": COMPONENTS,
        "n_neighbors": st.sampled_from([1, 3, 50]),
        "alpha": weights("auto"),
        **STEPS,
    },
    NCA: {
        "n_components": COMPONENTS,
        "init": st.sampled_from(["pca", "identity", "random"]),
        **STEPS,
    },
    RCA: {"n_components": COMPONENTS, "ridge": weights()},
}
LEARNERS = pytest.mark.parametrize(
    "Learner",
    # (Its labels are numbers.)
    [getattr(classic, name) for name in classic.__all__ if name != "MLKR"],
    ids=lambda Learner: Learner.__name__,
)
KERNEL = {
    "kernel": st.sampled_from(["rbf", "linear", "poly", "sigmoid", "cosine", "laplacian"]),
    "gamma": st.sampled_from([None, 1e-8, 0.1, 1e4]),
    "degree": st.sampled_from([0, 1, 2.5, 4]),
    "coef0": st.sampled_from([-1.0, 0.0, 5.0]),
    "n_landmarks": st.sampled_from([2, 5, 1000]),
}
IN_FEATURE_SPACE = {
    "n_components": st.sampled_from([None, 1, 2]),
    "lam": weights("auto"),
    "mu": weights("auto"),
    "solver": st.sampled_from(["low-rank", "spg", "projected-gradient", em(5)]),
}
PATH = {
    "lams": st.sampled_from([None, [1.0], [1e-8, 1.0, 1e8]]),
    "eps": st.sampled_from([0.5, 1e-3, 1e-9]),
}
ON_PATH = {
    "mu": weights("auto"),
    "eta": weights(),
    "manifold": weights(),
    "n_components": st.sampled_from([None, 1, 2]),
    **STEPS,
}
MANY_CLASSES = "The number of unique classes is greater than 50%"  # scikit-learn says so
GENERAL = ("cloud", "clusters")  # no two distances are alike: nothing hangs on rounding
STRICT = {"mu": 0.0, "tol": 1e-7, "max_iter": 5000}


def fitted(learner, X, **known):
    learner = attempt(lambda: learner.fit(X, **known))
    assert not isinstance(learner, Exception), learner
    return learner


@LEARNERS
@examples(5)
@given(data=st.data())
def test_a_classic_learner_gives_a_sound_metric_or_says_what_is_wrong(Learner, data):
    parameters = data.draw(some_of(CLASSIC[Learner])) if Learner in CLASSIC else {}
    if "max_iter" in inspect.signature(Learner).parameters:
        parameters = {"max_iter": 50} | parameters
    arguments = data.draw(cases() | sound_cases()).arguments
    learner = attempt(lambda: Learner(**parameters).fit(**arguments), MANY_CLASSES)
    if not isinstance(learner, Exception):
        check_metric(learner, arguments["X"])


@LEARNERS
@examples(20)
@given(data=st.data(), seed=seeds())
def test_a_classic_learner_does_not_depend_on_a_shift_or_on_the_order_of_rows(Learner, data, seed):
    case = data.draw(sound_cases(n=(6, 16), geometries=GENERAL))
    X, y = case.table.X, case.classes.y
    parameters = {"tol": 0.01} if Learner is LMNN else {}  # its default stops early
    if "random_state" in inspect.signature(Learner).parameters:
        parameters["random_state"] = 0
    learner = fitted(Learner(**parameters), X, y=y)
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(X))
    if Learner is SCML:  # its clusters and batches are drawn by the number of a row
        order = np.arange(len(X))
    moved = X + rng.normal(size=X.shape[1])
    other = fitted(Learner(**parameters), moved[order], y=y[order])
    if Learner is LMNN:  # may have several best metrics
        assert other.objective_ == pytest.approx(learner.objective_, rel=0.05, abs=0.05)
        return
    first, second = pdist(learner.transform(X)), pdist(other.transform(X))
    np.testing.assert_allclose(first, second, atol=0.05 * first.max() + 1e-9)


@examples(4)
@given(case=cases(n=(2, 40)), kernel=some_of(KERNEL), parameters=some_of(IN_FEATURE_SPACE))
def test_a_kernel_learner_gives_a_sound_metric_or_says_what_is_wrong(case, kernel, parameters):
    arguments = case.arguments
    inner = SERAPH(max_iter=50, **parameters)
    learner = attempt(lambda: KernelSERAPH(inner, **kernel).fit(**arguments))
    if isinstance(learner, Exception):
        return
    fitted = learner.learner_
    assert np.all(np.isfinite(fitted.components_))
    assert np.isfinite([fitted.objective_, fitted.optimality_gap_]).all()
    assert np.all(np.isfinite(learner.transform(arguments["X"])))


@examples(5)
@given(case=sound_cases())
def test_a_linear_kernel_gives_the_metric_of_seraph(case):
    X, known = case.table.X, case.knowledge
    linear = fitted(SERAPH(**STRICT), X, **known)
    kernel = fitted(KernelSERAPH(SERAPH(**STRICT), kernel="linear"), X, **known)
    check_distances(kernel, X)
    assert kernel.learner_.lam_ == pytest.approx(linear.lam_)
    assert kernel.learner_.objective_ == pytest.approx(linear.objective_, rel=1e-5, abs=1e-5)
    first, second = pdist(linear.transform(X)), pdist(kernel.transform(X))
    np.testing.assert_allclose(first, second, atol=0.01 * max(1.0, first.max()))


@examples(4)
@given(case=cases(n=(2, 30), m=(1, 20)), options=some_of(PATH), parameters=some_of(ON_PATH))
def test_a_path_is_sound_or_says_what_is_wrong(case, options, parameters):
    arguments = case.arguments
    learner = SERAPH(**{"max_iter": 100} | parameters)
    path = attempt(lambda: seraph_path(**{"n_lams": 5} | options | arguments, learner=learner))
    if isinstance(path, Exception):
        return
    for numbers in (path.lams, path.objectives, path.optimality_gaps, path.eigenvalues):
        assert np.all(np.isfinite(numbers))
    assert np.all(np.diff(path.lams) < 0)
    assert all(np.all(np.isfinite(P)) for P in path.components)


@examples(10)
@given(
    case=cases(n=(2, 30), m=(1, 10)) | sound_cases(),
    learner=st.sampled_from([None, SERAPH(solver="spg"), SERAPH(gamma=1.0), SERAPH(solver=em(3))]),
    lam_factors=st.sampled_from([(0.1, 1, 10), (1e-6, 1e6)]),
    cv=st.integers(2, 5),
)
def test_a_choice_by_cross_validation_is_sound_or_says_what_is_wrong(
    case, learner, lam_factors, cv
):
    arguments = case.arguments
    chosen = attempt(lambda: SERAPHCV(learner, lam_factors=lam_factors, cv=cv).fit(**arguments))
    if isinstance(chosen, Exception):
        return
    check_metric(chosen, arguments["X"])
    assert np.isfinite(chosen.objective_)
    if chosen.n_splits_:
        assert np.all(np.isfinite(chosen.cv_results_["mean_test_score"]))
        assert chosen.best_score_ in chosen.cv_results_["mean_test_score"]


@examples(4)
@given(
    case=cases(n=(2, 30), m=(1, 10)) | sound_cases(),
    learner=st.sampled_from([SERAPH(), Euclidean(), MFDA(), LDM(max_iter=20), KernelSERAPH()]),
    rule=st.sampled_from(["auto", "vote", "linear", "nearest"]),
)
def test_a_classifier_knows_its_classes_or_says_what_is_wrong(case, learner, rule):
    arguments = case.arguments
    X = arguments["X"]
    classifier = MetricClassifier(learner, rule=rule)
    fitted = attempt(lambda: classifier.fit(**arguments), MANY_CLASSES)
    if isinstance(fitted, Exception):
        return
    shares = classifier.predict_proba(X)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    assert np.all(np.isin(classifier.predict(X), classifier.classes_))


@examples(4)
@given(case=sound_cases(geometries=GENERAL))
def test_the_nearest_neighbor_of_a_labeled_point_is_itself(case):
    X, codes = case.table.X, case.classes.codes
    classifier = fitted(MetricClassifier(Euclidean(), rule="nearest"), X, y=codes)
    np.testing.assert_array_equal(classifier.predict(X[codes >= 0]), codes[codes >= 0])
    labeled = replace(case, marked=None).knowledge["y"]
    assert classifier.score(X, codes) == 1.0
    assert len(classifier.classes_) == len(set(labeled[labeled >= 0]))
