"""The methods: learners alone, means of two or three of them, and classifiers.

A learner is fitted once to a task; the means average fitted metrics. Half of the members of
``X+euclidean`` is the distance that everybody has anyway. So each rival is there as its authors
have it, and with the Euclidean part that MeanMetric's members get from each other. The parameters
of rivals that differ from the defaults are the best of a small grid on the sets for choosing, as
ours are. A classifier is a similarity as well: the chance of two rows to be of one class.
"""

import time
import warnings
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from inspect import signature

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.semi_supervised import LabelSpreading
from sklearn.svm import SVC

from seraph import SERAPH, ForestSpace, MeanMetric, MetricClassifier, PairClassifier, classic

from ._packages import Unavailable
from ._tabpfn import TabPFN, TooLarge
from ._tasks import judge, squared_distances

MOST_FEATURES = 50  # of NCA and LMNN, which are slow in high dimensions


class Spread(BaseEstimator):
    """Spread the classes over a graph of 10 neighbors; ITML learns as if they were known."""

    def fit(self, X, y):
        spread = LabelSpreading(kernel="knn", n_neighbors=10, alpha=0.2).fit(X, y)
        self.components_ = classic.ITML().fit(X, spread.transduction_).components_
        return self


class Reduced(BaseEstimator):
    """Fit a learner to the 50 leading principal components, if there are more features."""

    def __init__(self, learner):
        self.learner = learner

    def fit(self, X, y):
        if X.shape[1] <= MOST_FEATURES:
            self.components_ = self.learner.fit(X, y).components_
            return self
        pca = PCA(MOST_FEATURES, svd_solver="full").fit(X)
        self.components_ = self.learner.fit(pca.transform(X), y).components_ @ pca.components_
        return self


class Layer(BaseEstimator):
    """Fine-tune a linear layer: Adam on the logistic loss of pairs, from the identity."""

    def fit(self, X, y=None, *, marks=None):
        import torch

        if marks is None:
            i, j = np.triu_indices((y >= 0).sum(), 1)
            i, j = np.flatnonzero(y >= 0)[[i, j]]
            signs = np.where(y[i] == y[j], 1.0, -1.0)
        else:
            (i, j), signs = marks.pairs.T, np.where(marks.similar, 1.0, -1.0)
        torch.manual_seed(0)
        steps, signs = torch.tensor(X[i] - X[j]), torch.tensor(signs)
        P = torch.eye(X.shape[1], dtype=torch.float64, requires_grad=True)
        bound = torch.tensor(float((steps**2).sum(1).median()), requires_grad=True)
        optimizer = torch.optim.Adam([P, bound], lr=0.01)
        for batch in torch.randint(len(steps), (200, 256)):
            optimizer.zero_grad()
            excess = ((steps[batch] @ P.T) ** 2).sum(1) - bound
            torch.nn.functional.softplus(signs[batch] * excess).mean().backward()
            optimizer.step()
        self.components_ = P.detach().numpy()
        return self


@dataclass(frozen=True)
class Method:
    """A learner, a mean of learners, or a classifier.

    `make` makes a learner or, from a seed, a classifier; `members` are the methods it needs: the
    learners of a mean. `slow` methods run on the first ten samplings.
    """

    title: str
    make: object = None
    members: tuple[str, ...] = ()
    classifies: bool = False
    from_labels: bool = True
    from_pairs: bool = True
    slow: bool = False


def logistic_regression(_):
    """Choose C by five folds; a fold may leave one class to learn from, and count as wrong."""
    model = LogisticRegression(max_iter=1000)
    folds = KFold(5, shuffle=True, random_state=0)
    choices = {"C": [0.01, 0.1, 1.0, 10.0, 100.0]}
    return GridSearchCV(model, choices, cv=folds, error_score=0.0)


RIVALS = {
    "lrml": Method("LRML", classic.LRML),
    "itml": Method("ITML", classic.ITML),
    "gmml": Method("GMML", partial(classic.GMML, ridge=0.1)),  # of 1, 0.3, 0.1, 0.03
    "rca": Method("RCA", classic.RCA),
    "self": Method("SELF", classic.LFDA, from_pairs=False),
    "spreading-itml": Method("LabelSpreading, then ITML", Spread, from_pairs=False),
    "nca": Method("NCA", lambda: Reduced(classic.NCA()), from_pairs=False, slow=True),
    "lmnn": Method("LMNN", lambda: Reduced(classic.LMNN(tol=0.01)), from_pairs=False, slow=True),
}
RIVALS |= {
    f"{name}+euclidean": Method(
        f"{rival.title} + Euclidean",
        members=(name, "euclidean"),
        from_pairs=rival.from_pairs,
        slow=rival.slow,
    )
    for name, rival in RIVALS.items()
}
RIVALS["layer"] = Method("linear layer, fine-tuned", Layer, slow=True)
RIVALS["rfd"] = Method("RFD", classic.RFD, slow=True)  # no matrix to average
OURS = {
    "seraph": Method("SERAPH", SERAPH),
    "seraph-mu0": Method("SERAPH, mu = 0", partial(SERAPH, mu=0)),
    "seraph+euclidean": Method("SERAPH + Euclidean", members=("seraph", "euclidean")),
    "mean": Method("MeanMetric", members=("seraph", "lrml", "itml")),
    "mean-seraph": Method("MeanMetric without SERAPH", members=("lrml", "itml")),
    "mean-lrml": Method("MeanMetric without LRML", members=("seraph", "itml")),
    "mean-itml": Method("MeanMetric without ITML", members=("seraph", "lrml")),
    "pair-classifier": Method("PairClassifier", PairClassifier, from_labels=False, slow=True),
    "space": Method("ForestSpace", ForestSpace, slow=True),
}
CLASSIFIERS = {
    "logistic": Method("logistic regression, C by folds", logistic_regression),
    "forest": Method("random forest", lambda seed: RandomForestClassifier(200, random_state=seed)),
    "svm": Method("SVM", lambda _: SVC(C=10.0)),
    "tabpfn": Method("TabPFN 1", TabPFN, slow=True),
    "classifier": Method("MetricClassifier", members=(*OURS["mean"].members, "mean")),
}
CLASSIFIERS = {
    name: replace(one, classifies=True, from_pairs=False) for name, one in CLASSIFIERS.items()
}
METHODS = {"euclidean": Method("Euclidean / cosine", classic.Euclidean)}
METHODS |= RIVALS | OURS | CLASSIFIERS  # a mean comes after its members


