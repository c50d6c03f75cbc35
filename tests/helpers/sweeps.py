"""Targets and samples of the unlabeled pairs."""

import numpy as np
from scipy.special import expit
from seraph._sweep import PairList, Plan, Posterior

from tests.helpers.oracle import labeled_pairs

ETA, MU = 1.3, 0.4


def posteriors(rng, m=5):
    return {
        "entropy": None,
        "all dissimilar": Posterior(),
        "frozen metric": Posterior(rng.normal(size=(3, m))),
    }


def q_function(source):
    if source is None:
        return None
    if source.P is None:
        return lambda d: 0.0
    return lambda d: expit(-(1 + MU) * ((source.P @ d) @ (source.P @ d) - ETA))


def sample_of(rng, n, codes, pairs, size=60):
    """Sample the unlabeled pairs."""
    known = labeled_pairs(codes, pairs, [True] * len(pairs))
    free = [p for p in zip(*np.triu_indices(n, k=1), strict=True) if tuple(p) not in known]
    chosen = np.sort(rng.permutation(len(free))[:size])
    return Plan(listed=PairList.of(np.array(free)[chosen]), weight=len(free) / size)
