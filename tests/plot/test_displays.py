"""Displays: properties that all of them share."""

import inspect
import sys

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from seraph import SERAPH, KernelSERAPH, MeanMetric, PairClassifier, plot
from seraph.classic import GDM, ITML, LDM, LMNN, MFDA, NCA, Euclidean
from seraph.plot._data import class_codes
from tests.helpers.pictures import Figure, plt, some_axes
from tests.helpers.quick import few

ONE_PANEL = (plot.PosteriorDisplay,)
TWO_PANELS = (
    plot.DistanceDisplay,
    plot.EmbeddingDisplay,
    plot.FeatureImportanceDisplay,
)
DISPLAYS = ONE_PANEL + TWO_PANELS
CLASSIC = (MeanMetric, Euclidean, GDM, ITML, LDM, LMNN, MFDA, NCA)


def by_name(thing):
    return getattr(thing, "__name__", None)


@pytest.fixture(scope="module")
def learner(wine):
    return SERAPH().fit(*wine[:2])


@pytest.fixture
def _close():
    yield
    plt.close("all")


def test_every_display_has_a_public_name():
    assert {display.__name__ for display in DISPLAYS} == set(plot.__all__)


@pytest.mark.parametrize("display", DISPLAYS, ids=by_name)
def test_all_have_the_same_signature(display):
    parameters = inspect.signature(display.from_estimator).parameters
    assert list(parameters)[:3] == ["estimator", "X", "y"]
    assert parameters["y"].default is None
    for function in (display.from_estimator, display.plot):
        ax = inspect.signature(function).parameters["ax"]
        assert (ax.kind, ax.default) == (ax.KEYWORD_ONLY, None)


@pytest.mark.parametrize("display", DISPLAYS, ids=by_name)
def test_the_constructor_keeps_plain_data_and_draws_nothing(display, wine, learner):
    drawn = display.from_estimator(learner, *wine[:2], ax=some_axes())
    data = {name: getattr(drawn, name) for name in inspect.signature(display).parameters}
    again = display(**data)
    assert not hasattr(again, "figure_")
    for name, value in data.items():
        assert getattr(again, name) is value
    assert again.plot(ax=some_axes()) is again


@pytest.mark.parametrize("display", DISPLAYS, ids=by_name)
def test_drawing_on_given_axes_leaves_pyplot_alone(display, wine, learner):
    n, before = 2 if display in TWO_PANELS else 1, plt.get_fignums()
    axes = some_axes(n)
    drawn = display.from_estimator(learner, *wine[:2], ax=axes)
    figure = np.ravel(axes)[0].figure
    assert drawn.figure_ is figure
    assert np.ravel(drawn.axes_ if n == 2 else drawn.ax_).tolist() == np.ravel(axes).tolist()
    figure.draw_without_rendering()
    assert plt.get_fignums() == before


@pytest.mark.parametrize("display", TWO_PANELS, ids=by_name)
def test_one_axes_is_split_if_it_is_part_of_a_grid(display, wine, learner):
    ax = some_axes()
    drawn = display.from_estimator(learner, *wine[:2], ax=ax)
    assert not ax.axison
    assert [panel.get_subplotspec().get_topmost_subplotspec() for panel in drawn.axes_] == [
        ax.get_subplotspec()
    ] * 2
    with pytest.raises(ValueError, match="draws on 2 axes, but 3 were given"):
        drawn.plot(ax=some_axes(3))
    with pytest.raises(ValueError, match="not part of a grid"):
        drawn.plot(ax=Figure().add_axes((0, 0, 1, 1)))


@pytest.mark.usefixtures("_close")
@pytest.mark.parametrize("display", DISPLAYS, ids=by_name)
def test_a_new_figure_has_a_layout(display, wine, learner):
    before = plt.get_fignums()
    drawn = display.from_estimator(learner, *wine[:2])
    assert plt.get_fignums() == [*before, drawn.figure_.number]
    assert drawn.figure_.get_layout_engine() is not None


OF_THE_MODEL = [SERAPH(), KernelSERAPH()]


@pytest.fixture(
    scope="module",
    params=few(OF_THE_MODEL, lambda learner: type(learner) is SERAPH),
    ids=lambda learner: type(learner).__name__,
)
def learner_of_the_model(request, wine):
    return clone(request.param).fit(*wine[:2])


@pytest.fixture(scope="module", params=few(CLASSIC, {GDM, LMNN}.__contains__), ids=by_name)
def classic_learner(request, wine):
    return request.param().fit(*wine[:2])


@pytest.mark.parametrize("display", DISPLAYS, ids=by_name)
def test_learners_of_the_model_are_drawn_or_refused(display, learner_of_the_model, wine):
    if display is plot.FeatureImportanceDisplay and hasattr(learner_of_the_model, "pca_"):
        with pytest.raises(TypeError, match="which KernelSERAPH does not have"):
            display.from_estimator(learner_of_the_model, *wine[:2])
    else:
        drawn = display.from_estimator(learner_of_the_model, *wine[:2], ax=some_axes())
        drawn.figure_.draw_without_rendering()


@pytest.mark.parametrize("display", DISPLAYS, ids=by_name)
def test_classic_learners_are_drawn_or_refused_by_what_they_lack(display, classic_learner, wine):
    lacks = "pair_proba" if display is plot.PosteriorDisplay else "transform"
    name = type(classic_learner).__name__
    if hasattr(classic_learner, lacks):
        display.from_estimator(classic_learner, *wine[:2], ax=some_axes())
    else:
        with pytest.raises(TypeError, match=f"`{lacks}`, which {name} does not have"):
            display.from_estimator(classic_learner, *wine[:2])


