"""Data sets: table 1, checksums, the format of OpenML, and the artificial sets."""

import hashlib
from math import comb
from pathlib import Path
from types import SimpleNamespace
from urllib.error import URLError

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from seraph.datasets import (
    TASKS,
    Task,
    _fetch,
    _files,
    fetch_task,
    load_task,
    make_posterior_sparsity,
    make_projection_sparsity,
)
from tests.helpers.plain import SERAPH

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


@pytest.mark.parametrize("get", [load_task, fetch_task])
def test_an_unknown_name_lists_the_known_ones(get):
    with pytest.raises(ValueError, match=r"'digits'.*iris, wine, .*mnist-3-5-8"):
        get("digits")


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


def test_a_damaged_file_is_not_read(tmp_path, monkeypatch):
    content = bytearray((FOLDER / "data" / "ionosphere.npz").read_bytes())
    content[len(content) // 2] ^= 1
    (tmp_path / "ionosphere.npz").write_bytes(content)
    monkeypatch.setattr(_files, "DATA", tmp_path)
    with pytest.raises(ValueError, match=r"ionosphere\.npz is damaged"):
        load_task("ionosphere")


# OpenML, which the tests do not contact: the format of its answers


def answers(monkeypatch, data, target, feature_names=None):
    """Make OpenML answer with these arrays; return the list of calls to it."""
    calls = []

    def fetch_openml(**settings):
        calls.append(settings)
        names = feature_names or [f"V{k + 1}" for k in range(data.shape[1])]
        return SimpleNamespace(data=data, target=target, feature_names=names)

    monkeypatch.setattr(_fetch, "fetch_openml", fetch_openml)
    return calls


@pytest.mark.parametrize(
    ("name", "number", "labels", "names"),
    [
        (
            "iris",
            61,
            ["Iris-virginica", "Iris-setosa", "Iris-versicolor"],
            ["virginica", "setosa", "versicolor"],
        ),
        ("wine", 187, ["3", "1", "2"], ["class_2", "class_0", "class_1"]),
        ("ionosphere", 59, ["g", "b"], ["good", "bad"]),
        ("balance", 11, ["R", "L", "B"], ["right", "left", "balanced"]),
        ("breast-cancer", 1510, ["1", "2"], ["benign", "malignant"]),
        ("diabetes", 37, ["tested_positive", "tested_negative"], ["positive", "negative"]),
    ],
)
def test_fetched_tables_number_their_classes_like_loaded_ones(
    monkeypatch, tasks, name, number, labels, names
):
    loaded = tasks[name]
    data = np.random.default_rng(0).normal(size=(len(labels), loaded.n_features))
    calls = answers(monkeypatch, data, np.array(labels, dtype=object))
    task = fetch_task(name)
    assert calls[0]["data_id"] == number
    assert calls[0]["as_frame"] is False
    np.testing.assert_array_equal(task.X, data)
    assert task.target_names == loaded.target_names
    assert [task.target_names[label] for label in task.y] == names
    assert len(task.feature_names) == task.n_features
    assert (task.n_train, task.n_test) == (loaded.n_train, loaded.n_test)


def test_fetched_usps_is_halved_in_size_and_scaled_to_the_unit_interval(monkeypatch, tasks):
    # OpenML's 41082: 16 x 16 pixels in [-1, 1], and the digit d is labeled d + 1.
    data = np.random.default_rng(0).uniform(-1, 1, size=(40, 256))
    target = np.array([str(k % 10 + 1) for k in range(40)], dtype=object)
    answers(monkeypatch, data, target)
    task = fetch_task("usps-1-5-20")
    assert task.y.tolist() == [k % 10 for k in range(40) if k % 10 in range(1, 6)]
    image = (data[1].reshape(16, 16) + 1) / 2
    slow = [image[2 * r : 2 * r + 2, 2 * c : 2 * c + 2].mean() for r in range(8) for c in range(8)]
    np.testing.assert_allclose(task.X[0], slow, rtol=1e-14)
    assert task.feature_names == tasks["usps-1-5-20"].feature_names
    assert fetch_task("usps-1-10-40").y.tolist() == [k % 10 for k in range(40)]


def test_fetched_mnist_images_are_the_loaded_ones(monkeypatch, tasks):
    loaded = tasks["mnist-3-5-8"]
    small = np.round(loaded.X[:5].reshape(5, 14, 14) * 255)
    data = small.repeat(2, axis=1).repeat(2, axis=2).reshape(5, 784)
    answers(monkeypatch, data, np.array(["3", "1", "5", "8", "0"], dtype=object))
    task = fetch_task("mnist-3-5-8")
    assert task.y.tolist() == [3, 5, 8]
    assert task.target_names == loaded.target_names
    np.testing.assert_allclose(task.X, loaded.X[[0, 2, 3]], atol=0.5 / 255 + 1e-12)


@pytest.mark.parametrize(
    ("name", "data", "target", "message"),
    [
        ("wine", np.zeros((2, 12)), ["1", "2"], "expected 13 features, got 12"),
        ("wine", np.zeros((2, 13)), ["1", "4"], r"got \['4'\] as well"),
        ("mnist-1-7", np.full((1, 784), 256.0), ["1"], "pixels between 0 and 255"),
        ("usps-1-5-20", np.full((1, 256), -2.0), ["1"], "pixels between -1 and 1"),
    ],
)
def test_a_set_that_openml_has_changed_is_refused(monkeypatch, name, data, target, message):
    answers(monkeypatch, data, np.array(target, dtype=object))
    with pytest.raises(ValueError, match=message):
        fetch_task(name)


def test_fetching_passes_on_the_cache_settings(monkeypatch, tmp_path):
    calls = answers(monkeypatch, np.zeros((1, 4)), np.array(["L"], dtype=object))
    fetch_task("balance", data_home=tmp_path, cache=False)
    assert calls[0]["data_home"] == tmp_path
    assert calls[0]["cache"] is False


def test_without_a_network_fetching_says_what_to_do(monkeypatch):
    def fetch_openml(**_):
        raise URLError("no route to host")

    monkeypatch.setattr(_fetch, "fetch_openml", fetch_openml)
    with pytest.raises(ConnectionError, match=r"no route to host.*load_task\('wine'\)"):
        fetch_task("wine")


# The two artificial sets

GENERATORS = [make_posterior_sparsity, make_projection_sparsity]
SEEDS = range(5)


def nn_error(X, y, y_partial, learner=None):
    """1-NN error on all points, with the four labeled ones as neighbors."""
    Z = X if learner is None else learner.transform(X)
    known = np.flatnonzero(y_partial >= 0)
    squared = ((Z[:, np.newaxis] - Z[known]) ** 2).sum(axis=-1)
    return np.mean(y[known][squared.argmin(axis=1)] != y)


@pytest.mark.parametrize("make", GENERATORS)
def test_an_artificial_set_reveals_two_labels_of_each_class(make):
    X, y, y_partial = make(random_state=0)
    assert X.shape == (200, 2)
    assert np.bincount(y).tolist() == [100, 100]
    assert np.bincount(y_partial[y_partial >= 0]).tolist() == [2, 2]
    assert set(y_partial) == {-1, 0, 1}
    np.testing.assert_array_equal(y_partial[y_partial >= 0], y[y_partial >= 0])


@pytest.mark.parametrize("make", GENERATORS)
def test_the_horizontal_feature_separates_the_classes_of_an_artificial_set(make):
    X, y, _ = make(10_000, random_state=0)
    np.testing.assert_array_equal(y, X[:, 0] > 0)
    assert abs(np.corrcoef(X[:, 1], y)[0, 1]) < 0.05


@pytest.mark.parametrize("make", GENERATORS)
def test_an_artificial_set_depends_on_its_seed_alone(make):
    first, again, other = (make(50, random_state=seed) for seed in (3, 3, 4))
    for one, two in zip(first, again, strict=True):
        np.testing.assert_array_equal(one, two)
    assert not np.array_equal(first[0], other[0])
    same = make(50, random_state=np.random.RandomState(3))
    np.testing.assert_array_equal(first[0], same[0])


@pytest.mark.parametrize("make", GENERATORS)
@pytest.mark.parametrize("size", [19, 20.0, "many"])
def test_too_few_points_are_refused(make, size):
    with pytest.raises(ValueError, match="n_samples must be a finite whole number of at least 20"):
        make(size)


@pytest.mark.parametrize("make", GENERATORS)
def test_the_smallest_sets_have_four_labels_too(make):
    for seed in range(20):
        assert (make(20, random_state=seed)[2] >= 0).sum() == 4


@pytest.mark.slow
def test_posterior_sparsity_corrects_a_metric_that_looks_at_the_height():
    n_labeled = comb(4, 2)
    mu = 10 * n_labeled / (comb(200, 2) - n_labeled)
    errors = []
    for seed in SEEDS:
        X, y, y_partial = make_posterior_sparsity(random_state=seed)
        learners = [SERAPH(mu=m, lam=0.0, solver="projected-gradient") for m in (0.0, mu)]
        with pytest.warns(ConvergenceWarning):  # 200 steps, as in the paper, and lam = 0
            without, with_it = (learner.fit(X, y_partial) for learner in learners)
        horizontal, vertical = np.diag(without.get_mahalanobis_matrix())
        assert vertical > 10 * horizontal
        horizontal, vertical = np.diag(with_it.get_mahalanobis_matrix())
        assert horizontal > 10 * vertical
        errors.append([nn_error(X, y, y_partial, le) for le in (None, without, with_it)])
    euclidean, without, with_it = np.mean(errors, axis=0)
    assert with_it < 0.02
    assert min(euclidean, without) > 0.15


def test_projection_sparsity_drops_the_useless_feature():
    errors = []
    for seed in SEEDS:
        X, y, y_partial = make_projection_sparsity(random_state=seed)
        with_it = SERAPH(mu=0.0, lam=300.0).fit(X, y_partial)
        assert with_it.components_.shape[0] == 1
        assert abs(with_it.components_[0, 0]) > 5 * abs(with_it.components_[0, 1])
        without = SERAPH(mu=0.0, lam=0.0, solver="projected-gradient").fit(X, y_partial)
        errors.append([nn_error(X, y, y_partial, le) for le in (None, without, with_it)])
    euclidean, without, with_it = np.mean(errors, axis=0)
    assert with_it < 0.02
    assert min(euclidean, without) > 0.1
