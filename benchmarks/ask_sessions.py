"""Is the page of ``seraph ask`` right about the distance? Scripted people answer its questions.

    python -m benchmarks.ask_sessions --sessions 100

A person answers from the true classes, and gives a share of wrong answers. The truth is the AUC of
all pairs of rows, with the same share of wrong answers: the chance that a pair that the person
calls the same is nearer than one that they call different. After 40, 60, 80 and 160 answers the
table counts how often the page's intervals hold the truth, how often it says which distance is
better, and how often that is false. The page does not learn from its test, so each session's
distance is judged by other tests of the same size, too (`--draws`): drawn and answered in the same
way. Finished sessions are kept in a file of JSON lines, so a run that was stopped goes on.
"""

import argparse
import json
import tempfile
import warnings
from dataclasses import asdict
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.preprocessing import StandardScaler

from seraph._apps.ask._answers import AnswerFile, PairFormat
from seraph._apps.ask._digits import demo_digits
from seraph._apps.ask._finish import Finish
from seraph._apps.ask._judge import compare
from seraph._apps.ask._questions import PairQuestions, distances_of
from seraph._apps.ask._session import Session, Setting, is_rare
from seraph._apps.ask._things import RowThings

COUNTS = (40, 60, 80, 160)
# An interval of an AUC that is no wider is narrow.
WIDE = 0.2
ROWS = 600


def _clusters(n_classes, size, spread):
    """Clusters with the same spread in all directions: the Euclidean distance is the best one."""
    rng = np.random.default_rng(0)
    y = np.arange(ROWS) % n_classes
    return spread * rng.normal(size=(n_classes, size))[y] + rng.normal(size=(ROWS, size)), y


SETS = {
    "demonstration": lambda: demo_digits()[::2],
    "wine": lambda: load_wine(return_X_y=True),
    "breast cancer": lambda: load_breast_cancer(return_X_y=True),
    "ten digits": lambda: load_digits(return_X_y=True),
    "four clusters": lambda: _clusters(4, 10, 1.2),
    "forty clusters": lambda: _clusters(40, 30, 1.0),
}


def points(name):
    """Return the points of a set, scaled as the command does, and the classes."""
    X, y = SETS[name]()
    rows = np.random.default_rng(0).permutation(len(X))[:ROWS]
    return StandardScaler().fit_transform(X)[rows].astype(np.float32), y[rows]


def true_auc(distances, same, wrong):
    """Return the AUC of all pairs for a person who gives a share of wrong answers."""
    order = np.argsort(distances, kind="stable")
    called = np.where(same, 1.0 - wrong, wrong)[order]  # the chance to be called the same
    not_called = 1.0 - called
    beyond = not_called.sum() - np.cumsum(not_called) + 0.5 * not_called
    return float(called @ beyond / (called.sum() * not_called.sum()))


def drawn_tests(X, y, wrong, n, seed):
    """Draw a test as a session does; return its pairs, the answers, and its weights."""
    rng = np.random.default_rng(seed)
    questions = PairQuestions(X, np.arange(len(X)), rng)
    asked = {}
    while len(asked) < n:
        near = is_rare([same for same, _ in asked.values()])
        question = questions.test(asked, near=near)
        i, j = question.rows
        asked[i, j] = bool((y[i] == y[j]) != (rng.random() < wrong)), question.weight
    same, weights = map(np.array, zip(*asked.values(), strict=True))
    return np.array(list(asked)), same, weights


