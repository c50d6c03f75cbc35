"""The transformer that turns an untidy table into numbers on one scale."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from .._utils._directions import check_directions
from .._utils._optional import Late
from .._utils._public import publish as _publish
from .._utils._typing import Array, FloatArray
from .._utils._validation import check_choice
from .._utils._warnings import warn
from ._columns import Column
from ._dates import date_features
from ._decide import decide, make_encoder
from ._reading import read_column, without_values
from ._table import NamedColumns, about, as_table, check_columns
from ._words import listed

__all__ = ["TablePreparer"]
pd = Late("pandas")


class TablePreparer(TransformerMixin, BaseEstimator):
    """Turn a table as people keep it into numbers on one scale, for a distance between rows.

    Each column becomes what it holds, and ``columns_`` says what became of each:

    - Numbers are scaled, and missing ones filled in. So is text that holds numbers, with decimal
      commas, thousands (1,000), a unit (``13.99%``, ``$35,000``, ``920 g``) or words such as ``?``
      and ``n/a`` for missing values.
    - Text with few distinct values becomes categories, a column of 0 and 1 each. A missing cell
      is a category like any other. Categories in fewer than 1 % of the rows, or than two, and
      new ones share one column. 1, 1.0 and "1.0" are one category, True and "true" another.
    - Dates become days, or the year, the season and the weekday.
    - Left out are columns that are empty, constant or other text, and those that only identify
      rows: row numbers, ids.

    The reading of a column is settled by ``fit``: a cell means the same whatever rows come with
    it. One that does not fit, such as a word among numbers, is missing, and a warning names it.

    Two different categories are at a squared distance of 2, the mean squared distance of two
    values of a number of variance 1: so no kind of column drowns the others.

    Parameters
    ----------
    scale : {"standard", "minmax", "unit", "none"}, default="standard"
        Scale numbers to variance 1, to the range from 0 to 1, each row to length 1, or not.
    impute : {"median", "knn"}, default="median"
        Fill in missing numbers by the median, or by the mean of the five most similar rows.
    dates : {"days", "parts", "drop"}, default="days"
        Use dates as days since 1970, or as year, season and weekday, or leave them out.
    onehot : collection of str, default=()
        Columns of categories, whatever they look like.
    keep : collection of str, default=()
        Columns of numbers to use, even if they look like ids.
    drop : collection of str, default=()
        Columns to leave out.
    missing : collection, default=()
        Values that mean a missing cell, in any column, such as ``-999``.

    Attributes
    ----------
    columns_ : dict of str to Column
        What became of each column, a `seraph.tables.Column`; ``str`` says it in words.
    encoder_ : Pipeline
        scikit-learn's steps, fitted on the columns once they are read as numbers and text.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str
        Their names.

    See Also
    --------
    sklearn.compose.ColumnTransformer : Steps for columns that you choose yourself.

    Notes
    -----
    Needs pandas and pyarrow (``pip install 'seraph-learn[tables]'``). It takes the tables of
    pandas, polars and pyarrow. An ONNX graph of a model begins once the cells are read, with
    numbers and text.

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn.pipeline import make_pipeline
    >>> from seraph import SERAPH, TablePreparer
    >>> cars = pd.DataFrame({
    ...     "no": range(12),
    ...     "power": ["75", "90", None, "110", "150", "72"] * 2,
    ...     "fuel": ["gas", "diesel", "gas"] * 4,
    ...     "built": ["31.1.2019", "1.2.2020", "28.2.2021"] * 4,
    ... })
    >>> model = make_pipeline(TablePreparer(), SERAPH())
    >>> model = model.fit(cars, ["small", "large", "small", "large"] + [-1] * 8)
    >>> for column, use in model[0].columns_.items():
    ...     print(f"{column}: {use}")
    no: left out: row numbers
    power: numbers, 2 missing: filled in by the median
    fuel: categories
    built: dates: days since 1970
    >>> model.transform(cars.tail(2)).shape[0]
    2
    """

    columns_: dict[str, Column]
    encoder_: Pipeline
    n_features_in_: int
    feature_names_in_: Array

    def __init__(
        self,
        *,
        scale: str = "standard",
        impute: str = "median",
        dates: str = "days",
        onehot: Collection[str] = (),
        keep: Collection[str] = (),
        drop: Collection[str] = (),
        missing: Collection[Any] = (),
    ) -> None:
        self.scale = scale
        self.impute = impute
        self.dates = dates
        self.onehot = onehot
        self.keep = keep
        self.drop = drop
        self.missing = missing

    def fit(self, X: Any, y: object = None) -> Self:  # noqa: ARG002
        """Decide what becomes of each column.

        Parameters
        ----------
        X : DataFrame
            Table of pandas, polars or pyarrow.
        y : Ignored
            Not used.
        """
        self._decide(X)
        return self

    def fit_transform(self, X: Any, y: object = None) -> Any:  # noqa: ARG002
        """Decide what becomes of each column, and return the numbers.

        Parameters
        ----------
        X : DataFrame
            Table of pandas, polars or pyarrow.
        y : Ignored
            Not used.
        """
        return self._encoded(X, self._decide(X))

    def transform(self, X: Any) -> Any:
        """Return the rows of a table as numbers.

        Parameters
        ----------
        X : DataFrame
            Table with the columns that are used, in any order; others are ignored.
        """
        return self._encoded(X, self._read(X))

    def get_feature_names_out(self, input_features: Any = None) -> Array:  # noqa: ARG002
        """Return the names of the numbers: the column, and the category or the part of a date.

        Parameters
        ----------
        input_features : Ignored
            Not used.
        """
        check_is_fitted(self)
        made = self.encoder_.get_feature_names_out()
        names = [re.sub("_infrequent_sklearn$", "_(rare)", str(name)) for name in made]
        return np.array(names, dtype=object)

    def _decide(self, X: Any) -> Any:
        """Decide what becomes of each column, set the attributes; return the columns read."""
        check_choice("scale", self.scale, ("standard", "minmax", "unit", "none"))
        check_choice("impute", self.impute, ("median", "knn"))
        check_choice("dates", self.dates, ("days", "parts", "drop"))
        for name in ("onehot", "keep", "drop", "missing"):
            if isinstance(value := getattr(self, name), str):
                raise ValueError(f"{name} must be a list of names; got {value!r}.")
        table = as_table(X)
        columns, points = decide(table, self)
        self.encoder_ = make_encoder(columns, points, self.scale, self.impute)
        self.columns_ = columns
        self.n_features_in_ = len(table.names)
        self.feature_names_in_ = np.array(table.names, dtype=object)
        return points

    def _read(self, X: Any) -> Any:
        """Return the columns that are used as a data frame of numbers and text."""
        check_is_fitted(self)
        table = as_table(X)
        used = {name: column for name, column in self.columns_.items() if column.use}
        check_columns(table, list(used))
        points: dict[str, Any] = {}
        unread: dict[str, str] = {}
        for name, column in used.items():
            cells = without_values(table.columns[name], self.missing)
            values, wrong = read_column(column, cells)
            is_date = column.use == "dates"
            points |= date_features(name, values, self.dates) if is_date else {name: values}
            if wrong.any():
                unread[name] = about(table, name, wrong)
        if unread:
            warn(
                f"{table.path}: {listed(unread)}: read as missing, because the column was fitted "
                "on cells of another kind."
            )
        return pd.DataFrame(points, index=range(table.n_rows), copy=False)

    def _encoded(self, X: Any, points: Any) -> FloatArray:
        where = (str(X.path), X.place) if isinstance(X, NamedColumns) else ()
        check_directions(self.encoder_, points, *where)
        names = list(self.encoder_.feature_names_in_)
        return np.asarray(self.encoder_.transform(points[names]))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.string = True
        return tags


_publish(globals(), "seraph")
