"""Vectors on the command line: neighbors, and the map written for other programs."""

import json

import numpy as np
import pytest
import safetensors.numpy
from scipy.spatial.distance import cdist, pdist
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer

from seraph import MeanMetric, load, save
from seraph._apps.cli._tables import read_table
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


def found(*arguments):
    return json.loads(ok("neighbors", "model.skops", *arguments, "--json").out)


def brute(model, place, k):
    Z = model.transform(X)
    order = np.argsort(cdist(Z[[place]], Z)[0], kind="stable")
    return order[order != place][:k].tolist()


@pytest.mark.parametrize("kind", [np.float32, np.float16])
def test_neighbors_are_the_nearest_rows_by_brute_force(folder, model, kind):
    np.save("vectors.npy", X.astype(kind))
    for place in (17, 0, 299):
        now = found("vectors.npy", "--row", place, "-k", 7)
        if kind is np.float32:
            assert [row["row"] for row in now["neighbors"]] == brute(model, place, 7)
        assert len(now["neighbors"]) == 7


def test_rows_that_the_model_cannot_map_are_refused(folder):
    bad = X.copy()
    bad[200, 3] = np.nan
    call = ["neighbors", "model.skops", "bad.npy", "--row", 5]
    np.save("bad.npy", bad)
    assert "missing values in column '3'" in refusal(*call)
    bad[200] = 0.0
    np.save("bad.npy", bad)
    assert "Row 200 of bad.npy has only zeros" in refusal(*call)
    np.save("bad.npy", X[:, :5])
    assert "5 columns of features" in refusal(*call)


def test_export_writes_what_maps_the_vectors(folder, model):
    out = ok("export", "model.skops", "-o", "W.npy").out
    assert "from 12 features to 12 numbers" in out
    assert "unit length" in out
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    np.testing.assert_allclose(
        pdist(unit @ np.load("W.npy")), pdist(model.transform(X)), rtol=1e-3
    )
    cut = ["--components", 3, "--data", "vectors.npy"]
    for name in ("W.safetensors", "W.onnx"):
        done = ok("export", "model.skops", "-o", name, *cut, "--json")
        assert json.loads(done.out)["n_components"] == 3
    assert safetensors.numpy.load_file("W.safetensors")["W"].shape == (12, 3)
    assert "--data" in refusal("export", "model.skops", "-o", "V.npy", "--components", 3)
    assert "--components" in refusal("export", "model.skops", "-o", "V.npy", *cut[2:])
    assert "must end in" in refusal("export", "model.skops", "-o", "V.pt")
    assert not (folder / "V.npy").exists()


def test_rows_of_unit_length_are_a_way_to_scale(folder):
    np.savez("data.npz", X=X, y=np.where(SOME < 0, "", SOME.astype(str)))
    fit = "fit", "data.npz", "--scale", "unit", "--no-check", "-o"
    assert "length 1" in ok(*fit, "u.skops").out
    fitted = load("u.skops")
    expected = make_pipeline(Normalizer(), MeanMetric()).fit(X, SOME)
    np.testing.assert_allclose(fitted.transform(X), expected.transform(X), rtol=1e-3, atol=1e-4)
    zero = X.copy()
    zero[40] = 0.0
    np.savez("data.npz", X=zero, y=np.where(SOME < 0, "", SOME.astype(str)))
    assert "Row 40 of data.npz has only zeros" in refusal(*fit, "v.skops")
    assert not (folder / "v.skops").exists()


def test_an_array_in_a_file_is_mapped_not_read(folder):
    table = read_table(folder / "vectors.npy")
    points = table.points()
    base = points
    while base is not None and not isinstance(base, np.memmap):
        base = base.base
    assert isinstance(base, np.memmap)
    assert points.dtype == np.float32
    np.save("half.npy", X.astype(np.float16))
    assert read_table(folder / "half.npy").points().dtype == np.float32
    np.save("empty.npy", X[:0])
    with pytest.raises(ValueError, match="no rows"):
        read_table(folder / "empty.npy")
