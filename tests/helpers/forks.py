"""Children of a process, for tests of what a fork copies."""

import os
import signal
import time
from contextlib import contextmanager
from functools import wraps

import pytest
from coverage import Coverage

_SECONDS = 10.0
_LOOK = 0.002


def forks(test):
    """Mark a test that forks while other threads run."""

    @wraps(test)
    def without_coverage(*args, **keywords):
        with _no_coverage():
            test(*args, **keywords)

    warned = pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
    skipped = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
    return skipped(warned(without_coverage))


@contextmanager
def _no_coverage():
    """Measure no coverage.

    Its tracer has a lock, which would stay held in the child if another thread held it at the
    moment of the fork. The mark `no_cover` of pytest-cov stops one measurement; a worker of
    pytest-xdist has several.
    """
    stopped = []
    while (measurement := Coverage.current()) is not None:
        measurement.stop()
        stopped.append(measurement)
    try:
        yield
    finally:
        for measurement in reversed(stopped):
            measurement.start()


def succeeds_in_a_child(act):
    """Whether `act` returns True in a forked child, within ten seconds."""
    child = os.fork()
    if child == 0:  # whatever happens, the child must not go on with the tests
        try:
            os._exit(0 if act() else 1)
        finally:
            os._exit(2)
    # A child that hangs may do so before it could set an alarm, so the parent watches. It counts
    # how often it looked: while a virtual machine is paused, the clock goes on.
    for _ in range(int(_SECONDS / _LOOK)):
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status) == 0
        time.sleep(_LOOK)
    os.kill(child, signal.SIGABRT)  # pytest's fault handler says where it hangs
    time.sleep(1.0)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False
