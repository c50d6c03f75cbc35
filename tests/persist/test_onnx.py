"""ONNX graphs: onnxruntime returns what the model returns, to the precision of the input."""

from inspect import isclass

import numpy as np
import onnx
import onnxruntime
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from sklearn.base import clone, is_classifier
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MinMaxScaler,
    OneHotEncoder,
    StandardScaler,
)

from seraph import (
    SERAPH,
    ForestSpace,
    Marks,
    MeanMetric,
    MetricClassifier,
    PairClassifier,
    TablePreparer,
    classic,
)
from seraph.persist import to_onnx
from tests.helpers.models import labels_for
from tests.helpers.quick import examples, few

# tests/matrix has every learner; here are the steps around them.
MAPS = [
    MeanMetric(),
    make_pipeline(StandardScaler(), SERAPH()),
    make_pipeline(MinMaxScaler(), PCA(8), classic.LMNN()),
    make_pipeline(make_pipeline(StandardScaler(), SERAPH()), StandardScaler()),
]
CLASSIFIERS = [
    MetricClassifier(SERAPH()),
    *(MetricClassifier(SERAPH(), rule=rule) for rule in ("nearest", "vote", "all", "linear")),
    MetricClassifier(),
    make_pipeline(StandardScaler(), MetricClassifier(SERAPH())),
    make_pipeline(StandardScaler(), SERAPH(), KNeighborsClassifier(3)),
    make_pipeline(SERAPH(), LogisticRegression()),
    make_pipeline(
        StandardScaler(), SERAPH(n_components=3), MetricClassifier(SERAPH(n_components=1))
    ),
]

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


class Doubled(StandardScaler):
    """A step of one's own."""


def opened(graph):
    return onnxruntime.InferenceSession(
        graph.SerializeToString(), providers=["CPUExecutionProvider"]
    )


def run(graph, X):
    onnx.checker.check_model(graph, full_check=True)
    return opened(graph).run(None, {"X": X})


def run_on_columns(graph, table, dtype=np.float32, **more):
    """What a graph of named columns says of a table; a missing text is an empty one."""
    session = opened(graph)
    columns = {
        column.name: table[[column.name]].astype(object).fillna("").to_numpy(str)
        if column.type == "tensor(string)"
        else table[[column.name]].to_numpy(dtype)
        for column in session.get_inputs()
        if column.name not in more
    }
    return session.run(None, columns | more)


@pytest.mark.parametrize(
    ("model", "dtype"),
    few(
        [(model, dtype) for model in (*MAPS, *CLASSIFIERS) for dtype in (np.float32, np.float64)],
        lambda case: is_classifier(case[0]) == (case[1] is np.float32),
    ),
    ids=lambda value: " ".join(str(value).split())[:70],
)
def test_a_graph_answers_as_the_model_does(model, dtype, wine):
    X = wine[0].astype(dtype)  # includes the labeled rows, their own neighbors at distance 0
    model = clone(model).fit(X, labels_for(model, wine))
    graph = to_onnx(model, X, dtype=dtype)
    for rows in (X, X[-1:], X[:7]):
        outputs = run(graph, rows)
        if is_classifier(model):
            label, found, *_ = outputs
            np.testing.assert_array_equal(label, model.predict(rows))
            expected, tolerance = model.predict_proba(rows), {"atol": 1e-5}
        else:
            (found,), size = outputs, 1e-5 if dtype is np.float32 else 1e-11
            expected, tolerance = model.transform(rows), {"rtol": size, "atol": size}
        np.testing.assert_allclose(found, expected, **tolerance)
        assert found.dtype == dtype


@pytest.mark.parametrize("dtype", few([np.float32, np.float64], lambda t: t is np.float32))
@pytest.mark.parametrize("by", ["classes", "distance", "forest"])
def test_the_graph_of_a_pair_classifier_takes_rows_and_pairs_of_them(by, dtype, wine):
    X, y_partial, _ = wine
    # Rounded, so that sums are split points of the forest, which single precision would miss.
    X = np.round(X, 2).astype(dtype).astype(np.float64)
    X[7] = X[3]
    learner = make_pipeline(StandardScaler(), SERAPH())
    model = PairClassifier(learner, cv=2, forest=by == "forest")
    model.fit(X, y_partial, marks=None if by == "classes" else Marks([[0, 2]], [1], rows=X))
    assert (model.forest_share_ > 0.0) == (by == "forest")
    graph = to_onnx(model, X, dtype=dtype)
    onnx.checker.check_model(graph, full_check=True)
    pairs = np.column_stack(np.triu_indices(len(X)))[::7]
    pairs = np.vstack([pairs, [[3, 7], [5, 5]]])
    labels, shares, Z = opened(graph).run(None, {"X": X.astype(dtype), "pairs": pairs})
    assert shares.dtype == dtype
    np.testing.assert_allclose(shares, model.predict_proba(pairs, X), atol=1e-5)
    np.testing.assert_array_equal(labels, model.predict(pairs, X))
    np.testing.assert_allclose(Z, model.estimator_.transform(X), atol=1e-4)


