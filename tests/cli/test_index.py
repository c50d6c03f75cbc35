"""Search by an index on the command line, and the map written for other programs."""

import json

import numpy as np
import pandas as pd
import pytest
import safetensors.numpy
from scipy.spatial.distance import cdist, pdist
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer

from seraph import SERAPH, load, save
from seraph._apps.cli import _index
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


@pytest.mark.parametrize("rows", [7, 1 << 14], ids=["many chunks", "one chunk"])
@pytest.mark.parametrize("kind", [pytest.param(np.float32, marks=pytest.mark.slow), np.float16])
def test_an_index_finds_the_nearest_rows_by_brute_force(folder, model, monkeypatch, rows, kind):
    monkeypatch.setattr(_index, "_ROWS", rows)
    np.save("vectors.npy", X.astype(kind))
    for place in (17, 0, 299):
        now = found("vectors.npy", "--row", place, "-k", 7, "--index", "all.safetensors")
        plain = found("vectors.npy", "--row", place, "-k", 7)
        assert now["neighbors"] == plain["neighbors"]
        assert now["recall"] == 1.0
        if kind is np.float32:
            assert [row["row"] for row in now["neighbors"]] == brute(model, place, 7)


def test_a_shorter_index_measures_its_recall_and_sorts_by_the_full_distance(folder, model):
    name = "short.safetensors"
    made = found("vectors.npy", "--row", 5, "--index", name, "--components", 1)
    again = found("vectors.npy", "--row", 5, "--index", name, "--components", 1)
    assert made == again
    points = safetensors.numpy.load_file(name)
    Z = model.transform(X).astype(np.float64)
    np.testing.assert_allclose(points["points"], Z @ points["directions"], atol=1e-5)
    assert points["points"].shape == (300, 1)
    np.testing.assert_allclose(points["directions"].T @ points["directions"], np.eye(1), atol=1e-6)

    # Its recall, the slow way: 100 candidates by the short distance, 10 by the full one.
    full, short = cdist(Z, Z), cdist(points["points"], points["points"])
    shares = []
    for place in np.unique(np.linspace(0, 299, 100, dtype=int)):
        others = np.delete(np.arange(300), place)
        true = others[np.argsort(full[place, others], kind="stable")[:10]]
        near = others[np.argsort(short[place, others], kind="stable")[:100]]
        best = near[np.argsort(full[place, near], kind="stable")[:10]]
        shares.append(len(set(true) & set(best)) / 10)
    assert 0.5 < np.mean(shares) < 1.0  # or this test could not fail
    assert made["recall"] == pytest.approx(np.mean(shares), abs=1e-6)
    distances = np.array([float(row["distance"]) for row in made["neighbors"]])
    rows = [int(row["row"]) for row in made["neighbors"]]
    np.testing.assert_allclose(distances, full[5, rows], rtol=1e-3)
    said = seraph("neighbors", "model.skops", "vectors.npy", "--row", 5, "--index", name)
    assert f"finds {made['recall']:.1%} of the 10 nearest rows" in said.out


def test_a_table_with_names_is_searched_by_id(folder):
    names = [f"x{k}" for k in range(12)]
    table = pd.DataFrame(X.astype(float), columns=names)
    model = make_pipeline(Normalizer(), SERAPH()).fit(table, SOME)
    save(model, "named.skops")
    table.insert(0, "name", [f"n{k}" for k in range(300)])
    table.to_csv("table.csv", index=False)
    call = ["neighbors", "named.skops", "table.csv", "--row", "n17", "--id", "name", "--json"]
    plain = json.loads(seraph(*call).out)
    for _ in range(2):
        done = seraph(*call, "--index", "i.safetensors")
        assert json.loads(done.out)["neighbors"] == plain["neighbors"]


@pytest.mark.parametrize("change", ["a row", "rows", "model", "width"])
def test_an_index_of_something_else_is_refused(folder, change):
    found("vectors.npy", "--row", 5, "--index", "i.safetensors")
    other, args = X.copy(), []
    if change == "a row":
        other[5] *= -1.0
    elif change == "rows":
        other = other[:-1]
    elif change == "model":
        save(make_pipeline(Normalizer(), SERAPH(lam=50.0)).fit(X, SOME), "model.skops")
    else:
        args = ["--components", 3]
    np.save("vectors.npy", other)
    call = ["neighbors", "model.skops", "vectors.npy", "--row", 5, "--index", "i.safetensors"]
    refused(seraph(*call, *args), "another file")


def test_what_is_no_index_is_refused_and_left_alone(folder):
    call = ["neighbors", "model.skops", "vectors.npy", "--row", 5]
    safetensors.numpy.save_file({"W": X}, "W.safetensors")
    (folder / "broken.safetensors").write_bytes(b"nothing")
    for name in ("W", "broken"):
        before = (folder / f"{name}.safetensors").read_bytes()
        refused(seraph(*call, "--index", f"{name}.safetensors"), "is no index")
        assert (folder / f"{name}.safetensors").read_bytes() == before
    refused(seraph(*call, "--index", "i.npy"), "must end in .safetensors")
    refused(seraph(*call, "--components", 3), "--index")


def test_an_index_appears_whole_or_not_at_all(folder, monkeypatch):
    bad = X.copy()
    bad[200, 3] = np.nan
    np.save("bad.npy", bad)
    call = ["neighbors", "model.skops", "bad.npy", "--row", 5, "--index", "i.safetensors"]
    before = sorted(folder.iterdir())
    refused(seraph(*call), "missing values in column '3'")
    bad[200] = 0.0
    np.save("bad.npy", bad)
    refused(seraph(*call), "Row 200 of bad.npy has only zeros")
    np.save("bad.npy", X[:, :5])
    refused(seraph(*call), "5 columns of features")
    assert sorted(folder.iterdir()) == before

    def full(*_):
        raise OSError(28, "No space left on device", "i.safetensors")

    monkeypatch.setattr(_index, "_recall", full)
    np.save("bad.npy", X)
    refused(seraph(*call, "--components", 3), "No space left")
    assert sorted(folder.iterdir()) == before


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
    refused(seraph("export", "model.skops", "-o", "V.onnx"), "--data")
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
