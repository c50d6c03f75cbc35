"""The version of seraph, and the versions and hardware to name in a bug report."""

from __future__ import annotations

import os
import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

__version__ = "1.0.0rc2"

_NEEDED = ("numpy", "scipy", "scikit-learn", "joblib", "threadpoolctl")
_OPTIONAL = (
    "matplotlib", "skops", "rapidfuzz", "safetensors", "skl2onnx", "onnx", "onnxruntime", "jinja2",
    "starlette", "uvicorn", "h11", "pillow", "anywidget", "typer", "rich", "pandas", "polars",
    "pyarrow", "python-calamine", "xlsxwriter", "numba", "torch", "dask",
)  # fmt: skip


def show_versions() -> None:
    """Print the versions of seraph and its dependencies, and the system they run on.

    Paste the output into a bug report. Optional packages are not imported.

    Examples
    --------
    >>> import seraph
    >>> seraph.show_versions()
    System:
        python ...
    """
    from threadpoolctl import threadpool_info

    sections = {
        "System": [
            ("python", sys.version.replace("\n", " ")),
            ("executable", sys.executable),
            ("machine", platform.platform()),
            ("cores", str(os.cpu_count())),
        ],
        "Packages": [
            ("seraph", __version__),
            *((name, _installed(name)) for name in (*_NEEDED, *_OPTIONAL)),
        ],
        "Threads": [
            (pool["internal_api"], f"{pool['num_threads']} ({Path(pool['filepath']).name})")
            for pool in threadpool_info()
        ],
    }
    for title, lines in sections.items():
        print(f"{title}:")
        for name, value in lines:
            print(f"    {name:<15} {value}")
        print()


show_versions.__module__ = "seraph"  # where users import it from


def _installed(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
