"""Summary of a fit, for the terminal, the report page and the model file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ... import MeanMetric
from ..._utils._typing import Array, FloatArray, computed_once
from ._console import show
from ._prepare import about_ids
from ._tables import and_more

if TYPE_CHECKING:
    from ._errors import HeldOutErrors
    from ._examples import Examples

# Classes and features to list by name; the rest are counted.
_LISTED, _FEATURES = 8, 40


class Check(NamedTuple):
    """The comparison of a learner with the Euclidean distance; or why it was `skipped`."""

    errors: HeldOutErrors | None
    skipped: str = ""


@dataclass(frozen=True)
class FitSummary:
    """A fitted model, the data it learned from, and its held-out errors.

    Parameters
    ----------
    model : Pipeline
        The fitted model; its last step is the learner.
    scaled : ndarray of shape (n, m)
        Points as the learner saw them, after the scaler.
    examples : Examples
        Columns, labels and pairs.
    check : Check
        Its comparison with the Euclidean distance.
    scale : str
        How the features were scaled.
    seconds : float
        Duration of the fit.
    """

    model: Any
    scaled: FloatArray
    examples: Examples
    check: Check
    scale: str
    seconds: float

    @property
    def learner(self) -> Any:
        """Last step of the model: the metric learner."""
        return self.model[-1]

    @property
    def columns(self) -> dict[str, str]:
        """What became of each column of the table, if a `TablePreparer` knows."""
        return dict(getattr(self.model[0], "columns_", {}))

    @computed_once
    def names(self) -> list[str]:
        """Names of the features as the learner sees them."""
        if getattr(self.model, "feature_names_in_", None) is None:
            return [f"x{k}" for k in range(self.scaled.shape[1])]
        return [str(name) for name in self.model[:-1].get_feature_names_out()]

    @computed_once
    def classes(self) -> dict[str, int]:
        """Number of labeled rows of each class."""
        return {} if self.examples.labels is None else count_classes(self.examples.labels)

    @computed_once
    def shares(self) -> dict[str, float]:
        """Share of each column in the mean squared distance, largest first.

        The share of feature f is ``A_ff Var(x_f)``, divided by the sum over all features. The
        features that a column of categories or dates has become count together.
        """
        deviations = np.asarray(self.scaled, dtype=np.float64).std(axis=0)
        shares = np.sum((self.learner.components_ * deviations) ** 2, axis=0)
        shares = shares / (shares.sum() or 1.0)
        by_column: dict[str, float] = {}
        for name, share in zip(map(self._column, self.names), shares, strict=True):
            by_column[name] = by_column.get(name, 0.0) + float(share)
        return dict(sorted(by_column.items(), key=lambda item: -item[1]))

    def _column(self, feature: str) -> str:
        """Return the column of the table that a feature comes from."""
        if feature in self.columns:
            return feature
        reading = getattr(self.model[0], "reading_", {"dates": (), "categories": ()})
        starts = {f"{n}.": n for n in reading["dates"]}
        starts |= {f"{n}_": n for n in reading["categories"]}
        origins = [start for start in starts if feature.startswith(start)]
        return starts[max(origins, key=len)] if origins else feature

    def facts(self) -> list[list[str]]:
        """Return the facts of the fit, each a name and a text."""
        n, m = self.scaled.shape
        facts = [["rows", f"{n:,}"]]
        if self.examples.labels is not None:
            facts += class_facts(self.classes)
        facts.append(["features", f"{m:,}, {_SCALINGS[self.scale]}"])
        facts += learner_facts(self.learner)
        return [*facts, ["time", f"{self.seconds:.2f} s"]]

    def doubts(self, source: str) -> list[str]:
        """Return what speaks against the model, whatever the check says; `source` is the table."""
        doubt = about_ids(source, self.columns)
        doubts = [doubt] if doubt else []
        for name, learner in _members(self.learner) or [("", self.learner)]:
            # ITML stops early by default.
            stopped_early = getattr(learner, "stopped_early_", False)
            if not (getattr(learner, "converged_", True) or stopped_early):
                parameter = f"{name}__max_iter" if name else "max_iter"
                doubts.append(
                    f"{type(learner).__name__} stopped before it converged, after "
                    f"{learner.n_iter_} iterations: allow more with --set {parameter}=1000."
                )
        return doubts

    def learned_from(self) -> dict[str, Any]:
        """Return what the model file keeps about the table, as plain values."""
        return {
            "rows": len(self.scaled),
            "scale": self.scale,
            "classes": self.classes,
            "shares": self.shares,
        }

    def values(self) -> dict[str, Any]:
        """Return the facts and figures as plain values, for --json."""
        errors = self.check.errors
        return {
            "learner": type(self.learner).__name__,
            "features": self.names,
            "columns": self.columns,
            **self.learned_from(),
            "rank": len(self.learner.components_),
            "seconds": self.seconds,
            "check": None if errors is None else errors.values(),
            **learner_values(self.learner),
            **({"check_skipped": self.check.skipped} if errors is None else {}),
        }


_SCALINGS = {
    "standard": "scaled in standard deviations",
    "minmax": "scaled to [0, 1]",
    "unit": "each row scaled to length 1",
    "none": "not scaled",
}


def role_facts(noted: dict[str, Any]) -> list[list[str]]:
    """Return the columns of labels and ids, from what a model file keeps about its table."""
    facts = []
    if noted.get("label"):
        unknown = ", ".join(map(repr, noted.get("unlabeled") or ()))
        facts.append(
            ["label", f"{noted['label']}{f'; {unknown} means unknown' if unknown else ''}"]
        )
    if noted.get("id"):
        facts.append(["id", f"{noted['id']}"])
    return facts


def class_facts(classes: dict[str, int]) -> list[list[str]]:
    """Return how many rows have a label, and which."""
    return [
        ["labeled rows", f"{sum(classes.values()):,}"],
        ["classes", f"{len(classes)}: {classes_text(classes)}"],
    ]


def learner_values(learner: Any) -> dict[str, Any]:
    """Return what a learner says about its fit, as far as it does, for --json."""
    names = ("lam", "mu", "n_iter", "converged", "optimality_gap", "n_similar", "n_dissimilar",
             "n_unlabeled")  # fmt: skip
    values = {name: getattr(learner, f"{name}_", None) for name in names}
    members = _members(learner)
    if members:
        shares = zip(members, learner.weights_.tolist(), strict=True)
        values["members"] = {name: weight for (name, _), weight in shares}
        # The pairs are those of the data, and a member has counted them.
        for name in ("n_similar", "n_dissimilar", "n_unlabeled"):
            counts = (getattr(member, f"{name}_", None) for _, member in members)
            values[name] = next((count for count in counts if count is not None), None)
    return {name: value for name, value in values.items() if value is not None}


def _members(learner: Any) -> list[tuple[str, Any]]:
    """Return the learners in a mean by name; none of another learner."""
    return learner.learners_ if isinstance(learner, MeanMetric) else []


def learner_facts(learner: Any) -> list[list[str]]:
    """Return what a learner says about itself, as far as it does."""
    said = learner_values(learner)
    shares = ", ".join(f"{100 * w:.0f} % {name}" for name, w in said.get("members", {}).items())
    facts = [["learner", f"{type(learner).__name__}{f': {shares}' if shares else ''}"]]
    if "n_similar" in said:
        rest = f", {said['n_unlabeled']:,} unlabeled" if "n_unlabeled" in said else ""
        pairs = f"{said['n_similar']:,} similar, {said['n_dissimilar']:,} dissimilar{rest}"
        facts.append(["pairs", pairs])
    if hasattr(learner, "components_"):
        rank, m = learner.components_.shape
        facts.append(["rank of the metric", f"{rank} of {m:,}"])
    if "optimality_gap" in said:
        word = "yes" if said["converged"] else "no"
        gap = f"optimality gap {said['optimality_gap']:.1e}"
        facts.append(["converged", f"{word}, after {said['n_iter']} iterations ({gap})"])
    for name in ("lam", "mu"):
        if name in said:
            chosen = " (chosen from the data)" if getattr(learner, name, None) == "auto" else ""
            facts.append([name, f"{said[name]:.4g}{chosen}"])
    return facts


def count_classes(labels: Array) -> dict[str, int]:
    """Count the rows of each class, by name."""
    names, counts = np.unique([label for label in labels if label is not None], return_counts=True)
    return dict(zip(map(str, names), counts.tolist(), strict=True))


def classes_text(classes: dict[str, int]) -> str:
    """List classes with their numbers of rows."""
    shown = [f"{name} ({count})" for name, count in list(classes.items())[:_LISTED]]
    return and_more(shown, len(classes))


def show_shares(shares: dict[str, float], of: str = "mean squared distance") -> None:
    """Print the features that matter most."""
    show(share_rows(shares), f"What matters: share in the {of}", numbers=slice(1, 2))


def share_rows(shares: dict[str, float]) -> list[list[str]]:
    """Return features and their shares as a table, largest first, headings on top."""
    shown = list(shares.items())[:_FEATURES]
    longest = max((share for _, share in shown), default=0.0) or 1.0
    digits = 1 if longest >= 0.01 else 3  # of thousands of features, none has a large share
    rows = [
        [name, f"{100 * share:.{digits}f} %", "█" * round(20 * share / longest)]
        for name, share in shown
    ]
    rest = sum(shares.values()) - sum(share for _, share in shown)
    more = len(shares) - len(shown)
    if more:
        noun = "other" if more == 1 else "others"
        rows.append([f"{more:,} {noun}", f"{100 * max(rest, 0.0):.{digits}f} %", ""])
    return [["feature", "share", ""], *rows]
