"""What a person's answers are worth: screens of rows against pairs, by screens and by taps.

    python -m benchmarks.asking run choosing     # sizes of screens, on five sets for choosing
    python -m benchmarks.asking run judging      # screens against pairs, on sets for judging
    python -m benchmarks.asking report           # tables, and the picture of docs/ask.md
    python -m benchmarks.asking coverage         # how often intervals of judge_screens hold

Runs go on where they were stopped: the log has a line per result. The person is simulated: a
wrong tap says that a row is of the class of a random row. Seconds per tap were not measured. A tap
is an answer about a pair; a tapped row of a screen, or what shows the next one; sorted, each row.

200 rows are asked about; 200 others judge MeanMetric (AUC, MAP@R), and the accuracy of the
decisions of PairClassifier on their pairs, all in %, means over sets and samplings. Before them:
stage, kind of sets, way, size of a screen, rows near the first, % wrong, and screens or pairs.
"""

import argparse
import csv
import warnings
from collections import defaultdict
from contextlib import suppress
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed

from seraph import Marks, MeanMetric, PairClassifier, judge_screens, query_screens
from seraph.metrics import map_at_r, pair_auc

from .evidence import _data

DOCS = Path(__file__).parents[1] / "docs"
LOG = DOCS / "results" / "asking.csv"
FIELDS = ["stage", "kind", "set", "way", "size", "near", "wrong", "seed", "screens", "taps"]
FIELDS += ["pairs", "auc", "map", "accuracy"]
ROWS = 200
CHOOSING = ["glass", "vehicle", "dermatology", "reuters8-wordllama", "emoji-efficientnet"]
JUDGING = [
    ("rock-crabs", "tables"), ("excerpts-wordllama", "embeddings"), ("hawks", "tables"),
    ("flavia-leaves", "small classes"), ("hawks", "rare class"), ("oslo-plants", "tables"),
    ("monsters-minilm", "embeddings"), ("cognition", "tables"), ("british-election", "tables"),
    ("british-election", "rare class"),
]  # fmt: skip
LARGE = ["contraceptive", "marketing", "penbased", "phoneme", "spambase", "texture"]
LARGE += ["reuters8-wordllama", "emoji-efficientnet"]  # enough other rows for the truth
SESSIONS = [(10, False, 0, False), (30, True, 0, False), (20, False, 5, False)]
SESSIONS += [(20, False, 0, True)]  # screens, sorted, % wrong, shuffled classes
SIZES = [(6, 2), (6, 4), (8, 2), (8, 4), (8, 6), (12, 4), (12, 6)]
CHOSEN = (8, 4)
SHOWN = 140  # rows that sizes are compared at


