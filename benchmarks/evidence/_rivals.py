"""The methods: what each learns from, its setting, and where the setting comes from.

A method is a function of a task. It returns a map of points, under which the Euclidean distance
is judged; or a `Classifier`, if it has no distance.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.linalg import eigh
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.frozen import FrozenEstimator
from sklearn.semi_supervised import LabelSpreading

import seraph
from seraph import SERAPH, MeanMetric, MetricClassifier, classic

from ._classifiers import (
    Classifier,
    judge_classifier,
    label_spreading,
    lda_classifier,
    logistic_regression,
    of_labeled,
    random_forest,
    support_vectors,
)
from ._free_matrix import FreeMatrix
from ._tabpfn import TabPFN
from ._tasks import judge, squared_distances


@dataclass(frozen=True)
class Rival:
    """A method with its title, what it learns from, and the source of its setting.

    `learns_from` holds "labels", "pairs", or single settings for a method that takes its time.
    """

    title: str
    fit: Callable
    learns_from: tuple[str, ...]
    setting: str
    kinds: tuple[str, ...] = ("table", "pixels", "embedding")

    def takes(self, kind, setting):
        """Whether the method runs on a kind of set and a setting."""
        return kind in self.kinds and any(setting.startswith(one) for one in self.learns_from)


BOTH, LABELS_ONLY, PAIRS_ONLY = ("labels", "pairs"), ("labels",), ("pairs",)
MOST_FEATURES = 50


def measure(fit, task):
    """Fit a method and judge it: error, AUC and MAP@R in %."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few labels make many learners complain
        found = fit(task)
        if isinstance(found, Classifier):
            return judge_classifier(found, task)
        Z = np.asarray(found(task.X_test), dtype=np.float64)
        if Z.shape[1] == 0 or not np.isfinite(Z).all() or np.ptp(Z, axis=0).max() == 0:
            raise ValueError("the metric is zero")
        errors = None
        if task.y is not None:
            labeled = task.labeled
            nearest = squared_distances(Z, found(task.X[labeled])).argmin(axis=1)
            errors = task.y[labeled][nearest] != task.y_test
        return judge(squared_distances(Z, Z), task.y_test, errors)


def learner(make):
    """Return the method that fits a learner with seraph's interface."""
    return lambda task: make().fit(task.X, **task.supervision).transform


def reduced(fit):
    """Return the method that works on the 50 leading principal components, if there are more."""

    def fit_reduced(task):
        if task.X.shape[1] <= MOST_FEATURES:
            return fit(task)
        pca = PCA(MOST_FEATURES, svd_solver="full").fit(task.X)
        small = type(task)(**{**vars(task), "X": pca.transform(task.X)})
        found = fit(small)
        return lambda X: found(pca.transform(X))

    return fit_reduced


def pca(task):
    """Keep 90 % of the variance."""
    return PCA(0.9, svd_solver="full").fit(task.X).transform


def lda(task):
    labeled = task.labeled
    fitted = LinearDiscriminantAnalysis(solver="eigen", shrinkage="auto").fit(
        task.X[labeled], task.y[labeled]
    )
    return fitted.transform


@lru_cache(maxsize=1)
def default_mean(task):
    """Fit MeanMetric to a task once for all who ask in turn; the first pays the seconds."""
    return MeanMetric().fit(task.X, **task.supervision)


def metric_classifier(task):
    """Classify by class probabilities in the learned space: MetricClassifier(MeanMetric())."""
    fitted = MetricClassifier(FrozenEstimator(default_mean(task))).fit(task.X, task.y)
    return Classifier(classes=fitted.classes_, probabilities=fitted.predict_proba)


def spread_then_itml(task):
    """Spread the classes over a graph of 10 neighbors, and learn by ITML as if they were known."""
    spread = LabelSpreading(kernel="knn", n_neighbors=10, alpha=0.2).fit(task.X, task.y)
    return classic.ITML().fit(task.X, spread.transduction_).transform


def differences(task):
    """Return the differences within similar pairs and within dissimilar ones.

    Labels give all pairs of labeled points.
    """
    if task.y is not None:
        rows = task.labeled
        i, j = np.triu_indices(len(rows), 1)
        i, j = rows[i], rows[j]
        alike = task.y[i] == task.y[j]
    else:
        (i, j), alike = task.pairs.T, task.pair_labels > 0
    D = task.X[i] - task.X[j]
    return D[alike], D[~alike]


def powered(A, power):
    """Return a power of a positive definite matrix."""
    # The default driver, "evr", gives up on some matrices with many equal eigenvalues.
    values, vectors = eigh(A, driver="evd")
    return (vectors * np.maximum(values, 1e-300) ** power) @ vectors.T


def gmml_matrix(S, D, t=0.5):
    """Return GMML's matrix, a point on the geodesic from inv(S) to D: the closed form.

    A = inv(S) #_t D = S^(-1/2) (S^(1/2) D S^(1/2))^t S^(-1/2); the middle, t = 1/2, solves
    the Riccati equation A S A = D.
    """
    root, inverse_root = powered(S, 0.5), powered(S, -0.5)
    return inverse_root @ powered(root @ D @ root, t) @ inverse_root


def half_shrunk(A):
    """Mix a scatter matrix with the identity of the same trace, half and half."""
    return (A + np.trace(A) / len(A) * np.eye(len(A))) / 2


def gmml(task):
    alike, unlike = differences(task)
    S, D = (half_shrunk(d.T @ d / len(d)) for d in (alike, unlike))
    map_ = powered(gmml_matrix(S, D), 0.5)
    return lambda X: X @ map_


