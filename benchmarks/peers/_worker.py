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
from ._tasks import TIMED, sample

# Short fits are repeated for about so many seconds, the libraries taking turns after so many, and
# the least of the means counts: the speed of a busy machine changes within seconds, and whatever
# else it does can only add to them.
SHORT, TURN = 0.3, 0.03
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


class Fit:
    """A learner of one library on one task, and the times that fitting it took."""

    def __init__(self, job, library, task):
        self.job, self.task = job, task
        self.model = learner(library, job["method"], job["seed"])
        self.times, self.spent, self.ended = [], 0.0, None

    def first(self):
        """Fit once, for as long as allowed."""
        start = time.perf_counter()
        signal.setitimer(signal.ITIMER_PROF, self.job["cap"])
        try:
            self.attempt(0.0)
        except _Capped:
            self.ended = {"capped": self.job["cap"], "seconds": time.perf_counter() - start}
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0.0)

    def attempt(self, seconds):
        """Do the same as `repeat`, or note why a fit failed."""
        try:
            self.repeat(seconds)
        except Exception as error:
            self.ended = _failure(error)

    def repeat(self, seconds):
        """Fit for so many seconds, and note the mean seconds and CPU seconds of a fit."""
        fits, start, cpu = 0, time.perf_counter(), time.process_time()
        while not fits or time.perf_counter() - start < seconds:
            self.model.fit(self.task.X, self.task.y)
            fits += 1
        spent, cpu = time.perf_counter() - start, time.process_time() - cpu
        self.times.append((spent / fits, cpu / fits))
        self.spent += spent

    def record(self):
        """Return the error, and the least times if it is timed; or why there are none."""
        if self.ended is not None:
            return self.ended
        try:
            record = {"error": self.task.error(self.model.transform)}
        except Exception as error:
            return _failure(error)
        if self.job["seed"] >= TIMED:
            return record
        # While a timer is set, the CPU clock ticks too slowly for short fits.
        seconds, cpu = map(min, zip(*(self.times[1:] or self.times), strict=True))
        return {**record, "seconds": seconds, "cpu": cpu}


def _failure(error):
    return {"failed": f"{type(error).__name__}: {error}"[:200]}


def work(job):
    """Fit a learner of each library on one task; return a record for each library."""
    task = sample(job["set"], job["rows"], job["seed"])
    if job["method"] == "Euclidean":
        return {"scikit-learn": {"error": task.error(lambda X: X), "seconds": 0.0}}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few labels make many learners complain
        fits = {library: Fit(job, library, task) for library in job["libraries"]}
        for library, fit in fits.items():
            warm_up(library, job["method"])
            fit.first()
        enough = SHORT if job["seed"] < TIMED else 0.0
        while left := [f for f in fits.values() if f.ended is None and f.spent < enough]:
            for fit in left:
                fit.attempt(TURN)
        return {library: fit.record() for library, fit in fits.items()}


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
