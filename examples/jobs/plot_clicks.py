r"""
Let clicks improve a search
===========================

Keep a log with a line for each result shown: the query, the row, and whether it was chosen.
Each line is a mark of 0.9 if the result was chosen, otherwise one of 0.1 with a tenth of the
weight. Keep those: a log of clicks alone does not say what should be far apart. Leave out results
that nobody has looked at. If users state a dislike, add it as a certain mark, which overrides the
clicks on that pair.

The documents are the texts that describe scipy's functions, embedded by TF-IDF and SVD. People
search for texts like 250 of them, look at ten results, and click on 60 % of those of the same
module and on 5 % of the others. Fifty clicks are too few, and the search gets a little worse;
several hundred make it better.
"""

from importlib import import_module
from inspect import getdoc

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import ndcg_score
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer

from seraph import SERAPH, Marks

texts, modules = [], []
for name in ("fft", "linalg", "ndimage", "optimize", "signal", "special"):
    module = import_module(f"scipy.{name}")
    for one in module.__all__:
        parts = (getdoc(getattr(module, one)) or "").split("\n\n")
        parts = [part for part in parts if part and not part.startswith(f"{one}(")]
        texts += parts[:1]
        modules += [name for _ in parts[:1]]
steps = (TfidfVectorizer(stop_words="english"), TruncatedSVD(100, random_state=0), Normalizer())
everything, modules = make_pipeline(*steps).fit_transform(texts), np.array(modules)


def search(points, queries):
    """Rows from near to far, without the query itself."""
    distances = euclidean_distances(points[queries], points)
    distances[np.arange(len(queries)), queries] = np.inf
    return distances.argsort(axis=1)[:, :-1]


def course(seed):
    """nDCG@10 of new queries before learning, and after 50, 200 and 800 clicks."""
    rng = np.random.default_rng(seed)
    some = rng.permutation(len(everything))[:500]
    X, kinds = everything[some], modules[some]
    query = np.repeat(np.arange(250), 10)
    shown = search(X, np.arange(250))[:, :10].ravel()
    chosen = rng.random(2500) < np.where(kinds[query] == kinds[shown], 0.6, 0.05)

    def quality(points):
        rows = search(points, np.arange(250, 500))
        good = kinds[rows] == kinds[250:, np.newaxis]
        return ndcg_score(good, np.tile(-np.arange(rows.shape[1]), (250, 1)), k=10)

    scores = [quality(X)]
    for number in numbers[1:]:
        lines = query <= query[chosen][number - 1]
        pairs, was_chosen = np.column_stack([query, shown])[lines], chosen[lines]
        opinions, weights = np.where(was_chosen, [[0.9], [1.0]], [[0.1], [0.1]])
        clicks = Marks(pairs, opinions, weights=weights, rows=X)
        scores.append(quality(SERAPH(n_components=20).fit(X, marks=clicks).transform(X)))
    return scores


# %%
# New queries, five samplings. Clicks are uncertain marks, which SERAPH alone uses;
# ``n_components`` keeps more of the space than a fit to few clicks would.

numbers = (0, 50, 200, 800)
scores = np.array([course(seed) for seed in range(5)])
for number, some in zip(numbers, scores.T, strict=True):
    print(f"{number} clicks: nDCG@10 {some.mean():.3f} ± {some.std(ddof=1) / np.sqrt(5):.3f}")
figure, axes = plt.subplots(figsize=(6, 3.6), layout="constrained")
axes.plot(numbers, scores.mean(axis=0), "o-")
axes.set(xlabel="clicks in the log", ylabel="nDCG@10 of new queries", title="Search after clicks")
plt.show()
