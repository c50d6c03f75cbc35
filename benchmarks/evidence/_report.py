"""Tables and pictures from the records."""

from collections import defaultdict

import numpy as np

from . import _data
from ._tasks import METRICS


def kind_of(record):
    """Return the group of sets that a record belongs to."""
    return "embeddings" if _data.SETS[record["set"]].kind == "embedding" else "tables"


def print_means(records, methods, each=False):
    """Print mean error / AUC / MAP@R for each kind of set and number of marks.

    A mean is over the sets of the means over samplings; ``!`` counts failures.
    """
    cells, failed, seconds = defaultdict(list), defaultdict(int), defaultdict(list)
    for r in records:
        if r.get("skipped"):
            continue
        values = [np.nan if r[m] is None else r[m] for m in METRICS]
        cells[kind_of(r), r["setting"], r["method"], r["set"]].append(values)
        failed[kind_of(r), r["setting"], r["method"]] += "failed" in r
        seconds[kind_of(r), r["method"]].append(r["seconds"])
    width = max(14, *(len(m) + 1 for m in methods))

    def line(title, kind, setting, only=None):
        text = f"{title:32}"
        for m in methods:
            means = [
                np.mean(v, axis=0)
                for (k, s, w, name), v in cells.items()
                if k == kind and s == setting and w == m and only in (None, name)
            ]
            if means:
                text += " / ".join(f"{v:5.2f}" for v in np.mean(means, axis=0)).rjust(width + 10)
                text += f" !{failed[kind, setting, m]}".ljust(5) if (
                    failed[kind, setting, m] and only is None) else "     "  # fmt: skip
            else:
                text += " " * (width + 15)
        print(text.rstrip())

    print("1-NN error / pair AUC / MAP@R in %; !n: n fits failed and count as Euclidean\n")
    print(" " * 32 + "".join(m.rjust(width + 10) + "     " for m in methods))
    for kind in ("tables", "embeddings"):
        settings = list(dict.fromkeys(s for k, s, *_ in sorted(cells, key=_place) if k == kind))
        for setting in settings:
            sets = list(dict.fromkeys(n for k, s, _, n in cells if (k, s) == (kind, setting)))
            line(f"{kind}, {setting} ({len(sets)} sets)", kind, setting)
            if each:
                for name in sets:
                    line(f"  {name}", kind, setting, name)
        for what in ("labels", "pairs"):
            _overall(kind, what, settings, cells, methods, width)
        text = f"{kind}, seconds per fit".ljust(32)
        for m in methods:
            spent = seconds[kind, m]
            text += (f"{np.mean(spent):.3f}" if spent else "").rjust(width + 10) + "     "
        print(text.rstrip(), "\n")


def _place(cell):
    what, count = cell[1].split("-")
    return what, int(count)


def _overall(kind, what, settings, cells, methods, width):
    """Print the mean over the settings of one kind of marks."""
    settings = [s for s in settings if s.startswith(what)]
    if len(settings) < 2:
        return
    text = f"{kind}, {what}, all".ljust(32)
    for m in methods:
        means = [
            np.mean([np.mean(v, axis=0) for (k, s, w, _), v in cells.items()
                     if (k, s, w) == (kind, setting, m)], axis=0)
            for setting in settings
            if any((k, s, w) == (kind, setting, m) for k, s, w, _ in cells)
        ]  # fmt: skip
        if means:
            text += " / ".join(f"{v:5.2f}" for v in np.mean(means, axis=0)).rjust(width + 10)
        else:
            text += " " * (width + 10)
        text += "     "
    print(text.rstrip())


def report(out):
    """Write the report."""
    raise SystemExit("The report is not written yet.")
