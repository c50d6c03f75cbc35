"""Reproduce the paper's tables and figures: ``python -m benchmarks.paper`` in a clone.

Data flows one way::

    datasets -> protocol (samplings) -> experiment (records) -> tables, figures -> report
"""

from ._experiment import Plan, Record, run
from ._reproduce import PARTS, reproduce
from ._tables import claims, table2

__all__ = ["PARTS", "Plan", "Record", "claims", "reproduce", "run", "table2"]
