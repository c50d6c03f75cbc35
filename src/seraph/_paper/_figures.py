"""Figures 1 to 3: what sparsity does on two artificial sets, and how long learning takes."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import KNeighborsClassifier

from .._base import MahalanobisLearner
from .._estimators._seraph import SERAPH
from ..classic import GDM, Euclidean
from ..datasets import make_posterior_sparsity, make_projection_sparsity
from ._experiment import Record
from ._methods import METHODS
from ._tables import methods_of, table2, tasks_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLOURS = ("#2b6cb0", "#c05621")
_PALE = ("#dbe9f7", "#fbe5d6")


@dataclass(frozen=True)
class Panel:
    """One learner on an artificial set: the projected points and its 1-NN answers.

    Parameters
    ----------
    name : str
        Whose panel it is.
    learner : MahalanobisLearner
        The fitted learner.
    error : float
        1-NN error on all points, in %.
    """

    name: str
    learner: MahalanobisLearner
    error: float


def sparsity_panels(
    which: Literal["posterior", "projection"], random_state: int = 0
) -> tuple[NDArray, NDArray, NDArray, list[Panel]]:
    """Learners of figure 1 ("posterior") or 2 ("projection"), fitted.

    Figure 1 sets ``mu = 10 #(S u D) / #U`` and ``lam = 0``, figure 2 ``mu = 0`` and
    ``lam = 300``.

    Returns
    -------
    X, y, y_partial : ndarray
        The points, their classes, and the four labels that are revealed.
    panels : list of Panel
        Euclidean, GDM and SERAPH.
    """
    if which == "posterior":
        X, y, y_partial = make_posterior_sparsity(random_state=random_state)
        n_labelled = 4 * 3 // 2
        mu = 10.0 * n_labelled / (len(X) * (len(X) - 1) // 2 - n_labelled)
        ours = SERAPH(mu=mu, lam=0.0, solver="projected-gradient")
    else:
        X, y, y_partial = make_projection_sparsity(random_state=random_state)
        ours = SERAPH(mu=0.0, lam=300.0)
    panels = []
    for name, learner in (("Euclidean", Euclidean()), ("GDM", GDM()), ("SERAPH", ours)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # four labels, lam = 0: known here
            learner.fit(X, y_partial)
        known = y_partial >= 0
        Z = learner.transform(X)
        nearest = KNeighborsClassifier(1).fit(Z[known], y[known])
        panels.append(Panel(name, learner, 100.0 * (1.0 - nearest.score(Z, y))))
    return X, y, y_partial, panels


def draw_sparsity(which: Literal["posterior", "projection"], random_state: int = 0) -> Figure:
    """Draw figure 1 or 2: six panels, the points on the left, 1-NN regions on the right."""
    from matplotlib.figure import Figure

    X, y, y_partial, panels = sparsity_panels(which, random_state)
    known = y_partial >= 0
    figure = Figure(figsize=(8.4, 10.2), layout="constrained")
    axes = figure.subplots(3, 2)
    letters = iter("abcdef")
    for row, panel in zip(axes, panels, strict=True):
        root = _symmetric_root(panel.learner)
        _points(row[0], X @ root, y, known)
        row[0].set_aspect("equal", adjustable="datalim")
        title = "Original data" if panel.name == "Euclidean" else f"Projected by {panel.name}"
        row[0].set_title(f"({next(letters)}) {title}", loc="left")
        _regions(row[1], X, y, known, panel.learner)
        _points(row[1], X, y, known)
        row[1].set_aspect("equal", adjustable="box")
        row[1].set_title(
            f"({next(letters)}) 1-NN, {panel.name}: {panel.error:.0f}% error", loc="left"
        )
    return figure


def draw_times(records: Iterable[Record]) -> Figure:
    """Draw figure 3: seconds to learn a metric, every method and task, on a log scale."""
    from matplotlib import colormaps
    from matplotlib.figure import Figure

    table = table2(records)
    methods, tasks = methods_of(table), tasks_of(table)
    figure = Figure(figsize=(11.5, 5.2), layout="constrained")
    axes = figure.subplots()
    markers = "osD^v<>PXph*8d"
    for number, method in enumerate(
        m for m in methods if m != "euclidean"
    ):  # which learns nothing
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


def _symmetric_root(learner: MahalanobisLearner) -> NDArray:
    """Square root of the metric: keeps the axes where they are, as the eye expects."""
    values, vectors = np.linalg.eigh(learner.get_mahalanobis_matrix())
    return (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T


def _points(axes: Axes, Z: NDArray, y: NDArray, known: NDArray) -> None:
    for code, colour in enumerate(_COLOURS):
        rows = y == code
        (left, up), (left_known, up_known) = Z[rows & ~known].T, Z[rows & known].T
        axes.scatter(left, up, s=14, color=colour, alpha=0.55, linewidths=0)
        axes.scatter(
            left_known,
            up_known,
            s=90,
            marker="os"[code],
            color=colour,
            edgecolors="black",
            zorder=3,
        )
    axes.tick_params(labelsize=8)


def _regions(
    axes: Axes, X: NDArray, y: NDArray, known: NDArray, learner: MahalanobisLearner
) -> None:
    from matplotlib.colors import ListedColormap

    low, high = X.min(axis=0), X.max(axis=0)
    middle, half = (low + high) / 2, 0.6 * (high - low).max()
    sides = [np.linspace(c - half, c + half, 300) for c in middle]
    mesh = np.stack(np.meshgrid(*sides), axis=-1).reshape(-1, 2)
    nearest = KNeighborsClassifier(1).fit(learner.transform(X[known]), y[known])
    answers = nearest.predict(learner.transform(mesh)).reshape(300, 300)
    axes.pcolormesh(
        *sides, answers, cmap=ListedColormap([*_PALE]), vmin=0, vmax=1, rasterized=True
    )
    axes.set(xlim=sides[0][[0, -1]], ylim=sides[1][[0, -1]])
