"""One thread for BLAS while sweeps run: the tiles themselves are what runs in parallel."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from threadpoolctl import threadpool_limits

_lock = threading.Lock()
_users = 0
_limits: threadpool_limits | None = None


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Hold BLAS to one thread.

    The limit is the process's, so fits that overlap in several threads share it: the first
    one in sets it and the last one out lifts it. (Each setting its own would restore the
    limit of another.)
    """
    global _users, _limits
    with _lock:
        if _users == 0:
            _limits = threadpool_limits(1, user_api="blas")
        _users += 1
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if _users == 0 and _limits is not None:
                _limits.restore_original_limits()
                _limits = None
