"""From a table and a user's wishes to a fitted model, its summary and its check."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Collection
from contextlib import nullcontext, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from ..._estimators._models import check_directions
from ..._estimators._quantities import warn_of_quantity
from ..._marks import Marks, PairLabels
from ..._utils._typing import Array, BoolArray, IntArray
from ._console import progress_bar
from ._held_out import (
    FOLDS,
    HeldOutErrors,
    held_out_errors,
    held_out_pair_errors,
    learning_curve,
)
from ._learners import innermost, make_learner
from ._models import SavedModel
from ._prepare import Features, Preparation, renumbered, sample_rows
from ._progress import progress_callbacks
from ._summary import FitSummary, classes_text
from ._tables import InputTable, read_pairs, read_table

_TOO_FEW_LABELS = (
    "Too few labels to check whether the learned distance is better than the Euclidean one: label "
    "rows of two classes, and at least two rows of one of them."
)
_TOO_FEW_PAIRS = (
    "Too few marked pairs to check whether the learned distance is better than the Euclidean "
    "one: mark at least two similar and two dissimilar pairs."
)


@dataclass(frozen=True)
class Request:
    """What to learn, from which columns, and how.

    Parameters
    ----------
    learner : str
        Name of the learner.
    settings : dict
        Its parameters that have options of their own.
    more : tuple of str
        Its other parameters, as ``name=value``.
    choose_lam : bool
        Whether to choose lam by cross-validation.
    preparation : Preparation
        What to do with the columns.
    label : str or None
        Column with the labels.
    unlabeled : tuple of str
        Labels that mean unknown.
    id_column : str or None
        Column with the names of the rows, for the pairs.
    pairs_file : Path or None
        Table of marked pairs.
    sample : int or None
        Number of rows to learn from; None means all.
    seed : int
        Seed of the sample and of the check.
    check, curve : bool
        Whether to compute errors on held-out labels or pairs, and a learning curve.
    """

    learner: str = "seraph"
    settings: dict[str, Any] = field(default_factory=dict)
    more: tuple[str, ...] = ()
    choose_lam: bool = False
    preparation: Preparation = field(default_factory=Preparation)
    label: str | None = None
    unlabeled: tuple[str, ...] = ()
    id_column: str | None = None
    pairs_file: Path | None = None
    sample: int | None = None
    seed: int = 0
    check: bool = True
    curve: bool = False


@dataclass(frozen=True)
class Examples:
    """Features, labels and pairs of the rows that are used.

    Parameters
    ----------
    features : Features
        The features.
    labels : ndarray or None
        Label of each row, text or None.
    pairs, similar : ndarray
        Marked pairs, and which of them are similar.
    known : PairLabels
        Labels and pairs together.
    """

    features: Features
    labels: Array | None
    pairs: IntArray
    similar: BoolArray
    known: PairLabels

    @property
    def marks(self) -> Marks:
        """The marked pairs."""
        return Marks(self.pairs, self.similar, rows=len(self.known.codes))

    @classmethod
    def read(cls, table: InputTable, request: Request) -> Examples:
        """Take them from a table; refuse what nothing can be learned from."""
        labels = table.labels(request.label, request.unlabeled)
        pairs: IntArray = np.empty((0, 2), dtype=np.intp)
        similar: BoolArray = np.empty(0, dtype=bool)
        if request.pairs_file is not None:
            ids = None if request.id_column is None else table.cells(request.id_column).to_pylist()
            pairs, similar = read_pairs(
                read_table(request.pairs_file), table.n_rows, ids, is_array=table.names is None
            )
        _check_labels(table, labels, request, n_pairs=len(similar))
        if table.n_rows < 2:
            raise ValueError(f"{table.path} has only one row: add more rows to learn from.")
        # On all rows, so that a contradiction is named by the rows of the table.
        PairLabels.make(table.n_rows, labels, Marks(pairs, similar, rows=table.n_rows))
        n_rows = table.n_rows
        needed = pairs.ravel()
        if labels is not None:
            has_label = np.array([value is not None for value in labels], dtype=bool)
            needed = np.concatenate([needed, np.flatnonzero(has_label)])
        rows = sample_rows(n_rows, request.sample, needed, request.seed)
        if len(rows) < n_rows:
            table = table.take(rows)
        without = [] if request.label is None else [request.label]
        features = request.preparation.features(table, without)
        if request.preparation.impute in ("median", "knn") and features.empty_columns():
            empty = features.empty_columns()[0]
            raise ValueError(
                f"{table.path}: column {empty!r} has no values to fill in from: leave it out "
                f"(--drop {empty})."
            )
        if not features.varies():
            raise ValueError(
                f"{table.path}: every feature has the same value in all rows, so all distances "
                "are 0: add features that vary."
            )
        rows = rows[features.kept]
        pairs, whole = renumbered(pairs, rows, n_rows)
        if not whole.all():
            warnings.warn(
                f"{request.pairs_file}: {int((~whole).sum())} marked pairs are left out, because "
                "a row of theirs has a missing value.",
                stacklevel=2,
            )
        similar = similar[whole]
        labels = None if labels is None else labels[rows]
        known = PairLabels.make(len(rows), labels, Marks(pairs, similar, rows=len(rows)))
        if known.n_dissimilar == 0:
            raise ValueError(
                f"{table.path}: all {known.n_similar} labeled pairs are similar, so nothing keeps "
                "points apart: label rows of a second class (-1 means no label), or mark pairs "
                "that are not alike."
            )
        return cls(features, labels, pairs, similar, known)


def learn_model(table: InputTable, request: Request) -> FitSummary:
    """Fit the model, and compute its errors on held-out labels or pairs."""
    learner = make_learner(
        request.learner, request.settings, request.more, choose_lam=request.choose_lam
    )
    examples = Examples.read(table, request)
    no_errors_reason = _why_not_checked(examples, check=request.check)
    verbose = bool(innermost(learner).get_params().get("verbose"))
    n_fits = 1 if no_errors_reason else 1 + FOLDS
    with progress_bar(shown=not verbose) as progress:
        tol = float(getattr(innermost(learner), "tol", None) or 1e-3)
        after_iteration, after_fit = progress_callbacks(progress, n_fits, tol)
        _watch(learner, after_iteration)
        name = "seraph" if request.learner.casefold() == "seraph" else request.learner.casefold()
        model = Pipeline([*request.preparation.steps(examples.features), (name, learner)])
        check_directions(model, examples.features.points, f"{table.path}")
        started = time.perf_counter()
        # Lines about iterations are not results, and stdout is for results.
        with redirect_stdout(sys.stderr) if verbose else nullcontext():
            model.fit(
                examples.features.points,
                examples.labels,
                **{f"{name}__marks": examples.marks},
            )
        seconds = time.perf_counter() - started
        after_fit()
        _check_metric(learner, examples)
        prepared = model[:-1].transform(examples.features.points) if len(model) > 1 else None
        scaled = np.asarray(examples.features.points if prepared is None else prepared)
        _forget(learner, "verbose", 0)  # neither is for the folds or the file
        _forget(learner, "checkpoint", None)
        errors, curve = None, []
        if not no_errors_reason:
            errors = _errors(learner, scaled, examples, request.seed, after_fit)
            no_errors_reason = "" if errors else _too_few(examples)
        if errors is not None and request.curve and examples.labels is not None:
            curve = learning_curve(
                learner,
                scaled,
                examples.known.codes,
                examples.pairs,
                examples.similar,
                seed=request.seed,
            )
    _watch(learner, None)  # a function cannot be saved
    return FitSummary(
        model=model,
        scaled=scaled,
        names=_feature_names(model.steps, examples.features, scaled.shape[1]),
        preparation=request.preparation,
        features=examples.features,
        labels=examples.labels,
        pairs=examples.pairs,
        similar=examples.similar,
        seconds=seconds,
        errors=errors,
        no_errors_reason=no_errors_reason,
        curve=curve,
    )


def summarize_model(
    fitted: SavedModel,
    table: InputTable,
    *,
    label: str | None,
    unlabeled: Collection[str],
    id_column: str | None,
    pairs_file: Path | None,
    seed: int | None,
) -> FitSummary:
    """Summarize a saved model on a table; with a seed, check copies of its learner there."""
    if not hasattr(fitted.learner, "components_"):
        raise ValueError(
            f"{fitted.path} holds a {type(fitted.learner).__name__}, which has no metric to "
            "report on."
        )
    labels = table.labels(label, unlabeled)
    pairs: IntArray = np.empty((0, 2), dtype=np.intp)
    similar: BoolArray = np.empty(0, dtype=bool)
    if pairs_file is not None:
        ids = None if id_column is None else table.cells(id_column).to_pylist()
        pairs, similar = read_pairs(
            read_table(pairs_file), table.n_rows, ids, is_array=table.names is None
        )
    points = fitted.points(table, without=[label if table.names else None, id_column])
    noted = fitted.learned_from
    features = Features(
        points,
        categories=tuple(fitted.reading.categories),
        dates=dict(fitted.reading.dates),
        left_out=noted.get("left_out", {}),
        kept=np.arange(table.n_rows),
        n_rows=table.n_rows,
    )
    scaled = np.asarray(fitted.before_learner(points))
    errors, curve = None, []
    reason = "Not compared with the Euclidean distance (--no-check)."
    if seed is not None and labels is None and not len(pairs):
        reason = (
            "Not compared with the Euclidean distance: that needs labels (--label) or marked "
            "pairs (--pairs)."
        )
    elif seed is not None:
        known = PairLabels.make(table.n_rows, labels, Marks(pairs, similar, rows=table.n_rows))
        examples = Examples(features, labels, pairs, similar, known)
        reason = _why_not_checked(examples, check=True)
        if not reason:
            errors = _errors(fitted.learner, scaled, examples, seed, lambda: None)
            reason = "" if errors else _too_few(examples)
        if errors is not None and labels is not None:
            codes = known.codes
            curve = learning_curve(fitted.learner, scaled, codes, pairs, similar, seed=seed)
    preparation = None
    if noted.get("scale"):
        preparation = Preparation(scale=noted["scale"], impute=noted.get("impute"))
    return FitSummary(
        model=fitted.estimator,
        scaled=scaled,
        names=_feature_names(fitted.steps, features, scaled.shape[1]),
        preparation=preparation,
        features=features,
        labels=labels,
        pairs=pairs,
        similar=similar,
        seconds=None,
        errors=errors,
        no_errors_reason=reason,
        curve=curve,
    )


def _watch(learner: Any, callback: Callable[..., None] | None) -> None:
    _forget(learner, "callback", callback)


def _forget(learner: Any, parameter: str, value: Any) -> None:
    """Set a parameter of the learner, if it has one of this name."""
    inner = innermost(learner)
    if parameter in inner.get_params(deep=False):
        inner.set_params(**{parameter: value})


def _feature_names(steps: list[tuple[str, Any]], features: Features, n: int) -> list[str]:
    """Return the names of the features as the learner sees them."""
    if not hasattr(features.points, "columns"):
        return [f"x{k}" for k in range(n)]
    names = [str(name) for name in features.points.columns]
    for _, step in steps[:-1]:
        names = [str(name) for name in step.get_feature_names_out(names)]
    return names


def _check_metric(learner: Any, examples: Examples) -> None:
    """Refuse a metric of rank 0, and say which classes it was learned from."""
    given = getattr(learner, "lam", "auto") != "auto"
    if len(learner.components_) and not (given and len(learner.learned_components_) == 0):
        return
    classes = ""
    if examples.labels is not None:
        names, counts = np.unique(
            [label for label in examples.labels if label is not None], return_counts=True
        )
        sizes = dict(zip(names.tolist(), counts.tolist(), strict=True))
        classes = (
            f" It was learned from {len(sizes)} classes: {classes_text(sizes)}. If one of them "
            "means that the class is unknown, name it with --unlabeled."
        )
    raise ValueError(
        "The learned metric is zero: nothing was learned, so nothing is saved. Lower --lam "
        f"(auto suits most data), or add labels of different classes.{classes}"
    )


def _errors(
    learner: Any,
    scaled: Array,
    examples: Examples,
    seed: int,
    after_fold: Callable[[], None],
) -> HeldOutErrors | None:
    pairs, similar = examples.pairs, examples.similar
    if examples.labels is None:
        return held_out_pair_errors(
            learner, scaled, pairs, similar, seed=seed, after_fold=after_fold
        )
    codes = examples.known.codes
    return held_out_errors(
        learner, scaled, codes, pairs, similar, seed=seed, after_fold=after_fold
    )


def _check_labels(
    table: InputTable, labels: Array | None, request: Request, *, n_pairs: int
) -> None:
    """Refuse a table without labels to learn from, naming the options that would help."""
    if labels is None and request.pairs_file is None:
        raise ValueError(
            f"{table.path}: there is nothing to learn from. Name the column with the classes "
            "(--label) or a file of marked pairs (--pairs)."
        )
    if n_pairs:
        return
    if labels is None:
        raise ValueError(
            f"{request.pairs_file}: no pair has been answered: the column similar is empty. Fill "
            "it in."
        )
    n_labeled = sum(value is not None for value in labels)
    if n_labeled < 2:
        raise ValueError(
            f"{table.path}: {n_labeled or 'none'} of its {len(labels)} rows has a label in "
            f"{request.label or 'y'!r} (-1 and empty cells mean unlabeled): label at least two "
            "rows, of two classes."
        )
    warn_of_quantity([value for value in labels if value is not None], request.label or "y")


def _why_not_checked(examples: Examples, *, check: bool) -> str:
    """Say why the comparison with the Euclidean distance is skipped; empty if it is not."""
    if not check:
        return "Not compared with the Euclidean distance (--no-check)."
    if examples.labels is None:
        return ""
    classes = {value for value in examples.labels if value is not None}
    return "" if len(classes) > 1 else _TOO_FEW_LABELS


def _too_few(examples: Examples) -> str:
    return _TOO_FEW_PAIRS if examples.labels is None else _TOO_FEW_LABELS
