"""Clustering of mapped points that keeps to the marks.

::

    _links         which points marks join, and which they part
    _constrained   k-means under these links
"""

from .._utils._public import publish as _publish
from ._constrained import constrained_k_means

__all__ = ["constrained_k_means"]

_publish(globals(), "seraph", ["constrained_k_means"])
