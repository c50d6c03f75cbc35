"""Runs the examples on these pages, as a part of ``make test``, or with ``pytest docs/*.md``.

The blocks of a page run in order, in one namespace, and a warning is an error. The folder holds
the files that the page offers with ``{download}``, and nothing else. What a page shows is compared
with what comes out, so no page can show what is no longer true:

- A ``python`` block with prompts must print what the page says.
- A ``console`` block has commands after ``$ `` and, below each, what it prints on stdout and
  stderr. ``...`` stands for anything; spaces, line ends and the widths of tables do not count.
- An ``sh`` block must succeed, and shows no output.
- For figures in the text there is ``says``, which fails where the page does not have these words:
  ``says(f"{right} of 15")``.

Checks stand in comments, ``<!-- python ... -->``, and so does what a person does by hand, such as
filling in a file. A comment sees the names of the blocks above it, but blocks do not see names
from comments: whoever copies the blocks of a page, top to bottom, has all that they need.
Mark a block that cannot run here as ``{code-block} python`` or ``{code-block} sh``; it shows no
output.

A picture that a page draws is a file of that name in ``images``. To draw it again from the page:
``PICTURES=docs/images pytest docs/page.md``.
"""

import doctest
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from unittest.mock import patch

from sybil import Document, Example, Sybil
from sybil.parsers.abstract.codeblock import (
    AbstractCodeBlockParser,
    PythonDocTestOrCodeBlockParser,
)
from sybil.parsers.abstract.lexers import BlockLexer
from sybil.parsers.markdown.lexers import FencedCodeBlockLexer
from sybil.typing import Evaluator

HERE = Path.cwd()
DOWNLOAD = r"\{download\}`(?:[^`<]*<)?([^`>]+)"
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

        self.namespace.update(says=says, _page=Path(path), _downloads=re.findall(DOWNLOAD, text))
        self.hidden: dict[str, object] = {}


def run_comment(example: Example) -> str | None:
    """Run a comment in a namespace of its own, which has the names of the page, too."""
    page = example.document
    page.hidden.update(page.namespace)
    code = compile("\n" * example.line + example.parsed, page.path, "exec", dont_inherit=True)
    exec(code, page.hidden)


class Comments(AbstractCodeBlockParser):
    """Python in comments."""

    def __init__(self) -> None:
        comment = re.compile(r"^<!-- (?P<language>python)\n", re.MULTILINE)
        lexer = BlockLexer(comment, r"(?<=\n)-->")
        super().__init__([lexer], "python", run_comment, "language")


def blocks(language: str, evaluator: Evaluator) -> AbstractCodeBlockParser:
    """Return a parser of the blocks in a language."""
    return AbstractCodeBlockParser(
        [FencedCodeBlockLexer(language)], language, evaluator, "language"
    )


class PythonBlocks(PythonDocTestOrCodeBlockParser):
    """Python blocks, with prompts or without."""

    codeblock_parser_class = staticmethod(blocks)


def run(commands: str) -> tuple[int, str]:
    """Run a script with the commands of this environment; return its status and what it prints.

    A failing line ends it. A single ``seraph`` command runs in this process, which has what takes
    seconds to import.
    """
    script = commands.replace("\\\n", " ").strip()
    if re.fullmatch(r"seraph [^\n|<>&;$*]+", script):
        return run_seraph(shlex.split(script))
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


def run_seraph(words: list[str]) -> tuple[int, str]:
    """Run a command of ours in this process; return its status and what it prints."""
    from seraph.__main__ import main

    printed = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    status: object = 0
    with (
        patch.object(sys, "argv", words),
        redirect_stdout(printed),
        redirect_stderr(printed),
    ):
        try:
            main()
        except SystemExit as end:
            status = end.code or 0
    return int(bool(status)), printed.buffer.getvalue().decode()


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


def enter_folder(names: dict[str, object]) -> None:
    """Make a folder for a page, with the files that it offers, and go there."""
    os.environ.setdefault("MPLBACKEND", "agg")
    folder = tempfile.TemporaryDirectory()
    names.update(__name__="__main__", _folder=folder)
    for file in names["_downloads"]:
        shutil.copy(names["_page"].parent / file, folder.name)
    os.chdir(folder.name)
    sys.path.insert(0, folder.name)


def leave_folder(names: dict[str, object]) -> None:
    """Go back, keep the pictures if asked to, and remove the folder of a page."""
    os.chdir(HERE)
    sys.path.remove(names["_folder"].name)
    if pictures := os.environ.get("PICTURES"):
        for picture in Path(names["_folder"].name).glob("*.png"):
            shutil.copy(picture, pictures)
    names["_folder"].cleanup()


PAGES = Sybil(
    parsers=[
        PythonBlocks(doctest_optionflags=FLAGS),
        Comments(),
        blocks("sh", run_shell),
        blocks("console", run_console),
    ],
    pattern="*.md",
    document_types={".md": Page},
    setup=enter_folder,
    teardown=leave_folder,
)
pytest_collect_file = PAGES.pytest()
