"""The classic metric learners that SERAPH is compared with, one short file each.

They work like `SERAPH`, so that one replaces another in one line: all have
``fit(X, y, pairs=..., pair_labels=...)``, ``components_``, ``transform``, ``pair_distance``,
``pair_score``, ``get_metric`` and ``get_mahalanobis_matrix``.
"""

from .._public import publish as _publish
from ._covariance import Covariance
from ._euclidean import Euclidean
from ._gdm import GDM
from ._gmml import GMML
from ._itml import ITML
from ._ldm import LDM
from ._lmnn import LMNN
from ._mfda import MFDA
from ._nca import NCA
from ._rca import RCA

__all__ = [
    "GDM",
    "GMML",
    "ITML",
    "LDM",
    "LMNN",
    "MFDA",
    "NCA",
    "RCA",
    "Covariance",
    "Euclidean",
]

_publish(globals())
