"""The command ``neighbors``: list the rows nearest to one row."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ._console import command, result, rows_of, say, show_columns
from ._requests import ModelRequest

if TYPE_CHECKING:
    from ..._utils._typing import Array, IntArray
    from ._models import SavedModel
    from ._tables import InputTable


_FORMATS = {"distance": "{:.4g}", "p(similar)": "{:.3f}"}


@dataclass(frozen=True, kw_only=True)
class NeighborsRequest(ModelRequest):
    """What `seraph neighbors` is asked for."""

    row: Annotated[
        str,
        typer.Option(metavar="ROW", help="Id of the row, with --id; or its number, from 0."),
    ]
    k: Annotated[int, typer.Option("-k", min=1, help="Number of neighbors.")] = 5
    index: Annotated[
        Path | None,
        typer.Option(
            help="Keep the mapped rows here, as .safetensors: the first call writes the file, and "
            "later ones search it without mapping all rows again."
        ),
    ] = None
    components: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Keep only so many directions in a new index. It is smaller and faster, finds "
            "candidates for the full distance to sort, and says how many neighbors it misses.",
        ),
    ] = None


@command
def neighbors(request: NeighborsRequest) -> None:
    """List the rows of a table that are nearest to one of them.

    The list gives the distance of each row and the probability that the two are similar (1/2 at
    distance 1, and at most 0.73, at distance 0). With --label and --id it also gives the label
    and the id.

    Example: seraph neighbors model.skops data.csv --row 17 -k 5 --label class

    Example: seraph neighbors model.skops data.csv --row 17 --index data.safetensors
    """
    import numpy as np

    from ._models import find_row
    from ._tables import check_output

    if request.components is not None and request.index is None:
        raise ValueError("--components is for a new index: name its file with --index.")
    if request.index is not None:
        check_output(request.index, (".safetensors",), inputs=(request.model, *request.data))
    fitted, table, (label, unlabeled, id_column) = request.read()
    place = find_row(table, request.row, id_column)
    labels = table.labels(label, unlabeled)
    without = [label, id_column]
    if request.index is None:
        points = fitted.points(table, without)
        mapped = np.asarray(fitted.estimator.transform(points), dtype=np.float64)
        distances = np.linalg.norm(mapped - mapped[place], axis=1)
        order = np.argsort(distances, kind="stable")
        nearest = order[order != place][: request.k]
        distances = distances[nearest]
    else:
        nearest, distances = _searched(request.index, request, fitted, table, without, place)

    columns: dict[str, list[Any]] = {"row": nearest.tolist()}
    if id_column is not None:
        columns[id_column] = table.cells(id_column).take(nearest).to_pylist()
    if labels is not None:
        columns[label or "y"] = labels[nearest].tolist()
    left = len(columns)
    columns["distance"] = distances.tolist()
    if fitted.has("pair_proba"):
        few = fitted.some_points(table, np.concatenate([[place], nearest]), without)
        pairs = np.column_stack([np.zeros_like(nearest), np.arange(1, len(nearest) + 1)])
        columns["p(similar)"] = fitted.pair_proba(few, pairs).tolist()
    own = None if labels is None else labels[place]
    result(row=place, label=own, neighbors=rows_of(columns))
    known = "" if labels is None else f" ({own or 'unlabeled'})"
    shown = {
        name: ["-" if cell is None else _FORMATS.get(name, "{}").format(cell) for cell in cells]
        for name, cells in columns.items()
    }
    title = f"Nearest to row {place}{known} of {table.n_rows}"
    show_columns(shown, title, numbers=slice(left, None))


def _searched(
    path: Path,
    request: NeighborsRequest,
    fitted: SavedModel,
    table: InputTable,
    without: list[str | None],
    place: int,
) -> tuple[IntArray, Array]:
    """Return the nearest rows and their distances by an index, made if it does not exist."""
    from ._index import K, build_index, open_index

    components = request.components
    if not path.exists():
        index, mapped = build_index(path, fitted, table, without, components)
        n_rows, width = index.points.shape
        size = path.stat().st_size / 1e6
        say(f"Index: {path}, {n_rows} rows of {width} numbers, {size:.3g} MB")
    else:
        index, mapped = open_index(path, fitted, table, without, place)
        width = index.points.shape[1]
        rank = width if index.directions is None else len(index.directions)
        if components is not None and min(components, rank) != width:
            raise ValueError(
                f"{path} has {width} directions, not {components}: leave --components out, or "
                "name another file."
            )
    if index.directions is not None:
        say(
            f"It finds {index.recall:.1%} of the {K} nearest rows (measured on 100 rows when it "
            "was made)."
        )
    result(index=str(path), recall=index.recall)
    return index.nearest(place, request.k, mapped)
