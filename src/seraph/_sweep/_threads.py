"""Settings of the whole process, changed for as long as any thread needs them."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
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
    >>> with SharedSetting(change)():
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

    @contextmanager
    def __call__(self) -> Iterator[None]:
        """Change the setting until the context is left."""
        thread = threading.get_ident()
        with self._lock:
            if not self._users:
                self._restore = self._change()
            self._users.append(thread)
        try:
            yield
        finally:
            with self._lock:
                self._users.remove(thread)
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
    return _one_blas_thread()


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
    for library, _ in before:
        _set_threads(library, 1)

    def restore() -> None:
        for library, n_threads in before:
            _set_threads(library, n_threads)

    return restore


def _set_threads(library: LibController, n_threads: int) -> None:
    """Set the number of threads of a library, from any thread.

    From version 3.8 on, threadpoolctl ignores all threads but the one that set a limit first.
    That one need not be the last to finish, and our lock already keeps the calls apart.
    """
    allow_any_thread = getattr(library, "clear_controlling_thread", lambda **_: None)
    allow_any_thread(force=True)
    library.set_num_threads(n_threads)
    allow_any_thread(force=True)


_one_blas_thread = SharedSetting(_limit_blas)
