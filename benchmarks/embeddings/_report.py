"""Write the tables and the picture of the pages from the records."""

import numpy as np
import pandas as pd
from scipy.stats import wilcoxon

from benchmarks.evidence import _data
from benchmarks.evidence._pictures import Column, draw_gains
from benchmarks.evidence._report import fill, table
from benchmarks.evidence._results import NAMES, SIGN, holm, title

from ._tasks import OURS, SETS, SETTINGS, WAYS, load

MEASURES = ("auc", "map", "error")
WAY_NAMES = {
    "pairs": "pairs at random",
    "near": "pairs of near neighbors",
    "classes": "labels of each class",
}
SET_NAMES = {
    "definitions-minilm": "definitions, MiniLM",
    "reuters52-minilm": "Reuters-52, MiniLM",
    "newsgroups-test-minilm": "newsgroups, MiniLM",
    "newsgroups-wordllama": "newsgroups, WordLlama",
    "faces": "faces, dlib",
}
LEVEL = 0.05


class Results:
    """The records as a frame: one row for each set, setting, method and sampling.

    Only samplings with every setting and every method of a set are kept, so that all are
    compared on the same.
    """

    def __init__(self, records):
        frame = pd.DataFrame(records)
        size = frame.groupby(["set", "seed"])["method"].transform("size")
        frame = frame[size == size.groupby(frame["set"]).transform("max")]
        if "skipped" in frame:
            frame = frame[frame["skipped"].isna()]
        frame = frame.astype(dict.fromkeys(MEASURES, float))
        frame["way"] = frame["setting"].str.partition("-")[0]
        frame["count"] = frame["setting"].str.partition("-")[2].astype(int)
        # Has no distance, also where it failed and counts as the cosine.
        frame.loc[frame["method"] == "lda-classifier", ["auc", "map"]] = np.nan
        self.frame = frame
        settings = frame.groupby("set")["setting"].nunique()
        self.sets = [name for name in SETS if name in settings]
        self.complete = [name for name in self.sets if settings[name] == len(SETTINGS)]
        self.means = frame.groupby(["set", "way", "count", "method"])[list(MEASURES)].mean()
        places = ["way", "set", "count", "seed"]
        self.wide = {
            m: frame.set_index([*places, "method"])[m].unstack("method") for m in MEASURES
        }

    def methods(self, way):
        """Return the methods of a way to mark, ours last."""
        return list(dict.fromkeys(self.frame[self.frame["way"] == way]["method"]))

    def mean(self, way, count, method, measure, sets=None):
        """Return the mean over some sets; by default, those that have every setting."""
        places = [(name, way, count, method) for name in sets or self.complete]
        values = [self.means[measure].get(place, np.nan) for place in places]
        return float(np.mean(values)) if values else np.nan

    def gain(self, way, method, measure, sets=None):
        """Return the gain over the cosine for every count."""
        return [
            SIGN[measure]
            * (
                self.mean(way, count, method, measure, sets)
                - self.mean(way, count, "euclidean", measure, sets)
            )
            for count in WAYS[way]
        ]

    def tests(self, way, other, measure):
        """Test ours against another method on each set and count.

        Returns
        -------
        dict
            (set, count) -> (gain of ours, p of Wilcoxon's test after Holm's correction).
        """
        wide = self.wide[measure].loc[way]
        found = {}
        if other in wide:
            for place, rows in wide[[OURS, other]].dropna().groupby(level=["set", "count"]):
                gain = SIGN[measure] * (rows[OURS] - rows[other]).to_numpy()
                p = wilcoxon(gain).pvalue if np.any(gain) and len(gain) > 1 else 1.0
                found[place] = float(gain.mean()), float(p)
        corrected = holm([p for _, p in found.values()])
        return {k: (g, p) for (k, (g, _)), p in zip(found.items(), corrected, strict=True)}


def number(value):
    return "" if np.isnan(value) else f"{value:.1f}"


def bold_best(rows, best):
    """Return rows of text with the best number of each column in bold."""
    columns = np.array(rows, dtype=float)
    lines = []
    for row in columns:
        cells = []
        for k, value in enumerate(row):
            chosen = np.nanmax(columns[:, k]) if best > 0 else np.nanmin(columns[:, k])
            cells.append(f"**{number(value)}**" if value == chosen else number(value))
        lines.append(cells)
    return lines


def one_count(results, way="pairs", count=100):
    """Return the three measures of every method on every set, for one number of marks."""
    rows = []
    for method in results.methods(way):
        cells = [
            " / ".join(number(results.mean(way, count, method, m, [name])) for m in MEASURES)
            for name in results.sets
        ]
        rows.append([title(method), *cells])
    head = ["%", *(SET_NAMES[name] for name in results.sets)]
    return table(head, rows)


