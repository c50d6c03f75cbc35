"""Runs the examples on the pages of the documentation: ``python tools/run_pages.py docs/*.md``.

The blocks of ``python`` on a page are run in their order, in one namespace and an empty folder.
Where a block has prompts, it must print what the page says. A warning is an error. What a page
needs and its reader has (data, say) stands in a comment: ``<!-- python ... -->``. A block that
cannot run here is marked ``{code-block} python`` or ``pycon``, and is left alone.
"""

import contextlib
import doctest
import io
import os
import re
import sys
import tempfile
import time
import traceback
import warnings
from pathlib import Path

BLOCK = re.compile(r"^```python\n(.*?)^```$|^<!-- python\n(.*?)^-->$", re.MULTILINE | re.DOTALL)
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def run(page: Path) -> str:
    """What went wrong on a page; nothing, as it should be."""
    text = page.read_text(encoding="utf-8")
    names: dict[str, object] = {"__name__": "__main__"}
    for block in BLOCK.finditer(text):
        code = block.group(1) or block.group(2)
        line = text.count("\n", 0, block.start()) + 1
        trouble = check(code, names, page, line)
        if trouble:
            return trouble
    return ""


def check(code: str, names: dict[str, object], page: Path, line: int) -> str:
    """Run a block that begins after a line of a page; what went wrong."""
    said = io.StringIO()
    if code.lstrip().startswith(">>>"):
        test = doctest.DocTestParser().get_doctest(code, names, str(page), str(page), line)
        runner = doctest.DocTestRunner(verbose=False, optionflags=FLAGS)
        runner.run(test, out=said.write, clear_globs=False)
        names.update(test.globs)
        return said.getvalue() if runner.failures else ""
    try:
        with contextlib.redirect_stdout(said):
            # Blank lines before it make the line numbers of a traceback those of the page.
            exec(compile("\n" * line + code, page, "exec"), names)
    except Exception:
        return traceback.format_exc()
    return ""


def main(pages: list[Path]) -> int:
    os.environ.setdefault("MPLBACKEND", "agg")
    warnings.simplefilter("error")
    n_bad = 0
    for page in pages:
        start, home = time.perf_counter(), Path.cwd()
        with tempfile.TemporaryDirectory() as empty:
            os.chdir(empty)
            trouble = run(home / page)
            os.chdir(home)
        n_bad += bool(trouble)
        print(f"{page}: {'WRONG' if trouble else 'runs'}, {time.perf_counter() - start:.1f} s")
        if trouble:
            print(trouble)
    return 1 if n_bad else 0


if __name__ == "__main__":
    sys.exit(main([Path(name) for name in sys.argv[1:]]))
