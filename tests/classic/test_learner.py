"""What holds of every classic learner, and what `fit` checks, whatever a subclass forgets."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler
from threadpoolctl import ThreadpoolController, threadpool_limits

from seraph import Marks, classic
from seraph.classic import GDM, GMML, ITML, LFDA, LMNN, LSML, MLKR, NCA, RCA, RFD, SCML, SDML
from seraph.classic._learner import ClassicLearner, ClassLabelLearner
from tests.helpers.blobs import blobs
from tests.helpers.quick import few

X = np.random.default_rng(0).normal(size=(12, 3))
Y = np.arange(12) % 2
B, CODES = blobs()


def seeded(learner):
    settings = {"random_state": 0, "n_trees": 20}  # (a forest of the default size takes long)
    return learner.set_params(**{k: v for k, v in settings.items() if hasattr(learner, k)})


ALL = [seeded(getattr(classic, name)()) for name in classic.__all__]
SETTINGS = [
    *ALL,
    GDM(diagonal=True),
    ITML(prior="covariance"),
    NCA(n_components=1),
    SDML(prior="covariance"),
]


def name_of(learner):
    return type(learner).__name__


def each(settings, *but):
    kept = [learner for learner in settings if name_of(learner) not in but]
    return pytest.mark.parametrize("learner", kept, ids=repr)


def classes(rng, n=30, m=3):
    """Points of three classes that overlap."""
    y = np.arange(n) % 3
    centers = np.diag([2.0, 4.0, 1.0]) @ np.eye(3, m)
    return rng.normal(size=(n, m)) + centers[y], y


def distances(learner, points, *known, to=None, **more):
    """Distances of the points after a fit."""
    return pdist(
        clone(learner).fit(points, *known, **more).transform(points if to is None else to)
    )


# These follow the points; the others measure them in units of their own, whatever the points'.
IN_THE_UNIT_OF_X = {"GMML", "ITML", "LRML", "SDML", "Euclidean"}


@pytest.mark.parametrize("factor", [1e-100, 1e100])
@each(SETTINGS, "LSML", "MLKR", "NCA")  # these weigh distances against a prior or each other
def test_distances_grow_with_the_unit_of_the_points_or_not_at_all(learner, factor, rng, capsys):
    points, y = classes(rng)
    grow = name_of(learner) in IN_THE_UNIT_OF_X
    grow &= learner.get_params().get("prior") != "covariance"  # whose unit is that of X
    expected = (factor if grow else 1.0) * distances(learner, points, y)
    np.testing.assert_allclose(distances(learner, factor * points, y), expected, rtol=1e-5)
    assert capsys.readouterr().out == ""


# With these, only rows of known class count; the others look at all rows.
@each(
    SETTINGS,
    "Covariance",
    "Euclidean",
    "GDM",
    "ITML",
    "LFDA",
    "LRML",
    "MLKR",
    "RFD",
)
def test_unlabeled_rows_have_no_influence(learner, rng):
    settings = learner.get_params()
    if settings.get("prior") == "covariance" or settings.get("n_components"):
        return  # of all rows
    points, y = classes(rng)
    more = np.vstack([points[:10], 50.0 * rng.normal(size=(9, 3)), points[10:]])
    labels = np.concatenate([y[:10], np.full(9, -1), y[10:]])
    expected = distances(learner, points, y)
    np.testing.assert_allclose(distances(learner, more, labels, to=points), expected, rtol=1e-9)


def odd_data():
    rng = np.random.default_rng(1)
    points, y = classes(rng, 24, 4)
    yield "more features than rows", rng.normal(size=(10, 40)), np.arange(10) % 2
    yield "three rows", points[:3], [0, 0, 1]
    yield "one feature", points[:, :1], y
    yield "constant features", np.column_stack([points, np.full(24, 0.1), np.zeros(24)]), y
    yield "repeated rows", np.repeat(points[:6], 4, axis=0), np.repeat(y[:6], 4)
    yield "rows in two classes", np.repeat(points[:12], 2, axis=0), np.tile([0, 1], 12)
    yield "labels at random", points, rng.integers(3, size=24)
    yield "classes far apart", points + 1e6 * y[:, np.newaxis], y
    yield "classes of a point each", np.eye(3)[y] + 1e-9 * points[:, :3], y


ODD = {name: data for name, *data in odd_data()}
SOON = ("more features than rows", "constant features", "repeated rows")


@pytest.mark.parametrize("kind", few(ODD, SOON.__contains__))
@each(SETTINGS)
@pytest.mark.filterwarnings("ignore:The learned metric is zero", "ignore:SDML", "ignore:ITML has")
def test_odd_data_give_a_finite_metric(learner, kind):
    points, y = ODD[kind]
    fitted = clone(learner).fit(points, y)
    assert np.isfinite(getattr(fitted, "components_", 0.0)).all()
    assert np.isfinite(fitted.transform(points)).all()


@each(ALL, "Euclidean", "MLKR", "SDML")  # have a metric that needs no distance
def test_points_that_coincide_are_refused(learner):
    with pytest.raises(ValueError, match=r"same point|coincide|do not differ"):
        clone(learner).fit(np.full((6, 2), 0.1), [0, 0, 0, 1, 1, 1])


@each([GDM(), GDM(diagonal=True), ITML(), LSML(random_state=0)])
def test_the_gap_bounds_what_an_early_stop_misses(learner):
    points, y = load_wine(return_X_y=True)
    points = StandardScaler().fit_transform(points)
    best = clone(learner).set_params(tol=1e-8, max_iter=2000).fit(points, y).objective_
    gaps = []
    for max_iter in (2, 4, 8):
        message = rf"{name_of(learner)} has not converged .{max_iter} iter"
        with pytest.warns(ConvergenceWarning, match=message):
            early = clone(learner).set_params(tol=1e-8, max_iter=max_iter).fit(points, y)
        assert (early.converged_, early.n_iter_) == (False, max_iter)
        value, gap = early.objective_, early.optimality_gap_
        # GDM maximizes, and its gap is relative.
        missing = best / value - 1.0 if isinstance(learner, GDM) else value - best
        assert 0.0 < missing <= gap * (1.0 if isinstance(learner, GDM) else max(1.0, value))
        gaps.append(gap)
    assert np.isfinite(gaps[-1])


@pytest.mark.parametrize("prior", ["identity", "covariance"])
@each([ITML(gamma=0.0), LSML(gamma=0.0), SDML(balance=0.0, sparsity=0.0)])
def test_without_a_weight_of_the_labels_the_metric_is_the_prior(learner, prior):
    metric = clone(learner).set_params(prior=prior).fit(B, CODES).get_mahalanobis_matrix()
    expected = np.eye(4) if prior == "identity" else np.linalg.inv(np.cov(B.T))
    np.testing.assert_allclose(metric, expected, atol=1e-9)


@each(ALL, "Euclidean", "GMML")  # the ridge of GMML is large by default
def test_learners_find_the_feature_that_tells_among_others(learner):
    rng = np.random.default_rng(0)
    y = np.arange(300) % 2
    points = rng.normal(size=(300, 6)) * [0.4, 3.0, 3.0, 3.0, 3.0, 3.0]
    points[:, 0] += 2.0 * y

    def score(Z):
        return KNeighborsClassifier(1).fit(Z[:200], y[:200]).score(Z[200:], y[200:])

    mapped = clone(learner).fit(points[:200], y[:200]).transform(points)
    assert score(mapped) > score(points) + 0.05


class Forgetful(ClassLabelLearner):
    """A learner that looks at no label."""

    def _learn(self, points, labels):
        return np.eye(points.shape[1]), {}


@pytest.mark.parametrize("Learner", [Forgetful, LFDA, LMNN, NCA])
def test_marks_are_refused_by_learners_of_classes_alone(Learner):
    marks = Marks([[0, 1], [0, 2]], [-1, 1], rows=X)
    with pytest.raises(ValueError, match="learns from class labels, and only marked pairs"):
        Learner().fit(X, marks=marks)
    partly = np.where(np.arange(12) > 1, Y, -1)
    with pytest.raises(ValueError, match="class labels alone, and 2 of the marked pairs"):
        Learner().fit(X, partly, marks=marks)
    with pytest.raises(ValueError, match="does not learn from triplets"):
        Learner().fit(X, Y, marks=Marks(triplets=[[0, 1, 2]], rows=X))
    Learner().fit(X, Y, marks=marks)  # they follow from the classes


FLAT = np.ones((4, 2))
SIMILAR, DISSIMILAR = (Marks([[0, 1]], [sign], rows=40) for sign in (1, -1))
APART = Marks([[0, 1], [2, 3]], [1, -1], rows=40)
TWICE = np.repeat(B[:20], 2, axis=0)
TWINS = Marks([[0, 1], [0, 2]], [1, -1], rows=40)
CORNER = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
TARGETS = np.arange(40.0)
REFUSED = [
    (LMNN(), B, {"y": [0] * 40}, "needs at least two classes"),
    (NCA(), B, {"y": range(40)}, "with at least two members"),
    (GMML(), B, {"marks": DISSIMILAR}, "All 1 labeled pairs are dissimilar"),
    (GMML(), TWICE, {"marks": TWINS}, "similar pairs do not differ in any feature"),
    (GMML(ridge=0.0), B, {"marks": TWINS}, r"do not differ in 3 of 4 directions.*larger ridge"),
    (RCA(), B, {"marks": DISSIMILAR}, "All 1 labeled pairs are dissimilar"),
    (RCA(ridge=0.0), B, {"marks": SIMILAR}, r"do not differ in 3 of 4 directions.*larger ridge"),
    (RCA(n_components=5), B, {"y": CODES}, "n_components=5 is too large"),
    (LFDA(beta=0.0), B[:4], {"y": [0, 0, 1, 1]}, r"in \d of 4 directions.*larger beta"),
    (GDM(), B, {"y": [0] * 40}, "needs similar pairs .*780 similar and 0 dissimilar"),
    (GDM(), B, {"y": range(40)}, "needs similar pairs .*0 similar and 780 dissimilar"),
    (GDM(), FLAT, {"y": [0, 0, 1, 1]}, "every dissimilar pair coincide"),
    (GDM(ridge=0.0), CORNER, {"y": [0, 0, 1]}, r"ridge=0 .*no maximum: in 1 direction.*ridge > 0"),
    (GDM(ridge=0.0, diagonal=True), CORNER, {"y": [0, 0, 1]}, r"no maximum: in 1 direction"),
    (SCML(), B, {"marks": APART}, "No point is in both"),
    (SCML(), FLAT, {"marks": Marks(triplets=[[0, 1, 2]], rows=4)}, "all 1 triplets coincide"),
    (LSML(), B, {"quadruplets": [[0, 1, 2]]}, r"\(n_quadruplets, 4\).*got shape \(1, 3\)"),
    (LSML(), B, {"quadruplets": [[0, 1, 2, 40]]}, r"quadruplets\[0\].*there are only rows 0"),
    (LSML(), B, {"quadruplets": [[0, 1, 2, 3]], "y": CODES}, "passed together with quadruplets"),
    (LSML(), FLAT, {"quadruplets": [[0, 1, 2, 3]]}, "all 1 comparisons coincide"),
    (LSML(), B, {"marks": SIMILAR}, "got 1 similar and 0 dissimilar"),
    (
        MLKR(),
        B,
        {"y": np.where(TARGETS < 2, TARGETS, np.nan)},
        "three labeled rows .* got 2",
    ),
    (MLKR(), B, {"y": np.ones(40)}, "got 40, with 1 different"),
    (MLKR(), B, {"y": np.where(TARGETS < 9, "a", "b")}, r"1d array of numbers.*For classes"),
    (MLKR(), B, {"y": np.where(TARGETS < 9, np.inf, TARGETS)}, "y contains infinity"),
    (RFD(), B, {"y": [0] * 40}, "needs similar pairs and dissimilar"),
    (RFD(), B, {"marks": DISSIMILAR}, "got 0 similar and 1 dissimilar"),
    (RFD(), B, {"marks": Marks(triplets=[[0, 1, 2]], rows=40)}, "does not learn from triplets"),
    (MLKR(init=np.eye(2, 3)), B, {"y": TARGETS}, r"here \(2, 4\).*got \(2, 3\)"),
]


@pytest.mark.filterwarnings("ignore:y has 40 different numbers")
@pytest.mark.parametrize(("learner", "points", "known", "message"), REFUSED)
def test_what_cannot_be_learned_from_is_refused_in_words(learner, points, known, message):
    with pytest.raises(ValueError, match=message):
        clone(learner).fit(points, **known)


class Counting(ClassicLearner):
    """A learner that counts the threads of BLAS."""

    def _learn(self, points, labels):
        libraries = ThreadpoolController().select(user_api="blas").info()
        return np.eye(3), {"threads_": {library["num_threads"] for library in libraries}}


def test_a_fit_has_one_thread_of_blas():
    with threadpool_limits(2):
        assert Counting().fit(X, Y).threads_ == {1}
