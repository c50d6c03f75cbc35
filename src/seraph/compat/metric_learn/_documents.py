"""Docstrings of the stand-ins, put together from one table: most parameters are shared."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T", bound=type)

_PACKAGE = "seraph.compat.metric_learn"
_ATTRIBUTES = """\
Attributes
----------
components_ : ndarray of shape (n_components, n_features)
    The learned map."""

_SOLVER = "Setting of metric-learn's stochastic solver; checked, and not used."
_PARAMETERS = {
    "balance_param": (
        "float",
        "Weight of the pairs. If it leaves no minimum, the largest that does is used, with a "
        "warning.",
    ),
    "basis": (
        "str or ndarray",
        "The directions to choose from: a name (both give local discriminants), or an array "
        "of shape (n_basis, n_features).",
    ),
    "batch_size": ("int", _SOLVER),
    "beta": ("float", "Weight of the sum of the weights."),
    "chunk_size": ("int", "Number of points in a chunk."),
    "convergence_tol": (
        "float",
        "Setting of metric-learn's solver. Here the problem is solved to a certified gap.",
    ),
    "diagonal": ("bool", "Whether to learn one weight per feature."),
    "diagonal_c": ("float", "Scale of the metric if it is diagonal."),
    "embedding_type": (
        '{"weighted", "orthonormalized", "plain"}',
        "How the eigenvectors are scaled.",
    ),
    "gamma": ("float", "Weight of the slacks (ITML); not used (SCML)."),
    "init": (
        "str or ndarray",
        "Where to start. The convex problems (LMNN, MMC) have one solution, and the start "
        "does not matter, except for the scale of MMC.",
    ),
    "k": (
        "int, optional",
        "The neighbor whose distance is the scale of a point; at most 7, and fewer than there"
        " are features, if None.",
    ),
    "k_genuine": ("int", "Number of neighbors of the same class that a point is compared with."),
    "k_impostor": ("int", "Number of neighbors of other classes."),
    "learn_rate": ("float", "Setting of metric-learn's solver; not used."),
    "max_iter": ("int", "Maximum number of iterations."),
    "max_proj": ("int", "Setting of metric-learn's solver; not used."),
    "min_iter": ("int", "Setting of metric-learn's solver; not used."),
    "n_basis": ("int, optional", "Number of directions to choose from."),
    "n_chunks": ("int", "Number of chunks to sample."),
    "n_components": (
        "int, optional",
        "Number of rows of the learned map; the number of features if None.",
    ),
    "n_constraints": (
        "int, optional",
        "Number of pairs of either kind to sample; 20 times the number of classes squared if "
        "None.",
    ),
    "n_neighbors": ("int", "Number of target neighbors."),
    "output_iter": ("int", _SOLVER),
    "preprocessor": (
        "array-like or callable, optional",
        "Table of points, or a function of an array of indicators that returns points.",
    ),
    "prior": ('{"identity", "covariance", "random"} or ndarray', "The metric to stay close to."),
    "random_state": ("int, RandomState instance or None", "Seed."),
    "regularization": ("float", "Weight of the pull, between 0 and 1."),
    "sparsity_param": ("float", "Weight of the entries off the diagonal."),
    "tol": ("float, optional", "Tolerance of the solver."),
    "verbose": ("bool", "Whether to warn if the solver stops early; nothing is printed."),
    "weights": ("array-like, optional", "Weights of the quadruplets; scaled to add up to 1."),
}
_FIT = {
    "X": (
        "array-like of shape (n_samples, n_features), or (n_samples,) with a preprocessor",
        "Points or indicators.",
    ),
    "y": (
        "array-like",
        "Classes of the points, +1 or -1 for each pair, or numbers for a regression.",
    ),
    "chunks": (
        "array-like of int of shape (n_samples,)",
        "Number of each point's chunk; -1 for none.",
    ),
    "pairs": (
        "array-like of shape (n_pairs, 2, n_features) or (n_pairs, 2)",
        "Pairs of points, or of indicators.",
    ),
    "triplets": (
        "array-like of shape (n_triplets, 3, n_features) or (n_triplets, 3)",
        "Triplets of points, or of indicators: the first is closer to the second.",
    ),
    "quadruplets": (
        "array-like of shape (n_quadruplets, 4, n_features) or (n_quadruplets, 4)",
        "Quadruplets of points, or of indicators: the first two are closer than the others.",
    ),
    "bounds": (
        "array-like of two floats, optional",
        "Bounds of the squared distances of alike and of other pairs. If None, the 5th and "
        "the 95th percentile of the distances, as in metric-learn.",
    ),
    "calibration_params": (
        "dict, optional",
        "Arguments of `calibrate_threshold`, which is called on the same pairs.",
    ),
    "weights": (
        "array-like of shape (n_quadruplets,), optional",
        "Weights of the quadruplets; scaled to add up to 1.",
    ),
}


def class_example(name: str, arguments: str = "", width: int = 4) -> str:
    """Return the example of a learner of classes, whose map has `width` rows."""
    return (
        ">>> from sklearn.datasets import load_iris\n"
        ">>> X, y = load_iris(return_X_y=True)\n"
        f">>> {name}({arguments}).fit(X, y).transform(X).shape\n"
        f"(150, {width})"
    )


def _section(function: Callable[..., Any], table: dict[str, tuple[str, str]]) -> str:
    lines = ["Parameters", "----------"]
    for name, parameter in inspect.signature(function).parameters.items():
        if name == "self":
            continue
        kind, text = table[name]
        default = parameter.default
        known = default is inspect.Parameter.empty or "optional" in kind
        lines.append(f"{name} : {kind}" + ("" if known else f", default={default!r}"))
        lines += textwrap.wrap(text, 90, initial_indent="    ", subsequent_indent="    ")
    return "\n".join(lines)


def documented(summary: str, example: str) -> Callable[[T], T]:
    """Give a class its docstring, and its `fit` one, from the tables above."""

    def decorate(cls: T) -> T:
        name = cls.__name__
        cls.__doc__ = "\n\n".join(
            [
                summary,
                _section(cls.__init__, _PARAMETERS),  # type: ignore[misc]
                _ATTRIBUTES,
                f"Examples\n--------\n>>> from {_PACKAGE} import {name}\n{example}",
            ]
        )
        fit = cls.__dict__["fit"]
        fit.__doc__ = "\n\n".join(
            [
                "Learn the metric.",
                _section(fit, _FIT),
                "Returns\n-------\nself\n    The fitted learner.",
            ]
        )
        return cls

    return decorate