def halves(name, kind, seed, judged=ROWS):
    """Return rows to ask about and rows to judge by, each with their classes."""
    X, y, _ = _data.load(name)
    rng = np.random.default_rng([seed, len(y)])
    order = rng.permutation(len(y))
    if kind == "rare class":  # the smallest class is 5 % of the rows, the rest is one class
        rare = y[order] == np.argmin(np.bincount(y))
        often = order[~rare]
        some = order[rare][: max(4, len(often) // 19)]
        order, y = rng.permutation(np.append(often, some)), (y == np.argmin(np.bincount(y))) * 1
    half = len(order) // 2
    asked, others = order[:half][:ROWS], order[half:][:judged]
    return X[asked], y[asked], X[others], y[others], rng


def learn(X, marks):
    """Fit MeanMetric; None if the marks are of one kind."""
    known = 0 < marks.similar.sum() < len(marks.pairs)
    return MeanMetric().fit(X, marks=marks) if known else None


def ask_screens(X, y, n, rng, *, size=8, near=4, sort=False, wrong=0.0, at=()):
    """Simulate a session: yield what is known after the numbers of screens in `at`."""
    model, parts = None, []
    for k in range(n):
        if k in (3, 6, 10, 15, 20, 25):
            model = learn(X, known(X, parts)[0])
        seed = int(rng.integers(2**31))
        rows, chances = query_screens(model, X, size=size, near=near, random_state=seed)
        told = np.where(rng.random(rows.shape) < wrong, rng.choice(y, rows.shape), y[rows])
        told[:, 0] = y[rows[:, 0]]
        parts.append((rows, told if sort else 1 * (told[:, 1:] == told[:, :1]), chances))
        if k + 1 in at:
            marks, session = known(X, parts)
            tapped = (len(parts) * (size - 1) if sort else session[1].sum()) + len(parts)
            yield k + 1, int(tapped), marks, session


def known(X, parts):
    """Return the marks of screens, and their rows, answers and chances."""
    rows, answers, chances = (np.concatenate(column) for column in zip(*parts, strict=True))
    return Marks.from_screens(rows, answers, rows=X, chances=chances), (rows, answers, chances)


def ask_pairs(X, y, n, rng, wrong):
    """Mark random pairs."""
    i, j = np.triu_indices(len(y), 1)
    chosen = rng.permutation(len(i))[:n]
    i, j = i[chosen], j[chosen]
    return Marks(np.column_stack([i, j]), (y[i] == y[j]) != (rng.random(n) < wrong), rows=X)


def judge(X, marks, T, z, rng, *, decide=False):
    """Return AUC, MAP@R and, if asked for, the accuracy of decisions, in %."""
    model = None if marks is None else learn(X, marks)
    Z = T if model is None else model.transform(T)
    scores = {"auc": 100 * pair_auc(Z, z), "map": 100 * map_at_r(Z, z)}
    if decide and model is not None:
        pairs = np.array([rng.choice(len(z), 2, replace=False) for _ in range(2000)])
        alike = np.where(z[pairs[:, 0]] == z[pairs[:, 1]], 1, -1)
        with suppress(ValueError):  # too few pairs of one kind can be held out
            said = PairClassifier().fit(X, marks=marks).predict(pairs, T)
            scores["accuracy"] = 100 * np.mean(said == alike)
    return scores


def sizes(name, kind, seed):
    """Yield a result for each size of screens, at as many rows shown."""
    for size, near in SIZES:
        X, y, T, z, rng = halves(name, kind, seed)
        n = round(SHOWN / (size - 1))
        for count, taps, marks, _ in ask_screens(X, y, n, rng, size=size, near=near, at=(n,)):
            found = judge(X, marks, T, z, rng)
            yield {
                "way": "screens",
                "size": size,
                "near": near,
                "screens": count,
                "taps": taps,
            } | found


def ways(name, kind, seed):
    """Yield a result for each way to ask."""
    X, y, T, z, rng = halves(name, kind, seed)
    yield {"way": "nothing", "wrong": 0} | judge(X, None, T, z, rng)
    for wrong in (0, 5, 10):
        for n in (30, 120):
            marks = ask_pairs(X, y, n, np.random.default_rng([seed, n]), wrong / 100)
            found = judge(X, marks, T, z, rng, decide=n == 120 and wrong == 5)
            yield {"way": "pairs", "wrong": wrong, "taps": n, "pairs": n} | found
        for way in ("screens", "sorted"):
            session = ask_screens(
                X, y, 30, np.random.default_rng([seed, 1]), size=CHOSEN[0], near=CHOSEN[1],
                sort=way == "sorted", wrong=wrong / 100, at=(10, 30),
            )  # fmt: skip
            for count, taps, marks, _ in session:
                line = {"way": way, "wrong": wrong, "screens": count, "taps": taps}
                line |= {"size": CHOSEN[0], "near": CHOSEN[1], "pairs": len(marks.pairs)}
                yield line | judge(X, marks, T, z, rng, decide=count == 30 and wrong == 5)


def run(stage, samplings):
    """Log the results of a stage that are missing."""
    done = {(row["stage"], row["kind"], row["set"], row["seed"]) for row in read()}
    units = JUDGING if stage == "judging" else [(name, "sizes") for name in CHOOSING]
    for seed in range(samplings):
        for name, kind in units:
            if (stage, kind, name, str(seed)) not in done:
                unit = {"stage": stage, "kind": kind, "set": name, "seed": seed}
                results = (ways if stage == "judging" else sizes)(name, kind, seed)
                write([unit | result for result in results])
                print(*unit.values(), flush=True)


def read():
    return list(csv.DictReader(LOG.read_text().splitlines())) if LOG.exists() else []


def write(rows):
    new = not LOG.exists()
    with LOG.open("a", encoding="utf-8") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        if new:
            writer.writeheader()
        for row in rows:
            writer.writerow(
                {k: round(v, 2) if isinstance(v, float) else v for k, v in row.items()}
            )


def report():
    """Write means over samplings and sets, and draw the picture."""
    groups = defaultdict(lambda: defaultdict(list))
    for row in read():
        key = (row["stage"], row["kind"], row["way"], row["size"], row["near"], row["wrong"])
        figures = [float(row[name] or "nan") for name in ("taps", "auc", "map", "accuracy")]
        groups[*key, row["screens"] or row["pairs"]][row["set"]].append(figures)
    means, lines = {}, [f"# {__doc__}\n```"]
    for key, sets in groups.items():
        means[key] = np.mean([np.mean(v, axis=0) for v in sets.values()], axis=0)
        taps, auc, map_, accuracy = means[key]
        text = f"{' '.join(key):55} {len(sets)} sets, {taps:5.0f} taps: "
        text += f"AUC {auc:.1f}, MAP@R {map_:.1f}"
        lines.append(text + ("" if np.isnan(accuracy) else f", decisions {accuracy:.1f}"))
    (DOCS / "results" / "asking.md").write_text("\n".join([*lines, "```", ""]), encoding="utf-8")
    draw(means)


def draw(means):
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    kinds = list(dict.fromkeys(key[1] for key in means if key[0] == "judging"))
    figure, axes = plt.subplots(1, len(kinds), figsize=(3 * len(kinds), 3.2), layout="constrained")
    for ax, kind in zip(axes, kinds, strict=True):
        own = {key: value for key, value in means.items() if key[:2] == ("judging", kind)}
        nothing = next(value[1] for key, value in own.items() if key[2] == "nothing")
        for way, color in (("pairs", "0.5"), ("screens", "C0"), ("sorted", "C1")):
            for wrong, style in (("0", "-"), ("5", "--")):
                points = [v[:2] for k, v in own.items() if (k[2], k[5]) == (way, wrong)]
                taps, auc = zip((0.0, nothing), *points, strict=True)
                label = f"{way}, 5 % wrong" if wrong == "5" else way
                ax.plot(taps, auc, style, color=color, marker="o", markersize=3, label=label)
        ax.set(title=kind, xlabel="taps")
    axes[0].set_ylabel("AUC in %, other rows")
    axes[0].legend(fontsize="x-small", handlelength=3)
    figure.savefig(DOCS / "images" / "asking.png", dpi=130)


def coverage(samplings, jobs):
    """Print how often 95 % intervals hold the AUC on other rows; 0.5 with shuffled classes."""
    units = [(name, seed, *way) for seed in range(samplings) for name in LARGE for way in SESSIONS]
    found = defaultdict(list)
    for unit, line in zip(units, Parallel(jobs)(delayed(hold)(*u) for u in units), strict=True):
        found[unit[2:]] += [line] if line else []
    names = "learned", "before", "difference", "called better", "called worse"
    for (n, sort, wrong, shuffled), lines in found.items():
        what = f"{n} screens{', sorted' * sort}{f', {wrong} % wrong' * (wrong > 0)}"
        shares = zip(names, 100 * np.mean(lines, axis=0), strict=True)
        print(f"{what}{', shuffled' * shuffled}: {len(lines)} sessions,", end=" ")
        print(", ".join(f"{name} {share:.1f} %" for name, share in shares))


def hold(name, seed, n, sort, wrong, shuffled):
    """Return which of the three intervals of a session hold, and what it is called."""
    warnings.simplefilter("ignore")
    X, y, T, z, rng = halves(name, "", seed, judged=1000)
    y = rng.permutation(y) if shuffled else y
    ((_, _, marks, session),) = ask_screens(X, y, n, rng, sort=sort, wrong=wrong / 100, at=(n,))
    try:
        said = judge_screens(None, X, *session)
    except ValueError:  # too few answers of one kind
        return None
    true = [0.5, 0.5] if shuffled else [pair_auc(learn(X, marks).transform(T), z), pair_auc(T, z)]
    ends = (said.learned, said.before, said.difference)
    pairs = zip(ends, [*true, true[0] - true[1]], strict=True)
    held = [low <= figure <= high for (_, low, high), figure in pairs]
    return [*held, said.verdict == "better", said.verdict == "worse"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("what", choices=["run", "report", "coverage"])
    parser.add_argument("stage", nargs="?", choices=["choosing", "judging"])
    parser.add_argument("--samplings", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")  # few answers make many learners complain
    if chosen.what == "run":
        run(chosen.stage, chosen.samplings)
    elif chosen.what == "coverage":
        coverage(chosen.samplings, chosen.jobs)
    else:
        report()


if __name__ == "__main__":
    main()
