"""Data sets: the paper's (shipped, fetched from OpenML, or generated), and a frozen embedding.

This folder's ``README.md`` gives the source, license and checksum of each file in ``data/``.
"""

from .._utils._public import publish as _publish
from ._artificial import make_posterior_sparsity, make_projection_sparsity
from ._definitions import Definitions, load_definitions
from ._fetch import fetch_task
from ._tasks import TASKS, Task, load_task

__all__ = [
    "TASKS",
    "Definitions",
    "Task",
    "fetch_task",
    "load_definitions",
    "load_task",
    "make_posterior_sparsity",
    "make_projection_sparsity",
]

_publish(globals())
