"""The command ``export``: write the learned map for other programs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ._console import command, result, say
from ._requests import ModelFile

_KINDS = (".npy", ".safetensors", ".onnx")

if TYPE_CHECKING:
    from ...tables._table import InputTable
    from ._models import SavedModel


@command
def export(
    model: ModelFile,
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            help="Write here: .npy or .safetensors (a matrix), or .onnx (a graph).",
        ),
    ],
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="DATA",
            help="Table on whose rows a graph is compared with the model.",
        ),
    ] = None,
) -> None:
    """Write the learned map as a matrix W, or as an ONNX graph, for other programs.

    The Euclidean distance between x W and z W is the learned distance between x and z; what
    fills in missing numbers is not in W. A graph takes the columns by their names: numbers (NaN
    if missing), text ("" if missing), dates as days since 1970. If --data has the labels of the
    model, it returns classes and probabilities, as seraph predict does, and the coordinates; after
    a fit with pairs, probabilities of "pairs" of row numbers. It is compared with the model on
    every row of --data, and not written if they differ. A model with categories has no W.

    Example: seraph export model.skops -o W.npy

    Example: seraph export model.skops -o model.onnx --data data.csv
    """
    from ...persist import export as write
    from ...persist import to_onnx
    from ...persist._heads import sharpen
    from ...persist._write import write_whole
    from ...tables._files import check_output
    from ._models import SavedModel

    check_output(output, _KINDS, inputs=(model, data))
    is_graph = output.suffix.lower() == ".onnx"
    if is_graph and not data:
        raise ValueError(
            "A graph needs --data, the table that the model was fitted on or one like it: before "
            "it is written, it is compared with the model on every row."
        )
    fitted = SavedModel.read(model)
    table = fitted.read_table(data) if data else None
    points = None if table is None else fitted.frame(table)
    rule = _rule(fitted, table) if is_graph and table is not None else None
    if rule is None:
        write(fitted.estimator, output, X=points)
    else:
        graph = to_onnx(rule, points, dtype="float64")  # as predict reads them
        if hasattr(rule, "points_"):  # a classifier
            sharpen(graph, fitted.sharpness or 1.0)
        write_whole(output, graph.SerializeToString())
    names = fitted.feature_names
    n_features = int(fitted.estimator.n_features_in_) if names is None else len(names)
    width = len(fitted.learner.get_feature_names_out())
    result(output=str(output), n_features=n_features, n_components=width)
    say(f"{output}: from {n_features} features to {width} numbers")
    if rule is not None:
        classes = rule.classes_.tolist()
        result(classes=classes)
        named = ", ".join(map(repr, classes))
        of = f"of {len(classes)} classes: {named}" if hasattr(rule, "points_") else "of pairs"
        say(f"and to the probabilities {of}")
    elif is_graph and fitted.learned_from.get("label"):
        say("without classes: for these, give --data with labels.")
    first = fitted.steps[0][1]
    if not is_graph and (
        type(first).__name__ == "Normalizer" or getattr(first, "scale", "") == "unit"
    ):
        result(unit_length=True)
        say("Scale vectors to unit length before you multiply them with W.")


def _rule(fitted: SavedModel, table: InputTable) -> Any:
    """Return what decides, by the labels of a table or by the pairs of the fit; None without."""
    labels = fitted.rows(table).labels
    if labels is not None and len({*labels} - {None}) > 1:
        return fitted.whole(fitted.classifier(fitted.points(table), labels))
    return None if fitted.decider is None else fitted.whole(fitted.decider)
