"""Data sets: table 1 and checksums."""

import hashlib
import importlib.util
import sys
import zipfile
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
def test_a_pool_is_large_enough_for_its_samplings(tasks, name):
    task = tasks[name]
    assert task.n_labels <= task.n_train
    if task.balanced:
        per_class = (task.n_train + task.n_test) / task.n_classes
        assert min(np.unique(task.y, return_counts=True)[1]) >= per_class
    else:
        assert len(task.y) >= task.n_train + task.n_test


@pytest.mark.parametrize("name", TASKS)
def test_the_pairs_of_a_row_add_up(tasks, name):
    task = tasks[name]
    assert task.n_similar + task.n_dissimilar == pytest.approx(n_pairs(task.n_labels))
    assert task.n_unlabeled == n_pairs(task.n_train) - n_pairs(task.n_labels)


@pytest.mark.parametrize("name", DIGITS)
def test_equal_numbers_of_labels_give_the_pairs_of_table_1_exactly(tasks, name):
    task = tasks[name]
    assert task.balanced
    assert task.n_train % task.n_classes == task.n_labels % task.n_classes == 0
    assert task.n_similar == task.n_classes * n_pairs(task.n_labels // task.n_classes)


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


@pytest.mark.parametrize("name", DIGITS)
def test_digits_are_upright_and_labeled_as_digits(tasks, name):
    task = tasks[name]
    assert [str(digit) for digit in np.unique(task.y)] == list(task.target_names)
    side = round(task.n_features**0.5)
    mean = {d: task.X[task.y == d].mean(axis=0).reshape(side, side) for d in np.unique(task.y)}
    half = side // 2
    if 7 in mean:  # its bar is at the top; a transposed one's would be at the left
        assert mean[7][:half].sum() > 1.1 * mean[7][half:].sum()
    if 1 in mean:  # it leans to the right
        assert mean[1][:half, half:].sum() > 1.2 * mean[1][:half, :half].sum()
    if 3 in mean:  # it is open to the left; a transposed one's back would be below
        assert mean[3][:, half:].sum() > 1.2 * mean[3][:, :half].sum()


def test_both_usps_tasks_of_five_digits_share_their_points(tasks):
    np.testing.assert_array_equal(tasks["usps-1-5-20"].X, tasks["usps-1-5-40"].X)
    ten = tasks["usps-1-10-20"]
    np.testing.assert_array_equal(tasks["usps-1-5-20"].X, ten.X[np.isin(ten.y, range(1, 6))])


def test_balance_follows_the_torque(tasks):
    task = tasks["balance"]
    assert len(np.unique(task.X, axis=0)) == 5**4
    assert set(task.X.ravel()) == {1, 2, 3, 4, 5}
    for (left, at_left, right, at_right), label in zip(task.X, task.y, strict=True):
        if left * at_left == right * at_right:
            side = "balanced"
        else:
            side = "left" if left * at_left > right * at_right else "right"
        assert task.target_names[label] == side


def test_ionosphere_keeps_its_constant_second_column(tasks):
    constant = np.ptp(tasks["ionosphere"].X, axis=0) == 0
    assert np.flatnonzero(constant).tolist() == [1]


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


def test_the_files_are_small():
    assert sum(path.stat().st_size for path in (FOLDER / "data").iterdir()) < 2_500_000


def test_the_readme_states_name_size_and_checksum_of_each_file():
    lines = (FOLDER / "README.md").read_text().splitlines()
    for name, expected in _files.CHECKSUMS.items():
        (line,) = [line for line in lines if expected in line]
        assert f"`data/{name}`" in line
        assert f" {(FOLDER / 'data' / name).stat().st_size:,} " in line
        assert sum(f"`{name}`" in line for line in lines) == 2  # its source, its license


def test_a_damaged_file_is_not_read(tmp_path, monkeypatch):
    content = bytearray((FOLDER / "data" / "ionosphere.npz").read_bytes())
    content[len(content) // 2] ^= 1
    (tmp_path / "ionosphere.npz").write_bytes(content)
    monkeypatch.setattr(_files, "DATA", tmp_path)
    with pytest.raises(ValueError, match=r"ionosphere\.npz is damaged"):
        load_task("ionosphere")


@pytest.fixture(scope="module")
def builder():
    spec = importlib.util.spec_from_file_location("build", ROOT / "tools" / "build_datasets.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_build_script_checks_the_files(builder, monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(sys, "argv", ["build_datasets.py", "--check"])
    builder.main()
    assert capsys.readouterr().out.count("ok") == len(_files.CHECKSUMS)
    for name in _files.CHECKSUMS:
        (tmp_path / name).write_bytes(b"something else")
    monkeypatch.setattr(builder, "DATA", tmp_path)
    with pytest.raises(SystemExit, match=r"usps\.npz should have SHA-256"):
        builder.main()


def test_the_build_script_writes_the_same_bytes_for_the_same_arrays(builder):
    arrays = {"b": np.arange(6, dtype=np.uint16).reshape(2, 3), "a": np.array(["x", "yz"])}
    content = builder.archive(arrays)
    assert content == builder.archive(dict(reversed(arrays.items())))
    assert builder.same_arrays(content, arrays)
    assert not builder.same_arrays(content, {**arrays, "b": arrays["b"] + 1})
    assert not builder.same_arrays(content, {"a": arrays["a"]})


@pytest.mark.parametrize("name", ["diabetes.npz", "usps.npz"])
def test_a_file_holds_what_the_build_script_would_pack(builder, name):
    arrays = _files.read_arrays(name)
    content = (FOLDER / "data" / name).read_bytes()
    assert builder.same_arrays(content, arrays)
    with zipfile.ZipFile(_files.DATA / name) as packed:
        assert {entry.date_time for entry in packed.infolist()} == {(1980, 1, 1, 0, 0, 0)}
