"""Points, labels, marked pairs and settings in every shape that users bring, for hypothesis.

A strategy picks a recipe, small and printable; its arrays are made from its seed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import dask.array as da
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from hypothesis import settings
from hypothesis import strategies as st
from scipy import sparse

from seraph import Marks
from tests.helpers.em import em


def examples(part):
    """Run one in `part` of the examples that the profile asks for."""
    return settings(max_examples=max(1, settings.default.max_examples // part))


# Points


def _cloud(rng, n, m):
    return rng.normal(size=(n, m))


def _clusters(rng, n, m):
    return _cloud(rng, n, m) + 4.0 * _cloud(rng, 3, m)[rng.integers(3, size=n)]


def _with_columns(value):
    def points(rng, n, m):
        X = _cloud(rng, n, m)
        X[:, 1:][:, rng.integers(2, size=m - 1) == 0] = value
        return X

    return points


def _with_an_outlier(rng, n, m):
    X = _cloud(rng, n, m)
    X[0] *= 1e6
    return X


GEOMETRIES = {
    "cloud": _cloud,
    "clusters": _clusters,
    "constant columns": _with_columns(3.7),
    "zero columns": _with_columns(0.0),
    "whole numbers": lambda rng, n, m: rng.integers(4, size=(n, m)) * 1.0,
    "all equal": lambda rng, n, m: np.repeat(_cloud(rng, 1, m), n, axis=0),
    "all zero": lambda rng, n, m: np.zeros((n, m)),
    "duplicates": lambda rng, n, m: _cloud(rng, n, m)[rng.integers(1 + n // 3, size=n)],
    "near duplicates": lambda rng, n, m: (
        _cloud(rng, n, m)[rng.integers(1 + n // 3, size=n)] + 1e-9 * _cloud(rng, n, m)
    ),
    "collinear": lambda rng, n, m: _cloud(rng, n, 1) * _cloud(rng, 1, m) + _cloud(rng, 1, m),
    "low rank": lambda rng, n, m: _cloud(rng, n, 2) @ _cloud(rng, 2, m),
    "an outlier": _with_an_outlier,
    "scales apart": lambda rng, n, m: _cloud(rng, n, m) * np.logspace(-6, 6, m),
    "far away": lambda rng, n, m: 1e8 + 1e-3 * _cloud(rng, n, m),
}
SOUND_GEOMETRIES = ("cloud", "clusters", "constant columns", "low rank")


def _read_only(X):
    X = X.copy()
    X.flags.writeable = False
    return X


def _names(X):
    return [f"feature {k}" for k in range(X.shape[1])]


FORMS = {
    "float64": lambda X: X,
    "float32": lambda X: X.astype(np.float32),
    "float16": lambda X: np.clip(X, -6e4, 6e4).astype(np.float16),
    "other bytes first": lambda X: X.astype(X.dtype.newbyteorder()),
    "int64": lambda X: np.clip(X, -9e15, 9e15).round().astype(np.int64),
    "uint8": lambda X: np.clip(np.abs(X), 0, 255).astype(np.uint8),
    "bool": lambda X: X - np.median(X) > 0,
    "objects": lambda X: X.astype(object),
    "columns first": np.asfortranarray,
    "every second row and column": lambda X: np.repeat(np.repeat(X, 2, 0), 2, 1)[::2, ::2],
    "from the end": lambda X: X[::-1].copy()[::-1],
    "read-only": _read_only,
    "list": lambda X: X.tolist(),
    "pandas": lambda X: pd.DataFrame(X, columns=_names(X)),
    "pandas Float64": lambda X: pd.DataFrame(X, columns=_names(X)).astype("Float64"),
    "polars": lambda X: pl.DataFrame(X, schema=_names(X)),
}


def _with(value):
    def spoiled(X):
        X = X.astype(type(value) if isinstance(value, complex | float) else object)
        X[-1, -1] = value
        return X

    return spoiled


FLAWS = {
    "a NaN": _with(np.nan),
    "an infinity": _with(-np.inf),
    "a word": _with("word"),
    "a None": _with(None),
    "a list": _with([1.0]),
    "a complex number": _with(1j),
    "text": lambda X: X.astype(str).astype(object) + "?",
    "one row": lambda X: X[:1],
    "no row": lambda X: X[:0],
    "no column": lambda X: X[:, :0],
    "one dimension": lambda X: X[:, 0],
    "three dimensions": lambda X: X[np.newaxis],
    "ragged": lambda X: [[0.0] * (1 + k % 2) for k in range(len(X))],
    "sparse": sparse.csr_array,
    "pandas missing": lambda X: pd.DataFrame(X).astype("Float64").mask(X.max() <= X),
    "a string": lambda X: "X",
    "nothing": lambda X: None,
}


@dataclass(frozen=True)
class Table:
    """Recipe for a table of points."""

    n: int
    m: int
    geometry: str
    exponent: int
    form: str
    seed: int

    @property
    def points(self):
        """The points in double precision, before they take their form."""
        rng = np.random.default_rng(self.seed)
        return GEOMETRIES[self.geometry](rng, self.n, self.m) * 10.0**self.exponent

    @property
    def X(self):
        return {**FORMS, **FLAWS}[self.form](self.points)


def seeds():
    return st.integers(0, 2**16 - 1)


def tables(*, n=(2, 60), m=(1, 40), geometries=tuple(GEOMETRIES), exponents=(-8, 8), forms=FORMS):
    return st.builds(
        Table,
        n=st.integers(*n),
        m=st.integers(*m),
        geometry=st.sampled_from(geometries),
        exponent=st.integers(*exponents),
        form=st.sampled_from(tuple(forms)),
        seed=seeds(),
    )


# Labels of the rows


def _objects(labels):
    array = np.empty(len(labels), dtype=object)
    array[:] = labels
    return array


def _named(codes, missing, name=lambda code: f"class {code}"):
    return [missing if code < 0 else name(code) for code in codes.tolist()]


def _long(code):
    return LONG + code


def _dates(codes):
    days = np.datetime64("2020-01-01") + codes.astype("timedelta64[D]")
    days[codes < 0] = np.datetime64("NaT", "D")
    return days


# Functions of class codes, with -1 where the class is not known.
DISGUISES = {
    "numbers": lambda codes: np.where(codes < 0, -1, 7 * codes + 3),
    "negative numbers": lambda codes: np.where(codes < 0, -1, -2 - codes),
    "int8": lambda codes: codes.astype(np.int8),
    "list": lambda codes: codes.tolist(),
    "column": lambda codes: codes[:, np.newaxis],
    "read-only": _read_only,
    "floats and NaN": lambda codes: np.where(codes < 0, np.nan, codes / 3),
    "text and None": lambda codes: _named(codes, None),
    "text and NaN": lambda codes: _objects(_named(codes, np.nan)),
    "text and -1": lambda codes: _named(codes, -1),
    "text array": lambda codes: np.array(_named(codes, "-1")),
    "bytes": lambda codes: np.array(_named(codes, "-1"), dtype=bytes),
    "several types": lambda codes: _named(codes, None, lambda c: c if c % 2 else f"class {c}"),
    "dates": _dates,
    "tuple": lambda codes: tuple(_named(codes, None)),
    "pandas": lambda codes: pd.Series(_named(codes, None), index=codes * 2),
    "pandas Int64": lambda codes: pd.Series(_named(codes, pd.NA, int), dtype="Int64"),
    "pandas objects": lambda codes: pd.Series(_named(codes, pd.NA), dtype=object),
    "pandas category": lambda codes: pd.Series(_named(codes, None), dtype="category"),
    "polars": lambda codes: pl.Series(_named(codes, None)),
    "polars numbers": lambda codes: pl.Series(_named(codes, None, int)),
}
# Neighbors from here on are the same float.
LONG = 2**53
# Classes as ids of many digits, which no way into the package may round.
LONG_DISGUISES = {
    "long list": lambda codes: _named(codes, None, _long),
    "long objects": lambda codes: _objects(_named(codes, None, _long)),
    "long int64": lambda codes: np.where(codes < 0, -1, LONG + codes),
    "beyond int64": lambda codes: _named(codes, None, lambda code: 2**64 + LONG + code),
    "long pandas Int64": lambda codes: pd.array(_named(codes, None, _long), dtype="Int64"),
    "long pandas UInt64": lambda codes: pd.Series(
        _named(codes, None, lambda code: 2**63 + LONG + code), dtype="UInt64"
    ),
    "long pandas arrow": lambda codes: pd.Series(
        _named(codes, None, _long), dtype="int64[pyarrow]"
    ),
    "long pandas frame": lambda codes: pd.DataFrame(
        {"y": pd.array(_named(codes, None, _long), dtype="Int64")}
    ),
    "long pandas category": lambda codes: pd.Categorical(
        _objects(_named(codes, None, _long)),
        categories=np.arange(LONG, LONG + max(1, codes.max() + 1)),
    ),
    "long pandas category of Int64": lambda codes: pd.Series(
        pd.array(_named(codes, None, _long), dtype="Int64")
    ).astype("category"),
    "long polars": lambda codes: pl.Series(_named(codes, None, _long), dtype=pl.Int64),
    "long polars unsigned": lambda codes: pl.Series(
        _named(codes, None, lambda code: 2**63 + LONG + code), dtype=pl.UInt64
    ),
    "long pyarrow": lambda codes: pa.array(_named(codes, None, _long), type=pa.int64()),
    "long pyarrow dictionary": lambda codes: pa.array(
        _named(codes, None, _long), type=pa.int64()
    ).dictionary_encode(),
}
DISGUISES |= LONG_DISGUISES
# These can hold two classes only, or no unknown one.
NARROW_DISGUISES = {
    "booleans and None": lambda codes: _named(codes, None, lambda code: code % 2 == 0),
    "pandas boolean": lambda codes: pd.Series(
        _named(codes, pd.NA, lambda code: code % 2 == 0), dtype="boolean"
    ),
    "bool": lambda codes: codes % 2 == 0,
    "uint8": lambda codes: np.maximum(codes, 0).astype(np.uint8),
    "pandas Categorical of all": lambda codes: pd.Categorical(np.maximum(codes, 0)),
}
WRONG_LABELS = {
    "one too few": lambda codes: codes[:-1],
    "two columns": lambda codes: np.column_stack([codes, codes]),
    "a number": lambda codes: 3,
    "a string": lambda codes: "labels",
    "ragged": lambda codes: [[0, 0], *([code] for code in codes[1:].tolist())],
    "none": lambda codes: [],
}


@dataclass(frozen=True)
class Classes:
    """Recipe for the labels of the rows of a table."""

    n: int
    n_classes: int
    share: float
    disguise: str
    seed: int

    @property
    def truth(self):
        """The class of each row, known or not."""
        rng = np.random.default_rng(self.seed)
        if self.n_classes >= self.n:
            return rng.permutation(self.n)
        return rng.permutation(np.arange(self.n) % self.n_classes)

    @property
    def codes(self):
        """The classes that are known, and -1."""
        rng = np.random.default_rng(self.seed + 1)
        n_known = np.ceil(self.share * self.n)
        return np.where(rng.permutation(self.n) < n_known, self.truth, -1)

    @property
    def y(self):
        return {**DISGUISES, **NARROW_DISGUISES, **WRONG_LABELS}[self.disguise](self.codes)


SHARES = (0.3, 0.6, 1.0, 0.4, 0.7, 0.1, 0.0)


def classes(n, *, n_classes=(1, 5), shares=SHARES, disguises=DISGUISES):
    return st.builds(
        Classes,
        n=st.just(n),
        n_classes=st.integers(*n_classes) if n_classes[1] < n else st.just(n),
        share=st.sampled_from(shares),
        disguise=st.sampled_from(tuple(disguises)),
        seed=seeds(),
    )


# Marked pairs


def _first(rows, value):
    rows = rows.astype(object if isinstance(value, str) else np.result_type(rows, type(value)))
    if len(rows):
        rows[0, 1] = value
    return rows


# Functions of pairs of row numbers below n, and whether they are similar.
ORDERS = {
    "plain": lambda rows, similar, n: (rows, similar),
    "twice": lambda rows, similar, n: (np.tile(rows, (2, 1)), np.tile(similar, 2)),
    "reversed": lambda rows, similar, n: (rows[:, ::-1], similar),
    "both ways": lambda rows, similar, n: (np.r_[rows, rows[:, ::-1]], np.tile(similar, 2)),
    "last first": lambda rows, similar, n: (rows[::-1], similar[::-1]),
}
DISORDERS = {
    "contradictions": lambda rows, similar, n: (np.r_[rows, rows], np.r_[similar, ~similar]),
    "with itself": lambda rows, similar, n: (_first(rows, rows[0, 0]), similar),
    "out of range": lambda rows, similar, n: (_first(rows, n), similar),
    "far out of range": lambda rows, similar, n: (_first(rows.astype(float), 1e300), similar),
    "negative": lambda rows, similar, n: (_first(rows, -1), similar),
    "not whole": lambda rows, similar, n: (rows + 0.5, similar),
    "NaN": lambda rows, similar, n: (_first(rows, np.nan), similar),
    "infinite": lambda rows, similar, n: (_first(rows, np.inf), similar),
    "words": lambda rows, similar, n: (_first(rows, "word"), similar),
    "text": lambda rows, similar, n: (rows.astype(str), similar),
    "missing": lambda rows, similar, n: (_first(rows.astype(object), np.nan), similar),
    "complex": lambda rows, similar, n: (rows + 0j, similar),
    "bool": lambda rows, similar, n: (rows > 0, similar),
    "dates": lambda rows, similar, n: (rows.astype("M8[D]"), similar),
    "triples": lambda rows, similar, n: (np.c_[rows, rows[:, :1]], similar),
    "flat": lambda rows, similar, n: (rows.ravel(), similar),
    "ragged": lambda rows, similar, n: ([[0, 1], [2]], similar),
    "one label too few": lambda rows, similar, n: (rows, similar[1:]),
    "no labels": lambda rows, similar, n: (rows, None),
    "no pairs": lambda rows, similar, n: (None, similar),
    "a number": lambda rows, similar, n: (3, similar),
}
ROW_FORMS = {
    "intp": lambda rows: rows,
    "uint8": lambda rows: rows.astype(np.uint8),
    "uint64": lambda rows: rows.astype(np.uint64),
    "int16": lambda rows: rows.astype(np.int16),
    "floats": lambda rows: rows.astype(np.float64),
    "objects": lambda rows: rows.astype(object),
    "list": lambda rows: rows.tolist(),
    "tuples": lambda rows: [tuple(row) for row in rows.tolist()],
    "columns first": np.asfortranarray,
    "pandas": lambda rows: pd.DataFrame(rows, columns=["i", "j"]),
    "polars": lambda rows: pl.DataFrame(rows, schema=["i", "j"]),
    "dask": lambda rows: da.from_array(rows, chunks=(7, 2)),
}
SIGN_FORMS = {
    "bool": lambda similar: similar,
    "signs": lambda similar: np.where(similar, 1, -1),
    "int8": lambda similar: np.where(similar, 1, -1).astype(np.int8),
    "floats": lambda similar: np.where(similar, 1.0, -1.0),
    "objects": lambda similar: np.where(similar, 1, -1).astype(object),
    "bool objects": lambda similar: similar.astype(object),
    "list": lambda similar: np.where(similar, 1, -1).tolist(),
    "list of bool": lambda similar: similar.tolist(),
    "pandas": lambda similar: pd.Series(np.where(similar, 1, -1)),
    "pandas Int64": lambda similar: pd.Series(np.where(similar, 1, -1), dtype="Int64"),
    "pandas boolean": lambda similar: pd.Series(similar, dtype="boolean"),
    "polars": lambda similar: pl.Series(similar),
    "dask": lambda similar: da.from_array(similar, chunks=7),
}
WRONG_SIGNS = {
    "mixed": lambda similar: np.where(similar, 0.5, -1.0),
    "beyond one": lambda similar: np.where(similar, 1.5, 0.0),
    "uint8": lambda similar: np.where(similar, 1, 255).astype(np.uint8),
    "text": lambda similar: np.where(similar, "1", "-1"),
    "words": lambda similar: np.where(similar, "yes", "no").tolist(),
    "column": lambda similar: np.where(similar, 1, -1)[:, np.newaxis],
    "complex": lambda similar: np.where(similar, 1, -1) + 1j,
    "ragged": lambda similar: [[1, 1], *([1] for _ in similar)],
    "a number": lambda similar: 1,
}


@dataclass(frozen=True)
class Marked:
    """Recipe for marked pairs; they agree with the classes, except in a disorder."""

    classes: Classes
    n_pairs: int
    order: str
    row_form: str
    sign_form: str
    seed: int

    @property
    def rows(self):
        """Distinct pairs of rows, the smaller first."""
        rng = np.random.default_rng(self.seed)
        i, j = np.triu_indices(self.classes.n, 1)
        chosen = rng.permutation(len(i))[: self.n_pairs]
        return np.column_stack([i[chosen], j[chosen]])

    @property
    def similar(self):
        truth = self.classes.truth
        return truth[self.rows[:, 0]] == truth[self.rows[:, 1]]

    @property
    def parts(self):
        """The arguments of ``seraph.Marks``."""
        order = {**ORDERS, **DISORDERS}[self.order]
        rows, similar = order(self.rows, self.similar, self.classes.n)
        if self.order in ORDERS:
            rows = ROW_FORMS[self.row_form](rows)
        if isinstance(similar, np.ndarray):
            similar = {**SIGN_FORMS, **WRONG_SIGNS}[self.sign_form](similar)
        return {"pairs": rows, "labels": similar, "rows": self.classes.n}

    @property
    def marks(self):
        return Marks(**self.parts)


def marks(classes, *, orders=ORDERS, row_forms=ROW_FORMS, sign_forms=SIGN_FORMS, n_pairs=(1, 40)):
    return st.builds(
        Marked,
        classes=st.just(classes),
        n_pairs=st.integers(*n_pairs),
        order=st.sampled_from(tuple(orders)),
        row_form=st.sampled_from(tuple(row_forms)),
        sign_form=st.sampled_from(tuple(sign_forms)),
        seed=seeds(),
    )


# All arguments of ``fit``


@dataclass(frozen=True)
class Case:
    """Recipe for the arguments of ``fit``."""

    table: Table
    classes: Classes
    with_y: bool
    marked: Marked | None

    @property
    def knowledge(self):
        """Labels and marked pairs, as arguments of ``fit``."""
        known = {"y": self.classes.y} if self.with_y else {}
        return known if self.marked is None else {**known, "marks": self.marked.marks}

    @property
    def arguments(self):
        return {"X": self.table.X, **self.knowledge}


@st.composite
def cases(draw, **limits):
    """Anything that may work: degenerate points, with valid labels and pairs."""
    table = draw(tables(**limits))
    kinds = {**DISGUISES, **NARROW_DISGUISES}
    several = classes(table.n, disguises=kinds)
    known = draw(several | classes(table.n, n_classes=(table.n, table.n), disguises=kinds))
    source = draw(st.sampled_from(["classes", "classes", "pairs", "both"]))
    marked = None
    if source != "classes":
        # A narrow disguise merges classes, so it would contradict the pairs.
        if source == "both" and known.disguise in NARROW_DISGUISES:
            known = replace(known, disguise="numbers")
        marked = draw(marks(known, n_pairs=(0, 40)))
    return Case(table, known, source != "pairs", marked)


@st.composite
def sound_cases(draw, *, n=(6, 30), geometries=SOUND_GEOMETRIES, marked=False):
    """Points that differ, with similar and dissimilar pairs known: a well-posed problem."""
    plain = {"exponents": (0, 0), "forms": ("float64",)}
    table = draw(tables(n=n, m=(1, 12), geometries=geometries, **plain))
    known = draw(
        classes(table.n, n_classes=(2, 3), shares=(0.5, 0.8, 1.0), disguises=("numbers",)).filter(
            _both_kinds
        )
    )
    plain = {"orders": ("plain",), "row_forms": ("intp",), "sign_forms": ("bool",)}
    some = marks(known, **plain)
    return Case(table, known, True, draw(some if marked else st.none() | some))


def spoiled(case, part, flaw):
    """A sound case with one flaw: in its points, labels, pairs, or pair labels."""
    if part == "points":
        return replace(case, table=replace(case.table, form=flaw))
    if part == "labels":
        return replace(case, classes=replace(case.classes, disguise=flaw))
    marked = case.marked or Marked(case.classes, 40, "plain", "intp", "signs", 0)
    if part == "pairs":
        return replace(case, marked=replace(marked, order=flaw))
    return replace(case, marked=replace(marked, n_pairs=10**6, sign_form=flaw))


def _both_kinds(classes):
    sizes = np.bincount(classes.codes[classes.codes >= 0], minlength=1)
    return np.sum(sizes > 0) > 1 and sizes.max() > 1


# Settings


def weights(*own):
    return st.sampled_from([*own, 0, 1e-10, 1e-3, 0.3, np.float32(1), 1, 40, 1e6, 1e12])


def some_of(options):
    """A few of the options at a time."""
    names = st.sets(st.sampled_from(tuple(options)), max_size=4)
    return names.flatmap(lambda some: st.fixed_dictionaries({k: options[k] for k in sorted(some)}))


def parameters():
    """Settings of SERAPH, some at the ends of their range; few steps, to be quick."""
    return st.builds(
        dict,
        some_of(
            {
                "mu": weights("auto"),
                "lam": weights("auto"),
                "eta": weights(),
                "gamma": weights(None),
                "manifold": weights(),
                "solver": st.sampled_from(
                    ["auto", "low-rank", "spg", "projected-gradient", "em", em(3)]
                ),
                "n_components": st.sampled_from([None, 1, 2, 5]),
                "tol": st.sampled_from([0, 1e-9, 1e-5, 0.1, 10.0]),
                "unlabeled_pairs": st.sampled_from(["auto", "all", 1, 5, 1000]),
                "n_jobs": st.sampled_from([None, 2, -1]),
            }
        ),
        random_state=st.just(0),
        max_iter=st.sampled_from([200, 20, 2, 1]),
    )
