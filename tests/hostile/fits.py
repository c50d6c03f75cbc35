"""Fits of every estimator on odd input, with the dense formula beside each of them."""

import inspect
import warnings

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, is_classifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

import seraph
from seraph import SERAPH, KernelSERAPH, MetricClassifier, PairClassifier, classic, seraph_path
from seraph._solvers import SOLVERS
from tests.helpers.trial import check_metric
from tests.hostile import inputs
from tests.hostile.dense import Dense, told_of
from tests.hostile.trial import guarded, refused
from tests.hostile.values import some_parameters

ESTIMATORS = [
    value
    for package in (seraph, classic)
    for value in (getattr(package, name) for name in sorted(package.__all__))
    if inspect.isclass(value)
    and issubclass(value, BaseEstimator)
    and value is not seraph.TablePreparer  # a_command tries it, on tables
]
# Quick enough for thousands of fits, where a case does not say otherwise.
QUICK = {"max_iter": 100}


def a_fit(rng):
    """Fit any estimator with any parameters."""
    # The model of the paper has the most to go wrong, so half of the cases are its own.
    Estimator = SERAPH if rng.random() < 0.4 else rng.choice(ESTIMATORS)
    accepted = inspect.signature(Estimator).parameters
    quick = {name: value for name, value in QUICK.items() if name in accepted}
    if Estimator is PairClassifier:
        quick |= {"estimator": SERAPH(**QUICK), "cv": 2}
    estimator = Estimator(**quick | some_parameters(rng, Estimator, junk=0.03))
    case = inputs.case(rng)
    given, absent = guarded(lambda: case.arguments)
    if refused(given):
        return f"marks refused: {str(given)[:50]}"
    # Some learners know nothing of marked pairs.
    known = inspect.signature(Estimator.fit).parameters
    arguments = {name: value for name, value in given.items() if name in known}
    if "marks" in arguments and "y" not in arguments and rng.random() < 0.2:
        arguments["y"] = arguments.pop("marks")  # as scikit-learn passes them
    arguments |= {"y": None} if needs_y(Estimator) and "y" not in arguments else {}
    before = dict(vars(estimator))
    if not_for_scaler(estimator, arguments["X"]):
        return "points that scikit-learn's scaler warns of"
    result, notes = guarded(lambda: estimator.fit(**arguments))
    if refused(result):
        assert all(vars(estimator)[name] is before.get(name) for name in vars(estimator))
        return f"{Estimator.__name__} refused: {str(result)[:50]}"
    assert result is estimator
    assert all(vars(estimator)[name] is value for name, value in before.items())
    check(estimator, case, arguments, absent + notes)
    if type(estimator) is SERAPH:
        follow(estimator, arguments, notes)
    return f"{Estimator.__name__} fitted"


def not_for_scaler(estimator, X):
    """Whether a scaler before the learner warns of its own arithmetic."""
    inner = getattr(estimator, "estimator", None)
    if not (isinstance(inner, Pipeline) or (type(estimator) is MetricClassifier and not inner)):
        return False
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            StandardScaler().fit_transform(X)
        except RuntimeWarning:
            return True
        except (TypeError, ValueError, OverflowError, UserWarning):
            return False  # to be refused in words
    return False


def needs_y(Estimator):
    """Whether ``fit`` cannot be called without `y`."""
    y = inspect.signature(Estimator.fit).parameters["y"]
    return y.default is y.empty


# Parameters of SERAPH that a path does not take, or that change what it is compared with.
OFF_PATH = {"gamma", "algorithm", "solver", "callback", "checkpoint", "unlabeled_pairs"}


def a_path(rng):
    """Follow the path of the trace's weight."""
    case = inputs.case(rng)
    arguments, absent = guarded(lambda: case.arguments)
    if refused(arguments):
        return f"marks refused: {str(arguments)[:50]}"
    known = {"X", "y", "marks", "graph", "learner"}
    parameters = {"max_iter": 100} | some_parameters(rng, SERAPH, junk=0.03, without=OFF_PATH)
    options = {"n_lams": 4} | some_parameters(rng, seraph_path, junk=0.03, without=known)
    learner = SERAPH(**parameters)
    path, notes = guarded(lambda: seraph_path(**{"learner": learner, **options}, **arguments))
    if refused(path):
        return f"path refused: {str(path)[:50]}"
    assert np.all(np.diff(path.lams) < 0)
    for numbers in (path.lams, path.objectives, path.optimality_gaps, path.eigenvalues):
        assert np.all(np.isfinite(numbers))
    if parameters.get("n_components") is None:
        assert np.all(path.optimality_gaps[path.converged] <= 1.001 * parameters.get("tol", 1e-3))
    left_out = any("are left out" in note for note in absent + notes)
    if case.sound and not (parameters.get("manifold") or left_out):
        told, X = knowledge(case), inputs.points_of(arguments["X"])
        for lam, P, value in zip(path.lams, path.components, path.objectives, strict=True):
            weights = {"eta": path.eta, "mu": path.mu, "lam": lam}
            dense = Dense(X, P, told, **weights, triplets=case.triplets)
            assert abs(value - dense.value) <= error_of(P) * (1.0 + dense.size)
    return "path found"


