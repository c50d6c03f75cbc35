"""Model files: a loaded model equals the saved one, and nothing else gets in."""

import functools
import io
import json
import math
import pickle
import re
import subprocess
import sys
import tracemalloc
import zipfile
from importlib import import_module

import numpy as np
import pytest
import skops.io
from sklearn.base import BaseEstimator, clone
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA, KernelPCA
from sklearn.impute import SimpleImputer
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    Normalizer,
    StandardScaler,
)

import seraph
from seraph import (
    SERAPH,
    MeanMetric,
    MetricClassifier,
    PairClassifier,
    classic,
    persist,
)
from seraph.classic import RFD
from seraph.persist._archive import read_versions
from tests.helpers.models import labels_for, read_schema, rewrite
from tests.helpers.quick import few

# tests/matrix saves and loads every learner; here are those with other attributes, and the steps
# around them.
MODELS = [
    SERAPH(),
    MeanMetric(weights=np.array([2.0, 1.0, 1.0])),
    MetricClassifier(SERAPH()),
    PairClassifier(make_pipeline(StandardScaler(), SERAPH()), cv=2),
    make_pipeline(StandardScaler(), SERAPH()),
    make_pipeline(ColumnTransformer([("scaled", StandardScaler(), slice(0, 4))]), SERAPH()),
    make_pipeline(SimpleImputer(), SERAPH()),
    make_pipeline(SERAPH(), KNeighborsClassifier(algorithm="kd_tree")),
    make_pipeline(SERAPH(), KNeighborsClassifier(algorithm="ball_tree", p=1)),
    make_pipeline(SERAPH(), NearestNeighbors(n_neighbors=3)),
    make_pipeline(PCA(5), SERAPH()),
    make_pipeline(Normalizer(), SERAPH()),
]

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def outputs(model, X):
    """Everything a model returns for some points."""
    if isinstance(model, PairClassifier):
        pairs = np.column_stack([X[:-1], X[1:]]).reshape(-1, 2, X.shape[1])
        return [model.predict(pairs), model.predict_proba(pairs), model.pair_distance(pairs)]
    names = ("transform", "predict", "predict_proba")
    answers = [getattr(model, name)(X) for name in names if hasattr(model, name)]
    last = model[-1] if hasattr(model, "steps") else model
    if isinstance(last, NearestNeighbors):
        answers += last.kneighbors(model[:-1].transform(X))
    assert answers
    return answers


def assert_same(first, second, X):
    for a, b in zip(outputs(first, X), outputs(second, X), strict=True):
        np.testing.assert_array_equal(a, b, strict=True)


@pytest.mark.parametrize("dtype", few([np.float64, np.float32], lambda t: t is np.float64))
@pytest.mark.parametrize("model", few(MODELS, MODELS[:8].__contains__), ids=lambda m: str(m)[:60])
def test_what_is_loaded_is_what_was_saved_bit_for_bit(model, dtype, wine, tmp_path):
    X, labels = wine[0].astype(dtype), labels_for(model, wine)
    model = clone(model).fit(X, labels)
    path = seraph.save(model, tmp_path / "model.skops")
    again = seraph.load(path)
    assert str(again) == str(model)
    assert vars(again).keys() == vars(model).keys()
    assert_same(model, again, X)
    assert_same(clone(again).fit(X, labels), again.fit(X, labels), X)
    # Private modules may move: files and pickles name public ones alone.
    modules = set(re.findall(r'"__module__": "(seraph[^"]*)"', json.dumps(read_schema(path))))
    assert modules
    assert modules <= {"seraph", "seraph.classic"}
    assert not re.search(rb"seraph[\w.]*\._", pickle.dumps(model))


def test_every_public_estimator_is_trusted_and_every_trusted_name_exists():
    public = [getattr(seraph, name) for name in seraph.__all__]
    public += [getattr(classic, name) for name in classic.__all__]
    estimators = {c for c in public if isinstance(c, type) and issubclass(c, BaseEstimator)}
    estimators -= {seraph.MahalanobisLearner}
    assert {f"{c.__module__}.{c.__name__}" for c in estimators} <= set(persist.TRUSTED)
    for name in persist.TRUSTED:
        module, _, attribute = name.rpartition(".")
        assert hasattr(import_module(module), attribute)


def test_an_unfitted_model_comes_back_unfitted_with_its_parameters(tmp_path):
    stream = np.random.RandomState(0)
    stream.normal(size=5)
    again = seraph.load(seraph.save(SERAPH(lam=2.0, random_state=stream), tmp_path / "m.skops"))
    assert again.lam == 2.0
    np.testing.assert_array_equal(again.random_state.normal(size=3), stream.normal(size=3))
    assert not hasattr(again, "components_")


