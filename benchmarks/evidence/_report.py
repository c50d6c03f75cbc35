"""Write every table and the picture from the log.

A *gain* is a paired difference on the same samplings, in points, positive where the first method
is better (of errors: lower). On one set, the interval is Student's over the samplings; over sets,
sets are resampled. Tables and embeddings are never averaged together.
"""

from collections import defaultdict

import numpy as np
from matplotlib.figure import Figure
from scipy.stats import t as student
from scipy.stats import wilcoxon

from benchmarks._stamp import fill, table

from . import _data
from ._methods import CLASSIFIERS, METHODS, OURS, RIVALS
from ._packages import PACKAGES
from ._run import LOOKS, read_log
from ._tasks import JUDGED, SEEN, SETTINGS

MEASURES = {"auc": "pair AUC", "map": "MAP@R", "error": "1-NN error"}
KINDS = ("tables", "embeddings")
ALT = "What MeanMetric gains in pair AUC, on every set"
DRAWS = 10_000
FEWEST = 5  # sets
LEARNED = ("mean", "seraph")  # what the page is about
SHOWN = ("mean", "seraph", "itml", "gmml", "self", "lrml")  # on the page, of the losses
ALONE = [name for name in RIVALS if "+" not in name]
CLASS_CASES = [(setting, kind) for setting in SETTINGS[:2] for kind in KINDS]
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
    return "embeddings" if _data.SETS[name]["kind"] == "embedding" else "tables"


def spell(setting):
    """Write a setting: ``labels-20`` as "20 labels"."""
    what, count = setting.split("-")
    return f"{count} {what}"


def spell_case(setting, kind, measure):
    """Write a case: "20 labels, tables, pair AUC"."""
    return f"{spell(setting)}, {kind}, {MEASURES[measure]}"


# Numbers


def interval(values, level=0.95):
    """Return Student's interval of the mean of some samplings; NaN for a single one.

    Examples
    --------
    >>> interval(np.array([1.0, 2.0, 3.0]))
    (-0.48..., 4.48...)
    """
    if len(values) < 2:
        return np.nan, np.nan
    half = student.ppf((1 + level) / 2, len(values) - 1) * values.std(ddof=1) / len(values) ** 0.5
    return float(values.mean() - half), float(values.mean() + half)


def summarize(gains):
    """Return mean and median over sets, their 95 % intervals, the signed-rank test and losses.

    Parameters
    ----------
    gains : dict
        Set -> gains of the samplings.
    """
    means = np.array([values.mean() for values in gains.values()])
    draws = np.random.default_rng(0).integers(len(means), size=(DRAWS, len(means)))
    few = np.nan if len(means) < FEWEST else 0.0  # too few sets to resample
    summary = {"sets": len(means), "worse": int((means < -1e-9).sum())}
    summary["surely worse"] = sum(interval(values)[1] < 0 for values in gains.values())
    for title, function in (("mean", np.mean), ("median", np.median)):
        low, high = np.quantile(function(means[draws], axis=1), [0.025, 0.975])
        summary[title] = float(function(means)), float(low) + few, float(high) + few
    moved = np.abs(means) > 1e-9
    summary["p"] = float(wilcoxon(means[moved]).pvalue) if moved.any() else 1.0
    return summary


def show(value, low, high):
    """Write a difference with its interval, bold where the interval excludes zero.

    Examples
    --------
    >>> show(1.25, 0.5, 2.0), show(-0.3, -1.0, 0.4)
    ('**+1.2** [+0.5, +2.0]', '-0.3 [-1.0, +0.4]')
    """
    text = f"**{value:+.1f}**" if low > 0 or high < 0 else f"{value:+.1f}"
    return text if np.isnan(low) else f"{text} [{low:+.1f}, {high:+.1f}]"


# Tables


