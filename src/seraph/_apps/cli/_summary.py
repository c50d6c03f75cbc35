"""Learn and check a model, and sum up: for the terminal, the report page and the model file."""

from __future__ import annotations

import base64
import io
import sys
import time
from collections.abc import Mapping
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.pipeline import Pipeline

from ... import Marks, MeanMetric, PairClassifier, __version__
from ...tables._columns import REASONS
from ...tables._words import and_more, quoted
from ._check import check_labels, check_pairs
from ._console import say, show, show_facts, working
from ._examples import Examples, about_ids, prepare
from ._models import DECIDER, LEARNED_FROM, SavedModel

if TYPE_CHECKING:
    from ..._utils._typing import FloatArray
    from ...tables import Column
    from ._requests import FitRequest

_TEMPLATES = Path(__file__).parent / "templates"
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


class Part(NamedTuple):
    """A table of the summary of a model, headings first; `numbers` are aligned right."""

    title: str
    rows: list[list[str]]
    numbers: slice


def learn_model(
    learner: Any, examples: Examples, request: FitRequest
) -> tuple[SavedModel, FloatArray]:
    """Fit a model that ends in a learner, and check it on held-out labels or pairs.

    The points are those that the learner saw.
    """
    # Lines about iterations are not results, and stdout is for results.
    with working("learning"), redirect_stdout(sys.stderr):
        before, scaled = prepare(examples.table, request)
        started = time.perf_counter()
        # Codes, since a class may be called -1.
        codes, marks = None if examples.labels is None else examples.codes, examples.marks
        decider = None
        if codes is None:
            learner, decider = _decider(learner, scaled, marks, forest=not request.no_forest)
        else:
            learner.fit(scaled, codes, marks=marks)
        seconds = time.perf_counter() - started
        if len(learner.components_) == 0:
            raise ValueError(
                "The learned metric is zero: nothing was learned, so nothing is saved. Add labels "
                "of different classes, or leave out --set."
            )
        check, points, names = None, np.asarray(scaled), examples.class_names
        seed, forest = request.seed, not request.no_forest
        if not request.no_check:
            if codes is None:
                check = check_pairs(learner, points, marks, seed=seed, forest=forest)
            else:
                check = check_labels(
                    learner, points, codes, marks, seed=seed, names=names, forest=forest
                )
    fitted = Pipeline([*before, (request.learner.casefold(), learner)])
    table, encoding = examples.table, examples.table.written.encoding
    sizes = np.bincount(examples.codes[examples.codes >= 0])
    learned_from = {
        "rows": len(scaled),
        "scale": request.scale,
        "classes": dict(zip(names, sizes.tolist(), strict=True)),
        "shares": _shares(fitted, scaled),
        "seconds": seconds,
        "verdict": check.verdict() if check else _NOT_ASKED if request.no_check else _TOO_FEW,
        "check": check and check.values(),
        "table": table.path.name,
        "label": request.label,
        "unlabeled": list(examples.unlabeled),
        "id": request.id_column,
        "forest": not request.no_forest,
        "pairs": getattr(decider, "report_", None),
        "encoding": None if encoding.startswith("utf") else encoding,
    }
    setattr(fitted, LEARNED_FROM, learned_from)
    setattr(fitted, DECIDER, decider)
    return SavedModel(table.path, fitted, learned_from), scaled


def _decider(learner: Any, points: FloatArray, marks: Marks, *, forest: bool) -> tuple[Any, Any]:
    """Learn from pairs: return the learner, and what decides about pairs, if these are enough."""
    try:
        decider = PairClassifier(learner, forest=forest).fit(points, marks=marks)
    except ValueError:  # too few pairs to hold any out, or another reason, which fit will give
        return learner.fit(points, marks=marks), None
    return decider.estimator_, decider


def _names(fitted: Any) -> list[str]:
    """Return the names of the features as the learner sees them."""
    learner = fitted[-1]
    if getattr(fitted, "feature_names_in_", None) is None:
        return [f"x{k}" for k in range(learner.n_features_in_)]
    return [str(name) for name in fitted[:-1].get_feature_names_out()]


def _shares(fitted: Any, scaled: FloatArray) -> dict[str, float]:
    """Return the share of each column in the mean squared distance, largest first.

    The share of feature f is ``A_ff Var(x_f)``, divided by the sum over all features. The
    features that a column of categories or dates has become count together. There are none of
    features without names.
    """
    if getattr(fitted, "feature_names_in_", None) is None:
        return {}
    deviations = np.asarray(scaled, dtype=np.float64).std(axis=0)
    shares = np.sum((fitted[-1].components_ * deviations) ** 2, axis=0)
    shares = shares / (shares.sum() or 1.0)
    used = {name: how.use for name, how in getattr(fitted[0], "columns_", {}).items() if how.use}
    by_column: dict[str, float] = {}
    for feature, share in zip(_names(fitted), shares, strict=True):
        name = _column(feature, used)
        by_column[name] = by_column.get(name, 0.0) + float(share)
    return dict(sorted(by_column.items(), key=lambda item: -item[1]))


