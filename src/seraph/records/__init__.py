"""The same record twice, in one table or in two.

An application on top of the estimators, which import nothing from here.

::

    _duplicates      the estimator and its result
    _vectors         records as vectors of letter triples
    _column_weights  how much each column counts
    _candidates      a threshold for candidate pairs that reaches a wanted precision
    _groups          groups of rows from accepted pairs, without chains
"""

from .._utils._public import publish as _publish
from ._duplicates import DuplicateFinder, Duplicates

__all__ = ["DuplicateFinder", "Duplicates"]

_publish(globals(), "seraph.records", __all__)
