"""A saved learner, to read and to damage."""

import copy

import pytest

import seraph
from seraph import SERAPH


@pytest.fixture(scope="module")
def fitted_once(wine):
    return SERAPH().fit(*wine[:2])


@pytest.fixture
def learner(fitted_once):
    return copy.deepcopy(fitted_once)


@pytest.fixture
def file(learner, tmp_path):
    return seraph.save(learner, tmp_path / "learner.skops")
