"""The report page of a fit: what was learned, how good it is, and what it looks like."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from .._page import render
from .._version import __version__

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ._summary import FitSummary

_FEATURES = "What matters"
_WIDE, _NARROW = (9.6, 4.4), (6.4, 4.4)
_TEMPLATE = """\
{% extends "page.html" %}
{% import "macros.html" as macros %}
{% block body %}
<h1>{{ title }}</h1>
{{ macros.facts_table(summary.facts()) }}
<h2>Does it help?</h2>
{% if summary.errors %}
<p>Labels were held out, a fold at a time ({{ summary.errors.n_folds }} folds). Each time, the
distance was learned from the rest, and each held-out row got the class of its nearest labeled
neighbor.</p>
{{ macros.plain_table(summary.errors.rows()) }}
<p class="verdict">{{ summary.errors.verdict() }}</p>
{% else %}
<p class="verdict">{{ summary.no_errors_reason }}</p>
{% endif %}
{% for heading, caption, figure in pictures %}
<h2>{{ heading }}</h2>
{% if heading == features_heading %}
{{ macros.plain_table(features) }}
{% endif %}
<figure>{{ macros.image(figure | png, heading) }}<figcaption>{{ caption }}</figcaption></figure>
{% endfor %}
{% endblock %}
"""


def fit_report(summary: FitSummary, source: str) -> str:
    """Return the report page of a fit.

    Parameters
    ----------
    summary : FitSummary
        The fit.
    source : str
        Name of the table it learned from.

    Returns
    -------
    str
        HTML that needs no other file.
    """
    return render(
        _TEMPLATE,
        title=f"A distance learned from {source}",
        footer=f"Made by seraph {__version__}",
        summary=summary,
        pictures=_pictures(summary),
        features_heading=_FEATURES,
        features=[row[:2] for row in summary.features()],
    )


def _pictures(summary: FitSummary) -> Iterator[tuple[str, str, Any]]:
    """Yield headings, captions and figures."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("Pictures need matplotlib: pip install 'seraph-learn[plot]'.") from error

    from ..plot import (
        ConvergenceDisplay,
        DistanceDisplay,
        EmbeddingDisplay,
        FeatureImportanceDisplay,
        PosteriorDisplay,
        SpectrumDisplay,
    )

    learner, X, y = summary.learner, summary.scaled, summary.labels

    def axes(size: tuple[float, float]) -> Axes:
        # Each in a figure of its own; a display that needs two axes divides them.
        new: Axes = Figure(figsize=size, layout="constrained").subplots()
        return new

    yield (
        "The rows before and after",
        "Left: the features. Right: the new space. Each is shown along its first two principal "
        "components. Rows without a label are gray.",
        EmbeddingDisplay.from_estimator(learner, X, y, ax=axes(_WIDE)).figure_,
    )
    yield (
        _FEATURES,
        "The table gives the share of each feature in the mean squared distance. The picture also "
        "shows the direction in which each feature moves a row along the leading components of "
        "the new space.",
        FeatureImportanceDisplay.from_estimator(
            learner, X, y, feature_names=summary.names, ax=axes(_WIDE)
        ).figure_,
    )
    yield (
        "Distances before and after",
        "Between labeled rows, class by class; small distances are dark. A good distance has dark "
        "squares on the diagonal and nothing dark elsewhere."
        if summary.classes
        else "Between rows, in their order; small distances are dark.",
        DistanceDisplay.from_estimator(learner, X, y, ax=axes(_WIDE)).figure_,
    )
    yield (
        "How sure the model is about pairs",
        "The probability that two rows are similar. A good model has few pairs in the middle. Two "
        "rows at distance zero are at the dotted line; no pair lies beyond it.",
        PosteriorDisplay.from_estimator(
            learner, X, y, pairs=summary.pairs, pair_labels=summary.similar, ax=axes(_NARROW)
        ).figure_,
    )
    yield (
        "The dimensions of the new space",
        "Eigenvalues of the metric. Each positive one is a dimension of the new space.",
        SpectrumDisplay.from_estimator(learner, X, y, ax=axes(_NARROW)).figure_,
    )
    yield (
        "Convergence of the solver",
        "The objective, which the solver maximizes, after each iteration. It should end flat.",
        ConvergenceDisplay.from_estimator(learner, X, y, ax=axes(_WIDE)).figure_,
    )
