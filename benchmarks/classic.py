"""The classic learners against the plainest numpy form of the same method.

``python -m benchmarks.classic [seconds]``: standardized wine and digits, all rows labeled. A
plain form is stopped after this many seconds (60 by default); compare the objectives then. The
learners go to their optimum here, with the settings of table 2, and not with their defaults.
``python -m benchmarks.peers`` compares them with metric-learn.
"""

import sys
import time

import numpy as np
from sklearn.datasets import load_digits, load_wine
from sklearn.preprocessing import StandardScaler

from benchmarks.plain_gdm import gdm_objective, plain_gdm
from benchmarks.plain_itml import itml_objective, plain_itml
from benchmarks.plain_ldm import plain_ldm
from benchmarks.plain_lmnn import plain_lmnn
from benchmarks.plain_mfda import plain_mfda
from seraph import Marks
from seraph.classic import GDM, ITML, LDM, LMNN, MFDA


def problems():
    """Name, points and class labels."""
    wine, digits = load_wine(return_X_y=True), load_digits(return_X_y=True)
    for name, (X, y), n in (("wine", wine, 178), ("digits", digits, 100), ("digits", digits, 400)):
        yield f"{name} {n}", StandardScaler().fit_transform(X[:n]), y[:n]


def gdm(X, y, seconds):
    return (
        lambda: GDM(ridge=1e-6, tol=1e-4).fit(X, y),
        lambda learner: gdm_objective(plain_gdm(X, y, seconds=seconds)[0], X, y),
        lambda learner: gdm_objective(learner.get_mahalanobis_matrix(), X, y),
    )


def itml(X, y, seconds, n_constraints=None):
    pairs = np.column_stack(np.triu_indices(len(X), 1))
    if n_constraints is not None:
        pairs = pairs[np.random.default_rng(0).permutation(len(pairs))[:n_constraints]]
    similar = y[pairs[:, 0]] == y[pairs[:, 1]]
    known = {"y": y} if n_constraints is None else {"marks": Marks(pairs, similar, rows=X)}

    def plain(learner):
        A, _ = plain_itml(X, pairs, similar, learner.bounds_, seconds=seconds)
        return itml_objective(A, X, pairs, similar, learner.bounds_)

    return (
        lambda: ITML(gamma=1.0, tol=1e-6).fit(X, **known),
        plain,
        lambda learner: learner.objective_,
    )


def itml_sampled(X, y, seconds):
    return itml(X, y, seconds, n_constraints=20 * len(np.unique(y)) ** 2)


def lmnn(X, y, seconds):
    return (
        lambda: LMNN(tol=0.01).fit(X, y),
        lambda learner: plain_lmnn(X, y, seconds=seconds)[1],
        lambda learner: learner.objective_,
    )


def ldm(X, y, seconds):
    return (
        lambda: LDM().fit(X, y),
        lambda learner: plain_ldm(X, y, lam=learner.lam_, seconds=seconds)[1],
        lambda learner: learner.objective_,
    )


def mfda(X, y, seconds):
    return (
        lambda: MFDA().fit(X, y),
        lambda learner: plain_mfda(X, y, len(learner.components_))[1],
        lambda learner: learner.objective_,
    )


METHODS = {
    "GDM": (gdm, "max"),
    "ITML": (itml, "min"),
    "ITML, 20 c^2 pairs": (itml_sampled, "min"),
    "LMNN": (lmnn, "min"),
    "LDM": (ldm, "max"),
    "MFDA": (mfda, "max"),
}


def main(seconds=60.0):
    print("Seconds to fit, and the objective reached\n")
    print(f"{'':21}{'':11}{'plain':>9}{'ours':>9}{'ratio':>8}", end="")
    print(f"{'':>7}{'plain':>12}{'ours':>12}")
    for name, (method, sense) in METHODS.items():
        for data, X, y in problems():
            fit, plain, objective = method(X, y, seconds)
            ours = np.inf
            for _ in range(3):
                start = time.perf_counter()
                learner = fit()
                ours = min(ours, time.perf_counter() - start)
            start = time.perf_counter()
            value = plain(learner)
            slow = time.perf_counter() - start
            print(
                f"{name:21}{data:11}{slow:>9.2f}{ours:>9.3f}{slow / ours:>7.0f}x",
                end="",
            )
            print(f"{sense:>7}{value:>12.4f}{objective(learner):>12.4f}", flush=True)


if __name__ == "__main__":
    main(*map(float, sys.argv[1:]))
