"""The comparison with metric-learn: fair splits, records that last, tables that say the truth."""

import json
import re
import sys
from contextlib import nullcontext
from itertools import groupby
from pathlib import Path
from types import SimpleNamespace
from typing import ClassVar

import numpy as np
import pytest

from benchmarks.evidence import _data
from benchmarks.evidence._run import Records
from benchmarks.peers import _environment, _report, _run, _tasks, _worker
from benchmarks.peers._environment import Worker
from benchmarks.peers._methods import METHODS, learner
from benchmarks.peers._run import MANY, ONE, Job, plan
from benchmarks.peers._tasks import SMALLEST_CLASS, TIMED, sample
from seraph import classic
from seraph.compat import metric_learn as compat


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("SERAPH_EVIDENCE_CACHE", str(tmp_path / "cache"))


def test_a_task_labels_every_class_and_keeps_the_other_rows_apart():
    X, y, _ = _data.load("wine")
    task = sample("wine", 40, seed=3)
    assert len(task.y) == 40
    assert np.bincount(task.y).min() >= SMALLEST_CLASS
    shares = np.bincount(task.y) / 40 - np.bincount(y) / len(y)
    assert np.abs(shares).max() < 0.1
    together = np.vstack([task.X, task.X_test])
    assert len(np.unique(together, axis=0)) == len(np.unique(X, axis=0))
    np.testing.assert_array_equal(sample("wine", 40, seed=3).X, task.X)
    assert not np.array_equal(sample("wine", 40, seed=4).X, task.X)


def test_a_set_that_is_too_small_gives_no_task():
    assert sample("wine", 150, seed=0) is None  # more than half of it
    assert sample("digits", 30, seed=0) is None  # fewer than four of each class


def test_the_error_is_that_of_the_nearest_labeled_row():
    task = sample("iris", 40, seed=0)
    nearest = [np.argmin(((task.X - row) ** 2).sum(axis=1)) for row in task.X_test]
    expected = 100 * np.mean(task.y[nearest] != task.y_test)
    assert task.error(lambda X: X) == pytest.approx(expected)
    assert task.error(lambda X: 7.0 * X) == pytest.approx(expected)


@pytest.mark.parametrize("method", METHODS)
def test_our_side_of_each_method_is_a_learner_with_its_defaults(method):
    ours = learner("seraph", method, seed=5)
    assert type(ours) is getattr(classic, METHODS[method].ours)
    seeded = {"random_state": 5} if method == "SCML" else {}
    assert ours.get_params() == type(ours)().get_params() | seeded
    stand_in = learner("stand-in", method, seed=5)
    assert type(stand_in) is getattr(compat, METHODS[method].theirs)
    changed = {"random_state": 5} if METHODS[method].seeded else {}
    changed |= {"n_chunks": 15} if method == "RCA" else {}
    assert stand_in.get_params() == type(stand_in)().get_params() | changed


def test_every_learner_of_metric_learn_is_compared():
    names = {name.removesuffix("_Supervised") for name in compat.__all__} - {"Constraints"}
    assert names == set(METHODS)


def test_both_libraries_get_the_same_tasks(monkeypatch):
    jobs = plan(["iris", "wine"], (40, 150), 2, ["LMNN", "NCA"])
    assert {job.rows for job in jobs} == {40}  # both sets are too small for 150
    assert {job.threads for job in jobs} == {ONE}
    monkeypatch.setattr(_data, "JUDGING", [_data.SETS["wine"]])
    jobs = plan(["iris", "wine"], (40, 150), 2, ["LMNN", "NCA"])
    both = [j for j in jobs if j.method != "Euclidean"]
    assert {j.libraries for j in both} == {("seraph", "stand-in", "metric-learn")}
    assert len(set(jobs)) == len(jobs) == 4 + 8 + 4  # one thread, and the default number
    assert {j.set for j in jobs if j.threads == MANY} == {"wine"}


