"""Pictures: mean ranks with critical differences, and the gain against the number of marks."""

import numpy as np
from matplotlib.figure import Figure

from seraph.plot._figure import BLUE, COLORS, MARKERS, RED

from ._results import NAMES, SIGN, critical_difference, title
from ._tasks import METRICS

LOWEST = -10.0  # points; what is worse leaves the picture of gains
OURS = ("seraph", "seraph-mu0", "seraphcv")


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
        ours = methods[k] == "seraph"
        color = RED if ours else BLUE if methods[k] in OURS else "0.3"
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


def draw_gain(results, path, groups=("tables", "embeddings")):
    """Draw the gain over the Euclidean distance against the number of labels and of pairs.

    Lines that leave the picture at the bottom are worse than `LOWEST`.
    """
    figure = Figure(figsize=(13, 11), layout="constrained")
    axes = figure.subplots(3, 2 * len(groups), squeeze=False)
    methods = [m for m in results.methods if m != "euclidean"]
    colors = [color for color in COLORS if color != RED]
    for row, metric in zip(axes, METRICS, strict=True):
        for ax, (group, what) in zip(
            row, [(g, w) for g in groups for w in ("labels", "pairs")], strict=True
        ):
            settings = results.settings(what=what)
            counts = [int(s.partition("-")[2]) for s in settings]
            for k, method in enumerate(methods):
                gain = [
                    SIGN[metric]
                    * (
                        results.group_mean(group, s, method, metric)
                        - results.group_mean(group, s, "euclidean", metric)
                    )
                    for s in settings
                ]
                if np.isnan(gain).all():
                    continue
                ours = method == "seraph"
                ax.plot(
                    counts,
                    gain,
                    color=RED if ours else colors[k % len(colors)],
                    linestyle="-" if ours or k < len(colors) else "--",
                    marker=MARKERS[k % len(MARKERS)],
                    markersize=6 if ours else 4,
                    linewidth=2.4 if ours else 1,
                    zorder=3 if ours else 2,
                    label=title(method),
                )
            ax.axhline(0, color="0.4", linewidth=0.8)
            ax.set_ylim(bottom=max(ax.get_ylim()[0], LOWEST))
            ax.set_xscale("log")
            ax.set_xticks(counts, [str(c) for c in counts])
            ax.minorticks_off()
            ax.spines[["top", "right"]].set_visible(False)
            if metric == METRICS[0]:
                ax.set_title(f"{group}, {what}")
            if metric == METRICS[-1]:
                ax.set_xlabel(f"number of {what}")
        row[0].set_ylabel(f"gain in {NAMES[metric]} (points)")
    handles = {}
    for ax in axes.ravel():
        handles |= dict(zip(*reversed(ax.get_legend_handles_labels()), strict=True))
    figure.legend(
        handles.values(), handles.keys(), loc="outside lower center", ncols=5, frameon=False
    )
    figure.savefig(path, dpi=130)
