"""Model files: a loaded model equals the saved one, and nothing else gets in."""

import copy
import json
import pickle
import re
import sys
import zipfile
from importlib import import_module

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
import skops.io
from sklearn.base import BaseEstimator, clone
from sklearn.cluster import KMeans
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)

import seraph
from seraph import (
    SERAPH,
    KernelSERAPH,
    MeanMetric,
    MetricClassifier,
    PairClassifier,
    classic,
    persist,
)
from seraph.persist import _archive
from tests.helpers.models import labels_for, read_schema, rewrite
from tests.helpers.quick import few


def seeded(learner):
    return learner.set_params(random_state=0) if hasattr(learner, "random_state") else learner


LEARNERS = [
    SERAPH(),
    SERAPH(gamma=1.0),
    SERAPH(solver="em"),
    KernelSERAPH(gamma=0.5),
    KernelSERAPH(kernel="poly", n_landmarks=20, random_state=0),
    MeanMetric(weights=np.array([2.0, 1.0, 1.0])),
    MetricClassifier(SERAPH()),
    MetricClassifier(rule="nearest"),
    PairClassifier(make_pipeline(StandardScaler(), SERAPH()), cv=2),
    *map(seeded, (getattr(classic, name)() for name in classic.__all__)),
]
NEIGHBORS = [
    *(KNeighborsClassifier(algorithm=name) for name in ("auto", "kd_tree", "ball_tree", "brute")),
    NearestNeighbors(n_neighbors=3),
]
PIPELINES = [
    *(
        make_pipeline(step, SERAPH())
        for step in (
            StandardScaler(),
            MinMaxScaler(),
            MaxAbsScaler(),
            RobustScaler(),
            Normalizer(),
            SimpleImputer(),
            PCA(5),
            PowerTransformer(),
            QuantileTransformer(n_quantiles=10),
            TruncatedSVD(5, random_state=0),
            ColumnTransformer([("scaled", StandardScaler(), [0, 1])], remainder="passthrough"),
            ColumnTransformer(
                [
                    ("scaled", StandardScaler(), slice(0, 4)),
                    ("bins", OneHotEncoder(handle_unknown="ignore", sparse_output=False), [4]),
                ]
            ),
        )
    ),
    *(
        make_pipeline(SERAPH(), step)
        for step in (LogisticRegression(), KMeans(3, n_init=1, random_state=0), *NEIGHBORS)
    ),
    make_pipeline("passthrough", SERAPH()),
]
# Each kind of node in a file once.
SAMPLE = [
    LEARNERS[0],
    *LEARNERS[4:5],
    *LEARNERS[7:],
    PIPELINES[0],
    PIPELINES[8],
    *PIPELINES[10:12],
    *PIPELINES[14:17],
]


def is_quick(model):
    return any(model is one for one in SAMPLE)


@pytest.fixture
def fitted(wine):
    def fit(model):
        return clone(model).fit(wine[0], labels_for(model, wine))

    return fit


def outputs(model, X):
    """Everything a model returns for some points."""
    if isinstance(model, PairClassifier):
        pairs = np.column_stack([X[:-1], X[1:]]).reshape(-1, 2, X.shape[1])
        return [model.predict(pairs), model.predict_proba(pairs), model.pair_distance(pairs)]
    found = [
        getattr(model, name)(X)
        for name in ("transform", "predict", "predict_proba")
        if hasattr(model, name)
    ]
    last = model[-1] if hasattr(model, "steps") else model
    if isinstance(last, NearestNeighbors):
        found += last.kneighbors(model[:-1].transform(X))
    assert found
    return found


def assert_same(first, second, X):
    for a, b in zip(outputs(first, X), outputs(second, X), strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b, strict=True)