@pytest.mark.parametrize("by", ["marks", "classes"])
def test_the_graph_of_a_space_of_a_forest_maps_as_it_does(by, wine):
    X, y_partial, _ = wine
    table = pd.DataFrame(np.round(X, 2), columns=list("abcdefghijklm"))
    space = ForestSpace(make_pipeline(StandardScaler(), SERAPH()), n_landmarks=20)
    marks = Marks(np.arange(80).reshape(-1, 2), wine[2][::2] == wine[2][1::2], rows=table)
    space.fit(table, **({"y": y_partial} if by == "classes" else {"marks": marks}))
    assert space.lengths_[1] > 0.1
    Z = run_on_columns(to_onnx(space, table, dtype="float64"), table, np.float64)[0]
    np.testing.assert_allclose(Z, space.transform(table), atol=1e-6)
    outside = make_pipeline(StandardScaler(), space.set_params(estimator=SERAPH()))
    outside.fit(X, y_partial, **({"forestspace__marks": marks} if by == "marks" else {}))
    short = X.astype(np.float32)
    (Z,) = run(to_onnx(outside, short), short)
    assert Z.dtype == np.float32
    np.testing.assert_allclose(Z, outside.transform(short.astype(float)), atol=1e-4)


@pytest.mark.parametrize(
    ("names", "refused"),
    [
        (np.array(["barolo", "grignolino", "barbera", None], dtype=object), False),
        (np.array([3, 7, 5, -1]), False),
        (np.array([3.0, 7.0, 5.0, np.nan]), False),
        (np.array([False, True, True, None], dtype=object), False),
        (np.array([2**63, 2**64 - 2, 2**63 + 1, 0], dtype=np.uint64), True),
        (np.array(["2020-01-01", "2021-01-01", "2022-01-01", "NaT"], "datetime64[D]"), True),
    ],
    ids=["text", "int", "float", "bool", "uint64", "dates"],
)
def test_classes_keep_their_names_unless_onnx_has_no_type_for_them(names, refused, wine):
    X, y_partial, _ = wine
    labels = names[y_partial]
    model = MetricClassifier(SERAPH()).fit(X, labels if refused else labels.tolist())
    if refused:
        with pytest.raises(ValueError, match=r"(?s)text or .* whole numbers.*Convert the labels"):
            to_onnx(model, X)
        return
    label, *_ = run(to_onnx(model, X, dtype="float64"), X)
    np.testing.assert_array_equal(label, model.predict(X))


@pytest.mark.filterwarnings("ignore:The learned distance does not tell")
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
    for classifier in (inside, after):
        graph = to_onnx(classifier.fit(table, y_partial), table)
        labels, shares, _ = run_on_columns(graph, table)
        np.testing.assert_allclose(shares, classifier.predict_proba(table), atol=1e-4)
        np.testing.assert_array_equal(labels, classifier.predict(table))
    pairs = np.column_stack(np.triu_indices(len(table)))[::9]
    marks = Marks([[0, 2]], [1], rows=table)
    classifier = PairClassifier(inside.estimator, cv=2).fit(table, y_partial, marks=marks)
    graph = to_onnx(classifier, table, dtype="float64")
    _, shares, _ = run_on_columns(graph, table, np.float64, pairs=pairs)
    np.testing.assert_allclose(shares, classifier.predict_proba(pairs, table), atol=1e-6)


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


@pytest.mark.parametrize("opset", few([13, 15, 18], lambda opset: opset == 13))
def test_a_graph_can_be_made_for_an_older_runtime(opset, wine):
    X, y_partial, _ = wine
    model = MetricClassifier(SERAPH()).fit(X, y_partial)
    graph = to_onnx(model, X, dtype="float64", target_opset=opset)
    assert {entry.domain: entry.version for entry in graph.opset_import}[""] <= opset
    np.testing.assert_array_equal(run(graph, X)[0], model.predict(X))


