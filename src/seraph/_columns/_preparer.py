"""The transformer that turns an untidy table into numbers on one scale."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import asdict
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from .._utils._directions import check_directions
from .._utils._optional import optional_module
from .._utils._public import publish as _publish
from .._utils._typing import Array, FloatArray
from .._utils._validation import check_choice, shown

if TYPE_CHECKING:
    from .._utils._cells._table import NamedColumns
    from ._decide import Decided

__all__ = ["TablePreparer"]

# What messages call the table.
_TABLE = Path("X")


class TablePreparer(TransformerMixin, BaseEstimator):
    """Turn a table as people keep it into numbers on one scale, for a distance between rows.

    Each column becomes what it holds, and ``columns_`` says what became of each:

    - Numbers are scaled, and missing ones filled in. So is text that holds numbers, with decimal
      commas, thousands (1,000) or words such as ``?`` and ``n/a`` for missing values.
    - Text with few distinct values becomes categories, a column of 0 and 1 each; rare ones and
      new ones share a column, and missing text is a category of its own.
    - Dates become days, or the year, the season and the weekday.
    - Left out are columns that are empty, constant or other text, and those that only identify
      rows: row numbers, ids.

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

    Attributes
    ----------
    columns_ : dict of str to str
        What became of each column.
    encoder_ : Pipeline
        scikit-learn's steps, fitted on the columns once they are read as numbers and text.
    reading_ : dict
        How columns are read: the categories, the dates and their formats, the marks before
        decimals, and whether numbers may be missing.
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
    pandas, polars and pyarrow. New rows are read like those of the fit, whatever other rows come
    with them: the same mark before decimals, the day or the month first. An ONNX graph of a model
    begins after that, with numbers and text.

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

    columns_: dict[str, str]
    encoder_: Pipeline
    reading_: dict[str, Any]
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
    ) -> None:
        self.scale = scale
        self.impute = impute
        self.dates = dates
        self.onehot = onehot
        self.keep = keep
        self.drop = drop

    def fit(self, X: Any, y: object = None) -> Self:  # noqa: ARG002
        """Decide what becomes of each column.

        Parameters
        ----------
        X : DataFrame
            Table of pandas, polars or pyarrow.
        y : Ignored
            Not used.

        Returns
        -------
        TablePreparer
            Itself.
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

        Returns
        -------
        ndarray of shape (n_samples, n_features_out)
            The rows as numbers.
        """
        return self._encoded(X, self._decide(X).points)

    def transform(self, X: Any) -> Any:
        """Return the rows of a table as numbers.

        Parameters
        ----------
        X : DataFrame
            Table with the columns that are used, in any order; others are ignored.

        Returns
        -------
        ndarray of shape (n_samples, n_features_out)
            The rows as numbers.
        """
        return self._encoded(X, self._read(X))

    def get_feature_names_out(self, input_features: Any = None) -> Array:  # noqa: ARG002
        """Return the names of the numbers: the column, and the category or the part of a date.

        Parameters
        ----------
        input_features : Ignored
            Not used.

        Returns
        -------
        ndarray of str
            The names.
        """
        check_is_fitted(self)
        made = self.encoder_.get_feature_names_out()
        names = [re.sub("_infrequent_sklearn$", "_(rare)", str(name)) for name in made]
        return np.array(names, dtype=object)

    def _decide(self, X: Any) -> Decided:
        """Decide what becomes of each column, and set the attributes that say so."""
        from ._decide import FILLED_IN, decide, make_encoder

        check_choice("scale", self.scale, ("standard", "minmax", "unit", "none"))
        check_choice("impute", self.impute, tuple(FILLED_IN))
        check_choice("dates", self.dates, ("days", "parts", "drop"))
        for name in ("onehot", "keep", "drop"):
            if isinstance(getattr(self, name), str):
                given = getattr(self, name)
                raise ValueError(f"{name} must be a list of columns; got {given!r}.")
        table = as_table(X)
        decided = decide(table, self.dates, self.onehot, self.keep, self.drop)
        self.encoder_ = make_encoder(decided, self.scale, self.impute)
        self.columns_ = decided.uses(table.names, self.impute)
        reading = asdict(decided.reading)
        del reading["may_be_categories"]
        self.reading_ = reading
        self.n_features_in_ = len(table.names)
        self.feature_names_in_ = np.array(table.names, dtype=object)
        return decided

    def _read(self, X: Any) -> Any:
        """Return the columns that are used as a data frame of numbers and text."""
        check_is_fitted(self)
        from .._utils._cells._table import Reading

        used = [name for name, use in self.columns_.items() if not use.startswith("left out")]
        return as_table(X).points(used, Reading(**self.reading_))

    def _encoded(self, X: Any, points: Any) -> FloatArray:
        check_directions(self.encoder_, points, str(getattr(X, "path", "X")))
        names = list(self.encoder_.feature_names_in_)
        return np.asarray(self.encoder_.transform(points[names]))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.string = True
        return tags

    def _get_params_html(self, *arguments: Any, **options: Any) -> Any:
        """Return what scikit-learn shows of the parameters, with what became of each column."""
        return _WithColumns(
            super()._get_params_html(*arguments, **options), getattr(self, "columns_", {})
        )


