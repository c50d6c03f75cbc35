"""Write every table and the picture from the log.

Tables and embeddings are never averaged together.
"""

from itertools import zip_longest

import numpy as np
from matplotlib.figure import Figure

from benchmarks._stamp import fill, table

from . import _data
from ._methods import CLASSIFIERS, METHODS, OURS, RIVALS
from ._packages import PACKAGES
from ._results import (
    KINDS,
    LEARNED,
    MEASURES,
    PAIRED,
    Results,
    flip_p_value,
    interval,
    spell,
    spell_case,
)
from ._run import LOOKS, read_log
from ._tasks import JUDGED, NEW_CLASSES, SEEN

ALONE = [name for name in RIVALS if "+" not in name]
# Rows of a picture: the methods that MeanMetric is compared with.
DRAWN = {"euclidean": "not learning"} | {
    name: METHODS[name].title.replace("LabelSpreading, then", "spread,").partition(", C")[0]
    for name in ("seraph", *ALONE, *CLASSIFIERS)
}


# Lines of the curves.
CURVES = {"mean": "MeanMetric", "itml": "ITML", "gmml": "GMML", "layer": "fine-tuned layer"}
CURVES |= {"pair-classifier": "PairClassifier", "classifier": "MetricClassifier"}
CURVES |= {"logistic": "logistic regression"}


# Tables


def show(figures, sure):
    """Write a difference with its interval, bold if it is sure.

    Examples
    --------
    >>> show({"mean": 1.25, "ends": (0.5, 2.0)}, True)
    '**+1.2** [+0.5, +2.0]'
    """
    text = f"**{figures['mean']:+.1f}**" if sure else f"{figures['mean']:+.1f}"
    low, high = figures["ends"]
    return text if np.isnan(low) else f"{text} [{low:+.1f}, {high:+.1f}]"


def cell(results, *key):
    """Write a comparison over sets, and how many get worse; nothing if the log lacks it."""
    figures = results.compare(*key)
    if figures is None:
        return ""
    return f"{show(figures, results.sure(*key))}, {figures['worse']}/{figures['sets']}"


def short_table(results):
    """Return what MeanMetric gains over not learning and over the best rival, a row a setting."""
    rows = []
    for setting, kind in results.places:
        cases = [(setting, kind, measure) for measure in MEASURES]
        plain = [cell(results, *case, "mean", "euclidean") for case in cases]
        rival = [cell(results, *case, "mean", results.best_rival(*case)) for case in cases]
        rows.append([f"{spell(setting)}, {kind}", *plain, *rival])
    others = [f"{title}, best rival" for title in MEASURES.values()]
    return table(
        ["MeanMetric -", *(f"{t}, not learning" for t in MEASURES.values()), *others], rows
    )


def count_sure(results, keys):
    """Return how many comparisons are surely ahead and behind, each (before correction)."""
    counts = []
    for sign in (1, -1):
        before = [key for key in keys if sign * results.compare(*key)["mean"] > 0]
        before = [key for key in before if results.compare(*key)["p"] < 0.05]
        counts.append(f"{sum(results.sure(*key) == sign for key in before)} ({len(before)})")
    return counts