PEER = """
import time
import numpy as np


class LMNN:
    def fit(self, X, y):
        end = time.process_time() + 60.0
        while time.process_time() < end:
            pass


class NCA:
    def fit(self, X, y):
        print("this is no answer")
        raise ValueError("no")
"""


@pytest.mark.slow
def test_a_worker_measures_caps_and_reports(tmp_path):
    """The worker is real; a module that takes its time stands in for metric-learn."""
    (tmp_path / "metric_learn.py").write_text(PEER)
    with Worker(Path(sys.executable), True, 0.2) as work:
        work.environment["PYTHONPATH"] += f":{tmp_path}"

        def answer(library, method):
            job = {"set": "iris", "rows": 40, "seed": 0, "method": method}
            return work({**job, "libraries": [library]})[library]

        capped = answer("metric-learn", "LMNN")
        assert capped["capped"] == 0.2
        assert capped["seconds"] > 0.1
        assert answer("metric-learn", "NCA") == {"failed": "ValueError: no"}
        work.cap = 60.0  # repeated fits may take longer than the first cap on a busy machine
        found = answer("seraph", "LFDA")
        assert 0.0 <= found["error"] < 20.0
        assert 0.0 < found["cpu"] <= found["seconds"] * 2 + 0.1
    assert work.process is None


@pytest.mark.slow
def test_a_worker_that_cannot_start_says_why(tmp_path):
    (tmp_path / "metric_learn.py").write_text("raise RuntimeError('broken')")
    with Worker(Path(sys.executable), True, 1.0) as work:
        work.environment["PYTHONPATH"] += f":{tmp_path}"
        with pytest.raises(SystemExit, match="broken"):
            work({})


def test_a_run_goes_on_where_it_ended_and_leaves_out_what_was_capped(tmp_path, monkeypatch):
    done = []

    def answer(job):
        done.extend((library, job["method"], job["seed"]) for library in job["libraries"])
        fine = {"error": 1.0, "seconds": 1.0, "cpu": 1.0}
        slow = {"capped": 1.0} if job["method"] == "LMNN" else fine
        return {"seraph": fine, "metric-learn": slow}

    monkeypatch.setattr(_run, "Worker", lambda *_: nullcontext(answer))
    jobs = [
        Job("iris", 40, seed, ("seraph", "metric-learn"), method, ONE)
        for seed in range(2)
        for method in ("LMNN", "NCA")
    ]
    path = tmp_path / "records.jsonl"
    _run.run(jobs[:1], Records(path), None, 1.0)
    only_ours = Job("iris", 40, 0, ("seraph",), "NCA", ONE)
    _run.run([only_ours], Records(path), None, 1.0)
    _run.run(jobs, Records(path), None, 1.0)
    assert len(done) == len(set(done)) == 7
    assert ("metric-learn", "LMNN", 1) not in done


def test_long_fits_are_timed_once_with_the_default_number_of_threads(tmp_path, monkeypatch):
    done = []

    def answer(job):
        done.append((job["method"], job["threads"], job["seed"]))
        seconds = {"NCA": 0.05, "LMNN": 0.2}[job["method"]]
        return {"seraph": {"error": 1.0, "seconds": seconds, "cpu": 0.1}}

    monkeypatch.setattr(_run, "Worker", lambda *_: nullcontext(answer))
    jobs = [
        Job("iris", 40, seed, ("seraph",), method, threads)
        for seed in range(2)
        for method in ("LMNN", "NCA")
        for threads in (ONE, MANY)
    ]
    _run.run(jobs, Records(tmp_path / "records.jsonl"), None, 1.0)
    left_out = [(j.method, j.threads, j.seed) for j in jobs]
    for job in done:
        left_out.remove(job)
    assert left_out == [("LMNN", MANY, 1)]


