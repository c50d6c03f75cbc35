"""Errors on held-out labels or pairs, of a learner and its rivals, in tables and in words."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..._utils._typing import BoolArray

# With fewer held-out rows, only an enormous difference would be significant.
_FEW_HELD_OUT = 30
SIGNIFICANCE = 0.05
TITLE = "Error on held-out labels"
_MORE_LABELS = "more labels (seraph query says which pairs to ask about)"
_ADVICE = (
    "another --scale, or --drop for columns that have nothing to do with the classes; if nothing "
    "helps, stay with the Euclidean distance."
)


@dataclass(frozen=True)
class HeldOutErrors:
    """Errors on held-out labels or pairs, by two distances and by a constant guess.

    Parameters
    ----------
    n : int
        Number of rows held out, a fold at a time.
    wrong, wrong_euclidean : int
        How many of them each distance got wrong.
    p_value : float
        p-value of the exact sign test on the rows where the two distances disagree.
    n_folds : int
        Number of folds.
    guess : str
        Most frequent class, or answer.
    wrong_guess : int
        How many are wrong if each is guessed to be that.
    p_guess : float
        p-value of the sign test between the learned distance and the guess.
    name : str, default="MeanMetric"
        Name of the learner.
    noun : {"labels", "pairs"}, default="labels"
        What was held out.
    alone : int, default=0
        Number of labels that are not held out because no other row has their class.
    all_labeled : bool, default=False
        Whether there is no row left to label.
    """

    n: int
    wrong: int
    wrong_euclidean: int
    p_value: float
    n_folds: int
    guess: str
    wrong_guess: int
    p_guess: float
    name: str = "MeanMetric"
    noun: str = "labels"
    alone: int = 0
    all_labeled: bool = False

    @property
    def title(self) -> str:
        """Title of the table."""
        if self.noun == "pairs":
            return "Error on held-out pairs: similar, or not, by a threshold on the distance"
        return TITLE

    @property
    def method(self) -> str:
        """How it was computed, in two sentences."""
        if self.noun == "pairs":
            return (
                f"Marked pairs were held out, a fold at a time ({self.n_folds} folds). Each time, "
                "the distance and a threshold were learned from the rest, and each held-out pair "
                "was called similar if it is closer than the threshold."
            )
        return (
            f"Labels were held out, a fold at a time ({self.n_folds} folds). Each time, the "
            "distance was learned from the rest (of many unlabeled rows, from some), and "
            "each held-out row got the class that a vote of the labeled rows around it gives."
        )

    def values(self) -> dict[str, Any]:
        """Return the comparison as plain values."""
        return {
            "held_out": self.noun,
            "n": self.n,
            "wrong": self.wrong,
            "wrong_euclidean": self.wrong_euclidean,
            "wrong_guess": self.wrong_guess,
            "guess": self.guess,
            "p_value": self.p_value,
            "folds": self.n_folds,
            "verdict": self.verdict(),
        }

    def rows(self) -> list[list[str]]:
        """Return the comparison as a table, headings first."""
        compared = (
            (self.name, self.wrong),
            ("Euclidean", self.wrong_euclidean),
            (always(self.guess), self.wrong_guess),
        )
        return [
            ["distance", "wrong", "error"],
            *([name, *error_cells(wrong, self.n)] for name, wrong in compared),
        ]

    def verdict(self) -> str:
        """Say in a few sentences what the errors mean, doubts first."""
        said = self._against_guess() or f"{self._against_euclidean()}{self._doubt_of_guess()}"
        if self.alone:
            one = self.alone == 1
            said += (
                f" ({self.alone} of {self.n + self.alone} labels {'is' if one else 'are'} not "
                f"held out: alone in {'its class' if one else 'their classes'}.)"
            )
        return said

    def _against_guess(self) -> str:
        """Return the verdict if no distance is better than a constant guess; else nothing."""
        if min(self.wrong, self.wrong_euclidean) < self.wrong_guess:
            return ""
        what = "class" if self.noun == "labels" else "answers"
        more = "" if self.all_labeled else f"{_MORE_LABELS} or "
        return (
            f"Neither distance is better than to guess {self.guess!r} for each, which is wrong "
            f"for {self.wrong_guess} of {self.n}. Try {more}other "
            f"columns: these may say nothing about the {what}."
        )

    def _doubt_of_guess(self) -> str:
        if self.p_guess < SIGNIFICANCE:
            return ""
        if self.wrong >= self.wrong_guess:
            return f" The learned one is no better than to guess {self.guess!r} for each."
        return (
            f" The learned one is not clearly better than to guess {self.guess!r} for each "
            f"({self.wrong_guess} of {self.n} wrong; sign test, p = {self.p_guess:.2g})."
        )

    def _against_euclidean(self) -> str:
        few = self.n < _FEW_HELD_OUT
        too_few = f"{self.n} {self.noun} are too few to tell"
        if self.wrong == self.wrong_euclidean:
            rest = f", and {too_few} them apart" if few else ""
            return f"The learned distance is as good as the Euclidean one{rest}."
        test = f"(sign test, p = {self.p_value:.2g})"
        significant = self.p_value < SIGNIFICANCE
        doubt = too_few if few else f"that may be chance {test}"
        if self.wrong < self.wrong_euclidean:
            if significant:
                return f"The learned distance is better than the Euclidean one {test}."
            return f"The learned distance looks better, but {doubt}."
        other = "The Euclidean distance of the scaled features"
        more = "" if self.all_labeled else f"{_MORE_LABELS}, "
        advice = f"Try {more}{_ADVICE}"
        if significant:
            return f"{other} is better {test}. {advice}"
        return f"{other} looks better, though {doubt}. {advice}"


def always(guess: str) -> str:
    """Name the constant guess in a table."""
    return f"always {guess!r}"


def error_cells(wrong: int, n: int) -> list[str]:
    """Return the cells of a table of errors: how many are wrong, and the share."""
    error = f"{100 * wrong / n:.1f} ± {100 * standard_error(wrong, n):.1f} %"
    return [f"{wrong} of {n}", error]


def standard_error(wrong: int, n: int) -> float:
    """Return the standard error of a share.

    It counts one more right row and one more wrong row, or an error of 0 would look certain.
    """
    share = (wrong + 1) / (n + 2)
    return sqrt(share * (1.0 - share) / n)


def sign_test(wrong: BoolArray, wrong_other: BoolArray) -> float:
    """Return the p-value of the exact sign test on the rows where two methods disagree."""
    from scipy.stats import binomtest  # takes a second to import

    better, worse = int((~wrong & wrong_other).sum()), int((wrong & ~wrong_other).sum())
    return float(binomtest(better, better + worse).pvalue) if better + worse else 1.0
