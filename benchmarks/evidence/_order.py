"""Check from git alone that the sets for judging were listed before they were looked at.

``python -m benchmarks.evidence order`` prints, for each look: the commit of the list, the commit
whose methods were run, and the commit with the look, which must follow each other; and how many
commits changed a method between the last two.
"""

import csv

from benchmarks import _stamp

FOLDER = "benchmarks/evidence"
LIST = f"{FOLDER}/judging.csv"
LISTS = {f"{FOLDER}/{name}.csv" for name in ("choosing", "judging", "packages")}
CHOICE = ("src/seraph", f"{FOLDER}/_methods.py")
LOOKS = f"{FOLDER}/looks.csv"


def last_commit(*paths):
    """Return the last commit that changed one of the paths."""
    return _stamp.git("log", "-1", "--format=%H", "HEAD", "--", *paths)


def sets_at(commit):
    """Return the names of the sets on the list, and the hashes of their files."""
    rows = csv.DictReader(_stamp.git("show", f"{commit}:{LIST}").splitlines())
    return {(row["name"], row["sha256"]) for row in rows}


def check_order(until="HEAD"):
    """Return a line for each look, and what is wrong with those that name their list.

    The first two looks do not: one commit had brought the list and the look.
    """
    lines, wrong = [], []
    for look in csv.DictReader(_stamp.git("show", f"{until}:{LOOKS}").splitlines()):
        if not look["list"]:
            lines.append(f"{look['date']}: the list has no commit of its own")
            continue
        listed, chosen = look["list"], look["choice"]
        row = f"-S{listed},{chosen}"
        added = _stamp.git("log", "--reverse", "--format=%H", row, until, "--", LOOKS)
        looked = added.partition("\n")[0]
        later = _stamp.git("log", "--format=%H", f"{chosen}..{looked}", "--", *CHOICE).split()
        lines.append(
            f"{look['date']}: list {listed}, choice {chosen}, look {looked}; "
            f"{len(later)} changes of methods in between"
        )
        changed = set(_stamp.git("show", "--format=", "--name-only", listed).splitlines())
        if not changed <= LISTS:
            wrong.append(f"the commit of the list, {listed}, changes more: {sorted(changed)}")
        for before, after in ((listed, chosen), (chosen, looked)):
            if before == after or _stamp.git("merge-base", before, after) != before:
                wrong.append(f"{before} is not before {after}")
        if sets_at(listed) != sets_at(looked):
            wrong.append(f"the list was changed between {listed} and {looked}")
    return lines, wrong
