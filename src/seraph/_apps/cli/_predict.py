"""The command ``predict``: fill in the classes of the rows without a label."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..._utils._optional import Late
from ._console import command, free_name, put_table, result, say, show
from ._requests import (
    DataFile,
    LabelColumn,
    LabelsFile,
    ModelFile,
    ReadRequest,
    TableOutput,
    Unlabeled,
)

if TYPE_CHECKING:
    from ...tables._table import InputTable
    from ._models import Rows, SavedModel

np, pd = Late("numpy"), Late("pandas")
# Rows to show that the model is least sure about, and labeled rows to name beside each.
_UNSURE, _NEAREST = 5, 3


@dataclass(frozen=True, kw_only=True)
class PredictRequest(ReadRequest):
    """What `seraph predict` is asked for."""

    model: ModelFile
    data: DataFile
    label: LabelColumn = None
    unlabeled: Unlabeled = None
    labels: LabelsFile = None
    reference: Annotated[
        Path | None,
        typer.Option(
            help="Table with the labeled rows, if the data have none: the one the model was "
            "learned from, for example."
        ),
    ] = None
    pairs: Annotated[
        Path | None,
        typer.Option(
            help="Decide about these pairs of rows instead, by a model of pairs: columns i and j "
            "(row numbers, from 0), or id_i and id_j."
        ),
    ] = None
    output: TableOutput = None


@command
def predict(request: PredictRequest) -> None:
    """Give every row without a label a class, a probability, and the reason for it.

    The class is the most probable one by the labeled rows in the learned space and by a random
    forest, as in MetricClassifier. Its probability is calibrated on the labels that seraph fit
    held out. The nearest labeled rows are the reason. The file has the columns of the data, with
    the label filled in, and then the probability, whether the label was given, and the reason. It
    is written as the data are: separator, decimal comma, encoding.

    The columns of the labels and ids are those of seraph fit, unless you name others.

    Example: seraph predict model.skops data.csv -o filled.csv

    Example: seraph predict model.skops new.csv --reference data.csv -o filled.csv

    Example: seraph predict model.skops data.csv --pairs pairs.csv -o decided.csv
    """
    from ...tables._files import check_tables_out
    from ._models import SavedModel

    output, reference = request.output, request.reference
    check_tables_out([output], (request.model, request.data, reference, request.labels))
    fitted = SavedModel.read(request.model)
    label, id_column = request.label, request.id_column
    asked = [label if reference is None else None, id_column]
    table = source = fitted.read_table(request.data, label, asked=asked, **request.how)
    if request.pairs is not None:
        return _decide(fitted, table, request, request.pairs)
    if reference is not None:
        source = fitted.read_table(reference, label, **request.how)
    elsewhere = request.labels is not None and label not in (source.names or ())
    named = None if elsewhere else label
    known = fitted.rows(source, named, request.unlabeled, id_column, request.labels)
    to_fill = known
    if source is not table:  # which may have labels of its own
        own_label = label if label in (table.names or ()) else None
        to_fill = fitted.rows(table, own_label, None, id_column)
    filled = _classified(fitted, to_fill, known)
    label = to_fill.label or known.label
    if output is not None:
        commas = request.decimal_comma or any(how.form == "," for how in fitted.columns.values())
        like = table.written._replace(decimal_comma=commas)
        put_table(output, _columns(filled, table, label), like=like)
    say(_verdict(fitted))
    _summarize(filled, table, known.id_column or "row")
    if output is not None:
        say(f"{output}: {table.n_rows} rows, {int((~filled['given']).sum())} of them filled in.")
    else:
        say("To get all rows, name a file with -o, or - to print them.")


def _decide(fitted: SavedModel, table: InputTable, request: PredictRequest, path: Path) -> None:
    """Write a table of pairs with whether they are similar, and how probable that is."""
    from ...tables._answers import asked_pairs

    if fitted.decider is None:
        raise ValueError(
            f"{request.model} was not learned from enough marked pairs, so it cannot decide about "
            "pairs: fit a model with --pairs, of more pairs of both kinds."
        )
    id_column = request.id_column or fitted.learned_from.get("id")
    asked, pairs = asked_pairs(table, path, id_column)
    points = fitted.points(table, {id_column} & {*(table.names or ())})
    alike = fitted.decider.predict(pairs, points) > 0
    columns: dict[str, Any] = {name: asked.cells(name) for name in asked.names}
    columns[free_name("similar", columns)] = alike.astype(int).tolist()
    chances = fitted.decider.predict_proba(pairs, points)[:, 1].round(4)
    columns[free_name("probability", columns)] = chances.tolist()
    if request.output is not None:
        put_table(request.output, columns, like=asked.written)
    say(_verdict(fitted))
    result(n_pairs=len(pairs), n_similar=int(alike.sum()))
    say(f"{len(pairs)} pairs, {int(alike.sum())} of them similar.")


def _classified(fitted: SavedModel, to_fill: Rows, known: Rows) -> Any:
    """Return a data frame of the rows to fill in, classified by the labels of known rows.

    It has the name of each row, its class, the probability of that, whether the label was given,
    and the nearest labeled rows with their classes and distances.
    """
    from scipy.spatial.distance import cdist

    from ...tables._answers import class_codes

    labels, given = known.labels, to_fill.labels
    if labels is None:
        raise ValueError(_no_labels(fitted, known.table))
    classes, codes = class_codes(labels)
    if len(classes) < 2:
        raise ValueError(
            f"{known.table.path}: its labels have {len(classes)} classes, so there is nothing to "
            "choose between: label rows of two classes."
        )
    new, seen = (
        fitted.points(rows.table, {rows.label, rows.id_column} & {*(rows.table.names or ())})
        for rows in (to_fill, known)
    )
    shares = fitted.classifier(seen, labels).predict_proba(new)
    new, seen = (np.asarray(fitted.learner.transform(points)) for points in (new, seen))
    shares **= fitted.sharpness or 1.0
    shares /= shares.sum(axis=1, keepdims=True)
    has_label = np.zeros(len(new), dtype=bool)
    names = classes[shares.argmax(axis=1)]
    if given is not None:
        has_label = class_codes(given)[1] >= 0
        names[has_label] = given[has_label]
    labeled = np.flatnonzero(codes >= 0)
    ids = known.names
    reasons = [f"{ids[row]} ({labels[row]}" for row in labeled]
    nearest = []
    for is_labeled, far in zip(has_label, cdist(new, seen[labeled]), strict=True):
        order = far.argsort(kind="stable")
        others = order[(far[order] > 0.0) | ~is_labeled][:_NEAREST]
        nearest.append("; ".join(f"{reasons[k]}, {far[k]:.3g})" for k in others))
    return pd.DataFrame(
        {
            "name": to_fill.names,
            "class": names,
            "probability": np.where(has_label, 1.0, shares.max(axis=1)).round(4),
            "given": has_label,
            "nearest": nearest,
        }
    )


def _columns(filled: Any, table: InputTable, label: str | None) -> dict[str, Any]:
    """Return the columns of the table, the label filled in, and the reason for it."""
    from ...tables._answers import ADDED
    from ...tables._files import cells_like

    columns: dict[str, Any] = {name: table.cells(name) for name in table.names or ()}
    if table.names is None:
        columns["row"] = filled["name"]
    known = columns.get(label or "")
    labels = filled["class"].tolist()
    # A column "class" that is no label stays as it is.
    columns[label or free_name("class", columns)] = (
        labels if known is None else cells_like(labels, known)
    )
    for name in ADDED:
        columns[free_name(name, columns)] = filled[name].tolist()
    return columns


def _summarize(filled: Any, table: InputTable, heading: str) -> None:
    """Print how many rows each class has, and the rows that are least sure."""
    rows, counts = [["class", "given", "filled in", "mean probability"]], {}
    for name, of in filled.groupby("class"):
        new = of[~of["given"]]
        counts[name] = {"given": len(of) - len(new), "filled_in": len(new)}
        mean = f"{new['probability'].mean():.3f}" if len(new) else "-"
        rows.append([name, f"{len(of) - len(new):,}", f"{len(new):,}", mean])
    show(rows, f"Classes of {table.path}")
    unsure = filled[~filled["given"]].nsmallest(_UNSURE, "probability")
    shown = [
        [name, label, f"{share:.3f}", nearest]
        for name, label, share, _, nearest in unsure.to_numpy().tolist()
    ]
    if shown:
        head = [heading, "class", "probability", "nearest labeled rows (class, distance)"]
        show([head, *shown], "Least sure: label these next", numbers=slice(2, 3))
    keys = ("row", "class", "probability", "nearest")
    result(classes=counts, least_sure=[dict(zip(keys, line, strict=True)) for line in shown])


def _verdict(fitted: SavedModel) -> str:
    """Return what `seraph fit` found out about the model, and whether probabilities rest on it."""
    said = fitted.learned_from.get("verdict", "")
    result(verdict=said)
    if fitted.sharpness is not None:
        return f"seraph fit: {said}"
    doubt = "The probabilities are not calibrated: this model was not checked on held-out labels."
    return f"seraph fit: {said} {doubt}" if said else doubt


def _no_labels(fitted: SavedModel, source: InputTable) -> str:
    """Say which table has labeled rows, as far as the model knows."""
    label, learned = fitted.learned_from.get("label"), fitted.learned_from.get("table")
    if label is None or learned is None:
        return (
            f"{source.path}: name the column with the known classes (--label), a file of them "
            "(--labels), or a table that has them (--reference)."
        )
    return (
        f"{source.path} has no column {label!r}, which holds the known classes. The model learned "
        f"from {learned}: --reference {learned}. If another column holds them, name it (--label)."
    )
