"""The classic metric learners that SERAPH is compared with, one short file each.

They work like `SERAPH`, so that one replaces another in one line: all have
``fit(X, y, marks=...)``, ``components_``, ``transform``, ``pair_distance``, ``get_metric`` and
``get_mahalanobis_matrix``, and the attributes ``n_features_in_`` and ``feature_names_in_``. (But
RFD is a forest, and has no matrix.)
"""

from .._utils._public import publish as _publish
from ._covariance import Covariance
from ._euclidean import Euclidean
from ._gdm import GDM
from ._gmml import GMML
from ._itml import ITML
from ._lfda import LFDA
from ._lmnn import LMNN
from ._lrml import LRML
from ._lsml import LSML
from ._mlkr import MLKR
from ._nca import NCA
from ._rca import RCA
from ._rfd import RFD
from ._scml import SCML
from ._sdml import SDML

__all__ = [
    "GDM",
    "GMML",
    "ITML",
    "LFDA",
    "LMNN",
    "LRML",
    "LSML",
    "MLKR",
    "NCA",
    "RCA",
    "RFD",
    "SCML",
    "SDML",
    "Covariance",
    "Euclidean",
]

_publish(globals())
