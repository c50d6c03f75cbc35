r"""
How many answers are enough?
============================

You mark pairs as the same or different, and wonder when to stop. The picture shows the gain in the
AUC of new pairs over the distance before learning, against the number of answers, half of them
alike. The four sets are wines, tumors, images of digits, and texts: the descriptions of scipy's
functions, embedded by TF-IDF and SVD, where "the same" means the same module.

On your own data, ``seraph ask`` and ``seraph fit`` show what the answers gained so far, and
whether it is more than chance.
"""

from importlib import import_module
from inspect import getdoc

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, StandardScaler

from seraph import Marks, MeanMetric
from seraph.metrics import pair_auc


def scipy_texts():
    """Vectors of texts on scipy's functions, and the module of each."""
    texts, modules = [], []
    for name in ("fft", "linalg", "ndimage", "optimize", "signal", "special"):
        module = import_module(f"scipy.{name}")
        found = [getdoc(getattr(module, one)) for one in module.__all__]
        texts += [text[:500] for text in found if text]
        modules += [name for text in found if text]
    embed = (TfidfVectorizer(stop_words="english"), TruncatedSVD(100, random_state=0))
    return make_pipeline(*embed, Normalizer()).fit_transform(texts), np.array(modules)


def scaled(load):
    """A set of scikit-learn in standard deviations."""
    X, y = load(return_X_y=True)
    return StandardScaler().fit_transform(X), y


images, digit = load_digits(return_X_y=True)
sets = {
    "texts": scipy_texts(),
    "wine": scaled(load_wine),
    "breast cancer": scaled(load_breast_cancer),
    "digits": (images[:900] / 16.0, digit[:900]),
}
numbers = (10, 20, 50, 100, 200, 400)


def gains(X, y, seed):
    """Gain in AUC on new rows, in points, after each number of answers."""
    rng = np.random.default_rng(seed)
    seen, new = np.array_split(rng.permutation(len(X)), 2)
    pairs = rng.integers(len(seen), size=(10_000, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    same = y[seen][pairs[:, 0]] == y[seen][pairs[:, 1]]
    before = pair_auc(X[new], y[new])
    found = []
    for number in numbers:
        asked = [np.flatnonzero(same == kind)[: number // 2] for kind in (True, False)]
        rows = np.concatenate(asked)
        marks = Marks(pairs[rows], same[rows], rows=X[seen])
        learned = MeanMetric().fit(X[seen], marks=marks)
        found.append(100 * (pair_auc(learned.transform(X[new]), y[new]) - before))
    return found


# %%
# The mean of five samplings, with standard errors.

figure, axes = plt.subplots(figsize=(8, 4.4), layout="constrained")
for marker, (name, (X, y)) in zip("osD^", sets.items(), strict=True):
    gain = np.array([gains(X, y, seed) for seed in range(5)])
    mean, error = gain.mean(axis=0), gain.std(axis=0, ddof=1) / np.sqrt(len(gain))
    axes.errorbar(numbers, mean, error, marker=marker, capsize=3, label=name)
    print(
        f"{name}:",
        *(f"{number}: {value:+.1f}" for number, value in zip(numbers, mean, strict=True)),
    )
axes.axhline(0, color="0.6", linewidth=1)
axes.set(xscale="log", xlabel="answers", ylabel="gain in AUC of new pairs, points")
axes.set_title("Gain over the distance before learning")
axes.set_xticks(numbers, [str(n) for n in numbers])
axes.minorticks_off()
axes.legend()
plt.show()
