"""Bad input gets a ValueError that helps, doubtful input a warning, odd input just works."""

import warnings

import joblib
import numpy as np
import pandas as pd
import pytest
import torch
from scipy import sparse
from sklearn.base import clone
from sklearn.decomposition import TruncatedSVD
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline

from seraph import SERAPH, SERAPHCV, KernelSERAPH, Marks, MetricClassifier, classic
from tests.helpers.quick import few

X = np.random.default_rng(0).normal(size=(12, 3))
Y = np.array([0, 0, 1, 1, 2, 2] + [-1] * 6)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_components": 4}, "n_components=4 .*3 features"),
        ({"n_components": 2, "solver": "spg"}, "n_components=2 caps the rank.*low-rank"),
    ],
    ids=str,
)
def test_parameters_that_do_not_go_together_or_with_the_data_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        SERAPH(**parameters).fit(X, Y)


@pytest.mark.parametrize(
    ("points", "labels", "message"),
    [
        (X[:1], Y[:1], "minimum of 2 is required"),
        (X, None, "nothing to learn from"),
        (X, np.full(12, -1), r"No \w+ pair"),
    ],
)
def test_bad_data(points, labels, message):
    with pytest.raises(ValueError, match=message):
        SERAPH().fit(points, labels)


@pytest.mark.parametrize(
    "learner", [SERAPH(), KernelSERAPH(), classic.LMNN(), MetricClassifier(SERAPH())]
)
def test_masked_points_are_refused(learner):
    learner = clone(learner)
    masked = np.ma.array(X, mask=X > 1.0)
    assert masked.mask.any()
    with pytest.raises(ValueError, match=r"masked entries.*Fill"):
        learner.fit(masked, Y)
    learner.fit(np.ma.array(X), Y)  # nothing is masked
    use = learner.transform if hasattr(learner, "transform") else learner.predict
    np.testing.assert_array_equal(use(np.ma.array(X)), use(X))
    with pytest.raises(ValueError, match=r"masked entries.*Fill"):
        use(masked)
    if hasattr(learner, "pair_distance"):
        with pytest.raises(ValueError, match=r"masked entries.*Fill"):
            learner.pair_distance(masked.reshape(6, 2, 3))


@pytest.mark.parametrize(
    "bad",
    [
        torch.full((2, 3), torch.nan),
        torch.full((2, 3), torch.inf),
        torch.ones(2, 3, dtype=torch.complex64),
        torch.ones(2, 3, 1),
    ],
    ids=["nan", "inf", "complex", "3 dimensions"],
)
@pytest.mark.parametrize("learner", [SERAPH(max_iter=5), KernelSERAPH(SERAPH(max_iter=5))])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_tensors_are_checked_like_arrays(learner, bad):
    learner = clone(learner).fit(X, Y)
    with pytest.raises(ValueError, match=r"(?i)nan|infinity|complex|dim"):
        learner.transform(bad)


@pytest.mark.parametrize("backend", few(["numpy", "torch"], "numpy".__eq__))
@pytest.mark.parametrize("solver", ["low-rank", "spg", "projected-gradient"])
@pytest.mark.parametrize("name", ["eta", "mu", "lam", "manifold"])
@pytest.mark.filterwarnings("ignore")
def test_a_huge_weight_gives_a_sound_metric_or_is_refused(name, solver, backend):
    for weight in (1e30, 1e200, 1.7e308):
        learner = SERAPH(solver=solver, backend=backend, max_iter=9, **{name: weight})
        try:
            learner.fit(1e3 * X, Y)
        except ValueError as error:
            assert "is too large" in str(error)  # noqa: PT017
        else:
            assert np.all(np.isfinite(learner.components_))
            assert np.isfinite(learner.objective_)


@pytest.mark.parametrize("name", ["lam_factors", "mu_factors"])
def test_factors_that_can_be_read_only_once_are_refused(name):
    with pytest.raises(ValueError, match=f"{name} must be a sequence of numbers; got <gen"):
        SERAPHCV(**{name: (factor for factor in (0.5, 1.0))}).fit(X, Y)


@pytest.mark.parametrize("kind", [int, np.uint64, float, str, bool])
def test_masked_labels_have_no_vote(kind):
    known = Y >= 0
    y = np.ma.array(np.where(known, Y, 0).astype(kind), mask=~known)
    model = MetricClassifier(SERAPH(), rule="nearest").fit(X, y)
    assert len(model.codes_) == 6
    np.testing.assert_array_equal(model.predict(X[:6]), y.data[:6])
    assert model.score(X, y) == 1.0