def headline(results):
    """Return three sentences: against not learning, against learners, and of SERAPH alone.

    Nothing from a log that lacks their sets or methods.
    """

    def compared(kind, measure, *pair):
        places = [place for place in results.places if place[1] == kind]
        found = {place: results.compare(*place, measure, *pair) for place in places}
        return {place: one for place, one in found.items() if one}

    def span(found):
        means = sorted({f"{one['mean']:+.1f}" for one in found.values()}, key=float)
        return " to ".join(dict.fromkeys((means[0], means[-1])))

    def gain(kind, measure, *pair):
        found = compared(kind, measure, *pair)
        worse, sets = (sum(one[key] for one in found.values()) for key in ("worse", "sets"))
        return f"{span(found)} on {kind} (worse in {worse} of {sets} cases)"

    def counts(rival):
        keys = [(*case, "mean", rival or results.best_rival(*case)) for case in results.cases]
        ahead, behind = count_sure(results, keys)
        return f"surely ahead in {ahead} and surely behind in {behind} of {len(keys)} comparisons"

    kinds = list(dict.fromkeys(kind for _, kind in results.places))
    itml = compared("tables", "auc", "mean", "itml")
    gmml = compared("embeddings", "auc", "mean", "gmml")
    if not (itml and gmml and compared("tables", "auc", "seraph", "euclidean")):
        return ""
    seconds = [f"{results.seconds['tables', name]:.2f} s" for name in ("itml", "mean")]
    (setting, kind), _ = max(gmml.items(), key=lambda item: item[1]["mean"])
    gains = results.gains(setting, kind, "mean", "gmml", "auc")
    means = {name: values.mean() for name, values in gains.items()}
    first = max(means, key=means.__getitem__)
    without = np.mean([mean for name, mean in means.items() if name != first])
    keys = [(*case, "seraph", "seraph-mu0") for case in results.cases]
    entropy = "; ".join(
        f"{show(one, results.sure(*key))} {MEASURES[key[2]]}, {spell(key[0])}, {key[1]}"
        for key in keys
        if (one := results.compare(*key)) and one["p"] < 0.05
    )
    plain, lost = (
        ", ".join(gain(kind, measure, name, "euclidean") for kind in kinds)
        for measure, name in (("auc", "mean"), ("error", "seraph"))
    )
    return (
        f"- **MeanMetric against not learning**: pair AUC {plain}; {counts('euclidean')}.\n"
        f"- **MeanMetric against other learners**: {counts(None)} with the best rival. On tables, "
        f"pair AUC {span(itml)} against ITML, which takes "
        f"{seconds[0]} and MeanMetric {seconds[1]}. On embeddings, {span(gmml)} against GMML; "
        f"without one set of {len(means)}, {first}, {without:+.1f} with {spell(setting)}.\n"
        f"- **SERAPH alone** may lose neighbors: 1-NN error {lost}. Where its entropy "
        f"matters (p < 0.05 before correction): {entropy}.\n"
    )


COMPARISON = ["", "mean [95 %]", "t: p", "corrected", "flips: p", "sets worse (surely)"]


def comparison_rows(results, titled):
    """Return mean, tests and losses of some comparisons, given by their titles."""
    rows = []
    for title, key in titled.items():
        figures = results.compare(*key)
        if figures:
            flips = flip_p_value(figures["means"])
            p_values = (
                f"{p:.3f}" for p in (figures["p"], results.corrected(*key[3:])[key[:3]], flips)
            )
            worse = f"{figures['worse']} ({figures['surely worse']}) of {figures['sets']}"
            rows.append([title, show(figures, results.sure(*key)), *p_values, worse])
    return rows


def all_comparisons(results, stamp):
    """Return a section for each case: ours against all others, and against parts of it."""
    text = ""
    for case in results.cases:
        titled = {
            f"{METHODS[method].title} - {METHODS[other].title}": (*case, method, other)
            for method in LEARNED
            for other in ("euclidean", *RIVALS, *CLASSIFIERS)
        }
        titled |= {title: (*case, *pair) for title, pair in PAIRED.items()}
        rows = comparison_rows(results, titled)
        text += f"### {spell_case(*case)}\n\n{table(COMPARISON, rows)}\n*{stamp}.*\n\n"
    return text


def tally(results):
    """Return in how many cases a comparison is surely ahead or behind, and its range of means."""
    others = (*RIVALS, *CLASSIFIERS)  # as similarities, with labels
    pairs = {f"MeanMetric - {METHODS[other].title}": ("mean", other) for other in others} | PAIRED
    rows = []
    for title, pair in pairs.items():
        keys = [key for case in results.cases if results.compare(*(key := (*case, *pair)))]
        if keys:
            means = [results.compare(*key)["mean"] for key in keys]
            span = f"{min(means):+.1f} to {max(means):+.1f}"
            rows.append([title, *count_sure(results, keys), len(keys), span])
    return table(["", "surely ahead (before correction)", "surely behind", "of", "means"], rows)


