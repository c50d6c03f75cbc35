"""What users of metric-learn write, with one import changed: names, keywords, subclasses."""

import inspect
import pickle
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.neighbors import KNeighborsClassifier

from seraph.compat import metric_learn
from seraph.compat.metric_learn import (
    LMNN,
    MMC,
    NCA,
    RCA,
    Constraints,
    ITML_Supervised,
    LSML_Supervised,
    MMC_Supervised,
    RCA_Supervised,
    SDML_Supervised,
)
from seraph.compat.metric_learn.base_metric import (
    ArrayIndexer,
    MahalanobisMixin,
    _PairsClassifierMixin,
    validate_vector,
)
from seraph.compat.metric_learn.constraints import wrap_pairs

X, Y = load_iris(return_X_y=True)


def test_a_table_and_sampled_pairs_have_their_helpers():
    assert_array_equal(ArrayIndexer(X.tolist())([3, 5]), X[[3, 5]])
    sampled = Constraints(Y).positive_negative_pairs(10, random_state=0)
    pairs, signs = wrap_pairs(X, sampled)
    assert_array_equal(pairs[:10, 0], X[sampled[0]])
    assert_array_equal(pairs[10:, 1], X[sampled[3]])
    assert_array_equal(signs, np.repeat([1, -1], 10))
    rows, _ = wrap_pairs(np.arange(150), sampled)
    assert_array_equal(rows[:10], np.column_stack(sampled[:2]))


def test_a_vector_is_checked_like_scipys():
    assert_array_equal(validate_vector([[1], [2]]), [1, 2])
    assert validate_vector(3, dtype=float).dtype == float
    with pytest.raises(ValueError, match="one dimension"):
        validate_vector(np.eye(2))


# Old names of keywords


@pytest.mark.parametrize(
    ("learner", "old", "new"),
    [
        (LMNN, "k", "n_neighbors"),
        (RCA_Supervised, "num_chunks", "n_chunks"),
        (ITML_Supervised, "num_constraints", "n_constraints"),
        (LSML_Supervised, "num_constraints", "n_constraints"),
        (MMC_Supervised, "num_constraints", "n_constraints"),
        (SDML_Supervised, "num_constraints", "n_constraints"),
        (metric_learn.ITML, "convergence_threshold", "tol"),
        (ITML_Supervised, "convergence_threshold", "tol"),
        (MMC, "convergence_threshold", "tol"),
        (MMC_Supervised, "convergence_threshold", "tol"),
    ],
)
def test_old_keywords_are_taken_with_a_warning(learner, old, new):
    with pytest.warns(FutureWarning, match=f"{old} has been renamed: pass {new}=7 instead") as w:
        made = learner(**{old: 7})
    assert w[0].filename == __file__
    assert getattr(made, new) == 7
    assert made.get_params()[old] == "deprecated"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert clone(pickle.loads(pickle.dumps(made))).get_params() == made.get_params()


def test_old_keywords_of_constraints_are_taken_with_a_warning():
    constraints = Constraints(Y)
    with pytest.warns(FutureWarning, match="n_constraints=7"):
        a, *_ = constraints.positive_negative_pairs(num_constraints=7, random_state=0)
    assert len(a) == 7
    with pytest.warns(FutureWarning, match="n_chunks=7"):
        assert constraints.chunks(num_chunks=7, random_state=0).max() == 6


# Learners of one's own


class Whitening(MahalanobisMixin):
    def fit(self, X, y=None, **checks):
        found = self._prepare_inputs(X, y, **checks)
        self.points_ = found if y is None else found[0]
        self.components_ = np.eye(X.shape[1])
        return self


def test_a_learner_of_ones_own_says_how_its_input_is_checked():
    assert Whitening().fit(X.astype(int), Y, dtype=float).points_.dtype == float
    assert Whitening().fit(X.astype(np.float32)).points_.dtype == np.float32
    assert Whitening().fit(X[:1], ensure_min_samples=1).points_.shape == (1, 4)
    with pytest.raises(ValueError, match="minimum of 3 is required"):
        Whitening().fit(X[:2], Y[:2], ensure_min_samples=3)
    gap = np.where(np.arange(4) == 1, np.nan, X)
    assert np.isnan(Whitening().fit(gap, force_all_finite=False).points_).any()
    with pytest.raises(ValueError, match="NaN"):
        Whitening().fit(gap)


def test_tuples_of_a_learner_of_ones_own_are_checked_as_asked():
    pairs = X[:8].reshape(4, 2, 4).astype(int)
    learner = Whitening()
    learner._tuple_size = 2
    found = learner._prepare_inputs(pairs, type_of_inputs="tuples", dtype=np.float32)
    assert found.dtype == np.float32
    with pytest.raises(ValueError, match="minimum of 5 is required"):
        learner._prepare_inputs(pairs, type_of_inputs="tuples", ensure_min_samples=5)
    with pytest.raises(ValueError, match="type_of_inputs must be"):
        learner._prepare_inputs(pairs, type_of_inputs="triples")


