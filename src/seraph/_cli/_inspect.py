"""The command ``inspect``: print what a model file contains."""

from __future__ import annotations

from . import _options as options
from ._console import SHARES_TITLE, show, show_facts


def inspect(model: options.ModelFile) -> None:
    """Print what a model is: its steps, its settings, what it learned and from what.

    Example: seraph inspect model.skops
    """
    import numpy as np

    from ..persist import read_versions
    from ._models import SavedModel
    from ._summary import classes_text, convergence_text, pairs_text, rank_text, share_rows

    fitted = SavedModel.read(model)
    learner, noted = fitted.learner, fitted.learned_from
    facts = [[name, _one_line_repr(step)] for name, step in fitted.steps]
    if noted.get("rows"):
        facts.append(["learned from", f"{noted['rows']:,} rows"])
    if noted.get("classes"):
        classes = noted["classes"]
        facts.append(["labeled rows", f"{sum(classes.values()):,}"])
        facts.append(["classes", f"{len(classes)}: {classes_text(classes)}"])
    if hasattr(learner, "n_similar_"):
        facts.append(["pairs", pairs_text(learner)])
    names = fitted.feature_names
    n_features = fitted.estimator.n_features_in_
    facts.append(["features", _features(names, n_features)])
    components = getattr(learner, "components_", None)
    if components is not None:
        facts.append(["rank of the metric", rank_text(learner)])
    if hasattr(learner, "optimality_gap_"):
        facts.append(["converged", convergence_text(learner)])
    for weight in ("lam_", "mu_"):
        if hasattr(learner, weight):
            facts.append([weight.rstrip("_"), f"{getattr(learner, weight):.4g}"])
    versions = read_versions(model)
    if versions:
        facts.append(["saved with", ", ".join(f"{k} {v}" for k, v in versions.items())])
    show_facts(facts, f"{model}")

    if noted.get("shares"):
        show(share_rows(noted["shares"]), SHARES_TITLE, numbers=slice(1, 2))
    elif components is not None and components.shape[1] == n_features and components.size:
        weights = np.sum(np.asarray(components, dtype=np.float64) ** 2, axis=0)
        order = np.argsort(-weights, kind="stable")
        shares = {names[k] if names else f"x{k}": float(weights[k] / weights.sum()) for k in order}
        show(
            share_rows(shares),
            "What matters: share in the diagonal of the metric",
            numbers=slice(1, 2),
        )


def _one_line_repr(step: object) -> str:
    """Return the repr of an estimator, which names the settings that are not defaults."""
    return " ".join(repr(step).split())


def _features(names: list[str] | None, n: int) -> str:
    if names is None:
        return f"{n:,}, without names"
    shown = ", ".join(names[:8])
    return f"{n:,}: {shown}" + (f" and {n - 8} more" if n > 8 else "")
