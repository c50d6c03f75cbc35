"""The rivals that classify: scikit-learn's, and TabPFN; and how classifiers are judged."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.semi_supervised import LabelSpreading
from sklearn.svm import SVC

from ._tasks import judge

CHOICES_OF_C = (0.01, 0.1, 1.0, 10.0, 100.0)
BINS = 10


@dataclass(frozen=True)
class Classifier:
    """A classifier: the probabilities of `classes`, or `predict` if it has none.

    Two points are alike with the chance that their classes agree.
    """

    predict: Callable | None = None
    classes: np.ndarray | None = None
    probabilities: Callable | None = None


def judge_classifier(classifier, task):
    """Return the error in %, and the other measures where there are probabilities."""
    if classifier.probabilities is None:
        wrong = classifier.predict(task.X_test) != task.y_test
        return {"error": 100 * float(np.mean(wrong)), "auc": None, "map": None}
    chances = classifier.probabilities(task.X_test)
    wrong = classifier.classes[chances.argmax(axis=1)] != task.y_test
    found = judge(-(chances @ chances.T), task.y_test) | {"error": 100 * float(np.mean(wrong))}
    return found | judge_probabilities(chances, classifier.classes, task.y_test, wrong)


def judge_probabilities(chances, classes, y, wrong):
    """Return the Brier score in %, the reliability curve, and the error of the least sure 10 %.

    The score is the mean squared distance of the probabilities from the truth, from 0 to 200. The
    curve has a row for each tenth of the largest probability: number of rows, sum of these
    probabilities, number of right rows.
    """
    truth = y[:, np.newaxis] == classes
    # A class without a label has a probability of zero.
    missed = 1.0 - truth.sum(axis=1)
    brier = 100 * float(np.mean(((chances - truth) ** 2).sum(axis=1) + missed))
    best = chances.max(axis=1)
    place = np.minimum((best * BINS).astype(int), BINS - 1)
    curve = [np.bincount(place, w, BINS).round(4).tolist() for w in (None, best, ~wrong)]
    least = np.argsort(best, kind="stable")[: max(1, len(y) // 10)]
    return {"brier": brier, "curve": curve, "least_sure": 100 * float(np.mean(wrong[least]))}


# The methods


def lda_classifier(task):
    labeled = task.labeled
    fitted = LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto").fit(
        task.X[labeled], task.y[labeled]
    )
    return Classifier(fitted.predict)


def label_spreading(task):
    fitted = LabelSpreading(kernel="knn", n_neighbors=7, alpha=0.2).fit(task.X, task.y)
    return Classifier(fitted.predict)


def of_labeled(make):
    """Return the method that fits a classifier to the labeled rows; `make` gets the seed.

    The features get a mean variance of one, since C and the width of a kernel have the units of
    X: without it, C = 1 is far too strong for vectors of unit length.
    """

    def fit(task):
        labeled = task.labeled
        scale = np.sqrt(task.X.shape[1] / task.X.var(axis=0).sum())
        fitted = make(task.seed).fit(scale * task.X[labeled], task.y[labeled])
        if not hasattr(fitted, "predict_proba"):
            return Classifier(lambda X: fitted.predict(scale * X))
        return Classifier(
            classes=fitted.classes_, probabilities=lambda X: fitted.predict_proba(scale * X)
        )

    return fit


def logistic_regression(C):
    """Return the method that classifies by logistic regression; C None is cross-validated."""

    def make(_):
        if C is not None:
            return LogisticRegression(C=C, max_iter=1000)
        folds = KFold(5, shuffle=True, random_state=0)
        model = LogisticRegression(max_iter=1000)
        # A fold may leave one class to learn from, and count as all wrong.
        return GridSearchCV(model, {"C": list(CHOICES_OF_C)}, cv=folds, error_score=0.0)

    return of_labeled(make)


def random_forest(seed):
    return RandomForestClassifier(200, random_state=seed)


def support_vectors(_):
    return SVC(C=10.0)
