"""Displays: properties that all of them share."""

import inspect
import sys

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from seraph import SERAPH, MeanMetric, PairClassifier, plot
from seraph.classic import GDM, LMNN, Euclidean
from tests.helpers.pictures import plt, some_axes
from tests.helpers.quick import few

# Each with the attribute of a learner that it needs.
NEEDED = {plot.EmbeddingDisplay: "transform", plot.FeatureImportanceDisplay: "components_"}
EVERY = pytest.mark.parametrize("display", NEEDED, ids=lambda display: display.__name__)


def numbers_of(display):
    return {*inspect.signature(display).parameters} - {"classes", "feature_names", "marks"}


@pytest.fixture(scope="module")
def learner(wine):
    return SERAPH().fit(*wine[:2])


@EVERY
def test_the_constructor_keeps_plain_data_and_draws_nothing(display, wine, learner):
    drawn = display.from_estimator(learner, *wine[:2], ax=some_axes(2))
    data = {name: getattr(drawn, name) for name in inspect.signature(display).parameters}
    again = display(**data)
    assert not hasattr(again, "figure_")
    for name, value in data.items():
        assert getattr(again, name) is value
    assert again.plot(ax=some_axes(2)) is again


@EVERY
def test_drawing_on_given_axes_leaves_pyplot_alone(display, wine, learner):
    before, axes = plt.get_fignums(), some_axes(2)
    drawn = display.from_estimator(learner, *wine[:2], ax=axes)
    figure = np.ravel(axes)[0].figure
    assert drawn.figure_ is figure
    assert np.ravel(drawn.axes_).tolist() == np.ravel(axes).tolist()
    figure.draw_without_rendering()
    assert plt.get_fignums() == before
    with pytest.raises(ValueError, match="draws on 2 axes; got 3"):
        drawn.plot(ax=some_axes(3))


MODELS = [SERAPH(), MeanMetric(), GDM(), LMNN(), Euclidean()]


@pytest.mark.parametrize(
    "model", few(MODELS, lambda m: isinstance(m, SERAPH | Euclidean)), ids=repr
)
@EVERY
def test_a_learner_is_drawn_or_refused_by_what_it_lacks(display, model, wine):
    fitted, axes = clone(model).fit(*wine[:2]), some_axes(2)
    if hasattr(fitted, NEEDED[display]):
        display.from_estimator(fitted, *wine[:2], ax=axes).figure_.draw_without_rendering()
    else:
        needed = f"`{NEEDED[display]}`, which {type(model).__name__} does not have"
        with pytest.raises(TypeError, match=needed):
            display.from_estimator(fitted, *wine[:2], ax=axes)
    with pytest.raises(NotFittedError):
        display.from_estimator(clone(model), wine[0])


@pytest.fixture(scope="module")
def pipelines(wine):
    X, y_partial, _ = wine
    return [
        make_pipeline(StandardScaler(), SERAPH()).fit(X, y_partial),
        make_pipeline(make_pipeline(StandardScaler(), SERAPH())).fit(X, y_partial),
        PairClassifier(make_pipeline(StandardScaler(), SERAPH()), cv=2).fit(X, y_partial),
    ]


@EVERY
def test_a_pipeline_is_drawn_as_its_learner_on_prepared_points(display, wine, pipelines):
    X, y_partial, _ = wine
    scaled = StandardScaler().fit_transform(X)
    learner = SERAPH().fit(scaled, y_partial)
    expected = display.from_estimator(learner, scaled, y_partial, ax=some_axes(2))
    for model in pipelines:
        drawn = display.from_estimator(model, X, y_partial, ax=some_axes(2))
        for name in numbers_of(display):
            plain = getattr(expected, name)
            if plain is not None:
                np.testing.assert_allclose(getattr(drawn, name), plain, atol=1e-8)


@EVERY
def test_without_matplotlib_the_extra_is_named(display, wine, learner, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match="pip install 'seraph-learn"):
        display.from_estimator(learner, *wine[:2])
