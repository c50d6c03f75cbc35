"""Compare the rules for lam="auto" and the default members of MeanMetric.

``python -m benchmarks.choosing lam [samplings]`` prints, for each rule, the paired change from
today's rule on the sets for choosing, and the errors on the paper's tasks. ``members`` compares
equal means of learners with the Euclidean distance, and counts the cases in which they are
worse. ``uses`` prints how many directions SERAPH and MeanMetric have, how well k-means finds the
classes, and errors of classifiers. ``classes`` prints the pair AUC of ten Gaussian classes.
Differences are means over samplings, with standard errors over sets.
"""

import argparse
import warnings

import numpy as np
from sklearn.cluster import KMeans
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import adjusted_rand_score

from seraph import SERAPH, MeanMetric, MetricClassifier
from seraph.classic import ITML, LRML, Euclidean

from .evidence import _data
from .evidence._tasks import judge, pair_auc, sample, squared_distances
from .paper._data import TASKS, load_task
from .paper._protocol import sample_task

# Factors in place of 0.08 / sqrt(k), for k labeled rows and the effective rank r.
TODAY = "0.08 / sqrt(k)"
RULES = {
    "0.02 (sqrt(r/k) + r/k)": lambda r, k: 0.02 * (np.sqrt(r / k) + r / k),
    "0.03 sqrt(r/k)": lambda r, k: 0.03 * np.sqrt(r / k),
    "0.04 sqrt(r/k)": lambda r, k: 0.04 * np.sqrt(r / k),
}
LEARNERS = {"SERAPH": SERAPH, "LRML": LRML, "ITML": ITML, "Euclidean": Euclidean}
MEANS = ("SERAPH Euclidean", "SERAPH LRML", "SERAPH LRML ITML", "SERAPH LRML ITML Euclidean")
SETTINGS = ("labels-20", "labels-100", "pairs-100")
COLUMNS = ("AUC", "MAP@R", "error")


def fit_rules(X, k, supervision):
    """Fit SERAPH with each rule."""
    today = SERAPH().fit(X, **supervision)
    variances = np.linalg.svd(X - X.mean(axis=0), compute_uv=False) ** 2
    r = variances.sum() / variances[0]
    unit = today.lam_ / (0.08 / np.sqrt(k))
    rules = {title: SERAPH(lam=unit * rule(r, k)) for title, rule in RULES.items()}
    return {TODAY: today} | {t: learner.fit(X, **supervision) for t, learner in rules.items()}


def fit_means(X, k, supervision):
    """Fit each learner once, and average the fitted metrics."""
    learners = {name: make().fit(X, **supervision) for name, make in LEARNERS.items()}
    fits = {"Euclidean": learners["Euclidean"], "SERAPH": learners["SERAPH"]}
    for title in MEANS:
        members = [(name, FrozenEstimator(learners[name])) for name in title.split()]
        fits[title] = MeanMetric(members).fit(X, **supervision)
    return fits


def judge_fits(fit, task):
    """Return title -> AUC, MAP@R and error; a metric of rank zero counts as Euclidean."""
    k = len(np.unique(task.pairs)) if task.y is None else len(task.labeled)
    results = {}
    for title, learner in fit(task.X, k, task.supervision).items():
        apply = learner.transform if len(learner.components_) else np.asarray
        Z, errors = apply(task.X_test), None
        if task.y is not None:
            nearest = squared_distances(Z, apply(task.X[task.labeled])).argmin(axis=1)
            errors = task.y[task.labeled][nearest] != task.y_test
        scores = judge(squared_distances(Z, Z), task.y_test, errors)
        results[title] = [scores["auc"], scores["map"], scores["error"]]
    return results


def compare(fit, samplings):
    """Print the change from the first method in each setting; count the cases that are worse."""
    names, missing = _data.available(_data.GROUPS["choosing"])
    print("Not available:", ", ".join(missing) or "none")
    changes, titles = [], []
    for setting in SETTINGS:
        means = []  # of a set: methods x columns
        for name in names:
            tasks = [sample(*_data.load(name), setting, seed) for seed in range(samplings)]
            if tasks[0] is not None:
                results = [judge_fits(fit, task) for task in tasks]
                titles = list(results[0])
                means.append(np.mean([list(one.values()) for one in results], axis=0))
        changes.append(np.array(means) - np.array(means)[:, :1])
        print(f"\n{setting}, {len(means)} sets; {titles[0]}:", np.mean(means, axis=0)[0].round(2))
        print_changes(titles, changes[-1], COLUMNS)
    losses = np.array([-1, -1, 1]) * np.concatenate(changes)
    print(f"\nWorse than {titles[0]}, of {len(losses)} cases (by more than one point):")
    for j, title in enumerate(titles[1:], 1):
        counts = zip(COLUMNS, (losses[:, j] > 1e-9).sum(0), (losses[:, j] > 1).sum(0), strict=True)
        print(f"  {title:28}", *(f"{column} {n} ({large})" for column, n, large in counts))