def choose_methods(names=None):
    """Return methods by name, each after those it needs; ``module:Class`` imports a learner."""
    if names is None:
        return METHODS
    chosen = {"euclidean": METHODS["euclidean"]}
    for name in names:
        module, _, learner = name.partition(":")
        if learner:
            make = getattr(import_module(module), learner)
            chosen[name] = Method(name, make, from_pairs="marks" in signature(make.fit).parameters)
        elif name in METHODS:
            chosen |= {one: METHODS[one] for one in (*METHODS[name].members, name)}
        else:
            raise SystemExit(
                f"There is no method {name!r}: give one of {', '.join(METHODS)}, or your own as "
                "module:Class."
            )
    return chosen


def wanted(setting, seed, kind, methods=METHODS):
    """Return the names of the methods that run on a task."""
    return [
        name
        for name, method in methods.items()
        if (method.from_labels if setting.startswith("labels") else method.from_pairs)
        and not (method.slow and seed >= 10)
        and not (name == "tabpfn" and kind == "embedding")
    ]


def measure(task, names, methods=METHODS):
    """Fit the methods to a task and judge them; return a record for each.

    A method that fails, or whose metric is zero, leaves its user with the distance he had: it
    gets the figures of the Euclidean distance, and the record a note.
    """
    fitted, seconds, records = {}, {}, {}
    for name in names:
        method = methods[name]
        start, note = time.process_time(), ""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # few labels make many learners complain
                if method.classifies:
                    scores = {"": judge_classifier(name, task, fitted)}
                else:
                    learner = fitted[name] = _fit(method, task, fitted)
                    seconds[name] = time.process_time() - start
                    scores = {end: judge_metric(learner, p) for end, p in task.parts.items()}
        except (TooLarge, Unavailable):
            continue
        except (ValueError, np.linalg.LinAlgError) as error:
            if name == "euclidean":
                raise
            plain = {end: records[f"euclidean{end}"] for end in task.parts}
            scores = {
                end: {key: plain[end][key] for key in ("error", "auc", "map")} for end in plain
            }
            note = f"{type(error).__name__}: {error}"[:100]
            fitted[name] = fitted["euclidean"]
        spent = seconds.get(name, time.process_time() - start)
        spent += sum(seconds.get(member, 0.0) for member in method.members)
        about = {"seconds": round(spent, 3), "note": note}
        for end, judged in scores.items():
            figures = {key: round(value, 3) for key, value in judged.items()}
            records[name + end] = {"method": name + end, **figures, **about}
    return list(records.values())


def _fit(method, task, fitted):
    if not method.members:
        return method.make().fit(task.X, **task.supervision)
    members = [(name.replace("-", "_"), FrozenEstimator(fitted[name])) for name in method.members]
    return MeanMetric(members).fit(task.X, **task.supervision)


def judge_metric(learner, task):
    """Return the error of the nearest labeled row (other row, from pairs), AUC and MAP@R in %."""
    errors = None
    if task.y is not None:
        labeled = task.labeled
        nearest = distances(learner, task.X_test, task.X[labeled]).argmin(axis=1)
        errors = task.y[labeled][nearest] != task.y_test
    return judge(distances(learner, task.X_test, task.X_test), task.y_test, errors)


def distances(learner, A, B):
    """Return the distances between rows of A and of B; squared, if there are coordinates."""
    if hasattr(learner, "components_"):
        Z, others = A @ learner.components_.T, B @ learner.components_.T
    elif hasattr(learner, "transform") and not hasattr(learner, "pair_distance"):
        Z, others = learner.transform(A), learner.transform(B)
    else:
        pairs = np.indices((len(A), len(B))).reshape(2, -1).T + np.array([0, len(A)])
        return learner.pair_distance(pairs, np.vstack([A, B])).reshape(len(A), len(B))
    if Z.shape[1] == 0 or not np.isfinite(Z).all() or np.ptp(Z, axis=0).max() == 0:
        raise ValueError("the metric is zero")
    return squared_distances(Z, others)


def judge_classifier(name, task, fitted):
    """Fit a classifier to the labeled rows, ours to all of them; return its error in %.

    If it has probabilities, also the AUC and MAP@R of the chance to be of one class. The features
    get a mean variance of one, since C and the width of a kernel have the units of X: without it,
    C = 1 is far too strong for vectors of unit length.
    """
    rows, X_test = task.X[task.labeled], task.X_test
    if name == "classifier":
        model = MetricClassifier(FrozenEstimator(fitted["mean"])).fit(task.X, task.y)
    else:
        scale = np.sqrt(task.X.shape[1] / task.X.var(axis=0).sum())
        rows, X_test = scale * rows, scale * X_test
        model = METHODS[name].make(task.seed).fit(rows, task.y[task.labeled])
    errors = model.predict(X_test) != task.y_test
    if not hasattr(model, "predict_proba"):
        return {"error": 100 * float(np.mean(errors))}
    chances = model.predict_proba(X_test)
    return judge(1 - chances @ chances.T, task.y_test, errors)
