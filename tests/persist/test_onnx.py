"""ONNX graphs: onnxruntime returns what the model returns, to the precision of the input."""

import sys

import numpy as np
import onnx
import onnxruntime
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, TransformerMixin, clone, is_classifier
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression, SGDClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MinMaxScaler,
    OneHotEncoder,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import LinearSVC
from sklearn.utils.fixes import parse_version

from seraph import (
    SERAPH,
    KernelSERAPH,
    Marks,
    MeanMetric,
    MetricClassifier,
    PairClassifier,
    classic,
)
from seraph.persist import to_onnx
from tests.helpers.models import labels_for
from tests.helpers.quick import few

MAPS = [
    SERAPH(),
    MeanMetric(),
    *(getattr(classic, name)() for name in classic.__all__),
    KernelSERAPH(),
    KernelSERAPH(gamma=0.3, n_landmarks=25),
    KernelSERAPH(kernel="linear"),
    KernelSERAPH(kernel="poly"),
    KernelSERAPH(kernel="poly", degree=2.5, coef0=9, gamma=0.7),
    make_pipeline(StandardScaler(), SERAPH()),
    make_pipeline(RobustScaler(), KernelSERAPH()),
    make_pipeline(MinMaxScaler(), PCA(8), classic.LMNN()),
    make_pipeline(make_pipeline(StandardScaler(), SERAPH()), StandardScaler()),
]
CLASSIFIERS = [
    MetricClassifier(SERAPH()),
    MetricClassifier(SERAPH(), rule="nearest"),
    MetricClassifier(classic.GDM(), rule="vote"),
    MetricClassifier(KernelSERAPH(), rule="linear"),
    MetricClassifier(),
    make_pipeline(StandardScaler(), MetricClassifier(SERAPH())),
    make_pipeline(StandardScaler(), SERAPH(), KNeighborsClassifier(3)),
    make_pipeline(SERAPH(), LogisticRegression()),
    make_pipeline(
        StandardScaler(), SERAPH(n_components=3), MetricClassifier(SERAPH(n_components=1))
    ),
]

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


class Doubled(TransformerMixin, BaseEstimator):
    def fit(self, X, y=None):
        self.n_features_in_ = X.shape[1]
        return self

    def transform(self, X):
        return 2.0 * X


def opened(graph):
    return onnxruntime.InferenceSession(
        graph.SerializeToString(), providers=["CPUExecutionProvider"]
    )


def run(graph, X):
    onnx.checker.check_model(graph, full_check=True)
    return opened(graph).run(None, {"X": X})


def run_on_columns(graph, table, dtype=np.float32):
    """What a graph of named columns says of a table; a missing text is an empty one."""
    session = opened(graph)
    columns = {
        column.name: table[[column.name]].astype(object).fillna("").to_numpy(str)
        if column.type == "tensor(string)"
        else table[[column.name]].to_numpy(dtype)
        for column in session.get_inputs()
    }
    return session.run(None, columns)


