"""A table of wines for the tests of the command line, and the command that learns from it."""

import numpy as np
from sklearn.datasets import load_wine

CULTIVARS = np.array(["barolo", "grignolino", "barbera"])
FEATURES = ["alcohol", "ash", "hue", "proline", "flavanoids"]
FIT = ["fit", "data.csv", "--label", "class", "--id", "name", "--drop", "remarks"]


def wine_frame():
    """Sixty wines with a name, a remark, five features and twelve labels."""
    frame = load_wine(as_frame=True).frame.sample(60, random_state=0).reset_index(drop=True)
    classes = CULTIVARS[frame["target"]]
    few = np.concatenate([np.flatnonzero(classes == c)[:4] for c in CULTIVARS])
    table = frame[FEATURES].copy()
    table.insert(0, "name", [f"W{k:02d}" for k in range(len(frame))])
    table["remarks"] = "good, even\nvery good"
    table["class"] = [c if k in few else "" for k, c in enumerate(classes)]
    table["truth"] = classes
    return table
