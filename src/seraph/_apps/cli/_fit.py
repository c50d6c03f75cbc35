"""The command ``fit``: learn a model from a table and a few labels, and check how good it is."""

from __future__ import annotations

from ._console import command, result, say
from ._requests import FitRequest


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
    from ...tables._files import check_output

    for path, kinds in ((request.output, (".skops",)), (request.report, (".html", ".htm"))):
        if path is not None:
            check_output(path, kinds, (request.data, request.pairs))
    table = request.read()
    # Only now: they import scikit-learn, and a refusal should not wait for that.
    from ...persist import save
    from ...persist._write import write_whole
    from ._examples import Examples
    from ._learners import make_learner
    from ._summary import learn_model, report, show_summary, summary_values

    learner = make_learner(request.learner, request.parameter or (), seed=request.seed)
    examples = Examples.read(table, request, request.pairs)
    model, points = learn_model(learner, examples, request)
    # Files first: what goes wrong while printing or drawing must not cost the model.
    written = []
    if request.output is not None:
        written.append(f"Model: {save(model.estimator, request.output)}")
        result(model=str(request.output))
    if request.report is not None:
        written.append(f"Page: {write_whole(request.report, report(model, examples, points))}")
        result(report=str(request.report))
    result(**summary_values(model))
    show_summary(model, f"Learned from {table.path}")
    for line in written:
        say(line)