def records():
    """Records of two sets: one judged, one where metric-learn did not finish."""
    for name, theirs in (("vehicle", 2.0), ("iris", None)):
        for library, error, cpu in (("seraph", 30.0, 0.1), ("metric-learn", 31.0, theirs)):
            for threads in (ONE, MANY):
                found = {"error": error, "seconds": cpu, "cpu": cpu}
                yield {
                    "set": name,
                    "setting": f"40 rows, {threads}",
                    "seed": 0,
                    "method": f"{library} LMNN",
                    **({"capped": 5.0, "seconds": 4.0} if cpu is None else found),
                }
        yield {
            "set": name,
            "setting": f"40 rows, {ONE}",
            "seed": 0,
            "method": "scikit-learn Euclidean",
            "error": 40.0,
            "seconds": 0.0,
        }


def test_the_tables_show_errors_ratios_and_what_was_capped():
    text = _report.section(records())
    assert "| method | iris, 40 | vehicle, 40 |" in text
    assert "| LMNN | - / 30.0, >50; >40 | 31.0 / 30.0, 20; 20 |" in text
    line = next(line for line in text.splitlines() if "1 for judging" in line)
    assert "| 40.0 | 31.0 | 30.0 | vehicle -1.0 | 20 (vehicle, 40) to 20 |" in line
    assert ">50 (iris, 40) to >50" in text
    assert "choosing: none finished" in text
    assert "stopped at the cap, 5 CPU seconds" in text


def test_a_ratio_is_that_of_one_sampling():
    """The machine was ten times as slow during the second of three."""
    found = [
        {
            **r,
            "seed": seed,
            "cpu": r["cpu"]
            * (10.0 if seed == 1 else 1.0)
            * (factor if "seraph" in r["method"] else 1.0),
        }
        for r in records()
        if r["set"] == "vehicle" and "cpu" in r
        for seed, factor in enumerate([2.0, 1.0, 4.0])
    ]
    ratio = _report.Results(found).ratio(("vehicle", 40), "LMNN", ONE)
    assert ratio == (pytest.approx(10.0), False)  # of 10, 20 and 5


def test_what_falls_short_is_bold():
    worse = [
        {**r, "error": r["error"] + 4.0, "cpu": 0.5} if r["method"].startswith("seraph") else r
        for r in records()
    ]
    line = next(x for x in _report.page(worse).splitlines() if "1 for judging" in x)
    assert "| **34.0** | **vehicle +3.0** | **4 (vehicle, 40)** to 4 |" in line


class Spy:
    """A learner that takes 0.2 s the first time and 1 ms later, by a clock of its own."""

    now: ClassVar[list] = [0.0]
    clock: ClassVar = SimpleNamespace(
        perf_counter=lambda: Spy.now[0], process_time=lambda: Spy.now[0]
    )
    fits: ClassVar[list] = []
    seen: ClassVar[set] = set()

    def __init__(self, library):
        self.library = library

    def fit(self, X, y):
        is_first = self.library not in self.seen
        self.seen.add(self.library)
        self.fits.append((self.library, len(X)))
        self.now[0] += 0.2 if is_first else 0.001

    def transform(self, X):
        return X


@pytest.fixture
def spied(monkeypatch):
    """The record of two libraries, and which one fitted how many rows."""
    monkeypatch.setattr(_worker, "learner", lambda library, *_: Spy(library))
    monkeypatch.setattr(_worker, "time", Spy.clock)  # does not depend on what else is running
    monkeypatch.setattr(Spy, "fits", [])
    monkeypatch.setattr(Spy, "seen", set())
    _worker.warm_up.cache_clear()
    job = {"set": "iris", "rows": 40, "seed": 0, "libraries": ["a", "b"], "method": "y"}
    yield _worker.work({**job, "cap": 100.0}), Spy.fits
    _worker.warm_up.cache_clear()


def test_a_short_fit_is_measured_after_a_first_one(spied):
    """The first fit imports modules, which is no part of the learner's time."""
    found, fits = spied
    for library in "ab":
        assert found[library]["cpu"] == pytest.approx(0.001)
        few, *others = [n for name, n in fits if name == library]
        assert few < 40
        assert set(others) == {40}