@pytest.mark.parametrize("dtype", few(["float32", "float64"], lambda t: t == "float64"))
@pytest.mark.parametrize(
    "model",
    few(MAPS, lambda model: type(model).__module__ != "seraph.classic" or "LMNN" in repr(model)),
    ids=lambda m: " ".join(str(m).split())[:70],
)
def test_a_graph_maps_as_the_model_does(model, dtype, wine):
    X, _y_partial, _ = wine
    X = X.astype(dtype)
    model = clone(model).fit(X, labels_for(model, wine))
    graph = to_onnx(model, X, dtype=dtype)
    tolerance = 1e-5 if dtype == "float32" else 1e-11
    for rows in (X, X[:1], X[:7]):
        (Z,) = run(graph, rows)
        assert Z.dtype == dtype
        np.testing.assert_allclose(Z, model.transform(rows), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", few([np.float32, np.float64], lambda t: t is np.float32))
@pytest.mark.parametrize("model", CLASSIFIERS, ids=lambda m: " ".join(str(m).split())[:70])
def test_a_graph_classifies_as_the_model_does(model, dtype, wine):
    X, _y_partial, _ = wine
    X = X.astype(dtype)  # includes the labeled rows, their own neighbors at distance 0
    model = clone(model).fit(X, labels_for(model, wine))
    graph = to_onnx(model, X, dtype=dtype)
    for rows in (X, X[-1:], X[:7]):
        label, probabilities, *_ = run(graph, rows)
        np.testing.assert_array_equal(label, model.predict(rows))
        np.testing.assert_allclose(probabilities, model.predict_proba(rows), atol=1e-5)
        assert probabilities.dtype == dtype


@pytest.mark.parametrize("last", [SGDClassifier(random_state=0), LinearRegression()], ids=repr)
def test_a_graph_without_probabilities_predicts_as_the_model_does(last, wine):
    X, _, y = wine
    model = make_pipeline(SERAPH(max_iter=5), last).fit(X, y)
    predicted = np.ravel(run(to_onnx(model, X, dtype="float64"), X)[0])
    np.testing.assert_allclose(predicted, model.predict(X), atol=1e-5)


@pytest.mark.parametrize("by_classes", [False, True])
def test_the_graph_of_a_pair_classifier_decides_with_the_numbers_in_its_metadata(by_classes, wine):
    X, y_partial, _ = wine
    model = PairClassifier(make_pipeline(StandardScaler(), SERAPH()), cv=2)
    model.fit(X, y_partial, marks=None if by_classes else Marks([[0, 2]], [1], rows=X))
    graph = to_onnx(model, X, dtype="float64")
    stored = {entry.key: float(entry.value) for entry in graph.metadata_props}
    i, j = np.triu_indices(len(X), k=1)
    rows = np.column_stack([i, j])
    if by_classes:
        _, chances, _ = run(graph, X)
        d = 1.0 - np.sum(chances[i] * chances[j], axis=1)
    else:
        (Z,) = run(graph, X)
        d = np.linalg.norm(Z[i] - Z[j], axis=1)
        alike = 1.0 / (1.0 + np.exp(-(stored["intercept"] + stored["slope"] * d)))
        np.testing.assert_allclose(alike, model.predict_proba(rows, X)[:, 1], atol=1e-9)
    np.testing.assert_array_equal(d <= stored["threshold"], model.predict(rows, X) == 1)


@pytest.mark.parametrize(
    "names",
    [
        np.array(["barolo", "grignolino", "barbera", None], dtype=object),
        np.array([3, 7, 5, -1]),
        np.array([3.0, 7.0, 5.0, np.nan]),
        np.array([False, True, True, None], dtype=object),
    ],
    ids=["text", "int", "float", "bool"],
)
def test_classes_keep_their_names(names, wine):
    X, y_partial, _ = wine
    model = MetricClassifier(SERAPH()).fit(X, names[y_partial].tolist())
    label, *_ = run(to_onnx(model, X, dtype="float64"), X)
    np.testing.assert_array_equal(label, model.predict(X))


@pytest.mark.skipif(
    parse_version(onnxruntime.__version__) < parse_version("1.31"),
    reason="before 1.31, onnxruntime ends the process where a graph finds neighbors of no rows",
)
@pytest.mark.parametrize("model", CLASSIFIERS[:5], ids=lambda m: " ".join(str(m).split())[:70])
def test_the_graph_of_a_classifier_takes_0_rows(model, wine):
    X, _y_partial, _ = wine
    model = clone(model).fit(X, labels_for(model, wine))
    label, probabilities, _ = run(to_onnx(model, X, dtype="float64"), X[:0])
    assert label.shape == (0,)
    assert probabilities.shape == (0, len(model.classes_))


@pytest.mark.parametrize(
    "model",
    [
        make_pipeline(StandardScaler(), SERAPH()),
        make_pipeline(StandardScaler(), SimpleImputer(strategy="median"), SERAPH()),
        MetricClassifier(SERAPH()),
    ],
)
def test_the_graph_of_a_model_of_a_data_frame_takes_its_columns_by_name(model, wine):
    X, y_partial, _ = wine
    names = ["mean radius", *"bcdefghijklm"]
    table = pd.DataFrame(X.copy(), columns=names)  # pandas 2 would write into X
    model = clone(model).fit(table, y_partial)
    if not is_classifier(model):
        table.iloc[::3, 1] = np.nan if len(model.steps) == 3 else 0.0
    Z = run_on_columns(to_onnx(model, table, dtype="float64"), table, np.float64)[-1]
    np.testing.assert_allclose(Z, model.transform(table), atol=1e-12)


def test_text_and_missing_values_go_through_a_column_transformer(wine):
    X, y_partial, _ = wine
    rng = np.random.default_rng(0)
    table = pd.DataFrame(X[:, :3].copy(), columns=["a", "b", "a b"])
    table["kind"] = rng.choice(["u", "v", "w", None], len(X), p=[0.5, 0.3, 0.15, 0.05])
    table["other"] = rng.choice(["yes", "no"], len(X))
    table.loc[::5, "b"] = np.nan
    fill = SimpleImputer(strategy="most_frequent", missing_values=np.nan)
    prepare = ColumnTransformer(
        [
            ("text", make_pipeline(fill, OneHotEncoder(handle_unknown="ignore")), ["kind"]),
            ("plain", OneHotEncoder(sparse_output=False, handle_unknown="ignore"), ["other"]),
            ("numbers", make_pipeline(StandardScaler(), SimpleImputer()), ["a b", "b"]),
        ],
        sparse_threshold=0.0,
    )
    table["kind"] = table["kind"].astype(object).where(table["kind"].notna(), np.nan)
    model = make_pipeline(prepare, SERAPH()).fit(table, y_partial)
    table.loc[7, ["kind", "other"]] = "new"
    graph = to_onnx(model, table)
    used = [value.name for value in graph.graph.input]
    assert used == ["b", "a b", "kind", "other"]  # "a" is not used
    (Z,) = run_on_columns(graph, table)
    np.testing.assert_allclose(Z, model.transform(table), atol=1e-5)
    # A classifier may have the preparation inside, or after it: the same model, the same graph.
    inside = MetricClassifier(make_pipeline(clone(prepare), SERAPH()))
    after = make_pipeline(clone(prepare), MetricClassifier(SERAPH()))
    for classifier in (inside, after, PairClassifier(inside.estimator, cv=2)):
        graph = to_onnx(classifier.fit(table, y_partial), table)
        labels, shares, _ = run_on_columns(graph, table)
        model = getattr(classifier, "estimator_", classifier)
        model = model if hasattr(model, "predict_proba") else classifier
        np.testing.assert_allclose(shares, model.predict_proba(table), atol=1e-4)
        np.testing.assert_array_equal(labels, model.predict(table))


@pytest.mark.parametrize("columns", [[0, 2], slice(1, 3)], ids=str)
@pytest.mark.parametrize("named", [True, False])
def test_a_column_transformer_may_select_by_place(columns, named, wine):
    X, y_partial, _ = wine
    table = pd.DataFrame(X[:, :3], columns=["a", "b", "c"]) if named else X[:, :3]
    prepare = ColumnTransformer([("numbers", StandardScaler(), columns)])
    model = make_pipeline(prepare, SERAPH()).fit(table, y_partial)
    graph = to_onnx(model, table, dtype="float64")
    assert len(graph.graph.input) == (2 if named else 1)
    (Z,) = run_on_columns(graph, table, np.float64) if named else run(graph, table)
    np.testing.assert_allclose(Z, model.transform(table), atol=1e-12)


@pytest.mark.parametrize(
    "step",
    [
        OneHotEncoder(drop="first", sparse_output=False, handle_unknown="ignore"),
        OneHotEncoder(sparse_output=False),  # new categories are an error
        SimpleImputer(add_indicator=True),
    ],
)
def test_a_step_that_would_get_a_wrong_graph_is_refused(step, wine):
    X, y_partial, _ = wine
    table = pd.DataFrame({"a": X[:, 0], "kind": np.where(X[:, 1] > 2, "u", "v")})
    column = "kind" if isinstance(step, OneHotEncoder) else "a"
    rest = StandardScaler() if column == "kind" else OneHotEncoder(sparse_output=False)
    others = [name for name in table if name != column]
    prepare = ColumnTransformer([("step", step, [column]), ("rest", rest, others)])
    model = make_pipeline(prepare, SERAPH()).fit(table, y_partial)
    with pytest.raises(ValueError, match="has a graph"):
        to_onnx(model, table)


def test_missing_values_are_filled_in_by_the_graph(wine):
    X, y, *_ = wine
    holes = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)
    model = MetricClassifier(make_pipeline(SimpleImputer(), StandardScaler(), SERAPH()))
    model.fit(holes, y)
    graph = to_onnx(model, holes)
    classes, shares, mapped = run(graph, holes.astype(np.float32))
    np.testing.assert_array_equal(classes, model.predict(holes))
    np.testing.assert_allclose(shares, model.predict_proba(holes), atol=1e-4)
    np.testing.assert_allclose(mapped, model.transform(holes), atol=1e-4)
    assert [one.name for one in graph.graph.output] == ["label", "probabilities", "coordinates"]


