"""Samples of the unlabeled pairs for a search that starts near the maximum.

A fit that continues from the metric of an earlier one is such a search, and so is one for
another weight of the trace.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .._sweep import Sample
from ._objective import Objective
from ._sampling import sample_pairs

# Where tiles cannot be sampled, pairs are listed: this many a point, but not more numbers than
# that, since a cluster holds their differences. It pays off if all pairs are _MANY_TIMES as many.
_PAIRS_PER_POINT, _MOST_NUMBERS, _MANY_TIMES = 20, 1 << 25, 50


def samples_near(objective: Objective, n: int, n_unlabeled: int) -> list[tuple[float, Objective]]:
    """Return shares of the unlabeled pairs and estimates from them; none if they do not pay.

    Parameters
    ----------
    objective : Objective
        The objective.
    n, n_unlabeled : int
        Number of points and of their unlabeled pairs.
    """
    terms = objective.terms
    samples = objective.by_shares(near=True) or objective.by_subsets()
    if samples:
        return samples
    size = min(_PAIRS_PER_POINT * n, max(1, _MOST_NUMBERS // objective.n_features))
    is_whole = terms.sample is None and terms.share == 1.0
    if terms.mu == 0.0 or not is_whole or n_unlabeled < _MANY_TIMES * size:
        return []
    # The same pairs in each fit, so that a fit repeats.
    rng = np.random.RandomState(0)
    pairs = sample_pairs(n, len(terms.codes), terms.pairs, size, rng)
    sample = Sample(pairs, n_unlabeled / size)
    return [(size / n_unlabeled, replace(objective, terms=replace(terms, sample=sample)))]
