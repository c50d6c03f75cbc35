"""Load saved models, and select from a table the features that a model needs."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from ..._utils._typing import FloatArray, IntArray
    from ._tables import InputTable, Reading

_IMPUTERS = ("SimpleImputer", "KNNImputer", "IterativeImputer")

# Attribute in which `seraph fit` keeps facts about the table for `seraph inspect`.
LEARNED_FROM = "learned_from_"


class Roles(NamedTuple):
    """The label column, the labels that mean "unknown", and the id column."""

    label: str | None
    unlabeled: Collection[str]
    id_column: str | None


@dataclass(frozen=True)
class SavedModel:
    """A fitted model from a file: a metric learner, or a pipeline that ends in one.

    Parameters
    ----------
    path : Path
        File it was read from.
    estimator : estimator
        The learner or the pipeline; it takes columns that have been read as numbers and text.
    preparer : TablePreparer or None
        Reads them, if the model begins with one.
    learned_from : dict
        Facts about the table that `seraph fit` kept; empty for a model made elsewhere.
    """

    path: Path
    estimator: Any
    preparer: Any = None
    learned_from: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> SavedModel:
        """Load a model; refuse one that is not fitted or cannot transform points."""
        from sklearn.base import is_classifier
        from sklearn.utils.validation import check_is_fitted

        from ...persist import load

        if path.is_dir():
            raise ValueError(
                f"{path} is a folder, not a model: name a file that `seraph fit -o` saved."
            )
        estimator = load(path)
        if not hasattr(estimator, "transform") or is_classifier(estimator):
            raise ValueError(
                f"{path} holds a {type(estimator).__name__}, which is no learned distance: save "
                "the metric learner, or a pipeline that ends in one."
            )
        check_is_fitted(estimator)
        return cls(path, *_unfold(estimator), dict(getattr(estimator, LEARNED_FROM, {})))

    @property
    def steps(self) -> list[tuple[str, Any]]:
        """Names and estimators, in order."""
        return list(getattr(self.estimator, "steps", [("learner", self.estimator)]))

    @property
    def learner(self) -> Any:
        """Last step: the metric learner."""
        return self.steps[-1][1]

    @property
    def feature_names(self) -> list[str] | None:
        """Names of the columns that the model was fitted on; None if they had none."""
        names = getattr(self.estimator, "feature_names_in_", None)
        return None if names is None else [str(name) for name in names]

    def read_tables(
        self,
        paths: Sequence[Path],
        *,
        asked: Collection[str | None] = (),
        decimal_comma: bool = False,
        encoding: str | None = None,
        sql: str | None = None,
    ) -> InputTable:
        """Read tables; the encoding is that of the training table if they are no UTF-8."""
        from ._tables import read_tables

        return read_tables(
            paths,
            asked=asked,
            decimal_comma=decimal_comma,
            encoding=encoding,
            other_encoding=self.learned_from.get("encoding"),
            sql=sql,
        )

    def roles(
        self,
        table: InputTable,
        label: str | None = None,
        unlabeled: Collection[str] | None = None,
        id_column: str | None = None,
    ) -> Roles:
        """Return what the columns of a table are for.

        What the user has not named is as it was in `seraph fit`, if the table has such a column.
        """
        from ._tables import cell_text, unknown_labels

        noted = self.learned_from
        known = {
            role: name
            for role in ("label", "id")
            if isinstance(name := noted.get(role), str) and name in (table.names or ())
        }
        if label is None:
            label = known.get("label")
        if unlabeled is None and label is not None and label == noted.get("label"):
            present = {"", *map(cell_text, table.cells(label).to_pylist())}
            known_words = [value for value in noted.get("unlabeled", ()) if value in present]
            unlabeled = known_words or None
        if unlabeled is None:
            unlabeled = unknown_labels(table, label)
        return Roles(label, unlabeled, id_column or known.get("id"))

    def points(self, table: InputTable, without: Collection[str | None] = ()) -> Any:
        """Return the features that the model was fitted on, in its order.

        Parameters
        ----------
        table : InputTable
            Table to take them from.
        without : collection of str or None
            Columns that are not features. A model fitted without column names takes all others.
        """
        from ..._utils._columns._prepare import count_missing
        from ..._utils._directions import check_directions
        from ._tables import listed

        points = self._features(table, [name for name in without if name is not None])
        if hasattr(points, "columns") and self.reading.missing:
            known = self.learned_from.get("missing") or {}
            counts = count_missing(points, self.reading.categories)
            new = {name: f"{n:,}" for name, n in counts.items() if name not in known}
            if new:
                warnings.warn(
                    f"{table.path}: missing numbers in {listed(new)} are filled in as the model "
                    "does; the table it learned from had none there.",
                    stacklevel=2,
                )
        check_directions(self.estimator, points, f"{table.path}")
        return points

    def _features(self, table: InputTable, not_features: list[str]) -> Any:
        import numpy as np

        from ._tables import Faults

        names = self.feature_names
        if names is None:
            points = table.points(
                without=not_features,
                reading=self.reading,
                faults=Faults(for_model=True),
                strict=True,
            )
            expected = self.estimator.n_features_in_
            if points.shape[1] != expected:
                raise ValueError(
                    f"{table.path} has {points.shape[1]} columns of features, but the model in "
                    f"{self.path} was fitted on {expected}: pass the same columns, in that order."
                )
            return np.asarray(points)
        for name in not_features:
            table.cells(name)
        from ..._utils._columns._notes import used_columns

        faults = Faults(for_model=True)
        columns = names if self.preparer is None else used_columns(self.preparer.columns_)
        points = table.points(columns, reading=self.reading, faults=faults)
        faults.check(table.path)
        if table.names is not None:
            return points[names]
        import pandas as pd

        warnings.warn(
            f"{table.path} has no column names: its columns are taken in the model's order "
            f"({names[0]}, ...).",
            stacklevel=2,
        )
        return pd.DataFrame(points, columns=names, copy=False)

    @property
    def reading(self) -> Reading:
        """How the columns of a table are read for this model."""
        from ._tables import Reading

        if self.preparer is not None:
            return Reading(**self.preparer.reading_)
        parts = list(_inner_steps(self.estimator))
        categories = [
            name
            for columns, step in parts
            if type(step).__name__ in ("OneHotEncoder", "OrdinalEncoder", "TargetEncoder")
            for name in columns or ()
        ]
        missing = any(type(step).__name__ in _IMPUTERS for columns, step in parts
                      if not set(columns or ()) & {*categories})  # fmt: skip
        return Reading(categories, missing=missing)

    def before_learner(self, points: Any) -> Any:
        """Return points as the learner sees them, after the scaler."""
        return self.estimator[:-1].transform(points) if len(self.steps) > 1 else points

    def pair_proba(self, points: Any, pairs: IntArray) -> FloatArray:
        """Return the probability that each pair of rows is similar."""
        import numpy as np

        scaled = np.asarray(self.before_learner(points))
        return np.asarray(self.learner.pair_proba(scaled[pairs]), dtype=np.float64)

    def has(self, method: str) -> bool:
        """Return whether the learner has a method of this name."""
        return hasattr(self.learner, method)


def _unfold(model: Any) -> tuple[Any, Any]:
    """Return the steps that take columns read as numbers and text, and the TablePreparer."""
    from sklearn.pipeline import Pipeline

    from ... import TablePreparer

    steps = getattr(model, "steps", ())
    if not steps or not isinstance(steps[0][1], TablePreparer):
        return model, None
    return Pipeline([*steps[0][1].encoder_.steps, *steps[1:]]), steps[0][1]


def _inner_steps(estimator: Any) -> Iterator[tuple[list[str] | None, Any]]:
    """Yield the steps of a pipeline and of its column transformers, with their columns."""
    for _, step in getattr(estimator, "steps", []):
        if hasattr(step, "transformers_"):
            for _, part, columns in step.transformers_:
                inner = [s for _, s in part.steps] if hasattr(part, "steps") else [part]
                yield from ((list(map(str, columns)), one) for one in inner)
        else:
            yield None, step


def find_row(table: InputTable, text: str, id_column: str | None) -> int:
    """Return the row that a user means: by its id if there is an id column, or by its number.

    Parameters
    ----------
    table : InputTable
        The table.
    text : str
        An id or a row number.
    id_column : str or None
        Column of ids.
    """
    if id_column is not None:
        from ._tables import cell_text

        ids = [cell_text(cell) for cell in table.cells(id_column).to_pylist()]
        found = [row for row, cell in enumerate(ids) if cell == text.strip()]
        if len(found) == 1:
            return found[0]
        if found:
            raise ValueError(
                f"--row {text}: {len(found)} rows of {table.path} have this id (rows {found[0]}, "
                f"{found[1]}, ...): leave --id out, and name a row by its number."
            )
    if not text.strip().isdecimal():
        where = f"no row of {table.path} has this {id_column}" if id_column else "name a number"
        raise ValueError(
            f"--row {text}: {where}. Rows are numbered from 0 to {table.n_rows - 1}; to name one "
            "by its id, say which column has the ids (--id)."
        )
    row = int(text)
    if row >= table.n_rows:
        raise ValueError(f"--row {row}: {table.path} only has rows 0 to {table.n_rows - 1}.")
    return row
