"""Points, labels and marked pairs in every shape that users bring, for hypothesis.

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


# Marked pairs


# Functions of pairs of row numbers, and whether they are similar.
ORDERS = {
    "plain": lambda rows, similar: (rows, similar),
    "reversed": lambda rows, similar: (rows[:, ::-1], similar),
    "last first": lambda rows, similar: (rows[::-1], similar[::-1]),
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


# All arguments of ``fit``


@dataclass(frozen=True)
class Case:
    """Recipe for the arguments of ``fit``: points of some classes, labels, and marked pairs."""

    n: int
    m: int
    geometry: str
    n_classes: int
    share: float  # of the rows, whose class is known
    n_pairs: int
    seed: int
    form: str = "float64"
    disguise: str = "numbers"
    order: str = "plain"
    row_form: str = "intp"
    sign_form: str = "bool"

    @property
    def X(self):
        points = GEOMETRIES[self.geometry](np.random.default_rng(self.seed), self.n, self.m)
        return FORMS[self.form](points)

    @property
    def truth(self):
        """The class of each row, known or not."""
        return np.random.default_rng(self.seed).permutation(np.arange(self.n) % self.n_classes)

    @property
    def codes(self):
        """The classes that are known, and -1."""
        is_known = np.random.default_rng(self.seed + 1).permutation(self.n) < self.share * self.n
        return np.where(is_known, self.truth, -1)

    @property
    def y(self):
        return DISGUISES[self.disguise](self.codes)

    @property
    def rows(self):
        """Distinct pairs of rows, the smaller first."""
        i, j = np.triu_indices(self.n, 1)
        chosen = np.random.default_rng(self.seed).permutation(len(i))[: self.n_pairs]
        return np.column_stack([i[chosen], j[chosen]])

    @property
    def similar(self):
        return self.truth[self.rows[:, 0]] == self.truth[self.rows[:, 1]]

    @property
    def knowledge(self):
        """Labels and marked pairs, as arguments of ``fit``."""
        if not self.n_pairs:
            return {"y": self.y}
        rows, similar = ORDERS[self.order](self.rows, self.similar)
        rows, similar = ROW_FORMS[self.row_form](rows), SIGN_FORMS[self.sign_form](similar)
        return {"y": self.y, "marks": Marks(rows, similar, rows=self.n)}

    @property
    def arguments(self):
        return {"X": self.X, **self.knowledge}

    @property
    def has_both_kinds(self):
        sizes = np.bincount(self.codes[self.codes >= 0], minlength=1)
        return np.sum(sizes > 0) > 1 and sizes.max() > 1


def seeds():
    return st.integers(0, 2**16 - 1)


def sound_cases(*, n=(6, 30), geometries=tuple(GEOMETRIES), marked=False):
    """Points that differ, with similar and dissimilar pairs known: a well-posed problem."""
    return st.builds(
        Case,
        n=st.integers(*n),
        m=st.integers(1, 12),
        geometry=st.sampled_from(geometries),
        n_classes=st.integers(2, 3),
        share=st.sampled_from((0.5, 0.8, 1.0)),
        n_pairs=st.integers(1, 40) if marked else st.just(0) | st.integers(1, 40),
        seed=seeds(),
    ).filter(lambda case: case.has_both_kinds)
