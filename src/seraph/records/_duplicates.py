"""Find the records that describe the same thing, from a few answers of the kind same/different."""

from __future__ import annotations

from collections.abc import Collection
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.random import default_rng
from numpy.typing import ArrayLike
from scipy.special import expit
from scipy.stats import mannwhitneyu
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state, check_scalar

from .. import Marks
from .._utils._typing import Array
from ._answers import Answers
from ._candidates import neighbor_pairs, rarest_terms
from ._columns import as_frame
from ._groups import best_partners, components, grouped, pairs_within
from ._line import Curves, Line, Outcome, outcome
from ._model import PairModel, Stack
from ._questions import open_questions, spread_evenly, without_repeats
from ._result import Duplicates
from ._similarities import Similarities

_FOLDS = 5
_UNLABELED = 2000  # candidates without an answer that the calibration sees
# Neighbors of each record to look at first, for as many pairs.
_NEIGHBORS, _PAIRS = (3, 10), 500_000
# A group may have more records than neighbors are looked at. Where half the neighbors of a record
# or more are accepted, twice as many are looked at, up to this number.
_MOST_NEIGHBORS = 320
# Answers as a whole are doubtful if the similar pairs are less similar than the others, by a test
# at this level, or if at least this share looks wrong, or this share may be.
_CHANCE, _MANY, _PERHAPS = 0.01, 0.15, 0.25
# A range of F1 that is wider than this says little.
_WIDE = 0.35


