"""People that are in a table twice, the second time with a slip; the truth is known."""

import numpy as np
import pandas as pd


def people(n=60, n_twice=40, seed=0):
    """Return records and the person of each: `n` people, the first `n_twice` of them again."""
    rng = np.random.default_rng(seed)
    letters = list("abcdefghiklmnoprstuw")

    def word(low, high):
        return "".join(rng.choice(letters, rng.integers(low, high)))

    rows = [
        {
            "name": f"{word(4, 8)} {word(5, 10)}",
            "street": f"{word(6, 11)} street",
            "town": str(rng.choice(["ulm", "bern", "graz", "linz"])),
            "code": str(rng.integers(1000, 9999)),
            "age": float(rng.integers(20, 80)),
        }
        for _ in range(n)
    ]
    for row in rows[:n_twice]:
        copy = dict(row)
        for name in rng.choice(["name", "street"], 1 + rng.integers(2), replace=False):
            at = rng.integers(len(copy[name]))
            copy[name] = copy[name][:at] + "x" + copy[name][at + 1 :]
        if rng.random() < 0.3:
            copy[str(rng.choice(["town", "code"]))] = None
        if rng.random() < 0.2:
            copy["age"] = np.nan
        rows.append(copy)
    person = np.r_[np.arange(n), np.arange(n_twice)]
    order = rng.permutation(len(rows))
    return pd.DataFrame(rows).iloc[order].reset_index(drop=True), person[order]


def same(person, pairs, other=None):
    """Answer pairs by the truth."""
    other = person if other is None else other
    return person[pairs[:, 0]] == other[pairs[:, 1]]
