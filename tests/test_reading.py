"""A reader of a default fit passes few files and functions."""

import sys
from collections import Counter
from pathlib import Path

import numpy as np
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

import seraph
from seraph import SERAPH, Marks, MeanMetric, PairClassifier
from tests.helpers.command import ok
from tests.helpers.wines import FIT, wine_frame

HOME = str(Path(seraph.__file__).parent)
WINE, Y = load_wine(return_X_y=True)
X = StandardScaler().fit_transform(WINE)
LABELS = np.where(np.arange(len(Y)) % 15 == 0, Y, -1)
PAIRS = np.random.default_rng(0).permutation(len(Y))[:100].reshape(-1, 2)
MARKS = Marks(PAIRS, Y[PAIRS[:, 0]] == Y[PAIRS[:, 1]], rows=X)


def calls_of(call, *arguments):
    """How often a second call calls each function of seraph, by file and name."""
    call(*arguments)  # imports
    calls = Counter()

    def watch(frame, event, _):
        code = frame.f_code
        # (Comprehensions are functions in Python 3.11, and are not in later versions.)
        if event == "call" and code.co_filename.startswith(HOME) and "<" not in code.co_name:
            calls[code.co_filename.removeprefix(HOME), code.co_qualname] += 1

    sys.setprofile(watch)
    try:
        call(*arguments)
    finally:
        sys.setprofile(None)
    return calls


def assert_at_most(calls, n_files, n_functions):
    files = sorted({file for file, _ in calls})
    assert len(files) <= n_files, "\n".join(files)
    assert len(calls) <= n_functions, "\n".join(map(str, sorted(calls)))


def test_a_default_fit_of_wine_passes_at_most_20_files_and_130_functions():
    assert_at_most(calls_of(SERAPH().fit, X, LABELS), 20, 130)


def test_a_pair_classifier_of_wine_passes_at_most_39_files_and_262_functions():
    """Of these, decision and forest add 9 files and 55 functions to the fit of the metric."""
    metric, decision = (
        calls_of(model.fit, X, MARKS) for model in (MeanMetric(), PairClassifier())
    )
    assert_at_most(decision, 39, 262)
    known = {file for file, _ in metric}
    assert_at_most({c: 1 for c in decision.keys() - metric.keys() if c[0] not in known}, 9, 55)
    # Labels are cut as arrays: each fold makes marks once, for its learner.
    assert decision["/_marks/_marks.py", "Marks._set"] == 5


def test_the_command_fit_passes_at_most_70_files_and_400_functions(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    wine_frame().drop(columns="truth").to_csv("data.csv", index=False)
    assert_at_most(calls_of(ok, *FIT, "-o", "model.skops"), 70, 400)
