"""The section "From classes": MetricClassifier beside what people use to name classes."""

import warnings
from collections import defaultdict

import numpy as np
from scipy.stats import ttest_rel

from . import _data
from ._results import holm, kind_of
from ._rivals import RIVALS
from ._tasks import LABELS

OURS = "seraph-classes"
LOGISTIC = ("logistic", "logistic-10", "logistic-cv")
OTHERS = ("forest", "svm", "tabpfn")
METHODS = ("euclidean", "seraph-mean", *LOGISTIC, *OTHERS, OURS)
ONLY_HERE = (*LOGISTIC[1:], *OTHERS, OURS)  # not among the metric learners of the other sections
WITH_CHANCES = (*LOGISTIC, "forest", "tabpfn", OURS)
LIMITED = ("tabpfn",)  # it does not take every set
LEVEL = 0.05
EASY = 15.0  # an error, in %, at which the least sure tenth can err 6 times as often as the mean
TIMES = 3.0  # the aim: the least sure tenth errs so many times as often as the mean
MEASURES = (("error", "error"), ("auc", "pair AUC"), ("brier", "Brier score"))
GROUPS = ("tables", "everyday tables", "embeddings")


def group_of(name):
    """Return the group of a set."""
    everyday = name in {one.name for one in _data.EVERYDAY}
    return "everyday tables" if everyday else kind_of(name)


