r"""Random forests as arrays: of rows by class, and of pairs of rows by where the pair lies.

A forest of pairs (RFD: Xiong, Johnson, Xu, Corso, KDD 2012) takes of two rows

.. math:: \phi(x, z) = \big(|x - z|,\; x + z\big),

the difference of each feature, and the place of the pair. A matrix knows the differences alone,
and holds everywhere; a forest may learn that a difference counts in one region and not in another.

scikit-learn grows the trees. They are kept as plain arrays, which any file format holds, and
checked before they are followed: scikit-learn's own code follows child numbers without looking.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.tree._criterion import Gini
from sklearn.tree._splitter import BestSplitter
from sklearn.tree._tree import NODE_DTYPE, DepthFirstTreeBuilder, Tree
from sklearn.utils import check_random_state, gen_batches

from ._points import CONSTANT_FEATURE, exact_size, magnitude
from ._utils._typing import Array

# Numbers and arrays by name: see `_as_arrays`.
Forest = dict[str, Any]

# Rows that are sent down a tree at a time.
_AT_ONCE = 40_000
# Pairs of a point and a landmark that are listed at a time.
_MOST_LISTED = 1_000_000
# Thresholds lie half-way between two rows. If values are rounded, or imputed by a median, a third
# row is just there. So they are moved by this much, with features between -1 and 1: the last bit
# of a number must not decide.
_ASIDE = 1e-5
# Levels of a tree: no limit.
_DEEPEST = np.iinfo(np.int32).max
# Shares of a forest are taken as at least this far from 0 and 1: its last votes are noise.
NEVER_SURE = 0.01


def grow_forest(points: Array, codes: Array, *, n_trees: int) -> Forest:
    """Grow a random forest that tells classes 0 to k - 1 apart, and return it as arrays.

    The order of the points and their unit do not matter, as in `grow_pair_forest`.
    """
    forest = _frame(points)
    Z = _normalize(forest, points)
    order = np.lexsort((codes, *Z.T))
    return forest | _grow(Z[order], codes[order], n_trees=n_trees, leaf=1, seed=0)


def grow_pair_forest(
    points: Array,
    pairs: Array,
    likeness: Array,
    weights: Array,
    *,
    n_trees: int,
    leaf: int,
    seed: Any,
) -> Forest:
    """Grow a forest that tells similar pairs of points from dissimilar ones.

    A pair of likeness q is a similar pair of weight q and a dissimilar one of weight 1 - q. The
    forest remembers center and scale of the features, since it compares in single precision.
    """
    # In an order of their own: the bootstrap then does not depend on theirs.
    pairs = np.sort(pairs, axis=1)
    order = np.lexsort(pairs.T)
    pairs, likeness, weights = pairs[order], likeness[order], weights[order]
    forest = _frame(points)
    i, j = np.tile(pairs, (2, 1)).T
    counts = np.concatenate([weights * likeness, weights * (1.0 - likeness)])
    similar = np.repeat([1, 0], len(pairs))
    kept = counts > 0.0
    Z = _normalize(forest, points)
    F = _pair_columns(Z[i[kept]], Z[j[kept]])
    return forest | _grow(
        F, similar[kept], n_trees=n_trees, leaf=leaf, seed=seed, weights=counts[kept]
    )


def _grow(
    F: Array,
    codes: Array,
    *,
    n_trees: int,
    leaf: int,
    seed: Any,
    weights: Array | None = None,
) -> Forest:
    """Grow the trees of a `RandomForestClassifier`, and return them as arrays.

    The nodes follow one another; `sizes` has those of each tree, and children, -1 at leaves, are
    numbered in their own. `shares` are those of the classes.

    With `weights`, rows are drawn by them, and all classes count alike. (scikit-learn's forest
    checks every tree, which takes ten times as long as growing it on a hundred rows; and what it
    does with weights has changed in 1.9.)
    """
    n, m = F.shape
    sizes = np.array([codes.max() + 1], dtype=np.intp)
    y = codes[:, np.newaxis].astype(np.float64)
    chances = None if weights is None else weights / weights.sum()
    rng, trees = check_random_state(seed), []
    for number in [rng.randint(np.iinfo(np.int32).max) for _ in range(n_trees)]:
        own = np.random.RandomState(number)
        drawn = own.randint(0, n, n) if chances is None else own.choice(n, n, p=chances)
        counts = np.bincount(drawn, minlength=n).astype(np.float64)
        if chances is not None:
            counts *= n / (2.0 * np.maximum(np.bincount(codes, counts), 1.0))[codes]
        own = np.random.RandomState(number)
        splitter = BestSplitter(Gini(1, sizes), max(1, int(m**0.5)), leaf, 0.0, own, None)
        tree = Tree(m, sizes, 1)
        builder = DepthFirstTreeBuilder(splitter, max(2, 2 * leaf), leaf, 0.0, _DEEPEST, 0.0)
        builder.build(tree, F, y, counts, None)
        trees.append(tree)
    names = ("children_left", "children_right", "feature", "threshold", "value")
    left, right, feature, threshold, shares = (
        np.concatenate([getattr(tree, name) for tree in trees]) for name in names
    )
    return {
        "sizes": np.array([tree.node_count for tree in trees]),
        "left": left.astype(np.int32),
        "right": right.astype(np.int32),
        "feature": feature.astype(np.int32),
        "threshold": threshold + _ASIDE,
        "shares": shares[:, 0],
    }


def class_shares(forest: Forest, points: Array) -> Array:
    """Return the mean share of each class in the leaves that each point falls into."""
    F = _normalize(forest, points)
    shares = np.zeros((len(F), forest["shares"].shape[1]))
    trees = _trees(forest, F.shape[1])
    for rows in gen_batches(len(F), _AT_ONCE):
        for tree in trees:
            shares[rows] += tree.predict(F[rows])
    shares /= len(trees)
    return shares


def similar_shares(forest: Forest, points: Array, pairs: Array) -> Array:
    """Return the share of trees, by their leaves, that take each pair of points for similar.

    `pairs` are numbers of rows of `points`. They are measured in chunks, by all cores.
    """
    Z = _normalize(forest, points)
    trees = _trees(forest, 2 * Z.shape[1])
    similar = np.split(forest["shares"][:, 1], np.cumsum(forest["sizes"])[:-1])

    def measure(rows: slice) -> Array:
        F = _pair_columns(Z[pairs[rows, 0]], Z[pairs[rows, 1]])
        total = np.zeros(len(F))
        for tree, shares in zip(trees, similar, strict=True):
            total += shares[tree.apply(F)]
        return total / len(trees)

    chunks = list(gen_batches(len(pairs), _AT_ONCE))
    if len(chunks) < 2:
        return measure(slice(None))
    parts = Parallel(-1, prefer="threads")(delayed(measure)(rows) for rows in chunks)
    return np.concatenate(parts)


def landmark_similarities(forest: Forest, landmarks: Array, points: Array) -> Array:
    """Return `similar_shares` of each point with each landmark, in the type of the points."""
    k = len(landmarks)
    shares = np.empty((len(points), k), dtype=points.dtype)
    for part in gen_batches(len(points), max(1, _MOST_LISTED // k)):
        n = len(points[part])
        rows = np.stack(np.meshgrid(np.arange(k), np.arange(k, k + n)), axis=-1).reshape(-1, 2)
        both = np.vstack([landmarks, points[part]])
        shares[part] = similar_shares(forest, both, rows).reshape(n, k)
    return shares


def prior_share(n_features: int) -> float:
    """Return the share that a forest gets before there is evidence: less, the more features.

    It is half of ``1 / (1 + m / 30)``: 0.38 of ten features, and 0.05 of the 256 of an embedding,
    where a forest is little better than chance. Chosen on the sets for choosing.

    Examples
    --------
    >>> round(prior_share(10), 3), round(prior_share(256), 3)
    (0.375, 0.052)
    """
    return 0.5 / (1.0 + n_features / 30.0)


def log_odds(shares: Array) -> Array:
    """Return the log-odds of shares of a forest, which is never sure."""
    shares = np.clip(shares, NEVER_SURE, 1.0 - NEVER_SURE)
    return np.asarray(np.log(shares / (1.0 - shares)))


def _frame(points: Array) -> Forest:
    """Return center and scale of the features."""
    unit = exact_size(magnitude(points))
    center = (points / unit).mean(axis=0, dtype=np.float64) * unit
    scale = np.abs(points - center).max(axis=0)
    scale[scale <= CONSTANT_FEATURE * unit] = unit
    return {"center": center, "scale": scale}


def _normalize(forest: Forest, points: Array) -> Array:
    away = (np.asarray(points, dtype=np.float64) - forest["center"]) / forest["scale"]
    return np.ascontiguousarray(np.clip(away, -1e30, 1e30), dtype=np.float32)


def _pair_columns(first: Array, second: Array) -> Array:
    return np.hstack([np.abs(first - second), first + second])


def _trees(forest: Forest, n_features: int) -> list[Tree]:
    """Make scikit-learn's trees of the arrays of a forest."""
    ends = np.cumsum(forest["sizes"])
    size = np.repeat(forest["sizes"], forest["sizes"])
    place = np.arange(len(size)) - np.repeat(ends - forest["sizes"], forest["sizes"])
    left, right, feature = forest["left"], forest["right"], forest["feature"]
    is_leaf = left < 0
    # In scikit-learn's order children come after their parents, so that no way is endless.
    fits = len(size) == len(left)
    if fits:
        inner = (np.minimum(left, right) > place) & (np.maximum(left, right) < size)
        inner &= (feature >= 0) & (feature < n_features)
        fits = bool(np.all(np.where(is_leaf, right < 0, inner)))
    if not fits:
        raise ValueError(
            "The forest is damaged: a node leads to no node of its tree. Fit the model again."
        )
    nodes = np.zeros(len(left), dtype=NODE_DTYPE)
    nodes["left_child"], nodes["right_child"] = left, right
    nodes["feature"], nodes["threshold"] = feature, forest["threshold"]
    values = np.ascontiguousarray(forest["shares"][:, np.newaxis], dtype=np.float64)
    trees = []
    for start, end in zip(ends - forest["sizes"], ends, strict=True):
        tree = Tree(n_features, np.array([values.shape[2]], dtype=np.intp), 1)
        state = {"max_depth": 0, "node_count": end - start}
        tree.__setstate__(state | {"nodes": nodes[start:end], "values": values[start:end]})
        trees.append(tree)
    return trees
