"""From a table to what is learned from: features, labels and marked pairs."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.pipeline import Pipeline

from ... import Marks, TablePreparer
from ..._utils._directions import check_directions
from ...tables._answers import (
    answered_classes,
    class_codes,
    labels_of,
    marked_pairs,
    unknown_labels,
)
from ...tables._decide import number_steps
from ...tables._table import InputTable, PlainArray
from ...tables._words import and_more, quoted

if TYPE_CHECKING:
    from ..._utils._typing import Array, FloatArray
    from ...tables import Column
    from ._requests import TableRequest

# Columns to name in a note; the rest are counted.
_NAMED = 5
# From so many labels on, they are not classes if no two are equal.
_UNIQUE = 5
# A label of more than this share of the rows may be a placeholder, if there are two other classes.
_NEARLY_ALL = 0.9
# As many different numbers may measure a quantity, if they are also this share of the labels.
_MANY, _SHARE, _MOST = 20, 0.2, 0.5
# Codes of classes are whole numbers without gaps: their range over their number is at most this.
_GAPS = 1.5


@dataclass(frozen=True)
class Examples:
    """Columns, labels and pairs of the rows.

    `labels` are text, or None for an unknown class; `unlabeled` are those that mean so in the
    table.
    """

    table: InputTable
    labels: Array | None
    marks: Marks
    unlabeled: tuple[str, ...] = ()

    @cached_property
    def codes(self) -> Array:
        """Class code of each row, -1 where the class is unknown."""
        if self.labels is None:
            return np.full(self.table.n_rows, -1)
        return class_codes(self.labels)[1]

    @property
    def class_names(self) -> list[str]:
        """Names of the classes, in the order of their codes."""
        return [] if self.labels is None else sorted({*self.labels} - {None})

    @classmethod
    def read(
        cls, table: InputTable, request: TableRequest, pairs_file: Path | None = None
    ) -> Examples:
        """Take them from a table; refuse what nothing can be learned from."""
        labels, unlabeled = _labels(table, request)
        marks = Marks(rows=table.n_rows)
        if pairs_file is not None:
            marked = marked_pairs(table, pairs_file, request.id_column)
            marks = Marks.from_frame(marked, rows=table.n_rows)
        _check_labels(table, labels, len(marks.pairs), request.label, pairs_file)
        examples = cls(
            table.without([request.label if table.names else None, request.id_column]),
            labels,
            marks,
            tuple(unlabeled),
        )
        if len(examples.class_names) < 2 and marks.similar.all():
            words = " and ".join(map(repr, unlabeled))
            ours = f' (If {words} is a class, not "unknown", add --unlabeled "".)' if words else ""
            raise ValueError(
                f"{table.path}: all labeled pairs are similar, so nothing keeps points apart: "
                f"label rows of a second class, or mark pairs that are not alike.{ours}"
            )
        return examples


def _labels(table: InputTable, request: TableRequest) -> tuple[Array | None, list[str]]:
    """Return the labels of a table, and those that mean that the class is unknown."""
    if request.labels is not None:
        return answered_classes(table, request.labels, request.id_column), []
    unlabeled = request.unlabeled
    if unlabeled is None:
        unlabeled = unknown_labels(table, request.label)
    labels = labels_of(table, request.label, unlabeled)
    if request.unlabeled is None and labels is not None:
        _check_placeholder(table, labels)
    return labels, unlabeled


def _check_labels(
    table: InputTable, labels: Array | None, n_pairs: int, label: str | None, pairs: Path | None
) -> None:
    """Refuse a table with nothing to learn from, naming the options that would help."""
    if labels is None and pairs is None:
        raise ValueError(
            f"{table.path}: there is nothing to learn from. Name the column with the classes "
            "(--label) or a file of marked pairs (--pairs)."
        )
    if labels is None and not n_pairs:
        raise ValueError(
            f"{pairs}: no pair has been answered: the column similar is empty. Fill it in."
        )
    n_labeled = 0 if labels is None else sum(value is not None for value in labels)
    if labels is not None and not n_pairs and n_labeled < 2:
        raise ValueError(
            f"{table.path}: {n_labeled or 'none'} of its {len(labels)} rows has a label in "
            f"{label or 'y'!r} (-1 and empty cells mean unlabeled): label at least two "
            "rows, of two classes."
        )
    n_classes = 0 if labels is None else len({*labels} - {None})
    if n_labeled == n_classes >= _UNIQUE and not n_pairs:
        raise ValueError(
            f"{table.path}: {label or 'y'!r} has another value in each of the {n_labeled} labeled "
            "rows, so no two are of one class, and nothing says what is similar: name the column "
            "with the classes (--label)."
        )
    if labels is not None:
        _check_quantity(table.path, label, [value for value in labels if value is not None])


def _check_placeholder(table: InputTable, labels: Array) -> None:
    """Ask what the label of nearly all rows means, if there are two other classes."""
    sizes = Counter(labels.tolist())
    word, n = sizes.most_common(1)[0]
    if word is not None and n > _NEARLY_ALL * len(labels) and len(sizes.keys() - {word, None}) > 1:
        raise ValueError(
            f"{table.path}: {n:,} of {len(labels):,} rows have the label {word!r}. Does {word!r} "
            f"mean unknown? Then add --unlabeled {quoted(word)}; if it is a class, add "
            '--unlabeled "".'
        )


def _check_quantity(path: Path, label: str | None, known: Sequence[str]) -> None:
    """Refuse labels that measure a quantity; warn of whole numbers that may do so."""
    try:
        numbers = np.unique(np.array(known, dtype=np.float64))
    except ValueError:
        return
    n = len(numbers)
    is_whole = bool(np.all(numbers == np.rint(numbers)))
    codes = is_whole and np.ptp(numbers) + 1.0 <= _GAPS * n
    if codes or n < _MANY or (is_whole and n < _SHARE * len(known)):
        return
    distinct = f"{n} different numbers in {len(known)} labels"
    classes = (
        "make a column with a few classes of it (low, middle, high), and name it with --label"
    )
    if label is not None and not (is_whole and n < _MOST * len(known)):
        raise ValueError(
            f"{path}: {label!r} has {distinct}, so it measures a quantity and names no classes: "
            f"{classes}; or learn a distance for the quantity itself, in Python, by "
            "seraph.classic.MLKR. (If they are names, begin each with a letter.)"
        )
    warnings.warn(
        f"{label or 'y'} has {distinct}, and each becomes a class of its own. If they measure a "
        f"quantity, {classes}.",
        stacklevel=2,
    )


def prepare(table: InputTable, request: Any) -> tuple[list[tuple[str, Any]], FloatArray]:
    """Return the fitted steps before the learner, and the points that it learns from.

    The request is what to do with the columns of the table.
    """
    scale, impute = request.scale, request.impute
    onehot, keep, drop = (
        list(asked or ()) for asked in (request.onehot, request.keep, request.drop)
    )
    if not isinstance(table, PlainArray):
        preparer = TablePreparer(
            scale=scale,
            impute=impute,
            dates=request.dates,
            onehot=onehot,
            keep=keep,
            drop=drop,
            missing=list(request.missing or ()),
        )
        scaled = preparer.fit_transform(table)
        if doubt := about_ids(table.path, preparer.columns_):
            warnings.warn(doubt, stacklevel=2)
        return [("prepare", preparer)], scaled
    table.without([*onehot, *keep, *drop])
    points = table.points()
    has_missing = bool(np.isnan(points.sum(axis=0)).any())  # makes no array of their size
    steps = number_steps(scale, impute if has_missing else None)
    if not steps:
        return [], points
    check_directions(steps[0][1], points, str(table.path))
    model = Pipeline(steps).fit(points)
    return model.steps, np.asarray(model.transform(points))


def about_ids(source: object, columns: Mapping[str, Column]) -> str:
    """Name the columns of `source` that may only identify rows; "" if there is none."""
    suspects = {name: how.why for name, how in columns.items() if how.use and how.reason}
    named = [f"{name!r} ({why})" for name, why in suspects.items()]
    drop = " ".join(f"--drop {quoted(name)}" for name in suspects)
    said = (
        f"{source}: used as numbers, but may only identify rows: "
        f"{and_more(named[:_NAMED], len(named))}. Leave out with {drop}; --keep is for what "
        "measures something."
    )
    return said if suspects else ""
