"""The figures of a log, and which differences are sure.

A *gain* is a paired difference on the same samplings, in points, positive where the first method
is better (of errors: lower). Its interval is Student's, on one set over the samplings, over sets
of the means of the sets. A difference over sets is *sure* if p < 0.05 in the t test after Holm's
correction for the cases of its comparison, 18 to 21 as a rule.

The t test is honest for seven sets of unequal spread, where percentiles of resampled sets are not
(`tests/benchmarks/test_evidence.py` simulates both). Flipping signs, which needs no normal
distribution, cannot have p < 1/64 on seven sets, too much for a correction; so it is only shown.
"""

from collections import defaultdict
from functools import cache, cached_property

import numpy as np
from scipy.stats import permutation_test
from scipy.stats import t as student

from . import _data
from ._methods import RIVALS
from ._tasks import SETTINGS, UNTIDY

MEASURES = {"auc": "pair AUC", "map": "MAP@R", "error": "1-NN error"}
KINDS = {
    "table": "tables",
    "pixels": "tables",
    "embedding": "embeddings",
    "untidy": "untidy tables",
}
PLACES = [(setting, kind) for setting in SETTINGS for kind in ("tables", "embeddings")]
PLACES += [(setting, "untidy tables") for setting in UNTIDY]
LEARNED = ("mean", "seraph")  # what the page is about
PAIRED = {  # comparisons within our own methods
    "the entropy: SERAPH - SERAPH with mu = 0": ("seraph", "seraph-mu0"),
    "MeanMetric - SERAPH": ("mean", "seraph"),
    "SERAPH's part: MeanMetric - without it": ("mean", "mean-seraph"),
    "LRML's part: MeanMetric - without it": ("mean", "mean-lrml"),
    "ITML's part: MeanMetric - without it": ("mean", "mean-itml"),
    "SERAPH + Euclidean - SERAPH": ("seraph+euclidean", "seraph"),
}


class Results:
    """The figures of a log.

    `values` maps set, setting and method to an array with a row for each sampling, NaN where it
    is missing, and a column for each of `MEASURES`; `notes` has the number of failures.
    """

    def __init__(self, rows):
        self.values, self.notes, seconds = {}, defaultdict(int), defaultdict(list)
        self._compared, self._corrected = {}, {}
        cells = defaultdict(dict)
        for row in rows:
            if row["method"]:
                key = row["set"], row["setting"], row["method"]
                figures = [float(row[measure] or "nan") for measure in MEASURES]
                cells[key][int(row["seed"])] = figures
                self.notes[key] += bool(row["note"])
                seconds[kind_of(row["set"]), row["method"]].append(float(row["seconds"]))
        samplings = 1 + max((seed for by_seed in cells.values() for seed in by_seed), default=0)
        nothing = [np.nan] * len(MEASURES)
        for key, by_seed in cells.items():
            self.values[key] = np.array([by_seed.get(seed, nothing) for seed in range(samplings)])
        self.seconds = {key: float(np.median(spent)) for key, spent in seconds.items()}
        self.sets = list(dict.fromkeys(name for name, *_ in self.values))

    def gains(self, setting, kind, first, second, measure):
        """Return set -> paired gains of the first method over the second, one a sampling."""
        k, sign = list(MEASURES).index(measure), -1.0 if measure == "error" else 1.0
        gains = {}
        for name in self.sets:
            pair = [self.values.get((name, setting, method)) for method in (first, second)]
            if kind_of(name) == kind and all(values is not None for values in pair):
                difference = sign * (pair[0][:, k] - pair[1][:, k])
                gains[name] = difference[~np.isnan(difference)]
        return {name: values for name, values in gains.items() if len(values)}

    def count_samplings(self):
        """Return how many samplings there are: "20", or "3 to 20" if the run is not complete."""
        ours = [values[:, 0] for (*_, method), values in self.values.items() if method == "mean"]
        counts = {int(np.isfinite(values).sum()) for values in ours}
        return " to ".join(map(str, sorted({min(counts), max(counts)})))

    @cached_property
    def cases(self):
        """The settings, kinds and measures that the log has."""
        return [
            (*place, measure)
            for place in PLACES
            for measure in MEASURES
            if self.gains(*place, "mean", "euclidean", measure)
        ]

    @property
    def places(self):
        """The settings and kinds that the log has."""
        return list(dict.fromkeys(case[:2] for case in self.cases))

    def corrected(self, first, second):
        """Return the p-values of a comparison in its cases, corrected for their number."""
        if (first, second) not in self._corrected:
            cases = self.cases
            if first == "classifier":  # judged by errors, from labels
                cases = [case for case in cases if "labels" in case[0] and case[2] == "error"]
            compared = {case: self.compare(*case, first, second) for case in cases}
            self._corrected[first, second] = holm({c: f["p"] for c, f in compared.items() if f})
        return self._corrected[first, second]

    def compare(self, setting, kind, measure, first, second):
        """Return mean, interval, p and losses over sets of a comparison; None if there is none."""
        key = setting, kind, measure, first, second
        if key not in self._compared:
            gains = self.gains(setting, kind, first, second, measure) if first != second else {}
            self._compared[key] = summarize(gains) if gains else None
        return self._compared[key]

    def sure(self, *key):
        """Return the sign of a comparison that is sure, else 0."""
        sure = self.corrected(*key[3:])[key[:3]] < 0.05
        return sure * int(np.sign(self.compare(*key)["mean"]))

    def best_rival(self, setting, kind, measure, rivals=RIVALS):
        """Return the rival with the best mean over sets; None if there is none."""
        # Against the Euclidean distance or, for classifiers, against ours, in the same samplings.
        base = "euclidean" if rivals is RIVALS else "classifier"
        means = {
            rival: np.mean([values.mean() for values in gains.values()])
            for rival in rivals
            if (gains := self.gains(setting, kind, rival, base, measure)) and rival != base
        }
        return max(means, key=means.__getitem__, default=None)


