"""Points, labels, marked pairs and settings in every shape that users bring, for hypothesis.

A strategy picks a recipe, small and printable; its arrays are made from its seed.
"""

from __future__ import annotations

from dataclasses import dataclass

import dask.array as da
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from hypothesis import strategies as st

from seraph import Marks

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


GEOMETRIES = {
    "cloud": _cloud,
    "clusters": _clusters,
    "constant columns": _with_columns(3.7),
    "low rank": lambda rng, n, m: _cloud(rng, n, 2) @ _cloud(rng, 2, m),
}


def _read_only(X):
    X = X.copy()
    X.flags.writeable = False
    return X


def _names(X):
    return [f"feature {k}" for k in range(X.shape[1])]


FORMS = {
    "float64": lambda X: X,
    "other bytes first": lambda X: X.astype(X.dtype.newbyteorder()),
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
        return FORMS[self.form](self.points)


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
    "pyarrow": lambda codes: pa.array(_named(codes, None)),
    "intervals": lambda codes: pd.cut(np.where(codes < 0, np.nan, codes), range(-1, 99)),
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
        return DISGUISES[self.disguise](self.codes)


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


# Functions of pairs of row numbers below n, and whether they are similar.
ORDERS = {
    "plain": lambda rows, similar, n: (rows, similar),
    "twice": lambda rows, similar, n: (np.tile(rows, (2, 1)), np.tile(similar, 2)),
    "reversed": lambda rows, similar, n: (rows[:, ::-1], similar),
    "both ways": lambda rows, similar, n: (np.r_[rows, rows[:, ::-1]], np.tile(similar, 2)),
    "last first": lambda rows, similar, n: (rows[::-1], similar[::-1]),
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


@dataclass(frozen=True)
class Marked:
    """Recipe for marked pairs; they agree with the classes."""

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
        order = ORDERS[self.order]
        rows, similar = order(self.rows, self.similar, self.classes.n)
        rows, similar = ROW_FORMS[self.row_form](rows), SIGN_FORMS[self.sign_form](similar)
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
def sound_cases(draw, *, n=(6, 30), geometries=tuple(GEOMETRIES), marked=False):
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


def _both_kinds(classes):
    sizes = np.bincount(classes.codes[classes.codes >= 0], minlength=1)
    return np.sum(sizes > 0) > 1 and sizes.max() > 1
