"""Where metric-learn's users look for `Covariance`."""

from ..._utils._public import publish as _publish
from ._covariance import Covariance

__all__ = ["Covariance"]

_publish(globals())
