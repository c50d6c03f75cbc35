"""The problem that a fit of SERAPH solves."""

from seraph import SERAPH


def pose(X, y=None, marks=None, **parameters):
    """The problem of a fit, and its labels."""
    learner = SERAPH(**parameters)
    points, labels = learner._read(X, y, marks)
    return learner._pose(points, labels), labels
