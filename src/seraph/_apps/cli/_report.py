"""The page of a fit: what was learned, and how good it is."""

from __future__ import annotations

import base64
import warnings
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from ..._utils._files import png, render
from ..._utils._version import __version__
from ._console import as_json, brief

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ._summary import FitSummary

# Name, heading, caption, and a function that draws.
_Plan = tuple[str, str, str, Callable[[], Any]]
_WIDE, _NARROW = (9.6, 4.4), (6.4, 4.4)
# What the words of the first table mean.
_MEANINGS = {
    "pairs": "A pair is similar if it was marked so, or if both rows have the same class. It is "
    "unlabeled if neither marks nor classes say anything about it.",
    "learner": "MeanMetric is the mean of the metrics of several learners, each with this share.",
    "rank of the metric": "The number of directions that were learned. The fewer, the simpler the "
    "metric.",
    "converged": "The solver stops when the optimality gap, an upper estimate of what the "
    "objective could still gain per labeled pair, is small: 1e-3 by default.",
    "lam": "The weight of the penalty on the size (the trace) of the metric. A larger lam gives a "
    "simpler metric of lower rank; a smaller one fits the labels more closely.",
    "mu": "The weight of the unlabeled pairs. They draw the metric toward calling every pair "
    "clearly similar or clearly dissimilar. 0 ignores them.",
}
_TEMPLATE = """\
{% extends "page.html" %}
{% import "macros.html" as macros %}
{% block body %}
<h1>{{ title }}</h1>
<h2>Does it help?</h2>
<p class="verdict">{{ check.errors.verdict() if check.errors else check.skipped }}</p>
{% for doubt in doubts %}
<p class="verdict">{{ doubt }}</p>
{% endfor %}
{% if check.errors %}
<p>{{ check.errors.method }}</p>
{{ macros.plain_table(check.errors.rows()) }}
{% endif %}
<h2>What it learned from</h2>
{{ macros.explained_table(facts, meanings) }}
{% if classes %}
<h2>Labels</h2>
{{ macros.plain_table(classes) }}
{% endif %}
{% for picture in pictures %}
<h2>{{ picture.heading }}</h2>
{% if picture.name == "features" %}
{{ macros.plain_table(shares) }}
{% endif %}
{% if picture.png %}
<figure>{{ macros.image(picture.png, picture.heading) }}<figcaption>{{ picture.caption }}
<a download="{{ picture.name }}.png" href="data:image/png;base64,{{ picture.png }}">Download</a>
</figcaption></figure>
{% else %}
<p class="verdict">This picture could not be drawn: {{ picture.trouble }}</p>
{% endif %}
{% endfor %}
<p><a download="report.json" href="data:application/json;base64,{{ data }}">Download the figures
of this page (JSON)</a></p>
{% endblock %}
"""


def fit_report(summary: FitSummary, source: str) -> str:
    """Return the report page of a fit to the table `source`: HTML that needs no other file.

    A picture that cannot be drawn leaves a line on the page, and a warning.
    """
    from ._prepare import column_rows
    from ._summary import share_rows

    columns = column_rows(summary.columns)
    classes = [["class", "labels"], *([name, f"{n:,}"] for name, n in summary.classes.items())]
    values = {**summary.values(), "seraph": __version__}
    return render(
        _TEMPLATE,
        title=f"A distance learned from {source}",
        footer=f"Made by seraph {__version__}",
        check=summary.check,
        doubts=summary.doubts(source),
        facts=[*summary.facts(), *([used, names] for names, used, _ in columns[1:])],
        meanings=_MEANINGS,
        classes=classes if summary.classes else None,
        shares=[row[:2] for row in share_rows(summary.shares)],
        pictures=list(_pictures(summary)),
        data=base64.b64encode(as_json(values).encode()).decode(),
    )


def _pictures(summary: FitSummary) -> Iterator[dict[str, Any]]:
    """Draw each picture in a figure of its own; report those that fail."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise ImportError("Pictures need matplotlib: pip install 'seraph-learn[cli]'.") from error
    for name, heading, caption, draw in _plans(summary):
        picture = {"name": name, "heading": heading, "caption": caption, "png": None}
        try:
            picture["png"] = png(draw())
        except Exception as error:  # a picture must never cost the page, nor the model
            picture["trouble"] = brief(error)
            warnings.warn(
                f"The picture {heading!r} could not be drawn: {picture['trouble']}", stacklevel=2
            )
        yield picture


def _plans(summary: FitSummary) -> Iterator[_Plan]:
    from ...plot import DistanceDisplay, EmbeddingDisplay, PosteriorDisplay

    learner, X, y = summary.learner, summary.scaled, summary.examples.labels

    yield (
        "rows",
        "The rows before and after",
        "Left: the features. Right: the new space. Each is shown along its first two principal "
        f"components.{'' if y is None else ' Rows without a label are gray.'}",
        lambda: EmbeddingDisplay.from_estimator(learner, X, y, ax=_axes(_WIDE)).figure_,
    )
    yield (
        "features",
        "What matters",
        "The share of each column in the mean squared distance, in % (left). The loadings "
        "(right) say how far one standard deviation of a feature moves a row along the leading "
        "components of the new space.",
        lambda: _draw_features(summary),
    )
    yield (
        "distances",
        "Distances before and after",
        "Between labeled rows, class by class; small distances are dark. A good distance has dark "
        "squares on the diagonal and nothing dark elsewhere."
        if summary.classes
        else "Between rows, in their order; small distances are dark.",
        lambda: DistanceDisplay.from_estimator(learner, X, y, ax=_axes(_WIDE)).figure_,
    )
    if hasattr(learner, "pair_proba"):
        yield (
            "pairs",
            "How sure the model is about pairs",
            "The probability that two rows are similar. A good model has few pairs in the "
            "middle. Two rows at distance zero are at the dotted line; no pair lies beyond it.",
            lambda: (
                PosteriorDisplay.from_estimator(
                    learner,
                    X,
                    y,
                    marks=summary.examples.marks,
                    ax=_axes(_NARROW),
                ).figure_
            ),
        )


def _axes(size: tuple[float, float]) -> Axes:
    """Return the axes of a new figure; a display that needs two divides them."""
    from matplotlib.figure import Figure

    new: Axes = Figure(figsize=size, layout="constrained").subplots()
    return new


def _draw_features(summary: FitSummary) -> Any:
    """Draw the importances in the unit of the table: shares of the mean squared distance."""
    import numpy as np

    from ...plot import FeatureImportanceDisplay

    display = FeatureImportanceDisplay.from_estimator(
        summary.learner, summary.scaled, feature_names=summary.names, ax=_axes(_WIDE)
    )
    importances = np.asarray(display.importances)
    display.importances = 100.0 * importances / (importances.sum() or 1.0)
    display.plot(ax=_axes(_WIDE))
    display.axes_[0].set_xlabel("share in the mean squared distance, %")
    return display.figure_
