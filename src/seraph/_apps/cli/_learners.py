"""Learners by name, with the settings of the command line."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from sklearn.utils import get_tags

from ... import SERAPH, SERAPHCV, classic


def learners() -> dict[str, type]:
    """Return the learners of classes by their names in small letters: SERAPH and the classic ones.

    Examples
    --------
    >>> sorted(learners())[:3]
    ['covariance', 'euclidean', 'gdm']
    """
    found: dict[str, type] = {"seraph": SERAPH}
    for name in classic.__all__:
        value = getattr(classic, name)
        learns = isinstance(value, type) and hasattr(value, "fit") and hasattr(value, "transform")
        if learns and get_tags(value()).regressor_tags is None:
            found[name.casefold()] = value
    return found


def make_learner(
    name: str,
    options: Mapping[str, Any],
    more: Sequence[str] = (),
    *,
    seed: int = 0,
    choose_lam: bool = False,
) -> Any:
    """Make a learner by its name, in any case.

    `options` are parameters that have options of their own, such as lam; `more` are others, each
    as ``name=value``. The `seed` is for a learner that has one, so that the same command gives the
    same model. With `choose_lam`, lam is chosen by cross-validation.

    Examples
    --------
    >>> make_learner("ITML", {"max_iter": 50}, ["gamma=2.0"])
    ITML(gamma=2.0, max_iter=50, random_state=0)
    """
    known = learners()
    if name.casefold() not in known:
        near = get_close_matches(name.casefold(), list(known), n=1)
        advice = f" Did you mean {near[0]}?" if near else ""
        raise ValueError(f"--learner must be one of {', '.join(known)}; got {name!r}.{advice}")
    learner = known[name.casefold()]()
    settings = {**options, **dict(map(_assignment, more))}
    parameters = learner.get_params()
    for parameter in settings:
        if parameter not in parameters:
            raise ValueError(
                f"{type(learner).__name__} has no parameter {parameter}. It has "
                f"{', '.join(parameters) or 'none'}."
            )
    if "random_state" in parameters:
        settings.setdefault("random_state", seed)
    learner.set_params(**settings)
    if choose_lam:
        if not isinstance(learner, SERAPH):
            raise ValueError(f"--lam cv is for seraph; {type(learner).__name__} has no lam.")
        return SERAPHCV(learner)
    return learner


def _assignment(text: str) -> tuple[str, Any]:
    """Read name=value; the value is a number, a word or another Python literal.

    Examples
    --------
    >>> _assignment("gamma=0.5"), _assignment("init=pca"), _assignment("n_components=None")
    (('gamma', 0.5), ('init', 'pca'), ('n_components', None))
    """
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise ValueError(f"--set must be NAME=VALUE, such as max_iter=500; got {text!r}.")
    try:
        return name.strip(), ast.literal_eval(value.strip())
    except (ValueError, SyntaxError):
        return name.strip(), value.strip()
