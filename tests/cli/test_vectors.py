"""Vectors on the command line: the map written for other programs."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer

from seraph import MeanMetric, load, save
from tests.helpers.command import ok, refusal

RNG = np.random.default_rng(0)
Y = RNG.integers(6, size=300)
X = (RNG.normal(size=(6, 12))[Y] + RNG.normal(size=(300, 12))).astype(np.float32)
SOME = np.where(np.arange(300) < 30, Y, -1)


@pytest.fixture(scope="module")
def model():
    return make_pipeline(Normalizer(), MeanMetric()).fit(X, SOME)


@pytest.fixture
def folder(model, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save(model, "model.skops")
    np.save("vectors.npy", X)
    return tmp_path


def test_rows_that_the_model_cannot_map_are_refused(folder):
    bad = X.copy()
    bad[200, 3] = np.nan
    call = ["transform", "model.skops", "bad.npy"]
    np.save("bad.npy", bad)
    assert "contains NaN" in refusal(*call)
    bad[200] = 0.0
    np.save("bad.npy", bad)
    assert "Row 200 of bad.npy has only zeros" in refusal(*call)
    np.save("bad.npy", X[:, :5])
    assert "5 columns of features" in refusal(*call)


def test_export_writes_what_maps_the_vectors(folder, model):
    assert "unit length" in ok("export", "model.skops", "-o", "W.npy").out
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    np.testing.assert_allclose(
        pdist(unit @ np.load("W.npy")), pdist(model.transform(X)), rtol=1e-3
    )
    assert "--data" in refusal("export", "model.skops", "-o", "V.onnx")
    assert "must end in" in refusal("export", "model.skops", "-o", "V.pt")


def test_rows_of_unit_length_are_a_way_to_scale(folder, model):
    np.savez("data.npz", X=X, y=np.where(SOME < 0, "", SOME.astype(str)))
    fit = "fit", "data.npz", "--scale", "unit", "--no-check", "-o"
    assert "--scale unit" in ok(*fit, "u.skops").out
    fitted = load("u.skops")
    np.testing.assert_allclose(fitted.transform(X), model.transform(X), rtol=1e-3, atol=1e-4)
    zero = X.copy()
    zero[40] = 0.0
    np.savez("data.npz", X=zero, y=np.where(SOME < 0, "", SOME.astype(str)))
    assert "Row 40 of data.npz has only zeros" in refusal(*fit, "v.skops")
    assert not (folder / "v.skops").exists()


def test_a_report_of_vectors_with_pairs_shows_the_pairs_and_no_numbered_features(folder):
    pairs = [f"{i},{i + 1},{int(Y[i] == Y[i + 1])}\n" for i in range(0, 80, 2)]
    (folder / "pairs.csv").write_text("i,j,similar\n" + "".join(pairs))
    said = ok("fit", "vectors.npy", "--pairs", "pairs.csv", "--no-check", "--report", "r.html").out
    page = (folder / "r.html").read_text()
    assert "What matters" not in said + page
    assert "How far apart the marked pairs" in page