def losses(results):
    """Return how many cases get worse than without learning, a table for each kind of set.

    A case is a set with 20 or with 100 labels, or a set with 100 pairs.
    """
    text = ""
    for kind in dict.fromkeys(kind for _, kind in results.places):
        settings = [setting for setting, one in results.places if one == kind]
        whats = dict.fromkeys(setting.partition("-")[0] for setting in settings)
        columns = [(what, measure) for what in whats for measure in MEASURES]
        rows = []
        for method in (*OURS, *RIVALS):
            row = [METHODS[method].title]
            for what, measure in columns:
                means = [
                    values.mean()
                    for setting in settings
                    if setting.startswith(what)
                    for values in results.gains(
                        setting, kind, method, "euclidean", measure
                    ).values()
                ]
                row.append(f"{np.sum(np.array(means) < -1e-9)}/{len(means)}" if means else "")
            rows += [row] if any(row[1:]) else []
        header = [f"{MEASURES[measure]}, {what}" for what, measure in columns]
        text += table([kind, *header], rows) + "\n"
    return text


def classes_table(results):
    """Return what MetricClassifier gains in error, a row for each other classifier."""
    places = [place for place in results.places if "labels" in place[0]]
    rows = [
        [
            METHODS[other].title,
            *(cell(results, *place, "error", "classifier", other) for place in places),
        ]
        for other in ("euclidean", *CLASSIFIERS)
        if other != "classifier"
    ]
    return table(["", *(f"{spell(setting)}, {kind}" for setting, kind in places)], rows)


def forest_table(results):
    """Return what a forest of pairs adds to MeanMetric, a row a setting and method."""
    rows = []
    for place in results.places:
        for method in ("pair-classifier", "space"):
            cells = [cell(results, *place, measure, method, "mean") for measure in MEASURES]
            if any(cells):
                rows.append([f"{METHODS[method].title}, {spell(place[0])}, {place[1]}", *cells])
    return table(["- MeanMetric", *MEASURES.values()], rows)


def set_tables(results, stamp):
    """Return a table for each case: every set, sorted by what MeanMetric gains."""
    text = ""
    for setting, kind, measure in results.cases:
        k, best = list(MEASURES).index(measure), results.best_rival(setting, kind, measure)
        shown = ("euclidean", "seraph", "mean", best)
        to_plain = results.gains(setting, kind, "mean", "euclidean", measure)
        to_best = results.gains(setting, kind, "mean", best, measure)
        rows = []
        for name in sorted(to_plain, key=lambda name: -to_plain[name].mean()):
            values = [results.values[name, setting, method][:, k] for method in shown]
            differences = []
            for gains in (to_plain, to_best):
                mean, ends = gains[name].mean(), interval(gains[name])
                differences.append(show({"mean": mean, "ends": ends}, ends[0] > 0 or ends[1] < 0))
            rows.append([name, *(f"{np.nanmean(one):.1f}" for one in values), *differences])
        text += f"### {spell_case(setting, kind, measure)}\n\n"
        header = ["set", *(METHODS[method].title for method in shown)]
        text += table([*header, "MeanMetric - not learning", "- best rival"], rows)
        text += f"\n*{stamp}.*\n\n"
    return text


def about_methods(results):
    """Return the median CPU seconds of a fit, and how often a method failed."""
    rows, kinds = [], dict.fromkeys(kind for _, kind in results.places)
    for name, method in METHODS.items():
        failures = sum(count for key, count in results.notes.items() if key[2] == name)
        seconds = [results.seconds.get((kind, name)) for kind in kinds]
        rows.append([method.title, *("" if s is None else f"{s:.2f}" for s in seconds), failures])
    return table(["", *(f"seconds, {kind}" for kind in kinds), "failures"], rows)


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


def gain(results, setting, kind, measure, method):
    """Write a gain over not learning, without a test; nothing if the log lacks it."""
    plain = "euclidean/new" if method.endswith("/new") else "euclidean"
    one = results.compare(setting, kind, measure, method, plain)
    return f"{show(one, False)}, {one['worse']}/{one['sets']}" if one else ""