class _WithColumns:
    """A part of scikit-learn's picture of an estimator, and below it a table of columns."""

    def __init__(self, parameters: Any, columns: dict[str, str]) -> None:
        self.parameters = parameters
        self.columns = columns

    def _repr_html_inner(self) -> str:
        rows = "".join(
            f"<tr><td>{escape(name)}&nbsp;</td><td>{escape(use)}</td></tr>"
            for name, use in self.columns.items()
        )
        table = f'<table class="parameters-table"><tbody>{rows}</tbody></table>' if rows else ""
        # scikit-learn has no public way to add to its picture.
        return f"{self.parameters._repr_html_inner()}{table}"  # noqa: SLF001


def unfold(model: Any) -> tuple[TablePreparer | None, Any]:
    """Return the preparer that a pipeline begins with, and the rest as scikit-learn's steps.

    The rest takes the columns as numbers and text, as the preparer reads them. A model without a
    preparer is returned as it is.
    """
    steps = getattr(model, "steps", ())
    if not steps or not isinstance(steps[0][1], TablePreparer):
        return None, model
    preparer = steps[0][1]
    return preparer, Pipeline([*preparer.encoder_.steps, *steps[1:]])


def as_table(X: Any) -> NamedColumns:
    """Return a table of pandas, polars or pyarrow as named columns; refuse anything else."""
    pa = optional_module("pyarrow", "TablePreparer needs pyarrow", "tables")
    optional_module("pandas", "TablePreparer needs pandas", "tables")
    import pandas as pd

    from .._utils._cells._table import NamedColumns
    from .._utils._cells._types import columns_of, typed_column

    if isinstance(X, NamedColumns):
        return X
    if type(X).__module__.startswith("dask"):
        X = X.compute()
    if isinstance(X, pd.DataFrame):
        names = [str(name) for name in X.columns]
        columns = [typed_column(X.iloc[:, k]) for k in range(X.shape[1])]
    elif isinstance(X, pa.Table) or hasattr(X, "to_arrow"):
        arrow = X if isinstance(X, pa.Table) else X.to_arrow()
        names, columns = [str(name) for name in arrow.column_names], arrow.columns
    else:
        raise ValueError(
            "X must be a table with named columns, of pandas, polars or pyarrow; got "
            f"{shown(X)}. (An array of numbers needs a scaler alone, such as StandardScaler.)"
        )
    twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if twice:
        raise ValueError(f"X has two columns called {twice[0]!r}: rename one of them.")
    if not names or len(X) == 0:
        raise ValueError(f"X has {len(X)} rows and {len(names)} columns: it needs some of each.")
    return NamedColumns(
        _TABLE, columns_of(pa.table(dict(zip(names, columns, strict=True))), names)
    )


_publish(globals(), "seraph")
