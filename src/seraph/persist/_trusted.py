"""The types that a model file may contain beyond those that skops trusts itself."""

from __future__ import annotations

from .. import classic

# Search trees, which KNeighborsClassifier holds: data that is followed, not code.
_TREES = (
    "sklearn.neighbors._ball_tree.BallTree",
    "sklearn.neighbors._kd_tree.KDTree",
    *(f"sklearn.metrics._dist_metrics.{name}Distance64" for name in ("Euclidean", "Manhattan")),
)
# Files name our classes by the public place users import them from.
TRUSTED = (
    "seraph.SERAPH",
    "seraph.MeanMetric",
    "seraph.MetricClassifier",
    "seraph.PairClassifier",
    "seraph.TablePreparer",
    "seraph.tables.Column",
    *(f"seraph.classic.{name}" for name in classic.__all__),
    *_TREES,
    "numpy.dtype",
)
