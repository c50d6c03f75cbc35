"""A process in the environment of both libraries: a job per line comes in, a record goes out."""

import json
import signal
import sys
import time
import warnings

from ._environment import READY
from ._methods import LIBRARIES, learner
from ._tasks import sample

# The best of so many fits counts, as long as they take no more than so many seconds together.
REPEATS, SHORT = 3, 0.5


class _Capped(BaseException):
    """A fit took longer than allowed. No library catches it by mistake."""


def _stop(*_):
    raise _Capped


def work(job):
    """Fit one learner on one task; return its error and seconds, or why it failed."""
    task = sample(job["set"], job["rows"], job["seed"])
    if job["method"] == "Euclidean":
        return {"error": task.error(lambda X: X), "seconds": 0.0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few labels make many learners complain
        model = learner(job["library"], job["method"], job["seed"])
        seconds, cpu = [], []
        signal.setitimer(signal.ITIMER_PROF, job["cap"])
        try:
            while not seconds or (len(seconds) < REPEATS and sum(seconds) < SHORT):
                start = time.perf_counter(), time.process_time()
                model.fit(task.X, task.y)
                seconds.append(time.perf_counter() - start[0])
                cpu.append(time.process_time() - start[1])
            signal.setitimer(signal.ITIMER_PROF, 0.0)
            error = task.error(model.transform)
            return {"error": error, "seconds": min(seconds), "cpu": min(cpu)}
        except _Capped:
            return {"capped": job["cap"]}
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