@pytest.mark.parametrize("dtype", few([np.float64, np.float32], lambda t: t is np.float64))
@pytest.mark.parametrize(
    "model", few([*LEARNERS, *PIPELINES], is_quick), ids=lambda m: str(m)[:60]
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_what_is_loaded_is_what_was_saved_bit_for_bit(model, dtype, wine, tmp_path):
    X, _y_partial, _ = wine
    X = X.astype(dtype)
    model = clone(model).fit(X, labels_for(model, wine))
    before = outputs(model, X)
    again = seraph.load(seraph.save(model, tmp_path / "model.skops"))
    assert type(again) is type(model)
    assert str(again) == str(model)
    assert_same(model, again, X)
    for a, b in zip(before, outputs(model, X), strict=True):  # saving changed nothing
        np.testing.assert_array_equal(a, b)


def test_all_attributes_come_back(fitted, tmp_path):
    learner = fitted(SERAPH())
    again = seraph.load(seraph.save(learner, tmp_path / "model.skops"))
    assert vars(again).keys() == vars(learner).keys()
    for name, value in vars(learner).items():
        np.testing.assert_equal(vars(again)[name], value)
        assert type(vars(again)[name]) in (type(value), bool)  # numpy's bool becomes Python's


def test_every_public_estimator_is_on_the_list():
    public = [getattr(seraph, name) for name in seraph.__all__]
    public += [getattr(classic, name) for name in classic.__all__]
    estimators = [c for c in public if isinstance(c, type) and issubclass(c, BaseEstimator)]
    estimators.remove(seraph.MahalanobisLearner)
    assert len(estimators) >= 11
    assert {f"{c.__module__}.{c.__name__}" for c in estimators} <= set(persist.TRUSTED)
    assert {type(learner) for learner in LEARNERS} >= set(estimators) - {seraph.TablePreparer}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("model", few(LEARNERS, is_quick), ids=lambda m: str(m)[:60])
def test_files_and_pickles_name_public_modules_only(model, fitted, tmp_path):
    model = fitted(model)
    schema = json.dumps(read_schema(seraph.save(model, tmp_path / "model.skops")))
    modules = set(re.findall(r'"__module__": "(seraph[^"]*)"', schema))
    assert modules
    assert modules <= {"seraph", "seraph.classic"}
    pickled = pickle.dumps(model)
    assert b"seraph" in pickled
    assert not re.search(rb"seraph[\w.]*\._", pickled)


def test_every_trusted_name_can_be_imported():
    for name in persist.TRUSTED:
        module, _, attribute = name.rpartition(".")
        assert hasattr(import_module(module), attribute) or name == "builtins.NoneType"


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_names_of_features_come_back(frame, wine, tmp_path):
    X, y_partial, _ = wine
    table = frame(dict(zip("abcdefghijklm", X.T, strict=True)))
    model = make_pipeline(StandardScaler().set_output(transform="pandas"), SERAPH())
    model.fit(table, y_partial)
    again = seraph.load(seraph.save(model, tmp_path / "model.skops"))
    for step, saved in zip(again, model, strict=True):
        np.testing.assert_array_equal(step.feature_names_in_, saved.feature_names_in_)
    np.testing.assert_array_equal(again.transform(table), model.transform(table))
    np.testing.assert_array_equal(again.get_feature_names_out(), model.get_feature_names_out())


def test_names_of_classes_come_back(wine, tmp_path):
    X, y_partial, _ = wine
    y = np.array(["barolo", "grignolino", "barbera", None], dtype=object)[y_partial]
    for labels in (y, y.tolist()):
        model = MetricClassifier(SERAPH()).fit(X, labels)
        again = seraph.load(seraph.save(model, tmp_path / "model.skops"))
        assert_same(model, again, X)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("model", few(LEARNERS, is_quick), ids=lambda m: str(m)[:60])
def test_a_loaded_model_can_be_fitted_again(model, wine, tmp_path):
    X, y_partial, _ = wine
    path = seraph.save(clone(model).fit(X, y_partial), tmp_path / "model.skops")
    again = seraph.load(path)
    assert_same(clone(again).fit(X, y_partial), again.fit(X, y_partial), X)


def test_an_unfitted_model_comes_back_unfitted_with_its_parameters(tmp_path):
    stream = np.random.RandomState(0)
    stream.normal(size=5)
    model = SERAPH(lam=2.0, eta=0.5, random_state=stream)
    again = seraph.load(seraph.save(model, tmp_path / "model.skops"))
    assert (again.lam, again.eta) == (2.0, 0.5)
    np.testing.assert_array_equal(again.random_state.normal(size=3), stream.normal(size=3))
    assert not hasattr(again, "components_")


def test_parameters_newer_than_the_file_have_their_defaults(wine, tmp_path):
    X, y_partial, _ = wine
    inner, outer = SERAPH(), MetricClassifier(make_pipeline(StandardScaler(), SERAPH()))
    outer.fit(X, y_partial)
    answer = outer.predict(X)
    for learner in (inner, outer.estimator[-1], outer.estimator_[-1]):
        del learner.tol, learner.n_jobs
    del outer.rule
    inner = seraph.load(seraph.save(inner, tmp_path / "inner.skops"))
    outer = seraph.load(seraph.save(outer, tmp_path / "outer.skops"))
    assert inner.get_params() == SERAPH().get_params()
    assert outer.rule == "mean"
    assert outer.estimator_[-1].get_params() == SERAPH().get_params()
    np.testing.assert_array_equal(outer.predict(X), answer)
    inner.fit(X, y_partial)


def test_the_file_holds_plain_arrays_and_text_and_skops_itself_opens_it(fitted, wine, tmp_path):
    X = wine[0]
    for model in (SERAPH(), make_pipeline(StandardScaler(), SERAPH(), KNeighborsClassifier(3))):
        saved = fitted(model)
        path = seraph.save(saved, tmp_path / "model.skops")
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                if name.endswith(".npy"):
                    np.load(archive.open(name), allow_pickle=False)
                else:
                    json.loads(archive.read(name))
        again = skops.io.load(path, trusted=list(persist.TRUSTED))
        for a, b in zip(outputs(saved, X), outputs(again, X), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12)


@pytest.mark.parametrize("around", [MetricClassifier, PairClassifier, lambda pipeline: pipeline])
def test_a_model_of_text_and_missing_numbers_comes_back(around, wine, tmp_path):
    X, y_partial, _ = wine
    table = pd.DataFrame(X[:, :3].copy(), columns=list("abc"))
    table["island"] = np.array(["Biscoe", "Dream", None])[np.arange(len(X)) % 3]
    table.iloc[::7, 0] = np.nan
    prepare = ColumnTransformer(
        [
            ("numbers", make_pipeline(SimpleImputer(), StandardScaler()), list("abc")),
            ("text", OneHotEncoder(handle_unknown="ignore", sparse_output=False), ["island"]),
        ]
    )
    model = around(make_pipeline(prepare, SERAPH())).fit(table, y_partial)
    again = seraph.load(seraph.save(model, tmp_path / "model.skops"))
    asked = ([[0, 1], [2, 40]], table) if around is PairClassifier else (table,)
    for name in ("transform", "predict", "predict_proba"):
        if hasattr(model, name):
            answer = getattr(model, name)(*asked)
            np.testing.assert_array_equal(getattr(again, name)(*asked), answer, strict=True)


def test_the_file_records_the_versions(file):
    versions = persist.read_versions(file)
    assert versions["seraph"] == seraph.__version__
    assert versions["python"] == ".".join(map(str, sys.version_info[:3]))
    assert versions["numpy"] == np.__version__
    assert {"scipy", "scikit-learn", "skops"} < versions.keys()


def test_a_plain_skops_file_has_no_versions(learner, wine, tmp_path):
    path = tmp_path / "bare.skops"
    skops.io.dump(learner, path)
    assert persist.read_versions(path) == {}
    assert_same(seraph.load(path), learner, wine[0])


def test_a_model_of_zeros_loads_again(learner, tmp_path, monkeypatch):
    monkeypatch.setattr(_archive, "_BYTES", 2**20)  # the model has more
    learner = copy.copy(learner)
    learner.components_ = np.zeros((2, 2**17))
    learner.n_features_in_ = 2**17
    again = seraph.load(seraph.save(learner, tmp_path / "zeros.skops"))
    np.testing.assert_array_equal(again.components_, learner.components_, strict=True)


@pytest.mark.parametrize(
    ("library", "then", "warns"),
    [
        ("seraph", "0.9", True),
        ("seraph", "2.1", True),
        ("scikit-learn", "2.0", True),
        ("seraph", "1.99.1", False),
        ("scikit-learn", "1.0.2", False),
        ("numpy", "0.1", False),
    ],
)
def test_another_major_version_warns(library, then, warns, file, recwarn):
    here = persist.read_versions(file)
    seraph.load(rewrite(file, {"versions.json": json.dumps(here | {library: then})}))
    assert [warning.filename for warning in recwarn] == [__file__] * warns
    both = f"saved by {library} {then}, and this is {library} {here[library]}"
    assert all(both in str(warning.message) for warning in recwarn)


def test_another_minor_version_of_scikit_learn_is_no_reason_to_warn(fitted, tmp_path):
    path = seraph.save(fitted(make_pipeline(StandardScaler(), SERAPH())), tmp_path / "m.skops")
    schema = json.dumps(read_schema(path))
    assert sklearn.__version__ in schema
    older = schema.replace(sklearn.__version__, "1.0.2")
    seraph.load(rewrite(path, {"schema.json": older}))  # a warning would be an error