# Versions


def test_the_file_records_the_versions(file, learner, wine, tmp_path):
    versions = read_versions(file)
    assert versions["seraph"] == seraph.__version__
    assert versions["python"] == ".".join(map(str, sys.version_info[:3]))
    assert {"numpy", "scipy", "scikit-learn", "skops"} < versions.keys()
    bare = tmp_path / "bare.skops"
    skops.io.dump(learner, bare)
    assert read_versions(bare) == {}
    assert_same(seraph.load(bare), learner, wine[0])


@pytest.mark.parametrize(("then", "warns"), [("0.9", True), ("2.1", True), ("1.99.1", False)])
def test_another_major_version_warns(then, warns, file, recwarn):
    seraph.load(rewrite(file, {"versions.json": json.dumps({"seraph": then})}))
    assert [warning.filename for warning in recwarn] == [__file__] * warns
    assert all(f"saved by seraph {then}" in str(warning.message) for warning in recwarn)


# What is refused


def kernel_of_mine(x, y):
    return float(x @ y)


class MySERAPH(SERAPH):
    pass


UNTRUSTED = {
    "kernel_of_mine": make_pipeline(KernelPCA(kernel=kernel_of_mine), SERAPH()),
    "functools.partial": SERAPH(callback=functools.partial(kernel_of_mine)),
    "builtins.print": SERAPH(callback=print),
    "builtins.abs": make_pipeline(FunctionTransformer(abs), SERAPH()),
    "MySERAPH": MySERAPH(),
}


@pytest.mark.parametrize("name", UNTRUSTED)
def test_a_type_that_is_not_trusted_is_neither_saved_nor_loaded(name, tmp_path):
    path = tmp_path / "model.skops"
    path.write_text("what was there")
    with pytest.raises(ValueError, match=rf"cannot be saved: it contains .*{re.escape(name)}"):
        seraph.save(UNTRUSTED[name], path)
    assert path.read_text() == "what was there"
    assert list(tmp_path.iterdir()) == [path]
    skops.io.dump(UNTRUSTED[name], path)
    with pytest.raises(ValueError, match=rf"model\.skops is not loaded.*{re.escape(name)}"):
        seraph.load(path)


@pytest.mark.parametrize(
    "loader", ["OperatorFuncNode", "MethodNode", "FunctionNode", "PartialNode", "CachedNode"]
)
def test_a_file_cannot_call_a_function_under_a_trusted_name(loader, file):
    text = {"__module__": "builtins", "__class__": "str", "__loader__": "JsonNode"}
    arguments = {"__module__": "builtins", "__class__": "tuple", "__loader__": "TupleNode"}
    schema = read_schema(file)
    schema["content"]["content"]["verbose"] = {
        "__module__": "builtins",
        "__class__": "str",
        "__loader__": loader,
        "attrs": arguments | {"content": [text | {"content": '"x"'}]},
        "content": {"func": "format", "obj": text | {"content": '"x"'}},
    }
    with pytest.raises(ValueError, match=r"learner\.skops (is not loaded|cannot be read)"):
        seraph.load(rewrite(file, {"schema.json": json.dumps(schema)}))


LIST = {"__class__": "list", "__module__": "builtins", "__loader__": "ListNode", "content": []}
# The whole of a file, or the schema in it.
UNREADABLE = [
    b"",
    b"a table, 1, 2",
    pickle.dumps(1),
    *({"schema.json": text} for text in ("", "[]", "{}", "no json", '{"protocol": 2}')),
    {"schema.json": json.dumps(LIST | {"protocol": 2})},
]


@pytest.mark.parametrize("content", UNREADABLE, ids=lambda content: str(content)[:30])
def test_what_is_not_a_model_file_is_refused_by_name(content, file):
    if isinstance(content, bytes):
        file.write_bytes(content)
        with pytest.raises(ValueError, match=r"learner\.skops cannot be read"):
            read_versions(file)
    else:
        rewrite(file, content)
    with pytest.raises(ValueError, match=r"learner\.skops cannot be read"):
        seraph.load(file)


def test_a_truncated_or_absent_file_is_refused_by_name(file):
    content = file.read_bytes()
    for length in np.linspace(0, len(content) - 1, 20).astype(int):
        file.write_bytes(content[:length])
        with pytest.raises(ValueError, match=r"learner\.skops cannot be read"):
            seraph.load(file)
    file.unlink()
    for read in (seraph.load, read_versions):
        with pytest.raises(FileNotFoundError, match=r"learner\.skops"):
            read(file)


