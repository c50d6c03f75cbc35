"""Load saved models, and select from a table the features that a model needs."""

from __future__ import annotations

from collections.abc import Collection
from copy import copy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from sklearn.base import is_classifier
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_is_fitted

from ... import MetricClassifier
from ..._utils._directions import check_directions
from ..._utils._typing import Array, FloatArray
from ...persist import load
from ...tables import Column
from ...tables._answers import (
    answered_classes,
    as_it_was,
    class_codes,
    label_texts,
    labels_of,
    unknown_labels,
)
from ...tables._files import read_table
from ...tables._table import InputTable, NamedColumns
from ...tables._words import cell_text

# Attribute in which `seraph fit` keeps facts about the table for the other commands.
LEARNED_FROM = "learned_from_"
# And the one in which it keeps what decides about pairs.
DECIDER = "decider_"


class Rows(NamedTuple):
    """A table, the columns of its labels and ids, and its labels, None where unknown."""

    table: InputTable
    label: str | None
    id_column: str | None
    labels: Array | None

    @property
    def names(self) -> list[str]:
        """The id of each row, or its number; several rows may have the same id."""
        if self.id_column is None or self.id_column not in (self.table.names or ()):
            return [str(row) for row in range(self.table.n_rows)]
        return [cell_text(cell) for cell in self.table.cells(self.id_column).to_pylist()]


@dataclass(frozen=True)
class SavedModel:
    """A fitted model from a file: a metric learner, or a pipeline that ends in one.

    `learned_from` holds the facts about the table that `seraph fit` kept; it is empty for a model
    made elsewhere.
    """

    path: Path
    estimator: Any
    learned_from: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> SavedModel:
        """Load a model; refuse one that is not fitted or cannot transform points."""
        estimator = load(path)
        if not hasattr(estimator, "transform") or is_classifier(estimator):
            raise ValueError(
                f"{path} holds a {type(estimator).__name__}, which is not a learned distance: "
                "save the metric learner, or a pipeline that ends in one."
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
    def columns(self) -> dict[str, Column]:
        """What became of each column of the table, if the model begins with a `TablePreparer`."""
        return dict(getattr(self.steps[0][1], "columns_", {}))

    @property
    def sharpness(self) -> float | None:
        """Power that calibrates class probabilities; None if no labels were held out."""
        return (self.learned_from.get("check") or {}).get("sharpness")

    @property
    def feature_names(self) -> list[str] | None:
        """Names of the columns that the model uses; None if they had none."""
        if self.columns:
            return [str(name) for name in self.steps[0][1].encoder_.feature_names_in_]
        names = getattr(self.estimator, "feature_names_in_", None)
        return None if names is None else [str(name) for name in names]

    def read_table(self, path: Path, label: str | None = None, **options: Any) -> InputTable:
        """Read a table; the encoding is that of the training table if it is not UTF-8."""
        table = read_table(path, other_encoding=self.learned_from.get("encoding"), **options)
        return as_it_was(table, label or self.learned_from.get("label"))

    def rows(
        self,
        table: InputTable,
        label: str | None = None,
        unlabeled: Collection[str] | None = None,
        id_column: str | None = None,
        answers: Path | None = None,
    ) -> Rows:
        """Return the rows of a table with their labels; those of a file of answers come first.

        What the user has not named is as it was in `seraph fit`, if the table has such a column.
        """
        noted, names = self.learned_from, table.names or ()
        if label is None and noted.get("label") in names:
            label = noted["label"]
        if id_column is None and noted.get("id") in names:
            id_column = noted["id"]
        if unlabeled is None:
            same = noted if label == noted.get("label") else {}
            classes, before = {*same.get("classes", ())}, {*same.get("unlabeled", ())}
            words = {*unknown_labels(table, label, classes | before)} - classes | before
            unlabeled = sorted(words & {*(label_texts(table, label) or ())})
        labels = labels_of(table, label, unlabeled)
        if answers is not None:
            said = answered_classes(table, answers, id_column)
            known = [None] * len(said) if labels is None else labels
            both = zip(said, known, strict=True)
            labels = np.array([one if one is not None else two for one, two in both], object)
        return Rows(table, label, id_column, labels)

    def points(self, table: InputTable, without: Collection[str | None] = ()) -> Any:
        """Return the rows of a table as the learner takes them.

        `without` are columns that are not features: a model fitted without column names takes all
        others.
        """
        left: Any = table.without(without) if self.feature_names is None else table
        if not (self.columns and isinstance(left, NamedColumns)):
            left = self.frame(left)
            check_directions(self.steps[0][1], np.asarray(left), str(table.path))
        for _, step in self.steps[:-1]:
            left = step.transform(left)
        return left

    def map(self, table: InputTable, without: Collection[str | None] = ()) -> FloatArray:
        """Return the rows of a table in the learned space; `without` is as in `points`."""
        return np.asarray(self.learner.transform(self.points(table, without)))

    @property
    def decider(self) -> Any:
        """The `PairClassifier` of a fit with pairs, for what the learner takes; or None."""
        return getattr(self.estimator, DECIDER, None)

    def whole(self, rule: Any) -> Any:
        """Return a classifier, of rows as the learner takes them, as one of rows of a table."""
        rule = copy(rule)
        rule.estimator_, rule.n_features_in_ = self.estimator, self.estimator.n_features_in_
        if hasattr(self.estimator, "feature_names_in_"):
            rule.feature_names_in_ = self.estimator.feature_names_in_
        return rule

    def classifier(self, points: Any, labels: Array) -> Any:
        """Return the classifier of `seraph predict`, for rows as the learner takes them."""
        classes, codes = class_codes(labels)
        forest = self.learned_from.get("forest", True)
        # Codes, since a class may be called -1.
        learner = FrozenEstimator(self.learner)
        classifier = MetricClassifier(learner, rule="all" if forest else "mean")
        classifier.fit(points, codes).classes_ = classes
        return classifier

    def frame(self, table: InputTable) -> Any:
        """Return a table as the model takes it: a data frame, or an array without names."""
        names = getattr(self.estimator, "feature_names_in_", None)
        if names is None:
            for name in table.names or ():
                if isinstance(table, NamedColumns) and table.numbers(name) is None:
                    raise ValueError(
                        f"{table.path}: column {name!r} holds something else than numbers, which "
                        f"the model in {self.path} takes: correct it, or leave it out."
                    )
            points = np.asarray(table.points())
        elif not isinstance(table, NamedColumns):
            raise ValueError(
                f"{table.path} is an array, and the model in {self.path} was fitted on columns "
                f"by name ({names[0]}, ...): save the rows as a table with these names."
            )
        elif self.columns:
            return pa.table(table.columns).to_pandas()
        else:
            return table.points(list(names))
        expected = self.estimator.n_features_in_
        if points.shape[1] != expected:
            raise ValueError(
                f"{table.path} has {points.shape[1]} columns of features, but the model in "
                f"{self.path} was fitted on {expected}: pass the same columns, in that order."
            )
        return points
