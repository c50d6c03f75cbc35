"""What there is to tell of a fit: in a terminal, on a page, and in the file of the model."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from ._check import Check

# Features, and classes, that are named one by one.
_NAMED = 8


@dataclass(frozen=True)
class Outcome:
    """A fit, the data it was made from, and how it was judged.

    Parameters
    ----------
    model : Pipeline
        The fitted model; its last step is the learner.
    seen : ndarray of shape (n, m)
        The points as the learner has seen them, scaled.
    names : list of str
        Names of the features.
    scale : str
        How they were scaled.
    labels : ndarray of shape (n,) or None
        Classes as text, None where unknown.
    pairs, similar : ndarray
        Marked pairs, and which of them are alike.
    seconds : float
        Time of the fit.
    check : Check or None
        The held-out errors.
    unchecked : str
        Why there are none.
    """

    model: Any
    seen: NDArray
    names: list[str]
    scale: str
    labels: NDArray | None
    pairs: NDArray
    similar: NDArray
    seconds: float
    check: Check | None
    unchecked: str

    @property
    def learner(self) -> Any:
        """The learner of the metric."""
        return self.model[-1]

    @cached_property
    def classes(self) -> dict[str, int]:
        """Number of labelled rows of each class."""
        if self.labels is None:
            return {}
        names, counts = np.unique(
            [label for label in self.labels if label is not None], return_counts=True
        )
        return {str(name): int(count) for name, count in zip(names, counts, strict=True)}

    @cached_property
    def shares(self) -> dict[str, float]:
        """Share of each feature in the mean squared distance, the largest first.

        That of feature f is ``A_ff Var(x_f)`` over the sum of all, on the scaled features.
        """
        deviations = np.asarray(self.seen, dtype=np.float64).std(axis=0)
        counts = np.sum((self.learner.components_ * deviations) ** 2, axis=0)
        counts = counts / (counts.sum() or 1.0)
        order = np.argsort(-counts, kind="stable")
        return {self.names[k]: float(counts[k]) for k in order}

    def facts(self) -> list[list[str]]:
        """Names and figures, two texts each."""
        learner, n_labelled = self.learner, sum(self.classes.values())
        n, m = self.seen.shape
        scaling = {"standard": "in standard deviations", "minmax": "to [0, 1]"}.get(self.scale)
        found = [["rows", f"{n:,}"]]
        if self.labels is not None:
            found += [
                ["labelled rows", f"{n_labelled:,}"],
                ["classes", f"{len(self.classes)}: {classes_text(self.classes)}"],
            ]
        found += [
            ["features", f"{m:,}, {f'scaled {scaling}' if scaling else 'not scaled'}"],
            ["pairs", pairs_text(learner)],
            ["rank of the metric", f"{len(learner.components_)} of {m:,}"],
            ["converged", convergence_text(learner)],
            ["lam", f"{learner.lam_:.4g}{_chosen(learner.lam)}"],
            ["mu", f"{learner.mu_:.4g}{_chosen(learner.mu)}"],
            ["time", f"{self.seconds:.2f} s"],
        ]
        return found

    def features(self) -> list[list[str]]:
        """The features that matter most, as a table with the headings first."""
        return share_rows(self.shares)

    def learned_from(self) -> dict[str, Any]:
        """What the file of the model is to keep, in plain values."""
        return {
            "rows": len(self.seen),
            "scale": self.scale,
            "classes": self.classes,
            "shares": self.shares,
        }


def _chosen(value: Any) -> str:
    return " (chosen from the data)" if value == "auto" else ""


def classes_text(classes: dict[str, int]) -> str:
    """Classes with the number of their rows."""
    shown = [f"{name} ({count})" for name, count in list(classes.items())[:_NAMED]]
    more = len(classes) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")


def pairs_text(learner: Any) -> str:
    """How many pairs of each kind a learner has seen."""
    return (
        f"{learner.n_similar_:,} similar, {learner.n_dissimilar_:,} dissimilar, "
        f"{learner.n_unlabeled_:,} unlabelled"
    )


def convergence_text(learner: Any) -> str:
    """Whether the solver has met its tolerance, and when."""
    word = "yes" if learner.converged_ else "no"
    return (
        f"{word}, after {learner.n_iter_} iterations (optimality gap "
        f"{learner.optimality_gap_:.1e})"
    )


def share_rows(shares: dict[str, float]) -> list[list[str]]:
    """Features and their shares as a table, the largest first."""
    shown = list(shares.items())[:_NAMED]
    longest = max((share for _, share in shown), default=0.0) or 1.0
    rows = [
        [name, f"{100 * share:.1f} %", "█" * round(20 * share / longest)] for name, share in shown
    ]
    rest = sum(shares.values()) - sum(share for _, share in shown)
    if len(shares) > len(shown):
        rows.append([f"{len(shares) - len(shown)} others", f"{100 * max(rest, 0.0):.1f} %", ""])
    return [["feature", "share", ""], *rows]
