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


def test_the_shell_completes_commands():
    code = "from seraph.__main__ import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=300,
        env={"_SERAPH_COMPLETE": "complete_bash", "COMP_WORDS": "seraph pre", "COMP_CWORD": "1",
             "PATH": ""},
    )  # fmt: skip
    assert done.stdout.split() == ["predict"]