def new_classes_table(results):
    """Return gains on the classes with marked pairs, and on those without; "" if not run."""
    rows = []
    for kind in dict.fromkeys(KINDS.values()):
        for method in ("mean", "seraph", "gmml", "layer"):
            keys = [(m, method + end) for m in ("auc", "map") for end in ("", "/new")]
            cells = [gain(results, NEW_CLASSES, kind, *key) for key in keys]
            if any(cells):
                rows.append([f"{METHODS[method].title}, {kind}", *cells])
    ends = [f"{MEASURES[m]}, {of}" for m in ("auc", "map") for of in ("marked classes", "others")]
    return table(["", *ends], rows) if rows else ""


def order_of(setting):
    """Return what sorts settings: labels before pairs, plain ones first, by their number."""
    what, count, *change = setting.split("-")
    return what, change[:1], int(count), [int(n) for n in change[1:] if n.isdigit()]


def curves(log, picture=None):
    """Return the gain over not learning of every method and setting of a log, with intervals.

    Draw the gains in pair AUC by the number of labels or pairs, if a file is given for it.
    """
    stamp, rows = read_log(log)
    results, text = Results(rows), ""
    settings = sorted({setting for _, setting, _ in results.values}, key=order_of)
    methods = list(dict.fromkeys(method for *_, method in results.values))
    methods.sort(key=lambda name: (name.endswith("/new"), name in METHODS))  # your own come first
    for kind in dict.fromkeys(KINDS.values()):
        for measure, title in MEASURES.items():
            body = [[m, *(gain(results, s, kind, measure, m) for s in settings)] for m in methods]
            body = [row for row in body if any(row[1:])]
            if body:
                text += table([f"{kind}, {title}", *map(spell, settings)], body) + "\n"
    if picture:
        draw_curves(results, [s for s in settings if s.count("-") == 1], stamp, picture)
    return f"{text}*{len(results.sets)} sets; {results.count_samplings()} samplings; {stamp}.*"


def draw_curves(results, settings, stamp, path):
    """Draw gains over not learning by the number of labels or pairs, with 95 % bands."""
    figure = Figure(figsize=(9, 7), layout="constrained")
    panels = iter(figure.subplots(2, 2, sharey="row").flat)
    for kind in ("tables", "embeddings"):
        for what in ("labels", "pairs"):
            panel, names = next(panels), [s for s in settings if s.startswith(what)]
            for method in CURVES:
                found = [
                    (int(s.split("-")[1]), one["mean"], *one["ends"])
                    for s in names
                    if (one := results.compare(s, kind, "auc", method, "euclidean"))
                    and one["sets"] > 2
                ]
                if found:
                    x, mean, low, high = zip(*found, strict=True)
                    color = f"C{list(CURVES).index(method)}"
                    panel.plot(x, mean, "o-", color=color, markersize=3, label=CURVES[method])
                    panel.fill_between(x, low, high, color=color, alpha=0.07)
            panel.axhline(0, color="0.6", linewidth=0.8)
            panel.set(xscale="log", xlabel=what, title=kind, ylim=(-12, None))
            panel.legend(fontsize=7)
    figure.supylabel("gain in pair AUC over not learning, points", fontsize=9)
    figure.supxlabel(stamp, fontsize=7)
    figure.savefig(path, dpi=110, metadata={"Software": None})


# The picture