def chunklets(task):
    """Return the groups of points known to be alike, each with two points or more."""
    if task.y is not None:
        groups = [np.flatnonzero(task.y == c) for c in np.unique(task.y[task.labeled])]
    else:
        n, alike = len(task.X), task.pairs[task.pair_labels > 0]
        links = coo_matrix((np.ones(len(alike)), tuple(alike.T)), shape=(n, n))
        group = connected_components(links, directed=False)[1]
        groups = [np.flatnonzero(group == g) for g in np.unique(group[alike])]
    return [rows for rows in groups if len(rows) > 1]


def rca(task):
    """Whiten the scatter within chunklets: A = inv(C), C half shrunk."""
    centered = np.vstack([task.X[rows] - task.X[rows].mean(axis=0) for rows in chunklets(task)])
    map_ = powered(half_shrunk(centered.T @ centered / len(centered)), -0.5)
    return lambda X: X @ map_


RIVALS = {
    "euclidean": Rival("Euclidean / cosine", lambda task: lambda X: X, BOTH, "nothing to set"),
    "pca": Rival("PCA", pca, BOTH, "90 % of the variance, not whitened"),
    "lda": Rival(
        "LDA, shrunk", lda, LABELS_ONLY, "Ledoit-Wolf shrinkage, as scikit-learn advises"
    ),
    "lda-classifier": Rival("LDA as a classifier", lda_classifier, LABELS_ONLY, "the same"),
    "logistic": Rival(
        "logistic regression",
        logistic_regression(1.0),
        LABELS_ONLY,
        "C = 1, scikit-learn's default, on features of mean variance one",
    ),
    "logistic-10": Rival(
        "logistic regression, C = 10", logistic_regression(10.0), LABELS_ONLY, "the same, C = 10"
    ),
    "logistic-cv": Rival(
        "logistic regression, C chosen",
        logistic_regression(None),
        LABELS_ONLY,
        "the same, C of 0.01 to 100 by five folds",
    ),
    "forest": Rival(
        "random forest", of_labeled(random_forest), LABELS_ONLY, "200 trees, else defaults"
    ),
    "svm": Rival(
        "SVM",
        of_labeled(support_vectors),
        LABELS_ONLY,
        "C = 10, rbf kernel, on features of mean variance one; no probabilities",
    ),
    "tabpfn": Rival(
        "TabPFN 1",
        of_labeled(TabPFN),
        LABELS_ONLY,
        "defaults; 100 features and 10 classes at most (Hollmann et al. 2023)",
        ("table", "pixels"),
    ),
    "spreading": Rival(
        "LabelSpreading",
        label_spreading,
        LABELS_ONLY,
        "7 neighbors, alpha 0.2: scikit-learn's; its rbf kernel does not suit z-scores",
    ),
    "nca": Rival(
        "NCA", reduced(learner(classic.NCA)), LABELS_ONLY, "defaults; 50 components at most"
    ),
    "lmnn": Rival(
        "LMNN",
        reduced(learner(lambda: classic.LMNN(tol=0.01))),
        LABELS_ONLY,
        "solved to a gap of 1 %; 50 components at most",
    ),
    "itml": Rival(
        "ITML",
        learner(lambda: classic.ITML(gamma=1.0, n_constraints=None, tol=1e-6)),
        BOTH,
        "gamma = 1 on all labeled pairs, solved to its optimum",
    ),
    "gmml": Rival(
        "GMML", gmml, BOTH, "t = 1/2, both scatters half shrunk (Zadeh, Hosseini, Sra 2016)"
    ),
    "rca": Rival("RCA", rca, BOTH, "half shrunk (Bar-Hillel et al. 2003)"),
    "lrml": Rival(
        "LRML", learner(classic.LRML), BOTH, "defaults; learns from unlabeled rows, too"
    ),
    "self": Rival(
        "SELF",
        learner(classic.LFDA),
        LABELS_ONLY,
        "LFDA's defaults; learns from unlabeled rows, too (Sugiyama et al. 2010)",
    ),
    "spreading-itml": Rival(
        "LabelSpreading, then ITML",
        spread_then_itml,
        LABELS_ONLY,
        "10 neighbors, alpha 0.2; ITML's defaults on the classes of all rows",
    ),
    "matrix": Rival(
        "free matrix on the cosine",
        learner(FreeMatrix),
        PAIRS_ONLY,
        "60 steps of Adam from the identity, after OpenAI's cookbook",
        ("embedding",),
    ),
    "seraph-mu0": Rival(
        "SERAPH, mu = 0", learner(lambda: SERAPH(mu=0)), BOTH, "without unlabeled pairs"
    ),
    "seraph": Rival("SERAPH", learner(SERAPH), BOTH, "defaults"),
    "seraph-mean": Rival(
        "MeanMetric", lambda task: default_mean(task).transform, BOTH, "defaults"
    ),
    "seraph-classes": Rival(
        "MetricClassifier",
        metric_classifier,
        LABELS_ONLY,
        "MetricClassifier(MeanMetric()); its seconds come on top of MeanMetric's",
    ),
}


def from_expression(text):
    """Return the name and the method of ``name=SERAPH(...)``, for trying candidates.

    The expression makes a learner with `fit` and `transform`. It can use the public names of
    seraph, ``classic`` and ``np``.
    """
    name, _, expression = text.partition("=")
    if not expression or not name.replace("-", "_").isidentifier():
        raise SystemExit(f"A candidate is written name=SERAPH(...); got {text!r}.")
    names = {**vars(seraph), "classic": classic, "np": np}
    # Without the brackets, coverage takes the name for a file.
    code = compile(expression, f"<{name}>", "eval")
    return name, Rival(name, learner(lambda: eval(code, names)), BOTH, expression)