def test_all_alike_warns_of_a_collapse():
    unknown = "rank 0.*Check whether a class means unknown"
    with pytest.warns(UserWarning, match=unknown), pytest.warns(match="similar.*collapse"):
        learner = SERAPH(shrinkage=0).fit(X, np.where(Y >= 0, 0, -1))
    assert learner.components_.shape == (0, 3)
    assert learner.transform(X).shape == (12, 0)
    np.testing.assert_array_equal(learner.pair_distance(X[None, :2]), [0.0])
    np.testing.assert_array_equal(learner.get_mahalanobis_matrix(), np.zeros((3, 3)))


def test_all_different_warns_of_a_divergence():
    with pytest.warns(UserWarning, match="pairs are dissimilar.*diverge"):
        SERAPH().fit(X, np.where(Y >= 0, np.arange(12), -1))


@pytest.mark.parametrize(
    ("weights", "advice"),
    [
        ({"lam": 1e4}, "Either lam is .*Lower lam, add dissimilar"),
        ({"lam": 1e4, "manifold": 0.1}, "Either lam or manifold is .*Lower lam or manifold, add"),
    ],
    ids=str,
)
def test_a_large_weight_gives_rank_zero_and_is_blamed(weights, advice):
    with pytest.warns(UserWarning, match=f"rank 0.*{advice}"):
        learner = SERAPH(**weights, shrinkage=0).fit(X, Y)
    assert learner.components_.shape == (0, 3)
    assert learner.converged_


@pytest.mark.parametrize("solver", ["auto", "low-rank", "spg"])
def test_lam_zero_with_a_converging_solver_warns_once(solver):
    with pytest.warns(ConvergenceWarning, match="With lam=0 the objective may have no") as record:
        SERAPH(lam=0, solver=solver, max_iter=30).fit(X, Y)
    assert len(record) == 1


@pytest.mark.parametrize("solver", ["low-rank", "spg", "projected-gradient"])
def test_stopping_early_warns(solver):
    with pytest.warns(ConvergenceWarning, match="has not converged.*Raise max_iter"):
        learner = SERAPH(lam=1.0, solver=solver, max_iter=2, tol=1e-9).fit(X, Y)
    assert not learner.converged_
    assert learner.n_iter_ == 2


def test_em_that_stops_early_warns():
    with pytest.warns(ConvergenceWarning, match="Raise max_iter, or tol"):
        SERAPH(solver="em", max_iter=1).fit(X, Y)


def test_features_of_very_different_scales_give_a_warning():
    wide = X / X.std(axis=0) * [1.0, 2.0, 25.0]
    said = r"range from 1 \(column 0\) to 25 \(column 2\).*Scale the features"
    with pytest.warns(UserWarning, match=said):
        SERAPH().fit(wide, Y)
    table = pd.DataFrame(wide, columns=["length", "depth", "mass"])
    with pytest.warns(UserWarning, match=r"from 1 \('length'\) to 25 \('mass'\)"):
        SERAPH().fit(table, Y)


def test_a_few_features_that_hardly_vary_give_no_warning():
    pixels = np.hstack([X / X.std(axis=0)] * 2)
    pixels[:, 0] /= 500.0
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        SERAPH().fit(pixels, Y)


