"""Print the lower bounds of pyproject.toml as pip constraints, for `make test-oldest`."""

import re
import tomllib
from pathlib import Path

# A release of torch works with one of triton; constraints/held.txt names the release we test.
LEFT_OUT = ("torch", "triton")

pyproject = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())
project = pyproject["project"]
requirements = [
    *project["dependencies"],
    *(line for extra in project["optional-dependencies"].values() for line in extra),
    *pyproject["dependency-groups"]["test"],
]
for requirement in requirements:
    match = re.match(r"([\w-]+)(?:\[[\w,]+\])?>=([\w.]+)", requirement)
    if match and match[1] not in LEFT_OUT:
        print(f"{match[1]}=={match[2]}")
