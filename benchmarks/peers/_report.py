"""The tables: errors and seconds of both libraries, side by side."""

from collections import defaultdict
from dataclasses import dataclass, field

import numpy as np

from benchmarks._stamp import make_stamp
from benchmarks.evidence import _data

from ._methods import METHODS, OURS, THEIRS
from ._tasks import TIMED

TITLES = dict(zip(OURS, ("Our own learners", "The stand-ins, `seraph.compat`"), strict=True))
ALLOWED_MEAN, ALLOWED_SET = 0.3, 2.0  # points by which our error may be larger


@dataclass
class Cell:
    """What one library did with one method on one set, for one number of labeled rows."""

    errors: dict = field(default_factory=dict)  # by sampling
    seconds: dict = field(default_factory=dict)  # CPU seconds by sampling
    capped: float | None = None


class Results:
    """The records, by set, rows and method; `ours` is which of our libraries is compared."""

    def __init__(self, records, ours=OURS[0]):
        self.ours = ours
        self.cells = defaultdict(Cell)
        for r in records:
            library, _, method = r["method"].partition(" ")
            cell = self.cells[r["set"], int(r["setting"].split()[0]), library, method]
            if "capped" in r:
                cell.capped = r["capped"]
            elif "failed" not in r:
                cell.errors[r["seed"]] = r["error"]
                if "cpu" in r:  # it was timed
                    cell.seconds[r["seed"]] = r["cpu"]

    def samplings(self):
        """Return the number of samplings, or the smallest and the largest."""
        counts = [len(cell.errors) for cell in self.cells.values() if cell.errors]
        return " to ".join(map(str, dict.fromkeys([min(counts), max(counts)])))

    def places(self, method):
        """Return the sets and rows where both libraries tried a method, in the order of sets."""
        order = {name: k for k, name in enumerate(_data.SETS)}
        both = [
            {(s, n) for s, n, library, m in self.cells if (library, m) == (one, method)}
            for one in (self.ours, THEIRS)
        ]
        return sorted(both[0] & both[1], key=lambda place: (order[place[0]], place[1]))

    def errors(self, place, method):
        """Return the mean errors: ours, theirs, Euclidean; over the samplings that all have."""
        ours, theirs = (self.cells[*place, one, method].errors for one in (self.ours, THEIRS))
        euclidean = self.cells[*place, "scikit-learn", "Euclidean"].errors
        seeds = sorted(set(ours) & set(theirs) & set(euclidean)) or sorted(set(ours))
        return tuple(
            float(np.mean([errors[s] for s in seeds if s in errors] or [np.nan]))
            for errors in (ours, theirs, euclidean)
        )

    def ratio(self, place, method):
        """Return seconds of theirs over ours, and whether that is only a lower limit.

        It is the median over the samplings: on one, the libraries take turns (unless one of them
        is run again alone), and a machine whose speed changes is as slow for both.
        """
        ours, theirs = (self.cells[*place, one, method] for one in (self.ours, THEIRS))
        if ours.capped is not None or not ours.seconds:
            return np.nan, False
        if theirs.capped is not None:
            return theirs.capped / float(np.median(list(ours.seconds.values()))), True
        both = ours.seconds.keys() & theirs.seconds.keys()
        ratios = [theirs.seconds[seed] / ours.seconds[seed] for seed in both]
        return (float(np.median(ratios)) if ratios else np.nan), False


def page(records):
    """Return the page of the documentation."""
    records = list(records)
    caps = " or ".join(
        f"{cap:g}" for cap in sorted({r["capped"] for r in records if "capped" in r})
    )
    samplings = Results(records).samplings()
    lines = [
        "# Compared with metric-learn: `python -m benchmarks.peers`",
        "",
        "Both libraries with their defaults on the same labeled rows and one thread: this",
        "version of ours, and metric-learn 0.7.0 with scikit-learn 1.7.2. Error of the nearest",
        "labeled row in %, mean over the samplings, and CPU seconds. Each learner is fitted once",
        "to a few points before it is measured. Short fits are repeated for 0.3 s, the libraries",
        "taking turns after 0.03 s; the least mean of a turn counts. Ratios are medians over the",
        f"first {TIMED} samplings. `>` means stopped at the cap{f', {caps} s' if caps else ''}.",
        f"Bold: short of our aims, at most {ALLOWED_MEAN} points more in the mean and",
        f"{ALLOWED_SET:g} on any set, and at least 10 times as fast on every set (SCML: 3 times;",
        "the others after LMNN, and all stand-ins but SCML's: as fast).",
        "",
    ]
    stamp = f"*{samplings} samplings; {make_stamp()}.*"
    for ours, title in TITLES.items():
        if part := list(_part(Results(records, ours), title)):
            lines += [*part, stamp, ""]
    return "\n".join(lines[:-1]) + "\n"


