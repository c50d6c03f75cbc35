"""What is no table of numbers is refused in words, where numpy would take it for numbers."""

import datetime

import dask.array as da
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

from seraph import SERAPH, MarksKFold, MetricClassifier, PairClassifier
from seraph.classic import Euclidean
from seraph.compat import metric_learn
from seraph.metrics import pair_auc
from tests.helpers.everyone import ESTIMATORS, make

# Tables of twelve rows that hold no numbers, though numpy makes numbers of most of them.
DAYS = np.arange(24).reshape(12, 2).astype("M8[D]")
# Each with what the message says of it.
TYPES = {
    "dates": (DAYS, "datetime64"),
    "durations": (DAYS - DAYS[0, 0], "timedelta64"),
    "bytes": (np.arange(24).reshape(12, 2).astype("S"), "S2"),
    "records": (np.zeros(12, dtype=[("a", float), ("b", float)]), "'a'"),
    "list of bytes": ([[b"1", b"2"]] * 12, "S1"),
    "list of dates": (list(map(list, DAYS)), "datetime64"),
    "objects with bytes": (np.array([[b"1", 2.0]] * 12, dtype=object), "bytes"),
    "objects with dates": (
        np.array([[np.datetime64(5, "D"), 2.0]] * 12, dtype=object),
        "datetime",
    ),
    "objects with durations": (
        np.array([[np.timedelta64(5, "D"), 2.0]] * 12, dtype=object),
        "timedelta64",
    ),
    "python dates": (np.array([[datetime.date(2020, 1, 1)]] * 12, dtype=object), "date"),
    "pandas dates": (pd.DataFrame({"a": 1.0, "when": DAYS[:, 0]}), "column 'when'"),
    "pandas dates alone": (pd.DataFrame(DAYS), "column 0"),
    "pandas durations": (pd.DataFrame({"long": DAYS[:, 0] - DAYS[0, 0]}), "column 'long'"),
    "pandas bytes": (pd.DataFrame({"a": [b"1"] * 12}), "bytes in column 'a'"),
    "pandas arrow dates": (
        pd.DataFrame({"when": pd.Series(DAYS[:, 0]).astype("timestamp[ns][pyarrow]")}),
        "column 'when'",
    ),
    "pandas periods": (pd.DataFrame({"p": pd.period_range("2020", periods=12)}), "Period"),
    "polars dates": (pl.DataFrame({"a": [1.0] * 12, "when": DAYS[:, 0]}), "column 'when'"),
    "polars durations": (pl.DataFrame({"long": [datetime.timedelta(1)] * 12}), "column 'long'"),
    "polars bytes": (pl.DataFrame({"a": [b"1"] * 12}), "column 'a'"),
    "chunks of dates": (da.from_array(DAYS, chunks=(6, 2)), "datetime64"),
}

STAND_INS = sorted(name for name in metric_learn.__all__ if name != "Constraints")
Y = np.arange(12) % 2


@pytest.mark.parametrize("kind", TYPES)
def test_types_that_are_no_numbers_are_refused_by_name(kind):
    X, message = TYPES[kind]
    with pytest.raises((TypeError, ValueError), match=message) as caught:
        SERAPH().fit(X, Y)
    assert "table of numbers" in str(caught.value)


@pytest.mark.parametrize("Estimator", ESTIMATORS, ids=lambda Estimator: Estimator.__name__)
def test_no_learner_takes_dates_for_numbers(Estimator):
    with pytest.raises(TypeError, match=r"datetime64.*days since"):
        make(Estimator).fit(DAYS, Y)


@pytest.mark.parametrize("name", STAND_INS)
def test_no_stand_in_takes_dates_for_numbers(name):
    learner = getattr(metric_learn, name)()
    tuples = {"ITML": 2, "MMC": 2, "SDML": 2, "LSML": 4, "SCML": 3}.get(name)
    points = DAYS if tuples is None else np.stack([DAYS] * tuples, axis=1)
    labels = (Y * 2 - 1,) if tuples == 2 else () if tuples else (Y,)
    with pytest.raises(TypeError, match=r"datetime64.*days since"):
        learner.fit(points, *labels)


@pytest.mark.parametrize("kind", ["dates", "bytes", "pandas dates alone"])
def test_points_to_map_and_to_compare_are_looked_at_too(kind):
    X, _ = TYPES[kind]
    numbers = np.random.default_rng(0).normal(size=(12, 2))
    learner = Euclidean().fit(numbers)
    neighbors = MetricClassifier(Euclidean()).fit(numbers, Y)
    pairs = np.stack([np.asarray(X), np.asarray(X)], axis=1)
    acts = [
        lambda: learner.transform(X),
        lambda: learner.pair_distance([[0, 1]], X),
        lambda: learner.pair_distance(pairs),
        lambda: neighbors.predict(X),
        lambda: pair_auc(X, Y),
    ]
    if isinstance(X, pd.DataFrame):
        X.columns = ["a", "b"]
        learner = Euclidean().fit(pd.DataFrame(numbers, columns=["a", "b"]))
        neighbors = MetricClassifier(Euclidean()).fit(pd.DataFrame(numbers, columns=["a", "b"]), Y)
    for act in acts:
        with pytest.raises(TypeError, match="must be a table of numbers"):
            act()


