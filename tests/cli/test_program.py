"""The program as a whole: help, completion, progress, and what becomes of its output."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from seraph import load
from seraph._apps.cli import _export, _fit, _inspect, _neighbors, _query, _transform
from seraph._apps.cli._app import app
from seraph._apps.cli._progress import done_share, progress_callbacks
from tests.helpers.command import ok, refusal
from tests.helpers.quick import few
from tests.helpers.wines import FIT

COMMANDS = {
    "fit": _fit.fit,
    "transform": _transform.transform,
    "export": _export.export,
    "neighbors": _neighbors.neighbors,
    "query": _query.query,
    "inspect": _inspect.inspect,
}


@pytest.mark.parametrize("name", few(COMMANDS, {"transform", "query", "inspect"}.__contains__))
def test_the_examples_of_the_help_run(name, folder):
    help_text = " ".join(ok(name, "--help").out.split())
    examples = re.findall(r"^ *Example: seraph (.*)$", COMMANDS[name].__doc__, re.MULTILINE)
    assert examples
    if name == "fit":  # its examples have no text columns beside those they name
        frame = pd.read_csv("data.csv")
        frame.drop(columns=["name", "remarks"]).to_csv("data.csv", index=False)
        examples = [e if "--id" not in e else e.replace("data.csv", "new.csv") for e in examples]
    for example in examples:
        assert example.replace("new.csv", "data.csv") in help_text or example in help_text
        assert shlex.split(example)[0] == name
        ok(*shlex.split(example))


def test_every_command_has_an_example_json_and_quiet():
    for registered in app.registered_commands:
        if registered.hidden:
            continue
        name = registered.name or registered.callback.__name__
        text = " ".join(ok(name, "--help").out.split())
        for words in (f"Example: seraph {name} ", "--json", "--quiet"):
            assert words in text
        assert "<bool>" not in text
        assert "list[" not in text


@pytest.mark.parametrize("more", [(), ("all", "--jobs", "2"), ("--help",)])
def test_reproduce_says_in_one_line_where_the_experiments_are(more):
    err = refusal("reproduce", *more)
    assert "from a clone" in err
    assert "make table2" in err
    assert "reproduce" not in ok("--help").out


def process(*arguments, **options):
    return subprocess.Popen(
        [sys.executable, "-m", "seraph", *arguments],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options,
    )  # fmt: skip


@pytest.mark.slow
def test_the_model_is_saved_although_nobody_reads_what_is_printed(made, tmp_path):
    model = tmp_path / "m.skops"
    running = process(*FIT, "--no-check", "-o", str(model), cwd=made)
    running.stdout.close()
    assert running.stderr.read() == ""
    running.stderr.close()
    assert running.wait(timeout=600) == 0
    assert len(load(model)[-1].components_)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a full device")
@pytest.mark.slow
def test_the_model_is_saved_although_standard_output_is_full(made, tmp_path):
    model = tmp_path / "m.skops"
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "seraph", *FIT, "--no-check", "-o", str(model)],
            stdout=full, stderr=subprocess.PIPE, text=True, cwd=made, check=False,
        )  # fmt: skip
    assert done.returncode == 2
    # A slow machine may say before it that code is being compiled.
    assert re.fullmatch(r"seraph: .*No space left on device.*", done.stderr.splitlines()[-1])
    assert len(load(model)[-1].components_)


@pytest.mark.slow
def test_output_survives_an_ascii_terminal(made):
    running = process(*FIT, cwd=made, env={**os.environ, "PYTHONIOENCODING": "ascii"})
    out, err = running.communicate(timeout=600)
    assert running.returncode == 0, err
    assert "12 labels are too few" in out


def test_a_process_refuses_like_the_tests(made):
    running = process("fit", "data.csv", "--label", "clas", cwd=made)
    out, err = running.communicate(timeout=600)
    assert (running.returncode, out) == (2, "")
    assert err == "seraph: data.csv has no column 'clas'. Did you mean 'class'?\n"


def test_fit_takes_a_backend_a_budget_and_a_checkpoint(folder):
    ok(*FIT, "--no-check", "-o", "m.skops", "--set", "backend=torch",
       "--set", "unlabeled_pairs=0.5", "--set", "checkpoint=fit.ckpt")  # fmt: skip
    learner = load("m.skops")[-1]
    assert (learner.backend_, learner.device_) == ("torch", "cpu")
    assert learner.unlabeled_pairs == 0.5
    assert not Path("fit.ckpt").exists()


def test_the_shell_completes_commands():
    code = "from seraph.__main__ import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=300,
        env={"_SERAPH_COMPLETE": "complete_bash", "COMP_WORDS": "seraph pre", "COMP_CWORD": "1",
             "PATH": ""},
    )  # fmt: skip
    assert done.stdout.split() == ["predict"]


# Progress


class Bar:
    disable = False

    def __init__(self):
        self.moves = []

    def add_task(self, description, total):
        return 0

    def update(self, task, *, completed, description=None):
        self.moves.append(completed)


class State:
    rank = 2

    def __init__(self, iteration, gap):
        self.iteration, self.gap = iteration, gap


def test_the_bar_moves_within_a_fit_and_never_backward():
    bar = Bar()
    after_iteration, after_fit = progress_callbacks(bar, 2, tol=1e-3)
    for iteration, gap in enumerate([1.0, 0.1, 0.3, 0.01, 2e-3], start=1):
        after_iteration(State(iteration, gap))
    assert bar.moves[0] == 0.0
    assert 0.8 < bar.moves[-1] < 1.0
    after_fit()
    after_iteration(State(1, None))
    after_fit()
    assert bar.moves == sorted(bar.moves)
    assert bar.moves[-1] == 2


def test_a_solver_without_a_gap_moves_the_bar_by_its_iterations():
    shares = [done_share(None, None, 1e-3, iteration) for iteration in range(50)]
    assert shares == sorted(set(shares))
    assert shares[-1] < 1.0