def _column(feature: str, used: Mapping[str, str]) -> str:
    """Return the column of the table that a feature comes from."""
    if feature in used:
        return feature
    starts = {f"{name}{'.' if use == 'dates' else '_'}": name for name, use in used.items()}
    origins = [start for start in starts if feature.startswith(start)]
    return starts[max(origins, key=len)] if origins else feature


def summary_values(model: SavedModel) -> dict[str, Any]:
    """Return the facts and figures of a fit as plain values, for --json."""
    return {
        "learner": type(model.learner).__name__,
        "features": _names(model.estimator),
        "columns": {name: str(how) for name, how in model.columns.items()},
        **model.learned_from,
        "rank": len(model.learner.components_),
        **learner_values(model.learner),
    }


def summary_parts(model: SavedModel, title: str) -> list[Part]:
    """Return the tables of a summary; the last one, without headings, has the facts."""
    noted, parts = model.learned_from, []
    if check := noted.get("check"):
        parts.append(Part(check["title"], check["rows"], slice(1, None)))
    if model.columns:
        parts.append(Part("Columns", column_rows(model.columns), slice(0)))
    if shares := noted.get("shares"):
        heading = "What matters: share in the mean squared distance"
        parts.append(Part(heading, share_rows(shares), slice(1, 2)))
    return [*parts, Part(title, [["", ""], *facts(model.learner, noted)], slice(0))]


def show_summary(model: SavedModel, title: str) -> None:
    """Print what was learned: the verdict first."""
    if verdict := model.learned_from.get("verdict"):
        say(verdict)
    for part in summary_parts(model, title):
        show(part.rows, part.title, numbers=part.numbers)


def show_model(path: Path) -> None:
    """Print what `seraph fit` printed about a model, and what it is made of."""
    from ...persist._archive import read_versions

    model = SavedModel.read(path)
    show_summary(model, f"{path}")
    # The repr of an estimator names the settings that are not defaults.
    steps = [[name, " ".join(repr(step).split())] for name, step in model.steps]
    versions = ", ".join(f"{k} {v}" for k, v in read_versions(path).items())
    show_facts([*steps, ["saved with", versions]], "Steps")


def report(model: SavedModel, examples: Examples, points: FloatArray) -> str:
    """Return what is printed about a fit, and a picture, as HTML that needs no other file."""
    try:
        from jinja2 import Environment, FileSystemLoader, StrictUndefined
    except ImportError as error:
        raise ImportError("Report pages need jinja2: pip install 'seraph-learn[cli]'.") from error
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    noted = model.learned_from
    return environment.get_template("report.html").render(
        table=noted["table"],
        version=__version__,
        verdict=filter(None, [noted["verdict"], about_ids(noted["table"], model.columns)]),
        parts=summary_parts(model, "What it learned from"),
        picture=_picture(model, examples, points),
        shown="pairs" if examples.labels is None else "rows",
    )


def _picture(model: SavedModel, examples: Examples, points: FloatArray) -> str:
    """Return what was known, before and after, as a PNG file in base 64.

    With labels it is a map of the rows. With pairs alone, a map would be gray dots under a ball of
    lines: it is how far apart the pairs are.
    """
    from matplotlib.figure import Figure

    from ...plot import EmbeddingDisplay

    figure = Figure(figsize=(9.6, 4.4), layout="constrained")
    axes = figure.subplots(1, 2)
    if examples.labels is None:
        mapped = np.asarray(model.learner.transform(points))
        sides = (points, "Before (Euclidean)"), (mapped, "After (learned)")
        for ax, (Z, title) in zip(axes, sides, strict=True):
            first, second = examples.marks.pairs.T
            d, similar = np.linalg.norm(Z[first] - Z[second], axis=1), examples.marks.similar
            d = [d[similar == 1], d[similar != 1]]
            ax.hist(d, 20, label=("similar", "dissimilar"), color=("#3182ce", "#dd6b20"))
            ax.set(title=title, xlabel="distance", ylabel="marked pairs")
        axes[1].legend(frameon=False)
    else:
        # With a space, no class is called -1 or nan.
        names = [*(f"{name} " for name in examples.class_names), None]
        labels = [names[code] for code in examples.codes]
        EmbeddingDisplay.from_estimator(
            model.learner, points, labels, marks=examples.marks, ax=axes
        )
    out = io.BytesIO()
    figure.savefig(out, format="png", dpi=120)
    return base64.b64encode(out.getvalue()).decode()


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
    check = noted.get("check") or {}
    pairs = noted.get("pairs") or {}
    if share := pairs.get("forest_share") or check.get("forest_share"):
        why = "less, the more features there are"
        if pairs:
            aucs = (pairs[f"auc_of_{part}"] for part in ("forest", "distance"))
            why = "AUC on held-out pairs {:.2f}, of the distance {:.2f}".format(*aucs)
        rows.append(["forest", f"{100 * share:.0f} % of each decision: {why} (--no-forest)"])
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
    """Say what became of the columns of a table and how to change it, headings first."""
    reasons = ["", *REASONS]
    rows: dict[tuple[tuple[int, int], str, str], list[str]] = {}
    for name, how in columns.items():
        change = "drop" if how.use else REASONS[how.reason][1]
        change = how.detail if how.use == "dates" else change
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
