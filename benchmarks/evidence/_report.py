"""Tables, pictures and the page, from the records."""

import csv
import io
import re
from itertools import product
from pathlib import Path

import numpy as np

from . import _data
from ._classes import ONLY_HERE
from ._pictures import OURS, draw_gain, draw_ranks
from ._results import NAMES, SIGN, Results, critical_difference, friedman_p, kind_of, title
from ._rivals import RIVALS
from ._tasks import METRICS, ROWS

ROOT = Path(__file__).parents[2]
GROUPS = ("tables", "embeddings")
LEVEL = 0.05
SUMMARIZED = (
    *("euclidean", "lda", "logistic", "itml", "gmml", "rca"),
    *("lrml", "self", "spreading-itml", *OURS),
)


def print_means(records, methods, each=False):
    """Print mean error / AUC / MAP@R for each group of sets and setting.

    The last lines of a group are the means over settings; ``+a -b`` counts the sets and settings
    that are significantly better and worse than Euclidean (Holm, 5 %) in any of the measures.
    """
    sets = [n for n in _data.SETS if any(r["set"] == n for r in records)]
    results = Results(records, sets, methods)
    width = max(24, *(len(m) + 4 for m in methods))
    print("1-NN error / pair AUC / MAP@R in %; !n: n fits failed and count as Euclidean\n")
    print(" " * 30 + "".join(m.rjust(width) for m in methods))

    def line(text, cells):
        print(text.ljust(30) + "".join(cell.rjust(width) for cell in cells).rstrip())

    def cell(values, failed=0):
        if np.isnan(values).all():
            return ""
        text = " / ".join("    -" if np.isnan(v) else f"{v:5.2f}" for v in values)
        return text + (f" !{failed}" if failed else "")

    for group in GROUPS:
        names = [n for n in sets if kind_of(n) == group]
        settings = [s for s in results.settings() if any(s in results.settings(n) for n in names)]
        means = {
            s: [[results.group_mean(group, s, m, k) for k in METRICS] for m in methods]
            for s in settings
        }
        for s in settings:
            here = [n for n in names if s in results.settings(n)]
            failed = [sum(results.failed.get((n, s, m), 0) for n in here) for m in methods]
            line(f"{group}, {s} ({len(here)} sets)", map(cell, means[s], failed))
            for n in here if each else ():
                cells = [[results.mean(n, s, m, k) for k in METRICS] for m in methods]
                line(f"  {n}", map(cell, cells))
        for what in ("labels", "pairs"):
            some = [means[s] for s in settings if s.startswith(what)]
            if len(some) > 1:
                line(f"{group}, {what}, mean", map(cell, np.mean(some, axis=0)))
        if names:
            spent = [results.seconds[group, m] for m in methods]
            line(f"{group}, CPU seconds", [f"{np.mean(s):.3f}" if s else "" for s in spent])
            print()
    for metric in METRICS:
        counted = []
        for m in methods:
            better, worse = significant(results.tests(m, metric))
            counted.append("" if m == "euclidean" else f"+{len(better)} -{len(worse)}")
        line(f"{NAMES[metric]}: significant", counted)


def significant(tests):
    """Return the sets and settings of significant gains and of significant losses."""
    better = [k for k, (gain, p) in tests.items() if p < LEVEL and gain > 0]
    worse = [k for k, (gain, p) in tests.items() if p < LEVEL and gain < 0]
    return better, worse


# Markdown


