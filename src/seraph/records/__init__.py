"""The same record twice, in one table or in two.

An application on top of the estimators, which import nothing from here.

::

    _duplicates    the estimator
    _result        what it has found
    _columns       tables as columns of text, numbers and days
    _answers       the last answer of each pair, and which answers to believe
    _questions     pairs to ask a person about
    _terms         sparse vectors of letters and words
    _candidates    pairs of neighbors, by those vectors
    _similarities  how similar a pair is in each column
    _model         the probability that a pair is one thing: a line and a forest
    _line          from which probability to accept, and what that is worth
    _groups        groups of rows from accepted pairs, without chains
"""

from ._duplicates import DuplicateFinder
from ._result import Duplicates

__all__ = ["DuplicateFinder", "Duplicates"]

for _public in (DuplicateFinder, Duplicates):
    _public.__module__ = __name__  # pickles name the public module
