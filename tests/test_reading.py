"""A reader of the default fit passes few files and functions."""

import sys
from pathlib import Path

import numpy as np
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

import seraph
from seraph import SERAPH

HOME = str(Path(seraph.__file__).parent)


def test_a_default_fit_of_wine_passes_at_most_20_files_and_130_functions():
    X, y = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    y = np.where(np.arange(len(y)) % 15 == 0, y, -1)
    SERAPH().fit(X, y)  # imports
    passed = set()

    def watch(frame, event, _):
        code = frame.f_code
        # (Comprehensions are functions in Python 3.11, and are not in later versions.)
        if event == "call" and code.co_filename.startswith(HOME) and "<" not in code.co_name:
            passed.add((code.co_filename.removeprefix(HOME), code.co_qualname))

    sys.setprofile(watch)
    try:
        SERAPH().fit(X, y)
    finally:
        sys.setprofile(None)
    files = sorted({file for file, _ in passed})
    assert len(files) <= 20, "\n".join(files)
    assert len(passed) <= 130, "\n".join(map(str, sorted(passed)))