@pytest.mark.parametrize("opset", few([13, 15, 18], lambda opset: opset == 13))
def test_a_graph_can_be_made_for_an_older_runtime(opset, wine):
    X, y_partial, _ = wine
    for learner in (SERAPH(), KernelSERAPH()):
        model = MetricClassifier(learner)
        model.fit(X, y_partial)
        graph = to_onnx(model, X, dtype="float64", target_opset=opset)
        assert {entry.domain: entry.version for entry in graph.opset_import}[""] <= opset
        np.testing.assert_array_equal(run(graph, X)[0], model.predict(X))


WRONG_KERNEL = r"KernelSERAPH with kernel=.*one of linear, poly"
# Models that are fitted on points and all labels (y) or some of them, and the words.
REFUSED = {
    "distance weights, which skl2onnx gets wrong": (
        make_pipeline(SERAPH(), KNeighborsClassifier(3, weights="distance")), "y",
        r"weights='distance'.*MetricClassifier",
    ),
    "cosine": (KernelSERAPH(kernel="cosine"), "some", WRONG_KERNEL),
    "a kernel of one's own": (KernelSERAPH(kernel=np.dot), "some", WRONG_KERNEL),
    "a kernel inside": (MetricClassifier(KernelSERAPH(kernel=np.dot)), "some", WRONG_KERNEL),
    "rank 0": (SERAPH(lam=1e6), "some", "SERAPH has learned a metric of rank 0"),
    "a step of one's own": (make_pipeline(Doubled(), SERAPH()), "some", "Doubled"),
    "a function": (
        make_pipeline(FunctionTransformer(np.exp), SERAPH()), "some", "FunctionTransformer",
    ),
    "what skl2onnx stumbles over": (
        make_pipeline(SERAPH(max_iter=5), LinearSVC()), "y", r"skl2onnx cannot convert.*LinearSVC",
    ),
    "a step that does nothing": (
        MetricClassifier(make_pipeline("passthrough", SERAPH())), "some",
        "step 'passthrough' of the pipeline is 'passthrough'",
    ),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:The learned metric is zero")
@pytest.mark.parametrize("case", REFUSED)
def test_a_model_without_a_graph_is_refused_by_name(case, wine):
    model, labels, message = REFUSED[case]
    X, y_partial, y = wine
    model = clone(model).fit(X, y if labels == "y" else y_partial)
    with pytest.raises(ValueError, match=message):
        to_onnx(model, X)


@pytest.mark.parametrize(
    "names",
    [
        np.array([2**63, 2**64 - 2, 2**63 + 1, 0], dtype=np.uint64),
        np.array(["2020-01-01", "2021-01-01", "2022-01-01", "NaT"], dtype="datetime64[D]"),
    ],
    ids=["uint64", "dates"],
)
def test_classes_that_onnx_has_no_type_for_are_refused(names, wine):
    X, y_partial, _ = wine
    model = MetricClassifier(SERAPH()).fit(X, names[y_partial])
    with pytest.raises(ValueError, match=r"(?s)text or .* whole numbers.*Convert the labels"):
        to_onnx(model, X)


def test_anything_but_a_fitted_model_and_points_is_refused(wine):
    X, y_partial, _ = wine
    with pytest.raises(NotFittedError):
        to_onnx(SERAPH(), X)
    for model in (SERAPH, "model.skops"):
        with pytest.raises(ValueError, match="must be a fitted estimator"):
            to_onnx(model, X)
    with pytest.raises(ValueError, match="float32 or float64; got 'int64'"):
        to_onnx(SERAPH().fit(X, y_partial), X, dtype="int64")
    for rows in (X, pd.DataFrame(X).add_prefix("x")):
        with pytest.raises(ValueError, match='float32 cannot hold: pass dtype="float64"'):
            to_onnx(SERAPH().fit(rows, y_partial), 1e60 * rows)
    products = KernelSERAPH(kernel="precomputed").fit(X @ X.T, y_partial)
    with pytest.raises(ValueError, match=WRONG_KERNEL):
        to_onnx(products, X @ X.T)


@pytest.mark.parametrize("package", ["onnx", "skl2onnx"])
def test_without_the_packages_the_extra_is_named(package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=r"pip install 'seraph-learn\[onnx\]'"):
        to_onnx(SERAPH(), [[0.0]])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("scale", [1.0, 1000.0])
@pytest.mark.parametrize("kernel", ["linear", "poly"])
def test_the_graph_of_a_kernel_is_exact_on_features_of_any_scale(kernel, scale, dtype):
    wine = load_wine()
    X = (scale * wine.data).astype(dtype)
    y_partial = np.where(np.arange(len(X)) % 9 == 0, wine.target, -1)
    model = KernelSERAPH(SERAPH(max_iter=30), kernel=kernel).fit(X, y_partial)
    (Z,) = run(to_onnx(model, X, dtype=dtype), X)
    exact = model.transform(X.astype(np.float64))
    tolerance = 1e-6 if dtype == "float32" else 1e-9
    np.testing.assert_allclose(Z, exact, rtol=tolerance, atol=tolerance * np.abs(exact).max())


@pytest.mark.parametrize("runtime", ["onnxruntime", "reference"])
def test_a_graph_that_differs_from_its_model_is_refused(runtime, wine, monkeypatch):
    X, y_partial, _ = wine
    if runtime == "reference":  # which onnx itself has
        monkeypatch.setitem(sys.modules, "onnxruntime", None)
    far = 1e7 + X  # in float32, nothing is left of X
    model = make_pipeline(StandardScaler(), SERAPH()).fit(far, y_partial)
    with pytest.raises(ValueError, match=r"differs.*dtype=\"float64\""):
        to_onnx(model, far, dtype="float32")
    (Z,) = run(to_onnx(model, far, dtype="float64"), far)
    np.testing.assert_allclose(Z, model.transform(far), atol=1e-6)


@pytest.mark.parametrize("rule", ["mean", "nearest"])
def test_classes_far_from_the_origin_are_those_of_the_model(rule):
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    X = 1e5 + 1e-3 * (rng.normal(size=(60, 4)) + y[:, None])
    model = MetricClassifier(SERAPH(), rule=rule).fit(X, y)
    rows = 1e5 + 1e-3 * (rng.normal(size=(40, 4)) + 1.0)
    labels, *_ = run(to_onnx(model, X, dtype="float64"), rows)
    np.testing.assert_array_equal(labels, model.predict(rows))


def test_neighbors_that_single_precision_cannot_tell_are_refused():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    X = 1e6 + 0.05 * (rng.normal(size=(60, 4)) + y[:, None])
    model = MetricClassifier(SERAPH()).fit(X, y)
    with pytest.raises(ValueError, match=r"differs from the model in .* dtype=\"float64\""):
        to_onnx(model, X, dtype="float32")
    to_onnx(model, X, dtype="float64")


def table_of_text(wine, words):
    """Two columns of numbers and one of text."""
    X = wine[0]
    table = pd.DataFrame(X[:, :2].copy(), columns=["a", "b"])
    table["kind"] = np.array(words, dtype=object)[np.arange(len(X)) % len(words)]
    return table


def classifier_of_text(*steps):
    """A classifier whose column of text goes through `steps`."""
    parts = [("numbers", StandardScaler(), ["a", "b"]), ("text", make_pipeline(*steps), ["kind"])]
    return MetricClassifier(make_pipeline(ColumnTransformer(parts), SERAPH(max_iter=20)))


def encoder(**settings):
    return OneHotEncoder(**({"handle_unknown": "ignore", "sparse_output": False} | settings))


@pytest.mark.parametrize("unknown", ["ignore", "infrequent_if_exist"])
def test_a_rare_missing_text_is_one_of_the_infrequent_ones(unknown, wine):
    table = table_of_text(wine, ["u", "v", "w"])
    table.loc[[3, 40], "kind"] = np.nan
    model = classifier_of_text(encoder(min_frequency=3, handle_unknown=unknown))
    model.fit(table, wine[1])
    table.loc[5, "kind"] = "new"
    labels, shares, _ = run_on_columns(to_onnx(model, table), table)
    np.testing.assert_array_equal(labels, model.predict(table))
    np.testing.assert_allclose(shares, model.predict_proba(table), atol=1e-4)


def test_an_empty_text_before_an_imputer_is_refused_with_the_likely_cause(wine):
    table = table_of_text(wine, ["u", "", "v", "u", np.nan])
    model = classifier_of_text(SimpleImputer(strategy="most_frequent"), encoder())
    model.fit(table, wine[1])
    with pytest.raises(ValueError, match=r"differs from the model in .* rows.*replace \"\""):
        to_onnx(model, table)
    words = table.replace("", np.nan)
    to_onnx(model.fit(words, wine[1]), words)


def test_an_empty_text_that_nothing_confuses_is_a_category(wine):
    table = table_of_text(wine, ["u", "", "v"])
    model = classifier_of_text(encoder()).fit(table, wine[1])
    labels, *_ = run_on_columns(to_onnx(model, table), table)
    np.testing.assert_array_equal(labels, model.predict(table))


def test_an_empty_and_a_missing_text_cannot_both_be_categories(wine):
    table = table_of_text(wine, ["u", "", "v", np.nan])
    with pytest.raises(ValueError, match='OneHotEncoder with two of "", None and NaN'):
        to_onnx(classifier_of_text(encoder()).fit(table, wine[1]), table)


@pytest.mark.parametrize("around", [MetricClassifier, lambda pipeline: pipeline])
def test_neighbors_at_equal_distances_are_refused_with_the_likely_cause(around, rng):
    X = rng.integers(4, size=(120, 4)).astype(float)
    y = np.where(np.arange(120) < 40, (X[:, 0] > 1).astype(int), -1)
    X[rng.random(X.shape) < 0.1] = np.nan
    model = around(make_pipeline(KNNImputer(), StandardScaler(), SERAPH())).fit(X, y)
    with pytest.raises(ValueError, match=r"differs from the model in .*use SimpleImputer"):
        to_onnx(model, X)


def test_one_row_that_differs_is_enough(wine):
    table = table_of_text(wine, ["u", "v", "v"])
    table.loc[7, "kind"] = ""
    model = classifier_of_text(SimpleImputer(strategy="most_frequent"), encoder())
    with pytest.raises(ValueError, match="differs from the model in 1 of 80 rows, such as"):
        to_onnx(model.fit(table, wine[1]), table)


@pytest.mark.parametrize("named", [True, False])
def test_rows_of_another_table_are_refused(named, wine):
    X, y_partial, _ = wine
    table = pd.DataFrame(X, columns=list("abcdefghijklm")) if named else X
    model = SERAPH(max_iter=5).fit(table, y_partial)
    with pytest.raises(ValueError, match=r"the model was fitted on|that it was fitted on"):
        to_onnx(model, table[list("abc")] if named else X[:, :3])
