"""What would be wrong in silence: each case stands beside another way to the same answer."""

from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
from sklearn.preprocessing import StandardScaler

from seraph import Marks, MetricClassifier, constrained_agglomerative, metrics
from seraph.classic import GMML, LFDA, RCA, Euclidean
from seraph.compat import metric_learn
from tests.helpers import exact
from tests.helpers.foreign import TYPES
from tests.helpers.strategies import LONG_DISGUISES
from tests.hostile.trial import guarded, refused

# Points of whole numbers, as functions of a generator and a shape.
WHOLE = {
    "binary": lambda gen, shape: gen.integers(2, size=shape),
    "one-hot": lambda gen, shape: np.eye(shape[1])[gen.integers(shape[1], size=shape[0])],
    "counts": lambda gen, shape: gen.poisson(2.0, size=shape),
    "sparse counts": lambda gen, shape: gen.poisson(0.3, size=shape),
    "large counts": lambda gen, shape: 999_983 * gen.integers(3, size=shape),
    "large and close": lambda gen, shape: (
        10**6 * gen.integers(2, size=shape[0])[:, np.newaxis] + gen.integers(2, size=shape)
    ),
    "an outlier": lambda gen, shape: np.r_[
        np.full((1, shape[1]), 10**6), gen.integers(3, size=(shape[0] - 1, shape[1]))
    ],
    "duplicates": lambda gen, shape: gen.integers(9, size=(3, shape[1]))[
        gen.integers(3, size=shape[0])
    ],
    "all equal": lambda gen, shape: np.full(shape, 7),
}
# What does not change which distances are equal.
CHANGES = {
    "as they are": lambda Z, gen: Z,
    "moved": lambda Z, gen: Z + gen.integers(-1000, 1000, size=Z.shape[1]),
    "moved far": lambda Z, gen: Z + 2.0**40,
    "scaled": lambda Z, gen: Z * 10.0 ** gen.uniform(-9, 9),
    "tiny": lambda Z, gen: Z * 1e-200,
    "huge": lambda Z, gen: Z * 1e200,
    "turned": lambda Z, gen: Z @ np.linalg.qr(gen.normal(size=(Z.shape[1],) * 2))[0],
    "mirrored": lambda Z, gen: -Z[:, ::-1],
    "standardized": lambda Z, gen: StandardScaler().fit_transform(Z),
}
EXACT = ("as they are", "moved", "mirrored")
FORMS = {
    "float64": lambda Z: Z,
    "list": lambda Z: Z.tolist(),
    "columns first": np.asfortranarray,
    "pandas": pd.DataFrame,
    "polars": lambda Z: pl.DataFrame(Z, schema=[f"z{k}" for k in range(Z.shape[1])]),
}


def a_tie(rng):
    """Judge points with many ties, and compare with exact arithmetic."""
    gen = np.random.default_rng(rng.randrange(2**32))
    n, r = rng.randint(5, 14), rng.randint(1, 8)
    kind, change = rng.choice(sorted(WHOLE)), rng.choice(sorted(CHANGES))
    if kind in ("an outlier", "large and close") and change not in EXACT:
        change = "moved"  # rounding the points would change their small differences
    plain = WHOLE[kind](gen, (n, r)).astype(float)
    y = gen.integers(-1, 3, size=n)
    y[:4] = [0, 0, 1, 1]
    order = gen.permutation(n)
    plain, y = plain[order], y[order]
    free = np.flatnonzero(y < 0)
    pairs = np.column_stack([free[:-1], free[1:]])
    signs = gen.random(len(pairs)) < 0.5
    weights = [1] * r
    if change == "standardized":
        points = exact.fractions(plain)
        variances = [_variance([row[k] for row in points]) for k in range(r)]
        weights = [1 / v if v else Fraction(0) for v in variances]
    expected = exact.figures(exact.fractions(plain), y, pairs.tolist(), signs.tolist(), weights)
    Z = FORMS[rng.choice(sorted(FORMS))](CHANGES[change](plain, gen))
    marks = {"marks": Marks(pairs, signs, rows=n)} if len(pairs) else {}
    found = {
        "pair_auc": metrics.pair_auc(Z, y, **marks),
        "equal_error_rate": metrics.equal_error_rate(Z, y, **marks),
        "precision_at_1": metrics.precision_at_1(Z, y),
        "recall_at_5": metrics.recall_at_k(Z, y, 5),
        "map_at_r": metrics.map_at_r(Z, y),
    }
    for name, value in expected.items():
        assert abs(found[name] - float(value)) < 1e-12, (name, found[name], value, kind, change)
    return f"{kind}, {change}"


def _variance(column):
    mean = sum(column) / len(column)
    return sum((value - mean) ** 2 for value in column) / len(column)


# Functions of points and labels.
ASKED = {
    "pair_auc": metrics.pair_auc,
    "recall_at_k": lambda X, y: metrics.recall_at_k(X, y, 3),
    "map_at_r": metrics.map_at_r,
    "clusters": lambda X, y: constrained_agglomerative(X, 3, y),
    "GMML": lambda X, y: GMML().fit(X, y).components_,
    "RCA": lambda X, y: RCA().fit(X, y).components_,
    "LFDA": lambda X, y: LFDA().fit(X, y).components_,
    "score": lambda X, y: Euclidean().fit(X).score(X, y),
    "neighbors": lambda X, y: (
        MetricClassifier(Euclidean(), rule="nearest").fit(X, y).predict_proba(X)
    ),
    "classifier's score": lambda X, y: MetricClassifier(Euclidean()).fit(X, y).score(X, y),
}


def a_long_label(rng):
    """Ask with classes of many digits, and with the same classes as small numbers."""
    gen = np.random.default_rng(rng.randrange(2**32))
    X = gen.normal(size=(20, 3))
    codes = gen.integers(-1, 3, size=20)
    codes[:6] = [0, 0, 1, 1, 2, 2]
    name, disguise = rng.choice(sorted(ASKED)), rng.choice(sorted(LONG_DISGUISES))
    y = LONG_DISGUISES[disguise](codes)
    answer, _ = guarded(lambda: ASKED[name](X, y))
    expected, _ = guarded(lambda: ASKED[name](X, codes))
    assert not refused(answer), answer
    np.testing.assert_array_equal(answer, expected)
    return f"{name} of {disguise}"


def a_foreign_type(rng):
    """Give points of a type that is no number; every learner and figure must say so."""
    kind = rng.choice(sorted(TYPES))
    X, _ = TYPES[kind]
    y = np.arange(12) % 2
    width = np.shape(X)[-1]
    fitted = Euclidean().fit(np.random.default_rng(0).normal(size=(12, width)))
    pairs = np.arange(4).reshape(2, 2)
    acts = {
        "GMML": lambda: GMML().fit(X, y),
        "Euclidean": lambda: Euclidean().fit(X),
        "stand-in": lambda: metric_learn.Covariance().fit(X),
        "classifier": lambda: MetricClassifier(Euclidean()).fit(X, y),
        "transform": lambda: fitted.transform(X),
        "pair_distance": lambda: fitted.pair_distance(pairs, X),
        "score": lambda: fitted.score(X, y),
        "figure": lambda: metrics.pair_auc(X, y),
        "clusters": lambda: constrained_agglomerative(X, 2),
    }
    name = rng.choice(sorted(acts))
    result, _ = guarded(acts[name])
    assert refused(result), f"{name} takes {kind} for numbers"
    words = ("table of numbers", "Expected 2D array", "feature names")
    assert any(word in str(result) for word in words), result
    return f"{name} refuses {kind}"
