"""Find the records that describe the same thing, from a few answers of the kind same/different."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.neighbors import NearestNeighbors
from sklearn.utils import check_random_state

from .._decisions import HeldOut, held_out
from .._marks import Marks, PairLabels, Rows
from .._utils._typing import Array
from .._utils._validation import check_number, check_seed, shown
from ._candidates import CandidateDecision
from ._column_weights import ColumnWeights, block_gaps
from ._groups import grouped
from ._vectors import RecordVectors, as_columns

# The search for neighbors uses the leading directions; the candidates are then measured in full.
_SEARCHED = 96
_PAIRS_AT_ONCE = 50_000
# Rows beside the answered ones that give the scale of a metric out of fold.
_SCALE_ROWS = 2000
# A question is one of so many times as many pairs that the model is least sure of.
_UNSURE = 10


@dataclass(frozen=True)
class Duplicates:
    """What :class:`DuplicateFinder` has found.

    Parameters
    ----------
    pairs : ndarray of int of shape (k, 2)
        Pairs of rows that are the same, the surest first. When two tables are compared, the
        second number is a row of the other table.
    probability : ndarray of shape (k,)
        Calibrated probability of each pair; 1 for pairs that were answered.
    group : ndarray of int of shape (n,)
        The group of each row, from 0; -1 for rows without a duplicate.
    other_group : ndarray of int of shape (n_other,)
        The groups of the rows of the other table; empty if there is none.
    threshold : float
        Learned distance up to which a pair was accepted.
    precision, recall : tuple of (value, low, high)
        Expected share of the found pairs that are right, and of the right candidates that are
        found, with ranges of 95 %. Both rest on distances out of fold.
    n_candidates : int
        Number of pairs that were looked at.
    weights : dict of str to float
        Share of each column in the mean squared distance of the candidates.

    Examples
    --------
    >>> import numpy as np
    >>> from seraph.records import Duplicates
    >>> found = Duplicates(
    ...     pairs=np.array([[0, 2]]),
    ...     probability=np.array([0.98]),
    ...     group=np.array([0, -1, 0]),
    ...     other_group=np.array([], dtype=int),
    ...     threshold=1.7,
    ...     precision=(0.97, 0.93, 0.99),
    ...     recall=(0.95, 0.90, 0.98),
    ...     n_candidates=3,
    ... )
    >>> found.n_groups
    1
    """

    pairs: Array
    probability: Array
    group: Array
    other_group: Array
    threshold: float
    precision: tuple[float, float, float]
    recall: tuple[float, float, float]
    n_candidates: int
    weights: dict[str, float] = field(default_factory=dict)

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return int(max(self.group.max(initial=-1), self.other_group.max(initial=-1))) + 1


class DuplicateFinder(BaseEstimator):
    r"""Find records of one table, or of two, that describe the same thing.

    Records become vectors: letter pairs of the text, scaled numbers and dates, a block for each
    column and one for all text together. A missing cell counts neither for nor against. From a
    hundred answers, ``find`` learns what each column is worth, looks at the nearest
    neighbors of every record, accepts those that are near enough for the wanted precision, and
    puts them into groups. ``questions`` chooses the pairs to answer.

    Parameters
    ----------
    n_neighbors : int, default=10
        Neighbors of each record to look at. More finds larger groups, and takes longer.
    text : collection of str, default=()
        Columns to compare letter by letter, although they hold numbers.
    random_state : int, RandomState instance or None, default=None
        Seed of the choice of questions.

    Examples
    --------
    >>> import numpy as np
    >>> from seraph.records import DuplicateFinder
    >>> rng = np.random.default_rng(0)
    >>> names = ["".join(rng.choice(list("abcdefghiklmnoprstu"), 9)) for _ in range(60)]
    >>> towns = [str(town) for town in rng.choice(["Ulm", "Bern", "Graz"], 60)]
    >>> slips = [name[:4] + "x" + name[5:] for name in names[:40]]
    >>> people = {"name": names + slips, "town": towns + towns[:40]}
    >>> finder = DuplicateFinder().fit(people)
    >>> pairs = finder.questions(40)
    >>> same = pairs[:, 1] - pairs[:, 0] == 60  # you would know
    >>> found = finder.find(pairs, same, precision=0.9)
    >>> right = found.pairs[:, 1] - found.pairs[:, 0] == 60
    >>> bool(right.mean() > 0.9), bool(right.sum() > 30)
    (True, True)
    """

    def __init__(
        self,
        n_neighbors: int = 10,
        *,
        text: Collection[str] = (),
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.text = text
        self.random_state = random_state

    def fit(self, X: Any, other: Any = None) -> Self:
        """Turn the records into vectors.

        Parameters
        ----------
        X : data frame or dict of columns
            Records: text, numbers and dates, any of which may be missing.
        other : data frame or dict of columns, optional
            A second table with the same columns. Pairs are then made of one record of each.

        Returns
        -------
        DuplicateFinder
            The finder.
        """
        check_number("n_neighbors", self.n_neighbors, low=1, integer=True)
        check_seed(self.random_state)
        if not isinstance(self.text, Collection) or np.array(self.text, dtype=object).ndim == 0:
            raise ValueError(f"text must be a list of names of columns; got {shown(self.text)}.")
        columns = as_columns(X)
        self.n_, self.links_ = len(next(iter(columns.values()))), other is not None
        if other is not None:
            columns = _stacked(columns, as_columns(other))
        for name in self.text:
            if name not in columns:
                raise ValueError(
                    f"text names a column {shown(name)}, which the records do not have."
                )
        vectors = RecordVectors(self.text).fit(columns)
        if not vectors.text_:
            raise ValueError(
                "No column holds text: duplicates are found by the letters of names, addresses or "
                "codes. Name columns of numbers to compare letter by letter, or learn a distance "
                "from the numbers with SERAPH."
            )
        self.Z_ = vectors.transform(columns)
        if not vectors.blocks_ or len(self.Z_) < 3:
            raise ValueError(
                f"{len(self.Z_)} records with {len(vectors.blocks_)} columns that differ: there "
                "is nothing to compare."
            )
        self.block_of_, self.blocks_ = vectors.block_of_, vectors.names_
        return self

    def candidates(self) -> Array:
        """List the pairs of records that are neighbors, before anything is learned.

        Returns
        -------
        ndarray of int of shape (k, 2)
            Pairs of rows, as in :class:`Duplicates`, each once.
        """
        return self._named(self._candidates(self.Z_))

    def questions(
        self,
        n: int = 50,
        pairs: ArrayLike | None = None,
        answers: ArrayLike | None = None,
    ) -> Array:
        """Choose pairs to ask a person about; no record is in two of them, if that is possible.

        Without answers, the pairs are neighbors spread evenly over the range of their distances.
        With answers of both kinds, they are pairs that the model is unsure of.

        Parameters
        ----------
        n : int, default=50
            Number of pairs.
        pairs : array-like of int of shape (k, 2), optional
            Pairs that were answered.
        answers : array-like of shape (k,), optional
            The answers: True, 1 for the same; False, 0 or -1 for different.

        Returns
        -------
        ndarray of int of shape (n, 2)
            Pairs of rows, as in :class:`Duplicates`.
        """
        check_number("n", n, low=1, integer=True)
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31))
        labels = None if pairs is None else self._labels(pairs, answers)
        known = np.empty((0, 2), dtype=np.intp) if labels is None else labels.pairs
        learned = labels is not None and min(labels.n_similar, labels.n_dissimilar) >= 2
        Z = self.Z_
        if labels is not None and learned:
            learner = self._learner(labels)
            Z = learner.transform(Z)
        candidates = self._candidates(Z)
        answered = _keys(candidates, len(Z))
        candidates = candidates[~np.isin(answered, _keys(known, len(Z)))]
        if len(candidates) == 0:
            raise ValueError("All neighboring pairs are answered: there is nothing to ask.")
        d = _distances(Z, candidates)
        if learned:
            unsure = np.abs(learner.offset_ - d**2)
            near = np.argsort(unsure, kind="stable")[: _UNSURE * n]
            order = rng.permutation(near)
        else:
            order = _evenly(d, n, rng)
        return self._named(candidates[_without_repeats(candidates[order], n, order)])

    def find(self, pairs: ArrayLike, answers: ArrayLike, *, precision: float = 0.95) -> Duplicates:
        """Find the duplicates.

        Parameters
        ----------
        pairs : array-like of int of shape (k, 2)
            Pairs of rows that were answered, about a hundred of both kinds.
        answers : array-like of shape (k,)
            The answers: True, 1 for the same; False, 0 or -1 for different.
        precision : float, default=0.95
            Share of the accepted pairs that is to be right. Of the distances that reach it, the
            largest is taken.

        Returns
        -------
        Duplicates
            Pairs, groups, and what was reached.
        """
        check_number("precision", precision, low=0, high=1)
        labels = self._labels(pairs, answers)
        _check_both_kinds(labels)
        learner = self._learner(labels)
        Z = learner.transform(self.Z_)
        candidates = self._candidates(Z)
        d = _distances(Z, candidates)
        decision = CandidateDecision.reach(self._held_out(learner, labels), d, precision)
        known, said = _keys(labels.pairs, len(Z)), labels.similar
        free = ~np.isin(_keys(candidates, len(Z)), known)
        accepted = free & (d <= decision.threshold)
        found = np.concatenate([labels.pairs[said], candidates[accepted]])
        gaps = np.concatenate([np.zeros(int(said.sum())), d[accepted]])
        p = np.concatenate([np.ones(int(said.sum())), decision.probability(d[accepted])])
        group = grouped(Z, found, gaps, decision.threshold, labels)
        i, j = found.T
        order = np.lexsort([j, i, -p])
        order = order[(group[i] == group[j])[order]]
        together = accepted & (group[candidates[:, 0]] == group[candidates[:, 1]])
        reached = decision.predicted(d[together], d[free & ~together], int(said.sum()))
        return Duplicates(
            pairs=self._named(found[order]),
            probability=p[order],
            group=group[: self.n_],
            other_group=group[self.n_ :],
            threshold=decision.threshold,
            precision=reached[0],
            recall=reached[1],
            n_candidates=len(candidates),
            weights=self._shares(learner, candidates),
        )

    def _labels(self, pairs: ArrayLike, answers: ArrayLike | None) -> PairLabels:
        """Check answers; number the rows of the other table after those of the first."""
        if not hasattr(self, "Z_"):
            raise ValueError("This DuplicateFinder has no records yet: call fit first.")
        rows = np.asarray(pairs)
        if self.links_ and rows.ndim == 2 and rows.shape[1] == 2:
            sizes = (self.n_, len(self.Z_) - self.n_)
            sides = [
                Rows(size).numbers(side[:, np.newaxis], width=1)[:, 0]
                for side, size in zip(rows.T, sizes, strict=True)
            ]
            rows = np.column_stack([sides[0], sides[1] + self.n_])
        given = np.asarray(answers)
        if given.dtype.kind in "iu":
            given = given > 0
        n = len(self.Z_)
        return PairLabels.make(n, None, Marks(rows, given, rows=n))

    def _named(self, pairs: Array) -> Array:
        """Return pairs as the user numbers them."""
        return pairs - np.array([0, self.n_]) if self.links_ else pairs

    def _learner(self, labels: PairLabels) -> ColumnWeights:
        return ColumnWeights(self.block_of_).fit(self.Z_, marks=labels.marks)

    def _held_out(self, learner: ColumnWeights, labels: PairLabels) -> HeldOut:
        """Measure the answered pairs out of fold, on as many rows as that takes."""
        n = len(self.Z_)
        some = np.random.default_rng(0).choice(n, min(n, _SCALE_ROWS), replace=False)
        rows = np.union1d(some, labels.pairs)
        known = PairLabels.make(len(rows), None, labels.marks[rows])

        def refit(part: Array, train: PairLabels, _: Array) -> ColumnWeights:
            return ColumnWeights(self.block_of_).fit(part, marks=train.marks)

        return held_out(learner, self.Z_[rows], known, 5, refit)

    def _shares(self, learner: ColumnWeights, candidates: Array) -> dict[str, float]:
        some = np.random.default_rng(0).permutation(len(candidates))[:_SCALE_ROWS]
        gaps = block_gaps(self.Z_, candidates[some], self.block_of_).mean(axis=0)
        shares = learner.weights_ * gaps
        shares = shares / (shares.sum() or 1.0)
        return {name: float(share) for name, share in zip(self.blocks_, shares, strict=True)}

    def _candidates(self, Z: Array) -> Array:
        """Pair each row with its nearest neighbors, of the other table if there is one."""
        Z = _leading(Z)
        if not self.links_:
            k = min(self.n_neighbors + 1, len(Z))
            return _pairs_with(np.arange(len(Z)), self._nearest(Z, Z, k))
        first, second = Z[: self.n_], Z[self.n_ :]
        there = self._nearest(second, first, min(self.n_neighbors, len(second)))
        back = self._nearest(first, second, min(self.n_neighbors, len(first)))
        both = [
            _pairs_with(np.arange(self.n_), there + self.n_),
            _pairs_with(np.arange(self.n_, len(Z)), back),
        ]
        return np.unique(np.concatenate(both), axis=0)

    def _nearest(self, among: Array, of: Array, k: int) -> Array:
        search = NearestNeighbors(n_neighbors=k, algorithm="brute").fit(among)
        return np.asarray(search.kneighbors(of, return_distance=False))


def _stacked(columns: dict[str, Array], others: dict[str, Array]) -> dict[str, Array]:
    if set(columns) != set(others):
        here, there = sorted(set(columns) - set(others)), sorted(set(others) - set(columns))
        raise ValueError(
            f"The two tables have different columns: {here or 'none'} only in the first, "
            f"{there or 'none'} only in the second. Give both the same."
        )
    stacked = {}
    for name, values in columns.items():
        pair = [values, others[name]]
        if values.dtype.kind != others[name].dtype.kind and not all(
            part.dtype.kind in "biuf" for part in pair
        ):
            pair = [part.astype(object) for part in pair]
        stacked[name] = np.concatenate(pair)
    return stacked


def _leading(Z: Array) -> Array:
    """Project on the directions in which the rows differ most."""
    if Z.shape[1] <= _SEARCHED:
        return np.ascontiguousarray(Z)
    centered = Z - Z.mean(axis=0)
    _, directions = np.linalg.eigh((centered.T @ centered).astype(np.float64))
    return np.ascontiguousarray(centered @ directions[:, -_SEARCHED:].astype(Z.dtype))


def _pairs_with(rows: Array, neighbors: Array) -> Array:
    """List the pairs of rows with their neighbors, each once, smaller row first."""
    pairs = np.column_stack([np.repeat(rows, neighbors.shape[1]), neighbors.ravel()])
    pairs = np.sort(pairs[pairs[:, 0] != pairs[:, 1]], axis=1)
    return np.unique(pairs, axis=0)


def _keys(pairs: Array, n: int) -> Array:
    return pairs[:, 0].astype(np.int64) * n + pairs[:, 1]


def _distances(Z: Array, pairs: Array) -> Array:
    d = np.empty(len(pairs))
    for start in range(0, len(pairs), _PAIRS_AT_ONCE):
        part = slice(start, start + _PAIRS_AT_ONCE)
        gap = Z[pairs[part, 0]] - Z[pairs[part, 1]]
        d[part] = np.sqrt(np.einsum("ir,ir->i", gap, gap, dtype=np.float64))
    return d


def _evenly(d: Array, n: int, rng: np.random.Generator) -> Array:
    """Order pairs so that the first of them are spread evenly over the range of distances."""
    low, high = d.min(), d.max()
    bins = np.minimum((n * (d - low) / ((high - low) or 1.0)).astype(np.intp), n - 1)
    shuffled = rng.permutation(len(d))
    shuffled = shuffled[np.argsort(bins[shuffled], kind="stable")]
    ordered = bins[shuffled]
    first = np.searchsorted(ordered, ordered)
    turn = np.arange(len(d)) - first  # the how-manieth of its bin
    return shuffled[np.lexsort([ordered, turn])]


def _without_repeats(pairs: Array, n: int, order: Array) -> Array:
    """Take the first `n` pairs in order that share no row, then others if there are too few."""
    used: set[int] = set()
    taken: list[int] = []
    spare: list[int] = []
    for place, (i, j) in zip(order.tolist(), pairs.tolist(), strict=True):
        if len(taken) == n:
            break
        if i in used or j in used:
            spare.append(place)
            continue
        used |= {i, j}
        taken.append(place)
    return np.array([*taken, *spare][:n], dtype=np.intp)


def _check_both_kinds(labels: PairLabels) -> None:
    if not (labels.n_similar and labels.n_dissimilar):
        kind = "the same" if labels.n_similar else "different"
        raise ValueError(
            f"All {len(labels.pairs)} answers say {kind}: a decision needs pairs of both kinds. "
            "Answer more."
        )
