"""Clustering of mapped points that keeps to the marks.

::

    _links         which points marks join, and which they part
    _constrained   k-means and agglomerative clustering under these links
"""

from .._utils._public import publish as _publish
from ._constrained import constrained_agglomerative, constrained_k_means

__all__ = ["constrained_agglomerative", "constrained_k_means"]

_publish(globals(), "seraph", ["constrained_agglomerative", "constrained_k_means"])