@pytest.mark.filterwarnings("ignore:The learned metric is zero")
@pytest.mark.parametrize(
    ("model", "message"),
    [
        # skl2onnx gets the weights wrong
        (
            make_pipeline(SERAPH(), KNeighborsClassifier(3, weights="distance")),
            r"weights='distance'.*MetricClassifier",
        ),
        (SERAPH(lam=1e6), "SERAPH has learned a metric of rank 0"),
        (make_pipeline(Doubled(), SERAPH()), "Doubled"),
        (make_pipeline(FunctionTransformer(np.exp), SERAPH()), "FunctionTransformer"),
    ],
)
def test_a_model_without_a_graph_is_refused_by_name(model, message, wine):
    model = clone(model).fit(wine[0], labels_for(model, wine))
    with pytest.raises(ValueError, match=message):
        to_onnx(model, wine[0])


def test_a_model_that_takes_texts_is_refused_and_the_steps_after_have_a_graph(wine):
    _, y_partial, _ = wine
    texts = [f"red{k % 7} dry{k % 5} old{k % 3}" for k in range(len(y_partial))]
    model = make_pipeline(CountVectorizer(), TruncatedSVD(3), SERAPH()).fit(texts, y_partial)
    with pytest.raises(ValueError, match=r"CountVectorizer.*model\[1:\]"):
        to_onnx(model, texts)
    model = make_pipeline(model[0], FunctionTransformer(csr_matrix.toarray), SERAPH())
    model.fit(texts, y_partial)
    counts = model[:2].transform(texts).astype(float)
    mapped = run(to_onnx(model[2:], counts, dtype="float64"), counts)[0]
    np.testing.assert_allclose(mapped, model.transform(texts), atol=1e-8)


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
        model = SERAPH().fit(rows, y_partial)
        with pytest.raises(ValueError, match='float32 cannot hold: pass dtype="float64"'):
            to_onnx(model, 1e60 * rows)
        with pytest.raises(ValueError, match=r"the model was fitted on|that it was fitted on"):
            to_onnx(model, X[:, :3] if rows is X else rows[["x0", "x1", "x2"]])


def test_a_graph_that_differs_from_its_model_is_refused(wine):
    X, y_partial, _ = wine
    far = 1e7 + X  # in float32, nothing is left of X
    model = make_pipeline(StandardScaler(), SERAPH()).fit(far, y_partial)
    with pytest.raises(ValueError, match=r"differs.*dtype=\"float64\""):
        to_onnx(model, far, dtype="float32")
    (Z,) = run(to_onnx(model, far, dtype="float64"), far)
    np.testing.assert_allclose(Z, model.transform(far), atol=1e-6)


def encoder(**settings):
    return OneHotEncoder(**({"handle_unknown": "ignore", "sparse_output": False} | settings))


def test_an_empty_text_before_an_imputer_is_refused_with_the_likely_cause(wine):
    X, y_partial, _ = wine
    table = pd.DataFrame(X[:, :2].copy(), columns=["a", "b"])
    table["kind"] = np.resize(np.array(["u", "", "v", "u", np.nan], dtype=object), len(X))
    text = make_pipeline(SimpleImputer(strategy="most_frequent"), encoder())
    parts = [("numbers", StandardScaler(), ["a", "b"]), ("text", text, ["kind"])]
    model = MetricClassifier(make_pipeline(ColumnTransformer(parts), SERAPH(max_iter=20)))
    with pytest.raises(ValueError, match=r"differs from the model in .* rows.*replace \"\""):
        to_onnx(model.fit(table, y_partial), table)
    words = table.replace("", np.nan)
    to_onnx(model.fit(words, y_partial), words)


WORDS = ["gas", " gas", "gas ", "diesel", "\tdiesel", "electric", None, " ", "NA", "never seen"]


@pytest.mark.parametrize("around", few([MetricClassifier, lambda pipeline: pipeline], isclass))
@pytest.mark.parametrize(
    "prepare",
    [
        TablePreparer(),
        ColumnTransformer([("n", StandardScaler(), ["a"]), ("t", encoder(), ["fuel"])]),
    ],
    ids=["reads cells", "takes cells as they are"],
)
@given(words=st.lists(st.sampled_from(WORDS), min_size=60, max_size=60))
@examples(4)
def test_the_graph_equals_the_model_on_the_raw_cells_of_its_table(prepare, around, words):
    rng = np.random.default_rng(0)
    fuel = rng.choice(["gas", "diesel", "electric"], 60)
    table = pd.DataFrame({"a": rng.normal(size=60), "fuel": fuel})
    model = around(make_pipeline(clone(prepare), SERAPH(max_iter=5)))
    model.fit(table, np.where(np.arange(60) < 20, fuel == "gas", -1))
    raw = table.assign(fuel=np.array(words, dtype=object))
    outputs = run_on_columns(to_onnx(model, raw), raw)
    np.testing.assert_allclose(outputs[-1], model.transform(raw), atol=1e-4)
    if is_classifier(model):
        np.testing.assert_array_equal(outputs[0], model.predict(raw))
