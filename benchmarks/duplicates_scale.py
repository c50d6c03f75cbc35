"""Time `seraph duplicates`: ``python -m benchmarks.duplicates_scale [ROWS [FOLDER]]``.

The table is made up: people with names, addresses, dates of birth and telephone numbers, a fifth
of whom are in it twice, the second time with one to three slips (a letter changed, dropped or
doubled, two columns exchanged, a cell missing). 100 answers are asked for in two rounds, as a user
would, and answered by the truth. Prints CPU time, elapsed time and peak memory of each command.
In a FOLDER, the files stay, and a run that was stopped goes on with the command that it was at.
"""

import os
import resource
import subprocess
import sys
import time
from contextlib import nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd

SYLLABLES = [a + b for a in "bcdfghjklmnprstvw" for b in ("a", "e", "i", "o", "u", "an", "er")]


def words(count, rng, n_syllables=(2, 4)):
    """Make up distinct words."""
    made = set()
    while len(made) < count:
        made.add("".join(rng.choice(SYLLABLES, rng.integers(*n_syllables))))
    return np.array(sorted(made))


def people(n, rng):
    """Return n people, some columns with far fewer values than others."""
    surnames, given, towns = (words(k, rng) for k in (8000, 1500, 2500))
    streets = words(6000, rng)
    skew = lambda values: values[(len(values) * rng.random(n) ** 2).astype(int)]  # noqa: E731
    days = rng.integers(0, 30_000, n)
    return pd.DataFrame(
        {
            "given": skew(given),
            "surname": skew(surnames),
            "street": np.char.add(skew(streets), rng.choice([" street", " road"], n)),
            "number": rng.integers(1, 200, n).astype(str),
            "town": skew(towns),
            "postcode": rng.integers(10_000, 99_999, n).astype(str),
            "born": (np.datetime64("1930-01-01") + days).astype(str),
            "telephone": rng.integers(10**8, 10**9, n).astype(str),
        }
    )


def slip(text, rng):
    """Change, drop or double a letter."""
    if not text:
        return text
    k, kind = rng.integers(len(text)), rng.integers(3)
    middle = ("", 2 * text[k], "aeiourstln0123456789"[rng.integers(20)])[kind]
    return text[:k] + middle + text[k + 1 :]


def with_duplicates(n, rng):
    """Return n records, shuffled, and the person of each."""
    table = people(n - n // 6, rng)
    again = table.iloc[rng.choice(len(table), n // 6, replace=False)]
    person = np.concatenate([np.arange(len(table)), again.index])
    copies = again.to_dict("records")
    names = list(table.columns)
    for record in copies:
        for _ in range(rng.integers(1, 4)):
            name = names[rng.integers(len(names))]
            what = rng.random()
            if what < 0.1:
                record["given"], record["surname"] = record["surname"], record["given"]
            elif what < 0.2:
                record[name] = ""
            else:
                record[name] = slip(record[name], rng)
    both = pd.concat([table, pd.DataFrame(copies)], ignore_index=True)
    order = rng.permutation(n)
    both = both.iloc[order].reset_index(drop=True)
    both.insert(0, "id", [f"R{k}" for k in range(n)])
    return both, person[order]


def timed(*arguments):
    """Run the command; print what it took."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([sys.executable, "-m", "seraph", *arguments], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(
        f"{cpu:.0f} s of CPU time, {time.perf_counter() - start:.0f} s elapsed with "
        f"{os.environ.get('OMP_NUM_THREADS', 'all')} threads, largest memory of any command so "
        f"far {after.ru_maxrss / 2**20:.2f} GB",
        flush=True,
    )


def main():
    """Make the table, ask, answer and find."""
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    table, person = with_duplicates(n, np.random.default_rng(0))
    with TemporaryDirectory() if len(sys.argv) < 3 else nullcontext(sys.argv[2]) as place:
        folder = Path(place)
        folder.mkdir(exist_ok=True)
        data = str(folder / "people.csv")
        table.to_csv(data, index=False)
        del table
        known = []
        for number in range(2):
            answered, asked = folder / f"answers{number}.csv", folder / f"asked{number}.csv"
            if not answered.exists():
                timed("duplicates", data, "--id", "id", *known, "--ask", str(asked))
                answer(asked, person).to_csv(answered, index=False)
            known += ["--pairs", str(answered)]
        out = str(folder / "pairs.csv")
        timed("duplicates", data, "--id", "id", *known, "--pairs-out", out)
        found = pd.read_csv(out)
    right = int((person[found["i"]] == person[found["j"]]).sum())
    sizes = np.bincount(person)
    true = int((sizes * (sizes - 1) // 2).sum())
    print(
        f"{len(found)} pairs found, {right} right: precision {right / len(found):.4f}, recall "
        f"{right / true:.4f} of {true}"
    )


def answer(asked, person):
    """Return the questions of a file with the true answers."""
    table = pd.read_csv(asked, dtype=str)
    i, j = (table[name].astype(int) for name in ("i", "j"))
    return table.assign(similar=(person[i] == person[j]).astype(int))


if __name__ == "__main__":
    main()