class ClassResults:
    """Records of the classifiers, of samplings that all of them have done."""

    def __init__(self, records):
        self.cells = defaultdict(dict)
        for r in records:
            if r["setting"].startswith("labels") and not r.get("skipped"):
                key = r["set"], int(r["setting"].partition("-")[2])
                self.cells[key].setdefault(r["seed"], {})[r["method"]] = r
        self.cells = {
            key: [by for by in seeds.values() if set(METHODS) - set(LIMITED) <= set(by)]
            for key, seeds in self.cells.items()
        }
        self.cells = {key: found for key, found in self.cells.items() if found}

    def sets(self, group, n):
        """Return the sets of a group that have results with n labels."""
        return [s for s, k in self.cells if k == n and group in ("all sets", group_of(s))]

    def values(self, name, n, method, metric):
        """Return a figure of all samplings; NaN where the method has none."""
        found = [by.get(method, {}).get(metric) for by in self.cells[name, n]]
        return np.array(found, dtype=float)

    def mean(self, group, n, method, metric):
        """Return the mean over the sets; NaN if the method has no such figure on one of them."""
        found = [self.values(s, n, method, metric).mean() for s in self.sets(group, n)]
        return float(np.mean(found or [np.nan]))

    def limited(self, method, metric="error"):
        """Compare ours with a method that does not take every set, where both have run.

        Returns
        -------
        list of (n, number of sets, number of samplings, mean of the method, mean of ours)
            For each number of labels n. The samplings are those of all sets together.
        """
        found = []
        for n in LABELS:
            taken, samplings = [], 0
            for name in self.sets("all sets", n):
                both = np.array([self.values(name, n, m, metric) for m in (method, OURS)])
                both = both[:, ~np.isnan(both[0])]
                if both.size:
                    taken.append(both.mean(axis=1))
                    samplings += both.shape[1]
            if taken:
                found.append((n, len(taken), samplings, *np.mean(taken, axis=0)))
        return found

    def samplings(self):
        """Return the smallest and the largest number of samplings."""
        counts = [len(found) for found in self.cells.values()]
        return min(counts), max(counts)

    def losses(self, rivals=LOGISTIC):
        """Return what is significantly worse than the best of some rivals.

        On each set and number of labels, the error is compared with that of the rival that is
        best there on average, by a paired t-test.

        Returns
        -------
        keys : list of (set, number of labels)
        gaps : list of float
            How much higher our mean error is.
        worse, probably : lists of keys
            Where the gap is significant at 5 %, with Holm's correction and without.
        """
        keys, gaps, p_values = [], [], []
        for name, n in sorted(self.cells):
            ours = self.values(name, n, OURS, "error")
            errors = [self.values(name, n, m, "error") for m in rivals]
            best = min((e for e in errors if not np.isnan(e).any()), key=np.mean)
            keys.append((name, n))
            gaps.append(ours.mean() - best.mean())
            with np.errstate(invalid="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)  # two samplings alike
                p = ttest_rel(ours, best).pvalue if np.ptp(ours - best) else 1.0  # or one sampling
            p_values.append(p)
        worse, probably = (
            [k for k, gap, p in zip(keys, gaps, values, strict=True) if gap > 0 and p < LEVEL]
            for values in (holm(p_values), p_values)
        )
        return keys, gaps, worse, probably

    def curve(self, method, group="all sets"):
        """Return the reliability curve: rows, mean probability and share right, by tenths."""
        total = np.zeros((3, 10))
        for (name, _), found in self.cells.items():
            if group in ("all sets", group_of(name)):
                total += sum(np.array(by[method]["curve"]) for by in found if method in by)
        count, best, right = total
        return count, best / np.maximum(count, 1), right / np.maximum(count, 1)

    def gap(self, method):
        """Return how far the share right is from the probability, in points, mean of all rows."""
        count, best, right = self.curve(method)
        return 100 * float(np.sum(count * np.abs(best - right)) / count.sum())


def _table(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def _best_in_bold(values, best_of):
    """Return a row a method that has figures, the best of each column in bold."""
    columns = zip(*values.values(), strict=True)
    best = [best_of([v for v in c if not np.isnan(v)], default=np.nan) for c in columns]
    rows = []
    for method, found in values.items():
        cells = ["" if np.isnan(v) else f"{v:.1f}" for v in found]
        if any(cells):
            bold = [
                f"**{c}**" if v == b else c for c, v, b in zip(cells, found, best, strict=True)
            ]
            rows.append([RIVALS[method].title, *bold])
    return rows


def means(results, metric, title):
    """Return a table: a row a method and group, a column a number of labels."""
    parts = []
    for group in (*GROUPS, "all sets"):
        numbers = [n for n in LABELS if results.sets(group, n)]
        values = {m: [results.mean(group, n, m, metric) for n in numbers] for m in METHODS}
        rows = _best_in_bold(values, max if metric == "auc" else min)
        head = [f"{title}, {group}"]
        head += [f"{n} labels ({len(results.sets(group, n))} sets)" for n in numbers]
        parts.append(_table(head, rows))
    return "\n\n".join(parts)


def _with_chances(results):
    """Return the methods that have probabilities on every set, ours first."""
    every = [m for m in WITH_CHANCES if not np.isnan(results.mean("all sets", 20, m, "brier"))]
    return [OURS, *(m for m in every if m != OURS)]


def reliability(results):
    """Return how often the rows of each tenth of probability are right."""
    rows = []
    for method in _with_chances(results):
        count, best, right = results.curve(method)
        cells = [
            f"{100 * r:.0f} ({100 * b:.0f})" if c else ""
            for c, b, r in zip(count, best, right, strict=True)
        ]
        rows.append([RIVALS[method].title, *cells[2:], f"{results.gap(method):.1f}"])
    tenths = [f"{k}0 to {k + 1}0 %" for k in range(2, 10)]
    return _table(["right (promised), %", *tenths, "mean gap"], rows)


def _ratio(results, group, n, method):
    """Return the error of the least sure tenth of the rows, over the mean error."""
    least = results.mean(group, n, method, "least_sure")
    return least / results.mean(group, n, method, "error")


def sure(results):
    """Return how far probabilities can be trusted, for the page: a row a method, all sets."""
    rows = []
    for method in _with_chances(results):
        scores = [f"{results.mean('all sets', n, method, 'brier'):.1f}" for n in LABELS]
        ratios = [f"{_ratio(results, 'all sets', n, method):.1f}" for n in LABELS]
        rows.append([RIVALS[method].title, *scores, f"{results.gap(method):.1f}", *ratios])
    head = [f"Brier score, {n} labels" for n in LABELS] + ["mean gap"]
    return _table(["all sets", *head, *(f"least sure, {n} labels" for n in LABELS)], rows)


def least_sure(results):
    """Return the ratio of the least sure tenth on every set, with the largest possible."""
    rows, reached, possible, easy = [], 0, 0, []
    for name in dict.fromkeys(s for s, _ in sorted(results.cells)):
        cells = []
        for n in LABELS:
            if (name, n) not in results.cells:
                cells.append("")
                continue
            wrong = results.values(name, n, OURS, "error").mean()
            if not wrong:
                cells.append("no error")
                continue
            least = results.values(name, n, OURS, "least_sure").mean()
            ratio = least / wrong
            rows_judged = np.sum(results.cells[name, n][0][OURS]["curve"][0])
            # All of the tenth is wrong, or all errors are in it.
            most = min(100.0 / wrong, rows_judged / max(1, rows_judged // 10))
            if wrong < EASY:
                easy.append((least, wrong))
            possible += most >= TIMES
            reached += ratio >= TIMES
            cells.append(f"{ratio:.1f} ({most:.1f})")
        rows.append([name, *cells])
    head = ["least sure 10 % / mean error (possible)", *(f"{n} labels" for n in LABELS)]
    return (
        f"{_table(head, rows)}\n\nA ratio of {TIMES:.0f} is possible in {possible} of "
        f"{len(results.cells)} cases, and reached in {reached}."
        + (f" Where the error is below {EASY:.0f} %, it is {_of_means(easy):.1f}." if easy else "")
    )


def _of_means(pairs):
    """Return the ratio of two means."""
    above, below = np.mean(pairs, axis=0)
    return above / below


def summary(results):
    """Return the error of everyday tables and of all sets, for the page."""
    columns = [(group, n) for group in ("everyday tables", "all sets") for n in LABELS]
    values = {m: [results.mean(g, n, m, "error") for g, n in columns] for m in METHODS}
    rows = _best_in_bold(values, min)
    return _table(["error", *(f"{g}, {n} labels" for g, n in columns)], rows)


def _verdict(results, rivals, what):
    """Return how often our error is lower and higher than that of the best of some rivals."""
    _, gaps, worse, probably = results.losses(rivals)
    return (
        f"Compared with {what}, MetricClassifier has a lower error in {sum(g < 0 for g in gaps)}, "
        f"an equal one in {sum(g == 0 for g in gaps)} and a higher one in "
        f"{sum(g > 0 for g in gaps)} of {len(gaps)} cases. It is significantly higher (paired "
        f"t-test, 5 %) in {len(worse)} after Holm's correction, in {len(probably)} without it, "
        f"and more than 2 points higher in {sum(g > 2.0 for g in gaps)}."
    )


def _losses(results, rivals, what):
    """Return where our error is higher than that of the best of some rivals."""
    keys, gaps, worse, probably = results.losses(rivals)
    behind = [f"{s}, {n} ({g:+.1f})" for (s, n), g in zip(keys, gaps, strict=True) if g > 2.0]
    return (
        f"Significantly higher error than {what}, after Holm's correction: {_list(worse)}; "
        f"without it: {_list(probably)}. More than 2 points higher: "
        f"{'; '.join(behind) or 'nowhere'}."
    )


def report(records):
    """Return the parts of the pages, losses included."""
    results = ClassResults(records)
    low, high = results.samplings()
    count = str(low) if low == high else f"{low} to {high}"
    kinds = (
        (LOGISTIC, "the best logistic regression of each case"),
        (OTHERS, "the best of forest, SVM and TabPFN"),
    )
    verdict = [f"{count} samplings of {len({s for s, _ in results.cells})} sets."]
    verdict += [_verdict(results, *kind) for kind in kinds]
    for n, sets, samplings, theirs, ours in results.limited("tabpfn"):
        verdict.append(
            f"With {n} labels, on {samplings} samplings of {sets} sets, TabPFN has {theirs:.1f} "
            f"and MetricClassifier {ours:.1f}."
        )
    losses = [_losses(results, *kind) for kind in kinds]
    tables = [means(results, *what) for what in MEASURES]
    return {
        "classes": "\n\n".join([*losses, *tables, reliability(results), least_sure(results)]),
        "classes-summary": summary(results),
        "classes-sure": sure(results),
        "classes-verdict": " ".join(verdict),
    }


def _list(keys):
    return "; ".join(f"{s}, {n}" for s, n in keys) or "nowhere"
