"""The paper's data sets: shipped with the package, fetched from OpenML, or generated.

This folder's ``README.md`` gives the source, license and checksum of each file in ``data/``.
"""

from .._public import publish as _publish
from ._artificial import make_posterior_sparsity, make_projection_sparsity
from ._fetch import fetch_task
from ._tasks import TASKS, Task, load_task

__all__ = [
    "TASKS",
    "Task",
    "fetch_task",
    "load_task",
    "make_posterior_sparsity",
    "make_projection_sparsity",
]

_publish(globals())
