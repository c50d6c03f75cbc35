"""Try something: it must end in time, with a result or with an error that helps."""

import signal
import traceback
import warnings
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import sklearn
from sklearn.exceptions import ConvergenceWarning, DataConversionWarning

import seraph

SECONDS = 30  # of processor time, for one trial
DOCUMENTED = (
    r"All \d+ \w+ pairs are (dis)?similar",
    "The standard deviations of the features",
    r"The learned metric is zero \(rank 0\)",
    "The full model is best at kappa = 0",
    "y is uint8, which cannot hold -1",
    r"\w+ does not use the weights of marks",
)
HOME, SKLEARN = (str(Path(package.__file__).parent) for package in (seraph, sklearn))
VALIDATORS = {
    "check_array",
    "check_classification_targets",
    "check_consistent_length",
    "check_is_fitted",
    "check_random_state",
    "column_or_1d",
    "validate_data",
}


def attempt(act, *warnings_of_others):
    """Return what `act` returns, or the helpful error with which it refused its input.

    An error helps if a line of this package raised it, or one of scikit-learn's checks of the
    input. Any other error passes through, and so does any warning that is neither documented
    nor begins like one of `warnings_of_others`.
    """
    with warnings.catch_warnings(), time_limit(SECONDS):
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", DataConversionWarning)
        for beginning in DOCUMENTED + warnings_of_others:
            warnings.filterwarnings("ignore", beginning, UserWarning)
        try:
            return act()
        except (ValueError, TypeError) as error:
            if not helps(error):
                raise
            return error


def helps(error):
    frames = traceback.extract_tb(error.__traceback__)
    ours = max((k for k, f in enumerate(frames) if f.filename.startswith(HOME)), default=None)
    if ours is None or len(str(error)) < 20:
        return False
    if ours == len(frames) - 1:
        return frames[ours].line.startswith("raise")
    theirs = [f for f in frames[ours + 1 :] if f.filename.startswith(SKLEARN)]
    theirs = [f for f in theirs if f.name != "wrapper"]
    if theirs and theirs[0].filename.endswith("pipeline.py"):  # one of its steps checks the points
        return any(f.name in VALIDATORS for f in theirs)
    return bool(theirs) and theirs[0].name in VALIDATORS


@contextmanager
def time_limit(seconds):
    """Stop after `seconds` of processor time, where the system can do that.

    The error comes through even if the code that was stopped has caught it.
    """
    late = TimeoutError(f"Not done after {seconds} seconds.")
    stopped = False

    def stop(*_):
        nonlocal stopped
        stopped = True
        raise late

    if not hasattr(signal, "SIGPROF"):
        yield
        return
    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
        if stopped:
            raise late


def check_metric(learner, X):
    """Check what must hold of every learned metric."""
    P = learner.components_
    assert np.all(np.isfinite(P))
    A = learner.get_mahalanobis_matrix()
    np.testing.assert_array_equal(A, A.T)
    values = np.linalg.eigvalsh(A.astype(np.float64))
    kind = np.finfo(A.dtype)
    assert values[0] >= -10 * len(A) * kind.eps * (values[-1] + kind.tiny)
    check_distances(learner, X)


def check_distances(learner, X):
    """Check that the map and the distances agree, and that all is finite."""
    points = np.asarray(X)
    Z = learner.transform(X)
    assert Z.shape == (len(points), len(learner.get_feature_names_out()))
    assert np.all(np.isfinite(Z))
    i, j = np.triu_indices(len(points), 1)
    i, j = i[:300], j[:300]
    distances = learner.pair_distance(np.stack([points[i], points[j]], axis=1))
    assert np.all(np.isfinite(distances))
    between = np.linalg.norm(Z[i].astype(np.float64) - Z[j], axis=1)
    np.testing.assert_allclose(distances, between, rtol=1e-5, atol=rounding(learner, points, Z))


def rounding(learner, points, Z):
    """Size of the rounding errors in the coordinates `Z`."""
    size = np.abs(Z).max(initial=0.0)
    if hasattr(learner, "components_"):
        size += (np.abs(points.astype(float)) @ np.abs(learner.components_).T).max(initial=0.0)
    kind = np.finfo(Z.dtype)
    return 10 * points.shape[1] * kind.eps * float(size) + np.sqrt(kind.tiny)
