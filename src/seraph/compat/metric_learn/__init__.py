"""The classes of metric-learn 0.7, over the learners of seraph.

Change one line, ``import metric_learn``, to ``import seraph.compat.metric_learn as metric_learn``.
The modules of metric-learn, such as ``metric_learn.constraints``, have their names here, too.
"""

import sys as _sys

from ..._utils._public import publish as _publish
from . import _base, _constraints, _of_points, _of_tuples
from ._constraints import Constraints
from ._of_points import LFDA, LMNN, MLKR, NCA, RCA, Covariance, RCA_Supervised
from ._of_tuples import (
    ITML,
    LSML,
    MMC,
    SCML,
    SDML,
    ITML_Supervised,
    LSML_Supervised,
    MMC_Supervised,
    SCML_Supervised,
    SDML_Supervised,
)

# The version of metric-learn that this replaces: scripts compare it.
__version__ = "0.7.0"

__all__ = [
    "ITML",
    "LFDA",
    "LMNN",
    "LSML",
    "MLKR",
    "MMC",
    "NCA",
    "RCA",
    "SCML",
    "SDML",
    "Constraints",
    "Covariance",
    "ITML_Supervised",
    "LSML_Supervised",
    "MMC_Supervised",
    "RCA_Supervised",
    "SCML_Supervised",
    "SDML_Supervised",
]

_publish(globals())
_MODULES = {"base_metric": _base, "exceptions": _base, "constraints": _constraints}
_MODULES |= dict.fromkeys(("covariance", "lfda", "lmnn", "mlkr", "nca", "rca"), _of_points)
_MODULES |= dict.fromkeys(("itml", "lsml", "mmc", "scml", "sdml"), _of_tuples)
for _name, _module in _MODULES.items():
    _sys.modules[f"{__name__}.{_name}"] = _module
