"""Marks with all that they can have."""

import numpy as np

from seraph import Marks
from tests.helpers.quick import examples

NAMES = ["ann", "bob", "cyd", "dan", "eve"]
PAIRS = [[1, 0], [2, 3], [4, 0]]
LABELS = [1, 0, 0.7]
WEIGHTS = [1.0, 2.0, 0.5]
TRIPLETS = [[0, 2, 4], [3, 1, 2]]
FEW = examples(5, least=20)


def sample(rows=5, **more):
    """Marks with all that they can have."""
    given = {"weights": WEIGHTS, "triplets": TRIPLETS} | more
    return Marks(PAIRS, LABELS, rows=rows, **given)


def by_name():
    """The same marks about rows with names."""
    names = np.array(NAMES)
    marked = {"weights": WEIGHTS, "triplets": names[TRIPLETS]}
    return Marks(names[PAIRS], LABELS, rows=NAMES, **marked)
