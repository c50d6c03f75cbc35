"""What the generator has found, each as a test of its own."""

import warnings

import dask.array as da
import numpy as np
import pandas as pd
import pytest
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from seraph import (
    SERAPH,
    KernelSERAPH,
    Marks,
    MetricClassifier,
    PairClassifier,
    classic,
    load,
    query_pairs,
    save,
)
from seraph._marks import Rows
from seraph.classic import Euclidean
from seraph.compat import metric_learn
from seraph.datasets import load_task
from seraph.metrics import expected_calibration_error, map_at_r
from seraph.persist import read_versions, to_onnx
from seraph.plot import FeatureImportanceDisplay, PosteriorDisplay
from tests.hostile.dense import Dense, signs_of


@pytest.mark.parametrize("offset", [0.0, 1e3, 1e8, 1e11])
def test_points_far_from_the_origin_lose_no_digit(rng, offset):
    # Of numbers that are exact with and without the offset.
    X = offset + rng.integers(-500, 500, size=(20, 3)) / 2.0**6
    y = np.where(np.arange(20) < 10, np.arange(20) % 2, -1)
    learner = SERAPH(shrinkage=0).fit(X, y)
    dense = Dense(
        X - offset, learner.components_, signs_of(y), eta=1.0, mu=learner.mu_, lam=learner.lam_
    )
    assert learner.objective_ == pytest.approx(dense.value, rel=1e-12)
    near = SERAPH().fit(X - offset, y)
    assert learner.objective_ == pytest.approx(near.objective_, rel=1e-9)


def huge_metric():
    learner = classic.Covariance().fit(np.random.default_rng(0).normal(size=(20, 2)))
    learner.components_ = 1e200 * np.eye(2)
    return learner