def table(head, rows):
    """Return a table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def number(value):
    return "" if np.isnan(value) else f"{value:.1f}"


def sets_table():
    rows = []
    for purpose, group in (
        ("choosing", _data.CHOOSING),
        ("judging", _data.JUDGING),
        ("choosing a classifier", _data.EVERYDAY_CHOOSING),
        ("judging classifiers", _data.EVERYDAY),
    ):
        for one in group:
            try:
                X, y, _ = _data.load(one.name)
            except _data.Unavailable as reason:
                rows.append([one.name, purpose, one.kind, "", "", "", one.source, f"{reason}"])
                continue
            sizes = [f"{len(X):,}", X.shape[1], len(np.unique(y))]
            rows.append([one.name, purpose, one.kind, *sizes, one.source, one.license])
    return table(["set", "for", "kind", "rows", "features", "classes", "source", "license"], rows)


def rivals_table():
    rows = [
        [r.title, ", ".join(r.learns_from), r.setting]
        for r in RIVALS.values()
    ]  # fmt: skip
    return table(["method", "learns from", "setting"], rows)


def means_table(results, group, metric):
    """Return means over the sets of a group: a row a method, the best in bold."""
    settings = results.settings()
    settings = [
        s for s in settings if not np.isnan(results.group_mean(group, s, "euclidean", metric))
    ]
    rows = []
    for m in results.methods:
        values = [results.group_mean(group, s, m, metric) for s in settings]
        if not np.isnan(values).all():
            rows.append([title(m), values])
    best = [np.nanmax([SIGN[metric] * v[k] for _, v in rows]) for k in range(len(settings))]
    cells = [
        [name]
        + [
            f"**{number(v)}**" if SIGN[metric] * v == b else number(v)
            for v, b in zip(values, best, strict=True)
        ]
        for name, values in rows
    ]
    counts = [
        sum(s in results.settings(n) for n in results.sets if kind_of(n) == group)
        for s in settings
    ]
    head = [f"{s.replace('-', ' ')} ({c} sets)" for s, c in zip(settings, counts, strict=True)]
    return table([NAMES[metric], *head], cells)


def summary_table(results):
    """Return a few methods at 20 labels and at 100 pairs, for the page."""
    columns = [
        ("error", "labels-20", "tables"),
        ("error", "labels-20", "embeddings"),
        ("auc", "pairs-100", "tables"),
        ("auc", "pairs-100", "embeddings"),
        ("map", "pairs-100", "tables"),
        ("map", "pairs-100", "embeddings"),
    ]
    values = {
        m: [results.group_mean(group, s, m, metric) for metric, s, group in columns]
        for m in SUMMARIZED
    }
    best = [
        np.nanmax([SIGN[metric] * v[k] for v in values.values()])
        for k, (metric, _, _) in enumerate(columns)
    ]
    rows = []
    for m, found in values.items():
        cells = [
            f"**{number(v)}**" if SIGN[columns[k][0]] * v == best[k] else number(v)
            for k, v in enumerate(found)
        ]
        rows.append([title(m), *cells])
    head = [f"{NAMES[metric]}, {s.replace('-', ' ')}, {group}" for metric, s, group in columns]
    return table(["", *head], rows)


def every_set(results, metric, method):
    """Return a method's mean on every set beside the Euclidean one, with every loss marked."""
    tests = results.tests(method, metric)
    settings = results.settings()
    rows = []
    for name in results.sets:
        cells = []
        for s in settings:
            gain, p = tests.get((name, s), (np.nan, 1.0))
            if np.isnan(gain):
                cells.append("")
                continue
            mark = "" if gain >= 0 else " ▼▼" if p < LEVEL else " ▼"
            mine, base = (results.mean(name, s, m, metric) for m in (method, "euclidean"))
            cells.append(f"{number(mine)} ({number(base)}){mark}")
        if any(cells):
            rows.append([name, *cells])
    head = f"{NAMES[metric]}, {title(method)}"
    return table([head, *(s.replace("-", " ") for s in settings)], rows)


def wins_table(results):
    """Return how often each method is significantly better and worse than Euclidean."""
    rows = []
    for m in results.methods:
        if m == "euclidean":
            continue
        cells = []
        for metric in METRICS:
            tests = results.tests(m, metric)
            better, worse = significant(tests)
            lost = sum(gain < 0 for gain, _ in tests.values())
            cells.append(f"{len(better)} / {lost} / {len(worse)} of {len(tests)}" if tests else "")
        failed = sum(v for k, v in results.failed.items() if k[2] == m)
        rows.append([title(m), *cells, failed])
    return table(["method", *(NAMES[m] for m in METRICS), "failed fits"], rows)


def ranks_table(results):
    """Return mean ranks, with Nemenyi's critical difference below."""
    columns, differences, tests = {}, [], []
    for what in ("labels", "pairs"):
        for metric in METRICS:
            methods, ranks = results.ranks(what, metric)
            head = f"{NAMES[metric]}, {what}"
            columns[head] = dict(zip(methods, ranks.mean(axis=0), strict=True))
            differences.append(f"{critical_difference(len(methods), len(ranks)):.1f}")
            tests.append(f"{friedman_p(ranks):.1g}" if len(methods) > 2 else "")
    rows = [
        [title(m), *(f"{c[m]:.1f}" if m in c else "" for c in columns.values())]
        for m in results.methods
        if any(m in c for c in columns.values())
    ]
    rows += [["critical difference", *differences], ["p (Friedman)", *tests]]
    return table(["mean rank", *columns], rows)