# What would fill the memory, or whose arrays contradict each other

MB = 2**20


def npy(shape, n_bytes=None):
    """The bytes of an array of zeros, whose header says `shape`."""
    out = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        out, {"descr": "<f8", "fortran_order": False, "shape": shape}
    )
    return out.getvalue() + bytes(8 * math.prod(shape) if n_bytes is None else n_bytes)


def npz(**entries):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            archive.writestr(f"{name}.npy", content)
    return out.getvalue()


def many_times(schema):
    """Read one array under a hundred ids."""
    state = schema["content"]["content"]
    for k in range(100):
        state[f"again{k}_"] = state["components_"] | {"__id__": k}
    return {state["components_"]["file"]: npy((MB // 13, 13)), "schema.json": json.dumps(schema)}


BOMBS = {
    "would unpack to 109": lambda _: {"other.npy": npy((13 * MB,))},
    "8 bytes for an array of shape": lambda _: {"other.npy": npy((10**11,), 8)},
    "would unpack to 17": lambda schema: {"schema.json": json.dumps(schema) + " " * (17 * MB)},
    "a.npy holds 8 bytes": lambda _: {"x.npz": npz(a=npy((10**11,), 8))},
    "would unpack to 10": lambda _: {"x.npz": npz(a=npy((7 * MB,)), b=npy((6 * MB,)))},
    "is unpacked twice": many_times,
    "compressed in another way": lambda _: {},
}


@pytest.mark.parametrize("reason", BOMBS)
def test_a_file_that_would_fill_the_memory_is_refused_before_it_is_unpacked(reason, file):
    other = reason == "compressed in another way"  # Python would unpack a block of any size
    compression = zipfile.ZIP_BZIP2 if other else zipfile.ZIP_DEFLATED
    rewrite(file, BOMBS[reason](read_schema(file)), compression)
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=rf"learner\.skops cannot be read.*({reason})"):
            seraph.load(file)
        assert tracemalloc.get_traced_memory()[1] < 60 * MB
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("model", "attribute", "shape", "reason"),
    [
        (SERAPH(), "components_", (2, 3), "components_ has 3 features, and n_features_in_ has 13"),
        (SERAPH(), "components_", (26,), "components_ has 1 dimensions, not 2"),
        (MetricClassifier(), "points_", (4, 2), "codes_ has 15 rows, and points_ has 4"),
        (MetricClassifier(), "center_", (1,), "center_ has 1 coordinates, and points_ has"),
        (MetricClassifier(), "classes_", (2,), "linear_coef_ has 3 classes, and classes_ has 2"),
        (
            MetricClassifier(),
            "linear_coef_",
            (3, 2),
            "linear_coef_ has 2 coordinates, and points_",
        ),
        (
            RFD(n_trees=2),
            "landmarks_",
            (9, 2),
            "forest_.center has 13 inputs, and landmarks_ has 2",
        ),
        (RFD(n_trees=2), "forest_.left", (7,), "nodes, and forest_.left has 7"),
        (RFD(n_trees=2), "forest_.shares", (7, 2), "forest_.shares has 7 nodes, and forest_.left"),
    ],
)
def test_arrays_that_contradict_each_other_are_refused(
    model, attribute, shape, reason, wine, tmp_path
):
    path = seraph.save(model.fit(*wine[:2]), tmp_path / "model.skops")
    node = read_schema(path)["content"]
    for name in attribute.split("."):
        node = node["content"][name]
    with pytest.raises(ValueError, match=rf"model\.skops cannot be read.*{reason}"):
        seraph.load(rewrite(path, {node["file"]: npy(shape)}))


def test_what_compresses_very_well_is_saved_all_the_same(tmp_path):
    model = StandardScaler().fit(np.zeros((1, 12 * MB)))
    assert seraph.load(seraph.save(model, tmp_path / "zeros.skops")).n_features_in_ == 12 * MB


def test_saving_and_loading_import_neither_torch_nor_dask(file):
    check = (
        "import sys, seraph; seraph.save(seraph.load(sys.argv[1]), sys.argv[1]);"
        "assert not {'torch', 'dask', 'cupy'} & sys.modules.keys();"
        "import sklearn.externals.array_api_compat.numpy"
    )
    subprocess.run([sys.executable, "-c", check, str(file)], check=True)
