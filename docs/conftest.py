"""Runs the examples on these pages: ``make docs``, or ``pytest docs/*.md``.

The blocks of a page run in order, in one namespace and one empty folder, and a warning is an
error. What a page shows is compared with what comes out, so no page can show what is no longer
true:

- A ``python`` block with prompts must print what the page says.
- A ``console`` block has commands after ``$ `` and, below each, what it prints on stdout and
  stderr. ``...`` stands for anything; spaces, line ends and the widths of tables do not count.
- An ``sh`` block must succeed, and shows no output.
- For figures in the text there is ``says``, which fails where the page does not have these words:
  ``says(f"{right} of 15")``.

Code that the page needs and its reader does not stands in a comment: ``<!-- python ... -->``.
Mark a block that cannot run here as ``{code-block} python`` or ``{code-block} sh``; it shows no
output.
"""

import doctest
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from sybil import Document, Example, Sybil
from sybil.parsers.abstract.codeblock import (
    AbstractCodeBlockParser,
    PythonDocTestOrCodeBlockParser,
)
from sybil.parsers.abstract.lexers import BlockLexer
from sybil.parsers.markdown.lexers import FencedCodeBlockLexer
from sybil.typing import Evaluator

HERE = Path.cwd()
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
# A command, up to the first line that does not end with a backslash, and the rest.
COMMAND = r"((?:[^\n]*\\\n)*[^\n]*\n)(.*)"


class Page(Document):
    """A page whose examples can ask what its text says."""

    def __init__(self, text: str, path: str) -> None:
        super().__init__(text, path)
        shown = " ".join(re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL).split())

        def says(words: str) -> None:
            if words not in shown:
                raise AssertionError(f"The page does not say {words!r}.")

        self.namespace["says"] = says


def blocks(language: str, evaluator: Evaluator) -> AbstractCodeBlockParser:
    """Return a parser of the blocks in a language, those in comments included."""
    comment = re.compile(rf"^<!-- (?P<language>{language})\n", re.MULTILINE)
    lexers = [FencedCodeBlockLexer(language), BlockLexer(comment, r"(?<=\n)-->")]
    return AbstractCodeBlockParser(lexers, language, evaluator, "language")


class PythonBlocks(PythonDocTestOrCodeBlockParser):
    """Python blocks, with prompts or without."""

    codeblock_parser_class = staticmethod(blocks)


def run(commands: str) -> tuple[int, str]:
    """Run a script with the commands of this environment; return its status and what it prints.

    A failing line ends it.
    """
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        ["sh", "-e", "-c", commands],
        env={**os.environ, "PATH": path, "PYTHONUTF8": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
    )
    return done.returncode, done.stdout


def run_shell(example: Example) -> str | None:
    """Run an ``sh`` block; return what went wrong."""
    status, printed = run(example.parsed)
    return f"exit status {status}\n{printed}" if status else None


def run_console(example: Example) -> str | None:
    """Run the commands of a ``console`` block; return what differs from the page.

    A command that shows no output must succeed. One that fails must show its message.
    """
    before, *sessions = re.split(r"^\$ ", example.parsed, flags=re.MULTILINE)
    if before or not sessions:
        return f"A console block begins with a command after '$ '; got {example.parsed!r}."
    for session in sessions:
        command, shown = re.fullmatch(COMMAND, session, re.DOTALL).groups()
        status, printed = run(command)
        if status and not shown.strip():
            return f"{command}exit status {status}\n{printed}"
        want, got = (narrow(text.rstrip() + "\n") for text in (shown, printed))
        checker = doctest.OutputChecker()
        if shown.strip() and not checker.check_output(want, got, FLAGS):
            return command + checker.output_difference(doctest.Example(command, want), got, FLAGS)
    return None


def narrow(text: str) -> str:
    """Shorten the rules of tables, which are as wide as their widest cells."""
    return re.sub(r"([─━])\1+", r"\1", text)


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
        PythonBlocks(doctest_optionflags=FLAGS),
        blocks("sh", run_shell),
        blocks("console", run_console),
    ],
    pattern="*.md",
    document_types={".md": Page},
    setup=enter_empty_folder,
    teardown=leave_folder,
).pytest()