class DuplicateFinder(BaseEstimator):
    r"""Find records of one table, or of two, that describe the same thing.

    The nearest neighbors of each record, by the letters and words of all its text, are candidates.
    Each candidate is described by how similar its records are in every column: letters, words,
    edits, numbers and dates. From a hundred answers and all the other candidates, ``find`` learns
    how likely such a pair is the same, draws the line, and puts what it accepts into groups.
    ``questions`` chooses the pairs to answer.

    Parameters
    ----------
    n_neighbors : int, optional
        Neighbors of each record to look at first: 10 by default, and fewer above 50,000 records,
        down to 3. ``find`` looks at more of them where half of them are the same.
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
        n_neighbors: int | None = None,
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
        if self.n_neighbors is not None:
            check_scalar(self.n_neighbors, "n_neighbors", Integral, min_val=1)
        if isinstance(self.text, str):
            raise ValueError(f"text must be a list of names of columns; got {self.text!r}.")
        n_first, records = len(as_frame(X)), as_frame(X, other)
        for name in self.text:
            if name not in records:
                raise ValueError(f"text names a column {name!r}, which the records do not have.")
        n = len(records)
        similarities = Similarities(records, self.text)
        if similarities.vectors is None:
            raise ValueError(
                "No column holds text: duplicates are found by the letters of names, addresses or "
                "codes. Name columns of numbers to compare letter by letter, or learn a distance "
                "from the numbers with MeanMetric."
            )
        searched = rarest_terms(similarities.vectors)
        k = self.n_neighbors or int(np.clip(_PAIRS / n, *_NEIGHBORS))
        pairs = neighbor_pairs(searched, np.arange(n), k, n_first)
        if similarities.n_columns == 0 or n < 3 or len(pairs) == 0:
            raise ValueError(
                f"{n} records with {similarities.n_columns} columns that differ, and {len(pairs)} "
                "pairs that have anything in common: there is nothing to compare."
            )
        similarities.compete(pairs)
        self.n_, self.n_all_, self.links_, self.k_ = n_first, n, other is not None, k
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
        With answers of both kinds, two thirds are spread evenly over the probabilities that the
        answers leave open, and the rest are a sample of all neighbors, most of them below the
        line: these tell how many duplicates are missed. No pair is asked twice.

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
        check_scalar(n, "n", Integral, min_val=1)
        known = None if pairs is None else self._answers(pairs, answers)
        asked = np.empty((0, 2), dtype=np.intp) if known is None else known.pairs
        seed = check_random_state(self.random_state).randint(2**31)
        rng = default_rng([seed, len(asked)])
        free = np.flatnonzero(~self._among(self.pairs_, asked))
        if len(free) == 0:
            raise ValueError("All neighboring pairs are answered: there is nothing to ask.")
        if known is not None and min(known.same.sum(), (~known.same).sum()) >= 2:
            features = self.similarities_(known.pairs)
            model = self.prior_.learned(features, known.same)
            order = open_questions(expit(model.margins(self.features_[free])), n, rng)
        else:
            order = spread_evenly(self.prior_.margins(self.features_[free]), n, rng)
        return self._named(without_repeats(self.pairs_[free[order]], n))

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
            it. If none do, the best reachable precision is taken, with a note. By
            default, as many as have the best expected F1.
        one_to_one : bool, default=False
            Whether a record of one table is at most one record of the other.

        Returns
        -------
        Duplicates
            Pairs, groups, and what was reached.
        """
        if precision is not None:
            check_scalar(precision, "precision", Real, min_val=0.0, max_val=1.0)
        if one_to_one and not self.links_:
            raise ValueError("one_to_one needs two tables: pass the other one to fit.")
        said = self._answers(pairs, answers)
        if said.same.all() or not said.same.any():
            kind = "the same" if said.same.any() else "different"
            raise ValueError(
                f"Every answer so far is {kind!r} ({len(said.same)}): a decision needs pairs of "
                "both kinds. Answer more."
            )
        model, curves, true = self._weigh(said)
        candidates, margins, line = self._lined(model, curves, precision)
        kept, odd = said.credible(true)
        accepted = ~self._among(candidates, said.labels(kept).pairs) & (margins >= line.margin)
        group, found = self._joined(
            candidates[accepted], margins[accepted], model, line, said.labels(kept), one_to_one
        )
        taken, new = model.margins(self.similarities_(found)), ~self._among(found, said.pairs)
        p = line.probability(taken)
        p[~new] = true[np.searchsorted(self._keys(said.pairs), self._keys(found[~new]))]
        left = margins[~self._among(candidates, np.concatenate([found, said.pairs]))]
        reached = outcome(curves, taken[new], left, self._among(said.pairs, found))
        doubt = self._doubt(said, curves)
        notes = [doubt]
        if precision is not None and line.reachable < precision:
            notes.append(
                f"A precision of {precision:g} cannot be reached with these answers: "
                f"{min(line.reachable, reached.new_precision[0]):.3f} is expected of the new "
                "pairs. More answers may reach more."
            )
        low, high = reached.f1[1:]
        if not doubt and high - low > _WIDE:
            notes.append(
                f"These answers hardly tell what is the same: the expected F1 is {low:.2f} to "
                f"{high:.2f}. Answer more pairs, or find fewer and surer ones with a precision."
            )
        if doubt:
            reached = Outcome(*((value, 0.0, high) for value, _, high in reached))
        of = np.array(self.similarities_.columns, dtype=object)
        share = model.shares(self.features_)
        order = np.lexsort([found[:, 1], found[:, 0], -p])
        return Duplicates(
            pairs=self._named(found[order]),
            probability=p[order],
            group=group[: self.n_],
            other_group=group[self.n_ :],
            threshold=line.threshold,
            **reached._asdict(),
            n_new=int(new.sum()),
            n_wrong=curves.n_wrong(),
            suspicious=self._named(said.pairs[odd]),
            n_candidates=len(candidates) + int((~self._among(said.pairs, candidates)).sum()),
            weights={name: float(share[of == name].sum()) for name in dict.fromkeys(of.tolist())},
            note=" ".join(filter(None, notes)),
        )

    def _joined(
        self,
        accepted: Array,
        margins: Array,
        model: Stack,
        line: Line,
        labels: Marks,
        one_to_one: bool,
    ) -> tuple[Array, Array]:
        """Return the group of each record, and the pairs within groups."""
        linked = labels.pairs[labels.similar]
        pairs = np.concatenate([linked, accepted])
        p = np.concatenate([np.ones(len(linked)), line.probability(margins)])
        if one_to_one:
            best = best_partners(pairs, p)
            pairs, p = pairs[best], p[best]

        def probability_of(others: Array) -> Array:
            return line.probability(model.margins(self.similarities_(others)))

        group = grouped(self.n_all_, pairs, p, line.threshold, labels, probability_of)
        pairs = pairs_within(group)
        if self.links_:
            pairs = pairs[(pairs[:, 0] < self.n_) & (pairs[:, 1] >= self.n_)]
        return group, pairs

    def _answers(self, pairs: ArrayLike, answers: ArrayLike | None) -> Answers:
        """Check answers; number the rows of the other table after those of the first."""
        if not hasattr(self, "pairs_"):
            raise ValueError("This DuplicateFinder has no records yet: call fit first.")
        rows = np.asarray(pairs)
        if self.links_ and rows.shape == (len(rows), 2) and rows.dtype.kind in "iu":
            rows = rows + np.array([0, self.n_])
            if np.any((rows[:, 0] >= self.n_) | (rows[:, 1] < self.n_)):
                raise ValueError(
                    f"pairs must hold rows of the first table, 0 to {self.n_ - 1}, and of the "
                    f"other, 0 to {self.n_all_ - self.n_ - 1}."
                )
        return Answers.of(self.n_all_, rows, answers)

    def _named(self, pairs: Array) -> Array:
        """Return pairs as the user numbers them."""
        return pairs - np.array([0, self.n_]) if self.links_ else pairs

    def _keys(self, pairs: Array) -> Array:
        """Return a number for each pair, in the order of the pairs."""
        keys: Array = pairs.astype(np.int64) @ [self.n_all_, 1]
        return keys

    def _among(self, pairs: Array, others: Array) -> Array:
        """Return which pairs are also among the others."""
        return np.isin(self._keys(pairs), self._keys(others))

    def _weigh(self, said: Answers) -> tuple[Stack, Curves, Array]:
        """Return the model, its calibration, and how likely each answered pair is the same."""
        features, some = self.similarities_(said.pairs), self.features_
        if len(some) > _UNLABELED:  # the same ones every time
            some = some[default_rng(0).choice(len(some), _UNLABELED, replace=False)]
        model, known = Stack.learned(self.prior_, features, said.same, self._folds(said))
        curves = Curves.given(known, said.same, model.margins(some))
        return model, curves, np.where(said.confirmed, said.same, curves.truth().mean(axis=1))

    def _folds(self, said: Answers) -> Array:
        """Return the fold of each answer; no record is in two folds."""
        _, which = np.unique(
            components(self.n_all_, said.pairs)[said.pairs[:, 0]], return_inverse=True
        )
        share = np.bincount(which, said.same) / np.bincount(which)
        fold, shuffled = np.empty(len(share), np.intp), default_rng(0).permutation(len(share))
        fold[shuffled[np.argsort(share[shuffled], kind="stable")]] = np.arange(len(share)) % _FOLDS
        return fold[which]

    def _doubt(self, said: Answers, curves: Curves) -> str:
        """Say in words what makes the answers as a whole doubtful; "" if nothing does."""
        usual = self.prior_.margins(self.similarities_(said.pairs))
        if mannwhitneyu(usual[said.same], usual[~said.same], alternative="less").pvalue < _CHANCE:
            return (
                "The pairs that were called the same are less similar than those that were called "
                "different. Were the two answers exchanged? Then nothing found here is right."
            )
        n_wrong, _, most = curves.n_wrong()
        if n_wrong < _MANY * len(said.same) and most < _PERHAPS * len(said.same):
            return ""
        return (
            f"{n_wrong:.0f} to {most:.0f} of {len(said.same)} answers look wrong: precision and "
            "recall may be far lower than stated. Check the answers."
        )

    def _lined(
        self, model: Stack, curves: Curves, precision: float | None
    ) -> tuple[Array, Array, Line]:
        """Return candidates, their margins and the line; look farther where groups are large."""
        candidates, margins = self.pairs_, model.margins(self.features_)
        k = self.k_
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
            margins = np.concatenate([margins, model.margins(self.similarities_(more))])
