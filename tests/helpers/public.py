"""What is public, and the scripts of tools/."""

import importlib
import importlib.util
from pathlib import Path

ROOT = Path(__file__).parents[2]

PACKAGES = (
    "seraph",
    "seraph.classic",
    "seraph.compat",
    "seraph.compat.metric_learn",
    "seraph.metrics",
    "seraph.persist",
    "seraph.plot",
    "seraph.records",
    "seraph.tables",
)
PUBLIC = {
    f"{name}.{public}" for name in PACKAGES for public in importlib.import_module(name).__all__
}


def tool(name):
    """Import a script of tools/ as a module."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
