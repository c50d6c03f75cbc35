"""What a forest of pairs adds to a learned distance, and a forest to a classifier.

    python -m benchmarks.forest judging --samplings 4 --jobs 16

Half of the rows, at most 400, are seen; 200 others judge. From pairs (30 and 120 at random; 30
screens of eight rows that somebody sorts, 5 % of the taps wrong): AUC and MAP@R of PairClassifier
with a forest, and of the forest alone (RFD), less those of PairClassifier without. From 20 and 60
class labels: error in % and log loss of MetricClassifier, of a random forest and of
logistic regression, less those of rule="mean". Means over the sets, with standard errors.
"""

import argparse
import warnings
from collections import defaultdict

import numpy as np
from joblib import Parallel, delayed
from scipy.spatial.distance import pdist, squareform
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from seraph import ForestSpace, Marks, MeanMetric, MetricClassifier, PairClassifier, TablePreparer
from seraph.classic import RFD

from .evidence import _data, _tasks

SEEN, JUDGED, SCREEN = 400, 200, 8


def marks_of(y, setting, rng):
    """Mark pairs of rows, or sort screens; None if one kind is hardly there.

    With many classes, a quarter of the random pairs is chosen among rows of one class.
    """
    kind, n = setting.split("-")
    said, few = {}, np.mean(y[:, None] == y) < 0.25
    for _ in range(int(n)):
        rows = rng.choice(len(y), SCREEN if kind == "screens" else 2, replace=False)
        if kind == "pairs" and few and rng.random() < 0.25:
            same = np.flatnonzero((y == y[rows[0]]) & (np.arange(len(y)) != rows[0]))
            rows[1] = rng.choice(same) if len(same) else rows[1]
        wrong = (kind == "screens") & (rng.random(len(rows)) < 0.05)
        told = np.where(wrong, y[rng.choice(len(y), len(rows))], y[rows])
        for a in range(len(rows)):
            for b in range(a):
                pair = min(rows[a], rows[b]), max(rows[a], rows[b])
                said.setdefault(pair, []).append(1 if told[a] == told[b] else -1)
    votes = np.array([np.sign(np.mean(one)) for one in said.values()])
    pairs, votes = np.array(list(said))[votes != 0], votes[votes != 0]
    if min((votes > 0).sum(), (votes < 0).sum()) < 2:
        return None
    return Marks(pairs, votes, rows=len(y))


def from_pairs(X, y, T, z, setting, rng):
    """Return AUC, MAP@R and the share of the forest by method."""
    marks = marks_of(y, setting, rng)
    if marks is None:
        return {}
    i, j = np.triu_indices(len(z), 1)
    scores = {}
    for name, model in {
        "distance": PairClassifier(forest=False),
        "with forest": PairClassifier(),
        "RFD": RFD(),
        "space": ForestSpace(),
    }.items():
        try:
            model.fit(X, marks=marks)
        except ValueError:  # too few marks of one kind can be held out
            return {}
        if name == "space":
            distances = squareform(pdist(model.transform(T)))
        else:
            distances = np.zeros((len(z), len(z)))
            distances[i, j] = distances[j, i] = model.pair_distance(np.column_stack([i, j]), T)
        judged = _tasks.judge(distances, z)
        scores[name] = judged["auc"], judged["map"], 100 * getattr(model, "forest_share_", np.nan)
    return scores


def labeled_rows(y, setting, rng):
    """Choose as many rows as `setting` says; None if that is no task."""
    n = int(setting.split("-")[1])
    if not len(np.unique(y)) <= n < len(y):
        return None
    labeled = rng.permutation(len(y))[:n]
    return labeled if 1 < len(np.unique(y[labeled])) < n else None


def spaces_of_labels(X, y, T, z, setting, rng):
    """Return AUC and MAP@R by method."""
    labeled = labeled_rows(y, setting, rng)
    if labeled is None:
        return {}
    partly = np.where(np.isin(np.arange(len(y)), labeled), y, -1)
    scores = {}
    for name, model in {"distance": MeanMetric(), "space": ForestSpace()}.items():
        judged = _tasks.judge(squareform(pdist(model.fit(X, partly).transform(T))), z)
        scores[name] = judged["auc"], judged["map"], np.nan
    return scores