PATHS = (None, 3, True, [], b"m.skops", "a\0b", np.datetime64("NaT", "D"))
EQUAL = [0, 0, 1, 1]
# What is refused, with which words, and the values that it is refused for.
REFUSED = {
    "load": (load, "path must be the name of a file", PATHS),
    "versions": (read_versions, "path must be the name of a file", PATHS),
    "save": (lambda path: save(SERAPH(), path), "path must be the name of a file", PATHS),
    "checkpoint": (
        lambda path: SERAPH(checkpoint=path).fit(np.eye(4), [0, 0, 1, -1]),
        "checkpoint must be the path of a file",
        PATHS[1:],
    ),
    "dtype of a graph": (
        lambda dtype: to_onnx(Euclidean().fit(np.eye(3)), np.eye(3), dtype=dtype),
        "dtype must be float32 or float64; got",
        (10**400, "word", {"a": 1}, [], "int8"),
    ),
    "version of a graph": (
        lambda opset: to_onnx(Euclidean().fit(np.eye(3)), np.eye(3), target_opset=opset),
        "target_opset must be a whole number or None; got",
        (1.5, "word", {"a": 1}, [], "int8"),
    ),
    "task": (load_task, "There is no task", (np.array([1.0, 2.0]), [], {}, 3, None)),
    "probabilities": (
        lambda p: expected_calibration_error([1, -1], p),
        "probabilities must hold one number from 0 to 1",
        (len, None, [[0.5]], [0.5, 2.0], ["a"], 10**400),
    ),
    "device": (
        lambda name: SERAPH(backend=name).fit(np.eye(4), EQUAL),
        "backend must be one of",
        (10**400, 10**5000),
    ),
    "rows to score": (
        lambda X: PairClassifier(Euclidean(), cv=2).fit(np.eye(8), [0] * 4 + [1] * 4).score(X),
        r"X must be a table of points",
        (None,),
    ),
    "unfitted pipeline": (
        lambda X: PosteriorDisplay.from_estimator(make_pipeline(StandardScaler(), SERAPH()), X),
        "not fitted",
        (np.eye(3),),
    ),
    "huge metric": (
        lambda learner: learner.get_mahalanobis_matrix(),
        r"as large as 1e\+200, .* no room for their squares",
        (huge_metric(),),
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_makes_no_sense_is_refused_in_words(what):
    act, words, values = REFUSED[what]
    for value in values:
        with pytest.raises((ValueError, TypeError), match=words):
            act(value)


def test_a_whole_number_beyond_all_floats_is_refused_in_words():
    X, y = [[1.0, 10**400], [2.0, 3.0], [0.0, 1.0]], [0, 0, 1]
    learner = Euclidean().fit(np.eye(2))
    model = SERAPH(mu=0.0).fit(np.eye(3)[:, :2], y)
    for act in (
        lambda: SERAPH().fit(X, y),
        lambda: Euclidean().fit(X),
        lambda: learner.transform(X),
        lambda: learner.pair_distance([X[:2]]),
        lambda: query_pairs(model, X, 1),
        lambda: map_at_r(X, y),
        lambda: PosteriorDisplay.from_estimator(model, X),
    ):
        with pytest.raises(ValueError, match="holds a whole number beyond the range"):
            act()


def test_a_mask_is_no_list_of_pairs_of_a_frame():
    frame = pd.DataFrame(np.arange(8.0).reshape(4, 2))
    mask = [[True, False], [False, True]]
    with pytest.raises(ValueError, match=r"pairs\[0\] names row True"):
        SERAPH().fit(frame, marks=Marks(mask, [1, -1], rows=frame))
    flags = pd.DataFrame([[0.0], [1.0]], index=[True, False])
    assert Rows.of(flags).numbers(mask).tolist() == [[0, 1], [1, 0]]


def test_a_gap_above_tol_is_never_called_converged():
    # However close it is, and whatever part of it is rounding: a huge mu makes it large.
    X = np.repeat(np.arange(13.0), 3)[:, np.newaxis] + 1e-9 * np.arange(39.0)[:, np.newaxis]
    for lam in (0.1, 0.3, 1.0):
        learner = SERAPH(mu=1e12, lam=lam, max_iter=100)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            learner.fit(X, marks=Marks([[0, 1], [3, 9], [4, 30]], [1, -1, -1], rows=X))
        assert learner.converged_ == (learner.optimality_gap_ <= learner.tol)


def test_a_metric_refuses_what_is_no_point():
    X, y = np.random.default_rng(0).normal(size=(12, 3)), np.arange(12) % 2
    learners = (
        Euclidean().fit(X),
        KernelSERAPH(SERAPH(mu=0.0)).fit(X, y),
    )
    for metric in (learner.get_metric() for learner in learners):
        assert metric([1, 2, 3], X[0]) > 0.0
        for u in (X[0, :2], "word", None, [np.nan] * 3, [1j] * 3, X, 2.5, {}, [10**400] * 3):
            with pytest.raises(ValueError, match="u and v must be points, 3 finite numbers each"):
                metric(u, X[0])


NO_NUMBERS = {
    "a word": [[1.0, "3?"], [0.0, 1.0], [2.0, 2.0]],
    "a list in a cell": np.array([[1.0, [2.0, 3.0]], [0.0, 1.0], [2.0, 2.0]], dtype=object),
    "a dictionary": [[{}, 1.0], [0.0, 1.0], [2.0, 2.0]],
    "complex numbers": np.eye(3)[:, :2] + 1j,
}


@pytest.mark.parametrize("kind", NO_NUMBERS)
def test_what_a_step_of_a_pipeline_refuses_is_told_in_words(kind):
    X, good, y = NO_NUMBERS[kind], np.eye(3)[:, :2], [0, 0, 1]
    model = make_pipeline(StandardScaler(), SERAPH(mu=0.0)).fit(good, y)
    decider = PairClassifier(model, cv="prefit").fit(np.eye(6)[:, :2], [0, 0, 0, 1, 1, 1])
    for act in (
        lambda: MetricClassifier(model).fit(X, y),
        lambda: PairClassifier(model).fit(X, y),
        lambda: decider.pair_distance([[0, 1]], X),
        lambda: decider.predict_proba([X[:2]]),
        lambda: query_pairs(model, X, 1),
        lambda: PosteriorDisplay.from_estimator(model, X),
        lambda: FeatureImportanceDisplay.from_estimator(model, X),
    ):
        words = r"StandardScaler cannot prepare X: .*Correct X, or|(X|pairs) must be a table of "
        with pytest.raises((ValueError, TypeError), match=words) as caught:
            act()
        assert len(str(caught.value)) < 500


@pytest.mark.parametrize("seed", [4, 42, 143])
def test_a_slope_that_all_but_vanishes_is_an_end_and_no_nan(seed):
    # So far apart each point has one neighbor, and the square of the slope is no number any more.
    gen = np.random.default_rng(seed)
    X = gen.normal(size=(9, 4)) * [1e-9, 1e-5, 0.1, 500.0] * gen.choice([0.1, 1.0, 3.0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        learner = classic.MLKR(init="identity").fit(X, [5, -1, 0, -1, -1, -1, 7, -1, -1])
    assert np.all(np.isfinite(learner.components_))


@pytest.mark.parametrize("seed", range(3))
def test_rounds_that_only_rounding_moves_end_the_search(seed):
    # With a huge mu all that labels say is below the last digit of the objective.
    gen = np.random.default_rng(seed)
    X = gen.normal(size=(22, 12))
    X[0] *= 30.0
    y = np.where(np.arange(22) < 13, np.arange(22) % 2, -1)
    learner = SERAPH(mu=1e12, unlabeled_pairs=1, random_state=seed, max_iter=400)
    with pytest.warns(ConvergenceWarning, match=r"rounding errors hide .* or lower mu=1e\+12"):
        learner.fit(X, y)  # the zero metric, but lam is not to blame
    assert learner.n_iter_ < 100


ODD = {
    "number": np.float64(-7.0),
    "text": np.str_("word"),
    "int8": np.int8(-3),
    "more digits than Python prints": 10**5000,
    "long": np.arange(9999.0),
}


@pytest.mark.parametrize("kind", ODD)
def test_a_message_shows_a_value_in_few_words(kind):
    value = ODD[kind]
    X, y = np.eye(4), [0, 0, 1, 1]
    for act in (
        lambda: SERAPH(lam=value).fit(X, y),
        lambda: SERAPH(tol=value).fit(X, y),
        lambda: SERAPH().fit(X, marks=Marks([[0, 1]], [1], weights=[value], rows=X)),
        lambda: SERAPH().fit(X, marks=Marks([[0, 1]], [value], rows=X)),
        lambda: load_task(value),
    ):
        with pytest.raises(ValueError, match=r".{20}") as caught:
            act()
        assert "np." not in str(caught.value)
        assert len(str(caught.value)) < 500


TYPES = np.array([0, (), "a"], dtype=object)
FOUR = [[[0.0, 0.0], [0.0, 3.0], [0.0, 0.0], [1.0, 0.0]]]
ROWS = np.array([[0, 1, 2, 3], [1, 2, 3, 4], [2, 3, 4, 5]])
STAND_INS = {
    "LSML, equal points": (metric_learn.LSML(), np.ones((2, 4, 2)), None, "points .* coincide"),
    "LSML, weights": (
        metric_learn.LSML_Supervised(weights="distance"), np.eye(4), [0, 0, 1, 1], "weights must",
    ),
    "NCA, no labels": (metric_learn.NCA(), np.eye(3), [0, None, "a"], "y contains NaN, None or"),
    "NCA, masked labels": (
        metric_learn.NCA(), np.eye(3), np.ma.array([0, 0, 1], mask=[0, 1, 0]), "masked entries, 1",
    ),
    "NCA, no time": (
        metric_learn.NCA(), np.eye(3), np.array(["2020", "NaT", "2021"], dtype="M8[Y]"), "1 times",
    ),
    "NCA, masked points": (
        metric_learn.NCA(), np.ma.array(np.eye(3), mask=np.eye(3)), [0, 0, 1], "3 masked entries",
    ),
    "ITML, masked pairs": (
        metric_learn.ITML(),
        np.ma.array(np.ones((2, 2, 2)), mask=np.arange(8).reshape(2, 2, 2) == 1),
        [1, -1],
        "1 masked entries",
    ),
    "NCA, lists as labels": (metric_learn.NCA(), np.eye(3), [0, ("b",), "a"], "one label for"),
    "NCA, labels of several types": (metric_learn.NCA(), np.eye(3), TYPES, "of one type"),
    "NCA, equal points": (metric_learn.NCA(init="lda"), np.ones((4, 2)), [0, 0, 1, 1], "differ"),
    "ITML, no signs": (metric_learn.ITML(), np.zeros((3, 2, 2)), None, "y must be passed"),
    "NCA, seed": (metric_learn.NCA(random_state=-1), np.eye(3), [0, 0, 1], "random_state must be"),
    "LFDA, k": (metric_learn.LFDA(k={}), np.eye(3), [0, 0, 1], "k must be a finite whole number"),
    "RCA, chunk": (
        metric_learn.RCA_Supervised(chunk_size=0), np.eye(4), [0, 0, 1, 1], "chunk_size must be a",
    ),
    "MLKR, words": (metric_learn.MLKR(), np.eye(2), ["a", "b"], "y must hold numbers, the"),
    "LSML, tol": (metric_learn.LSML(tol={}), FOUR, None, "tol must be"),
    "LSML, negative tol": (metric_learn.LSML(tol=-1), FOUR, None, "tol must be"),
    "LSML, max_iter": (metric_learn.LSML(max_iter="many"), FOUR, None, "max_iter must be"),
    "LSML, no covariance": (
        metric_learn.LSML(prior="covariance", preprocessor=np.ones((6, 2))), ROWS, None,
        "All points are equal",
    ),
    "LSML, huge covariance": (
        metric_learn.LSML(prior="covariance", preprocessor=1e200 * np.eye(6)[:, :2]), ROWS, None,
        "beyond the range",
    ),
    **{
        f"SDML, {name}": (
            metric_learn.SDML_Supervised(**{name: -1e-3}), np.eye(4), [0, 0, 1, 1],
            f"{name} must be a finite number of at least 0",
        )
        for name in ("balance_param", "sparsity_param")
    },
}  # fmt: skip


@pytest.mark.parametrize("case", STAND_INS)
def test_stand_ins_refuse_in_words(case):
    learner, X, y, words = STAND_INS[case]
    with pytest.raises(ValueError, match=words):
        learner.fit(X) if y is None and "LSML" in case else learner.fit(X, y)


def test_marks_that_the_learner_of_a_pipeline_does_not_take_are_refused_in_words():
    X, y = np.eye(6), [0, 0, 0, 1, 1, 1]
    triplets = Marks([[0, 1]], [1], triplets=[[0, 1, 3]], rows=X)
    for learner in (Euclidean(), classic.GMML()):
        pipeline = make_pipeline(StandardScaler(), learner)
        for model in (
            MetricClassifier(learner),
            MetricClassifier(pipeline),
            PairClassifier(pipeline),
        ):
            with pytest.raises(ValueError, match="does not learn from triplets, and marks has 1"):
                model.fit(X, y, marks=triplets)
    for model in (MetricClassifier(PCA()), PairClassifier(PCA())):
        with pytest.raises(ValueError, match="PCA does not learn from marks: leave marks out"):
            model.fit(X, y, marks=triplets)


def test_weights_that_a_learner_does_not_use_are_said_to_be_ignored():
    X = np.random.default_rng(0).normal(size=(6, 2))
    marks = Marks([[0, 1], [2, 3]], [1, -1], weights=[2.0, 1.0], rows=X)
    with pytest.warns(UserWarning, match="GMML does not use the weights of marks"):
        classic.GMML().fit(X, marks=marks)


def test_a_scale_at_the_end_of_its_range_says_so():
    X, y = 1e8 * np.random.default_rng(0).normal(size=(22, 17)), np.r_[[-1] * 15, np.arange(7)]
    X[0] *= 1e8
    with (
        pytest.warns(UserWarning, match="All 21 labeled pairs are dissimilar"),
        pytest.warns(ConvergenceWarning, match=r"kappa=.* end of the range.* Scale the features"),
    ):
        SERAPH(gamma=0.001, lam=1.0, shrinkage=0).fit(X, y)


def test_a_zero_metric_is_not_blamed_on_lam_before_the_fit_has_converged():
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(25, 5)), np.r_[np.arange(7), np.full(18, -1)]
    X[0] *= 1e6
    with warnings.catch_warnings(record=True) as notes:
        warnings.simplefilter("always")
        SERAPH(eta=0, max_iter=1).fit(X, y)
    words = " ".join(str(note.message) for note in notes)
    assert "has not converged" in words
    assert "Lower lam" not in words


# A third attack


@pytest.mark.parametrize("solver", ["low-rank", "spg", "projected-gradient"])
@pytest.mark.parametrize("value", [0.0, 0.1, 1.0])
@pytest.mark.parametrize("n", [3, 12])
def test_equal_points_have_a_zero_metric_and_a_warning(n, value, solver):
    X, y = np.full((n, 4), value), np.arange(n) % 2
    with pytest.warns(UserWarning, match="or all points are equal"):
        learner = SERAPH(shrinkage=0, solver=solver).fit(X, y)
    assert learner.components_.shape == (0, 4)


@pytest.mark.parametrize("parameters", [{"solver": "em"}, {"warm_start": True}], ids=str)
def test_equal_points_have_no_other_start(parameters, rng):
    y = np.arange(12) % 2
    learner = SERAPH(shrinkage=0, **parameters).fit(rng.normal(size=(12, 4)) + y[:, None], y)
    assert len(learner.components_)
    with pytest.warns(UserWarning, match="or all points are equal"):
        learner.fit(np.ones((12, 4)), y)
    assert learner.components_.shape == (0, 4)


@pytest.mark.parametrize("value", [0.1, 1.0])
def test_equal_points_in_chunks_have_a_zero_metric_too(value):
    X, y = da.full((30, 3), value, chunks=(7, 3)), np.arange(30) % 2
    with pytest.warns(UserWarning, match="or all points are equal"):
        learner = SERAPH(shrinkage=0).fit(X, y)
    assert learner.components_.shape == (0, 3)


@pytest.mark.parametrize("scale", [1e-33, 1e-20, 1e-10, 1.0, 1e20, 1e33])
def test_a_metric_beyond_single_precision_has_a_matrix_in_double(scale):
    X = (scale * np.random.default_rng(0).normal(size=(30, 4))).astype(np.float32)
    with pytest.warns(UserWarning, match="All 1 labeled pairs are dissimilar"):
        learner = SERAPH().fit(X, marks=Marks([[0, 1]], [-1], rows=X))
    A, P = learner.get_mahalanobis_matrix(), learner.components_.astype(np.float64)
    assert learner.components_.dtype == np.float32
    np.testing.assert_allclose(A, P.T @ P, rtol=1e-3, atol=1e-5 * np.abs(P).max() ** 2)
    assert A.dtype == (np.float32 if 1e-15 < scale < 1e15 else np.float64)


@pytest.mark.parametrize("name", classic.__all__)
@pytest.mark.parametrize("scale", [1e-300, 1e-170, 1e-155, 1e155, 1e170, 1e300])
def test_points_out_of_range_are_called_so(name, scale, rng):
    X, y = scale * rng.normal(size=(20, 3)), np.arange(20) % 2
    with pytest.raises(ValueError, match=r"typical distance between two points is .*e[+-]"):
        getattr(classic, name)().fit(X, y)


@pytest.mark.parametrize("scale", [1e-320, 1e-170, 1.0, 1e170, 1e300])
def test_distances_neither_overflow_nor_vanish(scale, rng):
    X = rng.integers(-9, 9, size=(10, 3)).astype(float)
    learner = Euclidean().fit(X)
    pairs = np.stack([X, X[::-1]], axis=1)
    expected = scale * learner.pair_distance(pairs)
    np.testing.assert_allclose(learner.pair_distance(scale * pairs), expected, rtol=1e-2)


@pytest.mark.parametrize("t", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("ridge", [1e100, 1e200, 1e300])
def test_the_largest_ridge_gives_a_multiple_of_the_euclidean_metric(t, ridge, rng):
    X, y = rng.normal(size=(20, 3)), np.arange(20) % 2
    A = classic.GMML(t=t, ridge=ridge).fit(X, y).get_mahalanobis_matrix()
    np.testing.assert_allclose(A / A[0, 0], np.eye(3), atol=1e-9)


def test_a_weight_that_overflows_is_refused_without_a_warning_of_numpy(wine):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match="left the range of floating-point numbers"):
            SERAPH(mu=1e308, gamma=40).fit(*wine[:2])
