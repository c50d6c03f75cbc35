"""Read the data files that the package ships, and check their checksums."""

from __future__ import annotations

import hashlib
import io
from importlib.resources import files
from importlib.resources.abc import Traversable

import numpy as np

from .._utils._typing import Array

DATA = files("seraph.datasets") / "data"

# SHA-256 of each file; `tools/build_datasets.py` rebuilds them and compares.
CHECKSUMS = {
    "definitions.npz": "f092ebcdf49cdab7328230d0b1175d34dacababdf66c054ffcd44b10e5756e0e",
    "diabetes.npz": "8d8a3f86a3cc40cb0169f66888e1a9c25efff83568dd8d85f57f3bbc44e39b63",
    "ionosphere.npz": "906d2b8691a3b7a67ab60e82a950f7cbb9a08bfde3681261776a58f70415d4cc",
    "mnist.npz": "fae1203c76625159a3b01a242e0cddc9248a7d99a694325c19a1df319bf760d8",
    "usps.npz": "c2b12bdded968e16cfc67b354a3947b00a4b3aed4c2a71d82a5697d9a576b2f6",
}


def read_arrays(name: str, folder: Traversable = DATA) -> dict[str, Array]:
    """Read the arrays of a data file, after checking its checksum.

    Raises
    ------
    ValueError
        If the file differs from the one that was shipped.

    Examples
    --------
    >>> {key: array.shape for key, array in sorted(read_arrays("usps.npz").items())}
    {'digits': (11000,), 'sums': (11000, 64)}
    """
    content = (folder / name).read_bytes()
    found = hashlib.sha256(content).hexdigest()
    if found != CHECKSUMS[name]:
        raise ValueError(
            f"The data file {name} is damaged: its SHA-256 should be {CHECKSUMS[name]}, "
            f"but is {found}. Reinstall the package."
        )
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        return dict(arrays)
