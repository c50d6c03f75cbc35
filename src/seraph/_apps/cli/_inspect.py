"""The command ``inspect``: print what a model file contains."""

from __future__ import annotations

from . import _options as options
from ._console import command, result, show_facts


@command
def inspect(model: options.ModelFile) -> None:
    """Print what a model is: its steps, its settings, what it learned and from what.

    Example: seraph inspect model.skops
    """
    import numpy as np

    from ...persist import read_versions
    from ._models import SavedModel
    from ._prepare import show_columns_used
    from ._summary import class_facts, learner_facts, learner_values, role_facts, show_shares
    from ._tables import and_more

    fitted = SavedModel.read(model)
    learner, noted = fitted.learner, fitted.learned_from
    # The repr of an estimator names the settings that are not defaults.
    steps = {name: " ".join(repr(step).split()) for name, step in fitted.steps}
    facts = [list(step) for step in steps.items()]
    if noted.get("rows"):
        facts.append(["learned from", f"{noted['rows']:,} rows"])
    if noted.get("classes"):
        facts += class_facts(noted["classes"])
    names = fitted.feature_names
    n_features = fitted.n_features
    listed = ", without names" if names is None else f": {and_more(names[:8], n_features)}"
    facts.append(["features", f"{n_features:,}{listed}"])
    facts += role_facts(noted)
    facts += learner_facts(learner)
    components = getattr(learner, "components_", None)
    versions = read_versions(model)
    if versions:
        facts.append(["saved with", ", ".join(f"{k} {v}" for k, v in versions.items())])
    show_facts(facts, f"{model}")
    show_columns_used(fitted.columns)
    result(
        steps=steps,
        features=names,
        columns=fitted.columns,
        n_features=n_features,
        **{name: value for name, value in noted.items() if name not in ("features", "steps")},
        rank=None if components is None else len(components),
        saved_with=versions,
        **learner_values(learner),
    )

    if noted.get("shares"):
        show_shares(noted["shares"])
    elif components is not None and components.shape[1] == n_features and components.size:
        weights = np.sum(np.asarray(components, dtype=np.float64) ** 2, axis=0)
        order = np.argsort(-weights, kind="stable")
        shares = {names[k] if names else f"x{k}": float(weights[k] / weights.sum()) for k in order}
        show_shares(shares, of="diagonal of the metric")
