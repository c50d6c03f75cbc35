"""The command ``inspect``: print what a model file contains."""

from __future__ import annotations

from . import _options as options
from ._console import SHARES_TITLE, command, result, show, show_facts, show_preparation


@command
def inspect(model: options.ModelFile) -> None:
    """Print what a model is: its steps, its settings, what it learned and from what.

    Example: seraph inspect model.skops
    """
    import numpy as np

    from ...persist import read_versions
    from ._models import SavedModel
    from ._summary import classes_text, learner_facts, role_facts, share_rows

    fitted = SavedModel.read(model)
    learner, noted = fitted.learner, fitted.learned_from
    facts = [[name, _one_line_repr(step)] for name, step in fitted.steps]
    if noted.get("rows"):
        facts.append(["learned from", f"{noted['rows']:,} rows"])
    if noted.get("classes"):
        classes = noted["classes"]
        facts.append(["labeled rows", f"{sum(classes.values()):,}"])
        facts.append(["classes", f"{len(classes)}: {classes_text(classes)}"])
    names = fitted.feature_names
    n_features = fitted.estimator.n_features_in_
    facts.append(["features", _features(names, n_features)])
    facts += role_facts(noted)
    facts += [fact for fact in learner_facts(learner) if fact[0] != "learner"]
    components = getattr(learner, "components_", None)
    versions = read_versions(model)
    if versions:
        facts.append(["saved with", ", ".join(f"{k} {v}" for k, v in versions.items())])
    show_facts(facts, f"{model}")
    show_preparation(noted)
    result(
        steps={name: _one_line_repr(step) for name, step in fitted.steps},
        features=names,
        n_features=n_features,
        **{name: value for name, value in noted.items() if name not in ("features", "steps")},
        rank=None if components is None else len(components),
        saved_with=versions,
        **{
            name.rstrip("_"): getattr(learner, name)
            for name in ("lam_", "mu_", "n_iter_", "converged_", "optimality_gap_")
            if hasattr(learner, name)
        },
    )

    if noted.get("shares"):
        show(share_rows(noted["shares"]), SHARES_TITLE, numbers=slice(1, 2))
    elif components is not None and components.shape[1] == n_features and components.size:
        weights = np.sum(np.asarray(components, dtype=np.float64) ** 2, axis=0)
        weights += getattr(learner, "isotropic_", 0.0) ** 2
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