def _part(results, title):
    """Yield the lines about our own learners, or about the stand-ins."""
    methods = {method: places for method in METHODS if (places := results.places(method))}
    if methods:
        yield from (f"## {title}", "")
        if results.ours == OURS[0]:
            yield from (*summary(results, methods), "")
        yield f"Error of metric-learn / {results.ours} in %, times faster:"
        yield from ("", *_matrix(results, methods), "")


def _matrix(results, methods):
    """Yield a table with a line per method, and a column per set and number of rows."""
    columns = sorted(
        {place for places in methods.values() for place in places},
        key=lambda place: (list(_data.SETS).index(place[0]), place[1]),
    )
    yield f"| method | {' | '.join(f'{name}, {rows}' for name, rows in columns)} |"
    yield "|---" * (len(columns) + 1) + "|"
    for method, places in methods.items():
        cells = (_cell(results, place, method) if place in places else "" for place in columns)
        yield f"| {method} | {' | '.join(cells)} |"


def _cell(results, place, method):
    ours, theirs, _ = results.errors(place, method)
    errors = " / ".join(f"{e:.1f}" if np.isfinite(e) else "-" for e in (theirs, ours))
    ratio = results.ratio(place, method)
    return f"{errors}, {_limit(ratio)}" if np.isfinite(ratio[0]) else errors


def summary(results, methods):
    """Yield a table with a line per method: mean errors, the worst set, the smallest ratios."""
    yield f"| method | sets | Euclidean | metric-learn | {results.ours} | worst set | faster |"
    yield "|---" * 7 + "|"
    for method, places in methods.items():
        yield _summary_line(results, method, places)


def _summary_line(results, method, places):
    by_set = defaultdict(list)
    for place in places:
        errors = results.errors(place, method)
        if np.isfinite(errors).all():
            by_set[place[0]].append(errors)
    means = {name: np.mean(errors, axis=0) for name, errors in by_set.items()}
    ours_name = METHODS[method].ours
    label = f"{method} ({ours_name})" if ours_name != method else method
    speed = _range(results, method, places)
    if not means:
        return f"| {label} | none finished | - | - | - | - | {speed} |"
    ours, theirs, euclidean = np.mean(list(means.values()), axis=0)
    worst = max(means, key=lambda name: means[name][0] - means[name][1])
    by = means[worst][0] - means[worst][1]
    return (
        f"| {label} | {len(means)} | {euclidean:.1f} | {theirs:.1f} | "
        f"{_bold(f'{ours:.1f}', ours - theirs > ALLOWED_MEAN)} | "
        f"{_bold(f'{worst} {by:+.1f}', by > ALLOWED_SET)} | {speed} |"
    )


def _range(results, method, places):
    """Write the smallest ratio of seconds, where it was seen, and the largest."""
    ratios = [(*results.ratio(place, method), place) for place in places]
    finite = sorted((r for r in ratios if np.isfinite(r[0])), key=lambda r: r[0])
    if not finite:
        return "-"
    least, _, (name, rows) = finite[0]
    lowest = f"{_limit(finite[0])} ({name}, {rows})"
    return f"{_bold(lowest, least < METHODS[method].faster)} to {_limit(finite[-1])}"


def _limit(ratio):
    """Write a ratio with two digits, or all of those before the point."""
    text = f"{ratio[0]:.0f}" if ratio[0] >= 10 else f"{ratio[0]:.2g}"
    return (">" if ratio[1] else "") + text


def _bold(text, beyond):
    return f"**{text}**" if beyond else text
