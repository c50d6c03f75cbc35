"""Print the Pythons on this machine that seraph supports, one of each minor version.

`python tools/pythons.py` looks on PATH and among pyenv's versions and prints one path a line,
oldest first; `--newest` prints the last of them only.
"""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
# A Python without these cannot make an environment.
PROBE = "import ensurepip, venv, sys; print(*sys.version_info[:2])"


def candidates():
    """Yield paths that look like a Python 3, best first: this one, PATH, pyenv."""
    yield Path(sys.executable)
    for folder in os.get_exec_path():
        yield from sorted(Path(folder).glob("python3.*"))
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    yield from sorted(pyenv.glob("versions/3.*/bin/python"))


def version(python):
    """Return (3, minor) of a Python, or None if it does not run."""
    done = subprocess.run([python, "-c", PROBE], capture_output=True, text=True, check=False)
    return tuple(map(int, done.stdout.split())) if done.returncode == 0 else None


def oldest_supported():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return tuple(map(int, re.findall(r"\d+", project["requires-python"])))


def main(newest_only):
    found = {}
    for python in candidates():
        if not re.fullmatch(r"python(3(\.\d+)?)?", python.name) or not os.access(python, os.X_OK):
            continue
        number = version(python)
        if number and number >= oldest_supported():
            found.setdefault(number, python)
    paths = [found[number] for number in sorted(found)]
    if not paths:
        sys.exit(f"no Python {'.'.join(map(str, oldest_supported()))} or newer on this machine")
    print(*(paths[-1:] if newest_only else paths), sep="\n")


if __name__ == "__main__":
    main(newest_only=sys.argv[1:] == ["--newest"])
