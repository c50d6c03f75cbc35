"""Errors of several methods on the same held-out rows: tables, paired tests, and words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

from ..ask._arrays import BoolArray

SIGNIFICANCE = 0.05


@dataclass(frozen=True)
class Score:
    """Which held-out rows a method gets wrong, and how many seconds a fit takes."""

    name: str
    wrong: BoolArray
    seconds: float = 0.0

    @property
    def n(self) -> int:
        """Number of held-out rows."""
        return len(self.wrong)

    @property
    def n_wrong(self) -> int:
        """Number of errors."""
        return int(self.wrong.sum())

    def cells(self) -> list[str]:
        """Return the cells of a table of errors: the method, how many are wrong, the share."""
        error, deviation = self.n_wrong / self.n, standard_error(self.n_wrong, self.n)
        share = f"{100 * error:.1f} ± {100 * deviation:.1f} %"
        return [self.name, f"{self.n_wrong} of {self.n}", share]

    def values(self) -> dict[str, Any]:
        """Return the errors as plain values, for --json."""
        return {
            "method": self.name,
            "wrong": self.n_wrong,
            "n": self.n,
            "error": self.n_wrong / self.n,
            "standard_error": standard_error(self.n_wrong, self.n),
            "seconds_per_fit": self.seconds,
        }


def standard_error(wrong: int, n: int) -> float:
    """Return the standard error of a share.

    It counts one more right row and one more wrong row, or an error of 0 would look certain.
    """
    share = (wrong + 1) / (n + 2)
    return sqrt(share * (1.0 - share) / n)


def sign_test(first: Score, second: Score) -> tuple[int, float]:
    """Return how many rows only one of two methods gets right, and the exact sign test's p-value.

    Examples
    --------
    >>> import numpy as np
    >>> none, five = (Score("", np.arange(30) < k) for k in (0, 5))
    >>> sign_test(none, five)
    (5, 0.0625)
    """
    from scipy.stats import binomtest  # takes a second to import

    better = int((~first.wrong & second.wrong).sum())
    n = better + int((first.wrong & ~second.wrong).sum())
    return n, float(binomtest(better, n).pvalue) if n else 1.0


def compare_two(first: Score, second: Score, noun: str) -> str:
    """Say whether one of two methods errs less, with the figures of the paired test."""
    n, p = sign_test(first, second)
    better, worse = first, second
    if p < SIGNIFICANCE and second.n_wrong < first.n_wrong:
        better, worse = second, first
    outcome = "errs less than" if p < SIGNIFICANCE else "cannot be told apart from"
    return (
        f"{better.name} {outcome} {worse.name}: {better.n_wrong} against {worse.n_wrong} of "
        f"{first.n} held-out {noun} are wrong (sign test on the {n} where they differ, "
        f"p = {p:.2g})."
    )


@dataclass(frozen=True)
class Check:
    """Errors of a learner beside the Euclidean distance and a constant guess, in this order.

    `noun` is what was held out, "labels" or "pairs"; the held-out labels are most probable under
    the class probabilities to the power `sharpness`.
    """

    scores: Sequence[Score]
    noun: str
    n_folds: int
    sharpness: float = 1.0

    @property
    def title(self) -> str:
        """Title of the table."""
        return f"Error on held-out {self.noun}"

    def rows(self) -> list[list[str]]:
        """Return the errors as a table, headings first."""
        return [["distance", "wrong", "error"], *(score.cells() for score in self.scores)]

    def verdict(self) -> str:
        """Say what the errors show: first whether anything was learned, then whether it helps."""
        learned, euclidean, guess = self.scores
        said = [compare_two(learned, guess, self.noun), compare_two(learned, euclidean, self.noun)]
        if euclidean.n_wrong < learned.n_wrong and sign_test(*self.scores[:2])[1] < SIGNIFICANCE:
            said.append("Stay with the Euclidean distance, or try another --scale or --drop.")
        elif sign_test(learned, guess)[1] >= SIGNIFICANCE:
            said.append("More labels (seraph ask) or other columns may help.")
        return " ".join(said)

    def values(self) -> dict[str, Any]:
        """Return the comparison as plain values."""
        learned, euclidean, guess = self.scores
        return {
            "held_out": self.noun,
            "n": learned.n,
            "wrong": learned.n_wrong,
            "wrong_euclidean": euclidean.n_wrong,
            "wrong_guess": guess.n_wrong,
            "guess": guess.name,
            "p_value": sign_test(learned, euclidean)[1],
            "p_guess": sign_test(learned, guess)[1],
            "folds": self.n_folds,
            "sharpness": self.sharpness,
            "verdict": self.verdict(),
        }
