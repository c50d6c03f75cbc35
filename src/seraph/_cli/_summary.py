"""Summary of a fit, for the terminal, the report page and the model file."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from .._typing import Array, BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    from ._held_out import HeldOutErrors

# Features and classes to list by name; the rest are counted.
_LISTED = 8


@dataclass(frozen=True)
class FitSummary:
    """A fitted model, the data it learned from, and its held-out errors.

    Parameters
    ----------
    model : Pipeline
        The fitted model; its last step is the learner.
    scaled : ndarray of shape (n, m)
        Points as the learner saw them, after the scaler.
    names : list of str
        Names of the features.
    scale : str
        How the features were scaled.
    labels : ndarray of shape (n,) or None
        Classes as text, None where unknown; None if there are no labels.
    pairs, similar : ndarray
        Marked pairs, and which of them are similar.
    seconds : float
        Duration of the fit.
    errors : HeldOutErrors or None
        Errors on held-out labels.
    no_errors_reason : str
        Why there are none.
    """

    model: Any
    scaled: FloatArray
    names: list[str]
    scale: str
    labels: Array | None
    pairs: IntArray
    similar: BoolArray
    seconds: float
    errors: HeldOutErrors | None
    no_errors_reason: str

    @property
    def learner(self) -> Any:
        """Last step of the model: the metric learner."""
        return self.model[-1]

    @cached_property
    def classes(self) -> dict[str, int]:
        """Number of labeled rows of each class."""
        if self.labels is None:
            return {}
        names, counts = np.unique(
            [label for label in self.labels if label is not None], return_counts=True
        )
        return {str(name): int(count) for name, count in zip(names, counts, strict=True)}

    @cached_property
    def shares(self) -> dict[str, float]:
        """Share of each feature in the mean squared distance, largest first.

        The share of feature f is ``A_ff Var(x_f)``, divided by the sum over all scaled features.
        """
        deviations = np.asarray(self.scaled, dtype=np.float64).std(axis=0)
        shares = np.sum((self.learner.components_ * deviations) ** 2, axis=0)
        shares = shares / (shares.sum() or 1.0)
        order = np.argsort(-shares, kind="stable")
        return {self.names[k]: float(shares[k]) for k in order}

    def facts(self) -> list[list[str]]:
        """Return the facts of the fit, each a name and a text."""
        learner = self.learner
        n, m = self.scaled.shape
        scaling = {"standard": "in standard deviations", "minmax": "to [0, 1]"}.get(self.scale)
        facts = [["rows", f"{n:,}"]]
        if self.labels is not None:
            facts += [
                ["labeled rows", f"{sum(self.classes.values()):,}"],
                ["classes", f"{len(self.classes)}: {classes_text(self.classes)}"],
            ]
        facts += [
            ["features", f"{m:,}, {f'scaled {scaling}' if scaling else 'not scaled'}"],
            ["pairs", pairs_text(learner)],
            ["rank of the metric", rank_text(learner)],
            ["converged", convergence_text(learner)],
            ["lam", f"{learner.lam_:.4g}{_if_chosen(learner.lam)}"],
            ["mu", f"{learner.mu_:.4g}{_if_chosen(learner.mu)}"],
            ["time", f"{self.seconds:.2f} s"],
        ]
        return facts

    def features(self) -> list[list[str]]:
        """Return the features that matter most as a table, headings first."""
        return share_rows(self.shares)

    def learned_from(self) -> dict[str, Any]:
        """Return what the model file keeps about the table, as plain values."""
        return {
            "rows": len(self.scaled),
            "scale": self.scale,
            "classes": self.classes,
            "shares": self.shares,
        }


def _if_chosen(value: Any) -> str:
    return " (chosen from the data)" if value == "auto" else ""


def classes_text(classes: dict[str, int]) -> str:
    """List classes with their numbers of rows."""
    shown = [f"{name} ({count})" for name, count in list(classes.items())[:_LISTED]]
    more = len(classes) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")


def rank_text(learner: Any) -> str:
    """Say how many directions were learned, and what share the Euclidean distance has."""
    rank, m = learner.learned_components_.shape
    share = f", and {100 * learner.shrinkage_:.0f} % Euclidean" if learner.shrinkage_ else ""
    return f"{rank} of {m:,}{share}"


def pairs_text(learner: Any) -> str:
    """Say how many pairs of each kind a learner has seen."""
    return (
        f"{learner.n_similar_:,} similar, {learner.n_dissimilar_:,} dissimilar, "
        f"{learner.n_unlabeled_:,} unlabeled"
    )


def convergence_text(learner: Any) -> str:
    """Say whether the solver converged, and after how many iterations."""
    word = "yes" if learner.converged_ else "no"
    return (
        f"{word}, after {learner.n_iter_} iterations (optimality gap "
        f"{learner.optimality_gap_:.1e})"
    )


def share_rows(shares: dict[str, float]) -> list[list[str]]:
    """Return features and their shares as a table, largest first, headings on top."""
    shown = list(shares.items())[:_LISTED]
    longest = max((share for _, share in shown), default=0.0) or 1.0
    rows = [
        [name, f"{100 * share:.1f} %", "█" * round(20 * share / longest)] for name, share in shown
    ]
    rest = sum(shares.values()) - sum(share for _, share in shown)
    if len(shares) > len(shown):
        rows.append([f"{len(shares) - len(shown)} others", f"{100 * max(rest, 0.0):.1f} %", ""])
    return [["feature", "share", ""], *rows]
