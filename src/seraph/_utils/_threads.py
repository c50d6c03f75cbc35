"""Context managers for settings of the process and of its threads, such as the threads of BLAS."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import lru_cache, partial

from threadpoolctl import LibController, ThreadpoolController

# One lock for all settings. A fork copies its state, so the forking thread acquires it first: if
# another thread held it, that thread would not exist in the child, where the lock would stay held.
_lock = threading.RLock()
_settings: list[SharedSetting] = []


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
        self._users: list[int] = []  # one entry for each time that a thread entered
        with _lock:
            _settings.append(self)

    def __enter__(self) -> None:
        with _lock:
            if not self._users:
                self._restore = self._change()
            self._users.append(threading.get_ident())

    def __exit__(self, *_: object) -> None:
        with _lock:
            self._users.remove(threading.get_ident())
            if not self._users:
                self._restore()

    def forget_other_threads(self) -> None:
        """In a child, forget the threads that only the parent has."""
        had_users = bool(self._users)
        self._users = [thread for thread in self._users if thread == threading.get_ident()]
        if had_users and not self._users:
            self._restore()


def _after_fork() -> None:
    for setting in _settings:
        setting.forget_other_threads()
    _lock.release()


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(
        before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_after_fork
    )


def one_blas_thread() -> AbstractContextManager[None]:
    """Limit BLAS to one thread while sums over pairs run tiles in parallel.

    On every platform:

    - Inside, every BLAS library that was loaded by an import has one thread, in the thread that
      entered. Some libraries have one number for the process (OpenBLAS with pthreads); it is 1
      while any thread is inside. Others have a number for each thread (MKL, OpenBLAS with
      OpenMP); the numbers of other threads stay as they are. So each thread that calls BLAS must
      enter, also those of such a sum.
    - A library that is loaded while a thread is inside keeps its number until the next time that
      any thread enters.
    - Outside, all numbers are as before: those of a thread once it has left, those of the
      process once the last thread has left. A forked child has the limits of the thread that
      forked, and no others.

    An OpenBLAS with OpenMP uses the thread count of its OpenMP runtime. So other code that uses
    this runtime, in a thread that entered, has one thread, too.
    """
    return _one_thread("blas")


@contextmanager
def _one_thread(user_api: str) -> Iterator[None]:
    with ExitStack() as limits:
        for library in _find_libraries(len(sys.modules)):
            if library.user_api != user_api:
                continue
            setting = _find_setting(library)
            if setting is None:
                limits.callback(_limit(library))
            else:
                limits.enter_context(setting)
        yield


@lru_cache(maxsize=1)
def _find_libraries(_: int) -> list[LibController]:
    """Find the loaded libraries; the argument is the number of modules imported so far.

    The search takes as long as a small fit. A new library comes with new modules.
    """
    return list(ThreadpoolController().lib_controllers)


# By the path of the library; None if each thread has its own number.
_settings_of: dict[str, SharedSetting | None] = {}


def _find_setting(library: LibController) -> SharedSetting | None:
    """Return the setting that threads share, or None if each thread has its own number."""
    with _lock:
        if library.filepath not in _settings_of:
            if library.num_threads == 1:  # nothing to change, so it cannot be measured yet
                return None
            shared = _is_shared(library)
            _settings_of[library.filepath] = (
                SharedSetting(partial(_limit, library)) if shared else None
            )
        return _settings_of[library.filepath]


def _is_shared(library: LibController) -> bool:
    """Measure whether a number that is set here changes in another thread, too.

    This depends on the library, its version, its OpenMP runtime and the function that this
    version of threadpoolctl calls, so that no list of names would be right.
    """
    elsewhere: list[int] = []

    def look() -> None:
        thread = threading.Thread(target=lambda: elsewhere.append(library.num_threads))
        thread.start()
        thread.join()

    look()
    restore = _limit(library)
    look()
    restore()
    return elsewhere[0] != elsewhere[1]


def _limit(library: LibController) -> Callable[[], None]:
    """Set a number of threads to 1; return a function that restores it."""
    before = library.num_threads
    if before == 1:
        return lambda: None
    _set_threads(library, 1)
    return lambda: _set_threads(library, before)


def _set_threads(library: LibController, n_threads: int) -> None:
    """Set the number of threads of a library, from any thread.

    From version 3.8 on, threadpoolctl has a lock on OpenBLAS: while the thread that has set a
    number holds it, calls from other threads are ignored silently. It is released here at once,
    because another thread may be the last to leave. If the user holds it, in a main thread that is
    in a ``with threadpool_limits(2)`` while other threads fit, it is cleared: threadpoolctl offers
    no other way. The end of that block restores its numbers all the same.
    """
    library.set_num_threads(n_threads)
    let_go = getattr(library, "clear_controlling_thread", None)
    if let_go is None:
        return
    if library.num_threads != n_threads:
        let_go(force=True)
        library.set_num_threads(n_threads)
    let_go()