def from_labels(X, y, T, z, setting, rng):
    """Return error in % and log loss by method."""
    labeled = labeled_rows(y, setting, rng)
    if labeled is None:
        return {}
    classes = np.unique(y[labeled])
    partly = np.where(np.isin(np.arange(len(y)), labeled), y, -1)
    scores = {}
    for name, model in {
        "mean": MetricClassifier(MeanMetric(), rule="mean"),
        "all": MetricClassifier(MeanMetric()),
        "forest": RandomForestClassifier(200, random_state=0),
        "logistic": make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
    }.items():
        known = (X, partly) if name in ("mean", "all") else (X[labeled], y[labeled])
        chances = model.fit(*known).predict_proba(T)
        right = chances[:, np.searchsorted(classes, z).clip(0, len(classes) - 1)]
        right = np.where(np.isin(z, classes), right[np.arange(len(z)), np.arange(len(z))], 0.0)
        wrong = classes[chances.argmax(axis=1)] != z
        scores[name] = 100 * wrong.mean(), -np.log(right.clip(1e-3)).mean()
    return scores


SETTINGS = {"pairs-30": from_pairs, "pairs-120": from_pairs, "screens-30": from_pairs}
SETTINGS |= {"labels-20": from_labels, "labels-60": from_labels}
SETTINGS |= {"space-20": spaces_of_labels, "space-60": spaces_of_labels}


def work(name, setting, seed, load=_data.load):
    """Return set, kind, setting and scores of one sampling."""
    warnings.simplefilter("ignore")  # few labels make many learners complain
    X, y, kind = load(name)
    if hasattr(X, "columns"):
        X = TablePreparer().fit_transform(X)
    rng = np.random.default_rng([seed, len(y)])
    order = rng.permutation(len(y))
    a, b = order[: len(y) // 2][:SEEN], order[len(y) // 2 :][:JUDGED]
    return name, kind, setting, SETTINGS[setting](X[a], y[a], X[b], y[b], setting, rng)


def report(results):
    """Print the differences from the first method, means over the sets."""
    by_set = defaultdict(list)
    for name, kind, setting, scores in results:
        for method, values in scores.items():
            by_set[kind, setting, method, name].append(values)
    for kind, setting, first in sorted({(k, s, m) for k, s, m, _ in by_set}):
        if first not in ("distance", "mean"):
            continue
        names = sorted({n for k, s, m, n in by_set if (k, s, m) == (kind, setting, first)})
        base = np.array([np.mean(by_set[kind, setting, first, n], axis=0) for n in names])
        print(f"\n{kind}, {setting}: {len(names)} sets; {first}", base.mean(axis=0)[:2].round(2))
        for method in dict.fromkeys(m for k, s, m, _ in by_set if (k, s) == (kind, setting)):
            if method == first:
                continue
            own = np.array([np.mean(by_set[kind, setting, method, n], axis=0) for n in names])
            gain, better = own - base, -1.0 if first == "mean" else 1.0
            for number, what in enumerate(("AUC", "MAP@R") if better > 0 else ("error", "loss")):
                g = gain[:, number]
                error = g.std(ddof=1) / np.sqrt(len(g)) if len(g) > 1 else np.nan
                worst = int((better * g).argmin())
                text = f"  {method:12} {what:6} {g.mean():+7.3f} +- {error:.3f}, better on "
                text += f"{(better * g > 0).sum()}, worst {g[worst]:+.2f} ({names[worst]})"
                share = f", share {own[:, 2].mean():.0f} %" if method == "with forest" else ""
                print(text + share)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("sets", nargs="+")
    parser.add_argument("--samplings", type=int, default=4)
    parser.add_argument("--jobs", type=int, default=2)
    chosen = parser.parse_args()
    names, missing = _data.available(_data.chosen_sets(chosen.sets))
    for name, reason in missing.items():
        print(f"left out: {name}: {reason}")
    units = [(n, s, seed) for seed in range(chosen.samplings) for n in names for s in SETTINGS]
    report(Parallel(chosen.jobs)(delayed(work)(*unit) for unit in units))


if __name__ == "__main__":
    main()
