"""What embeddings need: unit length."""

import numpy as np
import onnxruntime
import pytest
from sklearn.decomposition import PCA
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer

import seraph
from seraph import SERAPH, MetricClassifier, PairClassifier
from tests.helpers.quick import few

RNG = np.random.default_rng(0)
Y = RNG.integers(4, size=120)
X = (RNG.normal(size=(4, 8))[Y] + RNG.normal(size=(120, 8))).astype(np.float32)
SOME = np.where(np.arange(120) < 24, Y, -1)
PAIRS = [[0, 1], [2, 50], [7, 90]]


def test_length_has_no_say_after_a_normalizer(tmp_path):
    stretched = X * RNG.uniform(0.1, 10.0, size=(120, 1)).astype(np.float32)
    model = make_pipeline(Normalizer(), SERAPH()).fit(stretched, SOME)
    plain = SERAPH().fit(X / np.linalg.norm(X, axis=1, keepdims=True), SOME)
    np.testing.assert_allclose(model[-1].components_, plain.components_, rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(model.transform(stretched), model.transform(X), atol=1e-4)
    decider = PairClassifier(FrozenEstimator(model)).fit(X, Y)
    for ask in (decider.pair_distance, decider.predict_proba):
        np.testing.assert_allclose(ask(PAIRS, stretched), ask(X[PAIRS]), rtol=1e-4)

    loaded = seraph.load(seraph.save(model, tmp_path / "m.skops"))
    np.testing.assert_array_equal(loaded.transform(X), model.transform(X))

    graph = seraph.persist.to_onnx(model, stretched)
    session = onnxruntime.InferenceSession(graph.SerializeToString())
    (Z,) = session.run(None, {"X": stretched})
    np.testing.assert_allclose(Z, model.transform(X), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("prepare", [Normalizer(), make_pipeline(Normalizer(), PCA(4))])
@pytest.mark.parametrize(
    "Wrapper", few([MetricClassifier, PairClassifier], lambda kind: kind is MetricClassifier)
)
def test_a_vector_of_zeros_has_no_direction_and_is_refused(prepare, Wrapper):
    bad = X.copy()
    bad[[3, 9, 77]] = 0.0
    with pytest.raises(ValueError, match=r"Row 3 and 2 more of X has only zeros.*Drop such rows"):
        Wrapper(make_pipeline(prepare, SERAPH())).fit(bad, SOME)
    model = Wrapper(make_pipeline(prepare, SERAPH())).fit(X, SOME)
    asked = (model.predict,)
    if Wrapper is PairClassifier:
        asked = (
            lambda rows: model.pair_distance(PAIRS, rows),
            lambda rows: model.pair_distance(rows[[[0, 3]]]),
            lambda rows: model.predict(rows[[[0, 3]]]),
            lambda rows: model.score(rows, Y),
        )
    for ask in asked:
        with pytest.raises(ValueError, match="has only zeros"):
            ask(bad)
        with pytest.raises(ValueError, match="NaN"):
            ask(np.full_like(X, np.nan))
        with pytest.raises(ValueError, match=r"7 features|2, 8"):
            ask(X[:, :7])
