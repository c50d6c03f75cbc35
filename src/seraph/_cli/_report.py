"""One self-contained page on a fit: what was learned, how good it is, and what it looks like."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING, Any

from .._page import facts_table, image, page, plain_table
from .._version import __version__

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ._outcome import Outcome

_FEATURES = "What matters"
_WIDE, _NARROW = (9.6, 4.4), (6.4, 4.4)


def html_report(outcome: Outcome, source: str) -> str:
    """Build the page.

    Parameters
    ----------
    outcome : Outcome
        The fit.
    source : str
        Name of the table it was made from.

    Returns
    -------
    str
        The page; it refers to no other file.
    """
    title = f"A distance learned from {source}"
    parts = [f"<h1>{escape(title)}</h1>", facts_table(outcome.facts())]
    parts.append("<h2>Does it help?</h2>")
    if outcome.check is not None:
        parts += [
            "<p>Labels were held out in turn "
            f"({outcome.check.n_folds} parts), the distance learned from the rest, and the "
            "held-out rows given the class of their nearest labelled neighbour.</p>",
            plain_table(outcome.check.rows()),
            f"<p class='verdict'>{escape(outcome.check.verdict())}</p>",
        ]
    else:
        parts.append(f"<p class='verdict'>{escape(outcome.unchecked)}</p>")
    for heading, text, figure in _pictures(outcome):
        parts.append(f"<h2>{escape(heading)}</h2>")
        if heading == _FEATURES:
            parts.append(plain_table([row[:2] for row in outcome.features()]))
        parts.append(
            f"<figure>{image(figure, heading)}<figcaption>{escape(text)}</figcaption></figure>"
        )
    return page(title, parts, f"Made by seraph {__version__}")


def _pictures(outcome: Outcome) -> Iterator[tuple[str, str, Any]]:
    """Headings, captions and figures of matplotlib."""
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

    learner, X, y = outcome.learner, outcome.seen, outcome.labels

    def axes(size: tuple[float, float]) -> Axes:
        # One for each figure: a display that needs two divides its place.
        found: Axes = Figure(figsize=size, layout="constrained").subplots()
        return found

    yield (
        "The rows before and after",
        "The features on the left and the new space on the right, each seen along its two "
        "principal components. Rows without a label are grey.",
        EmbeddingDisplay.from_estimator(learner, X, y, ax=axes(_WIDE)).figure_,
    )
    yield (
        _FEATURES,
        "The table has the share of each feature in the mean squared distance. The picture shows "
        "the same, and in which direction each moves a row along the leading components of the "
        "new space.",
        FeatureImportanceDisplay.from_estimator(
            learner, X, y, feature_names=outcome.names, ax=axes(_WIDE)
        ).figure_,
    )
    yield (
        "Distances before and after",
        "Between the rows with a label, class by class: small distances are dark. A good distance "
        "has dark squares along the diagonal, and nothing dark beside them."
        if outcome.classes
        else "Between the rows, in their order: small distances are dark.",
        DistanceDisplay.from_estimator(learner, X, y, ax=axes(_WIDE)).figure_,
    )
    yield (
        "How decided the model is about pairs",
        "The probability that two rows are alike. The model is to have few pairs in the middle; "
        "two rows at distance zero are at the dotted line, and no pair is beyond it.",
        PosteriorDisplay.from_estimator(
            learner, X, y, pairs=outcome.pairs, pair_labels=outcome.similar, ax=axes(_NARROW)
        ).figure_,
    )
    yield (
        "The dimensions of the new space",
        "Eigenvalues of the metric: as many are positive as the new space has dimensions.",
        SpectrumDisplay.from_estimator(learner, X, y, ax=axes(_NARROW)).figure_,
    )
    yield (
        "The way of the solver",
        "What was maximised, after each iteration: a flat end is what one wants to see.",
        ConvergenceDisplay.from_estimator(learner, X, y, ax=axes(_WIDE)).figure_,
    )
