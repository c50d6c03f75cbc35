"""Any command of the command line with odd options, on tables in any format, some damaged."""

import gzip
import sqlite3
import tempfile
from contextlib import chdir
from functools import cache
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pandas as pd
import typer

from seraph._apps.cli import app
from seraph._apps.cli._tables import KINDS
from seraph._apps.cli._tables._limits import MOST_COLUMNS
from tests.helpers.command import assert_refused
from tests.helpers.command import seraph as command
from tests.helpers.people import people, same
from tests.helpers.tables import CSV, FILES, PAIRS, ods, table, written, xlsx
from tests.helpers.trial import time_limit
from tests.hostile import inputs
from tests.hostile.others import answers_file
from tests.hostile.trial import SECONDS, check_words


@cache
def table_files():
    """The same table in every format that the command line reads."""
    frame = table()
    files = dict(FILES)
    files["tsv"] = frame.to_csv(index=False, sep="\t").encode()
    files["tsv.gz"] = gzip.compress(files["tsv"], mtime=0)
    files["jsonl"] = files["ndjson"] = frame.to_json(orient="records", lines=True).encode()
    files["feather"] = files["arrow"] = written(frame.to_feather)
    rows = [list(frame), *frame.to_numpy().tolist()]
    files["xlsx"], files["ods"] = xlsx(rows), ods(rows)
    with tempfile.TemporaryDirectory() as folder:
        connection = sqlite3.connect(Path(folder) / "t.db")
        frame.to_sql("data", connection, index=False)
        connection.close()
        files["db"] = (Path(folder) / "t.db").read_bytes()
    assert {f".{kind}" for kind in files} >= set(KINDS)
    return files


@cache
def too_large():
    """Small files that would take much memory."""
    header = ",".join(f"c{k}" for k in range(MOST_COLUMNS + 1)).encode()
    return [
        ("csv", header + b"\n1,2\n"),
        ("jsonl", b"{" + b",".join(b'"%d":1' % k for k in range(MOST_COLUMNS + 1)) + b"}\n"),
    ]


# What a command may write.
OUTPUTS = {
    "output": "out.csv", "report": "out.html", "picture": "out.png",
    "pairs_out": "found.csv", "ask": "asked.csv", "out": "out",
}  # fmt: skip
# What makes sense for an option, by its name.
SENSIBLE = {
    "scale": ("standard", "minmax", "unit", "none"),
    "impute": ("median", "knn"),
    "dates": ("days", "parts", "drop"),
    "learner": ("SERAPH", "KernelSERAPH", "GMML", "Euclidean", "LFDA", "MLKR"),
    "components": ("1", "2", "100"),
    "k": ("1", "3", "1000000"),
    "n": ("1", "3", "1000000"),
    "row": ("0", "3", "13", "P1"),
    "precision": ("0", "0.5", "1"),
    "sample": ("2", "8", "1000"),
    "unlabeled": ("x", "y"),
    "lam": ("auto", "0", "1e-3", "1e12"),
    "parameter": (
        "max_iter=3",
        "eta=2",
        "tol=nan",
        "lam=[1",
        "__class__=1",
        "n_jobs=1e400",
        "n_jobs=2",
        "mu=1e12",
        "unlabeled_pairs=0.5",
        "backend=numba",
        "backend=dask",
        "n_components=100",
    ),
    "sql": ("select * from data", "select a, b, class from data limit 5", "drop table data", "("),
    "classes": ("x", "x,y"),
    "seed": ("0", "1"),
    "port": ("0", "65535"),
    **dict.fromkeys(("id_column", "drop", "keep", "onehot", "text", "show"), ("a", "id", "name")),
}
WORDS = (
    "0", "1", "3", "-1", "0.5", "auto", "all", "nan", "inf", "1e400", "", "class", "a", "b",
    "gradient", "none", "numpy", "\x1b[31m", "é", "=1+1",
)  # fmt: skip
# How likely an option is given, where that is not 0.15.
LIKELY = {"output": 1.0, "label": 1.0, "row": 1.0}
LIKELY |= {("duplicates", "pairs"): 0.7, ("duplicates", "id_column"): 0.5, ("fit", "pairs"): 0.3}
# They take seconds when all is well, so here something is always wrong.
NEVER_WELL = {
    "compare": ["--scale", "word"],
    "demo": ["--picture", "nowhere/demo.png"],
}


