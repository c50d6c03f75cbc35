"""Whole numbers above 2**53, which floats do not tell apart, as classes and as names of rows."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from seraph import SERAPH, MetricClassifier
from seraph._marks import PairLabels, Rows
from seraph.classic import Euclidean
from seraph.compat import metric_learn
from seraph.metrics import pair_auc, precision_at_1
from tests.helpers.strategies import LONG, LONG_DISGUISES

CODES = np.array([0, 0, 1, -1, 1, -1, 0, 1])
X = np.random.default_rng(0).normal(size=(8, 2)) + 3.0 * (CODES[:, np.newaxis] == 1)


@pytest.mark.filterwarnings("ignore:A column-vector y")
@pytest.mark.parametrize("disguise", LONG_DISGUISES)
def test_long_classes_stay_apart(disguise):
    y = LONG_DISGUISES[disguise](CODES)
    labels = PairLabels.make(8, y)
    np.testing.assert_array_equal(labels.codes, CODES)
    assert (labels.n_similar, labels.n_dissimilar) == (6, 9)
    assert pair_auc(X, y) == pair_auc(X, CODES)
    assert precision_at_1(X, y) == precision_at_1(X, CODES)
    learner = SERAPH().fit(X, y)
    np.testing.assert_array_equal(learner.components_, SERAPH().fit(X, CODES).components_)


@pytest.mark.filterwarnings("ignore:A column-vector y")
@pytest.mark.parametrize("disguise", LONG_DISGUISES)
def test_a_classifier_predicts_long_classes(disguise):
    y = LONG_DISGUISES[disguise](CODES)
    model = MetricClassifier(Euclidean(), rule="nearest").fit(X, y)
    expected = MetricClassifier(Euclidean(), rule="nearest").fit(X, CODES)
    np.testing.assert_array_equal(model.classes_ == model.classes_[1], [False, True])
    np.testing.assert_array_equal(model.predict(X) == model.classes_[1], expected.predict(X) == 1)
    assert model.score(X, y) == expected.score(X, CODES) == 1.0
    assert {int(label) - int(model.classes_[0]) for label in model.classes_} == {0, 1}


@pytest.mark.parametrize("name", ["LFDA", "NCA", "LMNN", "RCA_Supervised", "LSML_Supervised"])
def test_stand_ins_learn_from_long_classes(name):
    codes = np.arange(8) % 2
    points = X + 0.5 * codes[:, np.newaxis]
    Learner = getattr(metric_learn, name)
    settings = {"RCA_Supervised": {"n_chunks": 2}, "LMNN": {"max_iter": 60}}.get(name, {})
    with np.errstate(all="ignore"):
        plain = Learner(random_state=0, **settings) if name != "LFDA" else Learner(k=1)
        long = Learner(random_state=0, **settings) if name != "LFDA" else Learner(k=1)
    plain.fit(points, codes)
    long.fit(points, pd.array(LONG + codes, dtype="Int64"))
    np.testing.assert_array_equal(long.components_, plain.components_)


@pytest.mark.parametrize("value", [2.0**53, -(2.0**60)])
def test_floats_that_may_have_been_rounded_are_named(value):
    with pytest.warns(UserWarning, match=r"float64.*2\*\*53.*may have become one"):
        PairLabels.make(4, np.array([1.0, 1.0, value, np.nan]))


# Names of rows

IDS = [LONG + k for k in range(8)]
PAIRS = np.array([[0, 1], [2, 3], [4, 7]])
ID_FORMS = {
    "list": list,
    "int64": np.array,
    "uint64": lambda ids: np.array(ids, dtype=np.uint64),
    "pandas Int64": lambda ids: pd.array(ids, dtype="Int64"),
    "pandas arrow": lambda ids: pd.Series(ids, dtype="int64[pyarrow]"),
    "pandas category": lambda ids: pd.Series(pd.Categorical(ids)),
    "polars": pl.Series,
    "pyarrow": pa.array,
    "index": pd.Index,
}
PAIR_FORMS = {
    "array": np.array,
    "list": lambda pairs: pairs,
    "objects": lambda pairs: np.array(pairs, dtype=object),
    "pandas": pd.DataFrame,
    "pandas Int64": lambda pairs: pd.DataFrame(pairs).astype("Int64"),
    "pandas of two types": lambda pairs: pd.DataFrame(pairs).astype({0: np.uint64}),
    "pandas arrow": lambda pairs: pd.DataFrame(pairs).astype("int64[pyarrow]"),
    "polars": lambda pairs: pl.DataFrame(pairs, schema=["a", "b"], orient="row"),
    "polars of two types": lambda pairs: pl.DataFrame(
        pairs, schema={"a": pl.Int64, "b": pl.UInt64}, orient="row"
    ),
    "pyarrow": lambda pairs: pa.table(pd.DataFrame(pairs, columns=["a", "b"])),
}


@pytest.mark.parametrize("pair_form", PAIR_FORMS)
@pytest.mark.parametrize("id_form", ID_FORMS)
def test_long_names_find_their_rows(id_form, pair_form):
    named = PAIR_FORMS[pair_form]([[IDS[i], IDS[j]] for i, j in PAIRS])
    names = Rows.of(ID_FORMS[id_form](IDS))
    np.testing.assert_array_equal(names.require(named), PAIRS)
    assert names.name_rows(PAIRS).tolist() == [[IDS[i], IDS[j]] for i, j in PAIRS]


def test_names_that_may_have_been_rounded_are_refused():
    named = np.array([[IDS[0], IDS[2]]])
    with pytest.raises(ValueError, match=r"pairs has the row .* a float.*2\*\*53"):
        Rows.of(IDS).numbers(named.astype(float))
    with pytest.raises(ValueError, match=r"rows has the row .* a float.*2\*\*53"):
        Rows.of(2.0 * np.array(IDS, dtype=float))
