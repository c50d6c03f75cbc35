"""Sums over the pairs of some rows, which stand for all rows.

Where most pairs are labeled, tiles of randomly ordered rows would not do: rows are sorted by
class. But the pairs of a random subset of the rows estimate all sums, whatever their terms.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from .._utils._typing import Array, computed_once
from ._design import stratified
from ._terms import PairTerms, Sweep, Variable


class SubsetSweep:
    """Estimates of the sums of a sweep, from the pairs of a subset of its rows.

    Listed pairs are not sampled. All are summed, without the unlabeled terms that are to be
    subtracted from theirs.

    Parameters
    ----------
    whole : Sweep
        The sweep over all rows.
    n, n_labeled : int
        Number of rows whose pairs count, and how many of them are class-labeled: these come first.
    size : int
        Number of rows to take.
    make : callable
        Takes numbers of rows, and makes a sweep over the pairs of these.
    """

    def __init__(
        self, whole: Sweep, n: int, n_labeled: int, size: int, make: Callable[[Array], Sweep]
    ) -> None:
        self.whole, self._make = whole, make
        self.rows = stratified(n, n_labeled, size)
        self.share = len(self.rows) * (len(self.rows) - 1) / (n * (n - 1))
        self._n_labeled = int(np.searchsorted(self.rows, n_labeled))
        self._codes: tuple[Array | None, Array] = None, self.rows[:0]
        self.name, self.device = whole.name, whole.device
        self.n_features, self.rounding = whole.n_features, whole.rounding
        self.n_sweeps = 0

    def scatter(self) -> None:
        """Nothing: see `Sweep`."""

    def shares(self, terms: PairTerms, *, near: bool = False) -> tuple[float, ...]:  # noqa: ARG002
        """Nothing: see `Sweep`."""
        return ()

    @computed_once
    def _some(self) -> Sweep:
        return self._make(self.rows)

    def __call__(self, P: Array, terms: PairTerms, wrt: Variable) -> tuple[float, Array]:
        """Estimate the sum of the pair terms, and differentiate the estimate: see `Sweep`."""
        self.n_sweeps += 1
        known, codes = self._codes
        if known is not terms.codes:
            codes = terms.codes[self.rows[: self._n_labeled]]
            self._codes = terms.codes, codes
        here = PairTerms(codes, eta=terms.eta, mu=terms.mu, q=terms.q)
        value, gradient = self._some(P, here, wrt)
        value, gradient = value / self.share, gradient / self.share
        if len(terms.pairs):
            listed = replace(terms, codes=terms.codes[:0], mu=0.0, q=None)
            more, slope = self.whole(P, listed, wrt)
            value, gradient = value + more, gradient + slope
        return value, gradient
