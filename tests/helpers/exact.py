"""Figures of merit in exact arithmetic: every distance is a fraction, every pair is looked at."""

from fractions import Fraction
from itertools import combinations


def fractions(Z):
    """The numbers of a table, without any rounding."""
    return [[Fraction(value) for value in row] for row in Z]


def squared(u, v, weights=None):
    """Squared distance of two points, with a weight for each coordinate."""
    weights = [1] * len(u) if weights is None else weights
    return sum((w * (a - b) ** 2 for a, b, w in zip(u, v, weights, strict=True)), Fraction(0))


def marked_distances(Z, y, pairs=(), signs=(), weights=None):
    """Squared distances of the similar pairs, and of the dissimilar ones."""
    kinds = {True: [], False: []}
    for i, j in combinations(range(len(Z)), 2):
        if y[i] >= 0 and y[j] >= 0:
            kinds[y[i] == y[j]].append(squared(Z[i], Z[j], weights))
    for (i, j), similar in zip(pairs, signs, strict=True):
        kinds[similar].append(squared(Z[i], Z[j], weights))
    return kinds[True], kinds[False]


def pair_auc(similar, dissimilar):
    """Share of the pairs of pairs that are in order; half of a tie."""
    points = sum(2 * (s < d) + (s == d) for s in similar for d in dissimilar)
    return Fraction(points, 2 * len(similar) * len(dissimilar))


def equal_error_rate(similar, dissimilar):
    """Where the ROC curve, with straight lines across ties, meets its antidiagonal."""
    accepted, rejected = Fraction(0), Fraction(1)
    for threshold in sorted({*similar, *dissimilar}):
        more = Fraction(sum(d <= threshold for d in dissimilar), len(dissimilar))
        less = Fraction(sum(s > threshold for s in similar), len(similar))
        if more >= less:
            before, after = rejected - accepted, more - less
            return accepted + before / (before + after) * (more - accepted)
        accepted, rejected = more, less
    raise AssertionError("the curve ends at 1 and 0")


def neighbors(Z, y, weights=None):
    """For each query with a companion: which neighbors are companions; ties are errors."""
    for q in range(len(Z)):
        others = [k for k in range(len(Z)) if k != q and y[k] >= 0]
        if y[q] >= 0 and any(y[k] == y[q] for k in others):
            order = sorted((squared(Z[q], Z[k], weights), y[k] == y[q]) for k in others)
            yield [hit for _, hit in order]


def recall_at_k(Z, y, k, weights=None):
    found = [any(hits[:k]) for hits in neighbors(Z, y, weights)]
    return Fraction(sum(found), len(found))


def map_at_r(Z, y, weights=None):
    scores = []
    for hits in neighbors(Z, y, weights):
        R = sum(hits)
        places = [Fraction(sum(hits[: i + 1]), i + 1) for i in range(R) if hits[i]]
        scores.append(sum(places, Fraction(0)) / R)
    return sum(scores, Fraction(0)) / len(scores)


def figures(Z, y, pairs=(), signs=(), weights=None):
    """All of them, by name."""
    kinds = marked_distances(Z, y, pairs, signs, weights)
    return {
        "pair_auc": pair_auc(*kinds),
        "equal_error_rate": equal_error_rate(*kinds),
        "precision_at_1": recall_at_k(Z, y, 1, weights),
        "recall_at_5": recall_at_k(Z, y, 5, weights),
        "map_at_r": map_at_r(Z, y, weights),
    }
