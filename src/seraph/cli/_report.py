"""One self-contained page on a fit: what was learned, how good it is, and what it looks like."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING

from .._version import __version__
from ..page import facts_table, image, page, plain_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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


def _pictures(outcome: Outcome) -> Iterator[tuple[str, str, Figure]]:
    """Headings, captions and figures."""
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

    def empty(size: tuple[float, float] = _WIDE) -> Figure:
        return Figure(figsize=size, layout="constrained")

    figure = empty()
    EmbeddingDisplay.from_estimator(learner, X, y, ax=figure.subplots(1, 2))
    yield (
        "The rows before and after",
        "The scaled features on the left and the new space on the right, each seen along its two "
        "principal components. Rows without a label are grey.",
        figure,
    )
    figure = empty()
    FeatureImportanceDisplay.from_estimator(
        learner, X, y, feature_names=outcome.names, ax=figure.subplots(1, 2)
    )
    yield (
        _FEATURES,
        "The table has the share of each feature in the mean squared distance, all of them being "
        "scaled. The picture shows the same, and in which direction each moves a row along the "
        "leading components of the new space.",
        figure,
    )
    figure = empty()
    DistanceDisplay.from_estimator(learner, X, y, ax=figure.subplots(1, 2))
    yield (
        "Distances before and after",
        "Between the rows with a label, class by class: small distances are dark. A good distance "
        "has dark squares along the diagonal, and nothing dark beside them."
        if outcome.classes
        else "Between the rows: small distances are dark.",
        figure,
    )
    figure = empty(_NARROW)
    PosteriorDisplay.from_estimator(
        learner, X, y, pairs=outcome.pairs, pair_labels=outcome.similar, ax=figure.subplots()
    )
    yield (
        "How decided the model is about pairs",
        "The probability that two rows are alike. The model is to have few pairs in the middle; "
        "two rows at distance zero are at the dotted line, and no pair is beyond it.",
        figure,
    )
    figure = empty(_NARROW)
    SpectrumDisplay.from_estimator(learner, X, y, ax=figure.subplots())
    yield (
        "The dimensions of the new space",
        "Eigenvalues of the metric: as many are positive as the new space has dimensions.",
        figure,
    )
    figure = empty(_NARROW)
    ConvergenceDisplay.from_estimator(learner, X, y, ax=figure.subplots())
    yield (
        "The way of the solver",
        "The objective after each iteration; a flat end is what one wants to see.",
        figure,
    )
