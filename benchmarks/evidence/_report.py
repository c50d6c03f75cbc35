"""Write every table and the picture from the log.

Tables and embeddings are never averaged together.
"""

import numpy as np
from matplotlib.figure import Figure

from benchmarks._stamp import fill, table

from . import _data
from ._methods import CLASSIFIERS, METHODS, OURS, RIVALS
from ._packages import PACKAGES
from ._results import (
    CLASS_CASES,
    KINDS,
    LEARNED,
    MEASURES,
    PAIRED,
    Results,
    flip_p_value,
    interval,
    kind_of,
    spell,
    spell_case,
)
from ._run import LOOKS, read_log
from ._tasks import JUDGED, SEEN, SETTINGS

ALT = "What MeanMetric gains in pair AUC, on every set"
SHOWN = ("mean", "seraph", "itml", "gmml", "self", "lrml", "rfd")  # on the page, of the losses
ALONE = [name for name in RIVALS if "+" not in name]


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
    for setting, kind in dict.fromkeys(case[:2] for case in results.cases):
        cases = [(setting, kind, measure) for measure in MEASURES]
        plain = [cell(results, *case, "mean", "euclidean") for case in cases]
        rival = [cell(results, *case, "mean", results.best_rival(*case)) for case in cases]
        rows.append([f"{spell(setting)}, {kind}", *plain, *rival])
    others = [f"{title}, best rival" for title in MEASURES.values()]
    return table(
        ["MeanMetric -", *(f"{t}, not learning" for t in MEASURES.values()), *others], rows
    )


def page_table(results):
    """Return the table of the page: what MeanMetric and SERAPH gain, in every setting."""
    rows = []
    for case in results.cases:
        best = results.best_rival(*case)
        plain, rival = (
            [cell(results, *case, method, other) for method in LEARNED]
            for other in ("euclidean", best)
        )
        rows.append([spell_case(*case), *plain, METHODS[best].title, *rival])
    header = ["", "MeanMetric - not learning", "SERAPH - not learning", "best rival"]
    return table([*header, "MeanMetric - best rival", "SERAPH - best rival"], rows)


def count_sure(results, keys):
    """Return how many comparisons are surely ahead and behind, each (before correction)."""
    counts = []
    for sign in (1, -1):
        before = [key for key in keys if sign * results.compare(*key)["mean"] > 0]
        before = [key for key in before if results.compare(*key)["p"] < 0.05]
        counts.append(f"{sum(results.sure(*key) == sign for key in before)} ({len(before)})")
    return counts


def losing_cases(results):
    """Return in which cases MeanMetric and SERAPH are behind, and in how many they are ahead."""
    lines = []
    for method in LEARNED:
        for title, other in (("not learning", "euclidean"), ("the best rival", None)):
            keys = [(*c, method, other or results.best_rival(*c)) for c in results.cases]
            behind = [key for key in keys if results.compare(*key)["mean"] < 0]
            sure = [key for key in behind if results.sure(*key)]
            listed = "; ".join(
                f"{spell_case(*key[:3])} ({results.compare(*key)['mean']:+.1f})" for key in sure
            )
            won = " and ".join(
                f"{count_sure(results, [key for key in keys if key[1] == kind])[0]} on {kind}"
                for kind in KINDS
            )
            lines.append(
                f"- **{METHODS[method].title}** against {title}: surely behind in "
                f"{count_sure(results, keys)[1]} of {len(keys)} cases"
                f"{f' ({listed})' if listed else ''}, behind on average in "
                f"{len(behind) - len(sure)} more; surely ahead in {won}.\n"
            )
    return "".join(lines)


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


def tally(results, rivals=RIVALS):
    """Return in how many cases a comparison is surely ahead or behind, and its range of means."""
    others = (*rivals, *CLASSIFIERS)  # as similarities, with labels
    pairs = {f"MeanMetric - {METHODS[other].title}": ("mean", other) for other in others} | PAIRED
    rows = []
    for title, pair in pairs.items():
        keys = [key for case in results.cases if results.compare(*(key := (*case, *pair)))]
        if keys:
            means = [results.compare(*key)["mean"] for key in keys]
            span = f"{min(means):+.1f} to {max(means):+.1f}"
            rows.append([title, *count_sure(results, keys), len(keys), span])
    return table(["", "surely ahead (before correction)", "surely behind", "of", "means"], rows)


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
    """Return what MetricClassifier gains in error, a row for each other classifier."""
    rows = [
        [
            METHODS[other].title,
            *(cell(results, *case, "error", "classifier", other) for case in CLASS_CASES),
        ]
        for other in ("euclidean", *CLASSIFIERS)
        if other != "classifier"
    ]
    return table(["", *(f"{spell(setting)}, {kind}" for setting, kind in CLASS_CASES)], rows)


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


def curves(log):
    """Return the gain over not learning of every method and setting of a log, with intervals."""
    stamp, rows = read_log(log)
    results, text = Results(rows), ""
    settings = list(dict.fromkeys(setting for _, setting, _ in results.values))
    methods = list(dict.fromkeys(method for *_, method in results.values))
    for kind in KINDS:
        for measure, title in MEASURES.items():
            body = []
            for method in methods:
                plain = "euclidean/new" if method.endswith("/new") else "euclidean"
                found = [results.compare(s, kind, measure, method, plain) for s in settings]
                cells = [
                    f"{show(one, False)}, {one['worse']}/{one['sets']}" if one else ""
                    for one in found
                ]
                if any(cells):
                    body.append([method, *cells])
            if body:
                text += table([f"{kind}, {title}", *settings], body) + "\n"
    return f"{text}*{stamp}.*"


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
    looks = LOOKS.read_text(encoding="utf-8")
    judged = f'"{stamp}"' in looks  # though the sets may be for choosing since
    group = "sets for judging" if judged else "sets for choosing (these figures judge nothing)"
    samplings = results.count_samplings()
    about = (
        f"{len(results.sets)} sets ({group}); {samplings} samplings, 10 of slow methods. "
        f"A learner sees at most {SEEN:,} rows, and at most {JUDGED} others judge it. "
        f"Looks at sets for judging so far: {len(looks.splitlines()) - 1}. *{stamp}.*\n"
    )
    summary = f"{short_table(results)}\n*{samplings} samplings; {stamp}.*\n"
    blocks = {
        "about": about,
        "behind": f"{losing_cases(results)}\n*{stamp}.*\n",
        "gains": f"{page_table(results)}\n*{stamp}.*\n",
        "picture": f"![{ALT}](images/evidence.png)\n\n*{stamp}.*\n",
        "summary": summary,
        "readme": f"Gains in points on {len(results.sets)} {group}, with 95 % intervals, and how "
        "many sets get worse; bold: sure after correction. [Where it loses]"
        f"(https://seraph-learn.readthedocs.io/en/latest/evidence.html)\n\n{summary}",
        "losses": f"{losses(results, SHOWN)}*{stamp}.*\n",
        "tally": f"{tally(results, ALONE)}\n*{stamp}.*\n",
        "classes": f"{classes_table(results)}\n*{stamp}.*\n",
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