def kind_of(name):
    """Return the group of a set."""
    return KINDS[_data.SETS[name]["kind"]]


def spell(setting):
    """Write a setting: ``labels-20`` as "20 labels", and a change behind it as it is."""
    what, count, *change = setting.split("-")
    return " ".join([count, what, *change])


def spell_case(setting, kind, measure):
    """Write a case: "20 labels, tables, pair AUC"."""
    return f"{spell(setting)}, {kind}, {MEASURES[measure]}"


def interval(values, level=0.95):
    """Return Student's interval of the mean of some values; NaN for a single one.

    Examples
    --------
    >>> interval(np.array([1.0, 2.0, 3.0]))
    (-0.48..., 4.48...)
    """
    if len(values) < 2:
        return np.nan, np.nan
    half = student_quantile((1 + level) / 2, len(values) - 1) * values.std(ddof=1)
    half /= len(values) ** 0.5
    return float(values.mean() - half), float(values.mean() + half)


student_quantile = cache(student.ppf)


def summarize(gains):
    """Return the means of the sets, their mean, interval and p-value, and how many get worse.

    Parameters
    ----------
    gains : dict
        Set -> gains of the samplings.
    """
    means = np.array([values.mean() for values in gains.values()])
    return {
        "means": means,
        "mean": float(means.mean()),
        "ends": interval(means),
        "p": t_p_value(means),
        "sets": len(means),
        "worse": int((means < -1e-9).sum()),
        "surely worse": sum(interval(values)[1] < 0 for values in gains.values()),
    }


def t_p_value(values):
    """Return the p-value of Student's test that the mean of some values is zero."""
    if len(values) < 2 or not values.any():
        return 1.0
    with np.errstate(divide="ignore"):  # equal values: p = 0
        t = values.mean() / values.std(ddof=1) * len(values) ** 0.5
    return float(2 * student.sf(abs(t), len(values) - 1))


def flip_p_value(values, flips=9999):
    """Return the p-value of flipping signs: exact where there are at most so many flips."""
    rng = np.random.default_rng(0)
    done = permutation_test(
        (values,), np.mean, permutation_type="samples", n_resamples=flips, rng=rng, vectorized=True
    )
    return float(done.pvalue)


def holm(p_values):
    """Return p-values corrected for their number, so that p < 0.05 is wrong in 5 % of families.

    Examples
    --------
    >>> holm({"a": 0.01, "b": 0.04, "c": 0.03})
    {'a': 0.03, 'c': 0.06, 'b': 0.06}
    """
    corrected, largest = {}, 0.0
    for rank, key in enumerate(sorted(p_values, key=p_values.__getitem__)):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[key]))
        corrected[key] = largest
    return corrected