def commands():
    """All commands by name, as the help lists them."""
    found = typer.main.get_command(app).commands
    return {name: command for name, command in found.items() if not command.hidden}


@cache
def command_model():
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        Path("data.csv").write_bytes(CSV)
        done = command("fit", "data.csv", "--label", "class", "--no-check", "-o", "m.skops")
        assert done.code == 0, done.err
        return Path("m.skops").read_bytes()


class Nobody:
    """A server whose user leaves at once."""

    address = "http://127.0.0.1:1/token/"

    def __init__(self, session, port):
        pass

    def run(self, *, browser):
        raise KeyboardInterrupt


@cache
def people_twice():
    """Records of people, some twice, and answers about them, as tables."""
    records, person = people(14, 8)
    records.insert(0, "id", [f"P{k}" for k in range(len(records))])
    rows = np.array([(i, j) for j in range(len(records)) for i in range(j)])[::4]
    answers = pd.DataFrame(rows, columns=["i", "j"])
    answers["similar"] = same(person, rows).astype(int)
    return records.to_csv(index=False).encode(), answers.to_csv(index=False).encode()


def a_command(rng):
    """Run a command with odd options on odd files: exit code 0, or 2 and one line, in time."""
    name = rng.choice(sorted(commands()))
    files = table_files()
    kind = rng.choice(sorted(files))
    content, pairs = files[kind], PAIRS
    if name == "duplicates" and rng.random() < 0.7:
        kind, (content, pairs) = "csv", people_twice()
    elif rng.random() < 0.05:
        kind, content = rng.choice(too_large())
    elif kind in ("xlsx", "ods") and rng.random() < 0.5:
        content = inputs.damaged_inside(rng, content)
    for path, sound, share in (
        (f"data.{kind}", content, 1.0),
        (f"second.{kind}", content, 1.0),
        ("m.skops", command_model(), 1.0),
        ("pairs.csv", pairs, 1.0),
        ("answers.csv", answers_file(), 0.3),
    ):
        if rng.random() < share:
            spoiled = rng.random() < (0.2 if share == 1.0 else 0.5)
            Path(path).write_bytes(inputs.damaged(rng, sound) if spoiled else sound)
    given = {"data": f"data.{kind}", "model": "m.skops"}
    words, options = [], []
    for parameter in commands()[name].params:
        if parameter.param_type_name == "argument":
            usual = given.get(parameter.name)
            words.append(usual if usual and rng.random() < 0.97 else rng.choice(WORDS))
        elif rng.random() < LIKELY.get((name, parameter.name), LIKELY.get(parameter.name, 0.15)):
            options += _option(rng, name, parameter, kind)
    if name == "fit" and rng.random() < 0.8:
        options += ["--no-check"]
    if name in NEVER_WELL:
        options += NEVER_WELL[name]
    before = set(Path().iterdir())
    with patch("seraph._apps.ask._server.Server", Nobody), time_limit(SECONDS):
        done = command(name, *words, *options)
    check_words(done.err)
    made = set(Path().iterdir()) - before
    assert not any(path.name.startswith(".") for path in made), made
    if done.code == 0:
        assert name not in NEVER_WELL
        lines = done.err.splitlines() if name != "ask" else []
        assert all(line.startswith("seraph: note: ") for line in lines), done.err
        return f"{name} done"
    assert_refused(done)
    assert not made
    return f"{name} refused: {done.err[:40]}"


def _option(rng, command_name, parameter, kind):
    if parameter.name == "help" or getattr(parameter, "is_eager", False):
        return []
    flag = max(parameter.opts, key=len)
    if getattr(parameter, "is_flag", False):
        return [flag]
    if parameter.name == "label":
        return [flag, "class"] if rng.random() < 0.9 else []
    if parameter.name == "output":
        by_command = {
            "fit": "out.skops",
            "ask": "answers.csv",
            "export": rng.choice(["W.npy", "W.safetensors", "W.csv"]),
        }
        return [flag, by_command.get(command_name, "out.csv")]
    read = {"pairs": "pairs.csv"}
    read |= dict.fromkeys(("against", "reference", "data"), f"second.{kind}")
    usual = read.get(parameter.name) or OUTPUTS.get(parameter.name)
    if usual and rng.random() < 0.9:
        return [flag, usual]
    words = SENSIBLE.get(parameter.name)
    return [flag, rng.choice(words if words and rng.random() < 0.6 else WORDS)]