def knowledge(case):
    """What ``fit`` is told of each pair."""
    codes = inputs.codes_of(case)
    if case.marked is None:
        return told_of(codes)
    times = 2 if case.marked.order in ("twice", "both ways") else 1
    weights = np.ones(len(case.marked.rows)) if case.weights is None else case.weights
    likeness = case.marked.similar if case.likeness is None else case.likeness
    return told_of(codes, case.marked.rows, likeness, times * np.asarray(weights))


def error_of(P):
    """Relative error of an objective that may be due to rounding."""
    return 1e-8 if P.dtype == np.float64 else 2e-3


def check(estimator, case, arguments, notes):
    """Check what was learned: sound, and what the formula says of it."""
    X = arguments["X"]
    if isinstance(estimator, PairClassifier):
        check_decisions(estimator, X)
        return
    if is_classifier(estimator):
        shares, _ = guarded(lambda: estimator.predict_proba(X))
        np.testing.assert_allclose(shares.sum(axis=1), 1.0, atol=1e-6)
        return
    if isinstance(estimator, KernelSERAPH):
        assert np.all(np.isfinite(estimator.transform(X)))
        inner = estimator.learner_
        points = estimator.kernel_map_(inputs.points_of(X).astype(inner.components_.dtype))
        check(inner, case, {**arguments, "X": points}, notes)
        return
    check_metric(estimator, X)
    if hasattr(estimator, "objective_"):
        assert not np.isnan(estimator.objective_)  # MFDA documents an infinite one
    if hasattr(estimator, "kappa_"):
        check_certificate(estimator, case, arguments, notes)


def check_decisions(estimator, X):
    """Check that what is likely alike is near, and that all numbers are finite."""
    numbers = (estimator.threshold_, estimator.slope_, estimator.intercept_)
    assert np.all(np.isfinite(numbers))
    assert estimator.slope_ <= 0.0
    rows = inputs.points_of(X)[[[0, 1], [1, 0], [0, 0]]]
    shares = estimator.predict_proba(rows)
    assert np.all((shares >= 0.0) & (shares <= 1.0))
    np.testing.assert_allclose(shares[0], shares[1])
    near = estimator.pair_distance(rows) <= estimator.threshold_
    np.testing.assert_array_equal(estimator.predict(rows), np.where(near, 1, -1))


def check_certificate(estimator, case, arguments, notes):
    """Compare objective and gap of a learner of the model with the dense formula."""
    names = ("mu_", "lam_", "eta_", "kappa_", "objective_", "optimality_gap_")
    assert np.all(np.isfinite([getattr(estimator, name) for name in names]))
    n = case.table.n
    n_pairs = estimator.n_similar_ + estimator.n_dissimilar_ + estimator.n_unlabeled_
    assert n_pairs == n * (n - 1) // 2
    # SERAPHCV has these of the learner that it searches for.
    settings = {**SERAPH().get_params(), **estimator.get_params()}
    settings |= {
        name.removeprefix("learner__"): value
        for name, value in settings.items()
        if name.startswith("learner__")
    }
    direct = not SOLVERS[settings["solver"]].m_steps
    in_steps = settings["solver"] == "projected-gradient"
    # A metric at the limit of its rank need only be stationary, as the docstring says.
    P = getattr(estimator, "learned_components_", estimator.components_)
    capped = len(P) == settings["n_components"]
    by_gap = direct and not in_steps and not capped and settings["gamma"] is None
    if by_gap and estimator.converged_:
        assert estimator.optimality_gap_ <= settings["tol"] * (1 + 1e-9)
    sampled = settings["unlabeled_pairs"] != "all" and estimator.mu_ > 0.0
    left_out = any("are left out" in note for note in notes)  # pairs of rows that are not there
    if not direct or settings["manifold"] != 0.0 or sampled or left_out or not case.sound:
        return
    if case.triplets and estimator.kappa_ != -1.0:
        return  # the dense formula has triplets in the model (7) only
    points = inputs.points_of(arguments["X"])
    dense = Dense(
        points,
        P,
        knowledge(case),
        eta=estimator.eta_,
        mu=estimator.mu_,
        lam=estimator.lam_,
        scale=-estimator.kappa_,
        gamma=settings["gamma"] or 0.0,
        triplets=case.triplets,
    )
    error = abs(estimator.objective_ - dense.value)
    assert error <= error_of(P) * (1.0 + dense.size), (estimator.objective_, dense.value)
    # The gap is measured in units of at least a hundredth of the automatic lam.
    by_lam = settings["lam"] == "auto" and min(settings.get("lam_factors", (1.0,))) >= 0.01
    if by_lam and settings["gamma"] is None and P.dtype == np.float64:
        slack = 1e-9 * dense.pull + 10.0 * dense.blur
        slack = slack / estimator.lam_ if estimator.lam_ else np.inf
        assert dense.gap <= estimator.optimality_gap_ * (1 + 1e-6) + slack + 1e-6