def in_brief(results, way="pairs", count=100):
    """Return the measures of every method, as a mean over the complete sets and for each other."""
    groups = {f"mean of {len(results.complete)} sets": results.complete}
    groups |= {SET_NAMES[name]: [name] for name in results.sets if name not in results.complete}
    rows = []
    for method in results.methods(way):
        cells = [results.mean(way, count, method, m, g) for g in groups.values() for m in MEASURES]
        rows.append([title(method), *map(number, cells)])
    return table(["%", *(f"{NAMES[m]}, {name}" for name in groups for m in MEASURES)], rows)


def marks_name(way, count):
    """Return how a number of marks is called in the tables."""
    if way == "classes":
        return f"{count} label{'s' if count > 1 else ''} a class"
    return f"{count:,} {way}"


def by_count(results, ways):
    """Return a table of means over sets for each measure."""
    parts = []
    for measure in MEASURES:
        places = [(way, count) for way in ways for count in WAYS[way]]
        methods = list(dict.fromkeys(m for way in ways for m in results.methods(way)))
        rows = [[results.mean(*place, m, measure) for place in places] for m in methods]
        cells = bold_best(rows, SIGN[measure])
        head = [NAMES[measure], *(marks_name(way, count) for way, count in places)]
        kept = [
            [title(m), *line]
            for m, line, row in zip(methods, cells, rows, strict=True)
            if not np.isnan(row).all()
        ]
        parts.append(table(head, kept))
    return "\n\n".join(parts)


def by_set(results, way="pairs"):
    """Return cosine and ours on every set, for every number of marks."""
    rows = []
    for name in results.sets:
        for measure in MEASURES:
            plain = [results.mean(way, c, "euclidean", measure, [name]) for c in WAYS[way]]
            ours = [results.mean(way, c, OURS, measure, [name]) for c in WAYS[way]]
            cells = [number(value) for value in ours]
            rows.append([SET_NAMES[name], NAMES[measure], number(np.nanmean(plain)), *cells])
    return table(["set", "measure", "cosine", *(f"{c:,} marks" for c in WAYS[way])], rows)


def wins(results):
    """Count where ours is better and worse on average, and where significantly."""
    rows = []
    for way in WAYS:
        for other in results.methods(way):
            if other == OURS:
                continue
            cells = []
            for measure in MEASURES:
                tests = results.tests(way, other, measure)
                counts = [
                    sum(sign * gain > 0 and p < level for gain, p in tests.values())
                    for level in (2, LEVEL)
                    for sign in (1, -1)
                ]
                cells.append("{} / {} ({} / {})".format(*counts) if tests else "")
            rows.append([WAY_NAMES[way], title(other), *cells])
    return table(["from", "against", *(NAMES[m] for m in MEASURES)], rows)


def losses(results):
    """List where ours is worse than the cosine on average."""
    rows = []
    for way in WAYS:
        for measure in MEASURES:
            for (name, count), (gain, p) in results.tests(way, "euclidean", measure).items():
                if gain < 0:
                    significant = "yes" if p < LEVEL else "no"
                    rows.append(
                        [
                            SET_NAMES[name],
                            marks_name(way, count),
                            NAMES[measure],
                            f"{gain:+.1f}",
                            significant,
                        ]
                    )
    if not rows:
        return "None."
    return table(["set", "marks", "measure", "points", "significant"], rows)


def failures(results):
    """List the methods that failed, with the number of fits and the first reason."""
    if "failed" not in results.frame:
        return "None."
    failed = results.frame.dropna(subset="failed")
    rows = [
        [title(method), setting, len(group), group["failed"].iloc[0]]
        for (method, setting), group in failed.groupby(["method", "setting"])
    ]
    return table(["method", "marks", "fits", "reason"], rows)


def seconds(results):
    """Return the mean CPU seconds of a fit and its judging, by number of pairs at random."""
    frame = results.frame[results.frame["way"] == "pairs"]
    wide = frame.pivot_table(index="method", columns="count", values="seconds")
    rows = [[title(m), *(f"{v:.2f}" for v in wide.loc[m])] for m in results.methods("pairs")]
    return table(["CPU seconds", *(f"{c} pairs" for c in wide.columns)], rows)


def sets_table(results):
    rows = []
    for name in results.sets:
        X, y = load(name)
        about = _data.SETS[name]
        sizes = [f"{len(X):,}", X.shape[1], len(np.unique(y))]
        rows.append([SET_NAMES[name], *sizes, about.source, about.license])
    return table(["set", "rows", "features", "classes", "source", "license"], rows)