@pytest.mark.parametrize(
    "display",
    few(DISPLAYS, {plot.PosteriorDisplay, plot.EmbeddingDisplay}.__contains__),
    ids=by_name,
)
def test_a_zero_metric_is_drawn(display, wine):
    with pytest.warns(UserWarning, match="metric is zero"):
        learner = SERAPH(lam=1e6).fit(*wine[:2])
    assert len(learner.components_) == 0
    display.from_estimator(learner, *wine[:2], ax=some_axes()).figure_.draw_without_rendering()


@pytest.fixture(scope="module")
def pipelines(wine):
    X, y_partial, _ = wine
    return [
        make_pipeline(StandardScaler(), SERAPH()).fit(X, y_partial),
        make_pipeline(make_pipeline(StandardScaler(), SERAPH())).fit(X, y_partial),
        PairClassifier(make_pipeline(StandardScaler(), SERAPH()), cv=2).fit(X, y_partial),
    ]


@pytest.mark.parametrize(
    "display",
    few(DISPLAYS, {plot.DistanceDisplay, plot.EmbeddingDisplay}.__contains__),
    ids=by_name,
)
def test_a_pipeline_is_drawn_as_its_learner_on_prepared_points(display, wine, pipelines):
    X, y_partial, _ = wine
    scaled = StandardScaler().fit_transform(X)
    learner = SERAPH().fit(scaled, y_partial)
    expected = display.from_estimator(learner, scaled, y_partial, ax=some_axes())
    for model in pipelines:
        drawn = display.from_estimator(model, X, y_partial, ax=some_axes())
        for name in set(inspect.signature(display).parameters) - {"classes", "feature_names"}:
            plain = getattr(expected, name)
            if isinstance(plain, str | None):
                continue
            np.testing.assert_allclose(getattr(drawn, name), plain, atol=1e-8)
    with pytest.raises(NotFittedError):
        display.from_estimator(make_pipeline(StandardScaler(), SERAPH()), X, y_partial)


def test_the_features_of_a_pipeline_keep_their_names(wine):
    pandas = pytest.importorskip("pandas")
    X, y_partial, _ = wine
    names = [f"feature {k}" for k in range(X.shape[1])]
    frame = pandas.DataFrame(X, columns=names)
    model = make_pipeline(StandardScaler(), SERAPH()).fit(frame, y_partial)
    drawn = plot.FeatureImportanceDisplay.from_estimator(model, frame, ax=some_axes())
    assert list(drawn.feature_names) == names


@pytest.mark.parametrize("display", DISPLAYS, ids=by_name)
def test_kernel_values_are_refused_where_points_are_needed(display, wine):
    X, y_partial, _ = wine
    values = rbf_kernel(X)
    learner = KernelSERAPH(kernel="precomputed").fit(values, y_partial)
    if display in (plot.EmbeddingDisplay, plot.DistanceDisplay):
        with pytest.raises(TypeError, match="there are no points"):
            display.from_estimator(learner, values, y_partial)
    elif display is not plot.FeatureImportanceDisplay:
        display.from_estimator(learner, values, y_partial, ax=some_axes())


@pytest.mark.parametrize("display", DISPLAYS, ids=by_name)
def test_an_unfitted_learner_is_refused(display, wine):
    with pytest.raises(NotFittedError):
        display.from_estimator(SERAPH(), wine[0])


@pytest.mark.parametrize("display", DISPLAYS, ids=by_name)
def test_data_frames_are_accepted(display, wine):
    pandas = pytest.importorskip("pandas")
    X, y_partial, _ = wine
    frame = pandas.DataFrame(X, columns=[f"feature {k}" for k in range(X.shape[1])])
    labels = pandas.Series(y_partial, dtype="Int64").mask(y_partial < 0)
    learner = SERAPH().set_output(transform="pandas").fit(frame, labels)
    drawn = display.from_estimator(learner, frame, labels, ax=some_axes())
    plain = display.from_estimator(SERAPH().fit(X, y_partial), X, y_partial, ax=some_axes())
    for name in set(inspect.signature(display).parameters) - {"classes", "feature_names"}:
        if getattr(plain, name) is None:
            assert getattr(drawn, name) is None
        else:
            np.testing.assert_allclose(getattr(drawn, name), getattr(plain, name), atol=1e-8)


@pytest.mark.parametrize(
    ("labels", "codes", "names"),
    [
        ([0, 10, -1, 2], [0, 2, -1, 1], ["0", "2", "10"]),
        ([0.0, np.nan, -1.0, 3.5], [0, -1, -1, 1], ["0.0", "3.5"]),
        (["None", "none", "-1", "-2"], [1, 2, -1, 0], ["-2", "None", "none"]),
        (np.array([b"a", b"-1"]), [0, -1], ["b'a'"]),
        (["a", -1, None, 3, True], [2, -1, -1, 0, 1], ["3", "True", "a"]),
        (np.array(["2020-01-01", "NaT"], dtype="datetime64[D]"), [0, -1], ["2020-01-01"]),
        (np.array([0, 254], dtype=np.uint8), [0, 1], ["0", "254"]),
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore:y has the label")
def test_labels_of_any_type_become_codes_and_names(labels, codes, names):
    found, found_names = class_codes(labels, len(labels))
    np.testing.assert_array_equal(found, codes)
    assert found_names == names


def test_there_must_be_one_label_per_point():
    with pytest.raises(ValueError, match="y has 2 labels and X has 3 rows"):
        class_codes([0, 1], 3)


@pytest.mark.parametrize("display", DISPLAYS, ids=by_name)
def test_without_matplotlib_the_extra_is_named(display, wine, learner, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match="pip install 'seraph-learn"):
        display.from_estimator(learner, *wine[:2])
