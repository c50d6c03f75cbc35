"""The demonstration on embeddings: its rivals, its samplings and what it prints."""

import re

import numpy as np
import pytest
from scipy.optimize import approx_fprime

from benchmarks.embeddings._demo import METHODS, demonstrate, judge, learn, mark_pairs
from benchmarks.evidence._free_matrix import FreeMatrix, cosine_loss
from seraph import Marks


@pytest.fixture
def vectors():
    """Three kinds of unit vectors that differ in two of six features."""
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    X = rng.normal(size=(60, 6))
    X[:, :2] = 2 * np.eye(3)[y][:, :2] + 0.3 * X[:, :2]
    return X / np.linalg.norm(X, axis=1, keepdims=True), y


# The popular recipe


def test_the_gradient_of_the_cosine_loss_by_finite_differences():
    rng = np.random.default_rng(0)
    X, W = rng.normal(size=(6, 4)), rng.normal(size=(4, 4))
    pairs = np.array([[0, 1], [1, 2], [0, 3], [4, 5], [5, 0], [1, 0]])
    labels = np.array([1, -1, 1, 1, -1, -1])
    _, gradient = cosine_loss(W, X, pairs, labels)
    by_steps = approx_fprime(
        W.ravel(), lambda w: cosine_loss(w.reshape(4, 4), X, pairs, labels)[0], 1e-7
    )
    np.testing.assert_allclose(gradient.ravel(), by_steps, atol=1e-6)


def test_the_cosine_loss_is_the_mean_squared_error():
    X = np.array([[1.0, 0.0], [1.0, 1.0], [3.0, 4.0]])
    value, _ = cosine_loss(np.eye(2), X, np.array([[0, 1], [2, 2]]), np.array([1, -1]))
    assert value == pytest.approx(((np.sqrt(0.5) - 1) ** 2 + 2**2) / 2)


def test_the_free_matrix_lowers_its_loss_and_without_steps_is_the_cosine(vectors):
    X, y = vectors
    task = mark_pairs(X, y, seed=0, n_pairs=40)
    learned = FreeMatrix().fit(task.X, marks=Marks(task.pairs, task.marks, rows=task.X))
    before, after = (
        cosine_loss(W, task.X, task.pairs, task.marks)[0] for W in (np.eye(6), learned.matrix_)
    )
    assert after < 0.5 * before
    np.testing.assert_allclose(np.linalg.norm(learned.transform(X), axis=1), 1)
    none = FreeMatrix(steps=0).fit(task.X, marks=Marks(task.pairs, task.marks, rows=task.X))
    np.testing.assert_allclose(none.transform(X), X)


# Samplings and methods


def test_marks_are_true_half_of_them_alike_and_about_rows_that_do_not_judge(vectors):
    X, y = vectors
    task = mark_pairs(X, y, seed=1, n_pairs=40)
    kind = {tuple(x): k for x, k in zip(X, y, strict=True)}
    classes = np.array([kind[tuple(x)] for x in task.X])
    same = classes[task.pairs[:, 0]] == classes[task.pairs[:, 1]]
    np.testing.assert_array_equal(same, task.marks == 1)
    assert same.sum() == 20
    assert len(np.unique(task.pairs, axis=0)) == 40
    assert not {tuple(x) for x in task.X} & {tuple(x) for x in task.X_test}
    again = mark_pairs(X, y, seed=1, n_pairs=40)
    np.testing.assert_array_equal(task.pairs, again.pairs)


def test_too_few_pairs_of_a_kind_are_refused(vectors):
    X, _ = vectors
    with pytest.raises(ValueError, match=r"500 pairs of each kind are needed.*435 alike and 0"):
        mark_pairs(X, np.zeros(60), seed=0, n_pairs=1000)


@pytest.mark.parametrize("name", METHODS)
def test_every_method_finds_what_matters(name, vectors):
    task = mark_pairs(*vectors, seed=0, n_pairs=60)
    auc, precision, error = judge(learn(name, task), task)
    assert 0 <= precision <= 100
    assert 0 <= error <= 100
    before = judge(learn("cosine", task), task)[0]
    if name in ("ITML", "GMML", "SERAPH", "MeanMetric"):
        assert auc > before + 3
    elif name == "cosine":
        assert auc > 60


def test_the_demonstration_prints_a_table_and_draws_the_maps(vectors, tmp_path, capsys):
    path = tmp_path / "maps.svg"
    found = demonstrate(*vectors, ("one", "two", "three"), "Vectors.", 1, path)
    said = capsys.readouterr().out
    for name in METHODS:
        assert re.search(rf"^ *{name} +\d+\.\d +\d+\.\d +\d+\.\d +\d+\.\d\d$", said, re.MULTILINE)
    assert "100 pairs marked" in said
    assert len(found["SERAPH"]) == 1
    assert path.read_text().count("three")
