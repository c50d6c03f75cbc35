"""The page of a fit: what was learned, and how good it is."""

from __future__ import annotations

import base64
import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ... import __version__

if TYPE_CHECKING:
    from ._summary import FitSummary

_TEMPLATES = Path(__file__).parent / "templates"


def fit_report(summary: FitSummary, noted: dict[str, Any]) -> str:
    """Return the page of a fit: HTML that needs no other file. `noted` is about the table."""
    try:
        from jinja2 import Environment, FileSystemLoader, StrictUndefined
    except ImportError as error:
        raise ImportError("Report pages need jinja2: pip install 'seraph-learn[cli]'.") from error
    from ._examples import about_ids
    from ._summary import column_rows, facts, share_rows

    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    columns = column_rows(summary.columns)[1:]
    return environment.get_template("report.html").render(
        table=noted["table"],
        version=__version__,
        verdict=filter(None, [summary.verdict, about_ids(noted["table"], summary.columns)]),
        check=summary.check,
        facts=[*facts(summary.learner, noted), *([used, names] for names, used, _ in columns)],
        shares=[row[:2] for row in share_rows(summary.shares)],
        picture=_picture(summary),
    )


def _picture(summary: FitSummary) -> str:
    """Return the rows before and after, as a PNG file in base 64."""
    from matplotlib.figure import Figure

    from ...plot import EmbeddingDisplay

    figure = Figure(figsize=(9.6, 4.4), layout="constrained")
    examples = summary.examples
    # With a space, no class is called -1 or nan.
    names = [*(f"{name} " for name in examples.class_names), None]
    labels = [names[code] for code in examples.codes]
    EmbeddingDisplay.from_estimator(
        summary.learner, summary.scaled, labels, marks=examples.marks, ax=figure.subplots(1, 2)
    )
    out = io.BytesIO()
    figure.savefig(out, format="png", dpi=120)
    return base64.b64encode(out.getvalue()).decode()
