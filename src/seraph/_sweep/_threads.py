"""Settings of the whole process, changed for as long as any thread needs them."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import lru_cache

from threadpoolctl import LibController, ThreadpoolController


class SharedSetting:
    """A setting of the whole process that several threads need changed at once.

    The first thread in changes the setting and the last one out restores it. If every thread
    saved and restored the setting by itself, it could restore the change of another.

    Parameters
    ----------
    change : callable
        Changes the setting and returns a callable that restores it.

    Examples
    --------
    >>> setting = ["before"]
    >>> def change():
    ...     setting[0] = "changed"
    ...     return lambda: setting.__setitem__(0, "before")
    >>> with SharedSetting(change):
    ...     print(setting)
    ['changed']
    >>> setting
    ['before']
    """

    def __init__(self, change: Callable[[], Callable[[], None]]) -> None:
        self._change = change
        self._restore: Callable[[], None] = lambda: None
        self._users: list[int] = []  # a thread that entered twice stands here twice
        self._lock = threading.RLock()
        if hasattr(os, "register_at_fork"):  # not on Windows
            # A fork copies the lock as it is. Taking it first makes sure that no other thread
            # has it: that thread does not exist in the child, and would never release it.
            os.register_at_fork(
                before=self._lock.acquire,
                after_in_parent=self._lock.release,
                after_in_child=self._after_fork,
            )

    def __enter__(self) -> None:
        with self._lock:
            if not self._users:
                self._restore = self._change()
            self._users.append(threading.get_ident())

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._users.remove(threading.get_ident())
            if not self._users:
                self._restore()

    def _after_fork(self) -> None:
        """In a child, forget the threads that only the parent has."""
        had_users = bool(self._users)
        self._users = [thread for thread in self._users if thread == threading.get_ident()]
        if had_users and not self._users:
            self._restore()
        self._lock.release()


def one_blas_thread() -> AbstractContextManager[None]:
    """Limit BLAS to one thread while sweeps run: their tiles are what runs in parallel.

    The limit is the process's; fits that overlap in several threads share it.
    """
    return _one_blas_thread


@lru_cache(maxsize=1)
def _blas_libraries(_: int) -> list[LibController]:
    """Find the loaded BLAS libraries; the argument is the number of modules imported so far.

    The search takes as long as a small fit. A new library comes with new modules.
    """
    found: list[LibController] = ThreadpoolController().select(user_api="blas").lib_controllers
    return found


def _limit_blas() -> Callable[[], None]:
    libraries = _blas_libraries(len(sys.modules))
    before = [(library, n) for library in libraries if (n := library.num_threads) != 1]
    _set_threads([(library, 1) for library, _ in before])
    return lambda: _set_threads(before)


def _set_threads(numbers: list[tuple[LibController, int]]) -> None:
    """Set the numbers of threads of libraries, from any thread.

    From version 3.8 on, threadpoolctl ignores all threads but the one that set a limit first.
    That one need not be the last to finish, and our lock already keeps the calls apart.
    """
    _allow_any_thread(numbers)
    for library, n_threads in numbers:
        library.set_num_threads(n_threads)
    _allow_any_thread(numbers)


def _allow_any_thread(numbers: list[tuple[LibController, int]]) -> None:
    for kind in {type(library) for library, _ in numbers}:  # which have it in common
        getattr(kind, "clear_controlling_thread", lambda **_: None)(force=True)


_one_blas_thread = SharedSetting(_limit_blas)
