"""The same record twice, in one table or in two.

An application on top of the estimators, which import nothing from here.

::

    _duplicates    the estimator and its result
    _columns       tables as columns of text, numbers and days
    _answers       the last answer of each pair, and which answers to believe
    _candidates    pairs of neighbors, by sparse vectors of letters and words
    _similarities  how similar a pair is in each column
    _model         the probability that a pair is one thing
    _line          from which probability to accept, and what that is worth
    _groups        groups of rows from accepted pairs, without chains
"""

from .._utils._public import publish as _publish
from ._duplicates import DuplicateFinder, Duplicates

__all__ = ["DuplicateFinder", "Duplicates"]

_publish(globals(), "seraph.records", __all__)
