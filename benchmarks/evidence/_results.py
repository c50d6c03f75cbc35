"""Results as arrays: means, paired tests against the Euclidean distance, and mean ranks."""

from collections import defaultdict

import numpy as np
from scipy.stats import friedmanchisquare, rankdata, studentized_range, wilcoxon

from . import _data
from ._rivals import RIVALS
from ._tasks import METRICS, SETTINGS

SIGN = {"error": -1, "auc": 1, "map": 1}  # +1: more is better
NAMES = {"error": "1-NN error", "auc": "pair AUC", "map": "MAP@R"}


def kind_of(name):
    """Return the group of a set."""
    return "embeddings" if _data.SETS[name].kind == "embedding" else "tables"


class Results:
    """The records of some sets and methods, as arrays of samplings.

    Parameters
    ----------
    records : iterable of dict
        Records of a run.
    sets, methods : sequence of str
        What is wanted, in this order.

    Attributes
    ----------
    values : dict
        (set, setting, method) -> ndarray of shape (samplings, 3): error, AUC, MAP@R, NaN where a
        method has none. Only samplings that all methods have done are kept.
    failed : dict
        (set, setting, method) -> number of samplings that failed and count as Euclidean.
    seconds : dict
        (group, method) -> CPU seconds of each fit with its judging.
    """

    def __init__(self, records, sets, methods):
        self.sets, self.methods = list(sets), list(methods)
        cells = defaultdict(dict)
        for r in records:
            if not r.get("skipped") and r["set"] in self.sets and r["method"] in self.methods:
                cells[r["set"], r["setting"], r["method"]][r["seed"]] = r
        self.values, self.failed, self.seconds = {}, {}, defaultdict(list)
        self._tests = {}  # thousands of tests, asked for by several tables
        for (name, setting, method), by_seed in cells.items():
            others = [v for k, v in cells.items() if k[:2] == (name, setting)]
            seeds = sorted(set.intersection(*(set(v) for v in others)))
            if not seeds:
                continue
            found = [by_seed[seed] for seed in seeds]
            self.values[name, setting, method] = np.array(
                [[np.nan if r[m] is None else r[m] for m in METRICS] for r in found]
            )
            self.failed[name, setting, method] = sum("failed" in r for r in found)
            self.seconds[kind_of(name), method] += [r["seconds"] for r in found]

    def settings(self, name=None, what=""):
        """Return the settings that have results, of one set if it is named."""
        found = {s for n, s, _ in self.values if name in (None, n)}
        return [s for s in SETTINGS if s in found and s.startswith(what)]

    def samplings(self):
        """Return the smallest and the largest number of samplings of a set and setting."""
        counts = [len(v) for v in self.values.values()]
        return min(counts), max(counts)

    def mean(self, name, setting, method, metric):
        """Return the mean over samplings; NaN where there is none."""
        values = self.values.get((name, setting, method))
        return np.nan if values is None else float(values[:, METRICS.index(metric)].mean())

    def group_mean(self, group, setting, method, metric):
        """Return the mean over the sets of a group that have the setting; NaN if one is missing.

        All methods are averaged over the same sets. The group "all sets" has all.
        """
        names = [
            n
            for n in self.sets
            if group in ("all sets", kind_of(n)) and setting in self.settings(n)
        ]
        return float(np.mean([self.mean(n, setting, method, metric) for n in names] or [np.nan]))

    def tests(self, method, metric, against="euclidean"):
        """Compare with a method on every set and setting, by paired tests.

        Returns
        -------
        dict
            (set, setting) -> (gain, p): the mean gain, positive if better, and the p-value of
            Wilcoxon's signed-rank test, after Holm's correction for all sets and settings.
        """
        if (method, metric, against) in self._tests:
            return self._tests[method, metric, against]
        column, found = METRICS.index(metric), {}
        for name in self.sets:
            for setting in self.settings(name):
                one = self.values.get((name, setting, method))
                two = self.values.get((name, setting, against))
                if one is None or two is None or np.isnan(one[:, column]).any():
                    continue
                gain = SIGN[metric] * (one[:, column] - two[:, column])
                p = wilcoxon(gain).pvalue if np.any(gain) and len(gain) > 1 else 1.0
                found[name, setting] = float(gain.mean()), float(p)
        corrected = holm([p for _, p in found.values()])
        found = {k: (g, p) for (k, (g, _)), p in zip(found.items(), corrected, strict=True)}
        self._tests[method, metric, against] = found
        return found

    def ranks(self, what, metric):
        """Rank the methods on every set, by the mean over its settings; 1 is the best.

        Returns
        -------
        methods : list of str
            Those that have a result on every set and setting.
        ranks : ndarray of shape (n_sets, n_methods)
        """
        names = [n for n in self.sets if self.settings(n, what)]
        scores = {}
        for method in self.methods:
            rows = [
                np.mean([self.mean(n, s, method, metric) for s in self.settings(n, what)])
                for n in names
            ]
            if not np.isnan(rows).any():
                scores[method] = rows
        table = -SIGN[metric] * np.array(list(scores.values())).T
        return list(scores), rankdata(table, axis=1)


def holm(p_values):
    """Correct p-values for their number (Holm 1979).

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(p_values, dtype=float)
    order = np.argsort(p)
    steps = p[order] * (len(p) - np.arange(len(p)))
    corrected = np.empty_like(p)
    corrected[order] = np.minimum(1, np.maximum.accumulate(steps))
    return [round(float(value), 12) for value in corrected]


def critical_difference(n_methods, n_sets, level=0.05):
    """Return Nemenyi's critical difference of mean ranks (Demšar 2006)."""
    q = studentized_range.ppf(1 - level, n_methods, np.inf) / np.sqrt(2)
    return float(q * np.sqrt(n_methods * (n_methods + 1) / (6 * n_sets)))


def friedman_p(ranks):
    """Return the p-value of Friedman's test that all methods are equal."""
    return float(friedmanchisquare(*ranks.T).pvalue)


def title(method):
    """Return a method's title."""
    return RIVALS[method].title if method in RIVALS else method