def print_changes(titles, changes, columns):
    """Print the mean change of each method and its standard error, over the first axis."""
    spread = changes.std(axis=0, ddof=1) / np.sqrt(len(changes))
    for title, mean, error in zip(titles[1:], changes.mean(axis=0)[1:], spread[1:], strict=True):
        cells = zip(columns, mean, error, strict=True)
        print(f"  {title:28}", *(f"{column} {m:+.2f} ± {e:.2f}  " for column, m, e in cells))


def compare_on_paper(fit, samplings):
    """Print the mean error of the nearest labeled row on each of the paper's tasks."""
    table, titles = [], []
    for name in TASKS:
        errors = []
        for number in range(samplings):
            sampling = sample_task(load_task(name), 0, number)
            fits = fit(sampling.X, int(sampling.labeled.sum()), {"y": sampling.y_partial})
            titles = list(fits)
            errors.append([sampling.nearest_neighbor_error(one) for one in fits.values()])
        table.append(np.mean(errors, axis=0))
        print(f"{name:14}", dict(zip(titles, table[-1].round(2).tolist(), strict=True)))
    print(f"\nMean of the tasks; {titles[0]}: {np.mean(table, axis=0)[0]:.2f}")
    print_changes(titles, (np.array(table) - np.array(table)[:, :1])[..., None], ("error",))


def measure_uses(task):
    """Return directions and adjusted Rand indices of learners, and errors of classifiers."""
    figures = {}
    for learner in (Euclidean(), SERAPH(), MeanMetric()):
        Z = learner.fit(task.X, **task.supervision).transform(task.X_test)
        k_means = KMeans(len(np.unique(task.y_test)), n_init=5, random_state=0)
        clusters = k_means.fit_predict(Z if Z.shape[1] else task.X_test)
        figures[f"{learner}, directions"] = Z.shape[1]
        figures[f"{learner}, ARI"] = 100 * adjusted_rand_score(task.y_test, clusters)
    if task.y is not None:
        rows = task.labeled
        logistic = LogisticRegression(max_iter=2000).fit(task.X[rows], task.y[rows])
        for classifier in (MetricClassifier().fit(task.X, task.y), logistic):
            score = classifier.score(task.X_test, task.y_test)
            figures[f"{type(classifier).__name__}, error"] = 100 * (1 - score)
    return figures


def compare_uses(samplings):
    """Print the figures of each setting, means over sets."""
    names, _ = _data.available(_data.GROUPS["choosing"])
    for setting in SETTINGS:
        means = []  # of a set
        for name in names:
            tasks = [sample(*_data.load(name), setting, seed) for seed in range(samplings)]
            if tasks[0] is not None:
                results = [measure_uses(task) for task in tasks]
                titles = list(results[0])
                means.append(np.mean([list(one.values()) for one in results], axis=0))
        table = zip(titles, np.mean(means, axis=0).round(1).tolist(), strict=True)
        print(f"{setting}, {len(means)} sets:", dict(table))


def compare_on_classes(seeds=3, n=2000):
    """Print the AUC of ten Gaussian classes; their separation is the same in both dimensions."""
    for m in (64, 200):
        centers = 4 / np.sqrt(m) * np.random.default_rng(5).normal(size=(10, m))
        for k in (20, 100, 400):
            rows = []
            for seed in range(seeds):
                rng = np.random.default_rng(seed)
                y, y_new = rng.integers(10, size=(2, n))
                X, X_new = (centers[codes] + rng.normal(size=(n, m)) for codes in (y, y_new))
                fits = fit_rules(X, k, {"y": np.where(np.arange(n) < k, y, -1)})
                maps, alike = [f.transform(X_new) for f in fits.values()], y_new[:, None] == y_new
                rows.append([100 * pair_auc(squared_distances(Z, Z), alike) for Z in maps])
            means = np.mean(rows, axis=0).round(1).tolist()
            print(f"{m} features, {k} labels:", dict(zip(fits, means, strict=True)))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("what", choices=("lam", "members", "uses", "classes"))
    parser.add_argument("samplings", type=int, nargs="?", default=6)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.what == "classes":
        compare_on_classes()
    elif options.what == "uses":
        compare_uses(options.samplings)
    else:
        function = fit_rules if options.what == "lam" else fit_means
        compare(function, options.samplings)
        compare_on_paper(function, options.samplings)
