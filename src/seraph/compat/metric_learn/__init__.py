"""The classes of metric-learn 0.7, over the learners of seraph.

Change one line, ``import metric_learn``, to ``import seraph.compat.metric_learn as metric_learn``.
"""

from ..._utils._public import publish as _publish
from ._classes import LFDA, LMNN, MLKR, NCA, RCA, Covariance, RCA_Supervised
from ._comparisons import LSML, SCML, LSML_Supervised, SCML_Supervised
from ._constraints import Constraints
from ._pairs import ITML, MMC, SDML, ITML_Supervised, MMC_Supervised, SDML_Supervised

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
