"""The command ``predict``: fill in the classes of the rows without a label."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import _options as options
from ._console import check_tables_out, command, free_name, put_table, result, say, show
from ._requests import ModelRequest

if TYPE_CHECKING:
    from ..._utils._typing import Array, FloatArray, IntArray
    from ._models import SavedModel
    from ._tables import InputTable

_UNSURE = 5  # rows to show that the model is least sure about


@dataclass(frozen=True, kw_only=True)
class PredictRequest(ModelRequest):
    """What `seraph predict` is asked for."""

    labels: options.LabelsFile = None
    reference: Annotated[
        Path | None,
        typer.Option(
            help="Table with the labeled rows, if the data have none: the one the model was "
            "learned from, for example."
        ),
    ] = None
    row: Annotated[
        str | None,
        typer.Option(
            metavar="ROW",
            help="Explain the class of one row: its id, with --id, or its number from 0.",
        ),
    ] = None
    k: Annotated[int, typer.Option("-k", min=1, help="Nearest labeled rows to name.")] = 3
    output: options.TableOutput = None


@command
def predict(request: PredictRequest) -> None:
    """Give every row without a label a class, a probability, and the reason for it.

    The class is the most probable one by the labeled rows in the learned space, as in
    MetricClassifier. The nearest labeled rows are the reason. The file has the columns of the
    data, with the label filled in, and then the probability, whether the label was given, and the
    reason. It is written as the data are: separator, decimal comma, encoding.

    The columns of the labels and ids are those of seraph fit, unless you name others.

    Example: seraph predict model.skops data.csv -o filled.csv

    Example: seraph predict model.skops data.csv --row W17
    """
    from ._answered import answered_classes
    from ._models import find_row
    from ._tables import labels_of

    output, reference = request.output, request.reference
    check_tables_out([output], (request.model, *request.data, reference))
    fitted, table, roles = request.read(labeled=reference is None)
    source = table
    if reference is not None:
        source = fitted.read_tables(
            [reference], decimal_comma=request.decimal_comma, encoding=request.encoding
        )
        roles = fitted.roles(source, request.label, request.unlabeled, request.id_column)
    if request.labels is None:
        classes = labels_of(source, roles.label, roles.unlabeled)
    else:
        classes = answered_classes(source, request.labels, roles.id_column)
    votes = _Votes.count(fitted, table, source, classes, roles.id_column)
    if request.row is not None:
        _explain(votes, find_row(table, request.row, roles.id_column), request.k)
        return
    if output is not None:
        put_table(
            output,
            votes.columns(request.k, table, roles.label),
            like=table.written,
            decimal_comma=request.decimal_comma or fitted.has_decimal_commas,
        )
    _summarize(votes, table)
    if output is not None:
        say(f"{output}: {table.n_rows} rows, {int((~votes.given).sum())} of them filled in.")
    else:
        say("To get all rows, name a file with -o, or - to print them.")


@dataclass(frozen=True)
class _Votes:
    """Probabilities of the classes of each row, and the labeled rows they come from.

    Parameters
    ----------
    classes : list of str
        Names of the classes.
    shares : ndarray of shape (n_rows, n_classes)
        Probabilities.
    given : ndarray of bool
        Which rows have a label.
    distances : ndarray of shape (n_rows, n_labeled)
        Distances to the labeled rows.
    labeled : list of (str, str)
        Name and class of each labeled row.
    names : ndarray
        Names of the rows.
    heading : str
        What the names are.
    """

    classes: list[str]
    shares: FloatArray
    given: Array
    distances: FloatArray
    labeled: list[tuple[str, str]]
    names: Array
    heading: str

    @classmethod
    def count(
        cls,
        fitted: SavedModel,
        table: InputTable,
        source: InputTable,
        labels: Array | None,
        id_column: str | None,
    ) -> _Votes:
        """Classify the rows of a table by the labels of a source, which may be the same table."""
        import numpy as np
        from scipy.spatial.distance import cdist
        from sklearn.preprocessing import FunctionTransformer

        from ... import MetricClassifier

        if labels is None:
            raise ValueError(_no_labels(fitted, source))
        known = np.array([value is not None for value in labels], dtype=bool)
        classes, codes = np.unique(labels[known].astype(str), return_inverse=True)
        if len(classes) < 2:
            raise ValueError(
                f"{source.path}: its labels have {len(classes)} classes, so there is nothing to "
                "choose between: label rows of two classes."
            )

        def mapped(of: InputTable) -> FloatArray:
            without = [id_column if id_column in (of.names or ()) else None]
            points = fitted.points(of, without=without)
            values = np.asarray(fitted.learner.transform(points), dtype=np.float64)
            return values if values.shape[1] else np.zeros((len(values), 1))

        new = mapped(table)
        seen = new if source is table else mapped(source)
        target: IntArray = np.full(len(known), -1)
        target[known] = codes
        shares = MetricClassifier(FunctionTransformer()).fit(seen, target).predict_proba(new)
        given = np.zeros(table.n_rows, dtype=bool)
        if source is table:
            given = known
            shares[known] = np.eye(len(classes))[codes]
        named = map(str, _names(source, id_column)[known])
        return cls(
            classes=classes.tolist(),
            shares=shares,
            given=given,
            distances=cdist(new, seen[known]),
            labeled=list(zip(named, classes[codes].tolist(), strict=True)),
            names=_names(table, id_column),
            heading=id_column or "row",
        )

    def nearest(self, row: int, k: int, digits: int) -> list[tuple[str, str, str]]:
        """Return the name, class and distance of the labeled rows nearest to a row."""
        distances = self.distances[row]
        order = distances.argsort(kind="stable")
        others = order[(distances[order] > 0.0) | ~self.given[row]]
        return [(*self.labeled[i], f"{distances[i]:.{digits}g}") for i in others[:k]]

    def predicted(self, row: int) -> str:
        return self.classes[int(self.shares[row].argmax())]

    def reason(self, row: int, k: int) -> str:
        """Return the labeled rows nearest to a row as text."""
        nearest = self.nearest(row, k, digits=3)
        return "; ".join(f"{name} ({label}, {distance})" for name, label, distance in nearest)

    def columns(self, k: int, table: InputTable, label: str | None) -> dict[str, Any]:
        """Return the columns of the table, the label filled in, and what speaks for it."""
        rows = range(len(self.shares))
        columns: dict[str, Any] = {name: table.cells(name) for name in table.names or ()}
        if table.names is None:
            columns["row"] = self.names
        columns[label or "class"] = [self.predicted(row) for row in rows]
        for name, values in (
            ("probability", self.shares.max(axis=1).round(4)),
            ("given", self.given),
            ("nearest", [self.reason(row, k) for row in rows]),
        ):
            columns[free_name(name, columns)] = values
        return columns


def _names(table: InputTable, id_column: str | None) -> Array:
    import numpy as np

    if id_column is None or id_column not in (table.names or ()):
        return np.arange(table.n_rows)
    return np.array(table.cells(id_column).to_pylist(), dtype=object)


def _summarize(votes: _Votes, table: InputTable) -> None:
    import numpy as np

    best, chosen = votes.shares.max(axis=1), votes.shares.argmax(axis=1)
    rows = [["class", "given", "filled in", "mean probability"]]
    counts = {}
    for code, name in enumerate(votes.classes):
        filled = ~votes.given & (chosen == code)
        given = int(np.sum(votes.given & (chosen == code)))
        counts[name] = {"given": given, "filled_in": int(filled.sum())}
        mean = f"{best[filled].mean():.3f}" if filled.any() else "-"
        rows.append([name, f"{given:,}", f"{filled.sum():,}", mean])
    show(rows, f"Classes of {table.path}")
    open_rows = np.flatnonzero(~votes.given)
    unsure = open_rows[np.argsort(best[open_rows], kind="stable")][:_UNSURE]
    shown = [
        [str(votes.names[row]), votes.predicted(row), f"{best[row]:.3f}", votes.reason(row, 3)]
        for row in unsure
    ]
    if shown:
        head = [votes.heading, "class", "probability", "nearest labeled rows (class, distance)"]
        show([head, *shown], "Least sure: label these next", numbers=slice(2, 3))
    keys = ("row", "class", "probability", "nearest")
    result(classes=counts, least_sure=[dict(zip(keys, line, strict=True)) for line in shown])


def _no_labels(fitted: SavedModel, source: InputTable) -> str:
    """Say which table has labeled rows, as far as the model knows."""
    label, learned = fitted.learned_from.get("label"), fitted.learned_from.get("table")
    if label is None or learned is None:
        return (
            f"{source.path}: name the column with the known classes (--label), a file of them "
            "(--labels), or a table that has them (--reference)."
        )
    return (
        f"{source.path} has no column {label!r}, which holds the known classes: name the table "
        f"with the labeled rows. The model learned from {learned}: --reference {learned}. If "
        "another column holds them, name it (--label)."
    )


def _explain(votes: _Votes, row: int, k: int) -> None:
    name = votes.names[row]
    order = votes.shares[row].argsort()[::-1]
    how = "as given" if votes.given[row] else f"probability {votes.shares[row].max():.3f}"
    say(f"Row {name}: {votes.predicted(row)} ({how})")
    shares = [[votes.classes[code], f"{votes.shares[row, code]:.3f}"] for code in order]
    show([["class", "probability"], *shares], "Probabilities")
    reasons = votes.nearest(row, k, digits=4)
    heads = [votes.heading, "class", "distance"]
    show([heads, *reasons], "Nearest labeled rows", numbers=slice(2, 3))
    keys = ("row", "class", "distance")
    result(
        row=name,
        predicted=votes.predicted(row),
        given=bool(votes.given[row]),
        probabilities={votes.classes[code]: float(votes.shares[row, code]) for code in order},
        nearest=[dict(zip(keys, reason, strict=True)) for reason in reasons],
    )
