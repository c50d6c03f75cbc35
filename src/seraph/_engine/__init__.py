"""From the user's arguments to a learned metric; every estimator of the model goes through here.

::

    X, y, pairs --> _input ----> Points, PairLabels, Settings
                      |
                   _learn -----> Problem --> Objective over a sweep --> solver --> Fit
                                 (coordinates, order of rows, weights)

`learn` solves for one weight of the trace, `follow_path` for many. Both pose the same
`Problem` and return `Fit` objects; estimators copy these into their attributes.
"""

from .._utils._graph import check_graph
from .._utils._public import publish as _publish
from ._advice import describe_early_stop, warn_of_fit
from ._callback import FitState, Interruptible
from ._checkpoint import Journal, check_checkpoint, check_repeatable, fingerprint, open_journal
from ._input import read_array, read_labels, read_points, warn_of_scales
from ._learn import Fit, learn, mean_log_likelihood, set_up_sweeps
from ._path import RegularizationPath, follow_path
from ._settings import Settings

__all__ = [
    "Fit",
    "FitState",
    "Interruptible",
    "Journal",
    "RegularizationPath",
    "Settings",
    "check_checkpoint",
    "check_graph",
    "check_repeatable",
    "describe_early_stop",
    "fingerprint",
    "follow_path",
    "learn",
    "mean_log_likelihood",
    "open_journal",
    "read_array",
    "read_labels",
    "read_points",
    "set_up_sweeps",
    "warn_of_fit",
    "warn_of_scales",
]

_publish(globals(), "seraph", ["FitState", "Interruptible"])
