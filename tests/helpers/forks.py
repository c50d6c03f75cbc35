"""Children of a process, for tests of what a fork copies."""

import os
import signal

import pytest

forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
of_threads = pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")


def succeeds_in_a_child(act):
    """Whether `act` returns True in a forked child, within ten seconds."""
    child = os.fork()
    if child == 0:  # whatever happens, the child must not go on with the tests
        signal.alarm(10)
        try:
            os._exit(0 if act() else 1)
        finally:
            os._exit(2)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
