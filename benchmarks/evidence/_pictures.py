"""Pictures: mean ranks with critical differences, and the gain against the number of marks."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure

from seraph._utils._colors import BLUE, COLORS, MARKERS, RED

from ._results import NAMES, SIGN, critical_difference, title
from ._tasks import METRICS

OURS = {"seraph-mean": RED, "seraph": BLUE}


def draw_ranks(results, path):
    """Draw six diagrams of mean ranks: three measures, from labels and from pairs."""
    figure = Figure(figsize=(12, 11), layout="constrained")
    axes = figure.subplots(3, 2)
    for row, metric in zip(axes, METRICS, strict=True):
        for ax, what in zip(row, ("labels", "pairs"), strict=True):
            methods, ranks = results.ranks(what, metric)
            if len(methods) > 1:
                _rank_diagram(ax, methods, ranks)
            ax.set_title(f"{NAMES[metric]}, from {what}: mean rank over {len(ranks)} sets")
    figure.savefig(path, dpi=130)


def _rank_diagram(ax, methods, ranks):
    """Draw a line a method, best on top, and bars over those that do not differ significantly."""
    mean = ranks.mean(axis=0)
    order = np.argsort(mean)
    width = critical_difference(len(methods), len(ranks))
    for place, k in enumerate(order):
        ours = methods[k] in OURS
        color = OURS.get(methods[k], "0.3")
        ax.plot([mean[k], mean[k] + width], [place, place], color=color, linewidth=1, alpha=0.5)
        ax.plot(mean[k], place, "o", color=color, markersize=7 if ours else 5)
        ax.text(
            mean[k] - 0.15,
            place,
            f"{title(methods[k])}  {mean[k]:.1f}",
            ha="right",
            va="center",
            color=color,
            fontsize=9,
            fontweight="bold" if ours else "normal",
        )
    ax.axvspan(mean.min(), mean.min() + width, color="0.93", zorder=0)
    ax.text(
        mean.min() + width,
        -0.9,
        f"critical difference {width:.1f} ",
        ha="right",
        va="center",
        fontsize=8,
        color="0.4",
    )
    low = mean.min() - 0.36 * (mean.max() - mean.min() + width)
    ax.set(
        xlim=(low, max(mean.max(), mean.min()) + width + 0.3),
        ylim=(len(methods) - 0.4, -1.5),
        yticks=[],
    )
    ax.set_xticks(range(1, len(methods) + 1))
    ax.spines[["left", "top", "right"]].set_visible(False)


@dataclass(frozen=True)
class Column:
    """A column of the picture of gains.

    Parameters
    ----------
    title, label : str
        Title of the column, and label of its horizontal axis.
    counts : sequence of int
        Numbers of labels or marks.
    gain : callable
        Returns the gains of a method in a measure, one for each count; NaN where there is none.
    """

    title: str
    label: str
    counts: Sequence[int]
    gain: Callable[[str, str], Sequence[float]]


def draw_gain(results, path, groups=("tables", "embeddings")):
    """Draw the gain over the Euclidean distance against the number of labels and of pairs."""

    def gain_of(group, settings):
        def gain(method, metric):
            ours, base = (
                np.array([results.group_mean(group, s, m, metric) for s in settings])
                for m in (method, "euclidean")
            )
            return SIGN[metric] * (ours - base)

        return gain

    columns = []
    for group in groups:
        for what in ("labels", "pairs"):
            settings = results.settings(what=what)
            counts = [int(s.partition("-")[2]) for s in settings]
            gain = gain_of(group, settings)
            columns.append(Column(f"{group}, {what}", f"number of {what}", counts, gain))
    draw_gains(path, columns, METRICS, results.methods, lowest=-10.0, size=(13, 11))


def draw_gains(path, columns, metrics, methods, *, lowest, size):
    """Draw a row of panels for each measure: gains against the number of labels or marks.

    Lines that leave the picture at the bottom are worse than `lowest` points.
    """
    figure = Figure(figsize=size, layout="constrained")
    axes = figure.subplots(len(metrics), len(columns), squeeze=False)
    others = [m for m in methods if m != "euclidean" and m not in OURS]
    for row, metric in zip(axes, metrics, strict=True):
        for ax, column in zip(row, columns, strict=True):
            for method in (*others, *(m for m in methods if m in OURS)):
                gain = column.gain(method, metric)
                if not np.isnan(gain).all():
                    ax.plot(column.counts, gain, label=title(method), **_style(method, others))
            ax.axhline(0, color="0.4", linewidth=0.8)
            ax.set_ylim(bottom=max(ax.get_ylim()[0], lowest))
            ax.set_xscale("log")
            ax.set_xticks(column.counts, [f"{c:,}" for c in column.counts])
            ax.minorticks_off()
            ax.spines[["top", "right"]].set_visible(False)
            if metric == metrics[0]:
                ax.set_title(column.title)
            if metric == metrics[-1]:
                ax.set_xlabel(column.label)
        row[0].set_ylabel(f"gain in {NAMES[metric]} (points)")
    handles = {}
    for ax in axes.ravel():
        handles |= dict(zip(*reversed(ax.get_legend_handles_labels()), strict=True))
    figure.legend(
        handles.values(), handles.keys(), loc="outside lower center", ncols=5, frameon=False
    )
    figure.savefig(path, dpi=130)


def _style(method, others):
    """Return how the line of a method looks: ours thick, no two others alike."""
    if method in OURS:
        return {
            "color": OURS[method], "marker": "o", "markersize": 6, "linewidth": 2.4, "zorder": 3
        }  # fmt: skip
    k = others.index(method)
    colors = [color for color in COLORS if color not in OURS.values()]
    return {
        "color": colors[k % len(colors)],
        "linestyle": "-" if k < len(colors) else "--",
        "marker": MARKERS[(k + 1) % len(MARKERS)],
        "markersize": 4,
        "linewidth": 1,
        "zorder": 2,
    }
