"""What `fit` of the classic learners checks, whatever a subclass forgets."""

import numpy as np
import pytest

from seraph import Marks
from seraph.classic import LFDA, LMNN, NCA
from seraph.classic._learner import ClassLabelLearner

X = np.random.default_rng(0).normal(size=(12, 3))
Y = np.arange(12) % 2


class Forgetful(ClassLabelLearner):
    """A learner that looks at no label."""

    def __init__(self, shrinkage=0.0, shrinkage_target=None):
        self.shrinkage = shrinkage
        self.shrinkage_target = shrinkage_target

    def _learn(self, points, labels):
        return np.eye(points.shape[1]), {}


@pytest.mark.parametrize("Learner", [Forgetful, LFDA, LMNN, NCA])
def test_marks_are_refused_by_learners_of_classes_alone(Learner):
    marks = Marks([[0, 1], [0, 2]], [-1, 1], rows=X)
    with pytest.raises(ValueError, match="learns from class labels, and only marked pairs"):
        Learner().fit(X, marks=marks)
    some = np.where(np.arange(12) > 1, Y, -1)
    with pytest.raises(ValueError, match="class labels alone, and 2 of the marked pairs"):
        Learner().fit(X, some, marks=marks)
    with pytest.raises(ValueError, match="does not learn from triplets"):
        Learner().fit(X, Y, marks=Marks(triplets=[[0, 1, 2]], rows=X))
    Learner().fit(X, Y, marks=marks)  # they follow from the classes
