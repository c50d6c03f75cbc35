"""Print the lower bounds of pyproject.toml as pip constraints, for `make test-oldest`."""

import re
import tomllib
from pathlib import Path

project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
extras = project["optional-dependencies"]
for requirement in project["dependencies"] + extras["plot"] + extras["cli"] + extras["test"]:
    if match := re.fullmatch(r"([\w-]+)>=([\w.]+)", requirement):
        print(f"{match[1]}=={match[2]}")
