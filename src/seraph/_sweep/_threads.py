"""One thread for BLAS while sweeps run: the tiles themselves are what runs in parallel."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from threadpoolctl import LibController, ThreadpoolController

_lock = threading.Lock()
_users = 0
_before: list[tuple[LibController, int]] = []


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Hold BLAS to one thread.

    The limit is the process's, so fits that overlap in several threads share it: the first
    one in sets it and the last one out lifts it. (Each setting its own would restore the
    limit of another.)
    """
    global _users
    with _lock:
        if _users == 0:
            libraries = ThreadpoolController().select(user_api="blas").lib_controllers
            _before[:] = [(library, library.num_threads) for library in libraries]
            for library in libraries:
                _set_threads(library, 1)
        _users += 1
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if _users == 0:
                for library, n_threads in _before:
                    _set_threads(library, n_threads)


def _set_threads(library: LibController, n_threads: int) -> None:
    """Set the limit of a library, from whichever thread.

    From version 3.8 on threadpoolctl heeds one thread alone, and no other until that one is
    done. But the first fit to begin need not be the last to end: here the lock decides.
    """
    heed_anyone = getattr(library, "clear_controlling_thread", lambda force: None)
    heed_anyone(force=True)
    library.set_num_threads(n_threads)
    heed_anyone(force=True)
