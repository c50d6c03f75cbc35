"""Are the questions of ``seraph ask`` better than random pairs? A scripted person answers.

    python -m benchmarks.ask --samplings 10 > answers.md

Half of the rows (400 at most) are asked about, and the other half judges. The person answers from
the true classes, and gives a share of wrong answers. "Ours" is the session behind the page: its
questions, its refits after every four answers, and every other question for the test. After 20, 40
and 80 answers a model learns from all answers, as `seraph fit` does. Finished runs are kept in a
file of JSON lines, so a run that was stopped goes on.
"""

import argparse
import json
import tempfile
import warnings
from pathlib import Path

import numpy as np

from seraph import Marks, MeanMetric
from seraph._apps.ask._answers import Answer, AnswerFile, PairFormat
from seraph._apps.ask._finish import Finish
from seraph._apps.ask._learning import Labels
from seraph._apps.ask._session import Session, Setting
from seraph._apps.ask._things import RowThings

from .evidence._data import load
from .evidence._tasks import judge, squared_distances

SETS = {"digits": "digits", "faces": "faces", "text": "reuters52-minilm"}
COUNTS = (20, 40, 80)
ROWS = 400


def our_answers(X, y, wrong, seed):
    """Yield the answers of a person whom the session asks."""
    rng = np.random.default_rng([seed, 1])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "answers.csv"
        nowhere = Finish([], path, path)
        ids = [str(row) for row in range(len(X))]
        with AnswerFile(path, ids, PairFormat()) as file:
            session = Session(Setting(X, RowThings(ids, {}), "", seed=seed), file, nowhere)
            try:
                for _ in range(max(COUNTS)):
                    session.wait()
                    key = session.state()["question"]["key"]
                    i, j = map(int, key.split("-"))
                    same = (y[i] == y[j]) != (rng.random() < wrong)
                    session.answer(key, "same" if same else "different")
                    yield file.answers[-1]
            finally:
                session.close()


def random_answers(X, y, wrong, seed):
    """Yield the answers of a person who is asked about random pairs."""
    rng = np.random.default_rng([seed, 1])
    known = set()
    while len(known) < max(COUNTS):
        i, j = sorted(rng.choice(len(X), 2, replace=False).tolist())
        if (i, j) not in known:
            known.add((i, j))
            yield Answer((i, j), bool((y[i] == y[j]) != (rng.random() < wrong)))


WAYS = {"random": random_answers, "ours": our_answers}


def measure(X, labels, X_test, y_test):
    """Return AUC and MAP@R of the model, or of the Euclidean distance if it learns nothing."""
    Z = X_test
    if labels is not None and labels.enough:
        learner = MeanMetric()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            learner.fit(X, marks=Marks(labels.pairs, labels.same, rows=X))
        Z = learner.transform(X_test)
    found = judge(squared_distances(Z, Z), y_test)
    return {"auc": found["auc"], "map": found["map"]}


def run(name, wrong, seed, way):
    """Run one session; return its records."""
    X, y, _ = load(SETS[name])
    order = np.random.default_rng([seed, len(y)]).permutation(len(y))
    half = min(len(y) // 2, ROWS)
    seen, judged = order[:half], order[half : 2 * half]
    X_seen = X[seen].astype(np.float32)
    answers = []
    records = [{"count": 0, "same": 0.0, **measure(X_seen, None, X[judged], y[judged])}]
    for answer in WAYS[way](X_seen, y[seen], wrong, seed):
        answers.append(answer)
        if len(answers) in COUNTS:
            labels = Labels.of(answers)
            found = measure(X_seen, labels, X[judged], y[judged])
            records.append({"count": len(answers), "same": float(labels.same.mean()), **found})
    return [{"set": name, "wrong": wrong, "seed": seed, "way": way, **r} for r in records]


def table(records):
    """Return the means as a table in Markdown."""
    lines = [
        "| | wrong answers | answers | AUC, random pairs | AUC, our questions "
        "| MAP@R, random pairs | MAP@R, our questions |",
        "|---|---|---|---|---|---|---|",
    ]
    for name in SETS:
        for wrong in sorted({r["wrong"] for r in records}):
            for count in (0, *COUNTS):
                if count == 0 and wrong > 0:
                    continue
                cells = []
                for figure in ("auc", "map"):
                    for way in WAYS:
                        values = [
                            r[figure]
                            for r in records
                            if (r["set"], r["wrong"], r["way"], r["count"])
                            == (name, wrong, way, count)
                        ]
                        if not values:
                            cells.append("")
                            continue
                        error = np.std(values, ddof=1) / np.sqrt(len(values)) if values[1:] else 0
                        cells.append(f"{np.mean(values):.1f} ± {error:.1f}")
                share = "" if count == 0 else f"{100 * wrong:.0f} %"
                answers = "0 (Euclidean)" if count == 0 else str(count)
                lines.append(f"| {name} | {share} | {answers} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--samplings", type=int, default=10)
    parser.add_argument("--sets", nargs="*", default=list(SETS), choices=list(SETS))
    parser.add_argument("--keep", type=Path, default=Path("ask.jsonl"), help="Finished runs.")
    chosen = parser.parse_args()
    lines = chosen.keep.read_text().splitlines() if chosen.keep.exists() else []
    records = [json.loads(line) for line in lines]
    done = {(r["set"], r["wrong"], r["seed"], r["way"]) for r in records}
    for seed in range(chosen.samplings):
        for name in chosen.sets:
            for wrong in (0.0, 0.05):
                for way in WAYS:
                    if (name, wrong, seed, way) in done:
                        continue
                    new = run(name, wrong, seed, way)
                    records += new
                    with chosen.keep.open("a") as file:
                        file.writelines(json.dumps(record) + "\n" for record in new)
    print(table(records))


if __name__ == "__main__":
    main()
