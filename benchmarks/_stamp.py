"""The stamp of a result (version, tree, defaults and date), and the blocks of pages that have one.

A page marks a block by ``<!-- NAME: PART -->`` and ``<!-- end -->``; the command ``python -m
benchmarks.NAME`` that rebuilds the results replaces what is between them.
"""

import datetime
import re
import subprocess
from hashlib import sha256
from pathlib import Path

import seraph

ROOT = Path(__file__).parents[1]
# Defaults with today's metrics: since bf9b95ba, classifiers have a forest (figures from before it
# are of metrics alone, or name the rule), and ITML lost a parameter that none of them used.
SAME = {"37192f31": ("bf9b95ba",)}
DEFAULTS = (seraph.SERAPH, seraph.MeanMetric, seraph.PairClassifier, seraph.MetricClassifier)


def make_stamp():
    """Return the stamp of a result that is made now.

    Examples
    --------
    >>> make_stamp()  # doctest: +SKIP
    'seraph 1.0.0, tree 1.0.0-3-gaf1c899, defaults 0d6e3ad4, 2026-11-18'
    """
    day = datetime.date.today().isoformat()
    return f"seraph {seraph.__version__}, tree {tree()}, defaults {hash_defaults()}, {day}"


def hash_defaults():
    """Return eight digits that change when a default of our learners does."""
    text = ""
    for make in DEFAULTS:
        text += "".join(f"{name} {value}\n" for name, value in make().get_params().items())
    return sha256(text.encode()).hexdigest()[:8]


def tree():
    """Return the name of the tree: tag, commits since, commit, and if code was changed."""
    name = git("describe", "--tags", "--always", "--long") or "unknown"
    return name + ("-changed" if git("status", "--porcelain", "--", "src", "*.py") else "")


def git(*arguments):
    """Return what git prints; nothing if it fails or is not installed."""
    try:
        done = subprocess.run(
            ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
        )
    except FileNotFoundError:  # git is not installed
        return ""
    return done.stdout.strip()


def fill(page, name, blocks):
    """Replace the blocks ``<!-- name: PART -->`` of a page, if the page is there."""
    if page.exists():
        text = page.read_text(encoding="utf-8")
        for part, block in blocks.items():
            pattern = rf"(<!-- {name}: {part} -->\n).*?(<!-- end -->)"
            text = re.sub(pattern, lambda m, b=block: f"{m[1]}\n{b}\n{m[2]}", text, flags=re.S)
        page.write_text(text, encoding="utf-8")


def table(header, rows):
    """Return a Markdown table."""
    head, *body = (f"| {' | '.join(map(str, line))} |" for line in [header, *rows])
    return "\n".join([head, "|---" * len(header) + "|", *body]) + "\n"