# Advice. Each function follows what a warning says, and returns whether that helped.


def again(estimator, arguments, **changes):
    """Fit once more with other parameters; return the learner and its warnings."""
    other = type(estimator)(**{**estimator.get_params(deep=False), **changes})
    result, notes = guarded(lambda: other.fit(**arguments))
    assert not refused(result), f"the advice leads to an error: {result}"
    return other, notes


def _stopped_early(estimator, arguments, _):
    """Raise the number of iterations; where that is not enough, tol as well, to what was reached.

    With weights of 1e12, say, rounding errors alone keep the gap from 0.
    """
    more = {"max_iter": max(50, 3 * estimator.max_iter)}
    longer, _ = again(estimator, arguments, **more)
    if longer.converged_:
        return True
    tol = max(2.0 * estimator.optimality_gap_, 1.0)
    attempts = [{"tol": factor * tol} for factor in (1, 10)]
    attempts.append({"tol": max(2.0 * longer.optimality_gap_, 1.0), **more})
    return any(again(estimator, arguments, **changes)[0].converged_ for changes in attempts)


def standardized(X):
    """Scaled features; the rows of a data frame keep their names, which marks go by."""
    points = StandardScaler().fit_transform(inputs.points_of(X))
    return pd.DataFrame(points, index=X.index) if isinstance(X, pd.DataFrame) else points


def _scales_apart(estimator, arguments, _):
    scaled = standardized(arguments["X"])
    _, notes = again(estimator, {**arguments, "X": scaled})
    return not any("standard deviations of the features" in note for note in notes)


def _out_of_range(estimator, arguments, _):
    scaled = standardized(arguments["X"])
    for changes in ({}, {"gamma": None}):
        _, notes = again(estimator, {**arguments, "X": scaled}, lam="auto", **changes)
        if not any("is at the end of the range" in note for note in notes):
            return True
    return False


def _no_trace(estimator, arguments, _):
    _, notes = again(estimator, arguments, lam="auto")
    return not any(note.startswith("With lam=0") for note in notes)


def _zero_metric(estimator, arguments, note):
    """Lower the weights; a collapse that labels or points ask for is for the user to mend."""
    X = inputs.points_of(arguments["X"])
    if estimator.n_dissimilar_ == 0 or np.all(np.ptp(X, axis=0) <= 1e-12 * np.abs(X).max()):
        return True
    if not (estimator.lam_ > 0 or estimator.manifold > 0):
        return "Lower" not in note
    for factor in (1e-2, 1e-5, 1e-10, 1e-20):
        lower = {"lam": estimator.lam_ * factor, "manifold": estimator.manifold * factor}
        lower["tol"] = max(estimator.tol, 1e-3)  # a tol of 0 certifies nothing
        other, _ = again(estimator, arguments, **lower)
        if len(other.learned_components_):
            return True
    # Zero is certified as best almost without a trace: the labels do ask for it, as the note says.
    blamed = "the labels ask for a collapse" in note or "the labels have little to do" in note
    return blamed and other.converged_


ADVICE = {
    "has not converged": _stopped_early,
    "The standard deviations of the features": _scales_apart,
    "is at the end of the range": _out_of_range,
    "With lam=0": _no_trace,
    "The learned metric is zero": _zero_metric,
}


def follow(estimator, arguments, notes):
    """Follow the advice of each warning, and check that it helps."""
    for note in notes:
        for beginning, act in ADVICE.items():
            if beginning in note[:60]:
                assert act(estimator, arguments, note), f"the advice does not help: {note}"