@pytest.mark.parametrize("Estimator", ESTIMATORS, ids=lambda Estimator: Estimator.__name__)
def test_a_table_that_is_not_read_yet_is_refused_with_the_call_that_reads_it(Estimator):
    lazy = pl.LazyFrame({"a": np.arange(12.0), "b": 9.0 * Y})
    learner = make(Estimator).fit(lazy.collect(), Y)
    acts = [lambda: learner.fit(lazy, Y)]
    for name in ("transform", "predict", "predict_proba"):
        if hasattr(learner, name) and Estimator is not PairClassifier:
            acts.append(lambda name=name: getattr(learner, name)(lazy))
    for name in ("pair_distance", "predict", "pair_proba"):
        if hasattr(learner, name) and Estimator is not MetricClassifier:
            acts.append(lambda name=name: getattr(learner, name)([[0, 1]], lazy))
    for act in acts:
        with pytest.raises(TypeError, match=r"not read yet: pass X\.collect\(\)"):
            act()


def test_numbers_of_every_type_pass():
    for X in (
        np.eye(4, dtype=bool),
        np.eye(4, dtype=object),
        pd.DataFrame(np.eye(4)).astype("Float64"),
        pd.DataFrame(np.eye(4)).astype("float64[pyarrow]"),
        pl.DataFrame(np.eye(4)),
        np.eye(4).tolist(),
    ):
        Euclidean().fit(X, [0, 0, 1, 1]).transform(X)


TENSORS = {
    "on a graph": lambda X: X.requires_grad_(),
    "float16": lambda X: X.half(),
    "on a graph in bfloat16": lambda X: X.bfloat16().requires_grad_(),
}


@pytest.mark.parametrize("kind", TENSORS)
@pytest.mark.parametrize(
    "model",
    [SERAPH(), MetricClassifier(), PairClassifier(SERAPH(), cv=2)],
    ids=repr,
)
def test_tensors_of_every_kind_are_points(model, kind):
    """numpy takes neither those that torch follows for gradients nor bfloat16."""
    torch = pytest.importorskip("torch")
    y = np.arange(24) % 2
    numbers = np.random.default_rng(0).integers(9, size=(24, 2)) + 4.0 * y[:, np.newaxis]
    X = TENSORS[kind](torch.tensor(numbers, dtype=torch.float32))
    numbers = numbers.astype(np.float32)  # small whole numbers are exact in every type
    expected, found = clone(model).fit(numbers, y), clone(model).fit(X, y)
    acts = [lambda model, X: model.score(X, y)]
    if not isinstance(model, PairClassifier):
        acts += [lambda model, X: model.transform(X)]
    if not isinstance(model, MetricClassifier):
        acts += [lambda model, X: model.pair_distance([[0, 1], [3, 5]], X)]
        acts += [lambda model, X: model.pair_distance(X.reshape(12, 2, 2))]
    if isinstance(model, MetricClassifier):
        acts += [lambda model, X: model.predict_proba(X)]
    for act in acts:
        value = act(found, X)
        value = value.detach().float().numpy() if isinstance(value, torch.Tensor) else value
        np.testing.assert_allclose(value, act(expected, numbers), rtol=0.02, atol=0.02)


def test_a_map_of_a_tensor_can_be_differentiated():
    torch = pytest.importorskip("torch")
    numbers = np.random.default_rng(0).normal(size=(12, 2))
    X = torch.tensor(numbers, requires_grad=True)
    learner = SERAPH().fit(X, Y)
    learner.transform(X).sum().backward()
    np.testing.assert_allclose(X.grad.numpy()[0], learner.components_.sum(axis=0), rtol=1e-12)


@pytest.mark.filterwarnings("ignore:The learned distance does not tell")
def test_a_dask_frame_is_refused_where_rows_go_by_number_and_the_advice_helps():
    def folds(X):
        return cross_val_score(MetricClassifier(Euclidean()), X, Y, cv=MarksKFold(2))

    dd = pytest.importorskip("dask.dataframe")
    points = np.random.default_rng(0).normal(size=(12, 2))
    frame = dd.from_pandas(pd.DataFrame(points), npartitions=3)
    with pytest.raises(TypeError, match=r"X is a dask DataFrame.*X\.compute\(\).*to_dask_array"):
        folds(frame)
    np.testing.assert_array_equal(folds(frame.to_dask_array(lengths=True)), folds(frame.compute()))
