"""The tables: errors and seconds of both libraries, side by side."""

from collections import defaultdict
from dataclasses import dataclass, field

import numpy as np

from benchmarks.evidence import _data

from ._methods import METHODS, OURS, THEIRS
from ._run import MANY, ONE
from ._tasks import TIMED

TITLE = "## `python -m benchmarks.peers`"
TITLES = dict(zip(OURS, ("Our own learners", "The stand-ins, `seraph.compat`"), strict=True))
ALLOWED_MEAN, ALLOWED_SET = 0.3, 2.0  # points by which our error may be larger


@dataclass
class Cell:
    """What one library did with one method on one set, for one number of labeled rows."""

    errors: dict = field(default_factory=dict)  # by sampling
    seconds: dict = field(default_factory=lambda: defaultdict(dict))  # by threads and sampling
    capped: dict = field(default_factory=dict)  # by threads
    failed: int = 0


class Results:
    """The records, by set, rows and method; `ours` is which of our libraries is compared."""

    def __init__(self, records, ours=OURS[0]):
        records = list(records)
        self.ours = ours
        self.cells = defaultdict(Cell)
        self.caps = sorted({r["capped"] for r in records if "capped" in r})
        for r in records:
            rows, _, threads = r["setting"].partition(" rows, ")
            library, _, method = r["method"].partition(" ")
            cell = self.cells[r["set"], int(rows), library, method]
            if "capped" in r:
                cell.capped[threads] = r["capped"] if threads == ONE else r["seconds"]
            elif "failed" in r:
                cell.failed += 1
            else:
                if "seconds" in r:  # it was timed
                    # With one thread, CPU time: other work on the machine does not count.
                    taken = r.get("cpu", 0.0) if threads == ONE else r["seconds"]
                    cell.seconds[threads][r["seed"]] = taken
                if threads == ONE:
                    cell.errors[r["seed"]] = r["error"]

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
            float(np.mean([found[s] for s in seeds if s in found] or [np.nan]))
            for found in (ours, theirs, euclidean)
        )

    def seconds(self, place, library, method, threads):
        """Return the median seconds, and whether they are only a lower limit."""
        cell = self.cells[*place, library, method]
        if threads in cell.capped:
            return cell.capped[threads], True
        found = list(cell.seconds[threads].values())
        return (float(np.median(found)) if found else np.nan), False

    def ratio(self, place, method, threads):
        """Return seconds of theirs over ours, and whether that is only a lower limit.

        It is the median over the samplings: on one, the libraries take turns (unless one of them
        is run again alone), and a machine whose speed changes is as slow for both.
        """
        ours, late = self.seconds(place, self.ours, method, threads)
        theirs, capped = self.seconds(place, THEIRS, method, threads)
        if late or capped:
            return (np.nan if late else theirs / ours), capped
        both = [self.cells[*place, one, method].seconds[threads] for one in (self.ours, THEIRS)]
        ratios = [both[1][seed] / both[0][seed] for seed in both[0] if seed in both[1]]
        return (float(np.median(ratios)) if ratios else np.nan), False


def section(records):
    """Return the section of RESULTS.md."""
    records = list(records)
    results = Results(records)
    cap = " or ".join(f"{seconds:g}" for seconds in results.caps)
    lines = [TITLE, ""]
    lines += [
        "Both libraries with their defaults on the same labeled rows and the same cores: this",
        "version of ours, and metric-learn 0.7.0 with scikit-learn 1.7.2. Error of the nearest",
        "labeled row in %, mean over the samplings. Seconds with one thread are CPU seconds; with",
        "the default number of threads, seconds of the clock, which are rough where the machine",
        "has other work, and taken on the sets for judging, on one sampling if a fit takes 0.1 s",
        "or more. Each learner is fitted once to a few points before it is measured. Short fits",
        "are repeated for 0.3 s, the libraries taking turns after 0.03 s; the least mean of a",
        f"turn counts. Seconds and ratios are medians over the first {TIMED} samplings. `>` means",
        f"stopped at the cap{f', {cap} CPU seconds' if cap else ''}. We chose",
        "our defaults on the sets for choosing; those for judging had no say. Samplings of a",
        f"task: {results.samplings()}. Bold: short of our aims, at most {ALLOWED_MEAN} points",
        f"more in the mean and {ALLOWED_SET:g} on any set, and at least 10 times as fast on",
        "every set (SCML: 3 times; the others after LMNN, and all stand-ins but SCML's: as fast).",
        "",
    ]
    for ours, title in TITLES.items():
        lines += _part(Results(records, ours), title)
    return "\n".join(lines[:-1]) + "\n"