def page_table(results, measures=MEASURES):
    """Return the table of the page: what MeanMetric and SERAPH gain, in every setting."""
    rows = []
    for setting, kind, measure in cases(results):
        if measure in measures:
            best = results.best_rival(setting, kind, measure)
            cells = []
            for method in LEARNED:
                for other in ("euclidean", best):
                    gains = results.gains(setting, kind, method, other, measure)
                    summary = summarize(gains)
                    worse = f"{summary['worse']}/{summary['sets']}"
                    cells.append(f"{show(*summary['mean'])}, {worse}")
            case = spell_case(setting, kind, measure)
            rows.append([case, cells[0], cells[2], METHODS[best].title, cells[1], cells[3]])
    header = ["", "MeanMetric - not learning", "SERAPH - not learning", "best rival"]
    return table([*header, "MeanMetric - best rival", "SERAPH - best rival"], rows)


def losing_cases(results):
    """Return in which cases MeanMetric and SERAPH are behind, and in how many they are ahead."""
    lines = []
    for method in LEARNED:
        for title, other in (("not learning", "euclidean"), ("the best rival", None)):
            sure, unsure, ahead = [], 0, dict.fromkeys(KINDS, 0)
            for setting, kind, measure in cases(results):
                rival = other or results.best_rival(setting, kind, measure)
                gains = results.gains(setting, kind, method, rival, measure)
                mean, low, high = summarize(gains)["mean"]
                ahead[kind] += low > 0
                unsure += mean < 0 <= high
                if high < 0:
                    sure.append(f"{spell_case(setting, kind, measure)} ({mean:+.1f})")
            listed = f" ({'; '.join(sure)})" if sure else ""
            won = " and ".join(f"{count} on {kind}" for kind, count in ahead.items())
            lines.append(
                f"- **{METHODS[method].title}** against {title}: surely behind in {len(sure)} of "
                f"{len(cases(results))} cases{listed}, behind on average in {unsure} more; surely "
                f"ahead in {won}.\n"
            )
    return "".join(lines)


def cases(results):
    """Return the settings, kinds and measures that the log has."""
    return [
        (setting, kind, measure)
        for setting in SETTINGS
        for kind in KINDS
        for measure in MEASURES
        if results.gains(setting, kind, "mean", "euclidean", measure)
    ]


def comparison_row(title, gains):
    """Return mean, median, test and losses of one comparison."""
    summary = summarize(gains)
    return [
        title,
        show(*summary["mean"]),
        show(*summary["median"]),
        f"{summary['p']:.3f}",
        f"{summary['worse']} ({summary['surely worse']}) of {summary['sets']}",
    ]


COMPARISON = ["", "mean [95 %]", "median [95 %]", "signed-rank p", "sets worse (surely)"]


def all_comparisons(results, stamp):
    """Return a section for each case: ours against all others, and against parts of it."""
    text = ""
    for setting, kind, measure in cases(results):
        rows = []
        for method in LEARNED:
            for other in ("euclidean", *RIVALS):
                gains = results.gains(setting, kind, method, other, measure)
                if gains:
                    title = f"{METHODS[method].title} - {METHODS[other].title}"
                    rows.append(comparison_row(title, gains))
        for title, pair in PAIRED.items():
            rows.append(comparison_row(title, results.gains(setting, kind, *pair, measure)))
        text += f"### {spell_case(setting, kind, measure)}\n\n"
        text += f"{table(COMPARISON, rows)}\n*{stamp}.*\n\n"
    return text


def tally(results, rivals=RIVALS):
    """Return in how many cases a comparison is surely ahead or behind, and its range of means."""
    pairs = {f"MeanMetric - {METHODS[other].title}": ("mean", other) for other in rivals} | PAIRED
    rows = []
    for title, (method, other) in pairs.items():
        means = [
            summarize(gains)["mean"]
            for case in cases(results)
            if (gains := results.gains(case[0], case[1], method, other, case[2]))
        ]
        ahead = sum(low > 0 for _, low, _ in means)
        behind = sum(high < 0 for *_, high in means)
        values = [mean for mean, *_ in means]
        span = f"{min(values):+.1f} to {max(values):+.1f}"
        rows.append([title, f"{ahead}/{len(means)}", f"{behind}/{len(means)}", span])
    return table(["", "surely ahead", "surely behind", "means"], rows)