def test_short_fits_of_the_libraries_take_turns(spied):
    order = "".join(name for name, _ in spied[1])
    turns = [len(list(group)) for _, group in groupby(order)]
    assert len(turns) >= 2 * 0.3 / 0.03 - 2
    assert max(turns) < 0.3 * len(order)


def test_a_sampling_for_the_errors_fits_once_and_tells_no_time(spied):
    Spy.fits.clear()
    job = {"set": "iris", "rows": 40, "seed": TIMED, "libraries": ["a", "b"], "method": "y"}
    found = _worker.work({**job, "cap": 100.0})
    assert [library for library, n in Spy.fits if n == 40] == ["a", "b"]
    assert found["a"] == {"error": sample("iris", 40, TIMED).error(lambda X: X)}
    record = {"set": "iris", "setting": f"40 rows, {ONE}", "seed": TIMED, "method": "seraph NCA"}
    cell = _report.Results([{**record, **found["a"]}]).cells["iris", 40, "seraph", "NCA"]
    assert cell.errors == {TIMED: found["a"]["error"]}
    assert not cell.seconds[ONE]


def test_a_fit_that_fails_later_costs_the_other_library_nothing(monkeypatch):
    class Failing(Spy):
        def fit(self, X, y):
            super().fit(X, y)
            if self.library == "b" and len(self.fits) > 20:
                raise ValueError("no more")

    monkeypatch.setattr(_worker, "learner", lambda library, *_: Failing(library))
    monkeypatch.setattr(_worker, "time", Spy.clock)
    monkeypatch.setattr(Spy, "fits", [])
    monkeypatch.setattr(Spy, "seen", {"a", "b"})
    _worker.warm_up.cache_clear()
    job = {"set": "iris", "rows": 40, "seed": 0, "libraries": ["a", "b"], "method": "y"}
    found = _worker.work({**job, "cap": 100.0})
    _worker.warm_up.cache_clear()
    assert found["b"] == {"failed": "ValueError: no more"}
    assert found["a"]["seconds"] > 0.0


def test_the_section_replaces_itself_and_nothing_else(tmp_path):
    path = tmp_path / "RESULTS.md"
    path.write_text("# Results\n\n## one\n\n1\n\n## two\n\n2\n")
    _report.write_section(path, _report.TITLE + "\n\nold\n")
    _report.write_section(path, _report.TITLE + "\n\nnew\n")
    assert (
        path.read_text() == f"# Results\n\n## one\n\n1\n\n## two\n\n2\n\n{_report.TITLE}\n\nnew\n"
    )
    path.write_text(f"# Results\n\n{_report.TITLE}\n\nold\n\n## two\n\n2\n")
    _report.write_section(path, _report.TITLE + "\n\nnew\n")
    assert path.read_text() == f"# Results\n\n{_report.TITLE}\n\nnew\n\n## two\n\n2\n"


def test_the_environment_is_made_once_with_pinned_versions(tmp_path, monkeypatch):
    made = []
    monkeypatch.setattr(
        _environment.subprocess, "run", lambda command, **_: made.append(command[1:])
    )
    folder = tmp_path / "environment"

    def make_folder(path, **_):
        folder.mkdir(exist_ok=True)

    monkeypatch.setattr(_environment.shutil, "rmtree", make_folder)
    for _ in range(2):
        python = _environment.interpreter(folder)
    assert python.parent.parent == folder
    assert [command[1] for command in made] == ["venv", "pip"]
    assert {"scikit-learn==1.7.2", "metric-learn==0.7.0"} <= set(made[1])


def test_the_documentation_shows_the_table_of_the_last_run():
    root = Path(_tasks.__file__).parents[2]
    page = (root / "docs" / "results" / "peers.md").read_text()
    assert page.strip() in (root / "benchmarks" / "RESULTS.md").read_text()
    assert re.search(r"\| LMNN \|", page)
    assert json.dumps("results/peers.md").strip('"') in (root / "docs" / "learners.md").read_text()
