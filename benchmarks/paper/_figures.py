"""Draw figures 1 to 3: the effect of sparsity on two artificial sets, and learning times."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from seraph import SERAPH, MetricClassifier
from seraph._utils._typing import Array
from seraph.classic import GDM, Euclidean

from ._artificial import make_posterior_sparsity, make_projection_sparsity
from ._experiment import Record
from ._methods import METHODS
from ._tables import methods_of, table2, tasks_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLORS = ("#2b6cb0", "#c05621")
_PALE = ("#dbe9f7", "#fbe5d6")


class FittedMethod(NamedTuple):
    """A method, its 1-NN classifier fitted on an artificial set, and the error on all points."""

    name: str
    classifier: MetricClassifier
    error: float  # in %


def fit_sparsity(
    which: Literal["posterior", "projection"], random_state: int = 0
) -> tuple[Array, Array, Array, list[FittedMethod]]:
    """Fit the methods of figure 1 ("posterior") or 2 ("projection").

    Figure 1 sets ``mu = 10 #(S u D) / #U`` and ``lam = 0``, figure 2 ``mu = 0`` and
    ``lam = 300``. Returns the points, their classes, the four labels, and the fitted methods.
    """
    if which == "posterior":
        X, y, y_partial = make_posterior_sparsity(random_state=random_state)
        n_labeled_pairs = 4 * 3 // 2
        mu = 10.0 * n_labeled_pairs / (len(X) * (len(X) - 1) // 2 - n_labeled_pairs)
        ours = SERAPH(mu=mu, lam=0.0, solver="projected-gradient")
    else:
        X, y, y_partial = make_projection_sparsity(random_state=random_state)
        ours = SERAPH(mu=0.0, lam=300.0)
    methods = []
    for name, learner in (
        ("Euclidean", Euclidean()),
        ("GDM", GDM(ridge=1e-6, n_constraints=None, tol=1e-4)),
        ("SERAPH", ours),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # expected with four labels and lam = 0
            classifier = MetricClassifier(learner, rule="nearest").fit(X, y_partial)
        error = 100.0 * (1.0 - classifier.score(X, y))
        methods.append(FittedMethod(name, classifier, error))
    return X, y, y_partial, methods


def draw_sparsity(which: Literal["posterior", "projection"], random_state: int = 0) -> Figure:
    """Draw figure 1 or 2: in each row the mapped points, and the regions of 1-NN."""
    from matplotlib.figure import Figure

    X, y, y_partial, methods = fit_sparsity(which, random_state)
    known = y_partial >= 0
    figure = Figure(figsize=(8.4, 10.2), layout="constrained")
    axes = figure.subplots(3, 2)
    letters = iter("abcdef")
    for row, method in zip(axes, methods, strict=True):
        root = _symmetric_root(method.classifier.estimator_.get_mahalanobis_matrix())
        _draw_points(row[0], X @ root, y, known)
        row[0].set_aspect("equal", adjustable="datalim")
        title = "Original data" if method.name == "Euclidean" else f"Projected by {method.name}"
        row[0].set_title(f"({next(letters)}) {title}", loc="left")
        _draw_regions(row[1], X, method.classifier)
        _draw_points(row[1], X, y, known)
        row[1].set_aspect("equal", adjustable="box")
        row[1].set_title(
            f"({next(letters)}) 1-NN, {method.name}: {method.error:.0f}% error", loc="left"
        )
    return figure


def draw_times(records: Iterable[Record]) -> Figure:
    """Draw figure 3: the seconds that each method takes on each task, on a log scale."""
    from matplotlib import colormaps
    from matplotlib.figure import Figure

    table = table2(records)
    methods, tasks = methods_of(table), tasks_of(table)
    figure = Figure(figsize=(11.5, 5.2), layout="constrained")
    axes = figure.subplots()
    markers = "osD^v<>PXph*8d"
    learning = [m for m in methods if m != "euclidean"]  # the Euclidean distance is not learned
    for number, method in enumerate(learning):
        shown = [
            (k, table[method, t].seconds) for k, t in enumerate(tasks) if (method, t) in table
        ]
        axes.plot(
            *zip(*shown, strict=True),
            marker=markers[number % len(markers)],
            color=colormaps["tab20"](number % 20),
            linestyle="-" if isinstance(METHODS[method][1](), SERAPH) else ":",
            linewidth=1.2,
            label=METHODS[method][0],
        )
    axes.set_yscale("log")
    axes.set_xticks(range(len(tasks)), tasks, rotation=35, ha="right")
    axes.set_ylabel("seconds to learn the metric")
    axes.grid(axis="y", alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
    return figure


def _symmetric_root(A: Array) -> Array:
    """Compute the symmetric root of a metric: the map that does not rotate the points."""
    values, vectors = np.linalg.eigh(A)
    return np.asarray((vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T)


def _draw_points(axes: Axes, Z: Array, y: Array, known: Array) -> None:
    for code, color in enumerate(_COLORS):
        rows = y == code
        (left, up), (left_known, up_known) = Z[rows & ~known].T, Z[rows & known].T
        axes.scatter(left, up, s=14, color=color, alpha=0.55, linewidths=0)
        edge = {"marker": "os"[code], "edgecolors": "black", "zorder": 3}
        axes.scatter(left_known, up_known, s=90, color=color, **edge)
    axes.tick_params(labelsize=8)


def _draw_regions(axes: Axes, X: Array, classifier: MetricClassifier) -> None:
    from matplotlib.colors import ListedColormap

    low, high = X.min(axis=0), X.max(axis=0)
    middle, half = (low + high) / 2, 0.6 * (high - low).max()
    sides = [np.linspace(c - half, c + half, 300) for c in middle]
    mesh = np.stack(np.meshgrid(*sides), axis=-1).reshape(-1, 2)
    classes = classifier.predict(mesh).reshape(300, 300)
    axes.pcolormesh(
        *sides, classes, cmap=ListedColormap([*_PALE]), vmin=0, vmax=1, rasterized=True
    )
    axes.set(xlim=sides[0][[0, -1]], ylim=sides[1][[0, -1]])
