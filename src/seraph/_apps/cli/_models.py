"""Load saved models, and select from a table the features that a model needs."""

from __future__ import annotations

import sys
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from ..._utils._typing import FloatArray
    from ._tables import InputTable

# Packages that importing skops would import, for nothing: it imports all of scikit-learn, whose
# copies of array libraries import these.
_LARGE = ("torch", "dask", "cupy", "jax")

# Attribute in which `seraph fit` keeps facts about the table for `seraph inspect`.
LEARNED_FROM = "learned_from_"


class Roles(NamedTuple):
    """The label column, the labels that mean "unknown", and the id column."""

    label: str | None
    unlabeled: Collection[str]
    id_column: str | None


def import_skops() -> None:
    """Import what reads and writes model files, without packages that it does not use.

    That saves half of the time of a small command where PyTorch is installed.
    """
    absent = [name for name in _LARGE if name not in sys.modules]
    sys.modules.update(dict.fromkeys(absent))  # type: ignore[arg-type]  # importing one fails
    try:
        with suppress(ImportError):  # who needs it says so
            import_module("skops.io")
    finally:
        for name in absent:
            del sys.modules[name]


@dataclass(frozen=True)
class SavedModel:
    """A fitted model from a file: a metric learner, or a pipeline that ends in one.

    Parameters
    ----------
    path : Path
        File it was read from.
    estimator : estimator
        The learner or the pipeline.
    learned_from : dict
        Facts about the table that `seraph fit` kept; empty for a model made elsewhere.
    """

    path: Path
    estimator: Any
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
        import_skops()
        estimator = load(path)
        if not hasattr(estimator, "transform") or is_classifier(estimator):
            raise ValueError(
                f"{path} holds a {type(estimator).__name__}, which is no learned distance: save "
                "the metric learner, or a pipeline that ends in one."
            )
        check_is_fitted(estimator)
        return cls(path, estimator, dict(getattr(estimator, LEARNED_FROM, {})))

    @property
    def steps(self) -> list[tuple[str, Any]]:
        """Names and estimators, in order."""
        return list(getattr(self.estimator, "steps", [("learner", self.estimator)]))

    @property
    def learner(self) -> Any:
        """Last step: the metric learner."""
        return self.steps[-1][1]

    @property
    def columns(self) -> dict[str, str]:
        """What became of each column of the table, if the model begins with a `TablePreparer`."""
        return dict(getattr(self.steps[0][1], "columns_", {}))

    @property
    def has_decimal_commas(self) -> bool:
        """Whether a column of the table had them."""
        reading = getattr(self.steps[0][1], "reading_", {"decimals": {}})
        return "," in reading["decimals"].values()

    @property
    def n_features(self) -> int:
        """Number of columns that the model uses."""
        names = self.feature_names
        return int(self.estimator.n_features_in_) if names is None else len(names)

    @property
    def feature_names(self) -> list[str] | None:
        """Names of the columns that the model uses; None if they had none."""
        if self.columns:
            return [str(name) for name in self.steps[0][1].encoder_.feature_names_in_]
        names = getattr(self.estimator, "feature_names_in_", None)
        return None if names is None else [str(name) for name in names]

    def read_tables(self, paths: Sequence[Path], **options: Any) -> InputTable:
        """Read tables; the encoding is that of the training table if they are no UTF-8."""
        from ._tables import read_tables

        encoding = self.learned_from.get("encoding")
        return read_tables(paths, other_encoding=encoding, **options)

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

    def points(self, table: InputTable, without: Collection[str | None] = ()) -> FloatArray:
        """Return the rows of a table as the learner sees them, after the scaler.

        `without` are columns that are not features: a model fitted without column names takes all
        others.
        """
        import numpy as np

        from ..._utils._directions import check_directions
        from ._tables import NamedColumns

        left = table.without(without)
        if self.columns and isinstance(left, NamedColumns):
            return np.asarray(self.estimator[:-1].transform(left))
        features = self.frame(left)
        check_directions(self.estimator, features, f"{table.path}")
        before = self.estimator[:-1] if len(self.steps) > 1 else None
        return np.asarray(features if before is None else before.transform(features))

    def frame(self, table: InputTable) -> Any:
        """Return a table as the model takes it: a data frame, or an array without names."""
        import numpy as np
        import pyarrow as pa

        from ._tables import Faults, NamedColumns, Reading, to_numbers

        names = getattr(self.estimator, "feature_names_in_", None)
        parts = [type(part).__name__ for part in self.estimator.get_params().values()]
        missing = any("Imputer" in part for part in parts)
        if names is None:
            points = np.asarray(table.points(reading=Reading(missing=missing)))
        elif not isinstance(table, NamedColumns):
            raise ValueError(
                f"{table.path} is an array, and the model in {self.path} was fitted on columns "
                f"by name ({names[0]}, ...): save the rows as a table with these names."
            )
        elif self.columns:
            return pa.table(table.columns).to_pandas()
        else:
            # Only a ColumnTransformer takes text.
            may_be_text = names if "ColumnTransformer" in parts else ()
            text = [n for n in may_be_text if not len(to_numbers(n, table.cells(n), Faults()))]
            return table.points(list(names), Reading(text, missing=missing))
        expected = self.estimator.n_features_in_
        if points.shape[1] != expected:
            raise ValueError(
                f"{table.path} has {points.shape[1]} columns of features, but the model in "
                f"{self.path} was fitted on {expected}: pass the same columns, in that order."
            )
        return points


def find_row(table: InputTable, text: str, id_column: str | None) -> int:
    """Return the row that a user means: by its id if there is an id column, or by its number."""
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