def losses(results, methods=(*OURS, *RIVALS)):
    """Return how many cases get worse than without learning, a table for each kind of set.

    A case is a set with 20 or with 100 labels, or a set with 100 pairs.
    """
    text = ""
    columns = [(what, measure) for what in ("labels", "pairs") for measure in MEASURES]
    for kind in KINDS:
        rows = []
        for method in methods:
            row = [METHODS[method].title]
            for what, measure in columns:
                means = [
                    values.mean()
                    for setting in SETTINGS
                    if setting.startswith(what)
                    for values in results.gains(
                        setting, kind, method, "euclidean", measure
                    ).values()
                ]
                row.append(f"{np.sum(np.array(means) < -1e-9)}/{len(means)}" if means else "")
            rows.append(row)
        header = [f"{MEASURES[measure]}, {what}" for what, measure in columns]
        text += table([kind, *header], rows) + "\n"
    return text


def classes_table(results):
    """Return what MetricClassifier gains in error over other classifiers."""
    rows = []
    for setting, kind in CLASS_CASES:
        for other in ("euclidean", *CLASSIFIERS):
            gains = results.gains(setting, kind, "classifier", other, "error")
            if gains and other != "classifier":
                title = f"{spell(setting)}, {kind}: - {METHODS[other].title}"
                rows.append(comparison_row(title, gains))
    return table(COMPARISON, rows)


def short_classes_table(results):
    """Return the means of `classes_table`, and how many sets get worse, a row for each rival."""
    rows = []
    for other in ("euclidean", *(name for name in CLASSIFIERS if name != "classifier")):
        row = [METHODS[other].title]
        for setting, kind in CLASS_CASES:
            gains = results.gains(setting, kind, "classifier", other, "error")
            summary = summarize(gains) if gains else {}
            worse = f", {summary['worse']}/{summary['sets']}" if gains else ""
            row.append(show(*summary["mean"]) + worse if gains else "")
        rows.append(row)
    return table(["", *(f"{spell(setting)}, {kind}" for setting, kind in CLASS_CASES)], rows)


def set_tables(results, stamp):
    """Return a table for each case: every set, sorted by what MeanMetric gains."""
    text = ""
    for setting, kind, measure in cases(results):
        k, best = list(MEASURES).index(measure), results.best_rival(setting, kind, measure)
        shown = ("euclidean", "seraph", "mean", best)
        to_plain = results.gains(setting, kind, "mean", "euclidean", measure)
        to_best = results.gains(setting, kind, "mean", best, measure)
        rows = []
        for name in sorted(to_plain, key=lambda name: -to_plain[name].mean()):
            values = [results.values[name, setting, method][:, k] for method in shown]
            differences = [
                show(gains[name].mean(), *interval(gains[name])) for gains in (to_plain, to_best)
            ]
            rows.append([name, *(f"{np.nanmean(one):.1f}" for one in values), *differences])
        text += f"### {spell_case(setting, kind, measure)}\n\n"
        header = ["set", *(METHODS[method].title for method in shown)]
        text += table([*header, "MeanMetric - not learning", "- best rival"], rows)
        text += f"\n*{stamp}.*\n\n"
    return text


def about_methods(results):
    """Return the median CPU seconds of a fit, and how often a method failed."""
    rows = []
    for name, method in METHODS.items():
        failures = sum(count for key, count in results.notes.items() if key[2] == name)
        seconds = [results.seconds.get((kind, name)) for kind in KINDS]
        rows.append([method.title, *("" if s is None else f"{s:.2f}" for s in seconds), failures])
    return table(["", "seconds, tables", "seconds, embeddings", "failures"], rows)


def about_sets(results):
    """Return the sets with their sources and licenses."""
    rows = []
    for name in results.sets:
        row = _data.SETS[name]
        samplings = [key for key in results.values if key[0] == name and key[2] == "mean"]
        settings = ", ".join(setting for _, setting, _ in samplings)
        source = PACKAGES[row["package"]]["spec"] if row["package"] else "this repository"
        rows.append([name, source, row["license"], row["rows"], settings])
    return table(["set", "source", "license", "rows", "settings"], rows)


# The picture