def aims(results):
    """Return the aims, each with what was found."""
    lines = []
    for metric, ours in product(METRICS, OURS):
        _, worse = significant(results.tests(ours, metric))
        where = "; ".join(f"{n}, {s}" for n, s in worse) or "nowhere"
        said = f"{title(ours)}, {NAMES[metric]}"
        lines.append(f"- {said} significantly worse than Euclidean or cosine: {where}.")
    classifiers = ("logistic", "spreading", "lda-classifier")
    for what in ("labels", "pairs"):
        for metric in METRICS:
            methods, ranks = results.ranks(what, metric)
            mean = {
                m: r
                for m, r in zip(methods, ranks.mean(axis=0), strict=True)
                if m not in classifiers
            }
            best = min(mean, key=mean.get)
            lines.append(
                f"- Best mean rank of the metric learners in {NAMES[metric]} from {what}: "
                f"{title(best)} ({mean[best]:.1f}); "
                + ", ".join(f"{title(ours)} has {mean[ours]:.1f}" for ours in OURS)
                + "."
            )
    for s in ("labels-10", "labels-20"):
        for group in (*GROUPS, "all sets"):
            cells = [
                f"{title(m)} {number(results.group_mean(group, s, m, 'error'))}"
                for m in (*OURS, "itml", "logistic", "euclidean")
            ]
            lines.append(f"- Mean 1-NN error, {group}, {s.replace('-', ' ')}: {', '.join(cells)}.")
    for name in results.sets:
        if kind_of(name) == "embeddings":
            lines.append(_embedding_aim(results, name))
    return "\n".join(lines)


def _embedding_aim(results, name):
    """Compare MeanMetric's AUC with GMML and the cosine, and its MAP@R with the best rival."""
    parts = []
    for s in results.settings(name):
        auc = {m: results.mean(name, s, m, "auc") for m in ("seraph-mean", "gmml", "euclidean")}
        if not auc["seraph-mean"] > max(auc["gmml"], auc["euclidean"]):
            parts.append(
                f"{s}: AUC {auc['seraph-mean']:.1f}, GMML {auc['gmml']:.1f}, "
                f"cosine {auc['euclidean']:.1f}"
            )
        rivals = {
            m: results.mean(name, s, m, "map")
            for m in results.methods
            if not m.startswith("seraph") and (name, s, m) in results.values
        }
        rivals = {m: v for m, v in rivals.items() if not np.isnan(v)}
        best = max(rivals, key=rivals.get)
        column = METRICS.index("map")
        best_values, ours = (results.values[name, s, m] for m in (best, "seraph-mean"))
        behind = best_values[:, column] - ours[:, column]
        error = behind.std(ddof=1) / np.sqrt(len(behind)) if len(behind) > 1 else 0.0
        if behind.mean() > error:
            parts.append(f"{s}: MAP@R {behind.mean():.1f} behind {title(best)} (s.e. {error:.1f})")
    return f"- {name}: " + ("; ".join(parts) or "AUC above GMML and cosine, MAP@R holds") + "."


def set_tables(results):
    """Return a table for every set: a row a method, error / AUC / MAP@R, losses marked."""
    tests = {(m, k): results.tests(m, k) for m in results.methods for k in METRICS}
    parts = []
    for name in results.sets:
        settings = results.settings(name)
        rows = []
        for m in results.methods:
            cells = []
            for s in settings:
                if (name, s, m) not in results.values:
                    cells.append("")
                    continue
                texts = []
                for k in METRICS:
                    gain, p = tests[m, k].get((name, s), (0.0, 1.0))
                    mark = "" if gain >= 0 else "▼▼" if p < LEVEL else "▼"
                    texts.append((number(results.mean(name, s, m, k)) or "-") + mark)
                failed = results.failed[name, s, m]
                cells.append(" / ".join(texts) + (f" !{failed}" if failed else ""))
            if any(cells):
                rows.append([title(m), *cells])
        if rows:
            head = ["error / AUC / MAP@R", *(s.replace("-", " ") for s in settings)]
            parts.append(f"### {name}\n\n{table(head, rows)}\n")
    return "\n".join(parts).rstrip()


