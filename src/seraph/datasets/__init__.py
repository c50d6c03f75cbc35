"""The data sets of the paper: what the package ships, what OpenML has, and two drawn ones.

The files in ``data/`` are described in this folder's ``README.md``: where each is from, its
licence and its checksum.
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
