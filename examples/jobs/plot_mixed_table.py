r"""
Similarity of rows with numbers, text and dates
===============================================

The table of penguins as it was published has measurements, the island, the sex, dates, comments
and missing cells. A biologist says of 40 pairs of birds whether they are of one species.
``TablePreparer`` makes numbers of all columns, and ``PairClassifier`` takes it in a pipeline with
the learner.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.pipeline import make_pipeline

from seraph import Marks, MeanMetric, PairClassifier, TablePreparer
from seraph.metrics import pair_auc

here = Path("../../docs/data/penguins-raw.csv")
there = "https://raw.githubusercontent.com/seraph-learn/seraph/main/docs/data/penguins-raw.csv"
birds = pd.read_csv(here if here.exists() else there)
species = birds.pop("Species").to_numpy()


def learn(seed):
    """Learn from 40 answers about one half of the birds; return the model and the other half."""
    rng = np.random.default_rng(seed)
    seen, new = np.array_split(rng.permutation(len(birds)), 2)
    table = birds.iloc[seen].reset_index(drop=True)
    pairs = rng.permutation(len(seen))[:80].reshape(40, 2)
    same = species[seen][pairs[:, 0]] == species[seen][pairs[:, 1]]
    model = PairClassifier(make_pipeline(TablePreparer(drop=["Sample Number"]), MeanMetric()))
    return model.fit(table, marks=Marks(pairs, same, rows=table)), birds.iloc[new], species[new]


model, new, kinds = learn(0)
for column, use in model.estimator_[0].columns_.items():
    print(f"{column}: {use}")

# %%
# The probability that two new birds are of one species, and the AUC of new pairs over ten
# samplings, for the prepared table and for the learned distance:

print(model.predict_proba(new.iloc[:2].index.to_numpy().reshape(1, 2), birds)[:, 1].round(2))
scores = []
for seed in range(10):
    model, new, kinds = learn(seed)
    steps = model.estimator_
    scores.append([pair_auc(steps[:n].transform(new), kinds) for n in (1, 2)])
for name, some in zip(("prepared", "learned"), np.transpose(scores), strict=True):
    print(f"{name}: AUC {some.mean():.3f} ± {some.std(ddof=1) / np.sqrt(10):.3f}")
figure, axes = plt.subplots(figsize=(6, 3.4), layout="constrained")
axes.plot([0, 1], np.transpose(scores), "o-", color="gray")
axes.set_xticks([0, 1], ["prepared table", "learned from 40 answers"])
axes.set(
    ylabel="AUC of new pairs", title="Similarity of mixed rows, ten samplings", xlim=(-0.3, 1.3)
)
plt.show()
