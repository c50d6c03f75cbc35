"""The data of the paper's tasks: table 1 and checksums."""

from math import comb

import numpy as np
import pytest

from benchmarks.paper._data import CHECKSUMS, ROWS, TASKS, check, is_there, load_task, read_arrays

# Points of each class, in their order.
CLASS_SIZES = {
    "iris": [50, 50, 50],
    "wine": [59, 71, 48],
    "ionosphere": [126, 225],
    "balance": [288, 49, 288],
    "breast-cancer": [212, 357],
    "diabetes": [500, 268],
    "usps-1-5-20": [1100] * 5,
    "usps-1-5-40": [1100] * 5,
    "usps-1-10-20": [1100] * 10,
    "usps-1-10-40": [1100] * 10,
    "mnist-1-7": [2000] * 2,
    "mnist-3-5-8": [2000] * 3,
}
THERE = [name for name in TASKS if is_there(name)]


@pytest.mark.parametrize("name", TASKS)
def test_the_numbers_of_a_row_agree(name):
    row = ROWS[name]
    assert row.n_similar + row.n_dissimilar == pytest.approx(comb(row.n_labels, 2))
    assert row.n_unlabeled == comb(row.n_train, 2) - comb(row.n_labels, 2)
    assert len(CLASS_SIZES[name]) == row.n_classes


@pytest.mark.parametrize("name", THERE)
def test_a_task_has_the_shape_and_the_classes_of_its_row(name):
    task = load_task(name)
    assert task.X.dtype == np.float64
    assert np.isfinite(task.X).all()
    assert task.X.shape == (len(task.y), task.row.n_features)
    assert np.unique(task.y, return_counts=True)[1].tolist() == CLASS_SIZES[name]
    if task.row.digits:
        assert (task.X.min(), task.X.max()) == (0.0, 1.0)
        np.testing.assert_array_equal(task.X * 1020, np.round(task.X * 1020))  # of four bytes


def test_changed_arrays_are_refused():
    arrays = read_arrays("ionosphere.npz")
    arrays["X"][0, 0] += 1e-9
    with pytest.raises(ValueError, match=r"ionosphere\.npz has SHA-256 .*; expected"):
        check("ionosphere.npz", arrays)


def test_what_is_missing_is_named(monkeypatch, tmp_path):
    monkeypatch.setattr("benchmarks.paper._data.DATA", tmp_path)
    for name in CHECKSUMS:
        with pytest.raises(ValueError, match=r"python -m benchmarks\.paper fetch"):
            read_arrays(name)
