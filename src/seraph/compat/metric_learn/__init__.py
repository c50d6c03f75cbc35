"""The classes of metric-learn 0.7, over the learners of seraph.

Change one line, ``import metric_learn``, to ``import seraph.compat.metric_learn as metric_learn``.
"""

from .constraints import Constraints
from .covariance import Covariance
from .itml import ITML, ITML_Supervised
from .lfda import LFDA
from .lmnn import LMNN
from .lsml import LSML, LSML_Supervised
from .mlkr import MLKR
from .mmc import MMC, MMC_Supervised
from .nca import NCA
from .rca import RCA, RCA_Supervised
from .scml import SCML, SCML_Supervised
from .sdml import SDML, SDML_Supervised

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
