"""Signatures and docstrings of the stand-ins, from a table of what each parameter means."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Callable
from typing import Any

# The last arguments of most learners.
LAST = "verbose=False, preprocessor=None, random_state=None"
# Some have another meaning in a class, or beside another first argument: "MMC.init", "pairs.y".
_TABLE = """
balance_param: float. Weight of the pairs. If it leaves no minimum, the largest that does is used.
basis: str or ndarray. The directions to choose from: "triplet_diffs" or, with classes, "lda" (both
    give local discriminants), or an array of shape (n_basis, n_features).
batch_size, convergence_tol, learn_rate, max_proj, min_iter, output_iter, SCML.gamma: float. A
    setting of metric-learn's solver; not used.
beta: float. Weight of the sum of the weights: larger values keep fewer directions.
pairs_valid.beta: float. Weight of recall in "f_beta".
bounds: array-like of two floats. Bounds of the squared distances of alike and of other pairs. If
    None, the 5th and the 95th percentile of the distances, as in metric-learn.
calibration_params: dict. Arguments of `calibrate_threshold`, called on the same pairs.
chunk_size: int. Number of points in a chunk.
chunks: array-like of int. Number of each point's chunk; -1 for none.
constraints: tuple of 4 array-likes of int. What `Constraints.positive_negative_pairs` returns.
diagonal: bool. Whether to learn one weight per feature.
diagonal_c: float. Scale of the metric if it is diagonal.
embedding_type: {"weighted", "orthonormalized", "plain"}. How the eigenvectors are scaled.
gamma: float. Weight of the slack: the larger, the more closely the bounds are kept.
init: {"auto", "pca", "identity", "random"} or ndarray. Where to start; with classes, also "lda".
LMNN.init: str or ndarray. Where metric-learn's steps start; checked, and not used.
MMC.init: {"identity", "covariance", "random"} or ndarray. Sets the scale: the squared distances of
    alike pairs add up to a hundredth of those under this matrix. Not used if `diagonal`.
k: int. The neighbor whose distance is the scale of a point; by default, at most 7, and fewer than
    there are features.
k_genuine: int. Number of neighbors of its own class to compare a point with.
k_impostor: int. Number of neighbors of other classes.
max_iter: int. Maximum number of iterations.
min_rate: float. Lowest rate, from 0 to 1, for "max_tpr" and "max_tnr".
n_basis: int. Number of directions to choose from.
n_chunks: int. Number of chunks to sample.
n_components: int. Number of rows of the learned map; by default, of features.
n_constraints: int. Number of pairs of either kind, or of quadruplets, to sample; by default, 20
    times the number of classes squared.
n_neighbors: int. Number of target neighbors.
pairs, pairs_valid: array-like of shape (n_pairs, 2, n_features) or (n_pairs, 2). Pairs of points,
    or of indicators for the preprocessor.
preprocessor: array-like or callable. Table of points, or a function of indicators.
prior: {"identity", "covariance", "random"} or ndarray. The metric to stay close to: "covariance"
    is the inverse of the points' covariance.
quadruplets: array-like of shape (n, 4, n_features) or (n, 4). Quadruplets of points, or of
    indicators: the first two are closer than the others.
random_state: int, RandomState instance or None. Seed of samples and of random starts.
regularization: float. Weight of the pull, between 0 and 1.
same_length: bool. Whether to return as many pairs of one kind as of the other.
sparsity_param: float. Weight of the entries off the diagonal.
strategy: {"accuracy", "f_beta", "max_tpr", "max_tnr"}. What to maximize: the share of right
    guesses; the F-score; the true positive rate while the true negative rate is at least
    `min_rate`; or the other way round.
threshold: float. The distance.
tol: float. Tolerance of the solver; if None, that of SciPy.
triplets: array-like of shape (n, 3, n_features) or (n, 3). Triplets of points, or of indicators:
    the first is closer to the second than to the third.
tuples: array-like of shape (n, size, n_features) or (n, size). Triplets or quadruplets of points,
    or of indicators.
verbose: bool. Whether to warn if the solver stops early; nothing is printed.
weights: array-like of shape (n_quadruplets,). Weights of the quadruplets; scaled to sum to 1.
X: array-like of shape (n_samples, n_features), or (n_samples,) of indicators. Points.
y: array-like of shape (n_samples,). Class of each point, or for MLKR a number. Where tuples are
    sampled, negative numbers mean that it is unknown; elsewhere they are classes like others.
pairs.y, y_valid: array-like of shape (n_pairs,). +1 for pairs that are alike, -1 for the others.
"""
_MEANINGS = {
    name: (kind, " ".join(text.split()))
    for names, kind, text in re.findall(
        r"^(\S[^:]*): ([^.]+)\.\s(.*(?:\n    .*)*)", _TABLE, re.MULTILINE
    )
    for name in names.split(", ")
}


def constructor(arguments: str) -> Callable[..., None]:
    """Return an ``__init__`` with the signature that `arguments` has in words."""
    call: Any = ast.parse(f"call({arguments})", mode="eval").body
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = [
        inspect.Parameter(keyword.arg, kind, default=ast.literal_eval(keyword.value))
        for keyword in call.keywords
    ]
    signature = inspect.Signature([inspect.Parameter("self", kind), *parameters])

    def __init__(*args: Any, **kwargs: Any) -> None:  # noqa: N807
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        vars(bound.arguments.pop("self")).update(bound.arguments)

    __init__.__signature__ = signature  # type: ignore[attr-defined]  # scikit-learn reads it
    return __init__


def document(function: Any, owner: str = "") -> Any:
    """Add the parameters of a function, or of a class, to its docstring, and return it.

    `owner` is looked up before its parameters; by default, the first parameter.
    """
    parameters = {**inspect.signature(function).parameters}
    parameters.pop("self", None)
    lines = [inspect.cleandoc(function.__doc__)]
    for name, parameter in parameters.items():
        if len(lines) == 1:
            lines += ["", "Parameters", "----------"]
            owner = owner or name
        kind, text = _MEANINGS.get(f"{owner}.{name}") or _MEANINGS[name]
        if parameter.default is None:
            kind += ", optional"
        elif parameter.default is not parameter.empty:
            kind += f", default={parameter.default!r}".replace("'", '"')
        lines += [f"{name} : {kind}", textwrap.indent(textwrap.fill(text, 90), "    ")]
    function.__doc__ = "\n".join(lines)
    return function