def draw_forests(results, measure, stamp, path):
    """Draw MeanMetric less each rival: a panel a setting, a row a rival, a dot a set."""
    rows = -(-len(results.places) // 2)
    figure = Figure(figsize=(9, 0.8 + 2.5 * rows), layout="constrained")
    panels = figure.subplots(rows, 2, squeeze=False).flat
    for panel, place in zip_longest(panels, results.places):
        if place is None:
            panel.axis("off")
        else:
            draw_forest(results, (*place, measure), panel)
    figure.supxlabel(
        f"MeanMetric less the rival in {MEASURES[measure]}, in points; right of 0 MeanMetric is "
        f"better.\nDots: sets. Lines: 95 % interval of the mean, green or red if sure.\n{stamp}",
        fontsize=8,
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110, metadata={"Software": None})


def draw_forest(results, case, panel):
    """Draw a panel: the rivals of a case; sets far out are at the edge."""
    keys = {name: (*case, "mean", name) for name in DRAWN}
    found = {name: results.compare(*key) for name, key in keys.items() if results.compare(*key)}
    low, high = np.quantile(np.hstack([one["means"] for one in found.values()]), [0.02, 0.98])
    low, high = min(low, -0.2 * high), max(high, -0.2 * low)
    for place, (name, one) in enumerate(found.items()):
        color = ("0.25", "C2", "C3")[results.sure(*keys[name])]
        shifts = 0.5 * np.random.default_rng(0).uniform(-0.5, 0.5, one["sets"])
        panel.plot(one["means"].clip(low, high), place + shifts, ".", color="C0", alpha=0.4)
        panel.plot(one["ends"], [place] * 2, color=color, linewidth=1.5)
        panel.plot(one["mean"], place, "D", color=color, markersize=4)
    panel.set_yticks(range(len(found)), [DRAWN[name] for name in found], fontsize=7)
    panel.tick_params(axis="x", labelsize=7)
    panel.invert_yaxis()
    panel.set_xlim(low, high)
    panel.axvline(0, color="0.6", linewidth=0.8)
    panel.set_title(f"{spell(case[0])}, {case[1]}", fontsize=9)


# Pages


def write_report(log, docs):
    """Write ``results/evidence.md``, the pictures, and the blocks of ``evidence.md``."""
    stamp, rows = read_log(log)
    results = Results(rows)
    if not results.cases:
        raise SystemExit(f"{log} has no results in a setting of the page; its gains: curves.")
    looks = LOOKS.read_text(encoding="utf-8")
    judged = f'"{stamp}"' in looks  # though the sets may be for choosing since
    group = "sets for judging" if judged else "sets for choosing (these figures judge nothing)"
    samplings = results.count_samplings()
    about = (
        f"{len(results.sets)} sets ({group}); {samplings} samplings, at most 10 of slow methods. "
        f"A learner sees at most {SEEN:,} rows, and at most {JUDGED} others judge it. "
        f"Looks at sets for judging so far: {len(looks.splitlines()) - 1}. *{stamp}.*\n"
    )
    sections = {
        "What to remember": headline(results),
        "Gains": short_table(results),
        "Sets that get worse": losses(results),
        "Sure gains and losses": tally(results),
        "From classes: MetricClassifier": classes_table(results),
        "A forest of pairs": forest_table(results),
        "Methods": about_methods(results),
        "All comparisons": all_comparisons(results, stamp),
        "Every set": set_tables(results, stamp),
        "Sets": about_sets(results),
    }
    text = "".join(f"\n## {title}\n\n{part}\n*{stamp}.*\n" for title, part in sections.items())
    path = docs / "results" / "evidence.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"# Evidence: all tables\n\n{about}{text}", encoding="utf-8")
    summary = f"{short_table(results)}\n*{samplings} samplings; {stamp}.*\n"
    blocks = {
        "about": about,
        "summary": summary,
        "readme": f"Gains in points on {len(results.sets)} {group}, with 95 % intervals, and how "
        "many sets get worse; bold: sure after correction. [Where it loses]"
        f"(https://seraph-learn.readthedocs.io/en/latest/evidence.html)\n\n{summary}",
        "classes": f"{classes_table(results)}\n*{stamp}.*\n",
        "forest": f"{forest_table(results)}\n*{stamp}.*\n",
    }
    if first := headline(results):
        blocks["headline"] = f"{first}\n*{stamp}.*\n"
    if new := new_classes_table(results):
        blocks["new"] = f"{new}\n*{len(results.sets)} {group}; {samplings} samplings; {stamp}.*\n"
    for measure, title in MEASURES.items():
        name = f"evidence-{measure}.png"
        draw_forests(results, measure, stamp, docs / "images" / name)
        alt = f"MeanMetric against each rival in {title}, on every set"
        blocks[measure] = f"![{alt}](images/{name})\n\n*{stamp}.*\n"
    for page in (docs / "evidence.md", docs.parent / "README.md", docs.parent / "paper/paper.md"):
        fill(page, "evidence", blocks)
