"""Data sets: table 1 and checksums."""

import hashlib
from pathlib import Path

import numpy as np
import pytest

from seraph.datasets import TASKS, Task, _files, load_task

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "src" / "seraph" / "datasets"

# Points of each class, by their names.
CLASS_SIZES = {
    "iris": {"setosa": 50, "versicolor": 50, "virginica": 50},
    "wine": {"class_0": 59, "class_1": 71, "class_2": 48},
    "ionosphere": {"bad": 126, "good": 225},
    "balance": {"left": 288, "balanced": 49, "right": 288},
    "breast-cancer": {"malignant": 212, "benign": 357},
    "diabetes": {"negative": 500, "positive": 268},
    "usps-1-5-20": dict.fromkeys("12345", 1100),
    "usps-1-5-40": dict.fromkeys("12345", 1100),
    "usps-1-10-20": dict.fromkeys("0123456789", 1100),
    "usps-1-10-40": dict.fromkeys("0123456789", 1100),
    "mnist-1-7": dict.fromkeys("17", 2000),
    "mnist-3-5-8": dict.fromkeys("358", 2000),
}
DIGITS = [name for name in TASKS if name.startswith(("usps", "mnist"))]
UCI = [name for name in TASKS if name not in DIGITS]


@pytest.fixture(scope="module")
def tasks():
    return {name: load_task(name) for name in TASKS}


def n_pairs(n):
    return n * (n - 1) / 2


# Table 1


def test_the_tasks_are_the_twelve_rows_of_table_1():
    assert tuple(CLASS_SIZES) == TASKS


@pytest.mark.parametrize("name", TASKS)
def test_a_task_has_the_shape_and_the_classes_of_its_row(tasks, name):
    task = tasks[name]
    assert isinstance(task, Task)
    assert task.name == name
    assert task.X.dtype == np.float64
    assert task.X.flags.c_contiguous
    assert np.isfinite(task.X).all()
    assert task.X.shape == (len(task.y), task.n_features)
    assert len(task.feature_names) == len(set(task.feature_names)) == task.n_features
    values, counts = np.unique(task.y, return_counts=True)
    assert task.y.dtype == np.int64
    assert values.min() >= 0  # -1 means unknown
    assert len(values) == task.n_classes
    assert dict(zip(task.target_names, counts.tolist(), strict=True)) == CLASS_SIZES[name]


@pytest.mark.parametrize("name", TASKS)
def test_the_pairs_of_a_row_add_up(tasks, name):
    task = tasks[name]
    assert task.n_similar + task.n_dissimilar == pytest.approx(n_pairs(task.n_labels))
    assert task.n_unlabeled == n_pairs(task.n_train) - n_pairs(task.n_labels)


@pytest.mark.parametrize("name", UCI)
def test_random_labels_give_the_mean_pairs_of_table_1(tasks, name):
    task = tasks[name]
    assert not task.balanced
    _, counts = np.unique(task.y, return_counts=True)
    expected = n_pairs(task.n_labels) * n_pairs(counts).sum() / n_pairs(len(task.y))
    sampled = np.random.default_rng(0).multivariate_hypergeometric(
        counts, task.n_labels, size=5000
    )
    similar = n_pairs(sampled).sum(axis=1)
    assert similar.mean() == pytest.approx(expected, rel=0.01)
    standard_error = similar.std() / np.sqrt(50)  # of the paper's mean over 50 samplings
    assert abs(task.n_similar - expected) < 3 * standard_error


# Each data set


@pytest.mark.parametrize("name", DIGITS)
def test_pixels_fill_the_unit_interval(tasks, name):
    X = tasks[name].X
    assert X.min() == 0.0
    assert X.max() == 1.0
    np.testing.assert_array_equal(X * 1020, np.round(X * 1020))  # means of four bytes


def test_diabetes_is_not_scaled(tasks):
    task = tasks["diabetes"]
    assert task.X[:, task.feature_names.index("age")].min() == 21
    assert task.X[:, task.feature_names.index("glucose")].max() == 199
    np.testing.assert_array_equal(task.X[0], [6, 148, 72, 35, 0, 33.6, 0.627, 50])


def test_a_task_cannot_be_changed_and_prints_on_a_line(tasks):
    with pytest.raises(AttributeError):
        tasks["iris"].n_train = 3
    assert repr(tasks["iris"]) == "Task('iris': 150 points, 4 features, 3 classes)"


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(ValueError, match=r"'digits'.*iris, wine, .*mnist-3-5-8"):
        load_task("digits")


# The files


def test_the_files_are_those_of_the_checksums():
    names = {path.name for path in (FOLDER / "data").iterdir()}
    assert names == set(_files.CHECKSUMS)
    for name, expected in _files.CHECKSUMS.items():
        assert hashlib.sha256((FOLDER / "data" / name).read_bytes()).hexdigest() == expected


def test_the_readme_states_name_size_and_checksum_of_each_file():
    lines = (FOLDER / "README.md").read_text().splitlines()
    for name, expected in _files.CHECKSUMS.items():
        (line,) = [line for line in lines if expected in line]
        assert f"`data/{name}`" in line
        assert f" {(FOLDER / 'data' / name).stat().st_size:,} " in line
        assert sum(f"`{name}`" in line for line in lines) == 2  # its source, its license


def test_a_damaged_file_is_not_read(tmp_path):
    content = bytearray((FOLDER / "data" / "ionosphere.npz").read_bytes())
    content[len(content) // 2] ^= 1
    (tmp_path / "ionosphere.npz").write_bytes(content)
    with pytest.raises(ValueError, match=r"ionosphere\.npz is damaged"):
        _files.read_arrays("ionosphere.npz", tmp_path)
