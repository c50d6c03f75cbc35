"""The command ``fit``: learn a model from a table and a few labels, and check how good it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._console import command, result, say
from ._requests import FitRequest

if TYPE_CHECKING:
    from ._summary import FitSummary


@command
def fit(request: FitRequest) -> None:
    """Learn a distance from a table with a few labels or marked pairs, and check how good it is.

    All columns are features, except the label, the id, and those you drop. Text with few distinct
    values becomes categories, dates become days, missing numbers the median; other text, ids and
    constant columns are left out. A table lists them, and the options that change it. Rows without
    a label are used too. Marked pairs with ids find their rows by id.

    Example: seraph fit data.csv --label class -o model.skops --report report.html

    Example: seraph fit data.csv --pairs pairs.csv --id name --drop remarks -o model.skops

    Example: seraph fit data.csv --label class --learner itml --set gamma=2.0
    """
    from ...tables._write import check_output

    for path, kinds in ((request.output, (".skops",)), (request.report, (".html", ".htm"))):
        if path is not None:
            check_output(path, kinds, (request.data, request.pairs))
    table = request.read()
    # Only now: they import scikit-learn, and a refusal should not wait for that.
    from ._examples import Examples
    from ._learners import make_learner
    from ._summary import learn_model, show_summary

    learner = make_learner(request.learner, request.parameter or (), seed=request.seed)
    examples = Examples.read(table, request, request.pairs)
    summary = learn_model(learner, examples, request)
    encoding = table.written.encoding
    noted = summary.learned_from() | {
        "table": table.path.name,
        "label": request.label,
        "unlabeled": list(examples.unlabeled),
        "id": request.id_column,
        "encoding": None if encoding.startswith("utf") else encoding,
    }
    # Files first: what goes wrong while printing or drawing must not cost the model.
    written = _write(summary, request, noted)
    result(**summary.values())
    show_summary(summary.learner, summary.columns, noted, f"Learned from {table.path}")
    for line in written:
        say(line)


def _write(summary: FitSummary, request: FitRequest, noted: dict[str, Any]) -> list[str]:
    """Save the model, then the report page, and say where."""
    from ...persist import save
    from ...persist._write import write_whole
    from ._models import LEARNED_FROM

    setattr(summary.model, LEARNED_FROM, noted)
    written = []
    if request.output is not None:
        written.append(f"Model: {save(summary.model, request.output)}")
        result(model=str(request.output))
    if request.report is not None:
        from ._report import fit_report

        page = write_whole(request.report, fit_report(summary, noted))
        written.append(f"Page: {page}")
        result(report=str(request.report))
    return written
