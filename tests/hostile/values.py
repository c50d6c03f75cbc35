"""Values for parameters: sensible ones, extremes, and junk.

Parameters are read from signatures. A new one is tried at once, with the choices that its
docstring lists and with values like its default; a line in `VALUES` gives it better ones.
"""

import inspect
import re

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from seraph import SERAPH, KernelSERAPH
from seraph.classic import LDM, MFDA, Euclidean

WEIGHTS = (0, 1e-10, 1e-3, 0.3, np.float32(1), 1, 40, 1e6, 1e12)
VALUES = {
    "alpha": ("auto", *WEIGHTS),
    "backend": ("auto", "cpu", "numpy", "numba", "torch", "nowhere"),
    "base_rate": (None, None, 0.01, 0.5),
    "bounds": (None, (1, 2), (2.0, 1.0), (1e-8, 1e8)),
    "callback": (None,),
    "checkpoint": (None, "fit.ckpt"),
    "coef0": (-1.0, 0.0, 5.0),
    "cv": (2, 3, 5),
    "degree": (0, 1, 2.5, 4),
    "eps": (0.5, 1e-3, 1e-9),
    "estimator": (
        None, SERAPH(), KernelSERAPH(), LDM(max_iter=20), Euclidean(),
        make_pipeline(StandardScaler(), SERAPH()),
    ),
    "eta": WEIGHTS,
    "gamma": (None, "median", *WEIGHTS),
    "kernel": ("rbf", "linear", "poly", "sigmoid", "cosine", "laplacian"),
    "kernel_params": (None, {}),
    "lam": ("auto", "auto", *WEIGHTS),
    "lam_factors": ((0.1, 1, 10), (1e-6, 1e6), [1]),
    "lams": (None, [1.0], [1e-8, 1.0, 1e8]),
    "learners": (None, [("seraph", SERAPH()), ("plain", Euclidean()), ("ldm", LDM(max_iter=20))]),
    "learner": (
        None, SERAPH(), KernelSERAPH(), SERAPH(gamma=1.0), SERAPH(solver="spg"), LDM(max_iter=20),
        MFDA(), Euclidean(),
    ),
    "manifold": (0, 0, *WEIGHTS),
    "max_iter": (1, 5, 50, 200),
    "mu": ("auto", "auto", *WEIGHTS),
    "mu_factors": ((1.0,), (0, 1), (0.1, 1, 10)),
    "n_components": (None, 1, 2, 5, 20),
    "n_constraints": (None, 1, 5),
    "n_jobs": (None, 1, 2),
    "n_lams": (1, 3, 5),
    "n_landmarks": (2, 5, 1000),
    "n_neighbors": (1, 2, 10, 50),
    "n_samples": (8, 20, 100),
    "name": ("iris", "wine", "balance", "diabetes"),
    "push_weight": (1e-9, 0.1, 0.99),
    "random_state": (0, 1, None),
    "ridge": WEIGHTS,
    "shrinkage": (0, 0.3, 1),
    "strategy": ("accuracy", "equal_error_rate", "precision"),
    "target": (None, None, 0.5, 0.9),
    "tol": (0, 1e-9, 1e-5, 1e-3, 0.1, 10.0),
    "unlabeled_pairs": ("all", "all", 1, 20, 0.01, 0.5, 1.0),
    "verbose": (0, 1),
    "warm_start": (False, True),
    "weights": (None, [1, 2, 3]),
}  # fmt: skip
JUNK = (
    None, True, -1, 0, 2.5, np.nan, np.inf, -np.inf, 10**400, 1e308, 5e-324, "", "word", "auto",
    "=1+1", "nan", "\0", b"bytes", [], [1], (), {}, {"a": 1}, 3j, np.array([1.0, 2.0]), np.int8(3),
    np.array(3.0), np.datetime64("NaT", "D"), len, type, np.float64(-1.0), np.str_("word"),
    10**5000, np.arange(3000.0),
)  # fmt: skip
# Starts a cluster, asks the network, or draws into axes: tested where they belong.
LEFT_ALONE = {"ax", "data_home", "cache"}


def values_of(owner, parameter):
    """Values to try for a parameter of a function or an estimator."""
    if parameter.name in VALUES:
        return VALUES[parameter.name]
    listed = re.search(rf"^\s*{parameter.name} : .*?\{{(.*?)\}}", owner.__doc__ or "", re.M)
    choices = tuple(re.findall(r'"([^"]+)"', listed[1])) if listed else ()
    default = parameter.default
    if isinstance(default, bool):
        return (True, False)
    if isinstance(default, int):
        return (*choices, default, 1, 2, 10)
    if isinstance(default, float):
        return (*choices, default, *WEIGHTS)
    return (*choices, default) if default is not parameter.empty else (*choices, *JUNK)


def some_parameters(rng, function, at_most=4, junk=0.1, without=()):
    """A few of the parameters of a function or class, with values."""
    parameters = [
        parameter
        for parameter in inspect.signature(function).parameters.values()
        if parameter.name not in LEFT_ALONE | set(without)
        and parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
    ]
    chosen = rng.sample(parameters, min(len(parameters), rng.randint(0, at_most)))
    required = [p for p in parameters if p.default is p.empty and p not in chosen]
    found = {
        p.name: rng.choice(JUNK if rng.random() < junk else values_of(function, p))
        for p in [*chosen, *required]
    }
    if found.get("callback") is len:  # its error would be the caller's own
        found["callback"] = type
    return found