def as_csv(results):
    """Return everything as CSV: a line a set, setting and method."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    head = ["set", "kind", "setting", "method", "samplings", "failed"]
    for k in METRICS:
        head += [k, f"{k}_standard_error", f"{k}_gain", f"{k}_p_holm"]
    writer.writerow(head)
    tests = {(m, k): results.tests(m, k) for m in results.methods for k in METRICS}
    for (name, s, m), values in sorted(results.values.items()):
        row = [name, kind_of(name), s, m, len(values), results.failed[name, s, m]]
        for column, k in enumerate(METRICS):
            v = values[:, column]
            spread = v.std(ddof=1) / np.sqrt(len(v)) if len(v) > 1 else np.nan
            gain, p = tests[m, k].get((name, s), (np.nan, np.nan))
            row += ["" if np.isnan(x) else f"{x:.4g}" for x in (v.mean(), spread, gain, p)]
        writer.writerow(row)
    return file.getvalue()


def seconds_table(results):
    """Return CPU seconds per fit, judging included."""
    rows = [
        [title(m)]
        + [
            f"{np.mean(results.seconds[g, m]):.2f}" if results.seconds[g, m] else ""
            for g in GROUPS
        ]
        for m in results.methods
    ]
    return table(["CPU seconds", *GROUPS], rows)


def blocks(results):
    """Return the parts of the page that come from the records, by name."""
    low, high = results.samplings()
    count = str(high) if low == high else f"{low} to {high}"
    tables, embeddings = ROWS["table"], ROWS["embedding"]
    found = {
        "sets": sets_table(),
        "rivals": rivals_table(),
        "samplings": f"{count} samplings of {len(results.sets)} sets. A learner sees at most "
        f"{tables[0]} rows of a table and {embeddings[0]} of an embedding; at most {tables[1]} "
        f"and {embeddings[1]} rows judge it.",
        "wins": wins_table(results),
        "ranks": ranks_table(results),
        "aims": aims(results),
        "seconds": seconds_table(results),
    }
    for group in GROUPS:
        found[f"means-{group}"] = "\n\n".join(
            means_table(results, group, metric) for metric in METRICS
        )
    found["summary"] = summary_table(results)
    found["each-set"] = set_tables(results)
    found["every-set"] = "\n\n".join(
        every_set(results, metric, ours) for metric, ours in product(METRICS, OURS)
    )
    return found


def fill(text, parts):
    """Put parts between their markers, ``<!-- evidence: NAME -->`` and ``<!-- end -->``."""
    for name, part in parts.items():
        pattern = rf"(<!-- evidence: {re.escape(name)} -->\n).*?(<!-- end -->)"
        text = re.sub(
            pattern,
            lambda match, part=part: f"{match[1]}\n{part}\n\n{match[2]}",
            text,
            flags=re.DOTALL,
        )
    return text


def fill_pages(docs, parts):
    """Fill the page and the tables that stand beside it in `docs`."""
    for path in (docs / "evidence.md", docs / "results" / "evidence.md"):
        path.write_text(fill(path.read_text(), parts))


def report(records, out, sets, docs=None):
    """Write tables and pictures to a folder, and fill the pages in `docs` if it is there."""
    present = [n for n in sets if any(r["set"] == n and not r.get("skipped") for r in records)]
    results = Results(records, present, [m for m in RIVALS if m not in ONLY_HERE])
    out.mkdir(parents=True, exist_ok=True)
    parts = blocks(results)
    (out / "evidence.csv").write_text(as_csv(results))
    summary = "\n\n".join(f"## {name}\n\n{part}" for name, part in parts.items())
    (out / "summary.md").write_text(f"# Evidence\n\n{summary}\n")
    pictures = out if docs is None else docs / "images"
    draw_ranks(results, pictures / "evidence-ranks.png")
    draw_gain(results, pictures / "evidence-gain.png")
    if docs is not None:
        fill_pages(docs, parts)
        (docs / "results" / "evidence.csv").write_text(as_csv(results))
    return parts
