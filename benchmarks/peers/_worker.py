"""A process in the environment of both libraries: a job per line comes in, a record goes out."""

import contextlib
import json
import signal
import sys
import time
import warnings
from functools import cache

import numpy as np

from ._environment import READY
from ._methods import LIBRARIES, learner
from ._tasks import sample

# A short fit is repeated for so many seconds, so many times, and the least of the means counts:
# whatever else the machine does can only add to them. (While a timer is set, the CPU clock ticks
# too slowly for single fits.)
SHORT, TIMES = 0.1, 3
# Seconds that a first fit on a few points may take.
WARM_UP = 1.0


class _Capped(BaseException):
    """A fit took longer than allowed. No library catches it by mistake."""


def _stop(*_):
    raise _Capped


@cache
def warm_up(library, method):
    """Fit a few points once: a first fit imports modules and finds libraries."""
    y = np.repeat([0, 1], 12)
    X = np.random.default_rng(0).normal(size=(24, 3)) + 3.0 * y[:, np.newaxis]
    signal.setitimer(signal.ITIMER_PROF, WARM_UP)
    with contextlib.suppress(_Capped, Exception):  # the fit that counts will say it again
        learner(library, method, 0).fit(X, y)
    signal.setitimer(signal.ITIMER_PROF, 0.0)


def mean_time(fit):
    """Return the mean seconds and CPU seconds of a fit, over as many as take `SHORT` seconds."""
    fits, start, cpu = 0, time.perf_counter(), time.process_time()
    while not fits or time.perf_counter() - start < SHORT:
        fit()
        fits += 1
    return (time.perf_counter() - start) / fits, (time.process_time() - cpu) / fits


def work(job):
    """Fit one learner on one task; return its error and seconds, or why it failed."""
    task = sample(job["set"], job["rows"], job["seed"])
    if job["method"] == "Euclidean":
        return {"error": task.error(lambda X: X), "seconds": 0.0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few labels make many learners complain
        warm_up(job["library"], job["method"])
        model = learner(job["library"], job["method"], job["seed"])
        start, found = time.perf_counter(), []
        signal.setitimer(signal.ITIMER_PROF, job["cap"])
        try:
            while not found or time.perf_counter() - start < SHORT * TIMES:
                found.append(mean_time(lambda: model.fit(task.X, task.y)))
            signal.setitimer(signal.ITIMER_PROF, 0.0)
            seconds, cpu = map(min, zip(*found, strict=True))
            return {"error": task.error(model.transform), "seconds": seconds, "cpu": cpu}
        except _Capped:
            return {"capped": job["cap"], "seconds": time.perf_counter() - start}
        except Exception as error:
            return {"failed": f"{type(error).__name__}: {error}"[:200]}
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0.0)


def main():
    signal.signal(signal.SIGPROF, _stop)
    answers = sys.stdout
    sys.stdout = sys.stderr  # what a library prints is no answer
    for library in LIBRARIES:
        learner(library, "NCA", 0)  # imports it, which is no part of the first fit
    print(READY, file=answers, flush=True)
    for line in sys.stdin:
        print(json.dumps(work(json.loads(line))), file=answers, flush=True)


if __name__ == "__main__":
    main()