def run(X, y, wrong, seed, counts=COUNTS, draws=20):
    """Answer the questions of one session; return what the page said, and the truth."""
    rng = np.random.default_rng([seed, 1])
    pairs = np.column_stack(np.triu_indices(len(X), 1))
    same = y[pairs[:, 0]] == y[pairs[:, 1]]
    euclidean = true_auc(distances_of(X, pairs), same, wrong)
    records = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "answers.csv"
        ids = [str(row) for row in range(len(X))]
        with AnswerFile(path, ids, PairFormat()) as file:
            setting = Setting(X, RowThings(ids, {}), "", seed=seed)
            session = Session(setting, file, Finish([], path, path))
            try:
                for n in range(1, max(counts) + 1):
                    session.wait()
                    key = session.state()["question"]["key"]
                    i, j = map(int, key.split("-"))
                    alike = (y[i] == y[j]) != (rng.random() < wrong)
                    session.answer(key, "same" if alike else "different")
                    if n not in counts:
                        continue
                    session.wait()
                    said = session.state()["learning"]
                    Z = X if session.learner is None else session.learner.transform(X)
                    found = said["judgments"][-1:]
                    some = np.random.default_rng([seed, n]).permutation(len(pairs))[:2000]
                    both = [distances_of(space, pairs[some]) for space in (Z, X)]
                    for draw in range(draws):
                        test = drawn_tests(X, y, wrong, n // 2, [seed, n, draw])
                        again = compare(
                            distances_of(Z, test[0]),
                            distances_of(X, test[0]),
                            *test[1:],
                            population=both,
                        )
                        found += [] if again is None else [asdict(again)]
                    records.append(
                        {
                            "answers": n,
                            "learned": true_auc(distances_of(Z, pairs), same, wrong),
                            "euclidean": euclidean,
                            "found": found,
                            "first": first_said(said["judgments"]),
                            "stop": said["stop"],
                        }
                    )
            finally:
                session.close()
    return records


def first_said(judgments):
    """Return after how many answers the learned distance was called better, narrowly; or None."""
    said = [
        judgment["answers"]
        for judgment in judgments
        if judgment["difference"]["low"] > 0.0
        and judgment["learned"]["high"] - judgment["learned"]["low"] <= WIDE
    ]
    return said[0] if said else None


def outcomes(record):
    """Return for each judgment what it held of the truth, what it said, and how wide it was."""
    truth = {name: record[name] for name in ("learned", "euclidean")}
    truth["difference"] = truth["learned"] - truth["euclidean"]
    for found in record["found"]:
        low, high = found["difference"]["low"], found["difference"]["high"]
        held = {
            name: found[name]["low"] - 1e-9 <= value <= found[name]["high"] + 1e-9
            for name, value in truth.items()
        }
        yield held | {
            "says": low > 0.0 or high < 0.0,
            "false": (low > 0.0 and truth["difference"] <= 0.0)
            or (high < 0.0 and truth["difference"] >= 0.0),
            "width": found["learned"]["high"] - found["learned"]["low"],
        }


def table(records):
    """Return the figures as a table in Markdown."""
    lines = [
        "| | wrong answers | answers | sessions, judgments | true AUC, learned / Euclidean "
        "| interval holds it: learned | Euclidean | difference | mean width, learned "
        "| says which is better | falsely | better and narrow by then | says stop |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    rows = sorted({(list(SETS).index(r["set"]), r["wrong"], r["answers"]) for r in records})
    for number, wrong, n in rows:
        name = list(SETS)[number]
        some = [r for r in records if (r["set"], r["wrong"], r["answers"]) == (name, wrong, n)]
        found = [outcome for record in some for outcome in outcomes(record)]
        truth = " / ".join(
            f"{np.mean([r[kind] for r in some]):.2f}" for kind in ("learned", "euclidean")
        )

        def share(key, found=found):
            return f"{100 * np.mean([f[key] for f in found]):.1f} %" if found else ""

        cells = [
            f"{len(some)}, {len(found)}",
            truth,
            *(share(key) for key in ("learned", "euclidean", "difference")),
            f"{np.mean([f['width'] for f in found]):.2f}" if found else "",
            *(share(key) for key in ("says", "false")),
            f"{sum(r['first'] is not None for r in some)} of {len(some)}",
            f"{sum(r['stop'] for r in some)} of {len(some)}",
        ]
        lines.append(f"| {name} | {100 * wrong:.0f} % | {n} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--sessions", type=int, default=100)
    parser.add_argument("--first", type=int, default=0, help="Seed of the first session.")
    parser.add_argument("--sets", nargs="*", default=list(SETS), choices=list(SETS))
    parser.add_argument("--keep", type=Path, default=Path("ask_sessions.jsonl"))
    parser.add_argument("--most", type=int, default=max(COUNTS), help="Answers in a session.")
    parser.add_argument("--draws", type=int, default=20, help="Other tests of each distance.")
    parser.add_argument("--wrong", type=float, nargs="*", default=[0.0, 0.1])
    chosen = parser.parse_args()
    lines = chosen.keep.read_text().splitlines() if chosen.keep.exists() else []
    records = [json.loads(line) for line in lines]
    done = {(r["set"], r["wrong"], r["seed"]) for r in records}
    counts = [n for n in COUNTS if n <= chosen.most]
    for seed in range(chosen.first, chosen.first + chosen.sessions):
        for name in chosen.sets:
            for wrong in chosen.wrong:
                if (name, wrong, seed) in done:
                    continue
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    new = run(*points(name), wrong, seed, counts, chosen.draws)
                new = [{"set": name, "wrong": wrong, "seed": seed, **r} for r in new]
                records += new
                with chosen.keep.open("a") as file:
                    file.writelines(json.dumps(record) + "\n" for record in new)
    print(table(records))


if __name__ == "__main__":
    main()