def draw_gains(results, stamp, path):
    """Draw what MeanMetric gains in pair AUC on every set, in each setting."""
    names = [name for kind in KINDS for name in results.sets if kind_of(name) == kind]
    figure = Figure(figsize=(11, 1.5 + 0.22 * len(names)), layout="constrained")
    panels = figure.subplots(1, len(SETTINGS), sharex=True, squeeze=False)[0]
    for panel, setting in zip(panels, SETTINGS, strict=True):
        place, ticks = 0, []
        for kind in reversed(KINDS):
            plain = results.gains(setting, kind, "mean", "euclidean", "auc")
            best = results.best_rival(setting, kind, "auc")
            rival = results.gains(setting, kind, "mean", best, "auc") if best else {}
            for name in sorted(plain, key=lambda name: plain[name].mean()):
                for gains, color, shift in ((plain, "C0", 0.12), (rival, "C1", -0.12)):
                    mean, ends = gains[name].mean(), interval(gains[name])
                    panel.plot(ends, [place + shift] * 2, color=color, linewidth=1)
                    panel.plot(mean, place + shift, "o", color=color, markersize=4)
                ticks.append(name)
                place += 1
            place += 1
            ticks.append("")
        panel.set_yticks(range(len(ticks)), ticks, fontsize=7)
        panel.axvline(0, color="0.6", linewidth=0.8)
        panel.set_title(spell(setting), fontsize=10)
    figure.supxlabel("points of pair AUC; lines are 95 % intervals over samplings", fontsize=9)
    figure.suptitle(
        "What MeanMetric gains over not learning (blue) and over the best rival (orange)\n"
        + stamp,
        fontsize=9,
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110, metadata={"Software": None})


# Pages


def write_report(log, docs):
    """Write ``results/evidence.md``, the picture, and the blocks of ``evidence.md``."""
    stamp, rows = read_log(log)
    results = Results(rows)
    if not results.values:
        raise SystemExit(f"{log} has no results yet: python -m benchmarks.evidence run.")
    judged = set(results.sets) <= _data.GROUPS["judging"].keys()
    group = "sets for judging" if judged else "sets for choosing (these figures judge nothing)"
    looks = max(0, len(LOOKS.read_text(encoding="utf-8").splitlines()) - 1)
    samplings = results.count_samplings()
    about = (
        f"{len(results.sets)} sets ({group}); {samplings} samplings, 10 of slow methods. "
        f"A learner sees at most {SEEN:,} rows, and at most {JUDGED} others judge it. "
        f"Looks at the sets for judging so far: {looks}. *{stamp}.*\n"
    )
    summary = f"{page_table(results, ('auc',))}\n*{samplings} samplings; {stamp}.*\n"
    blocks = {
        "about": about,
        "behind": f"{losing_cases(results)}\n*{stamp}.*\n",
        "gains": f"{page_table(results)}\n*{stamp}.*\n",
        "picture": f"![{ALT}](images/evidence.png)\n\n*{stamp}.*\n",
        "summary": summary,
        "readme": f"Gains in pair AUC, in points, on {len(results.sets)} {group}, with a 95 % "
        "interval, and how many sets get worse. [All measures, and where it loses]"
        f"(docs/evidence.md)\n\n{summary}",
        "losses": f"{losses(results, SHOWN)}*{stamp}.*\n",
        "tally": f"{tally(results, ALONE)}\n*{stamp}.*\n",
        "classes": f"{short_classes_table(results)}\n*{stamp}.*\n",
    }
    sections = {
        "Gains": blocks["gains"],
        "Sets that get worse": f"{losses(results)}*{stamp}.*\n",
        "Sure gains and losses": f"{tally(results)}\n*{stamp}.*\n",
        "From classes: MetricClassifier": f"{classes_table(results)}\n*{stamp}.*\n",
        "All comparisons": all_comparisons(results, stamp),
        "Every set": set_tables(results, stamp),
        "Methods": f"{about_methods(results)}\n*{stamp}.*\n",
        "Sets": about_sets(results),
    }
    text = "".join(f"\n## {title}\n\n{section}" for title, section in sections.items())
    path = docs / "results" / "evidence.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"# Evidence: all tables\n\n{about}{text}", encoding="utf-8")
    draw_gains(results, stamp, docs / "images" / "evidence.png")
    pages = (docs / "evidence.md", docs.parent / "README.md", docs.parent / "paper" / "paper.md")
    for page in pages:
        fill(page, "evidence", blocks)