CASES = {
    "duplicated points": (np.repeat(X[:6], 2, axis=0), np.repeat([0, 1, 2, -1, -1, -1], 2)),
    "a constant feature": (np.c_[X, np.full(12, 3.0)], Y),
    "more features than points": (np.random.default_rng(1).normal(size=(12, 40)), Y),
    "one feature": (X[:, :1] + 5.0 * np.maximum(Y, 0)[:, None], Y),
    "huge numbers": (X * 1e150, Y),
    "tiny numbers": (X * 1e-150, Y),
    "far from the origin": (X + 1e6, Y),
    "whole numbers": (np.round(X * 10).astype(int), Y),
    "everything labeled": (X, np.arange(12) % 3),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize(
    "setting",
    few([{}, {"solver": "em"}, {"solver": "spg"}], {}.__eq__),
    ids=str,
)
def test_odd_data_just_works(case, setting):
    points, labels = CASES[case]
    learner = SERAPH(**setting).fit(points, labels)
    assert np.all(np.isfinite(learner.components_))
    assert np.all(np.isfinite(learner.transform(points)))
    assert np.isfinite(learner.objective_)


@pytest.mark.parametrize("similar", [True, False])
def test_two_points_are_enough(similar):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        learner = SERAPH(shrinkage=0).fit(X[:2], marks=Marks([[0, 1]], [similar], rows=2))
    assert any("pairs are" in str(w.message) for w in caught)
    proba = learner.pair_proba(X[None, :2])[0]
    assert (proba > 0.5) == similar


def test_a_metric_that_shrinks_to_nothing_is_zero_and_not_a_division_by_zero():
    points = [[0, 1], [0, -1], [1, 0], [-1, 1], [0, 0], [0, 1], [-1, 0]]
    with pytest.warns(match="rank 0"), pytest.warns(match="similar.*collapse"):
        learner = SERAPH(eta=1e6, shrinkage=0).fit(points, [-1, 0, 0, -1, 0, -1, -1])
    assert learner.components_.shape == (0, 2)


# Where the points are: chosen once, from what the user passed

POINTS = np.random.default_rng(2).normal(size=(30, 3)) + 2.0 * np.eye(3)[np.arange(30) % 3]
LABELS = np.where(np.arange(30) < 24, np.arange(30) % 3, -1)
LEARNERS = {
    "SERAPH": SERAPH(),
    "SERAPHCV": SERAPHCV(lam_factors=(0.5, 1.0), cv=2),
    "KernelSERAPH": KernelSERAPH(),
}
TENSORS = {
    "float64": torch.tensor(POINTS),
    "float32": torch.tensor(POINTS, dtype=torch.float32),
    "whole numbers": torch.tensor(np.round(5 * POINTS), dtype=torch.int64),
    "with a gradient": torch.tensor(POINTS, requires_grad=True),
}
TORCH = pytest.mark.parametrize("kind", TENSORS)
EACH = pytest.mark.parametrize("name", LEARNERS)


@EACH
def test_a_fit_says_where_it_was_computed(name):
    learner = clone(LEARNERS[name]).fit(POINTS, LABELS)
    learner = getattr(learner, "learner_", learner)
    assert (learner.backend_, learner.device_) == ("numpy", None)


@TORCH
def test_a_kernel_is_computed_in_memory_wherever_the_points_are(kind):
    points = TENSORS[kind]
    learner = KernelSERAPH().fit(points, LABELS)
    assert learner.learner_.backend_ == "numpy"
    expected = KernelSERAPH().fit(points.detach().numpy(), LABELS)
    np.testing.assert_array_equal(learner.learner_.components_, expected.learner_.components_)


@pytest.mark.parametrize("name", ["SERAPH", "SERAPHCV"])
@TORCH
def test_a_tensor_is_learned_from_by_torch_where_it_is(name, kind):
    points = TENSORS[kind]
    before = points.detach().numpy().copy()
    learner = clone(LEARNERS[name]).fit(points, LABELS)
    assert (learner.backend_, learner.device_) == ("torch", "cpu")
    np.testing.assert_array_equal(points.detach().numpy(), before)
    by_numpy = clone(LEARNERS[name]).fit(before, LABELS)
    assert learner.components_.dtype == by_numpy.components_.dtype
    assert learner.objective_ == pytest.approx(by_numpy.objective_, rel=1e-3)


def test_a_model_that_is_mapped_from_a_file_maps_tensors(tmp_path):
    joblib.dump(SERAPH().fit(POINTS, LABELS), tmp_path / "model")
    mapped = joblib.load(tmp_path / "model", mmap_mode="r")
    expected = mapped.transform(POINTS)
    np.testing.assert_allclose(mapped.transform(torch.tensor(POINTS)), expected, atol=1e-12)


@EACH
def test_a_backend_that_was_asked_for_is_taken_for_a_tensor_too(name):
    learner = clone(LEARNERS[name])
    if name == "SERAPH":
        learner.set_params(backend="numpy")
    else:
        learner.set_params(learner=SERAPH(backend="numpy"))
    learner.fit(TENSORS["float64"], LABELS)
    assert getattr(learner, "learner_", learner).backend_ == "numpy"


@pytest.mark.parametrize(
    "learner", [SERAPH(), classic.GMML(), MetricClassifier(SERAPH())], ids=str
)
def test_sparse_points_are_refused_with_what_to_do(learner):
    points = sparse.csr_array(X)
    with pytest.raises(TypeError, match=r"sparse matrix of shape \(12, 3\).*TruncatedSVD"):
        learner.fit(points, Y)
    make_pipeline(TruncatedSVD(2, random_state=0), learner).fit(points, Y)
