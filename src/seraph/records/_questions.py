"""Choose pairs to ask a person about."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import numpy as np

from .._utils._typing import Array

# Probabilities that answers leave open, and the share of the questions about such pairs. The
# others are a sample of all pairs, which shows where the model is sure and wrong; this share of
# them is below the line, where recall is decided.
_OPEN, _SHARE, _BELOW = (0.02, 0.98), 2 / 3, 3 / 4


def spread_evenly(values: Array, n: int, rng: np.random.Generator) -> Array:
    """Order numbers so that the first `n` of them are spread evenly over their range."""
    low, high = values.min(initial=np.inf), values.max(initial=-np.inf)
    bins = np.minimum((n * (values - low) / ((high - low) or 1.0)).astype(np.intp), n - 1)
    shuffled = rng.permutation(len(values))
    shuffled = shuffled[np.argsort(bins[shuffled], kind="stable")]
    ordered = bins[shuffled]
    turn = np.arange(len(values)) - np.searchsorted(ordered, ordered)  # within its bin
    return shuffled[np.lexsort([ordered, turn])]


def open_questions(p: Array, n: int, rng: np.random.Generator) -> Array:
    r"""Order pairs by what there is to learn from them: the first `n` are the questions.

    Two thirds are spread evenly over the probabilities that are open. The others are a random
    sample, most of it of pairs that are likelier different, each in proportion to
    :math:`\sqrt{p (1 - p)}`. This is Neyman's allocation, which estimates a total best.

    Examples
    --------
    >>> p = np.array([0.001, 0.3, 0.5, 0.7, 0.999])
    >>> sorted(open_questions(p, 4, np.random.default_rng(0))[:4:2].tolist())
    [1, 3]
    """
    unsure = np.flatnonzero((p > _OPEN[0]) & (p < _OPEN[1]))
    near = unsure[spread_evenly(p[unsure], max(1, round(_SHARE * n)), rng)]
    # The Gumbel trick samples without replacement.
    size = np.sqrt(np.maximum(p * (1.0 - p), 1e-12))
    sample = np.argsort(-np.log(size) - rng.gumbel(size=len(p)), kind="stable")
    below = p[sample] < 0.5
    parts = (
        (near, _SHARE),
        (sample[~below], (1.0 - _SHARE) * (1.0 - _BELOW)),
        (sample[below], (1.0 - _SHARE) * _BELOW),
    )
    # The parts take turns, so that each has its share of any beginning.
    turn = np.concatenate([(np.arange(len(part)) + 0.5) / share for part, share in parts])
    order = np.concatenate([part for part, _ in parts])[np.argsort(turn, kind="stable")]
    _, first = np.unique(order, return_index=True)
    return order[np.sort(first)]


def without_repeats(pairs: Array, n: int) -> Array:
    """Take the first `n` pairs that share no row, then others if there are too few."""
    taken = np.array(list(islice(disjoint(pairs), n)), dtype=np.intp)
    is_spare = np.ones(len(pairs), dtype=bool)
    is_spare[taken] = False
    return pairs[np.concatenate([taken, np.flatnonzero(is_spare)])[:n]]


def disjoint(pairs: Array) -> Iterator[int]:
    """Yield the places of pairs that share no row with any yielded before."""
    used: set[int] = set()
    for place, pair in enumerate(map(np.ndarray.tolist, pairs)):
        if used.isdisjoint(pair):
            used.update(pair)
            yield place
