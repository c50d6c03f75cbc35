"""Fits of three sizes, passes over the pairs, a transform, and the start of the library.

Public names only, so that old commits run, too. asv finds the methods by the first word of their
names, which says what is measured: time, or the peak of the memory in bytes.
"""

import subprocess
import sys
import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from seraph import SERAPH


def blobs(n, n_labels=100, m=32):
    """Make n points of ten Gaussian classes in m dimensions, `n_labels` of them labeled."""
    rng = np.random.default_rng(0)
    classes = rng.integers(10, size=n)
    X = rng.normal(size=(10, m))[classes] + 1.5 * rng.normal(size=(n, m))
    return X / np.sqrt(m), np.where(np.arange(n) < n_labels, classes, -1)


class Fit:
    """SERAPH with its defaults."""

    params = (200, 1000, 3000)
    param_names = ("rows",)
    timeout = 300

    def setup(self, rows):
        self.X, self.y = blobs(rows)
        SERAPH().fit(self.X, self.y)  # a first fit compiles, or loads what was compiled

    def time_fit(self, rows):
        SERAPH().fit(self.X, self.y)

    def peakmem_fit(self, rows):
        SERAPH().fit(self.X, self.y)


class Pairs:
    """One step of projected gradients: a few sums over all pairs."""

    timeout = 300

    def setup(self):
        self.X, self.y = blobs(3000)
        self.learner = SERAPH(solver="projected-gradient", max_iter=1, unlabeled_pairs="all")
        self.time_step()

    def time_step(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            self.learner.fit(self.X, self.y)


class Transform:
    """A fitted metric on many rows."""

    def setup(self):
        self.learner = SERAPH().fit(*blobs(200))
        self.X, _ = blobs(200_000)

    def time_transform(self):
        self.learner.transform(self.X)

    def peakmem_transform(self):
        self.learner.transform(self.X)


class Start:
    """From nothing to the first answer, each in a process of its own."""

    number = 1
    repeat = 5

    def time_import(self):
        subprocess.run([sys.executable, "-c", "import seraph"], check=True)

    def time_help(self):
        run = [sys.executable, "-m", "seraph", "--help"]
        subprocess.run(run, check=True, stdout=subprocess.DEVNULL)
