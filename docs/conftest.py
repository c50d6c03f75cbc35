"""Runs the examples on these pages: ``make docs``, or ``pytest docs/*.md``.

The blocks of a page run in order, in one namespace and one empty folder. A ``python`` block with
prompts must print what the page says, an ``sh`` block must succeed, and a warning is an error.
Code that the page needs and its reader does not stands in a comment: ``<!-- python ... -->``.
Mark a block that cannot run here as ``{code-block} python`` or ``{code-block} sh``.
"""

import os
import re
import subprocess
import sys
import tempfile
from doctest import ELLIPSIS, NORMALIZE_WHITESPACE
from pathlib import Path

from sybil import Example, Sybil
from sybil.parsers.abstract.codeblock import (
    AbstractCodeBlockParser,
    PythonDocTestOrCodeBlockParser,
)
from sybil.parsers.abstract.lexers import BlockLexer
from sybil.parsers.markdown.lexers import FencedCodeBlockLexer
from sybil.typing import Evaluator

HERE = Path.cwd()


def blocks(language: str, evaluator: Evaluator) -> AbstractCodeBlockParser:
    """Return a parser of the blocks in a language, those in comments included."""
    comment = re.compile(rf"^<!-- (?P<language>{language})\n", re.MULTILINE)
    lexers = [FencedCodeBlockLexer(language), BlockLexer(comment, r"(?<=\n)-->")]
    return AbstractCodeBlockParser(lexers, language, evaluator, "language")


class PythonBlocks(PythonDocTestOrCodeBlockParser):
    """Python blocks, with prompts or without."""

    codeblock_parser_class = staticmethod(blocks)


def run_shell(example: Example) -> None:
    """Run an ``sh`` block with the commands of this environment; a failing line ends it."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        ["sh", "-e", "-c", example.parsed],
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"exit status {done.returncode}\n{done.stdout}{done.stderr}")


def enter_empty_folder(names: dict[str, object]) -> None:
    """Make a folder for a page and go there."""
    os.environ.setdefault("MPLBACKEND", "agg")
    folder = tempfile.TemporaryDirectory()
    names.update(__name__="__main__", _folder=folder)
    os.chdir(folder.name)


def leave_folder(names: dict[str, object]) -> None:
    """Go back, and remove the folder of a page."""
    os.chdir(HERE)
    names["_folder"].cleanup()


pytest_collect_file = Sybil(
    parsers=[
        PythonBlocks(doctest_optionflags=ELLIPSIS | NORMALIZE_WHITESPACE),
        blocks("sh", run_shell),
    ],
    pattern="*.md",
    setup=enter_empty_folder,
    teardown=leave_folder,
).pytest()
