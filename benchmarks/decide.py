"""Judge what is decided from pairs: probabilities, thresholds, questions, clusters and maps.

``python -m benchmarks.decide PART [SAMPLINGS [PICTURE]]`` with the part `calibration`, `pairs`,
`rows`, `clusters` or `maps`. The data sets are those of ``benchmarks.evidence``. Samplings that
are done are kept in ``decide.jsonl`` in the folder of $SERAPH_EVIDENCE_CACHE, or here, so that a
run can be killed. `clusters` compares with MPCKMeans if active-semi-supervised-clustering can be
imported; `maps` needs umap-learn.
"""

import json
import os
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import adjusted_rand_score, brier_score_loss
from sklearn.neighbors import NearestNeighbors

from seraph import (
    SERAPH,
    Marks,
    MeanMetric,
    MetricClassifier,
    PairClassifier,
    constrained_agglomerative,
    constrained_k_means,
    query_pairs,
    query_rows,
)
from seraph.metrics import expected_calibration_error, pair_auc

from .evidence._data import load
from .evidence._tasks import sample

TABLES = ("glass", "sonar", "vehicle", "vowel", "wisconsin")
EMBEDDINGS = ("faces", "reuters52-minilm", "reuters8-wordllama")
RECORDS = Path(os.environ.get("SERAPH_EVIDENCE_CACHE", ".")) / "decide.jsonl"


def kind_of(name):
    """Return whether a set is a table, pixels or an embedding."""
    if name in ("digits", "usps"):
        return "pixels"
    return "embedding" if name in EMBEDDINGS or "minilm" in name else "table"


