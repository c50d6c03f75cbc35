"""Find the records that describe the same thing, from a few answers of the kind same/different."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from .._utils._folds import deal_classes
from .._utils._questions import open_questions, spread_evenly, without_repeats
from .._utils._rows import row_numbers
from .._utils._typing import Array, Interval
from .._utils._validation import check_number, check_seed, shown
from ._answers import Answers
from ._candidates import neighbor_pairs, rarest_terms
from ._columns import as_columns, stacked
from ._groups import best_partners, grouped, pairs_within
from ._line import Curves, Line, outcome
from ._model import PairModel, sampled
from ._similarities import Similarities

_FOLDS = 10
_MORE = 50  # answers whose worth is predicted
_PAIRS_AT_ONCE = 200_000
# A group may have more records than neighbors are looked at. Where half the neighbors of a record
# or more are accepted, twice as many are looked at, up to this number.
_MOST_NEIGHBORS = 320


@dataclass(frozen=True)
class Duplicates:
    """What :class:`DuplicateFinder` has found.

    Parameters
    ----------
    pairs : ndarray of int of shape (k, 2)
        Pairs of rows that are the same, the surest first: all pairs within groups. When two
        tables are compared, the second number is a row of the other table.
    probability : ndarray of shape (k,)
        Calibrated probability of each pair; of a pair that was answered, given the answer.
    group : ndarray of int of shape (n,)
        The group of each row, from 0; -1 for rows without a duplicate.
    other_group : ndarray of int of shape (n_other,)
        The groups of the rows of the other table; empty if there is none.
    threshold : float
        Probability from which a pair was accepted.
    precision, recall : tuple of (value, low, high)
        Expected share of the found pairs that are right, and of the right candidates that are
        found, with ranges of 95 %.
    n_candidates : int
        Number of pairs that were looked at.
    n_new : int
        Number of found pairs that were not answered.
    new_precision, new_recall : tuple of (value, low, high)
        Precision and recall of the pairs that were not answered.
    n_same : tuple of (value, low, high)
        Number of candidates that are the same, found or not.
    more_recall : tuple of (value, low, high)
        The recall with about its range after 50 more answers.
    n_wrong : tuple of (value, low, high)
        Number of wrong answers.
    suspicious : ndarray of int of shape (k, 2)
        Answered pairs whose answers are likelier wrong than right, or contradict others; the
        oddest first. They were decided without their answers. An answer that is given twice is
        never among them.
    weights : dict of str to float
        Share of each column in the decision.
    note : str
        What to know about the result; empty if there is nothing.

    Examples
    --------
    >>> import numpy as np
    >>> from seraph.records import Duplicates
    >>> found = Duplicates(
    ...     pairs=np.array([[0, 2]]),
    ...     probability=np.array([0.98]),
    ...     group=np.array([0, -1, 0]),
    ...     other_group=np.array([], dtype=int),
    ...     threshold=0.7,
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
    precision: Interval
    recall: Interval
    n_candidates: int
    n_new: int = 0
    new_precision: Interval = (0.0, 0.0, 1.0)
    new_recall: Interval = (0.0, 0.0, 1.0)
    n_same: Interval = (0.0, 0.0, np.inf)
    more_recall: Interval = (0.0, 0.0, 1.0)
    n_wrong: Interval = (0.0, 0.0, 0.0)
    suspicious: Array = field(default_factory=lambda: np.empty((0, 2), dtype=np.intp))
    weights: dict[str, float] = field(default_factory=dict)
    note: str = ""

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return int(max(self.group.max(initial=-1), self.other_group.max(initial=-1))) + 1


class DuplicateFinder(BaseEstimator):
    r"""Find records of one table, or of two, that describe the same thing.

    The nearest neighbors of each record, by the letters and words of all its text, are candidates.
    Each candidate is described by how similar its records are in every column: letters, words,
    edits, numbers and dates. From a hundred answers and all the other candidates, ``find`` learns
    how likely such a pair is the same, draws the line, and puts what it accepts into groups.
    ``questions`` chooses the pairs to answer.

    Parameters
    ----------
    n_neighbors : int, default=10
        Neighbors of each record to look at first. ``find`` looks at more of them where all are
        the same.
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
    >>> found = finder.find(pairs, same)
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
        """Compare each record with its neighbors.

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
        n_first = len(next(iter(columns.values())))
        if other is not None:
            columns = stacked(columns, as_columns(other))
        for name in self.text:
            if name not in columns:
                raise ValueError(
                    f"text names a column {shown(name)}, which the records do not have."
                )
        n = len(next(iter(columns.values())))
        similarities = Similarities(columns, self.text)
        if similarities.vectors is None:
            raise ValueError(
                "No column holds text: duplicates are found by the letters of names, addresses or "
                "codes. Name columns of numbers to compare letter by letter, or learn a distance "
                "from the numbers with MeanMetric."
            )
        searched = rarest_terms(similarities.vectors)
        pairs = neighbor_pairs(searched, np.arange(n), self.n_neighbors, n_first)
        if similarities.n_columns == 0 or n < 3 or len(pairs) == 0:
            raise ValueError(
                f"{n} records with {similarities.n_columns} columns that differ, and {len(pairs)} "
                "pairs that have anything in common: there is nothing to compare."
            )
        similarities.compete(pairs)
        self.n_, self.n_all_, self.links_ = n_first, n, other is not None
        self.searched_, self.similarities_ = searched, similarities
        self.pairs_, self.features_ = pairs, similarities(pairs)
        self.prior_ = PairModel.prior(self.features_, similarities.usual)
        return self

    def candidates(self) -> Array:
        """List the pairs of records that are neighbors.

        Returns
        -------
        ndarray of int of shape (k, 2)
            Pairs of rows, as in :class:`Duplicates`, each once.
        """
        return self._named(self.pairs_)

    def questions(
        self,
        n: int = 50,
        pairs: ArrayLike | None = None,
        answers: ArrayLike | None = None,
    ) -> Array:
        """Choose pairs to ask a person about; no record is in two of them, if that is possible.

        Without answers, the pairs are neighbors spread evenly from the most to the least similar.
        With answers of both kinds, suspicious ones are asked again first. Of the others, two
        thirds are spread evenly over the probabilities that the answers leave open, and the rest
        are a stratified sample of all neighbors, most of them below the line: these tell how many
        duplicates are missed.

        Parameters
        ----------
        n : int, default=50
            Number of pairs.
        pairs : array-like of int of shape (k, 2), optional
            Pairs that were answered.
        answers : array-like of shape (k,), optional
            The answers, as in ``find``.

        Returns
        -------
        ndarray of int of shape (n, 2)
            Pairs of rows, as in :class:`Duplicates`.
        """
        check_number("n", n, low=1, integer=True)
        known = None if pairs is None else self._answers(pairs, answers)
        asked = np.empty((0, 2), dtype=np.intp) if known is None else known.pairs
        seed = check_random_state(self.random_state).randint(2**31)
        rng = np.random.default_rng([seed, len(asked)])
        free = np.flatnonzero(~self._among(self.pairs_, asked))
        if len(free) == 0:
            raise ValueError("All neighboring pairs are answered: there is nothing to ask.")
        again = asked[:0]
        if known is not None and min(known.same.sum(), (~known.same).sum()) >= 2:
            model, _, true = self._weigh(known)
            odd = known.credible(true)[1]
            again = asked[odd[known.times[odd] == 1][: n - 1]]
            margins = model.margins(self.features_[free])
            p = expit(margins)
            order = free[open_questions(p, n - len(again), rng)]
        else:
            order = free[spread_evenly(self.prior_.margins(self.features_[free]), n, rng)]
        new = without_repeats(self.pairs_[order], n - len(again))
        return self._named(np.concatenate([again, new]))

    def suspicious(self, pairs: ArrayLike, answers: ArrayLike) -> Array:
        """List the answers that look wrong, without finding anything.

        Parameters
        ----------
        pairs : array-like of int of shape (k, 2)
            Pairs that were answered, some of both kinds.
        answers : array-like of shape (k,)
            The answers, as in ``find``.

        Returns
        -------
        ndarray of int of shape (m, 2)
            Answered pairs, as in ``suspicious`` of :class:`Duplicates`.
        """
        said = self._answers(pairs, answers)
        _check_kinds(said.same)
        return self._named(said.pairs[said.credible(self._weigh(said)[2])[1]])

    def find(
        self,
        pairs: ArrayLike,
        answers: ArrayLike,
        *,
        precision: float | None = None,
        one_to_one: bool = False,
    ) -> Duplicates:
        """Find the duplicates.

        Parameters
        ----------
        pairs : array-like of int of shape (k, 2)
            Pairs of rows that were answered, about a hundred of both kinds. If a pair is there
            twice, its last answer counts.
        answers : array-like of shape (k,)
            The answers: True, 1 for the same; False, 0 or -1 for different. A few may be wrong:
            an answer that is likelier wrong than right is set aside, unless it was given twice.
        precision : float, optional
            Share of the accepted pairs that is to be right. As many pairs are accepted as reach
            it. If none do, the best reachable precision is taken, and the note says so. By
            default, pairs that are likelier the same than different are accepted.
        one_to_one : bool, default=False
            Whether a record of one table is at most one record of the other.

        Returns
        -------
        Duplicates
            Pairs, groups, and what was reached.
        """
        if precision is not None:
            check_number("precision", precision, low=0, high=1)
        if one_to_one and not self.links_:
            raise ValueError("one_to_one needs two tables: pass the other one to fit.")
        said = self._answers(pairs, answers)
        same = said.same
        _check_kinds(same)
        model, curves, true = self._weigh(said)
        candidates, margins, line = self._lined(model, curves, precision)
        kept, odd = said.credible(true)
        labels = said.labels(kept)
        free = ~self._among(candidates, labels.pairs)
        accepted = free & (margins >= line.margin)
        linked = labels.pairs[labels.similar]
        found = np.concatenate([linked, candidates[accepted]])
        p = np.concatenate([np.ones(len(linked)), line.probability(margins[accepted])])
        if one_to_one:
            best = best_partners(found, p)
            found, p = found[best], p[best]

        def probability_of(some: Array) -> Array:
            return line.probability(self._margins(model, some))

        group = grouped(self.n_all_, found, p, line.threshold, labels, probability_of)
        found = pairs_within(group)
        if self.links_:
            found = found[(found[:, 0] < self.n_) & (found[:, 1] >= self.n_)]
        taken = self._margins(model, found)
        place, new = self._places(found, said.pairs)
        p = np.where(new, line.probability(taken), true[place])
        left = margins[~self._among(candidates, np.concatenate([found, said.pairs]))]
        parts = taken[new], left, self._among(said.pairs, found)
        reached = outcome(curves, *parts)
        more = 1.0 + _MORE / len(same)  # as if so many more answers said what these do
        later = Curves.given(curves.margins, same, self._unlabeled(model), said.times, more)
        order = np.lexsort([found[:, 1], found[:, 0], -p])
        return Duplicates(
            pairs=self._named(found[order]),
            probability=p[order],
            group=group[: self.n_],
            other_group=group[self.n_ :],
            threshold=line.threshold,
            **reached._asdict(),
            n_new=int(new.sum()),
            more_recall=outcome(later, *parts).recall,
            n_wrong=curves.n_wrong(),
            suspicious=self._named(said.pairs[odd]),
            n_candidates=len(candidates) + int((~self._among(said.pairs, candidates)).sum()),
            weights=self._shares(model),
            note=_note(precision, line.reachable, reached.new_precision[0]),
        )

    def _answers(self, pairs: ArrayLike, answers: ArrayLike | None) -> Answers:
        """Check answers; number the rows of the other table after those of the first."""
        if not hasattr(self, "pairs_"):
            raise ValueError("This DuplicateFinder has no records yet: call fit first.")
        rows = np.asarray(pairs)
        if self.links_ and rows.ndim == 2 and rows.shape[1] == 2:
            sizes = (self.n_, self.n_all_ - self.n_)
            sides = [
                row_numbers("pairs", side[:, np.newaxis], 1, size)[:, 0]
                for side, size in zip(rows.T, sizes, strict=True)
            ]
            rows = np.column_stack([sides[0], sides[1] + self.n_])
        return Answers.of(self.n_all_, row_numbers("pairs", rows, 2, self.n_all_), answers)

    def _named(self, pairs: Array) -> Array:
        """Return pairs as the user numbers them."""
        return pairs - np.array([0, self.n_]) if self.links_ else pairs

    def _places(self, pairs: Array, others: Array) -> tuple[Array, Array]:
        """Return the place of each pair among others, which are in order, and which are not."""
        keys, known = (rows @ [self.n_all_, 1] for rows in (pairs, others))
        place = np.minimum(np.searchsorted(known, keys), len(known) - 1)
        return place, known[place] != keys

    def _among(self, pairs: Array, others: Array) -> Array:
        """Return which pairs are also among the others."""
        keys, known = (
            rows[:, 0].astype(np.int64) * self.n_all_ + rows[:, 1] for rows in (pairs, others)
        )
        return np.isin(keys, known)

    def _margins(self, model: PairModel, pairs: Array) -> Array:
        """Return the margins of any pairs, in parts to save memory."""
        parts = np.array_split(pairs, len(pairs) // _PAIRS_AT_ONCE + 1)
        return np.concatenate([model.margins(self.similarities_(part)) for part in parts])

    def _unlabeled(self, model: PairModel) -> Array:
        """Return the margins of the pairs that the model's entropy is about."""
        return model.margins(sampled(self.features_))

    def _model(self, features: Array, same: Array, times: Array | int = 1) -> PairModel:
        """Learn from answers."""
        return self.prior_.learned(features, same, self.features_, times)

    def _weigh(self, said: Answers) -> tuple[PairModel, Curves, Array]:
        """Return the model, its calibration, and how likely each answered pair is the same."""
        features = self.similarities_(said.pairs)
        model = self._model(features, said.same, said.times)
        known = np.stack([model.margins(features), self._held_out(features, said)])
        curves = Curves.given(known, said.same, self._unlabeled(model), said.times)
        return model, curves, curves.truth().mean(axis=1)

    def _held_out(self, features: Array, said: Answers) -> Array:
        """Return the cross-validated margins of the answered pairs."""
        same = said.same
        margins = np.empty(len(same))
        order = np.argsort(np.random.default_rng(0).permutation(len(same)))
        fold = deal_classes(same.astype(np.intp), _FOLDS, order)
        for number in np.unique(fold):
            out = fold == number
            model = self._model(features[~out], same[~out], said.times[~out])
            margins[out] = model.margins(features[out])
        return margins

    def _lined(
        self, model: PairModel, curves: Curves, precision: float | None
    ) -> tuple[Array, Array, Line]:
        """Return candidates, their margins and the line; look farther where groups are large."""
        candidates, margins = self.pairs_, model.margins(self.features_)
        k = self.n_neighbors
        while True:
            line = Line.draw(curves, margins, precision)
            counts = np.bincount(candidates[margins >= line.margin].ravel(), minlength=self.n_all_)
            full = np.flatnonzero(counts >= 0.5 * k)
            k *= 2
            if len(full) == 0 or k > _MOST_NEIGHBORS:
                return candidates, margins, line
            more = neighbor_pairs(self.searched_, full, k, self.n_)
            more = more[~self._among(more, candidates)]
            candidates = np.concatenate([candidates, more])
            margins = np.concatenate([margins, self._margins(model, more)])

    def _shares(self, model: PairModel) -> dict[str, float]:
        shares: dict[str, float] = {}
        total = float(np.abs(model.weights).sum()) or 1.0
        for name, weight in zip(self.similarities_.columns, model.weights.tolist(), strict=True):
            shares[name] = shares.get(name, 0.0) + abs(weight) / total
        return shares


def _check_kinds(same: Array) -> None:
    if same.all() or not same.any():
        kind = "the same" if same.any() else "different"
        raise ValueError(
            f"Every answer so far is {kind!r} ({len(same)}): a decision needs pairs of both "
            "kinds. Answer more."
        )


def _note(wanted: float | None, reachable: float, reached: float) -> str:
    """Say in words if the wanted precision cannot be reached; "" if it can."""
    if wanted is None or reachable >= wanted:
        return ""
    return (
        f"A precision of {wanted:g} cannot be reached with these answers: "
        f"{min(reached, reachable):.3f} is expected of the new pairs. More answers may reach more."
    )