def _part(results, title):
    """Yield the lines about our own learners, or about the stand-ins."""
    methods = {method: places for method in METHODS if (places := results.places(method))}
    if methods:
        yield from (f"### {title}", "")
        if results.ours == OURS[0]:
            yield from (*summary(results), "")
        yield f"Error of metric-learn / {results.ours} in %, times faster (one thread; default):"
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
    ratios = [results.ratio(place, method, threads) for threads in (ONE, MANY)]
    measured = [_limit(ratio) for ratio in ratios if np.isfinite(ratio[0])]
    return ", ".join([errors, "; ".join(measured)]) if measured else errors


def _times(ratio):
    """Write a ratio with two digits, or all of those before the point."""
    if not np.isfinite(ratio):
        return "-"
    return f"{ratio:.0f}" if ratio >= 10 else f"{ratio:.2g}"


def summary(results):
    """Return a table with a line per method: mean errors, the worst set, the smallest ratios."""
    lines = [
        f"| method | sets | Euclidean | metric-learn | {results.ours} | worst set | times faster, "
        "one thread | default threads |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for method in METHODS:
        for group in ("choosing", "judging"):
            names = set(_data.chosen_sets([group]))
            places = [p for p in results.places(method) if p[0] in names]
            if places:
                lines.append(_summary_line(results, method, group, places))
    return lines


def _summary_line(results, method, group, places):
    by_set = defaultdict(list)
    for place in places:
        errors = results.errors(place, method)
        if np.isfinite(errors).all():
            by_set[place[0]].append(errors)
    means = {name: np.mean(errors, axis=0) for name, errors in by_set.items()}
    about = METHODS[method]
    label = f"{method} ({about.ours})" if about.ours != method else method
    label = label if results.ours == OURS[0] else about.theirs
    speed = " | ".join(_range(results, method, places, threads) for threads in (ONE, MANY))
    if not means:
        return f"| {label} | {group}: none finished | - | - | - | - | {speed} |"
    ours, theirs, euclidean = np.mean(list(means.values()), axis=0)
    worst = max(means, key=lambda name: means[name][0] - means[name][1])
    by = means[worst][0] - means[worst][1]
    return (
        f"| {label} | {len(means)} for {group} | {euclidean:.1f} | {theirs:.1f} | "
        f"{_bold(f'{ours:.1f}', ours - theirs > ALLOWED_MEAN)} | "
        f"{_bold(f'{worst} {by:+.1f}', by > ALLOWED_SET)} | {speed} |"
    )


def _range(results, method, places, threads):
    """Write the smallest ratio of seconds, where it was seen, and the largest."""
    ratios = [(*results.ratio(place, method, threads), place) for place in places]
    finite = sorted((r for r in ratios if np.isfinite(r[0])), key=lambda r: r[0])
    if not finite:
        return "-"
    least, _, (name, rows) = finite[0]
    lowest = f"{_limit(finite[0])} ({name}, {rows})"
    return f"{_bold(lowest, least < _aim(results, method))} to {_limit(finite[-1])}"


def _aim(results, method):
    """Return how many times as fast we want to be: a stand-in need not be faster than theirs."""
    aim = METHODS[method].faster
    return aim if results.ours == OURS[0] or method == "SCML" else 1.0


def _limit(ratio):
    return (">" if ratio[1] else "") + _times(ratio[0])


def _bold(text, beyond):
    return f"**{text}**" if beyond else text


def page(records):
    """Return the table of the documentation."""
    return "\n".join(summary(Results(records))) + "\n"


def write_section(path, text):
    """Replace our section of a file, or add it at the end."""
    before, found, after = path.read_text(encoding="utf-8").partition(TITLE + "\n")
    _, more, rest = after.partition("\n## ")
    path.write_text(
        before.rstrip() + "\n\n" + text + ("\n## " + rest if found and more else ""),
        encoding="utf-8",
    )