def every_set(results):
    """Return the means of every set, setting and method."""
    parts = []
    for name in results.sets:
        for way in WAYS:
            found = results.means.loc[name]
            if way not in found.index.get_level_values(0):
                continue
            counts = sorted(set(found.loc[way].index.get_level_values(0)))
            for measure in MEASURES:
                rows = []
                for m in results.methods(way):
                    rows.append([found.loc[(way, c, m), measure] for c in counts])
                cells = bold_best(rows, SIGN[measure])
                head = [
                    f"{SET_NAMES[name]}; {WAY_NAMES[way]}: {NAMES[measure]}",
                    *map(str, counts),
                ]
                kept = [
                    [title(m), *line]
                    for m, line, row in zip(results.methods(way), cells, rows, strict=True)
                    if not np.isnan(row).all()
                ]
                parts.append(table(head, kept))
    return "\n\n".join(parts)


def draw(results, path):
    """Draw the gain over the cosine against the number of marks, mean over the sets.

    A set that is too small for some number of pairs at random has its own column.
    """

    def column(way, sets, about):
        def gain(method, measure):
            return results.gain(way, method, measure, sets)

        label = "labels a class" if way == "classes" else "marked pairs"
        return Column(f"{WAY_NAMES[way]}\n({about})", label, WAYS[way], gain)

    small = [name for name in results.sets if name not in results.complete]
    columns = [column(way, results.complete, f"{len(results.complete)} sets") for way in WAYS]
    columns += [column("pairs", [name], SET_NAMES[name]) for name in small]
    methods = list(dict.fromkeys(m for way in WAYS for m in results.methods(way)))
    draw_gains(path, columns, MEASURES, methods, lowest=-8.0, size=(3.4 * len(columns), 9.5))


def _gains(results, way, count):
    """Return the gains of ours over the cosine in words."""
    place = WAYS[way].index(count)
    found = {m: results.gain(way, OURS, m)[place] for m in MEASURES}
    fewer = "fewer" if found["error"] >= 0 else "more"
    return (
        f"{found['auc']:+.1f} points of pair AUC, {found['map']:+.1f} of MAP@R, and "
        f"{abs(found['error']):.1f} points {fewer} errors"
    )


def how_many(results):
    """Say what few and many marks at random gain over the cosine."""
    few, many = WAYS["pairs"][0], WAYS["pairs"][-1]
    return (
        f"Pairs at random, {title(OURS)} against the cosine, mean of {len(results.complete)} "
        f"sets: {few} marks give {_gains(results, 'pairs', few)}; {many:,} marks give "
        f"{_gains(results, 'pairs', many)}."
    )


def near_or_random(results, count=100):
    """Say what marks of near neighbors gain."""
    return (
        f"{count} marks, {title(OURS)} against the cosine, mean of {len(results.complete)} "
        f"sets. At random: {_gains(results, 'pairs', count)}. Near neighbors: "
        f"{_gains(results, 'near', count)}."
    )


def from_classes(results):
    """Say how the classifiers compare with the nearest labeled row."""
    methods = ("logistic", "lda-classifier", OURS, "euclidean")
    lines = []
    for count in WAYS["classes"]:
        errors = [
            f"{title(m)} {number(results.mean('classes', count, m, 'error'))} %" for m in methods
        ]
        lines.append(f"- **{marks_name('classes', count)}**: error {', '.join(errors)}.")
    return "\n".join(lines)


def parts_of(results):
    """Return the parts of the pages by the names of their markers."""
    counts = results.frame.groupby(["set", "setting"])["seed"].nunique()
    return {
        "embeddings-100": one_count(results),
        "embeddings-brief": in_brief(results),
        "embeddings-pairs": by_count(results, ("pairs", "near")),
        "embeddings-classes": by_count(results, ("classes",)),
        "embeddings-by-set": by_set(results),
        "embeddings-how-many": how_many(results),
        "embeddings-near": near_or_random(results),
        "embeddings-from-classes": from_classes(results),
        "embeddings-wins": wins(results),
        "embeddings-losses": losses(results),
        "embeddings-failures": failures(results),
        "embeddings-seconds": seconds(results),
        "embeddings-sets": sets_table(results),
        "embeddings-samplings": f"{counts.min()} to {counts.max()} samplings of "
        f"{len(results.sets)} sets."
        if counts.min() < counts.max()
        else f"{counts.max()} samplings of {len(results.sets)} sets.",
    }


def write(records, docs):
    """Fill the page in `docs`, and write the table of every set and the picture; return paths.

    Raises
    ------
    ValueError
        If there are no records.
    """
    if not any(not r.get("skipped") for r in records):
        raise ValueError("there are no records yet: python -m benchmarks.embeddings run")
    results = Results(records)
    parts = parts_of(results)
    paths = [docs / "images" / "embeddings-gain.png", docs / "results" / "embeddings.md"]
    draw(results, paths[0])
    head = "# Adapted embeddings: every set\n\nMean over samplings, in %; the best in bold.\n\n"
    summary = "\n\n".join(f"## {name}\n\n{part}" for name, part in parts.items())
    paths[1].write_text(f"{head}{summary}\n\n## every set\n\n{every_set(results)}\n")
    page = docs / "adapt_embedding.md"
    page.write_text(fill(page.read_text(), parts))
    return [*paths, page]
