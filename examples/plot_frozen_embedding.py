r"""
Adapt a frozen embedding
========================

These are 1,000 definitions of nouns as a language model sees them: vectors of 384 numbers, from a
model that was trained for other things and cannot be trained again. Someone has marked 100 pairs
of them: the same kind of thing, or different kinds. ``MeanMetric`` learns a distance from these
marks and from the definitions that nobody marked.

Half of the definitions are kept back to judge the result.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.manifold import TSNE
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, normalize

from seraph import Marks, MeanMetric
from seraph.classic import GMML
from seraph.datasets import load_definitions
from seraph.metrics import map_at_r, pair_auc, precision_at_1

definitions = load_definitions()
rng = np.random.default_rng(0)
order = rng.permutation(len(definitions.X))
seen, new = order[:500], order[500:]
X, y = definitions.X[seen], definitions.y[seen]
for row in seen[:3]:
    print(definitions.texts[row])

# %%
# The marks: 50 pairs that are alike, and 50 that differ. In practice a person answers, for example
# on the page of ``seraph ask``; here the known kinds do.

i, j = np.triu_indices(len(X), 1)
alike = y[i] == y[j]
chosen = np.concatenate(
    [rng.choice(np.flatnonzero(kind), 50, replace=False) for kind in (alike, ~alike)]
)
marks = Marks(np.column_stack([i, j])[chosen], alike[chosen], rows=X)

# %%
# Vectors of unit length, then the learner: a pipeline takes care of both. ``fit`` of a pipeline
# takes the marks in the place of class labels.

learners = {
    "GMML": make_pipeline(Normalizer(), GMML()),
    "MeanMetric": make_pipeline(Normalizer(), MeanMetric()),
}
maps = {"cosine": normalize(definitions.X[new])}
for name, learner in learners.items():
    learner.fit(X, marks)
    maps[name] = learner.transform(definitions.X[new])

print(f"{'':12}{'pair AUC':>10}{'MAP@R':>10}{'1-NN error':>12}")
for name, Z in maps.items():
    kinds = definitions.y[new]
    values = pair_auc(Z, kinds), map_at_r(Z, kinds), 1 - precision_at_1(Z, kinds)
    print(f"{name:12}{100 * values[0]:10.1f}{100 * values[1]:10.1f}{100 * values[2]:12.1f}")

# %%
# A map of the new definitions before and after, made from the distances alone:

figure, panels = plt.subplots(1, 2, figsize=(10, 4.6), layout="constrained")
for ax, name in zip(panels, ("cosine", "MeanMetric"), strict=True):
    flat = TSNE(init="pca", random_state=0).fit_transform(maps[name])
    for number, kind in enumerate(definitions.target_names):
        rows = definitions.y[new] == number
        ax.scatter(*flat[rows].T, s=12, color=f"C{number}", label=kind)
    ax.set(title=name, xticks=[], yticks=[])
figure.legend(*panels[0].get_legend_handles_labels(), loc="outside right center")
plt.show()

# %%
# What lies nearest to a definition, before and after. We looked for one where it helps:

row = next(k for k in new if definitions.texts[k].startswith("right: the hand"))
for name, vectors in (
    ("cosine", normalize(definitions.X)),
    ("MeanMetric", learners["MeanMetric"].transform(definitions.X)),
):
    distances = np.linalg.norm(vectors[new] - vectors[row], axis=1)
    print(f"\n{name}: nearest to {definitions.texts[row]!r}")
    for k in new[np.argsort(distances)[1:5]]:
        print(f"    {definitions.target_names[definitions.y[k]]:10} {definitions.texts[k][:70]}")
