"""Print the lower bounds of pyproject.toml as pip constraints, for `make test-oldest`."""

import re
import tomllib
from pathlib import Path

project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
extras = project["optional-dependencies"]
used = ("plot", "save", "onnx", "cli", "numba", "dask", "test")  # torch is pinned there
for requirement in project["dependencies"] + [r for extra in used for r in extras[extra]]:
    if match := re.match(r"([\w-]+)(?:\[[\w,]+\])?>=([\w.]+)", requirement):
        print(f"{match[1]}=={match[2]}")
