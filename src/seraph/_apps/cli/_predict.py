"""The command ``predict``: fill in the classes of the rows without a label."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import _options as options
from ._console import command, print_table, result, say, show

if TYPE_CHECKING:
    from ..._utils._typing import Array, FloatArray, IntArray
    from ._models import SavedModel
    from ._tables import InputTable

_UNSURE = 5  # rows to show that the model is least sure about


@command
def predict(
    model: options.ModelFile,
    data: options.DataFiles,
    label: options.LabelColumn = None,
    labels: options.LabelsFile = None,
    unlabeled: options.Unlabeled = None,
    reference: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Table with the labeled rows, if the data have none: the one the model was "
            "learned from, for example.",
        ),
    ] = None,
    row: Annotated[
        str | None,
        typer.Option(
            metavar="ROW",
            help="Explain the class of one row: its id, with --id, or its number from 0.",
        ),
    ] = None,
    k: Annotated[
        int, typer.Option("-k", min=1, metavar="NUMBER", help="Nearest labeled rows to name.")
    ] = 3,
    output: options.TableOutput = None,
    id_column: options.IdColumn = None,
    decimal_comma: options.DecimalComma = False,
    encoding: options.Encoding = None,
    sql: options.Sql = None,
) -> None:
    """Give every row without a label a class, a probability, and the reason for it.

    The class is the most probable one by the labeled rows in the learned space, as in
    MetricClassifier. The nearest labeled rows are the reason. The file has the columns of the
    data, with the label filled in, and then the probability, whether the label was given, and the
    reason.

    The columns of the labels and ids are those of seraph fit, unless you name others.

    Example: seraph predict model.skops data.csv -o filled.csv

    Example: seraph predict model.skops data.csv --row W17
    """
    from ._answered import answered_classes
    from ._models import SavedModel, find_row
    from ._tables import MIXED_TABLES, STDOUT, check_output, write_table

    if output is not None and output != STDOUT:
        check_output(output, MIXED_TABLES, (model, *data, reference))
    fitted = SavedModel.read(model)
    table = fitted.read_tables(
        data,
        asked=[id_column, label if reference is None else None],
        decimal_comma=decimal_comma,
        encoding=encoding,
        sql=sql,
    )
    known = None
    if reference is not None:
        known = fitted.read_tables([reference], decimal_comma=decimal_comma, encoding=encoding)
    label, unlabeled_labels, id_column = fitted.roles(
        table if known is None else known, label, unlabeled, id_column
    )
    source = table if known is None else known
    if labels is None:
        classes = source.labels(label, unlabeled_labels)
    else:
        classes = answered_classes(source, labels, id_column)
    votes = _Votes.count(fitted, table, known, classes, id_column)
    if row is not None:
        _explain(votes, find_row(table, row, id_column), k)
        return
    columns = votes.columns(k, table, label)
    if output == STDOUT:
        print_table(columns)
        return
    if output is not None:
        write_table(output, columns)
        result(output=str(output))
    _summarize(votes, table)
    if output is not None:
        say(f"{output}: {table.n_rows} rows, {int((~votes.given).sum())} of them filled in.")
    else:
        say("To get all rows, name a file with -o, or - to print them.")


@dataclass(frozen=True)
class _Votes:
    """Probabilities of the classes of each row, and the labeled rows they come from."""

    classes: list[str]
    shares: FloatArray
    given: Array
    distances: FloatArray
    labeled_names: Array
    labeled_codes: IntArray
    names: Array
    id_column: str | None

    @classmethod
    def count(
        cls,
        fitted: SavedModel,
        table: InputTable,
        reference: InputTable | None,
        labels: Array | None,
        id_column: str | None,
    ) -> _Votes:
        import numpy as np
        from scipy.spatial.distance import cdist

        from ..._estimators._rules import LabeledRows

        source = table if reference is None else reference
        if labels is None:
            raise ValueError(_no_labels(fitted, source))
        rows = np.flatnonzero([value is not None for value in labels])
        classes, codes = np.unique(labels[rows].astype(str), return_inverse=True)
        if len(classes) < 2:
            raise ValueError(
                f"{source.path}: its labels have {len(classes)} classes, so there is nothing to "
                "choose between: label rows of two classes."
            )

        def mapped(of: InputTable) -> FloatArray:
            without = [id_column if id_column in (of.names or ()) else None]
            points = fitted.points(of, without=without)
            values = np.asarray(fitted.estimator.transform(points), dtype=np.float64)
            return values if values.shape[1] else np.zeros((len(values), 1))

        new = mapped(table)
        seen = new if reference is None else mapped(reference)
        known = np.isin(np.arange(len(seen)), rows)
        shares = LabeledRows.of(seen, known, codes, "auto").probabilities(new, "auto")
        given = np.zeros(table.n_rows, dtype=bool)
        if reference is None:
            given[rows] = True
            shares[rows] = np.eye(len(classes))[codes]
        return cls(
            classes=[str(name) for name in classes],
            shares=shares,
            given=given,
            distances=cdist(new, seen[rows]),
            labeled_names=_names(source, id_column)[rows],
            labeled_codes=codes,
            names=_names(table, id_column),
            id_column=id_column,
        )

    def nearest(self, row: int, k: int) -> IntArray:
        """Return the labeled rows nearest to a row, by their place among the labeled ones."""
        import numpy as np

        order = np.argsort(self.distances[row], kind="stable")
        others = order[(self.distances[row][order] > 0.0) | ~self.given[row]]
        return others[:k]

    def predicted(self, row: int) -> str:
        return self.classes[int(self.shares[row].argmax())]

    def reason(self, row: int, k: int) -> str:
        """Return the labeled rows nearest to a row, with their classes and distances."""
        return "; ".join(
            f"{self.labeled_names[i]} ({self.classes[self.labeled_codes[i]]}, "
            f"{self.distances[row, i]:.3g})"
            for i in self.nearest(row, k)
        )

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
            free = name
            while free in columns:  # a column of the data has this name
                free += "_"
            columns[free] = values
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
    for code, name in enumerate(votes.classes):
        filled = ~votes.given & (chosen == code)
        mean = f"{best[filled].mean():.3f}" if filled.any() else "-"
        given = int(np.sum(votes.given & (chosen == code)))
        rows.append([name, f"{given:,}", f"{int(filled.sum()):,}", mean])
    show(rows, f"Classes of {table.path}")
    open_rows = np.flatnonzero(~votes.given)
    unsure = open_rows[np.argsort(best[open_rows], kind="stable")][:_UNSURE]
    head = votes.id_column or "row"
    shown = [
        [str(votes.names[row]), votes.predicted(row), f"{best[row]:.3f}", votes.reason(row, 3)]
        for row in unsure
    ]
    if shown:
        show(
            [[head, "class", "probability", "nearest labeled rows (class, distance)"], *shown],
            "Least sure: label these next",
            numbers=slice(2, 3),
        )
    result(
        classes={row[0]: {"given": int(row[1].replace(",", "")),
                          "filled_in": int(row[2].replace(",", ""))} for row in rows[1:]},
        least_sure=[dict(zip(("row", "class", "probability", "nearest"), line, strict=True))
                    for line in shown],
    )  # fmt: skip


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
    reasons = [
        [
            str(votes.labeled_names[i]),
            votes.classes[votes.labeled_codes[i]],
            f"{votes.distances[row, i]:.4g}",
        ]
        for i in votes.nearest(row, k)
    ]
    head = votes.id_column or "row"
    show([[head, "class", "distance"], *reasons], "Nearest labeled rows", numbers=slice(2, 3))
    result(
        row=name,
        predicted=votes.predicted(row),
        given=bool(votes.given[row]),
        probabilities={votes.classes[code]: float(votes.shares[row, code]) for code in order},
        nearest=[
            dict(zip(("row", "class", "distance"), reason, strict=True)) for reason in reasons
        ],
    )
