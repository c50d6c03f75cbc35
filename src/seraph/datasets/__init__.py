"""Data sets that the package ships: the paper's tasks, and a frozen embedding.

This folder's ``README.md`` gives the source, license and checksum of each file in ``data/``.
"""

from .._utils._public import publish as _publish
from ._definitions import Definitions, load_definitions
from ._tasks import TASKS, Task, load_task

__all__ = [
    "TASKS",
    "Definitions",
    "Task",
    "load_definitions",
    "load_task",
]

_publish(globals())
