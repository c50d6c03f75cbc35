"""Vectors on the command line: neighbors, and the map written for other programs."""

import json

import numpy as np
import pytest
import safetensors.numpy
from scipy.spatial.distance import cdist, pdist
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer

from seraph import SERAPH, load, save
from seraph._apps.cli._tables import read_table
from tests.helpers.command import assert_refused, seraph

RNG = np.random.default_rng(0)
Y = RNG.integers(6, size=300)
X = (RNG.normal(size=(6, 12))[Y] + RNG.normal(size=(300, 12))).astype(np.float32)
SOME = np.where(np.arange(300) < 30, Y, -1)


@pytest.fixture(scope="module")
def model():
    return make_pipeline(Normalizer(), SERAPH()).fit(X, SOME)


@pytest.fixture
def folder(model, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save(model, "model.skops")
    np.save("vectors.npy", X)
    return tmp_path


def found(*arguments):
    done = seraph("neighbors", "model.skops", *arguments, "--json")
    assert done.code == 0, done.err
    return json.loads(done.out)


def refused(done, reason):
    assert_refused(done)
    assert reason in done.err


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
    refused(seraph(*call), "missing values in column '3'")
    bad[200] = 0.0
    np.save("bad.npy", bad)
    refused(seraph(*call), "Row 200 of bad.npy has only zeros")
    np.save("bad.npy", X[:, :5])
    refused(seraph(*call), "5 columns of features")


def test_export_writes_what_maps_the_vectors(folder, model):
    done = seraph("export", "model.skops", "-o", "W.npy")
    assert done.code == 0, done.err
    assert "from 12 features to 12 numbers" in done.out
    assert "unit length" in done.out
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    np.testing.assert_allclose(
        pdist(unit @ np.load("W.npy")), pdist(model.transform(X)), rtol=1e-3
    )
    cut = ["--components", 3, "--data", "vectors.npy"]
    for name in ("W.safetensors", "W.onnx"):
        done = seraph("export", "model.skops", "-o", name, *cut, "--json")
        assert json.loads(done.out)["n_components"] == 3
    assert safetensors.numpy.load_file("W.safetensors")["W"].shape == (12, 3)
    refused(seraph("export", "model.skops", "-o", "V.npy", "--components", 3), "--data")
    refused(seraph("export", "model.skops", "-o", "V.npy", *cut[2:]), "--components")
    refused(seraph("export", "model.skops", "-o", "V.pt"), "must end in")
    assert not (folder / "V.npy").exists()


def test_rows_of_unit_length_are_a_way_to_scale(folder):
    np.savez("data.npz", X=X, y=np.where(SOME < 0, "", SOME.astype(str)))
    done = seraph("fit", "data.npz", "--scale", "unit", "-o", "u.skops", "--no-check")
    assert done.code == 0, done.err
    assert "length 1" in done.out
    fitted = load("u.skops")
    expected = make_pipeline(Normalizer(), SERAPH()).fit(X, SOME)
    np.testing.assert_allclose(fitted.transform(X), expected.transform(X), rtol=1e-3, atol=1e-4)
    zero = X.copy()
    zero[40] = 0.0
    np.savez("data.npz", X=zero, y=np.where(SOME < 0, "", SOME.astype(str)))
    done = seraph("fit", "data.npz", "--scale", "unit", "-o", "v.skops", "--no-check")
    refused(done, "Row 40 of data.npz has only zeros")
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