class Nearest(_PairsClassifierMixin, MahalanobisMixin):
    def fit(self, pairs, y):
        pairs, y = self._prepare_inputs(pairs, y, type_of_inputs="tuples")
        self.components_ = np.eye(pairs.shape[2])
        return self.calibrate_threshold(pairs, y)


def test_the_bases_serve_a_learner_of_pairs_of_ones_own():
    sampled = Constraints(Y).positive_negative_pairs(40, random_state=0)
    rows, signs = wrap_pairs(np.arange(150), sampled)
    learner = Nearest(preprocessor=X).fit(rows, signs)
    assert_array_equal(learner.predict(rows), Nearest().fit(X[rows], signs).predict(X[rows]))
    assert learner.score(rows, signs) > 0.8


# Data that metric-learn takes


def test_nca_takes_one_class_and_classes_of_one_point():
    first = NCA().fit(X[:50], np.zeros(50))
    assert_allclose(first.components_, np.eye(4))
    alone = NCA().fit(X[:20], np.arange(20))
    assert_allclose(alone.components_, np.eye(4))
    mixed = NCA().fit(X[:60], np.where(np.arange(60) == 3, 7, Y[:60]))
    assert np.isfinite(mixed.components_).all()


def test_rows_in_no_chunk_have_no_say():
    chunks = np.full(150, -1)
    chunks[:40], chunks[60:100] = np.arange(40) // 2, 20 + np.arange(40) // 2
    rows = chunks >= 0
    for n_components in (None, 2):
        every = RCA(n_components=n_components).fit(X, chunks)
        some = RCA(n_components=n_components).fit(X[rows], chunks[rows])
        assert_allclose(every.components_, some.components_)
    with pytest.raises(ValueError, match="All chunks are -1"):
        RCA().fit(X, np.full(150, -1))


# Kinds of scripts


def test_a_fitted_metric_goes_into_scikit_learn():
    learner = metric_learn.Covariance().fit(X)
    by_metric = KNeighborsClassifier(1, metric=learner.get_metric(), algorithm="brute")
    by_map = KNeighborsClassifier(1, algorithm="brute")
    by_map.fit(learner.transform(X[::2]), Y[::2])
    assert_array_equal(
        by_metric.fit(X[::2], Y[::2]).predict(X[1::10]),
        by_map.predict(learner.transform(X[1::10])),
    )


# Where it differs from metric-learn, as docs/results/stand_in.md says


@pytest.mark.parametrize(
    "name", ["LFDA", "LMNN", "MLKR", "NCA", *(n for n in metric_learn.__all__ if "_Sup" in n)]
)
def test_a_bad_number_is_a_value_error_whatever_metric_learn_raises(name):
    learner = getattr(metric_learn, name)
    few = {"n_chunks": 10} if name == "RCA_Supervised" else {}
    for parameter in ("gamma", "max_iter", "tol", "n_components", "n_constraints", "n_chunks"):
        if parameter in inspect.signature(learner).parameters:
            with pytest.raises(ValueError, match=parameter):
                learner(**few | {parameter: "many"}).fit(X, Y)


@pytest.mark.parametrize("name", ["ITML", "LSML", "MMC", "SCML", "SDML"])
def test_classes_are_needed_where_tuples_are_sampled(name):
    with pytest.raises(ValueError, match="requires y to be passed"):
        getattr(metric_learn, f"{name}_Supervised")().fit(X, None)


def test_columns_in_another_order_are_refused():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(X, columns=["a", "b", "c", "d"])
    learner = metric_learn.NCA(max_iter=2).fit(table, Y)
    with pytest.raises(ValueError, match="order"):
        learner.transform(table[["b", "a", "c", "d"]])


def test_classes_that_are_fractions_are_refused():
    for learner in (NCA(), LMNN(), metric_learn.LFDA(), RCA_Supervised(n_chunks=10)):
        with pytest.raises(ValueError, match="Unknown label type"):
            learner.fit(X, Y + 0.5)


def test_cases_that_metric_learn_refuses_have_a_metric():
    one_class = LMNN(max_iter=5).fit(X[:50], np.zeros(50))
    one_triplet = metric_learn.SCML(n_basis=2).fit(X[None, [0, 1, 100]])
    text = metric_learn.ITML().fit(X[[[0, 1], [0, 100]]].astype(str), [1, -1])
    for learner in (one_class, one_triplet, text):
        assert np.isfinite(learner.components_).all()
