"""The section "From classes": MetricClassifier beside three logistic regressions and 1-NN."""

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
METHODS = ("euclidean", "seraph", *LOGISTIC, OURS)
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
            key: [by for by in seeds.values() if set(METHODS) <= set(by)]
            for key, seeds in self.cells.items()
        }
        self.cells = {key: found for key, found in self.cells.items() if found}

    def sets(self, group, n):
        """Return the sets of a group that have results with n labels."""
        return [s for s, k in self.cells if k == n and group in ("all sets", group_of(s))]

    def values(self, name, n, method, metric):
        """Return a figure of all samplings."""
        return np.array([by[method][metric] for by in self.cells[name, n]], dtype=float)

    def mean(self, group, n, method, metric):
        """Return the mean over the sets; None if the method has no such figure."""
        found = [self.values(s, n, method, metric).mean() for s in self.sets(group, n)]
        return float(np.mean(found)) if found else None

    def samplings(self):
        """Return the smallest and the largest number of samplings."""
        counts = [len(found) for found in self.cells.values()]
        return min(counts), max(counts)

    def losses(self):
        """Return what is significantly worse than the best of the logistic regressions.

        On each set and number of labels, the error is compared with that of the logistic
        regression that is best there on average, by a paired t-test.

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
            rivals = [self.values(name, n, m, "error") for m in LOGISTIC]
            best = min(rivals, key=np.mean)
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
                total += sum(np.array(by[method]["curve"]) for by in found)
        count, best, right = total
        return count, best / np.maximum(count, 1), right / np.maximum(count, 1)

    def gap(self, method):
        """Return how far the share right is from the probability, in points, mean of all rows."""
        count, best, right = self.curve(method)
        return 100 * float(np.sum(count * np.abs(best - right)) / count.sum())


def _table(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def means(results, metric, title):
    """Return a table: a row a method and group, a column a number of labels."""
    parts = []
    for group in (*GROUPS, "all sets"):
        numbers = [n for n in LABELS if results.sets(group, n)]
        methods = [m for m in METHODS if metric in ("error", "auc") or m in (*LOGISTIC, OURS)]
        values = {m: [results.mean(group, n, m, metric) for n in numbers] for m in methods}
        best = [
            (max if metric == "auc" else min)(values[m][k] for m in methods)
            for k in range(len(numbers))
        ]
        rows = []
        for m in methods:
            both = zip(values[m], best, strict=True)
            cells = [f"**{v:.1f}**" if v == b else f"{v:.1f}" for v, b in both]
            rows.append([RIVALS[m].title, *cells])
        head = [f"{title}, {group}"]
        head += [f"{n} labels ({len(results.sets(group, n))} sets)" for n in numbers]
        parts.append(_table(head, rows))
    return "\n\n".join(parts)


def reliability(results):
    """Return how often the rows of each tenth of probability are right."""
    rows = []
    for method in (OURS, *LOGISTIC):
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
    for method in (OURS, *LOGISTIC):
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
    best = [min(v[k] for v in values.values()) for k in range(len(columns))]
    rows = [
        [RIVALS[m].title]
        + [f"**{v:.1f}**" if v == b else f"{v:.1f}" for v, b in zip(found, best, strict=True)]
        for m, found in values.items()
    ]
    return _table(["error", *(f"{g}, {n} labels" for g, n in columns)], rows)


def report(records):
    """Return the parts of the pages, losses included."""
    results = ClassResults(records)
    low, high = results.samplings()
    count = str(low) if low == high else f"{low} to {high}"
    keys, gaps, worse, probably = results.losses()
    behind = [f"{s}, {n} ({g:+.1f})" for (s, n), g in zip(keys, gaps, strict=True) if g > 2.0]
    verdict = (
        f"{count} samplings of {len({s for s, _ in keys})} sets. Compared with the logistic "
        f"regression that is best on each set and number of labels, MetricClassifier has a lower "
        f"error in {sum(g < 0 for g in gaps)}, an equal one in {sum(g == 0 for g in gaps)} and a "
        f"higher one in {sum(g > 0 for g in gaps)} of {len(gaps)} cases. It is significantly "
        f"higher (paired t-test, 5 %) in {len(worse)} after Holm's correction, in "
        f"{len(probably)} without it, and more than 2 points higher in {len(behind)}."
    )
    losses = (
        f"Significantly higher error than the best logistic regression, after Holm's correction: "
        f"{_list(worse)}; without it: {_list(probably)}. More than 2 points higher: "
        f"{'; '.join(behind) or 'nowhere'}."
    )
    tables = [means(results, *what) for what in MEASURES]
    return {
        "classes": "\n\n".join([losses, *tables, reliability(results), least_sure(results)]),
        "classes-summary": summary(results),
        "classes-sure": sure(results),
        "classes-verdict": verdict,
    }


def _list(keys):
    return "; ".join(f"{s}, {n}" for s, n in keys) or "nowhere"
