"""Displays: what holds for all of them."""

import inspect
import subprocess
import sys

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import seraph
from seraph import SERAPH, SERAPHCV, KernelSERAPH, plot
from seraph._pairs import as_labels, is_missing
from seraph.classic import GDM, ITML, LDM, LMNN, MFDA, NCA, Euclidean
from seraph.plot._labels import class_codes
from tests.helpers.pictures import Figure, plt, some_axes

ONE_PANEL = (plot.PosteriorDisplay, plot.SpectrumDisplay)
TWO_PANELS = (
    plot.ConvergenceDisplay,
    plot.DistanceDisplay,
    plot.EmbeddingDisplay,
    plot.FeatureImportanceDisplay,
)
DISPLAYS = ONE_PANEL + TWO_PANELS
CLASSIC = (Euclidean, GDM, ITML, LDM, LMNN, MFDA, NCA)


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
    assert {display.__name__ for display in DISPLAYS} < set(plot.__all__) < set(seraph.__all__)


@pytest.mark.parametrize("display", DISPLAYS, ids=by_name)
def test_all_are_called_alike(display):
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
def test_a_figure_made_by_hand_is_drawn_on_and_pyplot_left_alone(display, wine, learner):
    n = 2 if display in TWO_PANELS else 1
    axes = some_axes(n)
    drawn = display.from_estimator(learner, *wine[:2], ax=axes)
    figure = np.ravel(axes)[0].figure
    assert drawn.figure_ is figure
    assert np.ravel(drawn.axes_ if n == 2 else drawn.ax_).tolist() == np.ravel(axes).tolist()
    figure.draw_without_rendering()
    assert not plt.get_fignums()


@pytest.mark.parametrize("display", TWO_PANELS, ids=by_name)
def test_the_place_of_one_is_divided_and_what_cannot_be_is_told(display, wine, learner):
    ax = some_axes()
    drawn = display.from_estimator(learner, *wine[:2], ax=ax)
    assert not ax.axison
    assert [panel.get_subplotspec().get_topmost_subplotspec() for panel in drawn.axes_] == [
        ax.get_subplotspec()
    ] * 2
    with pytest.raises(ValueError, match="draws on 2 axes, and 3 were given"):
        drawn.plot(ax=some_axes(3))
    with pytest.raises(ValueError, match="outside of any grid"):
        drawn.plot(ax=Figure().add_axes((0, 0, 1, 1)))


@pytest.mark.usefixtures("_close")
@pytest.mark.parametrize("display", DISPLAYS, ids=by_name)
def test_a_new_figure_has_a_layout(display, wine, learner):
    drawn = display.from_estimator(learner, *wine[:2])
    assert plt.get_fignums() == [drawn.figure_.number]
    assert drawn.figure_.get_layout_engine() is not None


@pytest.fixture(scope="module", params=[SERAPH, SERAPHCV, KernelSERAPH], ids=by_name)
def learner_of_the_model(request, wine):
    return request.param().fit(*wine[:2])


@pytest.fixture(scope="module", params=CLASSIC, ids=by_name)
def classic_learner(request, wine):
    return request.param().fit(*wine[:2])


@pytest.mark.parametrize("display", DISPLAYS, ids=by_name)
def test_learners_of_the_model_are_drawn_or_refused(display, learner_of_the_model, wine):
    if display is plot.FeatureImportanceDisplay and hasattr(learner_of_the_model, "kernel_map_"):
        with pytest.raises(TypeError, match="KernelSERAPH lives in the feature space"):
            display.from_estimator(learner_of_the_model, *wine[:2])
    else:
        drawn = display.from_estimator(learner_of_the_model, *wine[:2], ax=some_axes())
        drawn.figure_.draw_without_rendering()


@pytest.mark.parametrize("display", DISPLAYS, ids=by_name)
def test_classic_learners_are_drawn_or_told_what_they_lack(display, classic_learner, wine):
    lacks = {
        plot.PosteriorDisplay: "pair_proba",
        plot.ConvergenceDisplay: "history_",
    }.get(display, "transform")
    name = type(classic_learner).__name__
    if hasattr(classic_learner, lacks):
        display.from_estimator(classic_learner, *wine[:2], ax=some_axes())
    else:
        with pytest.raises(TypeError, match=f"`{lacks}`, which {name} does not have"):
            display.from_estimator(classic_learner, *wine[:2])


@pytest.mark.parametrize("display", DISPLAYS, ids=by_name)
def test_the_metric_zero_is_drawn(display, wine):
    with pytest.warns(UserWarning, match="metric is zero"):
        learner = SERAPH(lam=1e6).fit(*wine[:2])
    assert len(learner.components_) == 0
    display.from_estimator(learner, *wine[:2], ax=some_axes()).figure_.draw_without_rendering()


@pytest.mark.parametrize("display", [plot.EmbeddingDisplay, plot.DistanceDisplay], ids=by_name)
def test_a_pipeline_is_drawn_where_its_map_will_do(display, wine):
    X, y_partial, _ = wine
    pipeline = make_pipeline(StandardScaler(), SERAPH()).fit(X, y_partial)
    display.from_estimator(pipeline, X, y_partial, ax=some_axes())
    with pytest.raises(TypeError, match="Of a Pipeline, pass the last step"):
        plot.SpectrumDisplay.from_estimator(pipeline)


@pytest.mark.parametrize("display", DISPLAYS, ids=by_name)
def test_values_of_a_kernel_are_no_points(display, wine):
    X, y_partial, _ = wine
    values = rbf_kernel(X)
    learner = KernelSERAPH(kernel="precomputed").fit(values, y_partial)
    if display in (plot.EmbeddingDisplay, plot.DistanceDisplay):
        with pytest.raises(TypeError, match="there are no points"):
            display.from_estimator(learner, values, y_partial)
    elif display is not plot.FeatureImportanceDisplay:
        display.from_estimator(learner, values, y_partial, ax=some_axes())


@pytest.mark.parametrize("display", DISPLAYS, ids=by_name)
def test_a_learner_that_is_not_fitted_is_told(display, wine):
    with pytest.raises(NotFittedError):
        display.from_estimator(SERAPH(), wine[0])


@pytest.mark.parametrize("display", DISPLAYS, ids=by_name)
def test_data_frames_in_and_out_are_taken(display, wine):
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


ODD_LABELS = (
    [0, 1, -1, 2],
    [0.0, np.nan, -1.0, 3.5],
    ["None", "nan", "-1", "-2"],
    np.array([b"a", b"-1"]),
    ["a", -1, None, 3, True],
    np.array(["2020-01-01", "NaT"], dtype="datetime64[D]"),
    np.array([0, 255], dtype=np.uint8),
)


@pytest.mark.parametrize("labels", ODD_LABELS, ids=str)
def test_what_is_unknown_to_a_learner_is_unknown_to_a_display(labels):
    codes, names = class_codes(labels, len(labels))
    np.testing.assert_array_equal(codes < 0, is_missing(as_labels(labels)))
    assert len(names) == codes.max() + 1


def test_labels_must_be_as_many_as_points():
    with pytest.raises(ValueError, match="y has 2 labels and there are 3 points"):
        class_codes([0, 1], 3)


def test_matplotlib_is_loaded_only_to_draw():
    code = "import sys, seraph; assert 'matplotlib' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("display", DISPLAYS, ids=by_name)
def test_a_missing_matplotlib_is_told(display, wine, learner, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match="pip install 'seraph-learn"):
        display.from_estimator(learner, *wine[:2])
