"""Time `DuplicateFinder` on many rows: ``python -m benchmarks.duplicates_scale [ROWS]``.

The table is made up: people with names, addresses, dates of birth and telephone numbers, a fifth
of whom are in it twice, the second time with one to three slips (a letter changed, dropped or
doubled, two columns exchanged, a cell missing). 100 answers are asked for in two rounds, and
answered by the truth. Memory includes the table.
"""

import resource
import sys
import time

import numpy as np
import pandas as pd

from seraph.records import DuplicateFinder

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
    return both, person[order]


def main():
    """Make the table, ask twice, find, and print the time and memory up to each step."""
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    table, person = with_duplicates(n, np.random.default_rng(0))
    begin = time.process_time()

    def done(step):
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        print(f"{step}: {time.process_time() - begin:.0f} s of CPU, {memory:.2f} GB", flush=True)

    finder = DuplicateFinder(random_state=0).fit(table)
    done("compared")
    pairs = finder.questions(50)
    pairs = np.concatenate([pairs, finder.questions(50, pairs, same(person, pairs))])
    done("asked")
    found = finder.find(pairs, same(person, pairs))
    done("found")
    right = int(same(person, found.pairs).sum())
    sizes = np.bincount(person)
    true = int((sizes * (sizes - 1) // 2).sum())
    print(
        f"{len(found.pairs)} pairs found: precision {right / len(found.pairs):.4f}, "
        f"recall {right / true:.4f} of {true}; F1 stated {np.round(found.f1, 3).tolist()}"
    )


def same(person, pairs):
    """Answer by the truth."""
    return person[pairs[:, 0]] == person[pairs[:, 1]]


if __name__ == "__main__":
    main()
