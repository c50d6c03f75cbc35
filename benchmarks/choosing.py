"""Try a change on the sets for choosing: ``python -m benchmarks.choosing WHAT [samplings]``.

``scale``: other scales of the numbers of a table than z-scores. ``spread``: in MeanMetric, ITML on
labels that were spread over a graph of neighbors; alone, and with the roots of MetricClassifier's
chances beside the coordinates. ``pca``: the principal components of texts above the noise (Gavish
and Donoho 2014), then MeanMetric. Prints what each gains over the first, in points, positive where
it is better: means over sets, with 95 % intervals, and how many sets get worse.
"""

import argparse
import warnings
from collections import defaultdict

import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.preprocessing import QuantileTransformer

from seraph import SERAPH, MeanMetric, MetricClassifier
from seraph.classic import ITML, LRML

from ._stamp import make_stamp, table
from .evidence import _data
from .evidence._methods import Spread
from .evidence._report import show
from .evidence._results import summarize
from .evidence._tasks import judge, sample, squared_distances


def signed_log(Z):
    """Return ``sign(z) log(1 + |z|)``."""
    return np.sign(Z) * np.log1p(np.abs(Z))


def scales(task, X):
    """Return MeanMetric's coordinates of rows for each scale; a number has a variance of one."""
    numbers = np.abs(X.var(axis=0) - 1) < 1e-3
    scores = QuantileTransformer(output_distribution="normal", n_quantiles=min(1000, len(task.X)))
    scores.fit(task.X[:, numbers])
    spread = signed_log(task.X[:, numbers]).std(axis=0)
    spread[spread < 1e-9] = 1.0
    changes = {
        "z-scores": lambda Z: Z,
        "signed log": signed_log,
        "signed log, variance 1": lambda Z: signed_log(Z) / spread,
        "z-scores and normal scores": lambda Z: (
            np.hstack([Z, scores.transform(Z).clip(-3, 3)]) / 2**0.5
        ),
        "clipped at 3": lambda Z: Z.clip(-3, 3),
    }

    def coordinates(change):
        scaled = lambda X: np.hstack([change(X[:, numbers]), X[:, ~numbers]])  # noqa: E731
        learner = MeanMetric().fit(scaled(task.X), **task.supervision)
        return lambda X: learner.transform(scaled(X))

    return {title: coordinates(change) for title, change in changes.items()}


def spread_labels(task, _):
    """Return coordinates of rows with ITML on the labels, and on spread labels."""
    X, y = task.X, task.y
    seraph, lrml = SERAPH().fit(X, y), LRML().fit(X, y)
    maps = {}
    for title, itml in {"ITML": ITML(), "ITML on spread labels": Spread()}.items():
        members = {"seraph": seraph, "lrml": lrml, "itml": itml.fit(X, y)}
        named = [(name, FrozenEstimator(one)) for name, one in members.items()]
        learner = MeanMetric(named).fit(X, y)
        classify = MetricClassifier(FrozenEstimator(learner), rule="mean").fit(X, y)

        def beside(T, learner=learner, classify=classify):
            parts = [
                (learner.transform(rows), np.sqrt(classify.predict_proba(rows))) for rows in (X, T)
            ]
            lengths = [np.sqrt(part.var(axis=0).sum()) for part in parts[0]]
            return np.hstack([parts[1][0] / lengths[0], 2 * parts[1][1] / lengths[1]])

        maps |= {title: learner.transform, f"{title}; chances beside": beside}
    return maps


def principal(task, _):
    """Return MeanMetric's coordinates of rows, and of their components above the noise."""
    center = task.X.mean(axis=0)
    lengths, rows = np.linalg.svd(task.X - center, full_matrices=False)[1:]
    b = min(task.X.shape) / max(task.X.shape)
    noise = (0.56 * b**3 - 0.95 * b**2 + 1.82 * b + 1.43) * np.median(lengths)
    P = rows[lengths > noise]
    learner = MeanMetric().fit(task.X, **task.supervision)
    reduced = MeanMetric().fit((task.X - center) @ P.T, **task.supervision)
    return {
        "all features": learner.transform,
        "PCA first": lambda X: reduced.transform((X - center) @ P.T),
    }


SPREAD = "wine breast-cancer digits segment glass vehicle heart sonar satellite penguins brown "
SPREAD += "phishing vowel diabetes newsgroups-minilm reuters8-wordllama"
TEXTS = "newsgroups-minilm tweets-minilm reuters8-wordllama newsgroups-wordllama"
TABLES = [name for name, row in _data.GROUPS["choosing"].items() if row["kind"] == "table"]
TRIALS = {  # how, on which sets and settings, and the most rows to learn from
    "scale": (scales, TABLES, ("labels-20", "pairs-80"), 400),
    "spread": (spread_labels, SPREAD.split(), ("labels-20", "labels-100"), 400),
    "pca": (principal, TEXTS.split(), ("labels-20", "labels-100", "pairs-100"), 1000),
}


def judge_maps(task, maps):
    """Return title -> AUC, MAP@R and minus the 1-NN error."""
    scores = {}
    for title, transform in maps.items():
        Z, errors = transform(task.X_test), None
        if task.y is not None:
            nearest = squared_distances(Z, transform(task.X[task.labeled])).argmin(axis=1)
            errors = task.y[task.labeled][nearest] != task.y_test
        one = judge(squared_distances(Z, Z), task.y_test, errors)
        scores[title] = np.array([one["auc"], one["map"], -one["error"]])
    return scores


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("what", choices=TRIALS)
    parser.add_argument("samplings", type=int, nargs="?", default=5)
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # few labels make many learners complain
    make, names, settings, seen = TRIALS[options.what]
    names, missing = _data.available(names)
    print("Not available:", ", ".join(missing) or "none")
    for setting in settings:
        gains, base = defaultdict(lambda: defaultdict(list)), defaultdict(list)
        for name in names:
            for seed in range(options.samplings):
                X, *rest = _data.load(name)
                task = sample(X, *rest, setting, seed, seen=seen, judged=250)
                if task is not None:
                    scores = judge_maps(task, make(task, X))
                    first, *others = scores
                    base[name].append(scores[first])
                    for title in others:
                        gains[title][name].append(scores[title] - scores[first])
        means = np.mean([np.mean(v, axis=0) for v in base.values()], axis=0)
        rows = [[first, *(f"{abs(mean):.1f}" for mean in means)]]
        for title, by_set in gains.items():
            columns = ({name: np.array(v)[:, k] for name, v in by_set.items()} for k in range(3))
            figures = [summarize(column) for column in columns]
            rows.append([title, *(f"{show(f, False)}, {f['worse']}/{f['sets']}" for f in figures)])
        print(table([setting, "pair AUC", "MAP@R", "1-NN error"], rows), flush=True)
    print(f"*{options.samplings} samplings; {make_stamp()}.*")


if __name__ == "__main__":
    main()