def balanced_pairs(y, count, rng):
    """Sample pairs, half of them alike."""
    i, j = np.triu_indices(len(y), 1)
    alike = y[i] == y[j]
    chosen = [rng.choice(np.flatnonzero(alike == kind), count // 2) for kind in (True, False)]
    rows = np.column_stack([i, j])[np.concatenate(chosen)]
    return rows, np.repeat([True, False], count // 2)


# Probabilities and thresholds


def calibration(name, seed):
    """Compare probabilities on 1,000 new pairs, half alike, after learning from 100 marks."""
    X, y = load(name)[:2]
    task = sample(X, y, kind_of(name), "pairs-100", seed)
    given = task.supervision
    rows, alike = balanced_pairs(task.y_test, 1000, np.random.default_rng(seed))
    decider = PairClassifier(MeanMetric()).fit(task.X, **given)
    stated = {
        "SERAPH": SERAPH().fit(task.X, **given).pair_proba(rows, task.X_test),
        "PairClassifier": decider.predict_proba(rows, task.X_test)[:, 1],
    }
    for distance in ("Euclidean", "cosine"):
        scale = (lambda A: A) if distance == "Euclidean" else unit
        d, d_new = (
            np.linalg.norm(A[pairs[:, 0]] - A[pairs[:, 1]], axis=1)[:, np.newaxis]
            for A, pairs in ((scale(task.X), task.pairs), (scale(task.X_test), rows))
        )
        model = LogisticRegression(C=1e6).fit(d / d.std(), task.pair_labels)
        stated[f"logistic, {distance}"] = model.predict_proba(d_new / d.std())[:, 1]
    figures = {
        method: [brier_score_loss(alike, p), expected_calibration_error(alike, p)]
        for method, p in stated.items()
    }
    right = (decider.predict(rows, task.X_test) == 1) == alike
    reached, low, high = decider.report_["accuracy"]
    figures["threshold"] = [reached, low, high, float(right.mean())]
    return figures


def unit(A):
    """Scale rows to unit length."""
    return A / np.maximum(np.linalg.norm(A, axis=1, keepdims=True), 1e-12)


def report_calibration(records):
    """Print the means over samplings, tables and embeddings apart."""
    methods = [m for m in next(iter(records.values())) if m != "threshold"]
    print(f"{'':22}" + "".join(f"{m:>20}" for m in methods))
    for kind, names in (("tables", TABLES), ("embeddings", EMBEDDINGS)):
        every = []
        for name in names:
            of_set = [value for (n, _), value in records.items() if n == name]
            if of_set:
                every.append(np.mean([[r[m] for m in methods] for r in of_set], axis=0))
                print(f"{name:22}" + "".join(f"{b:12.3f} / {e:.3f}" for b, e in every[-1]))
        if every:
            means = np.mean(every, axis=0)
            print(f"{'mean of ' + kind:22}" + "".join(f"{b:12.3f} / {e:.3f}" for b, e in means))
    stated, low, high, true = np.array([r["threshold"] for r in records.values()]).T
    print(
        f"threshold for accuracy: stated {stated.mean():.3f}, on new pairs {true.mean():.3f}, "
        f"which the 95 % interval holds in {np.mean((low <= true) & (true <= high)):.0%} of "
        f"{len(true)} cases"
    )


# Questions

ROUNDS, EACH = 4, 10
PAIR_SETS = ("wine", "digits", "faces", "newsgroups-minilm")
ROW_SETS = ("wine", "digits", "usps", "faces", "newsgroups-minilm")


def pairs(name, seed):
    """Return the AUC on new rows after 40 more marks, chosen in four rounds or at random."""
    X, y = load(name)[:2]
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(y))
    half = len(y) // 2
    X_seen, y_seen = X[order[: min(300, half)]], y[order[: min(300, half)]]
    new = order[half:][:400]
    start = random_pairs(len(y_seen), 400, rng)
    alike = y_seen[start[:, 0]] == y_seen[start[:, 1]]
    start = np.concatenate([start[alike][:5], start[~alike][:15]])
    found = {}
    for strategy in ("none", "random", "query_pairs"):
        chance = np.random.default_rng([seed, 1])
        marked = start
        for _ in range(0 if strategy == "none" else ROUNDS):
            if strategy == "random":
                more = random_pairs(len(y_seen), EACH, chance)
            else:
                known = marks(marked, y_seen)
                learner = SERAPH().fit(X_seen, marks=known)
                more = query_pairs(learner, X_seen, EACH, marks=known)
            marked = np.unique(np.concatenate([marked, np.sort(more, axis=1)]), axis=0)
        learner = SERAPH().fit(X_seen, marks=marks(marked, y_seen))
        found[strategy] = 100 * pair_auc(learner.transform(X[new]), y[new])
    return found


def marks(rows, y):
    """Return true marks of some pairs."""
    return Marks(rows, y[rows[:, 0]] == y[rows[:, 1]], rows=len(y))


def random_pairs(n, count, rng):
    """Sample different pairs of rows."""
    rows = np.array([rng.choice(n, 2, replace=False) for _ in range(2 * count)])
    return np.unique(np.sort(rows, axis=1), axis=0)[rng.permutation(count)]


def rows(name, seed):
    """Return the 1-NN error on new rows with 20 labels, and with 20 more, chosen or random."""
    X, y = load(name)[:2]
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(y))
    half = len(y) // 2
    seen, new = order[: min(500, half)], order[half:][:500]
    labels = np.where(np.arange(len(seen)) < 20, y[seen], -1)
    chosen = {
        "start": [],
        "random": 20 + rng.permutation(len(seen) - 20)[:20],
        "query_rows": query_rows(
            SERAPH().fit(X[seen], labels), X[seen], 20, y=labels, random_state=0
        ),
    }
    found = {}
    for strategy, more in chosen.items():
        known = labels.copy()
        known[more] = y[seen][more]
        model = MetricClassifier(SERAPH(), rule="nearest").fit(X[seen], known)
        found[strategy] = 100 * float(np.mean(model.predict(X[new]) != y[new]))
    return found


# Clusters


def clusters(name, seed):
    """Return the adjusted Rand index of the unmarked rows, with 100 marks of 200 rows."""
    X, y = load(name)[:2]
    rng = np.random.default_rng(seed)
    seen = rng.permutation(len(y))[:200]
    X, y = X[seen], y[seen]
    k = len(np.unique(y))
    marked = random_pairs(len(y), 100, rng)
    given = marks(marked, y)
    free = np.setdiff1d(np.arange(len(y)), marked)
    Z = SERAPH().fit(X, marks=given).transform(X)
    labels = {
        "k-means, Euclidean": KMeans(k, n_init=10, random_state=0).fit_predict(X),
        "k-means, learned": KMeans(k, n_init=10, random_state=0).fit_predict(Z),
        "k-means, marks": constrained_k_means(X, k, marks=given, random_state=0),
        "k-means, learned + marks": constrained_k_means(Z, k, marks=given, random_state=0),
        "average, learned + marks": constrained_agglomerative(Z, k, marks=given),
        "ward, learned + marks": constrained_agglomerative(Z, k, marks=given, linkage="ward"),
    }
    rival = mpckmeans(X, k, given.pairs, given.similar)
    if rival is not None:
        labels["MPCKMeans"] = rival
    return {
        method: 100 * adjusted_rand_score(y[free], found[free]) for method, found in labels.items()
    }


CLUSTER_SETS = ("wine", "iris", "breast-cancer", "segment", "digits", "vehicle", "wisconsin")


def mpckmeans(X, k, pairs, alike):
    """Cluster by MPCKMeans; None if it is not installed."""
    try:
        from active_semi_clustering.semi_supervised.pairwise_constraints import MPCKMeans
    except ImportError:
        return None
    links = [[tuple(pair) for pair in pairs[alike == kind].tolist()] for kind in (True, False)]
    np.random.seed(0)  # noqa: NPY002 (it starts by the global generator)
    try:
        return np.asarray(MPCKMeans(k, max_iter=10).fit(X, ml=links[0], cl=links[1]).labels_)
    except Exception as error:
        print(f"MPCKMeans failed: {type(error).__name__}", file=sys.stderr)
        return np.zeros(len(X), dtype=int)
    finally:
        np.seterr(all="warn")


# Maps


def maps(name, seed):
    """Return how many of the ten nearest on a map are of a new row's class, with 30 labels."""
    from umap import UMAP

    X, y = load(name)[:2]
    order = np.random.default_rng(seed).permutation(len(y))
    seen, new = np.split(order[:800], [min(400, 2 * len(y) // 3)])
    labels = np.where(np.arange(len(seen)) < 30, np.unique(y, return_inverse=True)[1][seen], -1)
    learner = SERAPH().fit(X[seen], labels)
    Z, Z_new = learner.transform(X[seen]), learner.transform(X[new])
    pca = PCA(2).fit(Z)
    plain, partial, learned = (UMAP(random_state=0, n_jobs=1) for _ in range(3))
    drawn = {
        "UMAP": (plain.fit_transform(X[seen]), plain.transform(X[new])),
        "UMAP, 30 labels": (partial.fit_transform(X[seen], labels), partial.transform(X[new])),
        "UMAP of SERAPH, 30 labels": (learned.fit_transform(Z), learned.transform(Z_new)),
        "two directions of SERAPH": (pca.transform(Z), pca.transform(Z_new)),
    }
    found = {}
    for method, (known, placed) in drawn.items():
        near = NearestNeighbors(n_neighbors=10).fit(known).kneighbors(placed)[1]
        found[method] = 100 * float(np.mean(y[seen][near] == y[new][:, np.newaxis]))
    return found


def report(records):
    """Print mean and standard error of each method, a line per set."""
    methods = list(next(iter(records.values())))
    print(f"{'':20}" + "".join(f"{m:>26}" for m in methods) + "   samplings")
    for name in dict.fromkeys(n for n, _ in records):
        values = np.array([[r[m] for m in methods] for (n, _), r in records.items() if n == name])
        error = (
            values.std(axis=0, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else 0 * values[0]
        )
        cells = "".join(
            f"{m:20.1f} ± {e:3.1f}" for m, e in zip(values.mean(axis=0), error, strict=True)
        )
        print(f"{name:20}{cells}   {len(values)}")


PARTS = {
    "calibration": (calibration, (*TABLES, *EMBEDDINGS), report_calibration),
    "pairs": (pairs, PAIR_SETS, report),
    "rows": (rows, ROW_SETS, report),
    "clusters": (clusters, CLUSTER_SETS, report),
    "maps": (maps, CLUSTER_SETS, report),
}
DRAWN = {
    "clusters": (
        "adjusted Rand index of the unmarked rows, %",
        {
            "k-means, Euclidean": "k-means",
            "k-means, marks": "k-means with marks",
            "k-means, learned": "k-means, learned",
            "k-means, learned + marks": "learned, with marks",
            "MPCKMeans": "MPCKMeans",
        },
    ),
    "maps": (
        "new rows: share of the ten nearest on the map that are of the same class, %",
        {
            "UMAP": "UMAP",
            "UMAP, 30 labels": "UMAP with 30 labels",
            "UMAP of SERAPH, 30 labels": "UMAP of SERAPH with 30 labels",
            "two directions of SERAPH": "two directions of SERAPH",
        },
    ),
}


def draw(part, records, file):
    """Draw a dot with its standard error for each method, a line per set."""
    import matplotlib.pyplot as plt

    title, methods = DRAWN[part]
    names = list(dict.fromkeys(name for name, _ in records))
    figure, axes = plt.subplots(figsize=(7.5, 4.2), layout="constrained")
    for k, (method, label) in enumerate(methods.items()):
        values = [[r[method] for (n, _), r in records.items() if n == name] for name in names]
        error = [np.std(v, ddof=1) / np.sqrt(len(v)) for v in values]
        height = np.arange(len(names)) + 0.14 * (k - (len(methods) - 1) / 2)
        axes.errorbar(
            [np.mean(v) for v in values], height, xerr=error, fmt="osD^v"[k], ms=5, label=label
        )
    axes.set_yticks(np.arange(len(names)), names)
    axes.invert_yaxis()
    axes.set_xlabel(title)
    axes.grid(axis="x", alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside upper center", ncols=3, frameon=False)
    figure.savefig(file, dpi=150)


def main(part, samplings=5, picture=None):
    """Run what is missing of a part, print its figures, and draw them to a file."""
    trial, names, show = PARTS[part]
    records = {}
    if RECORDS.exists():
        for line in RECORDS.read_text().splitlines():
            record = json.loads(line)
            if record["part"] == part:
                records[record["name"], record["seed"]] = record["found"]
    started = time.perf_counter()
    for seed in range(samplings):
        for name in names:
            if (name, seed) not in records:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    found = trial(name, seed)
                records[name, seed] = found
                with RECORDS.open("a") as file:
                    record = {"part": part, "name": name, "seed": seed, "found": found}
                    file.write(json.dumps(record) + "\n")
    ordered = {(n, s): records[n, s] for n in names for s in range(samplings) if (n, s) in records}
    show(ordered)
    if picture is not None:
        draw(part, ordered, picture)
    print(f"{time.perf_counter() - started:.0f} s for the samplings that were missing")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 5, *sys.argv[3:4])
