"""Learn and check a model, and sum up: for the terminal, the report page and the model file."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.pipeline import Pipeline

from ... import MeanMetric
from ...tables._columns import REASONS
from ...tables._messages import and_more, quoted
from ._check import Check, check_labels, check_pairs
from ._console import say, show, show_facts, working
from ._examples import Examples, prepare

if TYPE_CHECKING:
    from ...tables import Column
    from ..ask._arrays import FloatArray
    from ._requests import FitRequest

# Classes and features to list by name; the rest are counted.
_LISTED, _FEATURES = 8, 40
# Columns to list by name; the rest are counted.
_COLUMNS = 60
# The options that change what a column is used as, in the order of the table that is printed.
_USES = ("numbers", "categories", "dates", "")
_CHANGES = {
    "drop": "--drop {}",
    "days": "--dates parts, --dates drop",
    "parts": "--dates days, --dates drop",
    "dates": "--dates days",
    "onehot": "--onehot {}",
    "keep": "--keep {}",
    "median": "--impute knn",
    "knn": "--impute median",
}
_TOO_FEW = (
    "Too few labels or pairs to check whether the learned distance is better than the Euclidean "
    "one: label at least four rows of each class, or mark more pairs of both kinds."
)
_NOT_ASKED = "Not compared with the Euclidean distance (--no-check)."


@dataclass(frozen=True)
class FitSummary:
    """A fitted model, the points as its learner saw them, the examples, and its check.

    `skipped` is why there is no check, if there is none.
    """

    model: Any
    scaled: FloatArray
    examples: Examples
    check: Check | None
    skipped: str
    scale: str
    seconds: float

    @property
    def learner(self) -> Any:
        """Last step of the model: the metric learner."""
        return self.model[-1]

    @property
    def columns(self) -> dict[str, Column]:
        """What became of each column of the table, if a `TablePreparer` knows."""
        return dict(getattr(self.model[0], "columns_", {}))

    @property
    def verdict(self) -> str:
        """What the check shows, or why there is none."""
        return self.check.verdict() if self.check else self.skipped

    @cached_property
    def names(self) -> list[str]:
        """Names of the features as the learner sees them."""
        if getattr(self.model, "feature_names_in_", None) is None:
            return [f"x{k}" for k in range(self.scaled.shape[1])]
        return [str(name) for name in self.model[:-1].get_feature_names_out()]

    @cached_property
    def classes(self) -> dict[str, int]:
        """Number of labeled rows of each class."""
        names, codes = self.examples.class_names, self.examples.codes
        return dict(zip(names, np.bincount(codes[codes >= 0]).tolist(), strict=True))

    @cached_property
    def shares(self) -> dict[str, float]:
        """Share of each column in the mean squared distance, largest first; none without names.

        The share of feature f is ``A_ff Var(x_f)``, divided by the sum over all features. The
        features that a column of categories or dates has become count together.
        """
        if getattr(self.model, "feature_names_in_", None) is None:
            return {}
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
        used = {name: how.use for name, how in self.columns.items() if how.use}
        starts = {f"{name}{'.' if use == 'dates' else '_'}": name for name, use in used.items()}
        origins = [start for start in starts if feature.startswith(start)]
        return starts[max(origins, key=len)] if origins else feature

    def learned_from(self) -> dict[str, Any]:
        """Return what the model file keeps about the table and the check, as plain values."""
        check = self.check
        return {
            "rows": len(self.scaled),
            "scale": self.scale,
            "classes": self.classes,
            "shares": self.shares,
            "seconds": self.seconds,
            "verdict": self.verdict,
            "check": {**check.values(), "title": check.title, "rows": check.rows()}
            if check
            else None,
        }

    def values(self) -> dict[str, Any]:
        """Return the facts and figures as plain values, for --json."""
        return {
            "learner": type(self.learner).__name__,
            "features": self.names,
            "columns": {name: str(how) for name, how in self.columns.items()},
            **self.learned_from(),
            "rank": len(self.learner.components_),
            **learner_values(self.learner),
        }


def learn_model(learner: Any, examples: Examples, request: FitRequest) -> FitSummary:
    """Fit a model that ends in a learner, and check it on held-out labels or pairs."""
    # Lines about iterations are not results, and stdout is for results.
    with working("learning"), redirect_stdout(sys.stderr):
        before, scaled = prepare(examples.table, request)
        started = time.perf_counter()
        # Codes, since a class may be called -1.
        codes = None if examples.labels is None else examples.codes
        learner.fit(scaled, codes, marks=examples.marks)
        seconds = time.perf_counter() - started
        model = Pipeline([*before, (request.learner.casefold(), learner)])
        if len(learner.components_) == 0:
            raise ValueError(
                "The learned metric is zero: nothing was learned, so nothing is saved. Add labels "
                "of different classes, or leave out --set."
            )
        check, skipped = None, _NOT_ASKED
        if not request.no_check:
            points, marks, skipped = np.asarray(scaled), examples.marks, _TOO_FEW
            if codes is None:
                check = check_pairs(learner, points, marks, seed=request.seed)
            else:
                names = examples.class_names
                check = check_labels(learner, points, codes, marks, seed=request.seed, names=names)
    return FitSummary(model, scaled, examples, check, skipped, request.scale, seconds)


def show_summary(
    learner: Any, columns: Mapping[str, Column], noted: Mapping[str, Any], title: str
) -> None:
    """Print what was learned: the verdict first. `noted` is what a model file keeps."""
    if noted.get("verdict"):
        say(noted["verdict"])
    if noted.get("check"):
        show(noted["check"]["rows"], noted["check"]["title"])
    if columns:
        show(column_rows(columns), "Columns", numbers=slice(0))
    if noted.get("shares"):
        show(share_rows(noted["shares"]), "What matters: share in the mean squared distance",
             numbers=slice(1, 2))  # fmt: skip
    show_facts(facts(learner, noted), title)


def show_model(path: Path) -> None:
    """Print what `seraph fit` printed about a model, and what it is made of."""
    from ...persist._archive import read_versions
    from ._models import SavedModel

    model = SavedModel.read(path)
    show_summary(model.learner, model.columns, model.learned_from, f"{path}")
    # The repr of an estimator names the settings that are not defaults.
    steps = [[name, " ".join(repr(step).split())] for name, step in model.steps]
    versions = ", ".join(f"{k} {v}" for k, v in read_versions(path).items())
    show_facts([*steps, ["saved with", versions]], "Steps")


def facts(learner: Any, noted: Mapping[str, Any]) -> list[list[str]]:
    """Return the facts of a fit, each a name and a text."""
    values, rows = learner_values(learner), []
    if "rows" in noted:
        rows.append(["rows", f"{noted['rows']:,}"])
    if noted.get("label"):
        unknown = ", ".join(map(repr, noted["unlabeled"]))
        rows.append(["label", noted["label"] + (f"; {unknown} means unknown" if unknown else "")])
    if noted.get("id"):
        rows.append(["id", noted["id"]])
    if classes := noted.get("classes"):
        rows.append(["labeled rows", f"{sum(classes.values()):,}"])
        shown = [f"{name} ({count})" for name, count in list(classes.items())[:_LISTED]]
        rows.append(["classes", f"{len(classes)}: {and_more(shown, len(classes))}"])
    scaling = f", --scale {noted['scale']}" if "scale" in noted else ""
    rows.append(["features", f"{learner.n_features_in_:,}{scaling}"])
    shares = ", ".join(f"{100 * w:.0f} % {name}" for name, w in values.get("members", {}).items())
    rows.append(["learner", type(learner).__name__ + (f": {shares}" if shares else "")])
    if "n_similar" in values:
        rest = f", {values['n_unlabeled']:,} unlabeled" if "n_unlabeled" in values else ""
        pairs = f"{values['n_similar']:,} similar, {values['n_dissimilar']:,} dissimilar{rest}"
        rows.append(["pairs", pairs])
    rank, m = learner.components_.shape
    rows.append(["rank of the metric", f"{rank} of {m:,}"])
    return rows


def learner_values(learner: Any) -> dict[str, Any]:
    """Return the attributes in which a learner reports about its fit, for --json."""
    names = ("lam", "mu", "n_iter", "converged", "optimality_gap", "n_similar", "n_dissimilar",
             "n_unlabeled")  # fmt: skip
    values = {name: getattr(learner, f"{name}_", None) for name in names}
    if isinstance(learner, MeanMetric):
        members = dict(learner.learners_)
        values["members"] = dict(zip(members, learner.weights_.tolist(), strict=True))
        # The pairs are those of the data, and a member has counted them.
        for name in ("n_similar", "n_dissimilar", "n_unlabeled"):
            counts = (getattr(member, f"{name}_", None) for member in members.values())
            values[name] = next((count for count in counts if count is not None), None)
    return {name: value for name, value in values.items() if value is not None}


def share_rows(shares: Mapping[str, float]) -> list[list[str]]:
    """Return the features with the largest shares as a table, headings on top."""
    shown = list(shares.items())[:_FEATURES]
    longest = max((share for _, share in shown), default=0.0) or 1.0
    digits = 1 if longest >= 0.01 else 3  # of thousands of features, none has a large share
    return [["feature", "share", ""]] + [
        [name, f"{100 * share:.{digits}f} %", "█" * round(20 * share / longest)]
        for name, share in shown
    ]


def column_rows(columns: Mapping[str, Column]) -> list[list[str]]:
    """Say what became of the columns of a table and how to change it, headings first.

    `columns` are ``columns_`` of a `TablePreparer`.

    Examples
    --------
    >>> from seraph.tables import Column
    >>> column_rows({"no": Column("", reason="row numbers"), "age": Column("numbers")})[1:]
    [['age', 'numbers', '--drop age'], ['no', 'left out: row numbers', '--keep no']]
    """
    reasons = ["", *REASONS]
    rows: dict[tuple[tuple[int, int], str, str], list[str]] = {}
    for name, how in columns.items():
        change = how.detail if how.use == "dates" else how.changes
        reason = reasons.index(how.reason) if not how.use else not how.reason
        place = (_USES.index(how.use), reason)
        rows.setdefault((place, how.said, change), []).append(name)
        if how.n_missing:
            place = (0, 2 if how.filled in _CHANGES else 3)
            part = f"{name} ({how.n_missing:,})"
            rows.setdefault((place, how.missing, how.filled), []).append(part)
    said = [["column", "used as", "to change it"]]
    for (_, use, change), names in sorted(rows.items(), key=lambda row: row[0][0]):
        example = quoted(names[0]) + (" ..." if len(names) > 1 else "")
        way = _CHANGES.get(change, "").format(example)
        said.append([and_more(names[:_COLUMNS], len(names)), use, way])
    return said
