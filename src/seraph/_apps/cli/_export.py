"""The command ``export``: write the learned map for other programs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from . import _options as options
from ._console import command, result, say

_KINDS = (".npy", ".safetensors", ".onnx")


@command
def export(
    model: options.ModelFile,
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            help="Write here: .npy or .safetensors (a matrix), or .onnx (a graph).",
        ),
    ],
    components: Annotated[
        int | None, typer.Option(min=1, help="Keep only so many directions; needs --data.")
    ] = None,
    data: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="DATA",
            help="Table on whose rows a graph is compared with the model, and that decides which "
            "directions are kept (repeatable).",
        ),
    ] = None,
) -> None:
    """Write the learned map as a matrix W, or as an ONNX graph, for other programs.

    The Euclidean distance between x W and z W is the learned distance between x and z; what
    fills in missing numbers is not in W. A graph takes the columns by their names: numbers (NaN
    if missing), text ("" if missing), dates as days since 1970. It is compared with the model on
    every row of --data, and not written if they differ. A model with categories has no W.

    Example: seraph export model.skops -o W.npy

    Example: seraph export model.skops -o W.safetensors --components 2 --data data.csv
    """
    from ..._utils._directions import needs_unit_length
    from ...persist import export as write
    from ._models import SavedModel
    from ._tables import check_output

    check_output(output, _KINDS, inputs=(model, *(data or ())))
    graph = output.suffix.lower() == ".onnx"
    if graph and not data:
        raise ValueError(
            "A graph needs --data, the table that the model was fitted on or one like it: before "
            "it is written, it is compared with the model on every row."
        )
    if not graph and (components is None) != (not data):
        raise ValueError(
            "--components and --data go together: the rows decide which directions are kept."
        )
    fitted = SavedModel.read(model)
    points = fitted.points(fitted.read_tables(data)) if data else None
    write(fitted.estimator, output, n_components=components, X=points)
    width = len(fitted.learner.get_feature_names_out()) if components is None else components
    n_features = fitted.estimator.n_features_in_
    result(output=str(output), n_features=n_features, n_components=width)
    say(f"{output}: from {n_features} features to {width} numbers")
    if not graph and needs_unit_length(fitted.estimator):
        result(unit_length=True)
        say("Scale vectors to unit length before you multiply them with W.")
    if graph and "KNNImputer" in repr(fitted.estimator.get_params()):
        say(
            "A row in which every number is missing may get other values from the graph, or fail "
            "there: knn has nothing to compare it by (--impute median fills it in)."
        )
