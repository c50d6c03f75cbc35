"""The program as a whole: help, completion, progress, and what becomes of its output."""

import re
import shlex
import subprocess
import sys

import pandas as pd
import pytest

from seraph._apps.cli import _export, _fit, _transform
from seraph._apps.cli._app import app
from tests.helpers.command import ok
from tests.helpers.quick import few

COMMANDS = {
    "fit": _fit.fit,
    "transform": _transform.transform,
    "export": _export.export,
}


@pytest.mark.parametrize("name", few(COMMANDS, {"transform"}.__contains__))
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
        assert "list[" not in text


def test_the_shell_completes_commands():
    code = "from seraph.__main__ import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=300,
        env={"_SERAPH_COMPLETE": "complete_bash", "COMP_WORDS": "seraph pre", "COMP_CWORD": "1",
             "PATH": ""},
    )  # fmt: skip
    assert done.stdout.split() == ["predict"]
