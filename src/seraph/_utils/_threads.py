"""One thread for BLAS, while sums over pairs run in threads of their own."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import lru_cache

from threadpoolctl import LibController, ThreadpoolController

_lock = threading.RLock()
_inside: list[int] = []  # the threads inside, once for each time that they entered
_restore = ExitStack()  # what the last thread to leave undoes
_counts_for_all: dict[str, bool] = {}  # by library: whether a number counts for all threads


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread while sums over pairs run tiles in parallel.

    - Inside, every BLAS library that was loaded by an import has one thread, in the thread that
      entered. Some libraries have one number for the process (OpenBLAS with pthreads); it is 1
      while any thread is inside. Others have a number for each thread (OpenBLAS with OpenMP); the
      numbers of other threads stay as they are. So each thread that calls BLAS must enter.
    - Outside, all numbers are as before: those of a thread once it has left, those of the
      process once the last thread has left. If every thread restored what it found, the second
      would restore the limit of the first.
    """
    thread = threading.get_ident()
    with ExitStack() as own:
        with _lock:
            for library in _find_libraries(len(sys.modules)):
                if (before := library.num_threads) > 1:
                    undo = _restore if _limit(library) else own
                    undo.callback(_set_threads, library, before)
            _inside.append(thread)
        try:
            yield
        finally:
            with _lock:
                _inside.remove(thread)
                if not _inside:
                    _restore.close()


@lru_cache(maxsize=1)
def _find_libraries(_: int) -> list[LibController]:
    """Find the loaded libraries; the argument is the number of modules imported so far.

    The search takes as long as a small fit. A new library comes with new modules.
    """
    return [lib for lib in ThreadpoolController().lib_controllers if lib.user_api == "blas"]


def _limit(library: LibController) -> bool:
    """Give a library one thread; return whether the number counts for all threads.

    That depends on the library, its version, its OpenMP runtime and the function that this version
    of threadpoolctl calls, so it is measured, once.
    """
    if library.filepath in _counts_for_all:
        _set_threads(library, 1)
    else:
        before = _seen_elsewhere(library)
        _set_threads(library, 1)
        _counts_for_all[library.filepath] = _seen_elsewhere(library) != before
    return _counts_for_all[library.filepath]


def _seen_elsewhere(library: LibController) -> int:
    seen: list[int] = []
    thread = threading.Thread(target=lambda: seen.append(library.num_threads))
    thread.start()
    thread.join()
    return seen[0]


def _set_threads(library: LibController, n_threads: int) -> None:
    """Set the number of threads of a library, from any thread.

    From version 3.8 on, the thread that has set a number in OpenBLAS holds a lock, and calls of
    others are ignored silently. It is released here at once, because another thread may be the
    last to leave; and taken from a user who is in a ``with threadpool_limits(2)`` meanwhile.
    """
    library.set_num_threads(n_threads)
    if let_go := getattr(library, "clear_controlling_thread", None):
        if library.num_threads != n_threads:
            let_go(force=True)
            library.set_num_threads(n_threads)
        let_go()
